#!/usr/bin/env python3
"""Checks testsuite/bench/sass: a launch's floor against its loop, and the sums against the rows.

    check_floor.py BUILD PRECISION

The floor of a plain 3x3 convolution is that of its blocks, k-steps and loop, and at most a quarter
more. Without nvcc it ends with status 77.
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SMS, CLOCK, SCHEDULERS, WARP = 132, 1755, 4, 32
COLUMNS = ("tile", "blocks", "room", "steps", "loop", "per_math", "floor", "less")
FILTER = 9 * 128


def main():
    build, precision = sys.argv[1:]
    done = subprocess.run([f"{HERE}/../bench/sass", "--build", build, "--by", "launch",
                           f"{HERE}/net.cnn", "--batch", "64", "--precision", precision],
                          stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout)
    if done.returncode:
        return done.returncode
    rows = [dict(zip(COLUMNS, line.split()[-len(COLUMNS):]), on_load="*" in line, line=line)
            for line in done.stdout.splitlines() if re.match(r"\d+ .*(conv|depthwise)_\w+ ", line)]
    plain = next(row for row in rows if re.search(r"three +conv_forward +\d", row["line"]))
    tile = [int(side) for side in plain["tile"].split("x")]
    warps = {"f32": tile[0] * tile[1] // 64 // WARP}.get(precision, 8)
    pixels = 64 * 28 * 28
    blocks = -(-pixels // tile[0]) * (128 // tile[1])
    steps = FILTER / (32 if precision == "f16" else 16)
    assert plain["blocks"] == str(blocks) and float(plain["steps"]) == steps, plain
    loop = int(plain["loop"])
    least = -(-blocks // SMS) * warps / SCHEDULERS * steps * loop / CLOCK
    assert least <= float(plain["floor"]) <= 1.25 * least, f"{plain['floor']}, not {least}"
    for row in rows:
        assert float(row["less"]) <= float(row["floor"]), row
        assert row["on_load"] or row["less"] == row["floor"], row
    whole = re.search(r"^sum +(\d+) +\d+ +([\d.]+) +([\d.]+)$", done.stdout, re.MULTILINE)
    assert int(whole[1]) == len(rows), whole[0]
    for column, sum_of in (("floor", whole[2]), ("less", whole[3])):
        mine = sum(float(row[column]) for row in rows) / 1000
        assert abs(mine - float(sum_of)) < 0.01, f"{column}: {mine}, not {sum_of}"
    return 0


sys.exit(main())
