"""Files of tensors."""
import json
import struct

import numpy as np

TYPES = {"F32": np.float32, "F64": np.float64, "I32": np.int32, "U8": np.uint8, "I8": np.int8}


def save_file(arrays, path):
    header, start = {}, 0
    for name, array in arrays.items():
        kind = next(kind for kind, dtype in TYPES.items() if array.dtype == dtype)
        header[name] = {"dtype": kind, "shape": list(array.shape),
                        "data_offsets": [start, start + array.nbytes]}
        start += array.nbytes
    text = json.dumps(header).encode()
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for array in arrays.values():
            out.write(np.ascontiguousarray(array).tobytes())


def load_file(path):
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(size)), file.read()
    header.pop("__metadata__", None)
    return {name: np.frombuffer(data[slice(*row["data_offsets"])], TYPES[row["dtype"]])
            .reshape(row["shape"]) for name, row in header.items()}
