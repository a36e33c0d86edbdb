#!/usr/bin/env python3
"""A plan's checker without one of its rules lets a harmful corruption through.

    check_rule.py BUILD HOST CC TREE MESSAGE [--whole] [--nets NET...]

The checker of TREE is linked into corrupt_plans as its second checker. Then check_corruptions.py
examines plans that it accepts and the whole checker does not, of NETs or of some. Harm is a fault
that plan_check.py sees, or a check of every byte; a run that ends in other bytes, or can't be; a
state laid out unlike that of the net's other plans; or the checker crashes. Prints `harm:` and the
first, and exits with 1. Where the plan is held against the program too, it must be harm that the
whole checker has that MESSAGE for.

The rules of verify_plan.c and verify_replay.c are judged without those of verify_program.c, some of
which are stricter; except those that are --whole: only the emitted file shows the harm.
"""
import os
import subprocess
import sys
import tempfile

from checker_rules import FILES, groups, is_said

build, host, compiler, tree, says, *words = sys.argv[1:]
here = os.path.dirname(os.path.abspath(__file__))
tests = os.path.dirname(here)
NAMES = ["verify_program", "check_buffers", "verify_plan", "check_replay", "plan_byte_map",
         "buffer_span"]
# The files that compare the plan with its program.
AGAINST = ["verify_program.c", "verify_buffers.c"]
NETS = ["digits", "lenet", "skip", "batchnorm", "concat", "mean_iou", "clip_norm", "dropout",
        "reshape", "slices"]
SECOND = """#include "second.h"
#include "ir/ir.h"
const char *second_checker(Arena *arena, const Graph *g, const Plan *plan)
{
    (void)g;
"""
WITH_PROGRAM = SECOND + """    return verify_program(arena, g, plan);
}
"""
# Only verify_program.c checks host memory in a plan: none of these nets uses any.
ALONE = SECOND + """    for (int i = 0; i < plan->step_count; i++)
        if (plan->steps[i].host >= 0) return "host memory is used";
    return plan->host_bytes != 0 ? "host memory is used" : verify_plan(arena, plan);
}
"""
# The plan is held against the program too.
is_whole = "--whole" in words or any((file, says) in groups() for file in AGAINST)
own = words[words.index("--nets") + 1:] if "--nets" in words else []


def compile_files(folder, files, *options):
    objects = []
    for file in files:
        objects.append(os.path.join(folder, os.path.basename(file)[:-2] + ".o"))
        subprocess.run([compiler, "-std=c17", "-O1", "-w", *options, "-c", file, "-o",
                        objects[-1]], check=True)
    return objects


def program(folder):
    """corrupt_plans with the second checker."""
    second = os.path.join(folder, "second.c")
    with open(second, "w") as file:
        file.write(WITH_PROGRAM if is_whole else ALONE)
    # An overflow is a crash.
    renamed = [f"-D{name}=second_{name}" for name in NAMES]
    renamed += ["-fsanitize=signed-integer-overflow", "-fsanitize-undefined-trap-on-error"]
    objects = compile_files(folder, [*(os.path.join(tree, "ir/verify", name) for name in FILES),
                                     second], *renamed, "-I", tree, "-I", here)
    path = os.path.join(folder, "corrupt_plans")
    libraries = ["testsuite/plans/libcorruption.a", "testsuite/libunit_helpers.a", "libcore.a"]
    subprocess.run([compiler, *objects, *(os.path.join(build, name) for name in libraries), "-lm",
                    "-o", path], check=True)
    return path


def look(path):
    """Returns check_corruptions.py's output for corruptions that the second checker accepts."""
    run = own or ["digits", "batchnorm", "slices"] if is_whole else []
    return subprocess.run(
        [sys.executable, os.path.join(here, "check_corruptions.py"), build, host, tests,
         os.path.join(tests, "..", "examples"), "40000", "-1", "--first", "--program", path,
         "--run", *(f"{net}=1" for net in run), "--nets", *(own or NETS)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def is_its_harm(line):
    """True if the whole checker gives this message for the accepted corruption. Without the
    rule it may have crashed."""
    return is_said(line, says, r"was let through \(") or " ends with -" in line


def main():
    with tempfile.TemporaryDirectory() as folder:
        done = look(program(folder))
    line = next((s for s in done.stdout.splitlines() if s.startswith("FAILED")), "")
    right = done.returncode in (0, 1) and (not line or not is_whole or is_its_harm(line))
    print("harm:" + line[6:] if line and right else "" if right else done.stdout)
    return bool(line) or not right


if __name__ == "__main__":
    sys.exit(main())
