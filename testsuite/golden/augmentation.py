#!/usr/bin/env python3
"""Results of torchvision's changes of images, stored for a test without torchvision:

    augmentation.py AUGMENTATION.json

The images are those of image_of. An operation of RandAugment takes a tensor of bytes; the colours of
ColorJitter and its rotation take one in double precision. Results are levels from 0 to 255.
"""
import json
import math
import sys

import numpy as np
import torch
import torchvision.transforms.functional as F
from torchvision.transforms import InterpolationMode

# ChangeKind of runtime/trainer/changes.cuh.
(SHEAR_X, SHEAR_Y, MOVE_X, MOVE_Y, ROTATE, BRIGHTNESS, SATURATION, CONTRAST, SHARPNESS, POSTERIZE,
 SOLARIZE, AUTOCONTRAST, EQUALIZE, HUE) = range(1, 15)
SIZES = [(7, 9, 3), (6, 5, 1)]


def image_of(height, width, channels, seed=1):
    """Returns bytes that are a hash of their place, some of them alike."""
    at = np.arange(height * width * channels, dtype=np.uint64) + np.uint64(seed << 20)
    at = (at ^ (at >> np.uint64(7))) * np.uint64(0x9E3779B97F4A7C15)
    return (at >> np.uint64(56)).astype(np.uint8).reshape(height, width, channels)


def affine(image, shear=(0.0, 0.0), move=(0, 0)):
    """Shears and moves an image as RandAugment's _apply_op does."""
    return F.affine(image, angle=0.0, translate=list(move), scale=1.0, shear=list(shear),
                    interpolation=InterpolationMode.NEAREST, center=[0, 0] if any(shear) else None)


RANDOM = {
    SHEAR_X: lambda x, a: affine(x, shear=(math.degrees(math.atan(a)), 0.0)),
    SHEAR_Y: lambda x, a: affine(x, shear=(0.0, math.degrees(math.atan(a)))),
    MOVE_X: lambda x, a: affine(x, move=(int(a), 0)),
    MOVE_Y: lambda x, a: affine(x, move=(0, int(a))),
    ROTATE: lambda x, a: F.rotate(x, a, interpolation=InterpolationMode.NEAREST),
    BRIGHTNESS: F.adjust_brightness, SATURATION: F.adjust_saturation, CONTRAST: F.adjust_contrast,
    SHARPNESS: F.adjust_sharpness, POSTERIZE: lambda x, a: F.posterize(x, int(a)),
    SOLARIZE: F.solarize, AUTOCONTRAST: lambda x, a: F.autocontrast(x),
    EQUALIZE: lambda x, a: F.equalize(x),
}
SMOOTH = {
    BRIGHTNESS: F.adjust_brightness, SATURATION: F.adjust_saturation, CONTRAST: F.adjust_contrast,
    HUE: F.adjust_hue, ROTATE: lambda x, a: F.rotate(x, a, interpolation=InterpolationMode.BILINEAR),
}
FACTORS = [0.4, 1.0, 1.7]
AMOUNTS = {SHEAR_X: [0.23, -0.3], SHEAR_Y: [0.23, -0.3], MOVE_X: [2, -3], MOVE_Y: [2, -3],
           ROTATE: [13.0, -29.0], POSTERIZE: [8, 6, 4], SOLARIZE: [255.0, 127.5, 0.0],
           AUTOCONTRAST: [0], EQUALIZE: [0], HUE: [0.0, 0.21, -0.37]}


def main():
    cases = []
    for random, functions in (1, RANDOM), (0, SMOOTH):
        for kind, function in functions.items():
            # A histogram is changed if an image has more pixels than levels.
            for size in SIZES if kind != EQUALIZE else [*SIZES, (24, 24, 1)]:
                for amount in AMOUNTS.get(kind, FACTORS):
                    # Fewer levels, as in a dark image.
                    image = image_of(*size) // {AUTOCONTRAST: 3, EQUALIZE: 32}.get(kind, 1)
                    tensor = torch.from_numpy(image.transpose(2, 0, 1).copy())
                    if random:
                        result = function(tensor, amount).numpy()
                    else:
                        result = 255 * function(tensor.double() / 255, amount).numpy()
                    result = result.transpose(1, 2, 0).round(3)
                    cases.append({"kind": kind, "random": random, "size": size, "amount": amount,
                                  "image": image.ravel().tolist(),
                                  "result": result.ravel().tolist()})
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
                   + "\n]\n")


if __name__ == "__main__":
    main()
