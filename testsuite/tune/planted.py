#!/usr/bin/env python3
"""Faults planted in the program of --tune, and in the compiler behind it, each of which
check_tune.py must find.

    planted.py CNNC ROOT LIBHOST

A fault of the program is an edit of its text; one of the compiler is an edit of what cnnc is told or
prints, by a script that stands in for it.
"""
import os
import subprocess
import sys
import tempfile

# Name: an edit of the emitted program, for sed -E.
PROGRAM = {
    "the slowest wins": r"s/microseconds >= least/microseconds <= least/",
    "the first wins": r"s/microseconds >= least/microseconds >= 0/",
    "alike launches count once": r"s/sum \+= r->of->launches\[i\]\.count \* /sum += /",
    "launches of the next product count": r"s/(for \(int i = p->first; i < p->first \+ p->count);/\1 + 1;/",
    "the next tile's name": r"s/t->tiles\[best\]\)/t->tiles[(best + 1) % 5])/",
    "failed launches are not told":
        r"s/return error == cudaSuccess \|\|/return true ||/",
    "the table comes in pieces":
        r"s/^( *)const bool measured = begin/\1printf(\"# tiles\\n\");\n&/",
    "a failure is a success": r"s/return !good;/return 0;/",
    "numbers are lost": r"/^ *\"sm = 80/d",
    "what was known is lost": r"/^ *\"tile bf16 forward 77/d",
    "the model's tile is the last":
        r"s/(\{\"bf16 forward 320 8 72 1\", TILE_)[0-9x]+/\1128x128/",
    "a product is left out": r"s/print_product\(r, &t->products\[i\]\);/if (i) &/",
    "roles are mixed up": r"s/\"bf16 dgrad /\"bf16 pooled /",
    "seconds may be anything": r"s/\*seconds > 0 &&//",
    "a full disk is no fault": r"s/\(!fflush\(stdout\) && !ferror\(stdout\)\)/true/",
}

# Name: an edit of the compiler's output where it has a table, as if it did not take its lines.
COMPILER = {
    "a table is not taken": r"s/TensorTile<Bf16, 64, 32, 16, 32, 4>/TensorTile<Bf16, 64, 64, 32, 32, 4>/",
}
STANDS_IN = """#!/bin/bash
case "$*" in
*--summary*|*--tune*|*a100*) exec {cnnc} "$@" ;;
*) {cnnc} "$@" | sed -E '{edit}' ;;
esac
"""


def found(cnnc, root, libhost, edit):
    check = os.path.join(root, "testsuite", "tune", "check_tune.py")
    done = subprocess.run([sys.executable, check, cnnc, root, libhost, *([edit] if edit else [])],
                          capture_output=True, text=True)
    said = (done.stdout.strip().split("\n") or [""])[-1]
    if done.returncode and (done.stderr.strip() or said.startswith("nothing to edit")):
        sys.exit(f"not as it was planned: {said} {done.stderr}")
    return done.returncode != 0, said


def main():
    cnnc, root, libhost = (os.path.abspath(word) for word in sys.argv[1:4])
    only, missed, count = os.environ.get("FAULT", ""), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        tries = [("none", cnnc, "")] + [(name, cnnc, edit) for name, edit in PROGRAM.items()]
        for name, edit in COMPILER.items():
            path = os.path.join(folder, f"cnnc{len(tries)}")
            with open(path, "w", encoding="utf-8") as file:
                file.write(STANDS_IN.format(cnnc=cnnc, edit=edit))
            os.chmod(path, 0o755)
            tries.append((name, path, ""))
        for name, program, edit in tries:
            if only not in name:
                continue
            caught, said = found(program, root, libhost, edit)
            count += name != "none"
            missed += caught == (name == "none")
            print(f"{'MISSED: ' if caught == (name == 'none') else ''}{name}: {said}", flush=True)
    print(f"{count} faults, {missed} not as they should be")
    return missed != 0


if __name__ == "__main__":
    sys.exit(main())
