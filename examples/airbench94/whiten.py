#!/usr/bin/env python3
"""Computes the whitening convolution of airbench94 from CIFAR-10's training images.

    whiten.py DATA whiten.safetensors

DATA has CIFAR-10's binary files; the first 5000 images of data_batch_1.bin are used. The filters are
eigenvectors of the covariance of 2x2 patches, divided by the roots of their eigenvalues; then their
negatives follow (Jordan 2024). On these patches the outputs of the first twelve filters
have the covariance 1. The file has the tensor whiten.weight [24, 2, 2, 3], for --init.
"""
import json
import struct
import sys
from pathlib import Path

import numpy as np

IMAGES, SIDE, PATCH = 5000, 32, 2
MEAN, STD = [0.4914, 0.4822, 0.4465], [0.2470, 0.2435, 0.2616]     # as in airbench94.cnn
EPSILON = 5e-4


def read_images(path):
    """[n, h, w, 3], as the net normalizes them."""
    record = 1 + 3 * SIDE * SIDE
    data = np.fromfile(path, np.uint8, IMAGES * record)
    if data.size == 0 or data.size % record:
        sys.exit(f"{path}: wanted records of {record} bytes, found {data.size} bytes")
    pixels = data.reshape(-1, record)[:, 1:].reshape(-1, 3, SIDE, SIDE)
    return (pixels.transpose(0, 2, 3, 1) / 255 - MEAN) / STD


def whitening(images):
    """Filters [24, 2, 2, 3]."""
    last = SIDE - PATCH + 1
    patches = np.stack([images[:, y:y + last, x:x + last] for y in range(PATCH)
                        for x in range(PATCH)], axis=3).reshape(-1, PATCH * PATCH * 3)
    values, vectors = np.linalg.eigh(patches.T @ patches / len(patches))
    filters = (vectors / np.sqrt(values + EPSILON)).T[::-1]
    return np.concatenate([filters, -filters]).reshape(-1, PATCH, PATCH, 3)


def write(path, weights):
    data = weights.astype("<f4").tobytes()
    header = json.dumps({"whiten.weight": {"dtype": "F32", "shape": weights.shape,
                                           "data_offsets": [0, len(data)]}}).encode()
    header += b" " * (-len(header) % 8)
    Path(path).write_bytes(struct.pack("<Q", len(header)) + header + data)


if len(sys.argv) != 3:
    sys.exit(__doc__)
write(sys.argv[2], whitening(read_images(Path(sys.argv[1], "data_batch_1.bin"))))
