#!/usr/bin/env python3
"""The smallest arena that a refusal names can be had.

    check_smallest.py CNNC LINE...

Each LINE is a net and options, as in golden/examples.txt. Within the arena that the refusal of one
byte names there is a plan for training, evaluation and inference. A budget below it, drawn from the
fifth below, is met or is refused with a size that can be had, with the status 4. A net may state
that arena in a comment, `# smallest: BYTES`.
"""
import json
import random
import re
import sys

from budgets import OVER_BUDGET, Compiler


def named(compiler, budget):
    """The refusal of a budget that is too small; None: it is not refused."""
    done = compiler.run("--budget", str(budget), "--emit", "plan")
    found = re.search(r"smallest arena found for it, at batch \d+, has (\d+) bytes", done.stderr)
    return int(found[1]) if done.returncode == OVER_BUDGET and found else None


def check(cnnc, line):
    net, *words = line.split()
    compiler = Compiler(cnnc, net, words)
    smallest = named(compiler, 1)
    with open(net) as file:
        stated = re.search(r"^# smallest: (\d+)$", file.read(), re.M)
    below = random.Random(net).randrange(smallest * 4 // 5, smallest)
    faults, sizes = [], {smallest, named(compiler, below) or below}
    for size in sorted(sizes):
        for mode in "train", "eval", "infer":
            done = compiler.run("--budget", str(size), "--mode", mode, "--emit", "plan")
            if done.returncode != 0:
                faults.append(f"{net}: {size} bytes were named, and {mode} is refused")
            elif json.loads(done.stdout)["arena_bytes"] > size:
                faults.append(f"{net}: the plan within {size} bytes has more")
    if stated and int(stated[1]) != smallest:
        faults.append(f"{net}: it says that {stated[1]} bytes are the smallest arena")
    print(f"{net}: {smallest} bytes of {compiler.whole()}", *faults, sep="\n", flush=True)
    return faults


def main():
    cnnc, *lines = sys.argv[1:]
    return 1 if sum(len(check(cnnc, line)) for line in lines) or not lines else 0


if __name__ == "__main__":
    sys.exit(main())
