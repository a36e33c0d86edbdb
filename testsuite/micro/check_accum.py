#!/usr/bin/env python3
"""accum.c, in C99, against sums.cnn: batches as they are given, and in slices.

    check_accum.py CNNC LIBHOST

Launches are checked against the plans, byte for byte of their writes. A state does not depend on
the construction of a training step. Without accum the same net has the same STATE_HASH and
STATE_BYTES, and the same file except the additions of accumulate = 1. Then each of the faults
of mutants.txt, planted in the emitted file, makes accum.c fail.
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from mutants import PLANTED_FAULT, mutants_of, with_all  # noqa: E402

CXX = os.environ.get("CXX", "clang++")

HERE = os.path.dirname(os.path.abspath(__file__))
HOST = os.path.join(HERE, "..", "..", "runtime", "host")
cnnc, libhost = map(os.path.abspath, sys.argv[1:])

FAULTS = mutants_of("micro.accum")


def run(*command, **more):
    result = subprocess.run(command, check=False, text=True, capture_output=True, **more)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}: {result.stdout}{result.stderr}")
    return result.stdout


def emit(*options):
    net = os.path.join(HERE, "sums.cnn")
    run(cnnc, "--precision", "f64", *options, net, "-o", "sums.cpp", "--header", "sums.h")
    for mode in ["train", "eval"]:
        run(cnnc, "--precision", "f64", *options, net, "--mode", mode, "--emit", "plan", "-o",
            mode + ".json")


def link():
    run(CXX, "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-I", HOST, "-c", "sums.cpp")
    run("gcc", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-I", HOST, "-I", ".", "-c",
        os.path.join(HERE, "accum.c"))
    run(CXX, "accum.o", "sums.o", libhost, "-lpthread", "-lm", "-o", "accum")


def accum(fault=None):
    env = dict(os.environ, CNNC_HOST_PLAN="train.json:eval.json", CNNC_HOST_CHECK="writes")
    if fault is not None:
        env["PLANTED"] = str(fault)
    return subprocess.run(["./accum"], env=env, text=True, capture_output=True, check=False)


def plant():
    with open("sums.cpp", encoding="utf-8") as file:
        text = file.read()
    with open("sums.cpp", "w", encoding="utf-8") as out:
        out.write(PLANTED_FAULT + with_all(text, FAULTS))


def macro(name):
    with open("sums.h", encoding="utf-8") as file:
        return re.search(rf"#define SUMS_{name} (\S+)", file.read()).group(1)


def check_state():
    states = set()
    with open(os.path.join(HERE, "sums.cnn"), encoding="utf-8") as file:
        plain = re.sub(r"(?m)^ *accumulate.*\n", "", file.read())
    with open("plain.cnn", "w", encoding="utf-8") as out:
        out.write(plain)
    for net in [os.path.join(HERE, "sums.cnn"), "plain.cnn"]:
        run(cnnc, net, "-o", "sums.cu", "--header", "sums.h")
        states.add((macro("STATE_HASH"), macro("STATE_BYTES"), macro("PARAMS_HASH")))
        with open("sums.h", encoding="utf-8") as file:
            offers = " sums_" + "accum(" in re.sub(r"\bint ", " ", file.read())
        if offers != (net != "plain.cnn"):
            sys.exit(f"accum is {'there' if offers else 'not there'}: {net}")
    if len(states) != 1:
        sys.exit(f"the state depends on accumulate: {states}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_state()
        for options in [[], ["--microbatch", "3"]]:
            emit(*options)
            if options:
                plant()
            link()
            result = accum()
            if result.returncode != 0:
                sys.exit(f"{options}: {result.stderr}")
            print(result.stdout, end="")
        missed = [FAULTS[i].name for i in range(len(FAULTS)) if accum(i).returncode == 0]
        if missed:
            sys.exit("not caught: " + ", ".join(missed))
        print(f"{len(FAULTS)} faults caught")


main()
