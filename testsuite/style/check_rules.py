#!/usr/bin/env python3
"""The test of the tests of style: each rule finds the one fault of a small tree.

usage: check_rules.py EMBED

A tree that keeps every rule is written to a temporary folder; then, for each rule, a file that
breaks it is added or written anew, and check.py (or chunks.py, emitted.py) must say so
and no more.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

here = os.path.dirname(os.path.abspath(__file__))
embed = os.path.abspath(sys.argv[1])

SIMPLIFY = "// simplify: drops what changes nothing.\n//\n//   %2 = scale(%1) factor=1\n// becomes\n" \
       "//   %1\n"
SOUND = {
    "ir/ops.def": 'OP(relu, "x", LAYER, "y = max(x, 0)")\n',
    "ir/op/op.h": "typedef struct Op Op;\n",
    "ir/base/arena.c": "void *take(void)\n{\n    void *p = malloc(1);\n    if (!p) exit(70);\n"
                  "    return p;\n}\n",
    "ir/base/diag.c": "void bug(void)\n{\n    exit(70);\n}\n",
    "ir/ops/relu.c": '#include "../op/op.h"\nconst Op op_relu = { "relu" };\n',
    "passes/passes.def": "PASS(simplify, 0, 0, 0, true,\n",
    "passes/simplify.c": SIMPLIFY + '#include "../ir/op/op.h"\nvoid pass_simplify(Graph *g)\n{\n}\n',
    "passes/runner.c": "void run(Graph *g)\n{\n    verify(g);\n    error(g->diag);\n}\n",
    "frontend/driver/main.c": '#include "../../passes/decide/decide_remat.h"\n',
    "passes/decide/decide_remat.h": '#include "../pass.h"\n', "passes/pass.h": "int passes;\n",
    "frontend/scanner.l": "/* Words. */\nnet  { relu (NET); }\n",
    "codegen/emit.c": "// relu is only told of here.\n",
    "runtime/kernels/relu.cuh": "struct relu {};\n",
    "runtime/kernels/relu_wide.cuh": "struct relu_wide {};\n",
    **{f"{folder}/README.md": f"# {folder}\n"
       for folder in ("ir", "passes", "codegen", "frontend", "runtime")},
}
PASS = "void pass_simplify(Graph *g)\n{\n}\n"


def function(lines, name="f"):
    return f"void {name}(void)\n{{\n" + "    x++;    // More.\n" * lines + "}\n"


# The rule, the file that breaks it, its text, the message.
BROKEN = [
    ("a room includes one above", "ir/base/a.c", '#include "../op/op.h"\n',
     "ir/base includes ir/op"),
    ("a room includes one above by a search path", "ir/base/a.c", '#include "op/op.h"\n',
     "includes op/op.h by another path"),
    ("a room of passes includes the passes", "passes/order/a.c", '#include "../simplify.c"\n',
     "passes/order includes passes"),
    ("support includes a net's", "runtime/support/vec/a.cuh",
     '#include "../../kernels/relu.cuh"\n', "runtime/support/vec includes runtime"),
    ("an include excused without need", "passes/offload/host_budget.h", "int a;\n",
     "is excused to include a room above and does not"),
    ("ir includes another", "ir/a.c", '#include "../passes/simplify.c"\n', "ir includes passes"),
    ("codegen includes passes", "codegen/a.c", '#include "../passes/simplify.c"\n',
     "codegen includes passes"),
    ("runtime includes the compiler", "runtime/host/a.cpp", '#include "../../ir/op/op.h"\n',
     "runtime includes ir"),
    ("frontend includes passes", "frontend/a.c", '#include "../passes/simplify.c"\n',
     "frontend includes passes"),
    ("a wide line", "ir/a.c", "int " + "a" * 80 + ";\n", "85 columns, at most 80"),
    ("a wide line of CUDA", "runtime/support/a.cuh", "int " + "a" * 100 + ";\n",
     "105 columns, at most 100"),
    ("a long function", "passes/a.c", "".join(map(function, [1] * 30 + [81])),
     "a function of 81 lines"),
    ("a long file", "codegen/a.c", "// A line.\n" * 120 + "int a;\n" * 681, "a file of 801 lines"),
    ("a long main.c", "frontend/driver/main.c", "// A line.\n" * 20 + "int a;\n" * 81,
     "a file of 101 lines, at most 100"),
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
    ("a pass in another's file", "passes/simplify.c",
     SIMPLIFY + "void pass_simplify(Graph *g)\n{\n}\nvoid pass_more(Graph *g)\n{\n}\n", "defines more"),
    ("a pass without its function", "passes/simplify.c",
     SIMPLIFY + "void pass_simplifies(Graph *g)\n{\n}\n",
     ("does not define what its row in passes/passes.def names", "defines simplifies, which")),
    ("an exception without need", "ir/text/read.c", "int a;\n",
     "is excused to name "),
    ("a name excused without need", "ir/families/loss.c", "int a;\n",
     "is excused to name accumulate_metrics and does not"),
    *[(call, "frontend/a.c", f"void *p = {call}(1);\n", "allocates")
      for call in ("calloc", "realloc", "reallocarray", "aligned_alloc", "posix_memalign", "strdup",
                   "strndup", "asprintf", "vasprintf", "open_memstream", "getline", "realpath")],
    *[(call, "frontend/a.c", f"void f(void) {{ {call}(1); }}\n", "ends the program")
      for call in ("exit", "_Exit", "abort")],
    ("an operator's bug()", "ir/ops/a.c", 'void f(void) { bug("x"); }\n', "an operator calls bug"),
    ("a pass's error()", "passes/a.c", 'void f(void) { error(d, "x"); }\n', "a pass calls error"),
    ("a pass that verifies", "passes/a.c", 'void f(void) { verify(g, "a"); }\n',
     "verifies or prints"),
    ("a pass that prints", "passes/a.c", "void f(void) { graph_print(g, f); }\n",
     "verifies or prints"),
    ("the right to error() without need", "passes/runner.c", "int a;\n",
     "is excused to call error() and does not"),
    ("the right to end without need", "ir/base/diag.c", "int a;\n",
     "is excused to end the program and does not"),
    ("a pass without an essay", "passes/simplify.c", "// simplify: x.\n" + PASS, "essay on simplify"),
    ("a long essay", "passes/simplify.c", SIMPLIFY + "// More.\n" * 21 + PASS, "essay on simplify"),
    ("another's essay", "passes/simplify.c", SIMPLIFY.replace("simplify:", "Simplify:") + PASS, "essay on simplify"),
    ("an essay in words", "passes/simplify.c", SIMPLIFY.replace("  %", "%") + PASS, "has no example"),
    ("a kernel of no operator", "runtime/kernels/relux.cuh", "struct relux {};\n",
     "is named after no operator"),
    ("a long header", "ir/a.h", "struct A {\n" + "    int a;      // More.\n" * 250 + "};\n",
     "a header with structs of 253 lines"),
    ("a short header that is excused", "runtime/host/cuda_runtime_api.h", "struct A {\n};\n",
     "is listed as long and does not"),
    ("a file without a word", "ir/a.c", "\nint a;\n", "does not open with"),
    ("a tag", "ir/a.c", "// @brief Adds.\nint a;\n", "a tag in a comment"),
    ("a tag of TeX's kind", "ir/a.h", "/* \\param a what it adds */\nint a;\n",
     "a tag in a comment"),
    ("a date", "codegen/a.c", "const char *made = __DATE__;\n", "the date of the build"),
    ("a tab in a format", "codegen/a.c", 'void f(void) { print("\\t%d", 1); }\n',
     "a tab in a format"),
    ("an operator in the grammar", "frontend/scanner.l", "/* Words. */\nrelu  { return RELU; }\n",
     "the grammar names the operator relu"),
    ("functions that are long", "codegen/a.c", "".join(map(function, [1, 16, 16])),
     "half of its functions have more than 15"),
    ("too many that are longer", "codegen/a.c", "".join(map(function, [1, 1, 46])),
     "one in twenty of its functions have more than 45"),
    ("no comments", "ir/a.c", "int a;\n" * 300, "11 to 22 are to have one"),
    ("comments alone", "ir/a.c", "// A.\nint a;\n" * 150, "11 to 22 are to have one"),
    ("what a header has for nobody", "ir/a.h", "// Sums.\nint sum_all(const int *a);\n",
     "declares sum_all, which no other file names"),
    ("no page", "ir/README.md", "", "a page of 0 lines"),
    ("a page that is a book", "passes/README.md", "A line.\n" * 81, "a page of 81 lines"),
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
        if name.endswith((".c", ".h", ".cpp", ".cuh")) and text[0] not in "/\n":
            text = "// A file.\n" + text
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


def says(words):
    """True if a line has these words, or one of a tuple of them."""
    return lambda line: any(w in line for w in ([words] if isinstance(words, str) else words))


def check_tree():
    status, lines = faults_of(SOUND)
    if status or lines:
        missed.append(f"a sound tree has faults: {lines}")
    for what, name, text, words in BROKEN:
        # A file of the tree that is written anew is still the one with the fault.
        status, lines = faults_of({**SOUND, name: text})
        if status != 1 or not lines or not all(map(says(words), lines)):
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
