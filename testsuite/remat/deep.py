#!/usr/bin/env python3
"""The 1001-layer ResNet in a tenth of its arena, and in less.

    deep.py CNNC ROOT FOLDER

Every plan is sound and within its budget, and a smaller budget costs no less. Says how many
processor seconds each takes. FOLDER is for plans.
"""
import json
import os
import resource
import subprocess
import sys

cnnc, root, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
checker = os.path.join(root, "testsuite", "plan_check.py")
MIB = 1 << 20
failed = []


def plan(net, name, *options):
    """A plan that its checker calls sound, and the processor's seconds that it took."""
    path = os.path.join(folder, name + ".json")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([cnnc, os.path.join(root, "examples", net, net + ".cnn"), "--batch", "64",
                    "--emit", "plan", "-o", path, *options], check=True)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    subprocess.run([sys.executable, checker, path], check=True)
    with open(path) as file:
        return json.load(file), seconds


def check(what, holds):
    print(("holds: " if holds else "FAILS: ") + what)
    if not holds:
        failed.append(what)


for net, smallest in (("resnet1001", 276 * MIB), ("resnet1202", 276 * MIB)):
    whole, _ = plan(net, net)
    arena = whole["arena_bytes"]
    flops = sum(step["flops"] for step in whole["steps"])
    check(f"{net} takes {arena} bytes where nothing runs again", arena > 4 << 30)
    last = 0
    for budget in (arena // 2, arena // 10, smallest):
        budgeted, seconds = plan(net, f"{net}-{budget}", "--budget", str(budget))
        more = sum(step["flops"] for step in budgeted["steps"]) - flops
        check(f"{net} in {budget} bytes: {budgeted['arena_bytes']}, FLOPs +{100 * more / flops:.1f} %",
              budgeted["arena_bytes"] <= budget and more >= last)
        print(f"    {seconds:.1f} s")
        last = more
sys.exit(len(failed))
