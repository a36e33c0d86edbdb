#!/usr/bin/env python3
"""Checks the effect of the program's marks on a training step.

    check_marks.py CNNC NET.cnn...

The first lines of a net give its options and the expected results:

    # run: OPTIONS
    # again: NAMES          the launches that are recomputed, in order; nothing: none does
    # arena: BYTES          of the training step's plan, if it is said

The programs of every net for evaluation and inference are those of the net without marks. With
--checkpoint off so is the training step, except the marks themselves.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

cnnc, *nets = sys.argv[1:]


def compile_net(net, *options):
    """The output of cnnc; it must succeed."""
    return subprocess.run([cnnc, *options, net], check=True, stdout=subprocess.PIPE,
                          text=True).stdout


def runs(text):
    """(options, launches, arena or None) of each run."""
    found = []
    for key, value in re.findall(r"^# (run|again|arena):(.*)$", text, re.M):
        if key == "run":
            found.append([value.split(), None, None])
        elif key == "again":
            found[-1][1] = value.split()
        else:
            found[-1][2] = int(value)
    return found


def check_runs(net, text):
    for options, again, arena in runs(text):
        plan = json.loads(compile_net(net, "--emit", "plan", *options))
        made = [s["name"].removesuffix(".again") for s in plan["steps"]
                if s["phase"] == "recompute"]
        what = f"{net} {' '.join(options)}:"
        assert again is not None, f"{what} no '# again:'"
        assert made == again, f"{what} again {' '.join(made)}"
        assert arena in (None, plan["arena_bytes"]), f"{what} arena {plan['arena_bytes']}"


def without_places(graph):
    """The rest of a pipe stands elsewhere without a mark before it."""
    return re.sub(r" @\d+:\d+\+\d+", "", graph)


def check_other_programs(net, text, folder):
    plain = os.path.join(folder, "plain.cnn")
    with open(plain, "w") as file:
        file.write(re.sub(r"^ *checkpoint .*$| *-> checkpoint\b", "", text, flags=re.M))
    for mode in "eval", "infer", "train":
        options = ["--mode", mode, "--emit", "ir", "--checkpoint", "off"]
        marked = compile_net(net, *(options if mode == "train" else options[:-2]))
        if mode == "train":
            assert " marked" in marked, f"{net}: nothing is marked"
            marked = marked.replace(" marked", "")
        plain_graph = compile_net(plain, *options)
        assert without_places(marked) == without_places(plain_graph), \
            f"{net}: another program in mode {mode}"


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for net in nets:
            with open(net) as file:
                text = file.read()
            try:
                check_runs(net, text)
                check_other_programs(net, text, folder)
            except (AssertionError, subprocess.CalledProcessError) as fault:
                print(fault, flush=True)
                failed += 1
    print(len(nets) - failed, "of", len(nets), "nets")
    return 1 if failed or not nets else 0


if __name__ == "__main__":
    sys.exit(main())
