#!/usr/bin/env python3
"""Holds the counts of a training step: a kernel that takes more of them, or less, is a failure.

    check_counts.py BUILD counts.txt [PATTERN] [--update]

The file has nvcc's version, and for each net with its options the sums of each kernel. PATTERN
chooses nets. With --update the file is written anew. Another nvcc makes other code, so the test is
skipped then.
"""
import os
import re
import sys
import tempfile

from counted import SKIPPED, Failed, count_step, nvcc_version, short, total

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEAD = """# Counts of one training step as nvcc's PTX, held by the test ptx.counts. To write them anew:
#
#     testsuite/ptx/check_counts.py build testsuite/ptx/counts.txt --update
#
# A line `net` has a file and cnnc's options; below it are its kernels.
"""
COUNTS = {
    "launches": lambda c: c["launches"],
    "instructions": lambda c: c["instructions"],
    "mma": lambda c: c["mma"],
    "sectors": lambda c: c["load_sectors"] + c["store_sectors"] + c["atomic_sectors"],
    "passes": lambda c: c["shared_passes"],
    "divergent": lambda c: c["divergent"],
}


def read(path):
    """nvcc's version, and by net its kernels with their counts."""
    version, nets = None, {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            first, _, rest = line.strip().partition(" ")
            if first == "nvcc":
                version = rest
            elif first == "net":
                own = nets[rest] = {}
            elif first and first not in ("#", "kernel"):
                own[first] = dict(zip(COUNTS, map(int, rest.split())))
    return version, nets


def write(path, version, nets):
    lines = [HEAD, f"nvcc {version}"]
    for net, kernels in nets.items():
        lines += ["", f"net {net}", f"{'kernel':<24}" + "".join(f"{name:>13}" for name in COUNTS)]
        for kernel, counts in kernels.items():
            lines.append(f"{kernel:<24}" + "".join(f"{counts[name]:>13}" for name in COUNTS))
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([*lines, ""]))


def count(build, net):
    """The sums of each kernel in the order of the plan."""
    path, *options = net.split()
    with tempfile.TemporaryDirectory() as work:
        _, rows = count_step(build, os.path.join(ROOT, path), options, work)
    kernels = {}
    for number in sorted(rows):
        for row in rows[number]:
            kernels.setdefault(short(row["kernel"]), []).append(row)
    sums = {kernel: total(own) for kernel, own in kernels.items()}
    return {kernel: {name: of(own) for name, of in COUNTS.items()}
            for kernel, own in sums.items()}


def differences(old, new):
    """A line for each count that differs."""
    nothing = dict.fromkeys(COUNTS, 0)
    for kernel in dict.fromkeys([*old, *new]):
        was, now = old.get(kernel, nothing), new.get(kernel, nothing)
        for name in COUNTS:
            if was[name] != now[name]:
                change = f" ({100 * (now[name] / was[name] - 1):+.2f} %)" if was[name] else ""
                yield f"{kernel}: {name} {was[name]} -> {now[name]}{change}"


def check(build, path, pattern):
    version, nets = read(path)
    if nvcc_version() != version:
        print(f"the counts are of nvcc {version}, and this is nvcc {nvcc_version()}: other code")
        return SKIPPED
    changed = 0
    for net, old in nets.items():
        if not re.search(pattern, net):
            continue
        lines = list(differences(old, count(build, net)))
        print(f"{net}: {len(old)} kernels, {len(lines)} counts differ", flush=True)
        print(*(f"    {line}\n" for line in lines), sep="", end="", flush=True)
        changed += len(lines)
    if changed:
        print("If the change is intended: testsuite/ptx/check_counts.py build "
              "testsuite/ptx/counts.txt --update")
    return int(changed > 0)


def main():
    words = [word for word in sys.argv[1:] if word != "--update"]
    build, path, pattern = [*words, ""][:3]
    if nvcc_version() is None:
        print("nvcc is missing")
        return SKIPPED
    try:
        if "--update" not in sys.argv:
            return check(build, path, pattern)
        _, nets = read(path)
        write(path, nvcc_version(), {net: count(build, net) if re.search(pattern, net) else old
                                     for net, old in nets.items()})
    except Failed as error:
        print(error)
        return 1
    return 0


sys.exit(main())
