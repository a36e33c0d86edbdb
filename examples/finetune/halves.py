#!/usr/bin/env python3
"""Splits a set of digits into 0 to 4 and 5 to 9, which become classes 0 to 4.

    halves.py DATA OUT      reads DATA's four IDX files and writes OUT/low and OUT/high
"""
import struct
import sys
from pathlib import Path

HALF = 5


def read_idx(path, header):
    data = path.read_bytes()
    return data[:header], data[header:]


def main(data, out):
    for part in "train", "test":
        head, pixels = read_idx(Path(data, f"{part}-images-idx3-ubyte"), 16)
        _, labels = read_idx(Path(data, f"{part}-labels-idx1-ubyte"), 8)
        height, width = struct.unpack(">2i", head[8:])
        size = height * width
        for name, first in ("low", 0), ("high", HALF):
            kept = [i for i, label in enumerate(labels) if first <= label < first + HALF]
            folder = Path(out, name)
            folder.mkdir(parents=True, exist_ok=True)
            Path(folder, f"{part}-images-idx3-ubyte").write_bytes(
                head[:4] + struct.pack(">3i", len(kept), height, width) +
                b"".join(pixels[i * size:(i + 1) * size] for i in kept))
            Path(folder, f"{part}-labels-idx1-ubyte").write_bytes(
                struct.pack(">2i", 0x801, len(kept)) + bytes(labels[i] - first for i in kept))
            print(f"{name} {part}: {len(kept)} images")


main(*sys.argv[1:])
