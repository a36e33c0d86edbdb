#!/usr/bin/env python3
"""The plan's checker without one of its rules, for each of them.

    planted_rules.py BUILD HOST ROOT CC

A copy of the checker that lacks the rule is linked into corrupt_plans as its second
checker, and check_corruptions.py looks at what that takes for sound and the whole checker
does not. It must find harm: a fault that plan_check.py sees, or a check of every byte; a
training step that ends in other bytes; a state laid out unlike that of the net's other
plans; or the checker crashes.
So each rule is needed, and corruptions reach it. The copy that lacks nothing must let
nothing harmful through.

The rules of verify_plan.c and verify_replay.c are judged without those of
verify_program.c, some of which are stricter; but for those that say WHOLE.
"""
import os
import re
import subprocess
import sys
import tempfile

build, host, root, compiler = sys.argv[1:]
only = os.environ.get("RULE", "")
here = os.path.join(root, "testsuite", "plans")
FILES = ["verify_plan.c", "verify_replay.c", "verify_program.c"]
NAMES = ["verify_program", "verify_plan", "check_replay", "plan_byte_map", "buffer_span"]

WHOLE, SLICES = "with verify_program.c", "in slices.cnn"
NETS = ["digits", "lenet", "skip", "batchnorm", "concat", "mean_iou", "clip_norm", "dropout",
        "reshape", "slices"]

# What is taken out: a file, the rule, its text and what stands there instead; WHOLE
# where only what is emitted shows the harm; SLICES where only slices can have it.
RULES = [
    ("verify_plan.c", "reads name buffers",
     "!all_there(step->reads, step->read_count, plan)", "false"),
    ("verify_plan.c", "writes name buffers",
     "!all_there(step->writes, step->write_count, plan)", "false"),
    ("verify_plan.c", "aliases name buffers", "!all_there(&other, 1, plan)", "false"),
    ("verify_plan.c", "steps and aliases name what has bytes",
     "plan->buffers[list[i]].inlined", "false"),
    ("verify_plan.c", "what has no bytes lies in nothing",
     " ||\n                              plan->buffers[k].inlined)", ")"),
    ("verify_plan.c", "what has no bytes is not kept",
     "buffer->persistent || buffer->output\n", "false\n"),
    ("verify_plan.c", "no circles", "if (ends[at] == on_path) return false;", ""),
    ("verify_plan.c", "types", "buffer->dtype >= DTYPE_COUNT ||", "false ||"),
    ("verify_plan.c", "kinds", "buffer->kind >= KIND_COUNT ||", "false ||"),
    ("verify_plan.c", "ranks", "buffer->shape.rank < 0 || buffer->shape.rank > MAX_RANK)", "false)"),
    ("verify_plan.c", "holds its shape",
     "needed < 0 || buffer->bytes <= 0 || buffer->bytes < needed", "false"),
    ("verify_plan.c", "not larger than its shape",
     "buffer->kind != WORKSPACE && buffer->bytes - needed > ALIGNMENT", "false"),
    ("verify_plan.c", "inside the arena",
     "buffer->offset < 0 || buffer->offset > c->plan->arena_bytes ||\n"
     "        buffer->bytes > c->plan->arena_bytes - buffer->offset", "false"),
    ("verify_plan.c", "state is persistent",
     "is_persistent(buffer->kind) && !root->persistent", "false"),
    ("verify_plan.c", "what is no slice covers its root",
     "rows == 0 || buffer->bytes == root->bytes", "true", SLICES),
    ("verify_plan.c", "as many rows as the root's", "buffer->rows == rows &&\n", "\n", SLICES),
    ("verify_plan.c", "the root is whole rows", "root->bytes % rows == 0 && ", "", SLICES),
    ("verify_plan.c", "a slice is whole rows", "buffer->bytes % rows == 0 &&\n", "\n", SLICES),
    ("verify_plan.c", "the stride is a row of the root",
     "root->bytes / rows == buffer->stride &&\n", "\n", SLICES),
    ("verify_plan.c", "no column before the root's", "column >= 0 && ", "", SLICES),
    ("verify_plan.c", "no column behind the root's",
     "column >= 0 && column <= buffer->stride - buffer->bytes / rows", "column >= 0", SLICES),
    ("verify_plan.c", "alignment", "buffer->offset % ALIGNMENT != 0", "false"),
    ("verify_plan.c", "an alias lies in its parent",
     "own.begin < parent.begin || own.end > parent.end",
     "false"),
    ("verify_plan.c", "lives are stated",
     "first == NONE || buffer->first != first || buffer->last != last", "first == NONE"),
    ("verify_plan.c", "no overlap",
     "byte_map_differs(alive, begin, end, NONE, &other)", "(void)(other = 0), false"),
    ("verify_plan.c", "the bound", "most != c->plan->max_live_bytes", "false"),
    ("verify_plan.c", "the arena's end",
     "round_up(top) != round_up(c->plan->arena_bytes)", "false"),
    ("verify_replay.c", "what is said of in place",
     "const char *wrong = check_said(c, step);",
     "const char *wrong = step->in_place_count < 0 ? check_said(c, step) : NULL;"),
    ("verify_replay.c", "writes of a step apart",
     "if (overlap(c, k, step->writes[j]))", "if (false)"),
    ("verify_replay.c", "writing over what is read is said", "!is_said(step, k, read)",
     "step->in_place_count < 0 && !is_said(step, k, read)"),
    ("verify_replay.c", "written again", "!reads_it && was_written(c, k)",
     "false && reads_it"),
    ("verify_replay.c", "what is written over a part is written",
     "while (part != NONE && part != k) part = c->before[part];\n    if (part == k) return;",
     "if (was_written(c, k)) return;", SLICES),
    ("verify_replay.c", "reads find their value",
     "wrong = check_held(c, memory, step->name, step->reads[j]);", "wrong = NULL;"),
    ("verify_replay.c", "the end finds what is kept",
     "wrong = check_held(c, memory, \"the end\", k);", "wrong = NULL;"),
    ("verify_program.c", "as many buffers as values",
     "a->plan->buffer_count != a->g->value_count", "false"),
    ("verify_program.c", "buffers are as the program says",
     "!is_value(a, v, &a->plan->buffers[v])", "v < 0 && !is_value(a, v, NULL)"),
    ("verify_program.c", "names lie where the program says",
     "buffers[v].offset - within.start != whole->offset ||\n", "\n", SLICES),
    ("verify_program.c", "names have the rows that the program says",
     "buffers[v].rows != (within.rows > 0 ? within.rows : whole->rows)", "false",
     SLICES),
    ("verify_program.c", "slices where launches take them",
     "!may_have_rows(may[v], a->plan->buffers[v].rows)", "v < 0", SLICES),
    ("verify_program.c", "the layout of the state",
     "in_order && end == a->plan->state_bytes", "end >= 0 || in_order"),
    ("verify_program.c", "reads and writes of the launch",
     "if (i == NONE && reads == step->read_count && writes == step->write_count)\n"
     "        return NULL;",
     "if (reads >= 0) return NULL;"),
    ("verify_program.c", "a step for each launch",
     "is_launch(&a->nodes[i]) && !found[i]", "i < 0"),
    ("verify_program.c", "a launch for each step", "if (i == NONE || found[i])\n",
     "if (i == NONE || found[i]) continue;\n        if (i == NONE)\n"),
    ("verify_program.c", "updates in order", "if (late)", "if (late && i < 0)"),
]


def compile_files(folder, files, *options):
    objects = []
    for file in files:
        objects.append(os.path.join(folder, os.path.basename(file)[:-2] + ".o"))
        subprocess.run([compiler, "-std=c17", "-O1", "-w", *options, "-c", file, "-o",
                        objects[-1]], check=True)
    return objects


def is_whole(rule):
    """Whether the plan is held against the program too."""
    return bool(rule) and (rule[0] == "verify_program.c" or WHOLE in rule)


def program_without(folder, rule, common):
    """corrupt_plans with a second checker that lacks the rule."""
    planted, rest = rule[0] if rule else "", rule[2:4] if rule else None
    for name in FILES:
        with open(os.path.join(root, "ir", name)) as file:
            text = file.read()
        if name == planted:
            assert text.count(rest[0]) == 1, f"{rule[1]}: no such text in {name}"
            text = text.replace(rest[0], rest[1])
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    with open(os.path.join(folder, "second.c"), "w") as file:
        file.write('#include "second.h"\n#include "ir.h"\n'
                   "const char *second_checker(Arena *arena, const Graph *g, const Plan *plan)\n"
                   "{\n    (void)g;\n    return "
                   + ("verify_program(arena, g, plan)" if is_whole(rule) else "verify_plan(arena, plan)")
                   + ";\n}\n")
    # An overflow is a crash.
    renamed = [f"-D{name}=second_{name}" for name in NAMES]
    renamed += ["-fsanitize=signed-integer-overflow", "-fsanitize-undefined-trap-on-error"]
    objects = compile_files(folder, [os.path.join(folder, f) for f in FILES + ["second.c"]],
                            *renamed, "-I", os.path.join(root, "ir"), "-I", here)
    program = os.path.join(folder, "corrupt_plans")
    subprocess.run([compiler, *common, *objects,
                    os.path.join(build, "testsuite", "libunit_helpers.a"),
                    os.path.join(build, "libcore.a"), "-lm", "-o", program], check=True)
    return program


def look(program, rule):
    """What check_corruptions.py says of what the second checker lets through."""
    whole = is_whole(rule)
    nets = ["slices"] if rule and SLICES in rule else NETS
    run = ["digits", "batchnorm", "slices"] if whole else []
    return subprocess.run(
        [sys.executable, os.path.join(here, "check_corruptions.py"), build, host,
         os.path.join(root, "testsuite"), os.path.join(root, "examples"), "40000", "-1",
         "1" if whole else "0", *run, "--first", "--program", program, "--nets", *nets],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        common = compile_files(folder, [os.path.join(here, "corrupt.c"),
                                        os.path.join(here, "copy.c"),
                                        os.path.join(here, "planned.c"),
                                        os.path.join(here, "spoil.c"),
                                        os.path.join(here, "spoil_buffers.c"),
                                        os.path.join(here, "spoil_launches.c")],
                               "-I", os.path.join(root, "frontend"),
                               "-I", os.path.join(root, "codegen"))
        for rule in [None, *RULES]:
            if not re.search(only, rule[1] if rule else "nothing"):
                continue
            said = look(program_without(folder, rule, common), rule)
            line = next((s for s in said.stdout.splitlines() if s.startswith("FAILED")), "")
            right = bool(line) == bool(rule) and said.returncode in (0, 1)
            failed += not right
            print("ok    " if right else "WRONG ", rule[1] if rule else "nothing", "|", line[8:],
                  flush=True)
            if not right:
                print(said.stdout)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
