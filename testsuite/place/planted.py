#!/usr/bin/env python3
"""Faults planted in the search for addresses, each found by the unit test.

    planted.py BUILD ROOT CC
"""
import os
import subprocess
import sys
import tempfile

build, root, compiler = (os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3])
only = os.environ.get("FAULT", "")

# What is planted: a file, a text, and what stands there instead.
FAULTS = {
    "nothing": None,
    "a section keeps a byte free":
        ("place_blocks.c", "section->need <= s->capacity", "section->need < s->capacity"),
    "all twins are tried":
        ("place_tree.c", "fits = !twin_failed(s, block) &&", "fits = "),
    "a twin that has its place counts":
        ("place_tree.c", "!s->blocks[i].placed && s->blocks[i].low >",
         "s->blocks[i].low >="),
    "a section ends only where something begins":
        ("place_blocks.c", "(begun && ends[step])", "(begun && ends[step] && begins[step])"),
    "the ground is not put back":
        ("place_blocks.c", "set(s, &other->ground, top);", "other->ground = top;"),
    "what a section needs is not put back":
        ("place_blocks.c", "s->sections[t].need += b->size;\n        s->sections[t].across += t",
         "s->sections[t].across += t"),
    "a support lies higher than it is":
        ("place_tree.c", "support = low + other->size;", "support = low + other->size + 1;"),
    "what is in the way must be lower":
        ("place_tree.c", "return in_way < top &&", "return in_way + 1 < top &&"),
    "the roof is a byte lower":
        ("place_tree.c", "return lowest < roof ||", "return lowest + 1 < roof ||"),
    "parts come apart too early":
        ("place_tree.c", "sections[t].across > 0) continue;", "sections[t].across > 1) continue;"),
    "work that is spent is a proof":
        ("place_search.c", "if (verdict != IMPOSSIBLE) return false;", ""),
    "joined blocks lie in the same bytes":
        ("place_search.c", " + s->within[i];", ";"),
    "work is not counted":
        ("place_search.c", "s->p->work -= work - s->work;", ""),
    "the clock is not looked at":
        ("place.c", "if (!p->is_late()) return false;", "return false;"),
    "time that is up is worth a placement":
        ("place_gaps.c", "return INT64_MAX;", "return top;"),
}


def unit_test(folder, fault):
    """test_place with the fault, linked before the library that has the right file."""
    files = [os.path.join(root, "testsuite", "unit", "test_place.c")]
    if fault:
        name, old, new = fault
        with open(os.path.join(root, "passes", name)) as file:
            text = file.read()
        assert text.count(old) == 1, f"no such text in {name}: {old}"
        files.append(os.path.join(folder, name))
        with open(files[-1], "w") as file:
            file.write(text.replace(old, new))
    program = os.path.join(folder, "test_place")
    subprocess.run([compiler, "-std=c17", "-O2", "-w", "-iquote", os.path.join(root, "passes"),
                    *files, os.path.join(build, "testsuite", "libunit_helpers.a"),
                    os.path.join(build, "libcore.a"), "-lcmocka", "-lm", "-o", program],
                   check=True)
    return program


def is_caught(program):
    """A test that takes far longer than it should has failed as well."""
    try:
        done = subprocess.run([program], capture_output=True, timeout=60)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def main():
    failed = 0
    for name, fault in FAULTS.items():
        if only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            caught = is_caught(unit_test(folder, fault))
        if caught != (fault is not None):
            failed += 1
        print(f"{name}: {'caught' if caught else 'not caught'}", flush=True)
    return failed


sys.exit(main())
