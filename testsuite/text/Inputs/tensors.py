"""Writes a safetensors file: tensors.py NAME:TYPE:2x3=VALUE..., with all elements VALUE."""
import json
import struct
import sys

FORMATS = {"F64": "d", "F32": "f", "F16": "e"}
header, data = {}, b""
for word in sys.argv[1:]:
    name, dtype, rest = word.split(":")
    shape, value = rest.split("=")
    shape = [int(d) for d in shape.split("x")]
    count = 1
    for d in shape:
        count *= d
    begin = len(data)
    data += struct.pack("<%d%s" % (count, FORMATS[dtype]), *[float(value)] * count)
    header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, len(data)]}
text = json.dumps(header).encode()
sys.stdout.buffer.write(struct.pack("<Q", len(text)) + text + data)
