#!/usr/bin/env python3
"""Frozen parameters change nothing else: after a step, bits of the unfrozen program.

    check_bits.py BUILD ROOT SEED...

Each SEED freezes some parameters of each net of NETS, which has no batch statistics. A step is taken
from the same weights on the same batch. A trained parameter and its states then have the bits of
the program that trains all. A bias whose weight is frozen is summed by another kernel, so it is equal
within CLOSE of its norm. Frozen parameters have the bits that were loaded, and no state.
"""
import os
import random
import sys
import tempfile

build, root = sys.argv[1:3]
sys.path[:0] = [os.path.join(root, "testsuite", folder) for folder in ("tools", "freeze")]
from built_net import BuiltNet  # noqa: E402
from distance import read_safetensors  # noqa: E402
from frozen_bits import faults_of  # noqa: E402

NETS = ["digits", "lenet"]
CLOSE = 1e-5


def stepped(folder, name, *options):
    """The loaded weights, and all tensors after a step."""
    net = BuiltNet(build, folder, name, "-O0", "--batch", "8", *options, compiler="clang++")
    net.step(1)
    return read_safetensors(f"{folder}/{name}.weights"), read_safetensors(net.saved)


def main(*seeds):
    faults = []
    for name in NETS:
        with tempfile.TemporaryDirectory() as folder:
            loaded, whole = stepped(folder, name)
            params = [key for key in loaded if key.endswith((".weight", ".bias"))]
            for seed in seeds:
                draw = random.Random(f"{name} {seed}")
                frozen = draw.sample(params, draw.randint(1, len(params) - 1))
                _, part = stepped(folder, name, *(word for key in frozen
                                                  for word in ("--freeze", key)))
                found = list(faults_of(loaded, whole, part, params, frozen, CLOSE))
                print(f"{name} {seed}: {len(frozen)} of {len(params)} frozen, {len(found)} faults")
                faults += found
    print(*faults, sep="\n")
    return bool(faults)


sys.exit(main(*sys.argv[3:]))
