#!/usr/bin/env python3
"""A net's state is the same whatever passes made its training step: each program reads the states
of the others.

    check_settings.py CNNC NET.cnn OPTIONS...

STATE_HASH, PARAMS_HASH, STATE_BYTES, and the offset, bytes and dtype of each parameter must not
depend on settings. Settings are levels, a pass that is left out, recomputation, a budget, slices,
and offloaded maps. OPTIONS are as in golden/examples.txt.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(TESTS, "checkpoint"))
from budgets import Compiler  # noqa: E402

STATED = re.compile(r"^#define (\w+_(?:HASH|OFFSET|BYTES|DTYPE)) +(\S+)$", re.M)
# Facts of the program, not of the state.
OTHERS = re.compile(r"_(ARENA_BYTES|HOST_BYTES|PLAN_HASH)$")
MEMORY = ["-fno-share-buffers", "-fno-schedule", "-fno-assign-offsets"]


def optional_passes(cnnc):
    listed = subprocess.run([cnnc, "--passes", "--format", "json"], check=True, text=True,
                            stdout=subprocess.PIPE)
    return [row["pass"] for row in json.loads(listed.stdout)["passes"] if row["optional"]]


def settings(net):
    """The options of each program; the others are compared with the first."""
    found = [[], ["-O0"], ["-O1"], MEMORY, ["--checkpoint", "elementwise"],
             ["--split", "1:2x2"]]
    refused = net.run("--checkpoint", "every 2").stderr
    if "that one map alone crosses" not in refused:     # there are too few
        found.append(["--checkpoint", "every 2"])
    found += [["-fno-" + name] for name in optional_passes(net.cnnc)]
    # The memory of a training step may be too small for an evaluation.
    smallest = net.smallest()
    budget = ["--budget", str(net.refused(smallest) or smallest)]
    return found + [budget, [*budget, "--offload"]]


def stated(net, options, folder):
    """The header's facts about the state."""
    header = os.path.join(folder, "net.h")
    net.output(*options, "-o", os.path.join(folder, "net.cu"), "--header", header)
    with open(header, encoding="utf-8") as file:
        found = {name: value for name, value in STATED.findall(file.read())
                 if not OTHERS.search(name)}
    for wanted in "_STATE_HASH", "_PARAMS_HASH", "_STATE_BYTES":
        assert any(name.endswith(wanted) for name in found), f"{net.net}: no {wanted}"
    return found


def differs(net, folder):
    """The first setting under which the state differs, and the difference; how many there are."""
    first, count = None, 0
    for options in settings(net):
        found = stated(net, options, folder)
        first = first or found
        count += 1
        for name in sorted(set(first) | set(found)):
            if first.get(name) != found.get(name):
                return f"{' '.join(options)}: {name} is {found.get(name)}, not {first.get(name)}", \
                    count
    return None, count


def main(cnnc, path, *words):
    with tempfile.TemporaryDirectory() as folder:
        said, count = differs(Compiler(cnnc, path, words), folder)
    print(said or f"the same state under {count} settings")
    return said is not None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
