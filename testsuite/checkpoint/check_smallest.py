#!/usr/bin/env python3
"""The smallest arena that a refusal names is the smallest that any budget gets.

    check_smallest.py CNNC LINE...

Each LINE is a net and options, as in golden/examples.txt. Within what one byte is refused with
there is a plan, of as many bytes; one byte less is refused with the same figure, and so is
one drawn from the fifth below it, with the status 4. A net may say what it is in a comment,
`# smallest: BYTES`.
"""
import random
import re
import sys

from budgets import OVER_BUDGET, Compiler


def named(compiler, budget):
    """What a budget that is too small is refused with; None: it is not refused."""
    done = compiler.run("--budget", str(budget), "--emit", "plan")
    found = re.search(r"smallest arena found for it, at batch \d+, has (\d+) bytes", done.stderr)
    return int(found[1]) if done.returncode == OVER_BUDGET and found else None


def check(cnnc, line):
    net, *words = line.split()
    compiler = Compiler(cnnc, net, words)
    smallest = named(compiler, 1)
    with open(net) as file:
        stated = re.search(r"^# smallest: (\d+)$", file.read(), re.M)
    below = random.Random(net)
    budgets = [smallest - 1] + [below.randrange(smallest * 4 // 5, smallest)]
    faults = [f"{net}: {b} bytes are refused with {said}, not {smallest}"
              for b in budgets for said in [named(compiler, b)] if said != smallest]
    arena = compiler.plan("--budget", str(smallest))["arena_bytes"]
    if stated and int(stated[1]) != smallest:
        faults.append(f"{net}: it says that {stated[1]} bytes are the smallest arena")
    if arena != smallest:
        faults.append(f"{net}: the plan within {smallest} bytes has {arena}")
    print(f"{net}: {smallest} bytes of {compiler.whole()}", *faults, sep="\n", flush=True)
    return faults


def main():
    cnnc, *lines = sys.argv[1:]
    return 1 if sum(len(check(cnnc, line)) for line in lines) or not lines else 0


if __name__ == "__main__":
    sys.exit(main())
