#!/usr/bin/env python3
"""Changed images are those of Pillow, and of the formulas that torchvision states:

    check_augmentation.py TOOL AUGMENTATION.json

TOOL is augment_tool. Resized crops agree with Pillow's, which rounds to bytes twice, within a level.
They agree with the filter's formula in double precision within 1e-3 of a level.
The file has torchvision's results of colours, rotations and RandAugment's operations
(golden/augmentation.py). Results of bytes are the same; the others are within 1e-2 of a level.
"""
import json
import os
import subprocess
import sys

try:
    import numpy as np
    from PIL import Image
except ImportError as missing:
    if sys.executable == "/usr/bin/python3":
        print(missing)
        sys.exit(77)
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

TOOL = sys.argv[1]


def image_of(height, width, channels, seed=1):
    """Returns bytes that are a hash of their place."""
    at = np.arange(height * width * channels, dtype=np.uint64) + np.uint64(seed << 20)
    at = (at ^ (at >> np.uint64(7))) * np.uint64(0x9E3779B97F4A7C15)
    return (at >> np.uint64(56)).astype(np.uint8).reshape(height, width, channels)


def change(operation, image, *numbers, shape, planes=False):
    data = image.transpose(2, 0, 1) if planes else image
    done = subprocess.run([TOOL, operation, *(str(n) for n in (*image.shape, *numbers))],
                          input=data.tobytes(), stdout=subprocess.PIPE, check=True)
    return np.frombuffer(done.stdout, np.float32).reshape(shape)


def filter_matrix(size, to):
    """Returns the weights [to, size] of Pillow's bilinear filter."""
    scale = size / to
    reach = max(scale, 1)
    centre = (np.arange(to) + 0.5) * scale
    at = np.arange(size) + 0.5
    weights = np.maximum(1 - abs(at[None, :] - centre[:, None]) / reach, 0)
    return weights / weights.sum(axis=1, keepdims=True)


def check_resized():
    # Height, width, channels; crop; result; flip, planes.
    for size, crop, to, flip, planes in [
            ((40, 50, 3), (3, 4, 33, 41), (16, 16), 0, 0),
            ((40, 50, 3), (0, 0, 40, 50), (16, 9), 1, 0),
            ((40, 50, 3), (7, 9, 8, 5), (24, 24), 1, 0),
            ((32, 32, 3), (1, 2, 29, 30), (13, 32), 1, 1),
            ((32, 32, 1), (1, 2, 31, 7), (13, 13), 0, 0),
            ((20, 30, 5), (2, 3, 17, 26), (11, 12), 1, 0),
            ((300, 9, 3), (0, 0, 300, 9), (2, 27), 0, 0)]:
        image = image_of(*size)
        (top, left, height, width), channels = crop, size[2]
        found = change("resize", image, *crop, *to, flip, planes, shape=(*to, channels),
                       planes=planes)
        part = image[top:top + height, left:left + width]
        exact = np.einsum("yi,xj,ijc->yxc", filter_matrix(height, to[0]),
                          filter_matrix(width, to[1]), part.astype(np.float64))
        pillow = np.stack([np.asarray(Image.fromarray(part[:, :, c]).resize(
            to[::-1], Image.BILINEAR), np.float64) for c in range(channels)], axis=2)
        if flip:
            exact, pillow = exact[:, ::-1], pillow[:, ::-1]
        off, levels = abs(found - exact).max(), abs(np.floor(found + 0.5) - pillow).max()
        print(f"resize {size} {crop} -> {to}: {off:.2g} from the formula, {levels:g} levels from "
              "Pillow")
        assert off < 1e-3 and levels <= 1


def check_changes():
    kinds = set()
    for case in json.load(open(sys.argv[2], encoding="utf-8")):
        image = np.array(case["image"], np.uint8).reshape(case["size"])
        want = np.array(case["result"]).reshape(case["size"])
        found = change("change", image, case["kind"], case["amount"], case["random"],
                       shape=image.shape)
        off = abs(found - want).max()
        words = [f"{name} {case[name]}" for name in ("kind", "amount", "random", "size")]
        # A factor in 32 bits may leave a level just below a whole number.
        assert off <= (0 if case["random"] else 1e-2), f"{words}: {off:.3g}"
        kinds.add((case["kind"], case["random"]))
    print(f"{len(kinds)} kinds of changes have torchvision's results")


check_resized()
check_changes()
