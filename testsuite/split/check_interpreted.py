#!/usr/bin/env python3
"""An interpreter computes nets in slices of the batch like the right one computes the whole nets.

    check_interpreted.py BUILD INTERPRETER FOLDER

Two training steps of stem.cnn, in slices of 3 of its samples, and of between.cnn must be equal. The
whole nets' are made once and stay in FOLDER.
"""
import os
import subprocess
import sys

from check_split import CXX, ROOT, Net, run


def steps(program, net, out, *options):
    done = subprocess.run([program, "--batch", net.batch, *options, net.net, "--load", "weights",
                           "--batch-file", "drawn", "--seed", "3", "--steps", "2", "--save", out],
                          check=False, capture_output=True)
    return done.returncode == 0


def make_whole(build, net):
    run(os.path.join(build, "cnnc"), "--precision", "f64", "--batch", "8", "--main", "-o",
        "whole.cu", net.net)
    run(CXX, "-std=c++17", "-O0", "-w", "-I", os.path.join(ROOT, "runtime", "host"), "-x", "c++",
        "whole.cu", "-x", "none", os.path.join(build, "libcnnc_host.a"), "-lpthread", "-o", "whole")
    net.draw("8")
    assert steps(os.path.join(build, "testsuite", "interpret"), net, "whole.out")


def main(build, interpreter, folder):
    differs = False
    for name in "stem", "between":
        net = Net(build, os.path.join(ROOT, "testsuite", "split", name + ".cnn"), "8")
        os.makedirs(os.path.join(folder, name), exist_ok=True)
        os.chdir(os.path.join(folder, name))
        if not os.path.exists("whole.out"):
            make_whole(build, net)
        differs |= not steps(interpreter, net, "split.out", "--split", "3") or \
            net.compare("whole.out", "split.out").returncode != 0
    return differs


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
