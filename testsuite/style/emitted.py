#!/usr/bin/env python3
"""Every function, type, constant and macro that cnnc emits for the operators' nets has a user. The
files of the examples in BOUNDS are no larger than these say.

usage: emitted.py CNNC EXAMPLES NET.cnn ...

Each in the options of its lines "# run:", training with the trainer's program and all passes, and
inference without any; the first of them in FURTHER, too, where products are other kernels and maps
have other types.  The examples are emit.text.*, by the same means.
"""
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "emit"))
from definitions import code_of, unused  # noqa: E402

FLAGS = (["-O2", "--main"], ["-O0", "--mode", "infer"])
# In bf16 names of types are others alone. The first are not for nets with `quantize`.
FURTHER = (["--precision", "f16", "-O2", "--main"], ["--precision", "tf32", "-O2", "--main"],
           ["--precision", "f16", "-O0", "--mode", "infer"])


# Bounds of examples in f32, with a header: lines, bytes, templates, structs.
BOUNDS = {"lenet": (1983, 97062, 68, 42), "digits": (1982, 96935, 70, 40),
          "mnist_cnn": (1967, 95191, 75, 43), "resnet18": (4513, 287600, 138, 84)}


def oversized(cnnc, examples):
    """Figures above their bound, and compiler words that an f32 file does not need."""
    for net, bounds in BOUNDS.items():
        with tempfile.TemporaryDirectory() as folder:
            emitted, header = os.path.join(folder, net + ".cu"), os.path.join(folder, net + ".h")
            subprocess.run([cnnc, os.path.join(examples, net, net + ".cnn"), "--header", header,
                            "-o", emitted], check=True)
            with open(emitted) as file:
                text = file.read()
        code = code_of(text)
        sizes = (text.count("\n"), len(text.encode()), len(re.findall(r"\btemplate\s*<", code)),
                 len(re.findall(r"^\s*(?:template <[^>]*> *)?struct\b[^;()]*\{", code, re.MULTILINE)))
        for name, size, bound in zip(("lines", "bytes", "templates", "structs"), sizes, bounds):
            if size > bound:
                yield f"{net}: {size} {name}, at most {bound}"
        for word in re.findall(r"\basm\b|__CUDACC__", text):
            yield f"{net}: an f32 file has {word}"
        for name in uncalled(text, net):
            yield f"{net}: nothing uses {name}"


def public(net):
    """Functions that others call: main, and the net's interface."""
    return lambda name: name == "main" or name.startswith((net + "_", net.upper() + "_"))


def uncalled(text, net):
    yield from unused(text, public(net))
    words = Counter(re.findall(r"\w+", code_of(text)))
    for name in re.findall(rf"^static \w[\w *]*?\b({net}_\w+)\(", text, re.MULTILINE):
        if words[name] < 2:
            yield name


def constants(file):
    """The -D options of a net's tests; others do not change it."""
    with open(file) as source:
        text = source.read()
    runs = re.findall(r"^# run:(.*)$", text, re.MULTILINE)
    found = {tuple(re.findall(r"-D\s*\w+=\S+", run)) for run in runs} or {()}
    net = re.search(r"^net (\w+)", text, re.MULTILINE).group(1)
    return net, [[word for option in run for word in option.split()] for run in sorted(found)]


def main(cnnc, examples, files):
    faults = count = 0
    for fault in oversized(cnnc, examples):
        faults += 1
        print(fault)
    for file in files:
        net, runs = constants(file)
        with open(file, encoding="utf-8") as source:
            further = FURTHER[bool(re.search(r"\bquantize\s*=", source.read())):]
        for number, run in enumerate(runs):
            for flags in FLAGS if number else FLAGS + further:
                text = subprocess.run([cnnc, *run, *flags, file], check=True,
                                      stdout=subprocess.PIPE, text=True).stdout
                count += 1
                for name in uncalled(text, net):
                    faults += 1
                    print(f"{file}: {' '.join([*run, *flags])}: nothing uses {name}")
    print(f"{count} files, {faults} faults")
    return 1 if faults or not count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
