#!/usr/bin/env python3
"""Checks that the texts which planted faults replace still exist: the tests that plant them are
long.

    check_faults.py BUILD HOST ROOT CC
"""
import glob
import os
import subprocess
import sys

build, host, root, compiler = sys.argv[1:]
# With a HOST among their arguments, and without.
WITH_HOST = ["checkpoint/check_planted", "passes/planted", "plans/planted_rules"]
WITHOUT = ["chain/planted", "checkpoint/planted_smallest", "costs/planted", "half/planted",
           "interface/check_settings", "marks/planted", "offload/planted", "place/planted",
           "remat/planted", "split/planted"]
# With the compiler and HOST: planted in emitted files.
EMITTED = ["half/check_scale"]
# In primitives of the runtime and in programs of --tune.
RUNTIME = ["tensor/planted", "tune/planted"]


def is_there(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, "LOOK": "1"})
    if done.returncode:
        print(done.stdout, flush=True)
    return done.returncode == 0


def main():
    commands = [[sys.executable, f"{root}/testsuite/{name}.py", build, host, root, compiler]
                for name in WITH_HOST]
    commands += [[sys.executable, f"{root}/testsuite/{name}.py", build, root, compiler]
                 for name in WITHOUT]
    commands += [[sys.executable, f"{root}/testsuite/{name}.py", f"{build}/cnnc", host]
                 for name in EMITTED]
    commands += [[sys.executable, f"{root}/testsuite/{name}.py", build, root, host, compiler, "lit"]
                 for name in RUNTIME]
    commands += [["patch", "--dry-run", "-p1", "-d", root, "-i", patch]
                 for patch in glob.glob(f"{root}/testsuite/random/bugs/*.patch")]
    return sum(not is_there(command) for command in commands)


if __name__ == "__main__":
    sys.exit(main())
