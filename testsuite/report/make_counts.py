#!/usr/bin/env python3
"""Prints a table of counts as runtime/ptx writes it, with the launches of a net and made-up counts.

    make_counts.py CNNC NET.cnn [OPTION...]

It reads the steps of the emitted file. Steps of training have counts, and the others have none.
"""
import json
import re
import subprocess
import sys

COLUMNS = ("step launches blocks instructions lanes mma branches divergent load_requests load_bytes "
           "load_sectors load_least store_requests store_bytes store_sectors store_least "
           "shared_requests shared_bytes shared_passes shared_least kernel").split()


def emitted(cnnc, *options):
    return subprocess.run([cnnc, *options], check=True, stdout=subprocess.PIPE, text=True).stdout


def launches(text):
    """The number, kernel and blocks of each step of an emitted file."""
    for match in re.finditer(r"^ +STEP\((\d+),\s+", text, re.MULTILINE):
        at, depth = match.end(), 0
        while depth or text[at] != ",":
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
        kernel = " ".join(text[match.end():at].split()).removeprefix("(").removesuffix(")")
        yield int(match[1]), kernel, int(re.match(r",\s+(\d+),", text[at:])[1])


def row(step, kernel, blocks):
    instructions = 1000 * (step + 1)
    counts = {
        "step": step, "launches": 1, "blocks": blocks, "instructions": instructions,
        "lanes": 32 * instructions - 8 * step, "mma": 40 if step % 2 else 0, "branches": 20,
        "divergent": step % 20, "load_requests": 10, "load_bytes": 1280, "load_sectors": 40 + step,
        "load_least": 40, "store_requests": 5, "store_bytes": 640, "store_sectors": 20,
        "store_least": 20, "shared_requests": step % 3, "shared_bytes": 128 * (step % 3),
        "shared_passes": 4 * (step % 3), "shared_least": 2 * (step % 3), "kernel": kernel,
    }
    return " ".join(str(counts[name]) for name in COLUMNS)


def main():
    steps = len(json.loads(emitted(*sys.argv[1:], "--emit", "plan"))["steps"])
    print(*COLUMNS)
    print("-1 3 9" + " 0" * (len(COLUMNS) - 4) + " init_parameter")
    for step, kernel, blocks in launches(emitted(*sys.argv[1:])):
        if step < steps:
            print(row(step, kernel, blocks))


main()
