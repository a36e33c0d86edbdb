#!/usr/bin/env python3
"""The plans of a net: sound, and smaller with every pass.

    check_plans.py CNNC PLAN_CHECK NET.cnn

plan_check.py is asked for modes train, eval and infer, the net's own batch, 1
and 33, all passes and none. The rows of --compare never grow, and the last is
the plan's arena; the savings of rows add up. With all passes and --prefer memory, training
and inference at the net's own batch take no more than their bounds. A net named
`deep` stands for one of a thousand layers.
"""
import json
import os
import subprocess
import sys
import tempfile

cnnc, checker, net = sys.argv[1:]

DEEP = """net deep {
    input image : f32[8, 8, 4]
    input label : class[10]
    x = image
    repeat 1000 { x = x -> conv(4, 3) -> relu }
    logits = x -> flatten -> dense(10)
    output logits
    loss softmax_cross_entropy(logits, label)
    metric accuracy(logits, label)
}
train { batch = 4  optimizer = sgd(lr = 0.01, momentum = 0.9) }
"""


def output(*arguments):
    return subprocess.run([cnnc, *arguments, net], check=True, stdout=subprocess.PIPE,
                          text=True).stdout


def check_soundness(folder):
    files = []
    for mode in "train", "eval", "infer":
        for level in "-O0", "-O1", "-O2":
            for batch in [], ["--batch", "1"], ["--batch", "33"]:
                name = os.path.join(folder, "-".join([mode, level, *batch]) + ".json")
                with open(name, "w") as file:
                    file.write(output(level, "--mode", mode, *batch, "--emit", "plan"))
                files.append(name)
    return subprocess.run([sys.executable, checker, *files]).returncode


def bound_fault(plan):
    gap = plan["arena_bytes"] - plan["max_live_bytes"]
    return f"{plan['mode']}: the arena is {gap} bytes above its bound" if gap else None


def check_bounds():
    faults = []
    for mode in "train", "infer":
        plan = json.loads(output("--mode", mode, "--prefer", "memory", "--emit", "plan"))
        faults.append(bound_fault(plan))
        plan["arena_bytes"] = plan["max_live_bytes"] + 256
        if not bound_fault(plan):
            faults.append("256 bytes above is no fault")
    for fault in filter(None, faults):
        print(fault)
    return 1 if any(faults) else 0


def adds_up(rows):
    """Each row's bytes saved and share, and in the last their sums."""
    sizes = [int(row[1]) for row in rows]
    for i, row in enumerate(rows[1:], 1):
        saved = sizes[0 if i == len(rows) - 1 else i - 1] - sizes[i]
        if row[3:] != [str(saved), f"{100 * saved / sizes[0]:.1f}%"]:
            return False
    return rows[-1][0] == "all" and rows[0][0] == "none" and len(rows[0]) == 3


def check_compare():
    rows = [line.removeprefix("+ ").split() for line in output("--compare").splitlines()[1:]]
    rows = [row[:2] + row[3:] for row in rows]
    other = [row[:] for row in rows]
    other[1][3] = str(int(other[1][3]) + 1)
    if not adds_up(rows) or adds_up(other):
        print("what --compare says is saved does not add up, or need not:", *rows)
        return 1
    sizes = [(row[0], int(row[1])) for row in rows]
    arenas = [size for _, size in sizes]
    arena = json.loads(output("--emit", "plan"))["arena_bytes"]
    print("--compare:", *arenas)
    # Where nothing shares bytes yet, a value that a pass keeps in place of another adds to it.
    # --prefer balanced adds at most a twentieth.
    if any(after[1] > before[1] * (1.05 if after[0] == "prefer" else 1.01)
           for before, after in zip(sizes, sizes[1:])):
        print("a pass makes the arena larger")
        return 1
    if arenas[-1] != arena:
        print(f"the last row is {arenas[-1]}, the plan's arena {arena}")
        return 1
    return 0


with tempfile.TemporaryDirectory() as scratch:
    if net == "deep":
        net = os.path.join(scratch, "deep.cnn")
        with open(net, "w") as source:
            source.write(DEEP)
    sys.exit(check_soundness(scratch) | check_compare() | check_bounds())
