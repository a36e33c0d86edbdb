#!/usr/bin/env python3
"""Products on tensor cores have no bank conflicts in shared memory, as nvcc's PTX runs on the CPU.

    check_banks.py BUILD FILE [OPTION...]

The file is a program, testsuite/tensor/tiles.cu, with products of all tiles and orders of operands;
or a net, of which a training step runs. Each request to shared memory of a convolution or product
must take the least number of passes over the banks: ldmatrix, loads, stores and copies.

nvcc writes some vectors element by element, and ptxas joins them. So neighbours at adjacent
addresses are one request. An element of four words takes four passes then, in all banks.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "tools"))
from held import Failed, run  # noqa: E402

STORE = re.compile(r"\s*st\.shared\.(?:v(\d)\.)?[a-z](\d+)\s+\[(%\w+)(?:\+(-?\d+))?\]")
KERNELS = r"\b(conv|multiply)_\w+<"
FORMS = ("ldmatrix", "ld.shared", "st.shared", "cp.async")


def store_in(line):
    """Register, offset and bytes of a store to shared memory, or None."""
    found = STORE.match(line)
    if not found:
        return None
    count, bits, register, offset = found.groups()
    return register, int(offset or 0), int(count or 1) * int(bits) // 8


def joined(lines, at):
    """How many stores of one vector are at this line and around it."""
    own = store_in(lines[at])
    first = last = at
    while own and store_in(lines[first - 1]) and store_in(lines[first - 1])[0] == own[0]:
        first -= 1
    while own and store_in(lines[last + 1]) and store_in(lines[last + 1])[0] == own[0]:
        last += 1
    # Vectors of 16 bytes at most, which begin at the lowest of these offsets or a multiple later.
    stores = [store_in(line) for line in lines[first:last + 1]]
    if not own:
        return 1
    lowest = min(offset for _, offset, _ in stores)
    piece = (own[1] - lowest) // 16
    return sum((offset - lowest) // 16 == piece for _, offset, _ in stores)


def kernels_of(lines):
    """The demangled kernel that each line is in."""
    names = [re.search(r"\.entry (\w+)", line) for line in lines]
    plain = subprocess.run(["c++filt"], input="\n".join(name[1] for name in names if name),
                           stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
    own, left = "", iter(plain)
    for name in names:
        own = next(left).split("(")[0] if name else own
        yield own


def executed(build, file, options, work):
    """The PTX's lines and, for those that ran: number, requests to shared memory, passes, least."""
    if file.endswith(".cu"):
        with open(file, encoding="utf-8") as source, \
                open(f"{work}/net.cu", "w", encoding="utf-8") as copy:
            copy.write(source.read().replace('"../', f'"{os.path.dirname(file)}/../'))
        run([f"{HERE}/compile", build, f"{work}/net"])
        command = [f"{work}/net"]
    else:
        run([f"{HERE}/prepare", build, file, work, "-fno-keep-gradients", *options])
        command = [f"{work}/net", "step", "--load", f"{work}/weights", "--steps", "1", "--batch",
                   f"{work}/batch", "--save", f"{work}/saved"]
    # A program's own verdict is another test's.
    ended = subprocess.run(command, check=False, stdout=subprocess.DEVNULL, env={
        **os.environ, "CNNC_HOST_PTX": f"{work}/net.ptx", "CNNC_HOST_PTX_LINES": f"{work}/lines"})
    if ended.returncode not in (0, 1) or not os.path.exists(f"{work}/lines"):
        raise Failed(f"status {ended.returncode}")
    with open(f"{work}/net.ptx", encoding="utf-8") as ptx, \
            open(f"{work}/lines", encoding="utf-8") as table:
        counts = [list(map(int, line.split())) for line in table]
        return ptx.read().split("\n"), [(row[0], *row[3:]) for row in counts if row[3]]


def main():
    build, file, *options = sys.argv[1:]
    with tempfile.TemporaryDirectory() as work:
        try:
            lines, counts = executed(build, os.path.abspath(file), options, work)
        except Failed as error:
            print(error)
            return error.status
    kernels = list(kernels_of(lines))
    requests, conflicts = collections.Counter(), 0
    for number, count, passes, least in counts:
        if not re.search(KERNELS, kernels[number - 1]):
            continue
        text = lines[number - 1].strip()
        form = next((form for form in FORMS if form in text), "other")
        requests[form] += count
        if passes > least * joined(lines, number - 1):
            conflicts += 1
            if conflicts < 20:
                print(f"{kernels[number - 1][:70]}, line {number}: {text}: {passes} passes, "
                      f"{least} would do")
    print(f"{os.path.basename(file)}: " +
          ", ".join(f"{count} {form}" for form, count in requests.items()) +
          f"; {conflicts} lines with conflicts")
    return int(conflicts > 0 or not requests["ldmatrix"])


sys.exit(main())
