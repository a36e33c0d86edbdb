#!/usr/bin/env python3
"""Corrupted plans: the compiler's checker must catch what does harm.

    check_corruptions.py BUILD HOST TESTS EXAMPLES COUNT ALL EVERY RUN... [--nets NAME...]

COUNT corruptions of sound plans are drawn (corrupt.c), always the same. What the
checker takes for sound must be harmless:

  - plan_check.py must say so of each; and of the first ALL, sound or not: whatever it
    finds fault with, the checker must have caught;
  - so must a check of every byte, where there are slices or something is inlined and
    the arena is small, since both others look at slices by columns;
  - of every EVERYth in a training step of the nets RUN, the emitted file made from that
    plan takes three training steps with dead bytes filled with NaN, and ends in the bytes
    that the file of the sound plan ends in.

Files that differ in nothing but offsets are one program, which reads them when it starts.
The nets are all examples as golden/examples.txt says, and those of ops/ and of this folder, or NAME
alone. A line "# squeeze: N" in a net is a budget of training (corrupt.c), so that launches run again.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
for name in "build", "host", "tests", "examples":
    parser.add_argument(name, type=os.path.abspath)
for name in "count", "all", "every":
    parser.add_argument(name, type=int)
parser.add_argument("run", nargs="*")
parser.add_argument("--nets", nargs="*", default=[])
parser.add_argument("--program", help="in place of corrupt_plans")
parser.add_argument("--seed", default="1")
parser.add_argument("--first", action="store_true", help="end at the first failure")
options = parser.parse_args()
sys.path[:0] = [options.tests, os.path.join(options.tests, "tools")]
import emitted  # noqa: E402
import plan_check  # noqa: E402


def nets():
    """Lines for corrupt_plans: a name, a file, a batch, whether it is run, definitions."""
    lines = []
    for line in open(os.path.join(options.tests, "golden", "examples.txt")):
        name, *rest = line.split()
        words = [b for a, b in zip(rest, rest[1:]) if a == "-D"]
        batch = rest[rest.index("--batch") + 1]
        path = os.path.join(options.examples, name, name + ".cnn")
        lines.append([name, path, batch, *words])
    for folder in "ops", "plans":
        for file in sorted(os.listdir(os.path.join(options.tests, folder))):
            if file.endswith(".cnn"):
                path = os.path.join(options.tests, folder, file)
                squeeze = re.findall(r"^# squeeze: (\d+)$", open(path).read(), re.M)
                lines.append([file[:-4], path, "2", *("squeeze=" + s for s in squeeze)])
    text = ""
    for name, path, batch, *words in lines:
        if not options.nets or name in options.nets:
            runs = "1" if name in options.run else "0"
            text += " ".join([name, path, batch, runs, *words]) + "\n"
    return text


def verdict(plan):
    """What plan_check.py says: a list of faults."""
    try:
        return plan_check.check(plan)[0]
    except (ValueError, KeyError, TypeError, IndexError) as error:
        return [f"can't be read: {error}"]


def state(plan):
    """Where the state begins to be something else, and what lies where in it."""
    return [(b["name"], b["offset"]) for b in plan["buffers"] if b["persistent"]] \
        + [plan["state_bytes"]]


class Runner:
    """What is emitted from plans, run."""

    def __init__(self, folder):
        self.folder, self.sound, self.runs = folder, {}, 0
        self.programs = emitted.Programs(folder, options.build, options.host)

    def path(self, name):
        return os.path.join(self.folder, name)

    def step(self, net, level, name, plan):
        """What three training steps leave, as bytes, or what went wrong."""
        if not os.path.exists(self.path(name + ".cu")):
            return b"nothing can be emitted"
        with open(self.path(name + ".cu")) as file:
            program, places = self.programs.program(file.read())
        os.unlink(self.path(name + ".cu"))
        if program is None:
            return b"what is emitted can't be compiled"
        with open(self.path("plan"), "w") as file:
            json.dump(plan, file)
        environment = self.programs.environment(places, self.path("plan"),
                                                self.path(f"{net}.{level}.eval"))
        self.draw(net, program, environment)
        done = subprocess.run(
            [program, "step", "--seed", "7", "--load", self.path(net + ".weights"), "--batch",
             self.path(net + ".batch"), "--steps", "3", "--save", self.path("after")],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        self.runs += 1
        if done.returncode:
            return done.stdout
        with open(self.path("after"), "rb") as file:
            return file.read()

    def draw(self, net, program, environment):
        """Weights and a batch, once a net."""
        if os.path.exists(self.path(net + ".batch")):
            return
        tensors = subprocess.run([program, "info", "--tensors"], env=environment, check=True,
                                 stdout=subprocess.PIPE).stdout
        subprocess.run([os.path.join(options.build, "testsuite", "random_tensors"), "--seed", "5",
                        "--weights", self.path(net + ".weights"), "--batch",
                        self.path(net + ".batch")], input=tensors, check=True)

    def keep_sound(self, name, mode, plan):
        """The plans of a net as they were made; run once the eval plan is there too."""
        with open(self.path(f"{name}.{mode}"), "w") as file:
            json.dump(plan, file)
        if mode == "eval":
            net, level = name.rsplit(".", 1)
            with open(self.path(f"{name}.train")) as file:
                train = json.load(file)
            self.sound[name] = self.step(net, level, name, train)

    def is_harmless(self, net, level, name, plan):
        after = self.step(net, level, name, plan)
        return after == self.sound[f"{net}.{level}"]


def records(lines):
    """Each line's words, and the plan that follows it, if one does."""
    for line in lines:
        words, plan = line.split(maxsplit=8), None
        if words[0] in ("plan", "corruption"):
            text = "".join(iter(lambda: next(lines, "}\n"), "}\n"))
            try:
                plan = json.loads(text + "}")
            except ValueError:      # the program has crashed
                return
        yield words, plan


class Results:
    def __init__(self, folder):
        self.runner, self.states = Runner(folder), {}
        self.failures, self.compared, self.agreed = [], 0, 0
        self.stricter = collections.Counter()
        self.harmless = collections.Counter()
        self.run, self.tallies = collections.Counter(), []

    def fail(self, text):
        print("FAILED:", text)
        self.failures.append(text)

    def corruption(self, kind, net, mode, level, name, said, by_bytes, *what, plan):
        """One record of corrupt_plans."""
        where = f"{kind} of {net} {mode} -O{level}"
        faults = verdict(plan)
        self.compared += 1
        if said == "sound" and faults:
            self.fail(f"{where} passes, but {faults[0]}")
        elif said == "sound":
            self.harmless[kind] += 1
        elif not faults:
            self.stricter[kind] += 1
        self.agreed += (said == "sound") == (not faults)
        if said == "through" and faults:
            self.fail(f"{where} was let through, but {faults[0]}")
        elif said != "caught" and by_bytes == "unsound":
            self.fail(f"{where} {'passes' if said == 'sound' else 'was let through'}, but "
                      "not each byte is right")
        elif said == "through" and state(plan) != self.states.get((net, mode), state(plan)):
            self.fail(f"{where} was let through, but its state is not laid out as another's")
        elif name != "-":
            self.run[kind] += 1
            if not self.runner.is_harmless(net, level, name, plan):
                self.fail(f"{where} {'passes' if said == 'sound' else 'was let through'}, but "
                          "ends in other bytes")

    def take(self, words, plan):
        if words[0] == "plan":
            self.runner.keep_sound(words[1], words[2], plan)
            self.states[words[1].rsplit(".", 1)[0], words[2]] = state(plan)
        elif words[0] == "corruption":
            self.corruption(*words[1:], plan=plan)
        elif words[0] == "wild":
            self.fail(" ".join(words))
        elif words[0] == "tally":
            self.tallies.append((words[1], int(words[2]), int(words[3])))
        else:
            print(" ".join(words))

    def print_table(self):
        print(f"{'corruption':20} {'drawn':>8} {'caught':>8} {'harmless':>8} {'run':>6}")
        for kind, drawn, caught in self.tallies:
            print(f"{kind:20} {drawn:8} {caught:8} {self.harmless[kind]:8} {self.run[kind]:6}")
            if options.all >= 0 and drawn != caught + self.harmless[kind]:
                self.fail(f"{kind}: {drawn} drawn, {caught} caught, "
                          f"{self.harmless[kind]} harmless")
        drawn, caught = (sum(t[i] for t in self.tallies) for i in (1, 2))
        print(f"{'all':20} {drawn:8} {caught:8} {sum(self.harmless.values()):8} "
              f"{sum(self.run.values()):6}")
        print(f"plan_check.py saw {self.compared}: the same verdict on {self.agreed}; caught, "
              f"though sound to it: {dict(self.stricter)}")
        print(f"{self.runner.runs} runs of {len(self.runner.programs.built)} programs")


def main():
    program = options.program or os.path.join(options.build, "testsuite", "plans",
                                              "corrupt_plans")
    with tempfile.TemporaryDirectory() as folder:
        results = Results(folder)
        command = [program, options.seed, str(options.count), str(options.all),
                   str(options.every), folder]
        listed = tempfile.TemporaryFile("w+")
        listed.write(nets())
        listed.seek(0)
        drawing = subprocess.Popen(command, stdin=listed, stdout=subprocess.PIPE, text=True)
        for words, plan in records(drawing.stdout):
            results.take(words, plan)
            if options.first and results.failures:
                drawing.kill()
                drawing.wait()
                return 1
        if drawing.wait() != 0:
            results.fail(f"corrupt_plans ends with {drawing.returncode}")
        results.print_table()
    return 1 if results.failures else 0


if __name__ == "__main__":
    sys.exit(main())
