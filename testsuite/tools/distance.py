#!/usr/bin/env python3
# Judges a training step in a precision, f32, f16 or bf16:
#
#     distance.py EMITTED GOLDEN PRECISION
#
# EMITTED has the results of the step, and GOLDEN/after_1.safetensors PyTorch's float64 results of
# it. GOLDEN/PRECISION.txt has how far PyTorch is from those in that precision, by norm: of the
# loss, of all outputs, of all gradients.  EMITTED may be 8 times as far away; where PyTorch met the
# value by chance, as if it were a rounding away.  A tensor t@N of GOLDEN holds every N-th element
# of t. Gradients in f16 are those of the loss times the scale that check_net gives it.
import array
import json
import math
import struct
import sys
from pathlib import Path

TIMES = 8
ROUNDING = {"f32": 2.0**-24, "tf32": 2.0**-11, "f16": 2.0**-11, "bf16": 2.0**-8}
LOSS_SCALE = {"f16": 1024}
TYPES = {"I8": "b", "F32": "f", "F64": "d", "I32": "i", "U8": "B"}


def read_safetensors(path):
    data = Path(path).read_bytes()
    size, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        tensors[name] = array.array(TYPES[entry["dtype"]],
                                    data[8 + size + begin:8 + size + end])
    return tensors


def group_of(name):
    if name == "figures":
        return "loss"
    return "gradients" if name.startswith("d.") else "outputs"


# Pairs of a tensor's elements; of the figures the loss alone.
def pairs(name, emitted, golden):
    plain, _, stride = name.partition("@")
    if plain not in emitted:
        sys.exit(f"{plain}: not in what the step gave")
    ours, theirs = emitted[plain][::int(stride or 1)], golden[name]
    if len(ours) != len(theirs):
        sys.exit(f"{plain}: {len(ours)} elements, wanted {len(theirs)}")
    return list(zip(ours, theirs))[:1 if plain == "figures" else None]


def norm(numbers):
    return math.sqrt(sum(x * x for x in numbers))


def main():
    folder, precision = Path(sys.argv[2]), sys.argv[3]
    emitted = read_safetensors(sys.argv[1])
    golden = read_safetensors(folder / "after_1.safetensors")
    good = True
    for line in (folder / f"{precision}.txt").read_text().splitlines():
        group, own = line.split()[0], float(line.split()[1])
        both = [pair for name in golden if group_of(name) == group
                for pair in pairs(name, emitted, golden)]
        scale = LOSS_SCALE.get(precision, 1) if group == "gradients" else 1
        distance = norm(a / scale - b for a, b in both) / norm(b for _, b in both)
        most = TIMES * max(own, ROUNDING[precision])
        print(f"{group}: {distance:.3g} from PyTorch's float64, whose "
              f"{precision} is {own:.3g} from it; at most {most:.3g}")
        good &= distance <= most
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
