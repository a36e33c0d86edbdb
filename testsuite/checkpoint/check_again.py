#!/usr/bin/env python3
"""A net in the smallest arena that is found for it computes the same bits.

    check_again.py BUILD CNNC NET.cnn
"""
import os
import subprocess
import sys

from budgets import Compiler

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
WHOLE = ["--with", "-fno-batch-split"]


def main(build, cnnc, net):
    budget = Compiler(cnnc, net, WHOLE).smallest()
    return subprocess.run(
        [sys.executable, os.path.join(TESTS, "passes", "same_bits.py"), build,
         os.path.join(TESTS, "..", "runtime", "host"), TESTS, cnnc, net, "--batch", "6", *WHOLE,
         "--bits-only", "--against", f"--budget={budget}"]).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
