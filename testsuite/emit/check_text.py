#!/usr/bin/env python3
"""The text of the files that cnnc emits for a net, held against its plans:

    check_text.py CNNC NET.cnn

Modes are train and infer, with and without header, and train with the trainer. They are taken at
-O0 and -O2 in f32 and f64, and at -O2 in tf32 and f16. The steps and the sizes are those of the
plans; nothing is defined that nothing uses; the same input gives the same bytes wherever it is
compiled, and none of them tells where or when. Prints every fault.
"""
import collections
import getpass
import itertools
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile

from definitions import WORD, code_of, unused

cnnc = os.path.abspath(sys.argv[1])
net_file = os.path.abspath(sys.argv[2])
with open(net_file) as source:
    net = re.search(r"^net (\w+)", source.read(), re.MULTILINE).group(1)
faults = []


def run(arguments, folder):
    return subprocess.run([cnnc, *arguments], cwd=folder, check=True,
                          stdout=subprocess.PIPE, text=True).stdout


def plan_of(mode, flags, folder):
    return json.loads(run([*flags, "--mode", mode, "--emit", "plan", net_file], folder))


def check_steps(text, plans):
    """Their numbers are places in the plans, one after the other; products are cuBLAS's."""
    steps = re.findall(r"^ +(STEP|PRODUCT)\((\d+),", code_of(text), re.MULTILINE)
    wanted = [s for plan in plans for s in plan["steps"]]
    if [int(number) for _, number in steps] != list(range(len(wanted))):
        yield f"{len(steps)} steps in the file, {len(wanted)} in its plans"
    for (macro, number), step in zip(steps, wanted):
        if (macro == "PRODUCT") != ("kernel" not in step):
            yield f"step {number}, {step['name']}, is a {macro}"


def check_sizes(text, header, plans, infer):
    """The macros are the plans' figures."""
    macros = dict(re.findall(r"^#define \w+?_((?:INFER_)?ARENA_BYTES|STATE_BYTES|USES_CUBLAS"
                             r"|BATCH) (\d+)$", header or text, re.MULTILINE))
    wanted = {"ARENA_BYTES": max(p["arena_bytes"] for p in plans),
              "INFER_ARENA_BYTES": infer["arena_bytes"],
              "STATE_BYTES": plans[0]["state_bytes"], "BATCH": plans[0]["batch"],
              "USES_CUBLAS": int(bool(re.search(r"^ +PRODUCT\(", text, re.MULTILINE)))}
    for name, value in wanted.items():
        if macros.get(name) != str(value):
            yield f"{name} is {macros.get(name)}, not {value}"
    for plan in plans:
        if f"arena {plan['arena_bytes']:,} bytes".replace(",", " ") not in text:
            yield f"the banner does not say arena {plan['arena_bytes']} of {plan['mode']}"


def check_places(text, plans):
    """Every place is where its plan has a buffer of that size."""
    for plan, space in zip(plans, ["train", "eval"] if len(plans) > 1 else ["infer"]):
        places = {(b["offset"], b["bytes"]) for b in plan["buffers"]}
        for block in re.findall(r"^namespace (\w+) \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL):
            if block[0] not in ("state", space):
                continue
            for name, offsets, size in re.findall(
                    r"^constexpr (?:Place<\w+>|Parameter) +(\w+) += (.*?); +// +(\d+) ", block[1],
                    re.MULTILINE):
                for offset in re.findall(r"\d+", offsets):
                    if (int(offset), int(size)) not in places:
                        yield f"{block[0]}::{name}: {size} bytes at {offset} are not in the plan"


def check_secrets(text, folders):
    """No path, host, user or date."""
    told = [*folders, os.path.dirname(net_file), socket.gethostname(), "__DATE__", "__TIME__",
            "__FILE__", "/home/", "/root/", "/tmp/", "/usr/"]
    if len(getpass.getuser()) > 5:
        told.append(getpass.getuser())
    for word in told:
        if len(word) > 3 and word in text:
            yield f"it tells {word}"
    for date in re.findall(r"\b20\d\d-\d\d-\d\d\b|\b\d\d:\d\d:\d\d\b", text):
        yield f"it tells the time: {date}"


def check_unused(text):
    def public(name):
        return name == "main" or name.startswith((net + "_", net.upper() + "_"))
    for name in unused(text, public):
        yield f"nothing uses {name}"
    # The interface's own functions are called from outside, static ones are not.
    words = collections.Counter(WORD.findall(code_of(text)))
    for name in re.findall(rf"^static \w[\w *]*?\b({net}_\w+)\(", text, re.MULTILINE):
        if words[name] < 2:
            yield f"nothing calls {name}"


def emit(flags, extra, folder, given):
    os.makedirs(folder, exist_ok=True)
    run([*flags, *extra, given, "-o", net + ".cu"], folder)
    with open(os.path.join(folder, net + ".cu")) as file:
        text = file.read()
    path = os.path.join(folder, net + ".h")
    if "--header" not in extra:
        return text, None
    with open(path) as file:
        return text, file.read()


def check_variant(mode, level, precision, extra, folder, plans, infer):
    flags = [level, "--precision", precision, "--mode", mode]
    near, far = os.path.join(folder, "near"), os.path.join(folder, "a", "b")
    os.makedirs(near, exist_ok=True)
    shutil.copy(net_file, near)
    text, header = emit(flags, extra, far, net_file)
    again = emit(flags, extra, near, os.path.basename(net_file))
    found = []
    if (text, header) != again:
        found.append("other bytes from another folder")
    found += check_steps(text, plans)
    found += check_sizes(text, header, plans, infer)
    found += check_places(text, plans)
    found += check_secrets(text + (header or ""), [near, far])
    found += check_unused(text)
    for fault in found:
        faults.append(" ".join([net, *flags, *extra]) + ": " + fault)


SPARE = [("spare", "template <class T>\nstatic inline T spare(T x)\n{\n    return spare(x);\n}\n"),
         ("Spare", "struct Spare {\n    int x;\n};\n"), ("SPARE", "#define SPARE 1\n")]


def check_checker():
    """A checker that finds nothing proves nothing: it must find planted faults."""
    found = set(unused(run([net_file], ".") + "".join(spare for _, spare in SPARE),
                       lambda _: False))
    for name, _ in SPARE:
        if name not in found:
            faults.append(f"{net}: an unused {name} goes unnoticed")


def main():
    count = 0
    extras = [[], ["--header", net + ".h"], ["--header", net + ".h", "--main"], ["--main"]]
    for level, precision in [*itertools.product(["-O0", "-O2"], ["f32", "f64"]), ("-O2", "tf32"),
                             ("-O2", "f16")]:
        with tempfile.TemporaryDirectory() as folder:
            flags = [level, "--precision", precision]
            plans = {m: plan_of(m, flags, folder) for m in ("train", "eval", "infer")}
            for mode, extra in itertools.product(["train", "infer"], extras):
                if mode == "infer" and "--main" in extra:
                    continue
                held = [plans["train"], plans["eval"]] if mode == "train" else [plans["infer"]]
                check_variant(mode, level, precision, extra, folder, held, plans["infer"])
                count += 1
    check_checker()
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{net}: {count} files, {len(faults)} faults")
    return 1 if faults else 0


sys.exit(main())
