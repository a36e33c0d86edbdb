#!/usr/bin/env python3
"""The tests of the interface can fail: each fault that is planted in the emitted
file makes the test fail that is there for it.

    check_planted.py CNNC LIBHOST

The programs of this folder are linked with nets `one` and `two`, and `means` with its own. In the
text of these nets faults wait for their number in PLANTED; without one all pass.
"""
import os
import subprocess
import sys
import tempfile

CXX = os.environ.get("CXX", "clang++")

HERE = os.path.dirname(os.path.abspath(__file__))
HOST = os.path.join(HERE, "..", "..", "runtime", "host")

# The test that must fail, the text that the fault stands in, and the fault: @ is
# whether it is planted.
FAULTS = [
    ("refusals", "arena_bytes < ONE_ARENA_BYTES", "arena_bytes + @ < ONE_ARENA_BYTES"),
    ("refusals", "|| off)", "|| (off && !@))"),
    ("refusals", "if (!arena || (ONE_USES_CUBLAS && !cublas))",
     "if (!@ && (!arena || (ONE_USES_CUBLAS && !cublas)))"),
    ("refusals", "if (found.type == cudaMemoryTypeUnregistered)",
     "if (!@ && found.type == cudaMemoryTypeUnregistered)"),
    ("refusals", "!ARENA_AT(arena, ONE_ARENA_BYTES)", "!ARENA_AT(arena, ONE_ARENA_BYTES) && !@"),
    ("headers", "if (!(r.value >= r.least && r.value <= r.most))",
     "if (!@ && !(r.value >= r.least && r.value <= r.most))"),
    ("headers", "if (!(value >= 0 && value <= FLT_MAX))",
     "if (!@ && !(value >= 0 && value <= FLT_MAX))"),
    ("refusals", "h.magic == ONE_MAGIC &&", "(@ || h.magic == ONE_MAGIC) &&"),
    ("refusals", "&& known)", "&& (@ || known))"),
    ("refusals", "bytes == *given * sample_bytes)", "(@ || bytes == *given * sample_bytes))"),
    ("refusals", "if (c->ready) return", "if (c->ready || @) return"),
    ("state", "one_stage(c, 0, bytes, state, bytes)",
     "one_stage(c, 0, bytes - 256 * @, state, bytes - 256 * @)"),
    ("state", "return one_get(c, state, 0, bytes)",
     "if (@) memset(state, 0, bytes);\n    return one_get(c, state, 0, bytes - 256 * @)"),
    ("state", "TRY(one_put(c, 0, &header, sizeof header));\n    TRY(one_every_step(c));",
     "TRY(@ ? 0 : one_put(c, 0, &header, sizeof header));\n    TRY(one_every_step(c));"),
    ("state", "TRY(one_every_step(c));\n    TRY(one_put(c, 0, &header, sizeof header));",
     "TRY(one_every_step(c));\n    TRY(@ ? 0 : one_put(c, 0, &header, sizeof header));"),
    ("state", "if (!reset) return ONE_OK;", "if (!reset && !@) return ONE_OK;"),
    # Something of the context that began last is the others' too.
    ("contexts", "unsigned char *const to = c->arena + offset;",
     "static unsigned char *last;\n    if (@ && (!last || offset == 0)) last = c->arena;\n"
     "    unsigned char *const to = (@ ? last : c->arena) + offset;"),
]
# Likewise those that `means` must see in its own net.
MEANS_FAULTS = [
    ("means", "sums[j].weight = width > 1 ?", "sums[j].weight = width > 1 && !@ ?"),
    ("means", "of[j].weight == 0 ?", "of[j].weight == 0 && !@ ?"),
    ("means", "total[0] == 0 ? (real)0", "total[0] == 0 && !@ ? (real)0"),
    ("means", "(real)(found && counts)", "(real)(found && (counts || @))"),
    ("means", "rows[2 * row.n + 1] = (real)counts;", "rows[2 * row.n + 1] = (real)(counts || @);"),
    ("means", "occur > 0 ? all : 0", "occur > 0 || @ ? all : 0"),
    ("means", "figures->loss += figures->map_loss;", "figures->loss += @ ? 0 : figures->map_loss;"),
    ("means", "memset(header.figures, 0, sizeof header.figures);",
     "memset(header.figures, 0, @ ? 0 : sizeof header.figures);"),
]
PROLOGUE = """#include <stdlib.h>
static const int planted_fault = getenv("PLANTED") ? atoi(getenv("PLANTED")) : -1;
"""


def plant(path, faults):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for number, (_, place, fault) in enumerate(faults):
        if text.count(place) != 1:
            sys.exit(f"no place, or more than one, for a fault: {place}")
        text = text.replace(place, fault.replace("@", f"(planted_fault == {number})"))
    with open(path, "w", encoding="utf-8") as out:
        out.write(PROLOGUE + text)


def run(*command):
    subprocess.run(command, check=True)


def build(cnnc, libhost):
    nets = ["one", "two", "means"]
    for net in nets:
        run(cnnc, os.path.join(HERE, net + ".cnn"), "-o", net + ".cpp", "--header", net + ".h")
    plant("one.cpp", FAULTS)
    plant("means.cpp", MEANS_FAULTS)
    for net in nets:
        run(CXX, "-std=c++17", "-O0", "-I", HOST, "-c", net + ".cpp", "-o", net + "_net.o")
    for name in sorted({fault[0] for fault in FAULTS + MEANS_FAULTS}):
        source = os.path.join(HERE, name)
        if os.path.exists(source + ".c"):
            run("gcc", "-std=c99", "-O0", "-I", HOST, "-I", ".", "-c", source + ".c")
        else:
            run(CXX, "-std=c++17", "-O0", "-I", HOST, "-I", ".", "-c", source + ".cpp")
        objects = ["means_net.o"] if name == "means" else ["one_net.o", "two_net.o"]
        run(CXX, name + ".o", *objects, libhost, "-lpthread", "-lm", "-o", name)


def status(name, planted):
    return subprocess.run(["./" + name], env=dict(os.environ, PLANTED=str(planted)), check=False,
                          stderr=subprocess.DEVNULL).returncode


def main():
    cnnc, libhost = [os.path.abspath(path) for path in sys.argv[1:3]]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        build(cnnc, libhost)
        for name in {fault[0] for fault in FAULTS + MEANS_FAULTS}:
            if status(name, -1):
                sys.exit(f"{name} fails without any fault")
        for faults in [FAULTS, MEANS_FAULTS]:
            for number, (name, place, _) in enumerate(faults):
                if not status(name, number):
                    sys.exit(f"{name} does not see the fault in {place}")
                print(f"{name} sees the fault in {place}")
        os.chdir("/")


if __name__ == "__main__":
    main()
