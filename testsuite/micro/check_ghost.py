#!/usr/bin/env python3
"""Slices with statistics of their own (--ghost) are training steps of their own, of which the mean
is taken.

    check_ghost.py BUILD

ghost.cnn takes a step of 8 and of 6 samples, 4 at a time; without slices it takes one of each
slice, from the same weights. Gradients, running statistics and the accuracy of the first must be,
within 1e-9, the mean of the others', each weighted by its samples. Its loss must be the mean
weighted by the class weights of their labels. For slices that differ in size the running variance
is left out, since n - 1 of both is not that of their mean. Then each of the faults of mutants.txt,
planted in the emitted file, makes that fail.
"""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from mutants import PLANTED_FAULT, mutants_of, with_all  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
build = os.path.abspath(sys.argv[1])
SLICE = 4

FAULTS = mutants_of("micro.ghost")


def run(*command, env=None, **more):
    env = dict(os.environ, **(env or {}))
    result = subprocess.run(command, check=False, text=True, capture_output=True, env=env, **more)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}: {result.stdout}{result.stderr}")
    return result.stdout


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    length, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    return {name: (t["dtype"], t["shape"], data[8 + length:][slice(*t["data_offsets"])])
            for name, t in header.items()}


def write(path, tensors):
    header, data = {}, b""
    for name, (dtype, shape, part) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + data)


def rows(tensors, first, end):
    def cut(dtype, shape, data):
        row = len(data) // shape[0]
        return dtype, [end - first, *shape[1:]], data[first * row:end * row]
    return {name: cut(*tensor) for name, tensor in tensors.items()}


def numbers(tensor):
    return struct.unpack(f"<{len(tensor[2]) // 8}d", tensor[2])


def make(name, *options):
    net = os.path.join(HERE, "ghost.cnn")
    cnnc = [os.path.join(build, "cnnc"), "--precision", "f64", "-fkeep-gradients", *options, net]
    run(*cnnc, "--main", "-o", name + ".cu")
    for mode in ["train", "eval"]:
        run(*cnnc, "--mode", mode, "--emit", "plan", "-o", f"{name}.{mode}.json")
        run("python3", os.path.join(ROOT, "testsuite", "plan_check.py"), f"{name}.{mode}.json")
    with open(name + ".cu", encoding="utf-8") as file:
        text = file.read()
    with open(name + ".cu", "w", encoding="utf-8") as out:
        out.write(PLANTED_FAULT + with_all(text, FAULTS) if name == "ghost" else text)
    run("clang++", "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-I",
        os.path.join(ROOT, "runtime", "host"), "-x", "c++", name + ".cu", "-x", "none",
        os.path.join(build, "libcnnc_host.a"), "-lpthread", "-o", name)


def step(name, batch, fault=None):
    env = {"CNNC_HOST_PLAN": f"{name}.train.json:{name}.eval.json"}
    if fault is not None:
        env["PLANTED"] = str(fault)
    write("batch", batch)
    run(f"./{name}", "step", "--load", "weights", "--batch", "batch", "--steps", "1", "--save",
        "saved", env=env)
    return read("saved")


def mean_by(weights, column):
    return sum(w * x for w, x in zip(weights, column)) / sum(weights)


def weight_of(batch):
    """The class weights of all labels, which are one more than the class."""
    labels = batch["label"][2]
    return sum(1 + y for y in struct.unpack(f"<{len(labels) // 4}i", labels))


def differ(whole, parts, sizes, weights):
    """The names that do, of those that are means."""
    found = []
    for name, tensor in whole.items():
        is_running = name.endswith(".mean") or name.endswith(".variance")
        if not (is_running or name.startswith("d.") or name == "figures"):
            continue
        if name.endswith(".variance") and len(set(sizes)) > 1:
            continue
        lists = [numbers(part[name]) for part in parts]
        mean = [mean_by(sizes, column) for column in zip(*lists)]
        if name == "figures":
            mean[0] = mean_by(weights, [figures[0] for figures in lists])
        scale = max(sum(x * x for x in mean), 1e-12)
        if sum((x - y) ** 2 for x, y in zip(numbers(tensor), mean)) > 1e-18 * scale:
            found.append(name)
    return found


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make("plain", "--batch", str(SLICE))
        make("ghost", "--ghost", "--microbatch", str(SLICE))
        tools = os.path.join(build, "testsuite")
        run(os.path.join(tools, "random_tensors"), "--seed", "1", "--weights", "weights", "--batch",
            "drawn", input=run("./ghost", "info", "--tensors"))
        drawn, caught = read("drawn"), set()
        for count in [2 * SLICE, 2 * SLICE - 2]:
            halves = [rows(drawn, 0, SLICE), rows(drawn, SLICE, count)]
            sizes = [SLICE, count - SLICE]
            weights = [weight_of(half) for half in halves]
            parts = [step("plain", half) for half in halves]
            wrong = differ(step("ghost", rows(drawn, 0, count)), parts, sizes, weights)
            if wrong:
                sys.exit(f"of {count} samples these are not the mean of their slices': {wrong}")
            caught |= {i for i in range(len(FAULTS))
                       if differ(step("ghost", rows(drawn, 0, count), i), parts, sizes, weights)}
        missed = [fault.name for i, fault in enumerate(FAULTS) if i not in caught]
        if missed:
            sys.exit(f"not caught: {missed}")
        print(f"slices with statistics of their own; {len(FAULTS)} faults caught")


main()
