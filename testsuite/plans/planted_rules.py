#!/usr/bin/env python3
"""The plan's checker without one of its rules, for each of them.

    planted_rules.py BUILD HOST ROOT CC

A copy of the checker that lacks the rule is linked into corrupt_plans as its second checker. Then
check_corruptions.py examines plans that it accepts and the whole checker does not. It must find
harm: a fault that plan_check.py sees, or a check of every byte; a run that ends in other bytes, or
can't be; a state laid out unlike that of the net's other plans; or the checker crashes. It must be
harm that the whole checker has that message for, where that is held against the program too. So
each rule is needed, and corruptions reach it. The copy that lacks nothing must let nothing harmful
through. The rules are in checker_rules.py.

The rules of verify_plan.c and verify_replay.c are judged without those of
verify_program.c, some of which are stricter; except those that say WHOLE.
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from checker_rules import FILES, RULES, WHOLE, is_said  # noqa: E402
from changed import has_changed  # noqa: E402
from plant_faults import looks, missing, with_paths  # noqa: E402

build, host, root, compiler = sys.argv[1:]
only = os.environ.get("RULE")
here = os.path.join(root, "testsuite", "plans")
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
# A row: the file, the rule, its text, the replacement, words, the checker's message.
ROWS = [(file, name, old, new, words, says)
        for file, says, rules in RULES for name, old, new, *words in rules]


def compile_files(folder, files, *options):
    objects = []
    for file in files:
        objects.append(os.path.join(folder, os.path.basename(file)[:-2] + ".o"))
        subprocess.run([compiler, "-std=c17", "-O1", "-w", *options, "-c", file, "-o",
                        objects[-1]], check=True)
    return objects


def is_whole(rule):
    """Whether the plan is held against the program too."""
    return bool(rule) and (rule[0] in AGAINST or WHOLE in rule[4])


def program_without(folder, rule):
    """corrupt_plans with a second checker that lacks the rule."""
    planted, rest = rule[0] if rule else "", rule[2:4] if rule else None
    for name in FILES:
        path = os.path.join(root, "ir/verify", name)
        with open(path) as file:
            text = file.read()
        if name == planted:
            assert text.count(rest[0]) == 1, f"{rule[1]}: no such text in {name}"
            text = text.replace(rest[0], rest[1])
        with open(os.path.join(folder, name), "w") as file:
            file.write(with_paths(path, text))
    with open(os.path.join(folder, "second.c"), "w") as file:
        file.write(WITH_PROGRAM if is_whole(rule) else ALONE)
    # An overflow is a crash.
    renamed = [f"-D{name}=second_{name}" for name in NAMES]
    renamed += ["-fsanitize=signed-integer-overflow", "-fsanitize-undefined-trap-on-error"]
    objects = compile_files(folder, [os.path.join(folder, f) for f in FILES + ["second.c"]],
                            *renamed, "-I", root, "-I", here)
    program = os.path.join(folder, "corrupt_plans")
    libraries = ["testsuite/plans/libcorruption.a", "testsuite/libunit_helpers.a", "libcore.a"]
    subprocess.run([compiler, *objects, *(os.path.join(build, name) for name in libraries), "-lm",
                    "-o", program], check=True)
    return program


def look(program, rule):
    """Returns check_corruptions.py's output for corruptions that the second checker accepts."""
    whole = is_whole(rule)
    own = [net for word in rule[4] if word != WHOLE for net in word] if rule else []
    nets = own or NETS
    run = own or ["digits", "batchnorm", "slices"] if whole else []
    return subprocess.run(
        [sys.executable, os.path.join(here, "check_corruptions.py"), build, host,
         os.path.join(root, "testsuite"), os.path.join(root, "examples"), "40000", "-1",
         "--first", "--program", program, "--run", *(f"{net}=1" for net in run), "--nets", *nets],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def is_its_harm(line, says):
    """True if the whole checker gives this message for the accepted corruption. Without the
    rule it may have crashed."""
    return is_said(line, says, r"was let through \(") or " ends with -" in line


def is_chosen(rule):
    """Returns the rules of files that differ from the last landing, or RULE."""
    if only is not None:
        return bool(re.search(only, rule[1]))
    return has_changed(root, "ir/verify/" + rule[0], "testsuite/plans")


def main():
    failed = 0
    if looks:
        return any([missing(rule[1], os.path.join(root, "ir/verify", rule[0]), rule[2])
                    for rule in ROWS])
    rows = [rule for rule in ROWS if is_chosen(rule)]
    print(f"{len(rows)} of {len(ROWS)} rules")
    with tempfile.TemporaryDirectory() as folder:
        for rule in [None, *rows] if rows else []:
            said = look(program_without(folder, rule), rule)
            line = next((s for s in said.stdout.splitlines() if s.startswith("FAILED")), "")
            right = (bool(line) == bool(rule) and said.returncode in (0, 1)
                     and (not is_whole(rule) or is_its_harm(line, rule[5])))
            failed += not right
            print("ok    " if right else "WRONG ", rule[1] if rule else "nothing", "|", line[8:],
                  flush=True)
            if not right:
                print(said.stdout)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
