#!/usr/bin/env python3
"""A pass may not change one bit of what an inference program computes.

    same_inference.py BUILD HOST TESTS CNNC PASS PRECISION,... NET.cnn... [-- OPTIONS...]

Each net is compiled for inference in each precision, with the pass and without. Both programs
predict for two samples with random weights, and their outputs must be the same bytes. A net that
the pass does not change is an error. OPTIONS are those of cnnc. An option of cnnc may stand for
PASS: it must not change one bit either."""
import array
import math
import os
import random
import re
import subprocess
import sys
import tempfile

build, host, tests, cnnc, tried, precisions, *nets = sys.argv[1:]
options = nets[nets.index("--") + 1:] if "--" in nets else []
nets = nets[:nets.index("--")] if "--" in nets else nets
without = tried if tried.startswith("--") else f"-fno-{tried.replace('_', '-')}"
sys.path[:0] = [os.path.join(tests, "tools"), os.path.join(tests, "saving")]
import emitted  # noqa: E402
from saving import write_npy  # noqa: E402


def run(*command, **words):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **words).stdout


def write_samples(path, dtype, shape):
    """Random numbers in 0 .. 1, or bytes."""
    rng = random.Random(7)
    count = math.prod(shape)
    if dtype == "u8":
        write_npy(path, "|u1", shape, rng.randbytes(count))
    else:
        write_npy(path, "<f4", shape, array.array("f", (rng.random() for _ in range(count))))


def is_finite(data):
    """The numbers of an NPY file are finite, and not all the same."""
    numbers = array.array("f", data[10 + int.from_bytes(data[8:10], "little"):])
    return all(map(math.isfinite, numbers)) and len(set(numbers)) > 1


class Inference:
    def __init__(self, folder):
        self.folder = folder
        self.programs = emitted.Programs(folder, build, host)

    def path(self, name):
        return os.path.join(self.folder, name)

    def draw(self, program, environment):
        """Weights, and a file of samples for each input. Returns predict's arguments."""
        tensors = run(program, "info", "--tensors", env=environment)
        run(os.path.join(build, "testsuite/random_tensors"), "--seed", "7", "--weights",
            self.path("weights"), input=tensors)
        words = ["--load", self.path("weights")]
        for name, dtype, shape in re.findall(r"^input (\S+) (\S+) (\S+)", tensors, re.M):
            write_samples(self.path(name + ".npy"), dtype, [int(n) for n in shape.split("x")])
            words += ["--test", f"{name}={self.path(name)}.npy"]
        return words

    def outputs(self, net, precision, more):
        """The bytes of all outputs."""
        run(cnnc, "--mode", "infer", "--batch", "2", "--precision", precision, *options, *more,
            "--main", net, "-o", self.path("net.cu"))
        with open(self.path("net.cu"), encoding="utf-8") as file:
            text = file.read()
        program, places = self.programs.program(text)
        assert program, f"{net} can't be compiled"
        out = self.path("out")
        os.makedirs(out, exist_ok=True)
        environment = self.programs.environment(places)
        words = self.draw(program, environment)
        run(program, "predict", *words, "--output", out, env=environment)
        found = {}
        for name in sorted(os.listdir(out)):
            with open(os.path.join(out, name), "rb") as file:
                found[name] = file.read()
            os.remove(os.path.join(out, name))
        assert found and all(map(is_finite, found.values())), f"{net}: no numbers"
        return text, found


def main():
    different = 0
    for net in nets:
        for precision in precisions.split(","):
            with tempfile.TemporaryDirectory() as folder:
                it = Inference(folder)
                text, found = it.outputs(net, precision, [])
                plain, wanted = it.outputs(net, precision, [without])
                same = "the same bits" if found == wanted else "OTHER BITS"
                if text == plain:
                    same = "THE SAME PROGRAM"
                print(os.path.basename(net), precision, same, flush=True)
                different += same != "the same bits"
    return different > 0


if __name__ == "__main__":
    sys.exit(main())
