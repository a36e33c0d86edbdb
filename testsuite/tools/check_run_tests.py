#!/usr/bin/env python3
"""run_tests.py on tests made here: a failing test is a failure; a test without enough time is
stopped, named and a failure; a part of a long test is left out of all.

    check_run_tests.py
"""
import os
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run_tests.py")
faults = []


def expect(truth, what):
    if not truth:
        faults.append(what)


def make_tests(folder, tests):
    with open(os.path.join(folder, "CTestTestfile.cmake"), "w") as file:
        for name, label, script in tests:
            file.write(f'add_test({name} "sh" "-c" "{script}")\n'
                       f'set_tests_properties({name} PROPERTIES LABELS "{label}"'
                       " SKIP_RETURN_CODE 77)\n")


def run(folder, *arguments):
    done = subprocess.run([sys.executable, PROGRAM, folder, *map(str, arguments), "--jobs", "1"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def check(folder):
    make_tests(folder, [("good", "quick", "exit 0"), ("absent", "quick", "exit 77"),
                        ("bad", "long", "exit 1")])
    status, text = run(folder, "quick")
    expect(status == 0 and "tests not run" not in text, f"good tests fail: {text}")
    expect(run(folder, "all")[0] == 1, "a bad test passes")
    make_tests(folder, [("good", "long", "exit 0"), ("part", "quick;part", "exit 1")])
    expect(run(folder, "quick")[0] == 1, "a part of a long test is not quick")
    expect(run(folder, "all")[0] == 0, "a part of a long test runs twice")
    make_tests(folder, [(name, "long", "sleep 20") for name in ("a.1", "a.2", "a.3")])
    begun = time.time()
    status, text = run(folder, "all", "--until", int(begun) + 4)
    expect(time.time() - begun < 15, "the limit of time is no limit")
    expect(status == 1 and "2 of 3 tests not run:\n    a.2\n    a.3" in text,
           f"what was not run goes unsaid: {text}")
    status, text = run(folder, "all", "--until", int(begun) - 1)
    expect(status == 1 and "    a.1\n    a.2\n    a.3" in text, "no time is time enough")


with tempfile.TemporaryDirectory() as made:
    check(made)
print(*faults, sep="\n", end="\n" if faults else "")
sys.exit(1 if faults else 0)
