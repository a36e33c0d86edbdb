#!/usr/bin/env python3
"""The test of the tests of style: each rule finds the one fault of a small tree.

usage: check_rules.py EMBED

A tree that keeps every rule is written to a temporary folder; then, for each rule, a file that
breaks it is added or written anew, and check.py (or chunks.py, emitted.py) must say so.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

here = os.path.dirname(os.path.abspath(__file__))
embed = os.path.abspath(sys.argv[1])

SOUND = {
    "ir/ops.def": 'OP(relu, "x", LAYER, "y = max(x, 0)")\n',
    "ir/op.h": "typedef struct Op Op;\n",
    "ir/arena.c": "void *take(void)\n{\n    return malloc(1);\n}\n",
    "ir/ops/relu.c": '#include "../op.h"\nconst Op op_relu = { "relu" };\n',
    "passes/passes.def": "PASS(fold, 0, 0, 0, true,\n",
    "passes/fold.c": '#include "../ir/op.h"\nvoid pass_fold(Graph *g)\n{\n}\n',
    "frontend/main.c": '#include "../passes/fold.c"\n',
    "codegen/emit.c": "// relu is only told of here.\n",
    "runtime/kernels/relu.cuh": "struct relu {};\n",
}
LONG = "void f(void)\n{\n" + "    x++;\n" * 81 + "}\n"
BROKEN = [
    ("ir includes another", "ir/a.c", '#include "../passes/fold.c"\n', "ir includes passes"),
    ("codegen includes passes", "codegen/a.c", '#include "../passes/fold.c"\n',
     "codegen includes passes"),
    ("runtime includes the compiler", "runtime/host/a.cpp", '#include "../../ir/op.h"\n',
     "runtime includes ir"),
    ("frontend includes passes", "frontend/a.c", '#include "../passes/fold.c"\n',
     "frontend includes passes"),
    ("a wide line", "ir/a.c", "int " + "a" * 80 + ";\n", "85 columns, at most 80"),
    ("a wide line of CUDA", "runtime/kernels/a.cuh", "int " + "a" * 100 + ";\n",
     "105 columns, at most 100"),
    ("a long function", "passes/a.c", LONG, "a function of 81 lines"),
    ("a long file", "codegen/a.c", "\n" * 401, "a file of 401 lines"),
    ("malloc", "frontend/a.c", "void *p = malloc(1);\n", "allocates"),
    ("free", "ir/ops/a.c", "void f(void *p) { free(p); }\n", "allocates"),
    ("an operator's row", "passes/a.c", "const Op *op = ops[OP_relu];\n",
     "names the operator relu"),
    ("an operator's name", "codegen/a.c", 'bool b = !strcmp(name, "relu");\n',
     "names the operator relu"),
    ("an operator's part", "frontend/a.c", 'const char *s = "relu.gradient";\n',
     "names the operator relu"),
    ("a switch over operators", "codegen/a.c", "switch (n->op) {\n", "a switch over operators"),
    ("a case of an operator", "ir/a.c", "    case OP_other: break;\n", "a switch over operators"),
    ("an operator without a file", "ir/ops.def",
     'OP(relu, "x", LAYER, "")\nOP(abs, "x", LAYER, "")\n', "abs has no ir/ops/abs.c"),
    ("a pass in another's file", "passes/fold.c",
     "void pass_fold(Graph *g)\n{\n}\nvoid pass_more(Graph *g)\n{\n}\n", "defines more"),
    ("a pass without its function", "passes/fold.c", "void pass_folds(Graph *g)\n{\n}\n",
     "does not define what its row in passes/passes.def names"),
    ("an exception without need", "ir/read.c", "int a;\n",
     "is excused to name clip_norm and does not"),
    ("a name excused without need", "ir/gradient.c", "int a;\n",
     "is excused to name add and does not"),
]
CHUNKS = {
    "a local variable": "void f()\n{\n    int total = 1;\n    use(total);\n}\n",
    "a parameter": "void f(const int *total)\n{\n}\n",
    "a parameter of a template": "template <class total>\nvoid f(total x)\n{\n}\n",
    "a member": "void f(Thing *thing)\n{\n    thing->total = 1;\n}\n",
    "a type inside": "struct Outer {\n    struct total { int x; };\n};\n",
    "a name twice": "int total(int x)\n{\n    return x;\n}\n",
}
UNCALLED = {
    "spare": "static inline int spare(int x)\n{\n    return x;\n}\n",
    "shape": "template <int N>\nstruct shape {\n    int x[N];\n};\n",
    "LIMIT": "constexpr int LIMIT = 3;\n",
    "MACRO": "#define MACRO 1\n",
    "net_hidden": "static int net_hidden(int x)\n{\n    return x;\n}\n",
}
missed = []


def write(folder, files):
    for name, text in files.items():
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def faults_of(files):
    with tempfile.TemporaryDirectory() as folder:
        write(folder, files)
        status, text = run("python3", os.path.join(here, "check.py"), folder)
    lines = [line for line in text.splitlines() if ": " in line and " have a comment" not in line]
    return status, lines


def check_tree():
    status, lines = faults_of(SOUND)
    if status or lines:
        missed.append(f"a sound tree has faults: {lines}")
    for what, name, text, words in BROKEN:
        # A file of the tree that is written anew is still the one with the fault.
        status, lines = faults_of({**SOUND, name: text})
        if status != 1 or not any(words in line for line in lines):
            missed.append(f"{what}: {lines}")


def check_chunks():
    total = "// total: a sum.\nstatic int total(int a)\n{\n    return a;\n}\n"
    sound = "static int f(int a)\n{\n    return a * total(a) + total(a);\n}\n"
    for what, text in {"nothing": sound, **CHUNKS}.items():
        with tempfile.TemporaryDirectory() as folder:
            write(folder, {"a.cuh": total, "b.cuh": text})
            status, text = run("python3", os.path.join(here, "chunks.py"), embed,
                               f"{folder}/a.cuh", f"{folder}/b.cuh")
        if status != (what != "nothing") or ("total" in text) != (what != "nothing"):
            missed.append(f"chunks, {what}: {text}")


def check_emitted():
    sys.path.append(here)
    from emitted import uncalled
    sound = "static int used(int x)\n{\n    return x;\n}\n\nint net_run(void)\n{\n" \
            "    return used(1);\n}\n"
    if list(uncalled(sound, "net")):
        missed.append("what is used goes as unused")
    for name, text in UNCALLED.items():
        if list(uncalled(text + sound, "net")) != [name]:
            missed.append(f"an unused {name} goes unnoticed")


check_tree()
check_chunks()
check_emitted()
print(*missed, sep="\n", end="\n" if missed else "")
print(f"{len(BROKEN) + len(CHUNKS) + len(UNCALLED)} planted faults, {len(missed)} missed")
sys.exit(1 if missed else 0)
