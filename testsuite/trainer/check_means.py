#!/usr/bin/env python3
"""Checks the trainer's output and log with ignored labels, skipped steps or several losses.

    check_means.py CNNC HOST LIBRARY

means.cnn evaluates four samples of which two count and one is right, three at a time. Then none
counts; then a number of every batch is NaN, so that an epoch has no finite step. With three losses
each has a line and a column, and they add up to the loss. There the label that does not count is
-100, and one loss has probabilities, of any sum; PyTorch's cross_entropy gives the same means.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "saving"))
from saving import write_npy, write_tensors  # noqa: E402

CXX = os.environ.get("CXX", "clang++")

cnnc, host, library = map(os.path.abspath, sys.argv[1:])
NET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "means.cnn")
X = [0, 3, 0, 5, 0, 0, 5, 0, 0, 0, 1, 0]
SOFT = [0.5, 0.25, 0.25, 0, 1, 0, 2, 0, 0, 0, 0, 0]
NAN = float("nan")
KINDS = {"<f4": "f", "<i4": "i", "|u1": "B"}
IDENTITY = {"logits.weight": ("F32", [3, 3], [1, 0, 0, 0, 1, 0, 0, 0, 1]),
            "logits.bias": ("F32", [3], [0, 0, 0])}


def write_numbers(path, kind, shape, numbers):
    write_npy(path, kind, shape, struct.pack(f"<{len(numbers)}{KINDS[kind]}", *numbers))


def build(name, *options):
    subprocess.run([cnnc, "--main", *options, NET, "-o", name + ".cu"], check=True)
    return subprocess.Popen([CXX, "-std=c++17", "-O0", "-w", "-I", host, "-xc++", name + ".cu",
                             "-xnone", library, "-lpthread", "-o", name])


def run(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def evaluate(name, labels, *more):
    return run("./" + name, "eval", "--test", "x=x.npy", "--test", f"label={labels}.npy",
               "--load", "identity", *more)


def expect(text, pattern):
    if not re.search(pattern, text, re.MULTILINE):
        sys.exit(f"wanted {pattern!r}, found:\n{text}")


def columns(path):
    with open(path, encoding="ascii") as file:
        names, *rows = [line.rstrip("\n").split(",") for line in file]
    return [dict(zip(names, row)) for row in rows]


def train(name, images, labels, *more):
    return run("./" + name, "train", "--train", f"x={images}.npy", "--train", f"label={labels}.npy",
               "--val", "x=x.npy", "--val", f"label={labels}.npy", "--epochs", "1", "--load",
               "identity", "--log", "log.csv", *more)


def check_one():
    expect(evaluate("one", "y"), r"^test accuracy 50\.00 % \(1/2\), loss 0\.8232$")
    expect(evaluate("one", "none"), r"^test accuracy nan \(0/0\), loss nan$")
    # A batch of NaN has no finite loss; two of them are an epoch.
    text = train("one", "nan", "y")
    expect(text, r"^epoch 1/1 loss nan accuracy nan .*validation loss 0\.8232 accuracy 0\.500$")
    expect(text, r"the loss of 2 training steps was not finite")
    row, = columns("log.csv")
    if (row["loss"], row["accuracy"], row["skipped_steps"]) != ("nan", "nan", "2"):
        sys.exit(f"logged {row}")


LOSSES = ["softmax_cross_entropy", "mse", "softmax_cross_entropy_2"]


def check_three():
    text = evaluate("three", "below", "--test", "soft=soft.npy", "--confusion")
    expect(text, r"^test accuracy 50\.00 % \(1/2\), loss 2\.6695$")
    expect(text, r"^test loss softmax_cross_entropy 0\.8232$")
    expect(text, r"^test loss mse 0\.0000$")
    expect(text, r"^test loss softmax_cross_entropy_2 1\.8463$")
    text = train("three", "x", "below", "--train", "soft=soft.npy", "--val", "soft=soft.npy")
    for name in LOSSES:
        expect(text, rf"^epoch 1/1 loss {name} \d\.\d{{4}}, validation \d\.\d{{4}}$")
    row, = columns("log.csv")
    for kind in ["", "validation_"]:
        parts = [float(row[kind + name]) for name in LOSSES]
        if min(parts) <= 0 or abs(float(row[kind + "loss"]) - sum(parts)) > 1e-6:
            sys.exit(f"the losses do not add up: {row}")
    if row["skipped_steps"] != "0":
        sys.exit(f"logged {row}")
    for labels, message in [
            ("bytes", "label 1 is 255, and the net has classes 0 to 2 and ignores -100, which |u1 "
             "can't hold: store wider labels, or write ignore = 255 in the losses"),
            ("below_one", "label 1 is -1, and the net has classes 0 to 2 and ignores -100")]:
        refused("three", labels, message, "--test", "soft=soft.npy")
    refused("one", "below", "label 1 is -100, and the net has classes 0 to 2; a loss with ignore = "
            "N leaves out the label N")


def refused(name, labels, message, *more):
    told = subprocess.run(["./" + name, "eval", "--test", "x=x.npy", "--test", f"label={labels}.npy",
                           "--load", "identity", *more], check=False, text=True,
                          stderr=subprocess.PIPE)
    if told.returncode != 1 or f"{labels}.npy: {message}\n" not in told.stderr:
        sys.exit(f"wanted {message!r}, found:\n{told.stderr}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        builds = [build("one"), build("three", "-D", "LOSSES=3", "-D", "IGNORE=-100")]
        write_numbers("x.npy", "<f4", (4, 3), X)
        write_numbers("nan.npy", "<f4", (4, 3), [NAN] * 12)
        write_numbers("y.npy", "<i4", (4,), [1, 0, 0, 2])
        write_numbers("none.npy", "<i4", (4,), [0] * 4)
        write_numbers("below.npy", "<i4", (4,), [1, -100, -100, 2])
        write_numbers("below_one.npy", "<i4", (4,), [1, -1, -100, 2])
        write_numbers("bytes.npy", "|u1", (4,), [1, 255, 255, 2])
        write_numbers("soft.npy", "<f4", (4, 3), SOFT)
        write_tensors("identity", IDENTITY)
        if any(process.wait() for process in builds):
            sys.exit(1)
        check_one()
        check_three()


main()
