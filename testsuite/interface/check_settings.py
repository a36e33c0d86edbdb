#!/usr/bin/env python3
"""A net's state is the same whatever passes made its training step: what one program
has written the others read.

    check_settings.py BUILD ROOT CC [--planted] EXAMPLE|NET.cnn...

Of each net STATE_HASH, PARAMS_HASH, STATE_BYTES, and where and what each parameter is must not
depend on levels, on a pass that is left out, on what runs again, on a budget, on slices, or on what
goes to host memory. EXAMPLE is one of golden/examples.txt, compiled as it says. With --planted the
compilers that a fault has been planted in must be found out, each.
"""
import os
import re
import subprocess
import sys
import tempfile

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [os.path.join(TESTS, "tools"), os.path.join(TESTS, "checkpoint")]
from budgets import Compiler  # noqa: E402
from plant_faults import look, looks, with_fault  # noqa: E402

STATED = re.compile(r"^#define (\w+_(?:HASH|OFFSET|BYTES|DTYPE)) +(\S+)$", re.M)
# Of the program, not of the state.
OTHERS = re.compile(r"_(ARENA_BYTES|HOST_BYTES|PLAN_HASH)$")
MEMORY = ["-fno-share", "-fno-schedule", "-fno-plan"]

# What is planted: a file, a text, and what stands there instead.
FAULTS = {
    "STATE_HASH follows the launches":
        ("codegen/emit.c", 'g->optimizer->name : "", is_persistent);',
         'g->optimizer->name : "", is_persistent) + (uint64_t)g->node_count;'),
    "PARAMS_HASH follows the launches":
        ("codegen/emit.c", 'averages ? "averages" : "", is_weight);',
         'averages ? "averages" : "", is_weight) + (uint64_t)g->node_count;'),
}


def optional_passes(cnnc):
    listed = subprocess.run([cnnc, "--passes"], check=True, text=True, stdout=subprocess.PIPE)
    return [line.split()[0] for line in listed.stdout.splitlines() if "(always)" not in line]


def smallest(net):
    """The smallest budget that both a training step and an evaluation meet."""
    budget = net.smallest()
    refused = net.run("--budget", str(budget))
    if refused.returncode:
        budget = int(re.search(r"smallest arena found for it.* has (\d+) bytes", refused.stderr)[1])
    return budget


def settings(net):
    """The options of each program; the first is what the others are compared with."""
    found = [[], ["-O0"], ["-O1"], MEMORY, ["--checkpoint", "elementwise"],
             ["--split", "1:2x2"]]
    refused = net.run("--checkpoint", "every 2").stderr
    if "that one map alone crosses" not in refused:     # there are too few
        found.append(["--checkpoint", "every 2"])
    found += [["-fno-" + name] for name in optional_passes(net.cnnc)]
    budget = ["--budget", str(smallest(net))]
    return found + [budget, [*budget, "--offload"]]


def stated(net, options, folder):
    """What the header says of the state."""
    header = os.path.join(folder, "net.h")
    net.output(*options, "-o", os.path.join(folder, "net.cu"), "--header", header)
    with open(header, encoding="utf-8") as file:
        found = {name: value for name, value in STATED.findall(file.read())
                 if not OTHERS.search(name)}
    for wanted in "_STATE_HASH", "_PARAMS_HASH", "_STATE_BYTES":
        assert any(name.endswith(wanted) for name in found), f"{net.net}: no {wanted}"
    return found


def differs(net, folder):
    """The first setting under which the state is another, and in what; how many there are."""
    first, count = None, 0
    for options in settings(net):
        found = stated(net, options, folder)
        first = first or found
        count += 1
        for name in sorted(set(first) | set(found)):
            if first.get(name) != found.get(name):
                return f"{' '.join(options)}: {name} is {found.get(name)}, not {first.get(name)}", \
                    count
    return None, count


def nets(cnnc, names):
    examples = {}
    with open(os.path.join(TESTS, "golden", "examples.txt"), encoding="ascii") as file:
        for line in file:
            name, *words = line.split()
            examples[name] = words
    for name in names:
        path = os.path.join(TESTS, "..", "examples", name, name + ".cnn")
        yield name, Compiler(cnnc, path, examples[name]) if name in examples \
            else Compiler(cnnc, name, [])


def planted(fault, build, root, compiler, folder):
    """A cnnc with the fault, linked before the library that has the right file."""
    path, old, new = fault
    files = [os.path.join(folder, "planted.c"), os.path.join(root, "frontend", "main.c")]
    with open(files[0], "w", encoding="utf-8") as file:
        file.write(with_fault(os.path.join(root, path), old, new))
    program = os.path.join(folder, "cnnc")
    quoted = [word for name in ("codegen", "ir", "passes", "frontend")
              for word in ("-iquote", os.path.join(root, name))]
    subprocess.run([compiler, "-std=c17", "-O1", "-w", *quoted, *files,
                    os.path.join(build, "libcore.a"), "-lm", "-o", program], check=True)
    return program


def main():
    build, root = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    if looks:
        return look(root, FAULTS)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[4] == "--planted":
            for name, fault in FAULTS.items():
                cnnc = planted(fault, build, root, sys.argv[3], folder)
                said = [differs(net, folder)[0] for _, net in nets(cnnc, sys.argv[5:])]
                failed += not all(said)
                print(f"{name}: {said[0] or 'not caught'}")
            return failed
        for name, net in nets(os.path.join(build, "cnnc"), sys.argv[4:]):
            said, count = differs(net, folder)
            failed += said is not None
            print(f"{name}: {said or f'the same state under {count} settings'}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
