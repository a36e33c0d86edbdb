#!/usr/bin/env python3
"""The plans of a net: sound, and smaller with every pass.

    check_plans.py CNNC PLAN_CHECK NET.cnn

plan_check.py is asked for modes train, eval and infer, the net's own batch, 1
and 33, all passes and none. The rows of --compare never grow, and the last is
the plan's arena. A net named `deep` stands for one of a thousand layers.
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


def check_compare():
    rows = [line.split() for line in output("--compare").splitlines()[1:]]
    arenas = [int(row[2 if row[0] == "+" else 1]) for row in rows]
    arena = json.loads(output("--emit", "plan"))["arena_bytes"]
    print("--compare:", *arenas)
    if sorted(arenas, reverse=True) != arenas:
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
    sys.exit(check_soundness(scratch) | check_compare())
