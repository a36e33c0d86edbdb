#!/usr/bin/env python3
"""The house rules that can be measured.

usage: check.py ROOT

Who may include whom: frontend, passes and codegen include ir; ir includes nobody; the driver (main and
what it calls) sees all; runtime shares nothing with the compiler.  One allocator: ir/arena.c.  Lines are at most 80 wide, 100 in CUDA and in what the emitter prints; functions
at most 80 lines.  Prints a line a fault and exits 1 if there is one.
"""
import re
import sys
from pathlib import Path

# The driver: it runs the stages one after the other, so it sees them all.
DRIVER = {"main.c", "options.c", "options.h", "help.c", "pipeline.c",
          "pipeline.h", "compare.c", "dependencies.c"}
# Tools of the build and of the tests that stand outside the compiler.
OUTSIDE = {"codegen/embed.c"}
ALLOCATES = re.compile(r"\b(malloc|calloc|realloc|strdup|free)\s*\(")

faults = []


def fault(path, line, text):
    faults.append(f"{path}:{line}: {text}")


def folder_of(root, path, name):
    target = (path.parent / name).resolve()
    try:
        return target.relative_to(root).parts[0]
    except ValueError:
        return None


def check_includes(root, path, lines):
    folder = path.relative_to(root).parts[0]
    allowed = {"frontend": {"frontend", "ir"}, "passes": {"passes", "ir"},
               "codegen": {"codegen", "ir"}, "ir": {"ir"},
               "runtime": {"runtime"}}[folder]
    if folder == "frontend" and path.name in DRIVER:
        allowed = allowed | {"passes", "codegen"}
    for number, line in enumerate(lines, 1):
        match = re.match(r'\s*#include "([^"]+)"', line)
        if not match:
            continue
        to = folder_of(root, path, match.group(1))
        if (root / path.parent / match.group(1)).exists() and to not in allowed:
            fault(path, number, f"{folder} includes {to}")


def check_width(path, lines):
    limit = 100 if path.suffix in (".cuh", ".cu") or "codegen" in path.parts else 80
    for number, line in enumerate(lines, 1):
        if len(line) > limit and 'write_line(' not in line:
            fault(path, number, f"{len(line)} columns, at most {limit}")


def check_functions(path, lines):
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start:
            if number - start - 1 > 80:
                fault(path, start, f"a function of {number - start - 1} lines")
            start = None


def check_allocator(root, path, lines):
    name = str(path.relative_to(root))
    if name == "ir/arena.c" or name in OUTSIDE or name.startswith("runtime"):
        return
    for number, line in enumerate(lines, 1):
        if ALLOCATES.search(line.split("//")[0]):
            fault(path, number, "allocates; ir/arena.c is the only allocator")


def main(root):
    root = Path(root).resolve()
    for folder in ("ir", "frontend", "passes", "codegen", "runtime"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".c", ".h", ".cpp", ".cuh"):
                continue
            lines = path.read_text().splitlines()
            check_includes(root, path, lines)
            check_width(path, lines)
            check_functions(path, lines)
            check_allocator(root, path, lines)
    print("\n".join(faults) if faults else "the house is in order")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
