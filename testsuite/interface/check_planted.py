#!/usr/bin/env python3
"""The tests of the interface can fail: each fault that is planted in the emitted
file makes the test fail that is there for it.

    check_planted.py CNNC LIBHOST

The programs of this folder are linked with nets `one` and `two`, and `means` with its own. In the
text of these nets the faults of mutants.txt wait for their number in PLANTED; without one all pass.
`with` names the program that must fail.
"""
import os
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from mutants import PLANTED_FAULT, mutants_of, with_all  # noqa: E402

CXX = os.environ.get("CXX", "clang++")

HERE = os.path.dirname(os.path.abspath(__file__))
HOST = os.path.join(HERE, "..", "..", "runtime", "host")

MUTANTS = mutants_of("interface.planted")
# By net.
FAULTS = {net: [mutant for mutant in MUTANTS if (mutant.words == "means") == (net == "means")]
          for net in ("one", "means")}
PROGRAMS = sorted({mutant.words for mutant in MUTANTS})


def plant(net):
    with open(net + ".cpp", encoding="utf-8") as file:
        text = file.read()
    with open(net + ".cpp", "w", encoding="utf-8") as out:
        out.write(PLANTED_FAULT + with_all(text, FAULTS[net]))


def run(*command):
    subprocess.run(command, check=True)


def build(cnnc, libhost):
    nets = ["one", "two", "means"]
    for net in nets:
        run(cnnc, os.path.join(HERE, net + ".cnn"), "-o", net + ".cpp", "--header", net + ".h")
    for net in FAULTS:
        plant(net)
    for net in nets:
        run(CXX, "-std=c++17", "-O0", "-I", HOST, "-c", net + ".cpp", "-o", net + "_net.o")
    for name in PROGRAMS:
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
        for name in PROGRAMS:
            if status(name, -1):
                sys.exit(f"{name} fails without any fault")
        for faults in FAULTS.values():
            for number, fault in enumerate(faults):
                if not status(fault.words, number):
                    sys.exit(f"{fault.words} does not see: {fault.name}")
                print(f"{fault.words} sees: {fault.name}")
        os.chdir("/")


if __name__ == "__main__":
    main()
