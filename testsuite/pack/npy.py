"""Arrays of NPY files without NumPy: the type, the shape, and the numbers in order."""
import ast
import struct

LETTERS = {"|u1": "B", "<u2": "H", "<i4": "i", "<f4": "f"}


def read_npy(path):
    data = path.read_bytes()
    assert data[:8] == b"\x93NUMPY\x01\0", f"{path}: no NPY file of version 1"
    length, = struct.unpack("<H", data[8:10])
    head = ast.literal_eval(data[10:10 + length].decode())
    assert (10 + length) % 64 == 0 and not head["fortran_order"], f"{path}: its header"
    kind, shape = head["descr"], head["shape"]
    count = 1
    for side in shape:
        count *= side
    values = struct.unpack(f"<{count}{LETTERS[kind]}", data[10 + length:])
    return kind, shape, values
