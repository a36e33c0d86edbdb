#!/usr/bin/env python3
"""Masks are NumPy's, bit for bit, by TensorFlow's formulas (golden/pruning.py).

    check_masks.py BUILD [SETTING]

Takes training steps of pruned.cnn in f32, with SETTING in place of its `prune`.  NumPy repeats
each update in float32 from the step's gradient, and then masks weights and averages.  After each
step all weights, averages and bits must be the program's.  Many weights begin with equal magnitudes.
A step whose loss is not finite changes no weight, but has its mask.
"""
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:                     # it may be there for Debian's Python alone
    if sys.executable == "/usr/bin/python3":
        print("no NumPy here")
        sys.exit(77)
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "testsuite", folder) for folder in ("tools", "golden")]
from distance import read_safetensors  # noqa: E402
from pruning import Pruning  # noqa: E402

F = np.float32
STEPS, RATE, DECAY, KEPT = 9, F(8), F(1 / 64), 0.75
PRUNED = ["first.weight", "both.weight", "wide.weight", "small.weight"]


def run(*command, **more):
    done = subprocess.run(command, check=False, capture_output=True, **more)
    if done.returncode:
        sys.exit(f"{command[0]}: {(done.stdout + done.stderr).decode()}")
    return done.stdout


def built(build, setting):
    """The program, its random weights and batch, in the current folder."""
    with open(os.path.join(HERE, "pruned.cnn"), encoding="utf-8") as file:
        text = file.read()
    if setting:
        text, count = re.subn(r"prune *= *polynomial\([^)]*\)", f"prune = {setting}", text)
        assert count == 1
    with open("net.cnn", "w", encoding="utf-8") as file:
        file.write(text)
    cnnc = os.path.join(build, "cnnc")
    run(cnnc, "--main", "-fkeep-gradients", "net.cnn", "-o", "net.cu")
    run(os.environ.get("CXX", "clang++"), "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror",
        "-ffp-contract=off", "-I", os.path.join(ROOT, "runtime", "host"), "-x", "c++", "net.cu",
        "-x", "none", os.path.join(build, "libcnnc_host.a"), "-lpthread", "-o", "net")
    run(os.path.join(build, "testsuite", "random_tensors"), "--seed", "1", "--weights", "weights",
        "--batch", "batch", input=run("./net", "info", "--tensors"))
    graph = run(cnnc, "--emit", "ir", "--stop-after", "frontend", "net.cnn").decode()
    line = re.search(r"^prune prune (.*) @", graph, re.M)[1]
    return Pruning({key: float(value) for key, value in re.findall(r"(\w+)=(\S+)", line)})


def after(steps, batch):
    run("./net", "step", "--load", "weights", "--batch", batch, "--steps", str(steps), "--save",
        "saved")
    return {name: np.array(x) for name, x in read_safetensors("saved").items()}


def rewrite(path, new, change):
    """A safetensors file of floats whose numbers `change` has changed."""
    with open(path, "rb") as file:
        data = file.read()
    begin = 8 + int.from_bytes(data[:8], "little")
    with open(new, "wb") as file:
        file.write(data[:begin] + change(np.frombuffer(data[begin:], F)).tobytes())


def with_ties(numbers):
    return np.round(numbers * 64) / F(64)


def with_nan(numbers):
    """The images come first."""
    return np.where(np.arange(numbers.size) == 7, F(np.nan), numbers)


def mask(pruning, weights, averages, step):
    """Masks the weights before the step uses them; returns the bits."""
    for name in PRUNED:
        kept = pruning.apply(name, weights[name], step)
        averages[name][~kept] = 0
    return {name: pruning.bits(name, weights[name].size) for name in PRUNED}


def faults_of(found, weights, averages, bits):
    for name, x in weights.items():
        if not np.array_equal(found[name], x):
            yield f"{name}: {np.sum(found[name] != x)} of {x.size} weights differ"
        if not np.array_equal(found[f"{name}.average"], averages[name]):
            yield f"{name}.average differs"
    for name, x in bits.items():
        if not np.array_equal(found[f"{name}.pruned"], x):
            yield f"{name}.pruned differs"


def check(pruning, batch, skips):
    faults, loaded, back = [], read_safetensors("weights"), 0
    weights = {name: np.array(x, F) for name, x in loaded.items()}
    averages = {name: x.copy() for name, x in weights.items()}
    bits = mask(pruning, weights, averages, 0)
    for step in range(STEPS):
        found = after(step + 1, batch)
        for name, w in weights.items():
            if skips:
                continue
            decay = DECAY if name.endswith(".weight") else F(0)
            w -= RATE * (found[f"d.{name}"] + decay * w)
            averages[name] += F(1 - KEPT) * (w - averages[name])
        before, bits = bits, mask(pruning, weights, averages, step + 1)
        back += sum(np.any(before[name] & ~bits[name]) for name in PRUNED)
        faults += [f"{batch}, step {step}: {fault}"
                   for fault in faults_of(found, weights, averages, bits)]
    zeros = {name: int(np.sum(weights[name] == 0)) for name in PRUNED}
    print(f"{batch}: zeros {zeros}; weights came back to {back} masks")
    if not back and not skips:
        faults.append(f"{batch}: no weight came back")
    if not any(zeros.values()):
        faults.append(f"{batch}: nothing was pruned")
    return faults


def main(build, setting=None):
    build = os.path.abspath(build)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pruning = built(build, setting)
        rewrite("weights", "weights", with_ties)
        rewrite("batch", "nan", with_nan)
        faults = check(pruning, "batch", False)
        pruning.masks.clear()
        faults += check(pruning, "nan", True)
        os.chdir("/")
    print(*faults, sep="\n")
    return bool(faults)


sys.exit(main(*sys.argv[1:]))
