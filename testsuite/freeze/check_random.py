#!/usr/bin/env python3
"""Random nets with frozen parameters: the others change as in the unfrozen net.

    check_random.py PROGRAMS BUILD ROOT FIRST COUNT

PROGRAMS and BUILD are build folders: of cnnc and the interpreter, and of the other programs. Each of
COUNT seeds from FIRST on draws a net. A step is interpreted twice, in double and through all passes:
of the net as it is, and with some frozen parameters. The trained parameters and their states must be
the same bits, and a frozen parameter must stay and have no state. A bias whose weight is frozen is
summed by another operator, so it is equal within CLOSE of its norm. Some nets are left out: with
batch norms, since a freeze changes their statistics; that look at all gradients together; and that
prune, since a mask changes no frozen weight.
"""
import os
import random
import re
import subprocess
import sys
import tempfile

programs, build, root = map(os.path.abspath, sys.argv[1:4])
sys.path[:0] = [os.path.join(root, "testsuite", folder) for folder in ("tools", "freeze")]
from distance import read_safetensors  # noqa: E402
from frozen_bits import faults_of  # noqa: E402

TOOLS = os.path.join(build, "testsuite")
VALUE = re.compile(r"%\d+ (\S+) (\w+)\[(.*?)\] (input|param|statistic)(.*)")
LEFT_OUT = "batchnorm", "clip_norm", "dynamic", "prune"
CLOSE = 1e-9


def output_of(command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def drawn_net(seed):
    """The text of the net, trained whole; None if it is left out."""
    net = output_of([os.path.join(TOOLS, "random", "random_net"), str(seed)])
    net = re.sub(r"^( +freeze = |#).*\n", "", net, flags=re.M)
    return None if any(word in net for word in LEFT_OUT) else net


def tensors_of(net):
    """Lines for random_tensors, and the names of the parameters."""
    lines, params = [], []
    text = output_of([os.path.join(programs, "cnnc"), "--emit", "ir", "--stop-after", "frontend",
                      "--precision", "f64", net], stderr=subprocess.DEVNULL)
    for name, dtype, shape, kind, rest in VALUE.findall(text):
        classes = re.search(r"classes=(\d+)", rest)
        lines.append(f"{kind} {name} {dtype} {shape.replace(', ', 'x')} "
                     f"{classes[1] if classes else 0}\n")
        params += [name] * (kind == "param")
    return lines, params


def stepped(net, frozen, saved):
    """All tensors after a step."""
    subprocess.run([os.path.join(programs, "testsuite", "interpret"), *(word for name in frozen
                                                        for word in ("--freeze", name)),
                    net, "--load", "weights", "--batch-file", "batch", "--save", saved],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return read_safetensors(saved)


def faults(seed):
    """Lines that say what differs; None if the net is left out."""
    net = drawn_net(seed)
    if net is None:
        return None
    with open("net.cnn", "w") as file:
        file.write(net)
    lines, params = tensors_of("net.cnn")
    if len(params) < 2:
        return None
    subprocess.run([os.path.join(TOOLS, "random_tensors"), "--seed", str(seed), "--weights",
                    "weights", "--batch", "batch"], check=True, input="".join(lines), text=True)
    draw = random.Random(seed)
    frozen = draw.sample(params, draw.randint(1, len(params) - 1))
    try:
        part = stepped("net.cnn", frozen, "part")
    except subprocess.CalledProcessError:
        return None             # nothing is trained then
    return list(faults_of(read_safetensors("weights"), stepped("net.cnn", [], "whole"), part,
                          params, frozen, CLOSE))


def main(first, count):
    looked, wrong = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for seed in range(int(first), int(first) + int(count)):
            found = faults(seed)
            looked += found is not None
            if found:
                wrong += 1
                print(f"seed {seed}:", *found, sep="\n  ")
    print(f"{looked} of {count} nets with frozen parameters, {wrong} differ")
    return wrong > 0 or looked < int(count) / 5


sys.exit(main(*sys.argv[4:]))
