#!/usr/bin/env python3
"""Passes that move bytes may not change one bit of the results of a net.

    same_bits.py BUILD HOST TESTS CNNC NET.cnn [OPTIONS...] [--bits-only] [--passes NAME...]

OPTIONS are a line of golden/examples.txt. The passes schedule, share_buffers and assign_offsets are
on and off in all eight combinations, with fusion and without. Figures, weights and optimizer state
after three training steps in f32 must be the same bytes. Only share_buffers works in place:
without it, a view is still a name. Only assign_offsets lets buffers share bytes. Each program runs
with dead bytes filled with NaN, and a batch of three samples or more is partial. Each plan is
checked by plan_check.py.

Passes whose row says ROUNDING sum in another order. They are left out where a pass before them, or
all fusion, is on and off.

    --bits-only         no check of plans, and no program without fusion
    --against OPTION    only all passes, with the option and without; may be repeated
    --each              likewise with -O0 and with each optional pass left out
    --with OPTION       in all programs
    --close TOLERANCE   results are equal within it, not in bits
    --passes, last      these in place of schedule, share_buffers and assign_offsets

Files that differ in offsets alone are compiled once.
"""
import csv
import io
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile

build, host, tests, cnnc, net, *words = [
    os.path.abspath(w) if i < 5 else w for i, w in enumerate(sys.argv[1:])]
sys.path[:0] = [tests, os.path.join(tests, "tools")]
import emitted  # noqa: E402
import plan_check  # noqa: E402

PASSES = ["schedule", "share_buffers", "assign_offsets"]
if "--passes" in words:
    PASSES = words[words.index("--passes") + 1:]
    words = words[:words.index("--passes")]
UNFUSED = ["-fno-simplify", "-fno-fuse-epilogue", "-fno-fuse-pool", "-fno-fuse-activation-grad",
           "-fno-fuse-prologue"]


class Net:
    def __init__(self, folder):
        self.folder = folder
        self.programs = emitted.Programs(folder, build, host)
        self.check = "--bits-only" not in words
        pairs = list(zip(words, words[1:]))
        self.batch = int(dict(pairs).get("--batch", 1))
        self.samples = int(dict(pairs).get("--samples",
                                           self.batch - 1 if self.batch > 2 else self.batch))
        self.seed = dict(pairs).get("--seed", "7")
        self.options = [x for a, b in pairs if a in ("--batch", "-D") for x in (a, b)]
        self.options += [b for a, b in pairs if a == "--with"]

    def path(self, name):
        return os.path.join(self.folder, name)

    def compile(self, name, options):
        """The emitted file; its plans as NAME.train, NAME.eval. Returns text and arena."""
        command = [cnnc, *self.options, *options, net]
        subprocess.run([*command, "--main", "-o", self.path(name + ".cu")], check=True)
        arena = 0
        for mode in "train", "eval":
            path = self.path(f"{name}.{mode}")
            subprocess.run([*command, "--mode", mode, "--emit", "plan", "-o", path], check=True)
            with open(path) as file:
                plan = json.load(file)
            arena = max(arena, plan["arena_bytes"])
            if self.check:
                faults = plan_check.check(plan)[0]
                assert not faults, f"{name}: {faults[0]}"
        with open(self.path(name + ".cu")) as file:
            return file.read(), arena

    def draw(self, program, environment):
        """Weights and a batch, for all variants."""
        tensors = subprocess.run([program, "info", "--tensors"], env=environment, check=True,
                                 stdout=subprocess.PIPE, text=True).stdout
        tensors = re.sub(rf"^(input \S+ \S+ ){self.batch}(?=[x ])", rf"\g<1>{self.samples}",
                         tensors, flags=re.M)
        subprocess.run([os.path.join(build, "testsuite", "random_tensors"), "--seed", self.seed,
                        "--weights", self.path("weights"), "--batch", self.path("batch")],
                       input=tensors, text=True, check=True)

    def step(self, name, text, arena):
        """The file of the results of three training steps."""
        program, places = self.programs.program(text, arena)
        assert program, f"{name} can't be compiled"
        environment = self.programs.environment(places, self.path(name + ".train"),
                                                self.path(name + ".eval"))
        if not os.path.exists(self.path("batch")):
            self.draw(program, environment)
        subprocess.run([program, "step", "--seed", self.seed, "--load", self.path("weights"),
                        "--batch", self.path("batch"), "--steps", "3", "--save",
                        self.path(name + ".after")], env=environment, check=True,
                       stdout=subprocess.DEVNULL)
        return self.path(name + ".after")


def variants():
    """Names of programs, their options, and whether they round as without the passes ROUNDING."""
    against = [b for a, b in zip(words, words[1:]) if a == "--against"]
    listed = subprocess.run([cnnc, "--passes", "--format", "csv"], check=True,
                            stdout=subprocess.PIPE, text=True)
    rows = list(csv.DictReader(io.StringIO(listed.stdout)))
    places = {row["pass"]: place for place, row in enumerate(rows)}
    rounding = [row["pass"] for row in rows if row["rounding"] == "true"]
    plain = ["-fno-" + name for name in rounding]
    if "--each" in words:
        against += ["-O0", *("-fno-" + row["pass"] for row in rows
                             if row["optional"] == "true" and row["pass"] not in rounding)]
        assert len(against) > 10, "--passes lists no passes"
    if against:
        for apart in {option.startswith(("-O", "-f")) for option in against}:
            more = plain if apart else []
            yield "fused" + "".join(more), more, apart
            yield from (("fused" + option, [option, *more], apart) for option in against
                        if option.startswith(("-O", "-f")) == apart)
        return
    early = any(places[p] < places[name] for p in PASSES for name in rounding)
    if not early and "--bits-only" not in words:
        yield "fused" + "".join(plain), plain, True
    for on in itertools.product((True, False), repeat=len(PASSES)):
        off = [p for p, is_on in zip(PASSES, on) if not is_on]
        for fused in (True, False) if "--bits-only" not in words else (True,):
            name = "-".join(["fused" if fused else "unfused", *("no_" + p for p in off)])
            options = [f"-fno-{p}" for p in off] + ([] if fused else UNFUSED)
            apart = early or not fused
            yield name, options + (plain if apart else []), apart


def main():
    different = 0
    with tempfile.TemporaryDirectory() as folder:
        it = Net(folder)
        made, apart = {}, {}
        for name, options, apart[name] in variants():
            made[name] = it.compile(name, options)
        arena = max(size for _, size in made.values())
        firsts = {}
        tolerance = dict(zip(words, words[1:])).get("--close")
        for name in made:
            after = it.step(name, made[name][0], arena)
            with open(after, "rb") as file:
                bits = file.read()
            if tolerance:
                close = subprocess.run([os.path.join(build, "testsuite", "compare_tensors"), after,
                                        firsts.setdefault("", after), "--tolerance", tolerance],
                                       check=False)
                print(name, "close" if close.returncode == 0 else "OTHER BITS", flush=True)
                different += close.returncode != 0
                continue
            first = firsts.setdefault(apart[name], bits)
            print(name, "the same bits" if bits == first else "OTHER BITS",
                  f"arena {made[name][1]}", flush=True)
            different += bits != first
        print(len(it.programs.built), "programs")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
