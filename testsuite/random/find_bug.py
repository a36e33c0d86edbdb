#!/usr/bin/env python3
"""Hunts for a bug of a copy of the tree by random nets.

    find_bug.py BUILD TREE NAME [--nets N] [--most STATEMENTS] [--tries N] [--shrink]

Nets are drawn, in double and in the integer mode by turns, until one fails or N of each have
passed; a failing net must pass in the unchanged tree, of which BUILD is the build. With --shrink it
must also shrink to at most STATEMENTS statements of the net's body. Prints `found` and the failure,
and exits with 1. TREE is built in a folder of its own, which stays for the next bug."""
import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

# The kernels themselves, which hold bugs.
os.environ["CNNC_HOST_TWINS"] = "0"

HERE = Path(__file__).resolve().parent
TARGETS = ["cnnc", "cnnc_host", "random_net", "emit_batch", "random_run"]
ROUND = 40      # nets of a mode before the other has its turn


def run(command, **options):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)


def must(command, **options):
    got = run(command, **options)
    if got.returncode:
        sys.exit(f"{' '.join(map(str, command))}:\n{got.stdout[-3000:]}{got.stderr[-3000:]}")


def build(tree):
    if not (tree / "build").exists():
        # The tests' own lists of files are not wanted here, only the programs that draw and run nets.
        (tree / "testsuite/CMakeLists.txt").write_text(
            "set(root ${CMAKE_SOURCE_DIR})\nadd_subdirectory(random)\n")
        must(["cmake", "-S", tree, "-B", tree / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
              "-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG"])
    must(["cmake", "--build", tree / "build", "-j", "1", "--target", *TARGETS])


def hunt(options):
    """The output of the first run of nets that fails, or None."""
    for begin in range(1, options.nets + 1, ROUND):
        for mode in ([], ["--exact"]):
            got = run([sys.executable, options.tree / "testsuite/random/random_nets.py",
                       options.tree / "build", "--seed", begin, "--nets", ROUND, "--settings", 4,
                       "--batch", ROUND // 4, "--first", "-j", 1, "--shrink",
                       options.tries if options.shrink else 0, *mode, "--output", options.name])
            if got.returncode:
                return f"({' '.join(mode)})\n{got.stdout}{got.stderr}"
    return None


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("tree", type=Path)
    parser.add_argument("name")
    parser.add_argument("--nets", type=int, default=400)
    parser.add_argument("--most", type=int, default=6)
    parser.add_argument("--tries", type=int, default=800)
    parser.add_argument("--shrink", action="store_true")
    options = parser.parse_args()
    build(options.tree)
    text = hunt(options)
    if text is None:
        print(f"not found by {2 * options.nets} nets")
        return 0
    size = re.search(r"^---- .*: (\d+) statements, after (\d+) tries$", text, re.M)
    what = re.search(r"^FAILED \S+ (.*)", text, re.M)
    if not what or (options.shrink and not size):
        sys.exit(f"the hunt itself fails:\n{text}")
    nets = Path(options.name).glob("*.small.cnn" if options.shrink else "*.cnn")
    sound = run([sys.executable, HERE / "random_nets.py", options.build, "--net", *nets] +
                (["--exact"] if "(--exact)" in text else []))
    if sound.returncode:
        sys.exit(f"what fails does so without the bug:\n{sound.stdout}")
    if options.shrink and int(size[1]) > options.most:
        sys.exit(f"{size[1]} statements are too many")
    print("found" + (f", {size[1]} statements after {size[2]} tries" if options.shrink else ""),
          what[1][:150], sep="; ")
    return 1


if __name__ == "__main__":
    sys.exit(main())
