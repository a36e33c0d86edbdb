#!/usr/bin/env python3
"""Inference with maps and weights of 16 bits agrees with the interpreter.

    check_inference.py BUILD ROOT f16|bf16 NET.cnn

The net is compiled as its line "# run:" says. Weights and samples are random. All bytes of the
arena that the plan calls dead are NaN. The interpreter runs the same graph in double and rounds
all that it stores. Sums in float and in double now and then round to different neighbours. So each
output must be the interpreter's within two units in the last place by norm. A net whose weights
have 32 bits is an error."""
import math
import os
import re
import sys
import tempfile

build, root, precision, net = sys.argv[1:]
sys.path.append(os.path.join(root, "testsuite", "int8"))
from check_int8 import Checker, run, split_options  # noqa: E402

UNITS = {"f16": 2e-3, "bf16": 1.6e-2}


class HalfChecker(Checker):
    warnings = []


def outputs(folder):
    """Both outputs of each name."""
    checker = HalfChecker(build, root, folder)
    checker.precision = precision
    options, others = split_options(checker.lines_of(net)[0])
    text = run(f"{build}/cnnc", "--mode", "infer", "--precision", precision, *options, net, "--emit",
               "ir", "-o", "-")
    assert re.search(rf"^%\d+ \S*weight {precision}\[.* param", text, re.M), "weights of 32 bits"
    checker.compile(net, options, folder)
    return checker.outputs(net, options, others, folder)


def main():
    failed, count = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (numbers, wanted) in outputs(folder).items():
            norm = math.sqrt(math.fsum(x * x for x in wanted))
            apart = math.sqrt(math.fsum((x - y) ** 2 for x, y in zip(numbers, wanted)))
            print(f"{name}: {apart / norm:.2g} of the norm")
            failed += not 0 <= apart <= UNITS[precision] * norm or len(set(wanted)) < 2
            count += 1
    return failed > 0 or count == 0


if __name__ == "__main__":
    sys.exit(main())
