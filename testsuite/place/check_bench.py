#!/usr/bin/env python3
"""bench/plan on instances made by cutting up a rectangle, and on answers that are spoilt.

    check_bench.py CNNC ROOT
"""
import os
import random
import subprocess
import sys
import tempfile

cnnc, root = (os.path.abspath(a) for a in sys.argv[1:])
bench = os.path.join(root, "testsuite", "bench", "plan")
HEIGHT = 1000

# A change of cnnc's answer, as a program of awk, and the bench's message for it.
SPOILT = {
    "$1 == 3 { $5 += 1 } { print }": "two overlap|1001 bytes are more",
    "$1 == 3 { $5 = -1 } { print }": "an offset is negative|two overlap",
    "$1 == 3 { $4 -= 1 } { print }": "these are other buffers",
    "$1 != 3 { print }": "these are other buffers",
}


def cut(count, seed):
    """A rectangle in count pieces: (lower, upper, size)."""
    draw, pieces = random.Random(seed), [(0, 200, HEIGHT)]
    while len(pieces) < count:
        lower, upper, size = piece = draw.choice(pieces)
        if draw.random() < 0.5 and upper - lower > 1:
            at = draw.randint(lower + 1, upper - 1)
            pieces += [(lower, at, size), (at, upper, size)]
        elif size > 1:
            at = draw.randint(1, size - 1)
            pieces += [(lower, upper, at), (lower, upper, size - at)]
        else:
            continue
        pieces.remove(piece)
    draw.shuffle(pieces)
    return pieces


def run(program, folder):
    done = subprocess.run([sys.executable, bench, program, folder, "--capacity", str(HEIGHT)],
                          capture_output=True, text=True)
    return done.returncode, done.stdout


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        os.mkdir(data)
        for seed, count in enumerate((8, 30, 60, 90)):
            with open(os.path.join(data, f"cut{count}.csv"), "w") as file:
                print("id,lower,upper,size", file=file)
                for i, piece in enumerate(cut(count, seed)):
                    print(i, *piece, sep=",", file=file)
        status, text = run(cnnc, data)
        if status != 0 or "4 of 4 in" not in text:
            failed += 1
            print(f"bench/plan fails:\n{text}")
        for program, said in SPOILT.items():
            spoiler = os.path.join(folder, "spoiler")
            with open(spoiler, "w") as file:
                file.write(f"#!/bin/sh\n{cnnc} \"$@\" | awk -F, -v OFS=, '{program}'\n")
            os.chmod(spoiler, 0o755)
            status, text = run(spoiler, data)
            if status == 0 or not all(any(s in line for s in said.split("|"))
                                      for line in text.splitlines() if line.startswith("cut")):
                failed += 1
                print(f"bench/plan does not say '{said}' after {program}:\n{text}")
    return failed


sys.exit(main())
