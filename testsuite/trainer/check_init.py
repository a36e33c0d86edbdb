#!/usr/bin/env python3
"""A training begins with the tensors of another net that fit:

    check_init.py CNNC LIBHOST NET.cnn

NET is saving/small.cnn. A step of rate 0 keeps the tensors of --init, of F16, BF16 and F32, and
the averages that start as the parameters do. Tensors of another shape, missing ones and foreign
ones are named. Nothing is taken from a file in which nothing fits.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "saving"))
from saving import build, enter_folder, expect, leave_folder, read_tensors, run, write_tensors

PIXELS = 4 * 4
# The tensors of another net: their shapes and types. Its head has five classes, not three.
OTHER = {
    "conv_1.weight": ("F16", [4, 3, 3, 2]), "batchnorm_1.weight": ("BF16", [4]),
    "batchnorm_1.bias": ("F32", [4]), "logits.weight": ("F32", [5, 1, 1, 4]),
    "batchnorm_1.num_batches_tracked": ("I64", []), "fc.bias": ("F32", [5]),
}
TAKEN = ["conv_1.weight", "batchnorm_1.weight", "batchnorm_1.bias"]


def other_net():
    tensors, seed = {}, 0
    for name, (kind, shape) in OTHER.items():
        count = 1
        for extent in shape:
            count *= extent
        numbers = [(seed + i) % 37 / 8 - 2 for i in range(count)] if kind != "I64" else [7]
        tensors[name], seed = (kind, shape, numbers), seed + 5
    return tensors


def step(*options, status=0):
    return run(["./small", "step", "--batch", "batch", "--lr", "0", *options, "--save", "out"],
               status=status)


def said(done):
    return [line for line in (done.stdout + done.stderr).splitlines() if "other" in line]


def check_taken():
    tensors = other_net()
    write_tensors("other", tensors)
    fresh = step() and read_tensors("out")
    done = step("--init", "other")
    after = read_tensors("out")
    expect(said(done) == ["other: taken 3 of 7; left: batchnorm_1.mean, batchnorm_1.variance, "
                          "logits.weight (wanted 3x1x1x4, found 5x1x1x4), logits.bias; the net has "
                          "no fc.bias"], done.stdout)
    for name in TAKEN:
        expect(after[name] == tensors[name][2], f"{name} is {after[name]}")
        average = f"{name}.average"
        expect(max(abs(a - b) for a, b in zip(after[average], after[name])) < 1e-6,
               f"{average} is {after[average]}")
    expect(after["logits.weight"] == fresh["logits.weight"], "logits.weight has changed")


def check_ignored():
    done = step("--init", "other", "--ignore", "fc.*", "--ignore", "conv_1.*", "--ignore", "none*")
    expect("other: taken 2 of 7; left: conv_1.weight, batchnorm_1.mean, batchnorm_1.variance, "
           "logits.weight (wanted 3x1x1x4, found 5x1x1x4), logits.bias" in said(done), done.stdout)
    expect("warning: --ignore none*: other has no such tensor" in done.stderr, done.stderr)


def check_refused():
    write_tensors("other", {"fc.weight": ("F32", [2], [1, 2])})
    for options, words in [
            (["--init", "other"], "other: none of its 1 tensors fits the net; wanted conv_1.weight"),
            (["--init", "other", "--load", "other"], "--load and --init: wanted one of them"),
            (["--ignore", "fc.*"], "--ignore needs --init"),
            (["--init", "nowhere"], "nowhere: ")]:
        done = step(*options, status=None)
        expect(done.returncode in (1, 2) and words in done.stderr, f"{options}: {done.stderr}")


def main():
    cnnc, libhost, net = [os.path.abspath(path) for path in sys.argv[1:4]]
    folder = enter_folder()
    build(cnnc, libhost, net, [], "small")
    write_tensors("batch", {"image": ("F32", [4, 4, 4, 2], [i % 5 for i in range(8 * PIXELS)]),
                            "label": ("I32", [4, 4, 4], [i % 3 for i in range(4 * PIXELS)])})
    check_taken()
    check_ignored()
    check_refused()
    leave_folder(folder)


if __name__ == "__main__":
    main()
