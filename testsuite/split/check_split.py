#!/usr/bin/env python3
"""A net whose maps exist in slices of the batch is the whole one.

    check_split.py BUILD NET.cnn BATCH SAMPLES [OPTION...] -- OPTIONS [-- OPTIONS...]

Runs three training steps in double from the same weights on the same batch, of which SAMPLES are
there. Figures, gradients, weights and the optimizer's state must agree within 1e-9, by norm,
between the plain net and each set of OPTIONS. Each set must split the net. The plans must be sound,
and the host runtime holds every launch to them, with dead bytes NaN.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

CXX = os.environ.get("CXX", "clang++")

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def run(*command, **more):
    result = subprocess.run(command, check=False, text=True, capture_output=True, **more)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}: {result.stdout}{result.stderr}")
    return result.stdout


class Net:
    """Programs of one net, in the current folder."""

    def __init__(self, build, net, batch):
        self.build, self.net, self.batch = os.path.abspath(build), os.path.abspath(net), batch
        self.tools = os.path.join(self.build, "testsuite")

    def make(self, name, options):
        """The program NAME, and its plans as NAME.MODE.json."""
        cnnc = [os.path.join(self.build, "cnnc"), "--precision", "f64", "-fkeep-gradients",
                "--batch", self.batch, *options, self.net]
        run(*cnnc, "--main", "-o", name + ".cu")
        for mode in ["train", "eval"]:
            run(*cnnc, "--mode", mode, "--emit", "plan", "-o", f"{name}.{mode}.json")
            run("python3", os.path.join(ROOT, "testsuite", "plan_check.py"), f"{name}.{mode}.json")
        run(CXX, "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-I",
            os.path.join(ROOT, "runtime", "host"), "-x", "c++", name + ".cu", "-x", "none",
            os.path.join(self.build, "libcnnc_host.a"), "-lpthread", "-o", name)

    def draw(self, samples):
        """Weights, and a batch of the given samples."""
        rows = re.sub(rf"(?m)^(input \S+ \S+ ){self.batch}(?=[x ])", rf"\g<1>{samples}",
                      run("./whole", "info", "--tensors"))
        run(os.path.join(self.tools, "random_tensors"), "--seed", "3", "--weights", "weights",
            "--batch", "drawn", input=rows)

    def train(self, name):
        env = dict(os.environ, CNNC_HOST_PLAN=f"{name}.train.json:{name}.eval.json")
        run(f"./{name}", "step", "--seed", "3", "--load", "weights", "--steps", "3", "--batch",
            "drawn", "--save", name + ".out", env=env)

    def compare(self, a, b):
        return subprocess.run([os.path.join(self.tools, "compare_tensors"), a, b, "--tolerance",
                               "1e-9", "--names-from-b"], text=True, capture_output=True,
                              check=False)


def slices(name):
    """Launches that take slices, of a training step, and those that copy them."""
    with open(name + ".train.json", encoding="utf-8") as file:
        steps = json.load(file)["steps"]
    split = [step["name"] for step in steps if ".slice_" in step["name"]]
    return split, [step["name"] for step in steps if step["op"] == "slice_batch"]


def main():
    build, path, batch, samples, *words = sys.argv[1:]
    net, sets, common = Net(build, path, batch), [], []
    for word in words:
        if word == "--":
            sets.append([])
        else:
            (sets[-1] if sets else common).append(word)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        net.make("whole", common)
        net.draw(samples)
        net.train("whole")
        for options in sets:
            net.make("split", [*common, *options])
            net.train("split")
            split, copies = slices("split")
            said = net.compare("whole.out", "split.out")
            print(f"{' '.join(options)}: {len(split)} launches take slices, {len(copies)} copy one; "
                  f"{said.stdout}", end="")
            if said.returncode != 0 or not split:
                sys.exit("FAILED")


if __name__ == "__main__":
    main()
