#!/usr/bin/env python3
"""usage: draw.py FOLDER COUNT: JPEG files of 500x400 pixels, smooth shapes under noise, like
photographs of quality 85, in two classes."""
import random
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "pack"))
from pillow import Image  # noqa: E402

SIDES, KINDS = (500, 400), 64
draw = random.Random(1)


def smooth(side):
    small = Image.frombytes("RGB", (side, side), draw.randbytes(3 * side * side))
    return small.resize(SIDES, Image.Resampling.BICUBIC)


folder = Path(sys.argv[1])
for name in "ab":
    (folder / name).mkdir(parents=True)
shapes = [smooth(6) for _ in range(KINDS)]
details = [smooth(120) for _ in range(KINDS)]
for i in range(int(sys.argv[2])):
    image = Image.blend(draw.choice(shapes), draw.choice(details), draw.uniform(0.1, 0.3))
    image.save(folder / "ab"[i % 2] / f"{i:05}.jpg", quality=85)
