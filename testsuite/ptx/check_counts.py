#!/usr/bin/env python3
"""Holds the counts of a training step: a kernel that takes more of them, or less, is a failure.

    check_counts.py BUILD counts.txt [PATTERN] [--update]

The file has nvcc's version, and for each net with its options the sums of each kernel. PATTERN
chooses nets. With --update the file is written anew. Another nvcc makes other code, so the test is
skipped then.
"""
import glob
import os
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "testsuite", "tools"))
from counted import count_step, short, total  # noqa: E402
from held import Table, digest, emitted  # noqa: E402

HEAD = """# Counts of one training step as nvcc's PTX, held by the test ptx.counts. To write them anew:
#
#     testsuite/ptx/check_counts.py build testsuite/ptx/counts.txt --update
#
# A line `net` has a file and cnnc's options; below it are its kernels.
"""
COUNTS = {
    "launches": lambda c: c["launches"],
    "instructions": lambda c: c["instructions"],
    "mma": lambda c: c["mma"],
    "sectors": lambda c: c["load_sectors"] + c["store_sectors"] + c["atomic_sectors"],
    "passes": lambda c: c["shared_passes"],
    "divergent": lambda c: c["divergent"],
}


def source(build, net):
    """The emitted steps and the interpreter, which determine the counts."""
    path, *options = net.split()
    texts = [emitted(build, "1 memory", os.path.join(ROOT, path), *options, "-fno-keep-gradients")]
    for name in sorted(glob.glob(f"{ROOT}/runtime/ptx/**/*", recursive=True)):
        if os.path.isfile(name):
            with open(name, encoding="utf-8") as file:
                texts.append(file.read())
    return digest(*texts)


def count(build, net):
    """The sums of each kernel in the order of the plan."""
    path, *options = net.split()
    with tempfile.TemporaryDirectory() as work:
        _, rows = count_step(build, os.path.join(ROOT, path), options, work)
    kernels = {}
    for number in sorted(rows):
        for row in rows[number]:
            kernels.setdefault(short(row["kernel"]), []).append(row)
    sums = {kernel: total(own) for kernel, own in kernels.items()}
    return {kernel: {name: of(own) for name, of in COUNTS.items()}
            for kernel, own in sums.items()}


sys.exit(Table(HEAD, "net", list(COUNTS), 24, 13).main(count, source))
