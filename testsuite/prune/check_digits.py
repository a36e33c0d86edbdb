#!/usr/bin/env python3
"""Digits with 80 % zeros are still read, and the trainer counts the zeros.

    check_digits.py CNNC LIBHOST ROOT ACCURACY

Trains examples/digits for EPOCHS epochs with PRUNE.  The accuracy must be ACCURACY at least, in
percent.  The zeros that the trainer and cnnc state must be those of the file.
"""
import os
import re
import subprocess
import sys
import tempfile

cnnc, libhost, root, wanted = sys.argv[1:]
cnnc, libhost, root = map(os.path.abspath, (cnnc, libhost, root))
sys.path.append(os.path.join(root, "testsuite", "tools"))
from distance import read_safetensors  # noqa: E402

EPOCHS = 5
PRUNE = """prune = polynomial(final = 0.81, begin = 10, end = 70, every = 10,
                           of = "conv_2*", "dense*")"""
KERNELS = ["conv_2.weight", "dense_1.weight"]
ALL = 151072            # weights of kernels


def run(*command):
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[0]}: {done.stdout}{done.stderr}")
    return done.stdout


def number(pattern, text):
    found = re.search(pattern, text)
    if not found:
        sys.exit(f"no {pattern} in {text}")
    return float(found[1].replace(" ", ""))


def main():
    with open(os.path.join(root, "examples", "digits", "digits.cnn"), encoding="utf-8") as file:
        text = file.read()
    with open("digits.cnn", "w", encoding="utf-8") as file:
        file.write(text.replace("train {", "train {\n    " + PRUNE))
    run(cnnc, "--main", "digits.cnn", "-o", "digits.cu")
    run(os.environ.get("CXX", "clang++"), "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-I",
        os.path.join(root, "runtime", "host"), "-x", "c++", "digits.cu", "-x", "none", libhost,
        "-lpthread", "-o", "digits")
    said = run("./digits", "train", "--data", os.path.join(root, "examples", "digits", "data"),
               "--epochs", str(EPOCHS), "--seed", "1", "--save", "weights")
    print(said.splitlines()[-2], said.splitlines()[-1], sep="\n")
    weights = read_safetensors("weights")
    zeros = sum(x == 0 for name in KERNELS for x in weights[name])
    whole = 4 * sum(map(len, weights.values()))
    packed = whole - 4 * zeros + sum((len(weights[name]) + 7) // 8 for name in KERNELS)
    summary, info = run(cnnc, "--summary", "digits.cnn"), run("./digits", "info")
    run(cnnc, "--report", "page.html", "digits.cnn", "-o", "/dev/null")
    with open("page.html", encoding="utf-8") as file:
        page = file.read()
    # No magnitudes are equal, so that the compiler knows the zeros.
    found = {
        "the trainer's zeros": number(r"sparsity: (\d+) of", said),
        "the summary's": number(r"of these 0 at the end +([\d]+)", summary),
        "those of info": number(r"pruning: ([\d ]+) of", info),
        "those of the page": number(r"<dt>zeros</dt><dd>([\d ]+)", page)}
    faults = [f"{what}: {at:.0f}, not {zeros}" for what, at in found.items() if at != zeros]
    found = {
        "the trainer's bytes": number(r"would be (\d+)", said),
        "the summary's": number(r"in bits and non-zeros +(\d+)", summary),
        "those of info": number(r"or ([\d ]+) with", info)}
    faults += [f"{what}: {at:.0f}, not {packed}" for what, at in found.items() if at != packed]
    if not 0.8 < zeros / ALL < 0.805:
        faults.append(f"{zeros} zeros of {ALL}")
    accuracy = number(r"test accuracy ([\d.]+) %", said)
    if accuracy < float(wanted):
        faults.append(f"accuracy {accuracy} %, at least {wanted}")
    print(*faults, sep="\n")
    return bool(faults)


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    status = main()
    os.chdir("/")
sys.exit(status)
