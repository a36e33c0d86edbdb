#!/usr/bin/env python3
"""Hunts for a bug of a copy of the tree by random nets.

    find_bug.py BUILD TREE NAME [--nets N] [--most STATEMENTS] [--tries N] [--shrink]

Nets are drawn, in double and in the integer mode by turns, until one fails or N of each have
passed; a failing net must pass in the unchanged tree, of which BUILD is the build. With --shrink it
must also shrink to at most STATEMENTS statements of the net's body. Prints `found` and the failure,
and exits with 1. The bug is in sources of the compiler or in kernels, and is compiled into the
programs of BUILD."""
import argparse
import filecmp
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

# The kernels themselves, which hold bugs.
os.environ["CNNC_HOST_TWINS"] = "0"

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FOLDERS = ["codegen", "frontend", "ir", "passes", "runtime"]
KERNELS = ("kernels/*.cuh", "support/*/*.cuh", "t*/*.cuh")      # in the order of CMakeLists.txt
ROUND = 40      # nets of a mode before the other has its turn


def run(command, **options):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)


def must(command, **options):
    got = run(command, **options)
    if got.returncode:
        sys.exit(f"{' '.join(map(str, command))}:\n{got.stdout[-3000:]}{got.stderr[-3000:]}")


def changed_in(tree):
    """The sources of the compiler, and other files, that differ from those of this tree."""
    pairs = [(path, ROOT / path.relative_to(tree)) for folder in FOLDERS
             for path in sorted((tree / folder).rglob("*")) if path.is_file()]
    names = [path for path, own in pairs
             if not own.exists() or not filecmp.cmp(path, own, shallow=False)]
    return [path for path in names if path.suffix == ".c"], \
        [path for path in names if path.suffix != ".c"]


def chunks_of(build, tree, work):
    """The runtime's text as a source of the compiler."""
    files = [sorted((tree / "runtime").glob(part), key=lambda path: path.name)
             for part in KERNELS]
    with open(work / "chunks.c", "w", encoding="utf-8") as out:
        subprocess.run([build / "embed", *(path for part in files for path in part
                                           if path.name != "real.cuh")], stdout=out, check=True)
    return work / "chunks.c"


def library_with(build, tree, sources, library):
    """libcore.a of BUILD with these sources in place of its own."""
    own = build / "CMakeFiles/core.dir"
    objects = {str(path.relative_to(own))[:-2]: path for path in sorted(own.rglob("*.o"))}
    include = [word for folder in (tree / "codegen", tree / "frontend", build / "generated")
               for word in ("-iquote", folder)]
    for number, source in enumerate(sources):
        name = str(source.relative_to(library.parent if library.parent in source.parents else tree))
        if name not in objects:
            sys.exit(f"{name} is no source of libcore.a")
        objects[name] = library.parent / f"faulty{number}.o"
        must(["gcc", "-std=c17", "-O1", "-w", *include, "-c", source, "-o", objects[name]])
    # Several members have the same name.
    must(["ar", "qcs", library, *objects.values()])


def build_faulty(build, tree):
    """The programs of BUILD with the bug, in a folder of TREE."""
    sources, others = changed_in(tree)
    more = [str(path.relative_to(tree)) for path in others if path.suffix != ".cuh"]
    if more:
        sys.exit(f"wanted a bug in .c or .cuh files, found one in {', '.join(more)}")
    work, own = tree / "build", build / "testsuite/random"
    shutil.rmtree(work, ignore_errors=True)
    for folder in "generated", "testsuite/random":
        (work / folder).mkdir(parents=True)
    if others:
        sources.append(chunks_of(build, tree, work / "generated"))
    for path in build / "libcnnc_host.a", own / "librandom_run.a", own / "librandom_case.a":
        shutil.copy(path, work / path.relative_to(build))
    library_with(build, tree, sources, work / "libcore.a")
    for name in "cnnc", "testsuite/random/random_net", "testsuite/random/emit_batch":
        program = work / name
        made = build / Path(name).parent / f"CMakeFiles/{program.name}.dir"
        must(["gcc", *sorted(made.rglob("*.o")), work / "testsuite/random/librandom_case.a",
              work / "libcore.a", "-lm", "-o", program])


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
    build_faulty(Path(options.build).resolve(), options.tree)
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
