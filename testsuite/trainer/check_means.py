#!/usr/bin/env python3
"""Checks the trainer's output and log with ignored labels, skipped steps or several losses.

    check_means.py CNNC HOST LIBRARY

means.cnn evaluates four samples of which two count and one is right, three at a time. Then none
counts; then a number of every batch is NaN, so that an epoch has no finite step. With two losses
each has a line and a column, and they add up to the loss.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "saving"))
from saving import write_tensors  # noqa: E402

CXX = os.environ.get("CXX", "clang++")

cnnc, host, library = map(os.path.abspath, sys.argv[1:])
NET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "means.cnn")
X = [0, 3, 0, 5, 0, 0, 5, 0, 0, 0, 1, 0]
NAN = float("nan")
IDENTITY = {"logits.weight": ("F32", [3, 3], [1, 0, 0, 0, 1, 0, 0, 0, 1]),
            "logits.bias": ("F32", [3], [0, 0, 0])}


def write_npy(path, kind, shape, numbers):
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() +
                   struct.pack(f"<{len(numbers)}{'f' if kind == '<f4' else 'i'}", *numbers))


def build(name, *options):
    subprocess.run([cnnc, "--main", *options, NET, "-o", name + ".cu"], check=True)
    return subprocess.Popen([CXX, "-std=c++17", "-O0", "-w", "-I", host, "-xc++", name + ".cu",
                             "-xnone", library, "-lpthread", "-o", name])


def run(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def evaluate(name, labels):
    return run("./" + name, "eval", "--test", "x=x.npy", "--test", f"label={labels}.npy",
               "--load", "identity")


def expect(text, pattern):
    if not re.search(pattern, text, re.MULTILINE):
        sys.exit(f"wanted {pattern!r}, found:\n{text}")


def columns(path):
    with open(path, encoding="ascii") as file:
        names, *rows = [line.rstrip("\n").split(",") for line in file]
    return [dict(zip(names, row)) for row in rows]


def train(name, images):
    return run("./" + name, "train", "--train", f"x={images}.npy", "--train", "label=y.npy",
               "--val", "x=x.npy", "--val", "label=y.npy", "--epochs", "1", "--load", "identity",
               "--log", "log.csv")


def check_one():
    expect(evaluate("one", "y"), r"^test accuracy 50\.00 % \(1/2\), loss 0\.8232$")
    expect(evaluate("one", "none"), r"^test accuracy nan \(0/0\), loss nan$")
    # A batch of NaN has no finite loss; two of them are an epoch.
    text = train("one", "nan")
    expect(text, r"^epoch 1/1 loss nan accuracy nan .*validation loss 0\.8232 accuracy 0\.500$")
    expect(text, r"the loss of 2 training steps was not finite")
    row, = columns("log.csv")
    if (row["loss"], row["accuracy"], row["skipped_steps"]) != ("nan", "nan", "2"):
        sys.exit(f"logged {row}")


def check_two():
    text = evaluate("two", "y")
    expect(text, r"^test accuracy 50\.00 % \(1/2\), loss 0\.8232$")
    expect(text, r"^test loss softmax_cross_entropy 0\.8232$")
    expect(text, r"^test loss mse 0\.0000$")
    text = train("two", "x")
    for name in ["softmax_cross_entropy", "mse"]:
        expect(text, rf"^epoch 1/1 loss {name} \d\.\d{{4}}, validation \d\.\d{{4}}$")
    row, = columns("log.csv")
    for kind in ["", "validation_"]:
        parts = [float(row[kind + name]) for name in ["softmax_cross_entropy", "mse"]]
        if min(parts) <= 0 or abs(float(row[kind + "loss"]) - sum(parts)) > 1e-6:
            sys.exit(f"the losses do not add up: {row}")
    if row["skipped_steps"] != "0":
        sys.exit(f"logged {row}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        builds = [build("one"), build("two", "-D", "LOSSES=2")]
        write_npy("x.npy", "<f4", (4, 3), X)
        write_npy("nan.npy", "<f4", (4, 3), [NAN] * 12)
        write_npy("y.npy", "<i4", (4,), [1, 0, 0, 2])
        write_npy("none.npy", "<i4", (4,), [0] * 4)
        write_tensors("identity", IDENTITY)
        if any(process.wait() for process in builds):
            sys.exit(1)
        check_one()
        check_two()


main()
