#!/usr/bin/env python3
"""Plants each bug of bugs/*.patch in a copy of the tree, and expects random nets to find it.

usage: find_bugs.py BUILD [--nets N] [--most STATEMENTS] [-j J] [--output DIR] [--only BUG...] [--shrink BUG...]

The copy is built once, and again where a patch changes it.  Nets are drawn, in double and in the
integer mode by turns, until one fails or N of each have passed; a failing net must pass in the
unchanged tree, of which BUILD is the build.  With a bug of --shrink it must also shrink to at most
STATEMENTS statements of the net's body.  Prints a line a bug; exits with 1 unless all are found."""
import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.append(str(ROOT / "testsuite/tools"))
from changed import has_changed  # noqa: E402
FOLDERS = ["codegen", "frontend", "ir", "passes", "runtime", "testsuite"]
TARGETS = ["cnnc", "cnnc_host", "random_net", "emit_batch", "random_run"]
ROUND = 40      # nets of a mode before the other has its turn


def run(command, **options):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)


def must(command, **options):
    got = run(command, **options)
    if got.returncode:
        sys.exit(f"{' '.join(map(str, command))}:\n{got.stdout[-3000:]}{got.stderr[-3000:]}")


def copy_tree(to):
    for name in FOLDERS:
        ignored = shutil.ignore_patterns("golden") if name == "testsuite" else None
        shutil.copytree(ROOT / name, to / name, ignore=ignored)
    for name in ("CMakeLists.txt", "LICENSE"):
        shutil.copy(ROOT / name, to / name)
    # The tests' own lists of files are not wanted here, only the programs that draw and run nets.
    (to / "testsuite/CMakeLists.txt").write_text(
        "set(root ${CMAKE_SOURCE_DIR})\nadd_subdirectory(random)\n")


def build(tree, options):
    must(["cmake", "--build", tree / "build", "-j", options.j, "--target", *TARGETS])


def hunt(tree, options, name):
    """The output of the first run of nets that fails, or None."""
    for begin in range(1, options.nets + 1, ROUND):
        for mode in ([], ["--exact"]):
            got = run([sys.executable, tree / "testsuite/random/random_nets.py", tree / "build",
                       "--seed", begin, "--nets", ROUND, "--settings", 4, "--batch", ROUND // 4,
                       "--first", "-j", options.j, "--shrink",
                       options.tries if name in options.shrink else 0, *mode,
                       "--output", Path(options.output) / name])
            if got.returncode:
                return f"({' '.join(mode)})\n{got.stdout}{got.stderr}"
    return None


def is_chosen(patch):
    """True if a file that the patch changes, or the hunt, differs from the last landing."""
    files = re.findall(r"^\+\+\+ b/(\S+)", patch.read_text(), re.M)
    return has_changed(str(ROOT), *files, "testsuite/random")


def try_bug(tree, options, patch):
    start, name = time.monotonic(), patch.stem
    shutil.rmtree(Path(options.output) / name, ignore_errors=True)
    must(["patch", "-p1", "-d", tree, "-i", patch])
    build(tree, options)
    text = hunt(tree, options, name)
    must(["patch", "-R", "-p1", "-d", tree, "-i", patch])
    seconds = time.monotonic() - start
    if text is None:
        print(f"{name}: not found by {2 * options.nets} nets; {seconds:.0f} s", flush=True)
        return False
    shrunk = name in options.shrink
    size = re.search(r"^---- .*: (\d+) statements, after (\d+) tries$", text, re.M)
    what = re.search(r"^FAILED \S+ (.*)", text, re.M)
    if not what or (shrunk and not size):
        print(f"{name}: the hunt itself fails:\n{text}", flush=True)
        return False
    nets = (Path(options.output) / name).glob("*.small.cnn" if shrunk else "*.cnn")
    sound = run([sys.executable, HERE / "random_nets.py", options.build, "--net", *nets] +
                (["--exact"] if "(--exact)" in text else []))
    if sound.returncode:
        print(f"{name}: what fails does so without the bug:\n{sound.stdout}", flush=True)
        return False
    small = not shrunk or int(size.group(1)) <= options.most
    words = (f", {size.group(1)} statements{'' if small else ': too many'} after "
             f"{size.group(2)} tries" if shrunk else "")
    print(f"{name}: found{words}; {seconds:.0f} s; {what.group(1)[:150]}", flush=True)
    return small


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("--nets", type=int, default=400)
    parser.add_argument("--most", type=int, default=6)
    parser.add_argument("--tries", type=int, default=800)
    parser.add_argument("-j", type=int, default=1)
    parser.add_argument("--output", default="found-bugs")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--shrink", nargs="*", default=[])
    options = parser.parse_args()
    options.output = Path(options.output).resolve()
    patches = sorted((HERE / "bugs").glob("*.patch"))
    if options.only:
        patches = [patch for patch in patches if patch.stem in options.only]
    else:
        patches = [patch for patch in patches if is_chosen(patch)]
    if not patches:
        print("no bug is in a file that differs from the last landing")
        return 0
    found = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        copy_tree(tree)
        must(["cmake", "-S", tree, "-B", tree / "build", "-G", "Ninja",
              "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG"])
        build(tree, options)
        for patch in patches:
            found += try_bug(tree, options, patch)
    print(f"{found} of {len(patches)} bugs found")
    return found < len(patches)


if __name__ == "__main__":
    sys.exit(main())
