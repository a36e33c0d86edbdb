#!/usr/bin/env python3
"""The house rules that can be measured.

usage: check.py ROOT

Who may include whom: frontend, passes and codegen include ir; ir includes nobody; the driver (main
and what it calls) sees all; runtime shares nothing with the compiler.  One allocator: ir/arena.c.
An operator is named in its own files alone, and nothing switches over operators; a row of a table
has a file of its name.  Lines are at most 80 wide, 100 in CUDA and in what the emitter prints;
functions at most 80 lines, files 400.  Exceptions stand below, each with its reason, and one that
is not needed any more is a fault too.  Prints a line a fault and exits 1 if there is one; and what
share of each folder's lines are comments.
"""
import re
import sys
from pathlib import Path

# The driver: it runs the stages one after the other, so it sees them all.
DRIVER = {"main.c", "options.c", "options.h", "help.c", "pipeline.c",
          "pipeline.h", "compare.c", "curve.c", "over_budget.c", "batches.h",
          "dependencies.c", "instance.h",
          "plan_instance.c"}
# Tools of the build and of the tests that stand outside the compiler.
OUTSIDE = {"codegen/embed.c"}
ALLOCATES = re.compile(r"\b(malloc|calloc|realloc|strdup|free)\s*\(")
FOLDERS = ("ir", "frontend", "passes", "codegen", "runtime")
SOURCES = (".c", ".h", ".cpp", ".cuh", ".l", ".y")

LONG_FILES = {}
LONG_FUNCTIONS = {}

PARAMETERS = "a parameter or an argument of this name"
SETTINGS = "a train setting of this name"
# File: operators that it may name, and why.
NAMES = {
    "ir/broadcast.c": ("sum_splits", "adds the parts of a launch's sum"),
    "ir/convolution.c": ("conv bias sum_splits", "a convolution's gradients are convolutions"),
    "ir/gradient.c": ("add", "gradients that meet are added"),
    "ir/graph.c": ("constant", "an initialiser of this name"),
    "ir/loss.c": ("tally", "which figure a loss is, its launch says"),
    "ir/normal.c": ("scale sum_splits", PARAMETERS + "; sums of columns"),
    "ir/normal.h": ("bias scale", PARAMETERS),
    "ir/print.c": ("clip_norm average loss_scale", SETTINGS),
    "ir/read.c": ("clip_norm average loss_scale", SETTINGS),
    "ir/rules.c": ("bias", PARAMETERS),
    "ir/ops/batchnorm.c": ("bias scale", PARAMETERS),
    "ir/ops/bias.c": ("sum_splits", "adds the parts of a launch's sum"),
    "ir/ops/clip_norm.c": ("scale", "its own part of this name"),
    "ir/ops/conv.c": ("bias", PARAMETERS),
    "ir/ops/conv_transpose.c": ("bias conv", PARAMETERS + "; its gradient is a convolution"),
    "ir/ops/dense.c": ("bias", PARAMETERS),
    "ir/ops/take_rows.c": ("concat", "the gradient of all rows is joined"),
    "frontend/evaluate.c": ("add sub mul div scale", "what the signs + - * / mean"),
    "frontend/finish.c": ("tally", "what gathers losses and metrics at the end"),
    "frontend/train.c": ("clip_norm average loss_scale", SETTINGS),
    "passes/accrue.c": ("accrue", "what it appends"),
    "passes/fuse_epilogue.c": ("bias", "what it moves into the operator before"),
    "passes/loss_scale.c": ("loss_scale", "what it appends"),
    "passes/remat_apply.c": ("offload", "what is put around a map that goes to host memory"),
    "passes/sign_bits.c": ("signs", "what it makes of a map"),
    "passes/split.c": ("concat take_rows", "what it puts around slices"),
    "passes/update.c": ("accrue advance average clip clip_norm scale",
                        "what train settings ask for"),
    "runtime/trainer/evaluate.cuh": ("accuracy", "printed in percent, with its counts"),
    "runtime/trainer/main.cuh": ("step", "a command of this name"),
    "runtime/trainer/options.cuh": ("step", "a command of this name"),
}

faults = []
used = set()  # exceptions that were needed


def fault(path, line, text):
    faults.append(f"{path}:{line}: {text}")


def excused(table, name):
    if name in table:
        used.add((id(table), name))
    return name in table


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


def check_length(root, path, lines):
    name = str(path.relative_to(root))
    if len(lines) > 400 and not excused(LONG_FILES, name):
        fault(path, len(lines), f"a file of {len(lines)} lines, at most 400")
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start:
            if number - start - 1 > 80 and not excused(LONG_FUNCTIONS, f"{name}:{start}"):
                fault(path, start, f"a function of {number - start - 1} lines, at most 80")
            start = None


def check_allocator(root, path, lines):
    name = str(path.relative_to(root))
    if name == "ir/arena.c" or name in OUTSIDE or name.startswith("runtime"):
        return
    for number, line in enumerate(lines, 1):
        if ALLOCATES.search(line.split("//")[0]):
            fault(path, number, "allocates; ir/arena.c is the only allocator")


def rows(root, table, word):
    path = root / table
    return re.findall(rf"^{word}\((\w+),", path.read_text(), re.MULTILINE) if path.exists() else []


def check_operators(root, path, lines, operators):
    """By op_X, OP_X, "X" or "X.part"; includes are of files, not of operators."""
    name = str(path.relative_to(root))
    own = path.stem if path.parent.name in ("ops", "kernels") else None
    for number, line in enumerate(lines, 1):
        code = line.split("//")[0]
        if re.match(r"\s*#include", code):
            continue
        for match in re.finditer(r'\b(?:op|OP)_(\w+)\b|"([a-z_0-9]+)(?:\.\w+)?"', code):
            word = match[1] or match[2]
            if word not in operators or word == own:
                continue
            if word in NAMES.get(name, ("",))[0].split():
                used.add((name, word))
            else:
                fault(path, number, f"names the operator {word}")
        if re.search(r"\bcase\s+OP_|\bswitch\s*\(.*(?:->|\.|\b)op\b", code):
            fault(path, number, "a switch over operators")


def check_tables(root):
    """A pass is void pass_NAME(Graph *) in passes/NAME.c, an operator op_NAME in ir/ops/NAME.c."""
    for table, word, folder, pattern in (
            ("ir/ops.def", "OP", "ir/ops", r"^const Op op_{}\b"),
            ("passes/passes.def", "PASS", "passes", r"^void pass_{}\(Graph \*")):
        names = rows(root, table, word)
        for name in names:
            path = root / folder / f"{name}.c"
            if not path.exists():
                fault(root / table, 1, f"{name} has no {folder}/{name}.c")
            elif not re.search(pattern.format(name), path.read_text(), re.MULTILINE):
                fault(path, 1, f"does not define what its row in {table} names")
        for path in sorted((root / folder).glob("*.c")):
            defined = re.findall(pattern.format(r"(\w+)"), path.read_text(), re.MULTILINE)
            for name in defined:
                if name != path.stem or name not in names:
                    fault(path, 1, f"defines {name}, which has another file or no row")


def check_exceptions(root):
    """What needs no exception any more must not keep it; of files that are there."""
    for table in (LONG_FILES, LONG_FUNCTIONS):
        for name in table:
            if (root / name.split(":")[0]).exists() and (id(table), name) not in used:
                fault(root / name, 1, "is listed as long and is not")
    for name, (words, _) in NAMES.items():
        for word in words.split():
            if (root / name).exists() and (name, word) not in used:
                fault(root / name, 1, f"is excused to name {word} and does not")


def print_comments(shares):
    for folder, (comments, count) in shares.items():
        if count:
            print(f"{folder}: {100 * comments / count:.1f} % of {count} lines have a comment")


def main(root):
    root = Path(root).resolve()
    operators = set(rows(root, "ir/ops.def", "OP"))
    shares = {folder: [0, 0] for folder in FOLDERS}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SOURCES:
                continue
            lines = path.read_text().splitlines()
            check_includes(root, path, lines)
            check_length(root, path, lines)
            check_operators(root, path, lines, operators)
            if path.suffix not in (".l", ".y"):
                check_width(path, lines)
                check_allocator(root, path, lines)
            shares[folder][0] += sum("//" in line for line in lines)
            shares[folder][1] += sum(bool(line.strip()) for line in lines)
    check_tables(root)
    check_exceptions(root)
    print_comments(shares)
    print("\n".join(faults) if faults else "the house is in order")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
