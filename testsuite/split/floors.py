#!/usr/bin/env python3
"""The smallest arenas of nets whose stems are large, with slices of the batch and without.

    floors.py CNNC ROOT

A budget between the two is refused without slices and met with them, by a sound plan.
"""
import os
import re
import subprocess
import sys
import tempfile

CASES = [("vgg16", "64", "train"), ("vgg16", "64", "infer"), ("unet", "8", "train"),
         ("unet", "8", "infer")]


def compile_net(cnnc, net, *options):
    return subprocess.run([cnnc, *options, net], check=False, text=True, capture_output=True)


def smallest(cnnc, net, *options):
    said = compile_net(cnnc, net, "--budget", "1", "--emit", "plan", *options).stderr
    return int(re.search(r"smallest arena found for it, at batch \d+, has (\d+) bytes", said)[1])


def main():
    cnnc, root = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    failed = 0
    for name, batch, mode in CASES:
        net = os.path.join(root, "examples", name, name + ".cnn")
        options = ["--batch", batch, "--mode", mode]
        whole = smallest(cnnc, net, *options, "-fno-batch-split")
        sliced = smallest(cnnc, net, *options)
        budget = (whole + sliced) // 2
        plan = [*options, "--budget", str(budget), "--emit", "plan"]
        refused = compile_net(cnnc, net, *plan, "-fno-batch-split").returncode == 4
        with tempfile.NamedTemporaryFile() as file:
            met = compile_net(cnnc, net, *plan, "-o", file.name).returncode == 0
            sound = met and subprocess.run(
                [sys.executable, os.path.join(root, "testsuite", "plan_check.py"), file.name],
                check=False, capture_output=True).returncode == 0
        right = sliced < whole and refused and sound
        print(f"{name} {mode} at batch {batch}: {whole} bytes, {sliced} with slices; "
              f"{budget} {'refused without, met with' if right else 'FAILED'}", flush=True)
        failed += not right
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
