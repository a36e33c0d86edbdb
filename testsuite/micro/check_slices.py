#!/usr/bin/env python3
"""A training step in slices is the whole one.

    check_slices.py BUILD NET.cnn BATCH SAMPLES SLICE [OPTION...] [--sliced OPTION...]
    check_slices.py BUILD NET.cnn BATCH SAMPLES SLICE --accumulate
    check_slices.py BUILD NET.cnn BATCH SAMPLES SLICE --planted

Runs three training steps in double from the same weights on the same batch, of which SAMPLES are
there. Figures, gradients, weights and the optimizer's state must agree within 1e-9, by norm,
between the whole batch and SLICE samples at a time.  The plans must be sound, and the host runtime
holds every launch to them, with dead bytes NaN.

Options after --sliced are for the net in slices alone.

--accumulate: the slices are batches of which the train section has BATCH / SLICE accumulated.

--planted: the faults of mutants.txt wait in the emitted file for their number in PLANTED.  Without
one all agrees; with each of them something must not, or the host runtime must refuse a launch.
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from mutants import PLANTED_FAULT, Edit, Mutant, mutants_of, with_all  # noqa: E402

CXX = os.environ.get("CXX", "clang++")

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
build, net, batch, samples, slice_ = sys.argv[1:6]
options = [option for option in sys.argv[6:] if option not in ("--planted", "--accumulate")]
sliced_options = options[options.index("--sliced") + 1:] if "--sliced" in options else []
options = options[:options.index("--sliced")] if "--sliced" in options else options
planted, accumulates = "--planted" in sys.argv, "--accumulate" in sys.argv
TOOLS, faults = "", []


def run(*command, **more):
    result = subprocess.run(command, check=False, text=True, capture_output=True, **more)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}: {result.stdout}{result.stderr}")
    return result.stdout


def compile_net(name, file, *more):
    cnnc = [os.path.join(build, "cnnc"), "--precision", "f64", "-fkeep-gradients", *options, *more,
            file]
    run(*cnnc, "--main", "-o", name + ".cu")
    for mode in ["train", "eval"]:
        run(*cnnc, "--mode", mode, "--emit", "plan", "-o", f"{name}.{mode}.json")
        run("python3", os.path.join(ROOT, "testsuite", "plan_check.py"), f"{name}.{mode}.json")


# The net with that setting, as a file of the same name.
def accumulating():
    with open(net, encoding="utf-8") as file:
        text = file.read()
    name = os.path.basename(net)
    setting = f"train {{\n    accumulate = {int(batch) // int(slice_)}"
    with open(name, "w", encoding="utf-8") as out:
        out.write(re.sub(r"(?m)^train \{", setting, text, count=1))
    return name


def plant(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for mutant in mutants_of("micro.vgg"):
        mutant.edits[0].new = mutant.edits[0].new.replace("%SLICE%", slice_)
        faults.append(mutant)
    again = Mutant("a step of a slice again", "emitted", edits=[step_again(text)])
    faults.append(again)
    with open(path, "w", encoding="utf-8") as out:
        out.write(PLANTED_FAULT + with_all(text, faults))


# The third step's text, and the second's before it once more.
def step_again(text):
    steps = re.findall(r"^    STEP\([12],.*?;$", text, re.M | re.S)
    return Edit("emitted", steps[1], f"if (@) {{ {steps[0]} }}\n{steps[1]}")


def link(name):
    run(CXX, "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-I",
        os.path.join(ROOT, "runtime", "host"), "-x", "c++", name + ".cu", "-x", "none",
        os.path.join(build, "libcnnc_host.a"), "-lpthread", "-o", name)


def draw():
    rows = re.sub(rf"(?m)^(input \S+ \S+ ){batch}(?=[x ])", rf"\g<1>{samples}",
                  run("./whole", "info", "--tensors"))
    run(os.path.join(TOOLS, "random_tensors"), "--seed", "3", "--weights", "weights", "--batch",
        "drawn", input=rows)


def train(name, fault=None):
    env = dict(os.environ, CNNC_HOST_PLAN=f"{name}.train.json:{name}.eval.json")
    if fault is not None:
        env["PLANTED"] = str(fault)
    return subprocess.run([f"./{name}", "step", "--seed", "3", "--load", "weights", "--steps", "3",
                           "--batch", "drawn", "--save", name + ".out"], env=env, text=True,
                          capture_output=True, check=False)


def compare():
    return subprocess.run([os.path.join(TOOLS, "compare_tensors"), "whole.out", "sliced.out",
                           "--tolerance", "1e-9", "--names-from-b"], text=True,
                          capture_output=True, check=False)


def arena(name):
    with open(name + ".train.json", encoding="utf-8") as file:
        return int(re.search(r'"arena_bytes": (\d+)', file.read()).group(1))


def check_faults():
    missed = []
    for number, fault in enumerate(faults):
        caught = train("sliced", number).returncode != 0 or compare().returncode != 0
        print(f"{'caught' if caught else 'MISSED'}: {fault.name}")
        if not caught:
            missed.append(fault)
    return not missed


def main():
    global build, net, TOOLS
    build, net = os.path.abspath(build), os.path.abspath(net)
    TOOLS = os.path.join(build, "testsuite")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        compile_net("whole", net, "--batch", batch)
        if accumulates:
            compile_net("sliced", accumulating(), "--batch", slice_)
        else:
            compile_net("sliced", net, "--batch", batch, "--microbatch", slice_, *sliced_options)
        if planted:
            plant("sliced.cu")
        for name in ["whole", "sliced"]:
            link(name)
        draw()
        for name in ["whole", "sliced"]:
            result = train(name)
            if result.returncode != 0:
                sys.exit(f"{name}: {result.stdout}{result.stderr}")
        result = compare()
        print(f"arena {arena('whole')} at once, {arena('sliced')} by {slice_};", result.stdout, end="")
        if result.returncode != 0 or (planted and not check_faults()):
            sys.exit(1)


main()
