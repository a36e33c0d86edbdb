#!/usr/bin/env python3
"""Quantization-aware training of digits, and what inference in integers of 8 bits makes of it.

    check_training.py CNNC LIBHOST ROOT

Before the step `delay` evaluation rounds nothing: it is that of the weights. From then on it rounds,
and the integers of the calibrated weights err as often, within MORE samples. Their scales of maps
are the averages of the training, also with --percentile. Other programs load the weights, too. A run
that goes on from a state ends in the same bytes as one that never stopped, so that scales are part
of it.
"""
import os
import re
import subprocess
import sys
import tempfile

cnnc, libhost, root = (os.path.abspath(path) for path in sys.argv[1:])
DATA = ["--data", os.path.join(root, "examples", "digits", "data")]
sys.path.append(os.path.join(root, "testsuite", "tools"))
from distance import read_safetensors  # noqa: E402

NET = os.path.join(root, "testsuite", "int8", "trained.cnn")
PROGRAMS = {"train": [], "calibrate": ["--calibrate"],
            "int8": ["--mode", "infer", "--precision", "int8"]}
SCALES = ["relu_1.scale", "relu_3.scale"]
# The order of sums differs, and so do a few integers.
MORE = 1


def start(*command):
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def end(program):
    said = program.communicate()[0]
    if program.returncode:
        sys.exit(f"{program.args}: {said}")
    return said


def run(*command):
    return end(start(*command))


def build():
    compilers = []
    for name, options in PROGRAMS.items():
        run(cnnc, "--main", *options, NET, "-o", name + ".cu")
        compilers.append(start(os.environ.get("CXX", "clang++"), "-std=c++17", "-O1", "-I",
                               os.path.join(root, "runtime", "host"), "-x", "c++", name + ".cu",
                               "-x", "none", libhost, "-lpthread", "-o", name))
    for compiler in compilers:
        end(compiler)


def result(said):
    """The right samples, and the loss if there is one, of the last line."""
    found = re.search(r"test accuracy [\d.]+ % \((\d+)/360\)(?:, loss ([\d.]+))?$", said.strip())
    if not found:
        sys.exit(f"no result in: {said}")
    return int(found[1]), found[2]


def train(weights, epochs, *options):
    return result(run("./train", "train", *DATA, "--epochs", str(epochs), "--save", weights,
                      *options))


def evaluate(program, weights):
    return result(run("./" + program, "eval", *DATA, "--load", weights))


def check(good, text):
    if not good:
        sys.exit(text)


def same_files(one, other):
    with open(one, "rb") as first, open(other, "rb") as second:
        return first.read() == second.read()


def main():
    build()
    early = train("early", 1, "--save-state", "state.1")
    floats = evaluate("train", "early")
    check(early == floats, f"step 45 of a delay of 60 rounds: {early}, in floats {floats}")
    trained = train("weights", 4, "--save-state", "state.4")
    floats = evaluate("train", "weights")
    check(trained[1] != floats[1], f"step 180 of a delay of 60 rounds nothing: loss {floats[1]}")
    for epochs, state in ("2", "state.1"), ("4", "state.2"):
        train("again", epochs, "--resume", state, "--save-state", "state.2")
    for one, other in ("weights", "again"), ("state.4", "state.2"):
        check(same_files(one, other), f"{other} is not {one}")
    averages = read_safetensors("weights")
    for percentile in "99", "100":
        said = run("./calibrate", "calibrate", *DATA, "--load", "weights", "--save", "integers",
                   "--percentile", percentile, "--layers")
        check("scales of 2 maps, from 1437 samples, and of 4 weights" in said, said)
        check("2 of the scales of maps are those of training" in said, said)
        scales = read_safetensors("integers")
        for name in SCALES:
            used, average = averages[name]
            check(used == average > 0, f"{name}: {used} is used, the average is {average}")
            check(scales[name][0] == average, f"{name}: {scales[name][0]}, not {average}")
    run(cnnc, "--mode", "infer", "--weights", "weights", NET, "-o", "constant.cu")
    integers = evaluate("int8", "integers")
    print(f"right: {trained[0]} while training, {floats[0]} in floats, {integers[0]} in integers")
    check(abs(trained[0] - integers[0]) <= MORE, "integers err otherwise than training")
    check(trained[0] > 300, "nothing was learned")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
        os.chdir("/")
