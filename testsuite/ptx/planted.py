#!/usr/bin/env python3
"""Faults planted in the PTX of a net, each of which a training step on the CPU must find.

    planted.py BUILD NET.cnn MOST [OPTION...]

The commit draws SAMPLE and SHORT of these faults; MUTANTS=all plants all.

The faults are in statements that a step executes. A barrier, a fence or a commit is deleted. A
thread of a block that votes gets its own vote. One more copy is left under way. Words of a fragment
are swapped, a matrix is transposed, an address is moved. Each barrier, fence and vote is a fault in
turn. Each kernel gets MOST of each other kind. A fault is found if the step fails, or if a launch
leaves other bytes than the host's C++.

The plan has faults too: a buffer is shorter there, so that a step's accesses leave it, though not
the arena.

A fault that changes nothing is left out: EXEMPT has the places and the reasons.
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "tools"))
from changed import drawn  # noqa: E402

SAMPLE, SHORT = 12, 2   # faults in PTX, and in the plan


def swapped(line, first, second):
    """The line with two of its registers exchanged; None if they are the same."""
    words = re.findall(r"%\w+", line)
    if words[first] == words[second]:
        return None
    pieces = re.split(r"(%\w+)", line)
    a, b = 2 * first + 1, 2 * second + 1
    pieces[a], pieces[b] = pieces[b], pieces[a]
    return "".join(pieces)


def faults_in(line):
    """Names and texts of the faults that a line of PTX can have."""
    if re.search(r"\bbar\.sync", line):
        yield "a barrier lost", ""
    if "bar.red.or.pred" in line:
        yield "a vote lost", re.sub(r"bar\.red\.or(\.pred\s+%\w+,) \d+,", r"mov\1", line)
    if re.search(r"\bmembar\.gl", line):
        yield "a fence lost", ""
    if "cp.async.commit_group" in line:
        yield "a commit lost", ""
    wait = re.search(r"cp\.async\.wait_group\s+(\d+)", line)
    if wait:
        yield "a copy too many under way", line.replace(wait[1] + ";", f"{int(wait[1]) + 1};")
    if "mma.sync" in line:
        yield "words of a exchanged", swapped(line, 5, 6)
        yield "words of b exchanged", swapped(line, 8, 9)
    if "ldmatrix" in line:
        yield "words of a matrix exchanged", swapped(line, 0, 1)
        other = line.replace(".trans", "") if ".trans" in line else \
            line.replace(".shared", ".trans.shared")
        yield "a matrix transposed", other
    if re.search(r"\bst\.shared\.[fub]32", line):
        yield "an address moved", re.sub(r"\[(%\w+)(?:\+(\d+))?\]",
                                         lambda m: f"[{m[1]}+{int(m[2] or 0) + 4}]", line)


def step(work, ptx, **more):
    """True if a step with this PTX shows no fault; its messages."""
    environment = {**os.environ, "CNNC_HOST_PTX": ptx, "CNNC_HOST_PTX_BOTH": "1",
                   "CNNC_HOST_PTX_RACES": "1", "CNNC_HOST_PTX_FENCES": "1",
                   "CNNC_HOST_PLAN": f"{work}/train.json:{work}/eval.json"}
    environment.update(more)
    done = subprocess.run([f"{work}/net", "step", "--seed", "1", "--load", f"{work}/weights",
                           "--steps", "1", "--batch", f"{work}/batch", "--save", f"{work}/saved"],
                          env=environment, capture_output=True, text=True, check=False)
    return done.returncode == 0 and "words differ" not in done.stderr, done.stderr


def kernels_of(lines):
    """The first line of the kernel that each line is in."""
    first = ""
    for line in lines:
        first = line if ".entry" in line or line.startswith(".func") else first
        yield first


# Names of faults, kernels, and the text after the line: none of these faults changes a byte.
EXEMPT = (
    ("words|transposed", "logits_shape", "", "columns, rows or terms that are zeros"),
    ("barrier", "", r"^(?!.*\batom).*column_totals", "it opens a function that runs once"),
    ("barrier", "find_overflow", "membar", "others store zeros over zeros"),
    ("vote", "find_overflow", "", "no gradient overflows; one thread's do in half.scale.all"),
    ("barrier|fence", "AdvanceStep", "", "the last block reads nothing of the others"),
)


def is_waited_for(lines, number):
    """True if a wait for copies can run after this line, a commit."""
    seen, ways = set(), [number]
    while ways:
        at = ways.pop()
        line = lines[at]
        if "cp.async.wait" in line:
            return True
        to = re.search(r"\bbra(?:\.uni)?\s+(\$\w+);", line)
        nexts = [lines.index(to[1] + ":")] if to else []
        if not re.search(r"^\s*(ret|bra)\b|^}", line):
            nexts.append(at + 1)
        ways += [n for n in nexts if n not in seen]
        seen.update(nexts)
    return False


def counts(name, kernel, after):
    """False if a fault of this name changes nothing in this kernel before this text."""
    return not any(re.search(faults, name) and re.search(kernels, kernel) and
                   re.search(text, after, re.DOTALL) for faults, kernels, text, _ in EXEMPT)


def choose(lines, executed, most):
    """Faults as their line's number, name and text. Kernels that run once are of evaluation, whose
    figures a step does not save. A grid of one block has nobody to talk to. Groups of no copies
    are waited for in vain, and nobody waits after the last commit."""
    kernels, by_kind = list(kernels_of(lines)), {}
    copying = {kernels[n - 1] for n, *_ in executed if re.search(r"cp\.async\.c[ag]", lines[n - 1])}
    for number, launches, blocks, *_ in executed:
        for name, text in faults_in(lines[number - 1]) if number and launches > 1 else ():
            kernel = kernels[number - 1]
            after = "\n".join(lines[number:number + 10])
            alone = blocks == 1 and ("fence" in name or "membar" in after)
            idle = "cp.async" in lines[number - 1] and kernel not in copying or \
                "commit" in name and not is_waited_for(lines, number)
            if text is not None and not alone and not idle and counts(name, kernel, after):
                by_kind.setdefault((kernel, name), []).append((number, name, text))
    for (_, name), faults in by_kind.items():
        if name not in ("a barrier lost", "a fence lost", "a vote lost") and len(faults) > most:
            faults = random.Random(name).sample(faults, most)
        yield from faults


def plans_with_a_short_buffer(work):
    """Names of buffers that kernels use to the end, and the path of a plan where each is shorter.
    A product of cuBLAS has no PTX."""
    with open(f"{work}/train.json") as file:
        plan = json.load(file)
    used = [buffer for buffer in plan["buffers"]
            if buffer["kind"] in ("param", "input", "activation") and buffer["bytes"] > 512]
    for buffer in drawn(HERE, used, SHORT, lambda buffer: buffer["name"]):
        with open(f"{work}/short.json", "w") as file:
            json.dump({**plan, "buffers": [
                {**b, "bytes": b["bytes"] - 64} if b is buffer else b
                for b in plan["buffers"]]}, file)
        yield buffer["name"], f"{work}/short.json"


def main():
    build, net, most, *options = sys.argv[1:]
    with tempfile.TemporaryDirectory() as work:
        made = subprocess.run([f"{HERE}/prepare", build, net, work, *options], check=False)
        if made.returncode:
            return made.returncode
        with open(f"{work}/net.ptx") as file:
            lines = file.read().split("\n")
        sound, said = step(work, f"{work}/net.ptx", CNNC_HOST_PTX_LINES=f"{work}/lines")
        if not sound:
            print(f"a step fails without a fault: {said}")
            return 1
        with open(f"{work}/lines") as file:
            executed = [[int(word) for word in line.split()] for line in file]
        results, missed = {}, 0
        faults = list(choose(lines, executed, int(most)))
        for number, name, text in drawn(HERE, faults, SAMPLE):
            with open(f"{work}/planted.ptx", "w") as file:
                file.write("\n".join([*lines[:number - 1], text, *lines[number:]]))
            found = not step(work, f"{work}/planted.ptx")[0]
            of = results.setdefault(name, [0, 0])
            of[0] += found
            of[1] += 1
            missed += not found
            if not found:
                print(f"not found: {name}, line {number}: {lines[number - 1].strip()}", flush=True)
        for name, path in plans_with_a_short_buffer(work):
            sound, said = step(work, f"{work}/net.ptx",
                               CNNC_HOST_PLAN=f"{path}:{work}/eval.json")
            of = results.setdefault("a buffer shorter", [0, 0])
            found = not sound and "no memory of this launch" in said
            of[0] += found
            of[1] += 1
            missed += not found
            if not found:
                print(f"not found: a shorter {name}: {said}", flush=True)
        for name, (found, of) in sorted(results.items()):
            print(f"{name}: {found} of {of} found")
        return missed > 0


sys.exit(main())
