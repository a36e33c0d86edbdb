#!/usr/bin/env python3
"""Plants faults in refusals of budgets, each found by check_smallest.py.

    planted_smallest.py BUILD ROOT CC

FAULT in the environment chooses those with that text in their names.
"""
import os
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "marks"))
from planted import compiler_with, look, looks, only, root  # noqa: E402

# By name: the net where it shows, a file, a text in it, and the replacement.
FAULTS = {
    "nothing": ("late.cnn -fno-batch-split", None),
    "schedule's order alone":
        ("late.cnn -fno-batch-split", ("passes/decide/decide_remat.c", "if (least >= ", "if (true || least >= ")),
    "updates where the program has them":
        ("late.cnn -fno-batch-split", ("passes/remat/source_order.c", "w->g->nodes[to].phase != UPDATE",
                      "w->g->nodes[to].phase == UPDATE")),
}


def main():
    failed = 0
    if looks:
        return look(root, {name: fault for name, (_, fault) in FAULTS.items()})
    for name, (net, fault) in FAULTS.items():
        if only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, os.path.join(here, "check_smallest.py"),
                                   compiler_with(folder, fault), os.path.join(here, net)],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        caught = done.returncode != 0
        failed += caught != (fault is not None)
        print(f"{name}: {'caught' if caught else 'not caught'}", flush=True)
        if caught and not fault:
            print(done.stdout)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
