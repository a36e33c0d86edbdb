"""Faults planted in the compiler's C files, each found by a unit test.

    sys.exit(unit_faults.main(TEST, FAULTS, ARGUMENTS))     of a program BUILD ROOT CC

FAULTS has names and what is planted: None for nothing, or a file of passes/, a text that is
there once, and what stands there instead.
"""
import os
import subprocess
import sys
import tempfile

build, root, compiler = (os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3])
only = os.environ.get("FAULT", "")


def unit_test(folder, test, fault):
    """The test with the fault, linked before the library that has the right file."""
    files = [os.path.join(root, "testsuite", "unit", test + ".c")]
    if fault:
        name, old, new = fault
        with open(os.path.join(root, "passes", name)) as file:
            text = file.read()
        assert text.count(old) == 1, f"no such text in {name}: {old}"
        files.append(os.path.join(folder, name))
        with open(files[-1], "w") as file:
            file.write(text.replace(old, new).replace('"../ir/', f'"{root}/ir/'))
    program = os.path.join(folder, test)
    subprocess.run([compiler, "-std=c17", "-O2", "-w", "-iquote", os.path.join(root, "passes"),
                    *files, os.path.join(build, "testsuite", "libunit_helpers.a"),
                    os.path.join(build, "libcore.a"), "-lcmocka", "-lm", "-o", program],
                   check=True)
    return program


def is_caught(program, arguments):
    """A test that takes far longer than it should has failed as well."""
    try:
        done = subprocess.run([program, *arguments], capture_output=True, timeout=60)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def main(test, faults, arguments=()):
    failed = 0
    for name, fault in faults.items():
        if only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            caught = is_caught(unit_test(folder, test, fault), arguments)
        if caught != (fault is not None):
            failed += 1
        print(f"{name}: {'caught' if caught else 'not caught'}", flush=True)
    return failed
