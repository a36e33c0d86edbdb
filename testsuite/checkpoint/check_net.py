#!/usr/bin/env python3
"""A net in the smallest arena that there is for it, through check_net.

    check_net.py BUILD TESTS NET.cnn GOLDEN [OPTIONS...]

OPTIONS are check_net's: --sanitize, --orders, a line of golden/examples.txt.
"""
import os
import subprocess
import sys

from budgets import Compiler, again


def main():
    build, tests, net, golden, *words = sys.argv[1:]
    compiler = Compiler(os.path.join(build, "cnnc"), net, words)
    # Compiles like check_net.
    compiler.options += ["--precision", "f64", "-fkeep-gradients"]
    budget = compiler.smallest()
    names = again(compiler.plan("--budget", str(budget)))
    print(f"{budget} bytes of {compiler.whole()}: {len(names)} launches recomputed", flush=True)
    if not names:
        print("nothing runs again: FAILED")
        return 1
    return subprocess.run([os.path.join(tests, "check_net"), build, net, golden, *words,
                           "--budget", str(budget)]).returncode


if __name__ == "__main__":
    sys.exit(main())
