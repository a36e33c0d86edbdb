#!/usr/bin/env python3
"""The house rules that can be measured.

usage: check.py ROOT

A room, a folder of one idea, includes the rooms below it alone (ROOMS); the driver sees all;
runtime shares nothing with the compiler.  One allocator: ir/base/arena.c.
An operator is named in its own files alone, and nothing switches over operators; a row of a table
has a file of its name; a kernel's file is named after its operator; the grammar names none.  Passes
neither print graphs nor verify them, the runner does.  Faults of a program are reported by error(),
and by no pass; faults of cnnc are reported by bug(), and by no operator; none ends the program
else. Headers declare functions that others call.  Every file opens with its subject, a pass
with its essay. Lines are at most 80 wide, 100 in CUDA and in emitted text; functions at
most 80 lines, half of a folder's 15 and all but one in twenty 45; files 800 (a file holds one idea,
in about 400 lines, and is never cut by size alone), headers with structs 250, main.c 100.
Exceptions stand below, each with its reason, and one that is not needed any more is a fault too.
Prints a line a fault and exits 1 if there is one; and the share of comments in each folder's lines,
which has bounds too.
"""
import re
import sys
from itertools import takewhile
from pathlib import Path

# Rooms, lower ones first, and the rooms that each may include besides itself.  Both ir and ir/op
# include each other: a node names its operator, and an operator's rules are given a graph.
CORE = "ir/base ir ir/op"
ROOMS = {
    "ir/base": "",
    "ir": "ir/base ir/op",
    "ir/op": "ir/base ir",
    "ir/gpu": CORE,
    "ir/families": CORE + " ir/gpu",
    "ir/ops": CORE + " ir/gpu ir/families",
    "ir/plan": CORE + " ir/gpu",
    "ir/text": CORE,
    "ir/verify": CORE + " ir/gpu ir/families ir/plan",
    "passes/order": CORE + " ir/families",
    "passes/placement": "ir/base ir",
    "passes/remat": CORE + " ir/gpu ir/families passes/order",
    "passes/train": CORE + " ir/families",
    "passes/offload": CORE + " ir/gpu passes/placement passes/remat",
    "passes/decide": CORE + " ir/gpu passes/placement passes/remat passes/offload",
    "passes": CORE + " ir/gpu ir/families ir/plan passes/order passes/placement passes/remat "
                     "passes/train passes/offload passes/decide",
    "codegen": CORE + " ir/gpu ir/families ir/plan",
    "codegen/page": CORE + " ir/gpu ir/families ir/plan",
    "codegen/tune": CORE + " codegen",
    "frontend": CORE + " ir/gpu ir/families",
    "frontend/driver": CORE + " ir/gpu ir/families ir/plan ir/text passes passes/placement "
                              "passes/decide codegen codegen/page codegen/tune frontend",
    "runtime/support/vec": "",
    "runtime/support/gemm": "runtime/support/vec",
    "runtime/support/net": "runtime/support/vec",
}
# Headers that the build makes.
GENERATED = {"parser.h", "scanner.h"}
# Includes of a room above, and why.
OPTIONS = "what a search is asked for (PassOptions) is declared with the passes"
TRIALS = "it compares arenas through later passes, on copies"
UPWARD = {
    "passes/decide/decide_batch_split.c": ("passes", "it tries settings of pass batch_split"),
    "passes/decide/decide_gated_grad.c": ("passes", TRIALS),
    "passes/decide/decide_gated_grad.h": ("passes", OPTIONS),
    "passes/decide/decide_grad_add.c": ("passes", TRIALS),
    "passes/decide/decide_grad_add.h": ("passes", OPTIONS),
    "passes/decide/decide_horizontal.c": ("passes", TRIALS),
    "passes/decide/decide_horizontal.h": ("passes", OPTIONS),
    "passes/decide/decide_prologue.c": ("passes", TRIALS),
    "passes/decide/decide_prologue.h": ("passes", OPTIONS),
    "passes/decide/decide_remat.c": ("passes", TRIALS),
    "passes/decide/decide_remat.h": ("passes", OPTIONS),
    "passes/decide/decide_round_weights.c": ("passes", TRIALS),
    "passes/decide/decide_round_weights.h": ("passes", OPTIONS),
    "passes/offload/host_budget.c": ("passes", TRIALS),
    "passes/offload/host_budget.h": ("passes", OPTIONS),
    "passes/remat/user_checkpoints.h": ("passes", OPTIONS),
    "passes/remat/remat_apply.c": ("passes/offload", "it writes copies into a graph as it does steps"),
}
# Tools of the build and of the tests that stand outside the compiler.
OUTSIDE = {"codegen/embed.c"}
ALLOCATES = re.compile(
    r"\b(malloc|calloc|realloc|reallocarray|aligned_alloc|posix_memalign|memalign|valloc|free|"
    r"strdup|strndup|wcsdup|v?asprintf|open_memstream|open_wmemstream|getline|getdelim|realpath|"
    r"getcwd|mmap|alloca)\s*\(")
ENDS = re.compile(r"\b(exit|_exit|_Exit|quick_exit|abort)\s*\(")
# Text that would differ between builds, and text that restates a name.
DATES = re.compile(r"\b__(DATE|TIME|TIMESTAMP)__\b")
TAGS = re.compile(r"(?://|\*).*[@\\](file|brief|author|param|returns?|date)\b")
FOLDERS = ("ir", "frontend", "passes", "codegen", "runtime")
SOURCES = (".c", ".h", ".cpp", ".cuh", ".l", ".y")

LONG_FILES = {}
LONG_FUNCTIONS = {}
LONG_HEADERS = {
    "runtime/host/cuda_runtime_api.h": "stands in for one header of CUDA's, of this name",
}
# About 15 lines of words and 10 of graphs before and after.
ESSAY = range(5, 26)
# Line counts that half of a folder's functions have at most, and 95 %.
HALF, MOST = 15, 45
# Percent of lines with a comment; the aim is 12 to 22.  A tree of fewer lines tells nothing.
COMMENTS, LINES = (11, 22), 300
GUIDE = 80                      # lines of a folder's README.md

# Passes that speak to who wrote the program or the command line, and why.
USERS = {
    "passes/decide/decide_remat.c": "no plan fits in the budget asked for",
    "passes/remat/user_checkpoints.c": "marks, and what --checkpoint says of them, name nothing",
    "passes/runner.c": "a dump can't be written; --split is of no use to the batch",
}
# Who may end the program, and why.
ENDING = {
    "ir/base/diag.c": "bug()",
    "ir/base/arena.c": "no memory is left",
}
# Passes that may verify and print: the runner.
RUNNER = "passes/runner.c"

PARAMETERS = "a parameter or an argument of this name"
SETTINGS = "a train setting of this name"
APPLIED = "the operator that the loss applies itself"
# File: operators that it may name, and why.
NAMES = {
    "ir/families/adam_moments.h": ("square", PARAMETERS),
    "ir/families/binary.c": ("sum_splits", "adds the parts of a launch's sum"),
    "ir/families/class_ratio.c": ("average", "an argument of metrics over classes"),
    "ir/families/column_reduce.c": ("bias sum_splits", "the gradient of a bias, in parts"),
    "ir/families/conv_gemm.c": ("bias", PARAMETERS),
    "ir/op/gradient.c": ("add bias", "gradients that meet are added; a bias node after a product"),
    "frontend/driver/summary.c": ("precision", "the option --precision"),
    "ir/plan/print_trace.c": ("precision", "the option --precision"),
    "ir/plan/print_plan.c": ("precision", "the option --precision"),
    "ir/plan/print_trace.c": ("precision", "the option --precision"),
    "passes/fuse_grad_add.c": ("add", "gradients that meet are added"),
    "ir/graph.c": ("constant", "an initialiser of this name"),
    "ir/families/loss.c": ("accumulate_metrics", "which figure a loss is, its launch says"),
    "ir/families/sample_norm.c": ("scale sum_splits", PARAMETERS + "; sums of columns"),
    "ir/families/sample_norm.h": ("bias scale", PARAMETERS),
    "ir/text/print.c": ("clip_norm average loss_scale prune", SETTINGS),
    "ir/text/read.c": ("clip_norm average loss_scale prune", SETTINGS),
    "ir/op/op_checks.c": ("bias", PARAMETERS),
    "ir/ops/adaptive_avgpool.c": ("avgpool global_avgpool", "the same where windows are equal"),
    "ir/ops/batchnorm.c": ("bias scale", PARAMETERS),
    "ir/ops/binary_cross_entropy.c": ("sigmoid", APPLIED),
    "ir/ops/clip_norm.c": ("scale", "its own part of this name"),
    "ir/ops/conv.c": ("bias sum_splits", PARAMETERS + "; adds the parts of its gradient"),
    "ir/ops/conv_transpose.c": ("bias conv sum_splits",
                                PARAMETERS + "; its gradient is a convolution, in parts"),
    "ir/ops/dense.c": ("bias conv transpose",
                       PARAMETERS + "; a product is a convolution of one pixel; its own part"),
    "ir/ops/dice.c": ("sigmoid", APPLIED),
    "ir/ops/focal.c": ("sigmoid", APPLIED),
    "ir/ops/pad.c": ("constant", "a mode of this name"),
    "ir/ops/rmsprop.c": ("square", PARAMETERS),
    "ir/ops/multibox.c": ("softmax", APPLIED),
    "ir/ops/softmax_cross_entropy.c": ("softmax", APPLIED),
    "ir/ops/slice_batch.c": ("concat", "the gradient of all rows is joined"),
    "frontend/driver/counts_file.c": ("step", "a column of the table"),
    "frontend/freeze.c": ("bias", PARAMETERS),
    "frontend/evaluate.c": ("add sub mul div", "what the signs + - * / mean"),
    "frontend/combine.c": ("add sub mul div maximum minimum scale shift clamp reciprocal",
                           "what a number in place of a value means"),
    "frontend/finish.c": ("accumulate_metrics", "what gathers losses and metrics at the end"),
    "frontend/foreign.c": ("bias softmax sigmoid", PARAMETERS + "; hints name them"),
    "frontend/prune.c": ("prune polynomial constant", SETTINGS + ", and its schedules"),
    "frontend/quantize.c": ("average", SETTINGS + ": an argument of this name"),
    "frontend/driver/fake_quantize.c": ("fake_quantize row_scales", "what it appends"),
    "frontend/train.c": ("clip_norm average loss_scale prune", SETTINGS),
    "passes/train/grad_accumulation.c": ("accumulate_grad", "what it appends"),
    "passes/fuse_epilogue.c": ("bias", "what it moves into the operator before"),
    "passes/fuse_batchnorm.c": ("batchnorm add", "what it moves into the operator before"),
    "passes/train/loss_scale.c": ("loss_scale", "what it appends"),
    "passes/remat/remat_apply.c": ("offload", "what is put around a map that goes to host memory"),
    "passes/round_weights.c": ("round_weights", "what copies weights"),
    "passes/sign_bits.c": ("signs", "what it makes of a map"),
    "passes/batch_split.c": ("concat slice_batch", "what it puts around slices"),
    "ir/ops/fake_quantize.c": ("relu track_scale", "its gradient and update"),
    "passes/train/quantized_grad.c": ("fake_quantize relu", "gates that it merges"),
    "passes/train/update.c": ("accumulate_grad advance_step average clip clip_norm scale",
                        "what train settings ask for"),
    "runtime/ptx/floats.cpp": ("add sub mul div abs sqrt", "opcodes of PTX"),
    "runtime/ptx/integers.cpp": ("add sub mul div abs", "opcodes of PTX"),
    "runtime/ptx/memory.cpp": ("add", "opcodes of PTX"),
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


def room_of(root, path):
    """The room that holds the file: the longest folder that is one, or the first folder."""
    folder = path.relative_to(root).parent
    while str(folder) not in ROOMS and len(folder.parts) > 1:
        folder = folder.parent
    return str(folder)


def check_includes(root, path, lines):
    """Includes lead from a room to those below it."""
    name, room = str(path.relative_to(root)), room_of(root, path)
    for number, line in enumerate(lines, 1):
        match = re.match(r'\s*#\s*include "([^"]+)"', line)
        if not match or match[1] in GENERATED:
            continue
        target = (path.parent / match[1]).resolve()
        if not target.exists() or not target.is_relative_to(root):
            fault(path, number, f"includes {match[1]} by another path than the file's own")
            continue
        to = room_of(root, target)
        if room not in ROOMS:
            allowed = to.split("/")[0] == room
        else:
            allowed = to in (room, *ROOMS[room].split())
        if not allowed and UPWARD.get(name, ("",))[0] == to:
            allowed = excused(UPWARD, name)
        if not allowed:
            fault(path, number, f"{room} includes {to}")


def check_width(path, lines):
    limit = 100 if path.suffix in (".cuh", ".cu") or "codegen" in path.parts else 80
    for number, line in enumerate(lines, 1):
        if len(line) > limit and 'write_line(' not in line:
            fault(path, number, f"{len(line)} columns, at most {limit}")


def check_length(root, path, lines):
    name = str(path.relative_to(root))
    most = 100 if name == "frontend/driver/main.c" else 800
    if len(lines) > most and not excused(LONG_FILES, name):
        fault(path, len(lines), f"a file of {len(lines)} lines, at most {most}")
    for start, length in lengths_of(lines):
        if length > 80 and not excused(LONG_FUNCTIONS, f"{name}:{start}"):
            fault(path, start, f"a function of {length} lines, at most 80")


def check_allocator(root, path, lines):
    name = str(path.relative_to(root))
    if name == "ir/base/arena.c" or name in OUTSIDE or name.startswith("runtime"):
        return
    for number, line in enumerate(lines, 1):
        if ALLOCATES.search(line.split("//")[0]):
            fault(path, number, "allocates; ir/base/arena.c is the only allocator")


def check_failures(root, path, lines):
    """error() is for programs, bug() for cnnc; only these two and the arena end it."""
    name = str(path.relative_to(root))
    if name in OUTSIDE or name.startswith("runtime"):
        return
    for number, line in enumerate(lines, 1):
        code = line.split("//")[0]
        if ENDS.search(code) and not excused(ENDING, name):
            fault(path, number, "ends the program; error() and bug() are the two ways to fail")
        if name.startswith("ir/ops/") and re.search(r"\bbug\s*\(", code):
            fault(path, number, "an operator calls bug()")
        if name.startswith("passes/") and name != RUNNER and \
                re.search(r"\b(verify|is_sound|graph_print)\s*\(", code):
            fault(path, number, "a pass verifies or prints the graph; the runner does")
        if name.startswith("passes/") and re.search(r"\berror\s*\(", code) and \
                not excused(USERS, name):
            fault(path, number, "a pass calls error()")


def check_words(root, path, lines):
    """Files open with a comment; nothing restates names, or differs from build to build."""
    if not re.match(r"(//|/\*) *\S", lines[0] if lines else ""):
        fault(path, 1, "does not open with what it is about")
    for number, line in enumerate(lines, 1):
        if TAGS.search(line):
            fault(path, number, "a tag in a comment; sentences say it")
        if DATES.search(line):
            fault(path, number, "the date of the build; the same input gives the same bytes")
        if path.suffix == ".c" and re.search(r'"[^"]*(%[^"]*\\t|\\t[^"]*%)', line):
            fault(path, number, "a tab in a format; the writer indents and aligns")


def check_header(root, path, lines):
    name = str(path.relative_to(root))
    structs = any(re.match(r"(typedef )?struct \w+ \{", line) for line in lines)
    if path.suffix == ".h" and structs and len(lines) > 250 and not excused(LONG_HEADERS, name):
        fault(path, len(lines), f"a header with structs of {len(lines)} lines, at most 250")


def check_grammar(path, text, operators):
    """Words of scanner and parser; a function may have an operator's name."""
    code = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    for word in sorted(set(re.findall(r"\b[a-z_0-9]+\b(?!\s*\()", code)) & operators):
        fault(path, 1, f"the grammar names the operator {word}")


def check_functions(folder, lengths):
    lengths.sort()
    if not lengths:
        return
    for limit, place, what in ((HALF, 0.5, "half"), (MOST, 0.95, "one in twenty")):
        if lengths[int(len(lengths) * place)] > limit:
            faults.append(f"{folder}: {what} of its functions have more than {limit} lines")


def lengths_of(lines):
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start:
            yield start, number - start - 1
            start = None


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
    for path in sorted((root / "runtime/kernels").glob("*")):
        names = rows(root, "ir/ops.def", "OP")
        if not any(path.stem == name or path.stem.startswith(f"{name}_") for name in names):
            fault(path, 1, "is named after no operator")


def check_essays(root):
    """A pass opens with its name and its effect, and shows a graph before and after."""
    for name in rows(root, "passes/passes.def", "PASS"):
        path = root / "passes" / f"{name}.c"
        lines = path.read_text().splitlines() if path.exists() else []
        essay = list(takewhile(lambda line: line.startswith("//"), lines))
        if len(essay) not in ESSAY or not essay[0].startswith(f"// {name}: "):
            fault(path, 1, f"does not open with an essay on {name} of {ESSAY[0]} to {ESSAY[-1]} "
                  f"lines, but of {len(essay)}")
        elif not any(line.startswith("//   ") for line in essay):
            fault(path, 1, "its essay has no example")


def check_guides(root):
    """A page for the newcomer."""
    for folder in FOLDERS:
        path = root / folder / "README.md"
        count = len(path.read_text().splitlines()) if path.exists() else 0
        if not 0 < count <= GUIDE:
            fault(path, 1, f"a page of {count} lines, at most {GUIDE} and at least one")


def check_declared(root):
    """A declaration in a header is for others: named in a file that does not define it.

    A macro of the header may name it too, and a test."""
    files = {path: re.sub(r'"(?:\\.|[^"\\\n])*"|//[^\n]*', "", path.read_text())
             for folder in (*FOLDERS[:4], "testsuite") for path in (root / folder).rglob("*")
             if path.suffix in (*SOURCES, ".def")}
    count = {}
    for path, text in files.items():
        for word in set(re.findall(r"\w+", text)):
            count.setdefault(word, []).append(path)
    for path, text in files.items():
        if path.suffix != ".h" or path.relative_to(root).parts[0] == "testsuite":
            continue
        for name in re.findall(r"^(?!typedef|static|#)\w[\w *]*?\b(\w+)\(", text, re.MULTILINE):
            others = [other for other in count[name] if other != path]
            if len(others) < 2 and len(re.findall(rf"\b{name}\b", text)) < 2:
                fault(path, 1, f"declares {name}, which no other file names")


def check_exceptions(root):
    """A file that needs no exception must not keep it; of files that are there."""
    for table, what in ((LONG_FILES, "listed as long"), (LONG_FUNCTIONS, "listed as long"),
                        (LONG_HEADERS, "listed as long"), (USERS, "excused to call error()"),
                        (ENDING, "excused to end the program"),
                        (UPWARD, "excused to include a room above")):
        for name in table:
            if (root / name.split(":")[0]).exists() and (id(table), name) not in used:
                fault(root / name, 1, f"is {what} and does not need it")
    for name, (words, _) in NAMES.items():
        for word in words.split():
            if (root / name).exists() and (name, word) not in used:
                fault(root / name, 1, f"is excused to name {word} and does not")


def check_comments(folder, comments, count):
    if not count:
        return
    share = 100 * comments / count
    print(f"{folder}: {share:.1f} % of {count} lines have a comment")
    if count >= LINES and not COMMENTS[0] <= share <= COMMENTS[1]:
        faults.append(f"{folder}: comments on {share:.1f} % of its lines, "
                      f"{COMMENTS[0]} to {COMMENTS[1]} are to have one")


def check_file(root, path, operators):
    lines = path.read_text().splitlines()
    check_includes(root, path, lines)
    check_length(root, path, lines)
    check_header(root, path, lines)
    check_operators(root, path, lines, operators)
    check_words(root, path, lines)
    check_failures(root, path, lines)
    if path.suffix in (".l", ".y"):
        check_grammar(path, "\n".join(lines), operators)
    else:
        check_width(path, lines)
        check_allocator(root, path, lines)
    return lines


def main(root):
    root = Path(root).resolve()
    operators = set(rows(root, "ir/ops.def", "OP"))
    for folder in FOLDERS:
        files = [check_file(root, path, operators) for path in sorted((root / folder).rglob("*"))
                 if path.suffix in SOURCES]
        check_functions(folder, [length for lines in files for _, length in lengths_of(lines)])
        check_comments(folder, sum("//" in line for lines in files for line in lines),
                       sum(bool(line.strip()) for lines in files for line in lines))
    check_tables(root)
    check_essays(root)
    check_guides(root)
    check_declared(root)
    check_exceptions(root)
    print("\n".join(faults) if faults else "the house is in order")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
