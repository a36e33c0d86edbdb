#!/usr/bin/env python3
"""The tensors of a safetensors file as NPY files for a trainer.

    batch_files.py BATCH FOLDER

Prints for each tensor the option --test NAME=FILE, on two lines.
"""
import json
import os
import struct
import sys

DTYPES = {"U8": "|u1", "I32": "<i4", "I64": "<i8", "F32": "<f4", "F64": "<f8"}


def write_npy(path, dtype, shape, data):
    head = str({"descr": DTYPES[dtype], "fortran_order": False, "shape": tuple(shape)})
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)


def main(batch, folder):
    with open(batch, "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        tensors = json.loads(file.read(length))
        data = file.read()
    for name, tensor in tensors.items():
        if name == "__metadata__":
            continue
        path = os.path.join(folder, f"{name}.npy")
        begin, end = tensor["data_offsets"]
        write_npy(path, tensor["dtype"], tensor["shape"], data[begin:end])
        print(f"--test\n{name}={path}")


main(*sys.argv[1:])
