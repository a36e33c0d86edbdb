#!/usr/bin/env python3
"""Inference with maps and weights of 8 bits computes what the interpreter does.

    check_int8.py BUILD ROOT [--jobs N] [--lines N] [--settings "OPTIONS"]... NET.cnn...

Each net is compiled as the first N (1) of its lines "# run:" say, or its line of
golden/examples.txt. The option --settings adds a run with further options of cnnc, unless the
emitted file is the same. Weights, scales and samples are random. All bytes of the arena that the
plan calls dead are NaN.

The interpreter runs the same graph in double and rounds what is stored. A number near the middle
of two integers may become either, and then change others. So an output may differ by NEAR of its
norm as a whole. A net that differs by more is checked with other numbers, and must agree then.
Numbers that differ by more than EQUAL of the largest are counted. A net that stores nothing in 8
bits is an error.
"""
import array
import json
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

EQUAL, NEAR = 1e-4, 2e-2
SIZES = {"F32": "f", "F64": "d", "U8": "B", "I32": "i", "I8": "b"}
NPY = {"F32": "<f4", "U8": "|u1", "I32": "<i4"}
OTHERS = ("--deep",)        # of a line "# run:", of no concern here


class Fault(Exception):
    pass


class NoNumbers(Fault):
    """Outputs are all the same, or not finite."""


class Different(Fault):
    """Outputs are not the interpreter's."""


def run(*command, **words):
    got = subprocess.run(command, capture_output=True, text=True, **words)
    if got.returncode:
        raise Fault(f"{' '.join(map(str, command))[:300]}: {(got.stdout + got.stderr)[-600:]}")
    return got.stdout


def read_safetensors(path):
    """{name: (type, shape, numbers)}"""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    found = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            found[name] = entry["dtype"], entry["shape"], array.array(
                SIZES[entry["dtype"]], data[begin:end])
    return found


def write_npy(path, dtype, shape, numbers):
    words = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    header = f"{{'descr': '{NPY[dtype]}', 'fortran_order': False, 'shape': ({words})}}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header.encode())
        file.write(numbers.tobytes())


def read_npy(path):
    with open(path, "rb") as file:
        data = file.read()
    return array.array("f", data[10 + int.from_bytes(data[8:10], "little"):])


def split_options(line):
    """The options of a line that cnnc knows, and the others by name."""
    words, ours, others = shlex.split(line), [], {}
    for name, value in zip(words[::2], words[1::2]):
        if name in ("--samples", "--seed", *OTHERS):
            others[name] = value
        else:
            ours += [name, value]
    return ours, others


class Checker:
    precision = "int8"
    warnings = ["-Wno-unneeded-internal-declaration"]

    def __init__(self, build, root, work):
        self.build, self.root, self.work = build, root, work
        self.cxx = os.environ.get("CXX", "clang++")
        with open(os.path.join(root, "testsuite/golden/examples.txt"), encoding="utf-8") as file:
            self.examples = dict(line.split(None, 1) for line in file)

    def lines_of(self, net):
        name = os.path.basename(net)[:-4]
        with open(net, encoding="utf-8") as file:
            return re.findall(r"^# run:(.*)", file.read(), re.M) or [self.examples[name]]

    def prepare(self, program, folder, batch, samples, seed):
        """Draws weights and samples; returns predict's arguments."""
        tensors = run(program, "info", "--tensors")
        tensors = re.sub(rf"^(input \S+ \S+ ){batch}(?=[x ])", rf"\g<1>{samples}", tensors,
                         flags=re.M)
        run(os.path.join(self.build, "testsuite/random_tensors"), "--seed", seed, "--weights",
            f"{folder}/weights", "--batch", f"{folder}/batch", input=tensors)
        words = ["--load", f"{folder}/weights"]
        for name, (dtype, shape, numbers) in read_safetensors(f"{folder}/batch").items():
            write_npy(f"{folder}/{name}.npy", dtype, shape, numbers)
            words += ["--test", f"{name}={folder}/{name}.npy"]
        return words

    def compile(self, net, options, folder):
        cnnc = [f"{self.build}/cnnc", "--mode", "infer", "--precision", self.precision, *options,
                net]
        run(*cnnc, "--main", "-o", f"{folder}/net.cu")
        run(*cnnc, "--emit", "plan", "-o", f"{folder}/plan.json")
        run("python3", os.path.join(self.root, "testsuite/plan_check.py"), f"{folder}/plan.json")
        with open(f"{folder}/net.cu", encoding="utf-8") as file:
            return re.sub(r"//.*", "", file.read())

    def outputs(self, net, options, others, folder):
        """Runs the emitted file and the interpreter.  Returns both outputs of each name."""
        run(self.cxx, "-std=c++17", "-O" + os.environ.get("CNNC_HOST_O", "0"), "-Wall", "-Wextra",
            "-Werror", *self.warnings, *os.environ.get("CXXFLAGS", "").split(),
            "-I", f"{self.root}/runtime/host", "-x", "c++", f"{folder}/net.cu", "-x", "none",
            f"{self.build}/libcnnc_host.a", "-lpthread", "-o", f"{folder}/net")
        at = len(options) - options[::-1].index("--batch") if "--batch" in options else None
        batch = int(options[at]) if at else 1
        samples = min(int(others.get("--samples", batch)), batch)
        words = self.prepare(f"{folder}/net", folder, batch, samples, others.get("--seed", "0"))
        os.makedirs(f"{folder}/out")
        run(f"{folder}/net", "predict", *words, "--output", f"{folder}/out",
            env=dict(os.environ, CNNC_HOST_PLAN=f"{folder}/plan.json"))
        run(f"{self.build}/testsuite/interpret", "--mode", "infer", "--infer", "--precision",
            self.precision, *options, net, "--load", f"{folder}/weights", "--batch-file",
            f"{folder}/batch", "--save", f"{folder}/interpreted")
        known = read_safetensors(f"{folder}/interpreted")
        found = {}
        for name in sorted(os.listdir(f"{folder}/out")):
            numbers = read_npy(f"{folder}/out/{name}")
            wanted = known[name[:-4]][2][:len(numbers)]
            found[name[:-4]] = numbers, wanted
        if not found:
            raise Fault("no outputs")
        return found

    def check_draws(self, net, line, settings, seen):
        """Returns a line to print.  A net that differs by one draw is checked with another."""
        try:
            return self.check(net, line, settings, seen)
        except Different as difference:
            return (f"{self.check(net, line + ' --seed 77', settings, set())}; with other numbers "
                    f"{difference}")

    def check(self, net, line, settings, seen):
        """Returns a line to print."""
        options, others = split_options(line)
        options += shlex.split(settings)
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            text = self.compile(net, options, folder)
            if text in seen:
                return None
            seen.add(text)
            worst, apart, varied = 0, 0, 0
            for name, (numbers, wanted) in self.outputs(net, options, others, folder).items():
                norm = math.sqrt(math.fsum(x * x for x in wanted))
                most = max(map(abs, wanted))
                distance = math.sqrt(math.fsum((x - y) ** 2 for x, y in zip(numbers, wanted)))
                different = sum(abs(x - y) > EQUAL * most for x, y in zip(numbers, wanted))
                varied += math.isfinite(norm) and len(set(wanted)) > 1
                if not distance <= NEAR * norm:
                    raise Different(f"{name}: differs by {distance:.3g} of a norm of {norm:.3g}, in "
                                    f"{different} of {len(wanted)} numbers")
                worst, apart = max(worst, distance / (norm or 1)), apart + different
            if not varied:
                raise NoNumbers("the interpreter computes no numbers")
            if "Scaled<" not in text and "IntegerStore" not in text:
                raise Fault("nothing is stored in 8 bits")
            return f"{worst:.2g} of the norm, {apart} unequal"


def main():
    build, root, *rest = sys.argv[1:]
    settings, nets, jobs, count = [""], [], 1, 1
    while rest:
        word = rest.pop(0)
        if word == "--settings":
            settings.append(rest.pop(0))
        elif word == "--jobs":
            jobs = int(rest.pop(0))
        elif word == "--lines":
            count = int(rest.pop(0))
        else:
            nets.append(word)
    failed = 0
    with tempfile.TemporaryDirectory() as work:
        checker = Checker(os.path.abspath(build), root, work)

        def all_of(net):
            seen, lines = set(), []
            for options in checker.lines_of(net)[:count]:
                for setting in settings:
                    try:
                        line = checker.check_draws(net, options, setting, seen)
                    except Fault as fault:
                        line = f"FAILED: {fault}"
                    if line:
                        lines.append(f"{os.path.basename(net)}{options.rstrip()} {setting}: {line}")
            return lines
        with ThreadPoolExecutor(jobs) as pool:
            for lines in pool.map(all_of, nets):
                print("\n".join(lines), flush=True)
                failed += sum("FAILED" in line for line in lines)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
