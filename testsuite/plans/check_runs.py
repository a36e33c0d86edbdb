#!/usr/bin/env python3
"""Checks that runs of corrupted plans show faults, and that missing runs are reported.

    check_runs.py BUILD HOST TESTS EXAMPLES

check_corruptions.py looks at corruptions of slices.cnn as they are, which do no harm; then with a
fault in the file emitted from a plan of one mode, and in the report of runs. Each must be a
failure. It runs corrupt_plans through this script, which plants the fault that PLANTED names. Without
a change of the checks since the last landing (tools/changed.py) nothing is planted.
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "tools"))
from changed import has_changed  # noqa: E402

EPSILON = r"/\*epsilon\*/ 1e-05f"

# The planted faults: the expected message, and options. A mode: its launches compute something
# else.
FAULTS = {
    "nothing": (None, []),
    "train": ("slices train .* ends in other bytes", []),
    "eval": ("slices eval .* ends in other bytes", []),
    "infer": ("slices infer .* ends in other bytes", []),
    "no file": ("nothing can be emitted", []),
    "no C": ("can't be compiled", []),
    "NaN": ("that of the sound plan does not run: .* loss -?nan", []),
    "none is run": ("are not run, which is above 50 %", ["--run"]),
    "few are run": ("are not run, which is above 50 %", ["--run", "slices=1000"]),
}


def edit(path, old, new, function="", count=0):
    """Replaces the match of the pattern after the start of the function."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    at = text.index(function)
    changed = text[:at] + re.sub(old, new, text[at:], count=count)
    assert changed != text, f"{path}: nothing to edit"
    with open(path, "w", encoding="utf-8") as file:
        file.write(changed)


def plant(fault, folder, words):
    """Changes a record of a corruption that is run, or the files that it is about."""
    _, _, net, mode, level, run, *_ = words
    path = os.path.join(folder, run + ".cu")
    if fault == mode:
        edit(path, EPSILON, "0.5f", f"int slices_{mode}_steps(", count=1)
    elif fault == "no file":
        words[5] = "failed"
    elif fault == "no C":
        edit(path, EPSILON, "")
    elif fault == "NaN" and mode == "train":
        edit(os.path.join(folder, f"{net}.{level}.train.cu"), EPSILON, "NAN")


def between(build, arguments):
    """In the place of corrupt_plans."""
    drawing = subprocess.Popen([os.path.join(build, "testsuite", "plans", "corrupt_plans"),
                                *arguments], stdout=subprocess.PIPE, text=True)
    fault, planted = os.environ["PLANTED"], False
    for line in drawing.stdout:
        words = line.split(maxsplit=8)
        if not planted and words[0] == "corruption" and words[5].isdigit():
            before = list(words)
            plant(fault, arguments[-1], words)
            planted = fault == "NaN" and words[3] == "train"
            line = line if words == before else " ".join(words) + "\n"
        print(line, end="", flush=True)
    return drawing.wait()


def main(build, host, tests, examples):
    failed = 0
    if not has_changed(os.path.join(HERE, "..", ".."), "testsuite/plans", "testsuite/tools/emitted.py",
                       "testsuite/plan_check.py"):
        print("no check of plans has changed")
        return 0
    for fault, (says, words) in FAULTS.items():
        done = subprocess.run(
            [sys.executable, os.path.join(HERE, "check_corruptions.py"), build, host, tests,
             examples, "550", "0", "--unrun", "50", "--first", "--program",
             os.path.abspath(__file__), *words, "--nets", "slices"],
            env={**os.environ, "PLANTED": fault, "BUILD": build}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        line = next((s for s in done.stdout.splitlines() if s.startswith("FAILED")), "")
        right = (done.returncode == (1 if says else 0)
                 and bool(re.search(says or "^$", line)))
        failed += not right
        print("ok    " if right else "WRONG ", fault, "|", line[8:208], flush=True)
        if not right:
            print(done.stdout)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(between(os.environ["BUILD"], sys.argv[1:]) if "PLANTED" in os.environ
             else main(*sys.argv[1:]))
