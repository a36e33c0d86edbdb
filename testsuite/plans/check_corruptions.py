#!/usr/bin/env python3
"""Corrupted plans: the compiler's checker must catch harmful ones.

    check_corruptions.py BUILD HOST TESTS EXAMPLES COUNT ALL [--run NAME=EVERY...] [--nets NAME...]

COUNT corruptions of sound plans are drawn (corrupt.c), always the same. A corruption that the
checker accepts must be harmless:

  - plan_check.py must say so of each; and of the first ALL, sound or not: whatever it
    finds fault with, the checker must have caught;
  - so must a check of every byte, where there are slices or something is computed on load and
    the arena is small, since both others look at slices by columns;
  - of each that is run, train, eval and infer alike: the file emitted from that plan runs
    that mode with dead bytes filled with NaN, and leaves what the file of the sound plan
    leaves, bit by bit: figures, outputs and state (run.cu). That one can be emitted is part
    of it.

All are run; the larger a net, the fewer of its corruptions are drawn (listed.c). With --run one in
EVERY of NAME is run, and none of other nets. The option --unrun is the largest share of accepted
corruptions, in hundredths, that may be left out. With --needed N each rule of the checker must have
refused N corruptions.

Files that differ in nothing but offsets and the order of launches are one program, which reads them
when it starts.
The nets are all examples as golden/examples.txt says, and those of ops/ and of this folder, or NAME
alone. A line "# compiled with: ..." in a net has words for listed.h: a budget, host memory, several
batches, 16 bits.
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
for name in "count", "all":
    parser.add_argument(name, type=int)
parser.add_argument("--run", nargs="*")
parser.add_argument("--unrun", type=int, default=0)
parser.add_argument("--needed", type=int, default=0)
parser.add_argument("--nets", nargs="*", default=[])
parser.add_argument("--program", help="in place of corrupt_plans")
parser.add_argument("--seed", default="1")
parser.add_argument("--first", action="store_true", help="end at the first failure")
options = parser.parse_args()
sys.path[:0] = [options.tests, os.path.join(options.tests, "tools")]
import emitted  # noqa: E402
import plan_check  # noqa: E402
from checker_rules import is_said, rules_said  # noqa: E402


def nets():
    """Lines for corrupt_plans (listed.h)."""
    lines = []
    for line in open(os.path.join(options.tests, "golden", "examples.txt")):
        name, *rest = line.split()
        words = ["-D" + b for a, b in zip(rest, rest[1:]) if a == "-D"]
        batch = rest[rest.index("--batch") + 1]
        path = os.path.join(options.examples, name, name + ".cnn")
        lines.append([name, path, batch, *words])
    for folder in "ops", "plans":
        for file in sorted(os.listdir(os.path.join(options.tests, folder))):
            if file.endswith(".cnn"):
                path = os.path.join(options.tests, folder, file)
                words = re.findall(r"^# compiled with: (.*)$", open(path).read(), re.M)
                lines.append([file[:-4], path, "2", *" ".join(words).split()])
    known = {line[0] for line in lines}
    run = dict(word.split("=") for word in options.run or [])
    assert known >= {*options.nets, *run}, f"no such nets: {({*options.nets, *run}) - known}"
    text = ""
    for name, path, batch, *words in lines:
        if not options.nets or name in options.nets:
            every = "weighed" if options.run is None else run.get(name, "0")
            text += " ".join([name, path, batch, every, *words]) + "\n"
    return text


def verdict(plan):
    """Returns plan_check.py's list of faults."""
    try:
        return plan_check.check(plan)[0]
    except (ValueError, KeyError, TypeError, IndexError) as error:
        return [f"can't be read: {error}"]


def state(plan):
    """The end of the common part of the state, and its layout."""
    return [(b["name"], b["offset"]) for b in plan["buffers"] if b["persistent"]] \
        + [plan["state_bytes"]]


class Runner:
    """Runs the files emitted from plans."""

    def __init__(self, folder):
        self.folder, self.sound, self.runs = folder, {}, 0
        self.programs = emitted.Programs(folder, options.build, options.host, level=1)
        with open(os.path.join(options.tests, "plans", "run.cu")) as file:
            self.run = file.read()

    def path(self, name):
        return os.path.join(self.folder, name)

    def compile(self, name):
        """The program of an emitted file, and the offsets that it is to read."""
        with open(self.path(name + ".cu")) as file:
            text = file.read()
        text, mains = re.subn(r"^int main\(.*\n\{\n.*trainer_main(\(.*\n\}\n)",
                              lambda m: self.run + "int main(int argc, char **argv)\n{\n"
                              "    return run_plan" + m[1], text, flags=re.M)
        assert mains == 1, f"{name}.cu has no main"
        return self.programs.program(text)

    def leave(self, net, mode, name, plans):
        """Returns the bytes that a run of an emitted file leaves, or an error, which is not
        bytes."""
        program, places = self.compile(name)
        if program is None:
            return "what is emitted can't be compiled"
        environment = self.programs.environment(places, *plans)
        environment["CNNC_HOST_THREADS"] = "1"
        kind = f"{net}.{'infer' if mode == 'infer' else 'train'}"
        weights, batch = self.path(kind + ".weights"), self.path(kind + ".batch")
        self.draw(weights, batch, program, environment)
        after = self.path("after")
        done = subprocess.run([program, mode, weights, batch, after], env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=300)
        self.runs += 1
        if done.returncode:
            return f"the run ends with {done.returncode}: {done.stdout.strip()[-300:]}"
        with open(after, "rb") as file:
            return file.read()

    def draw(self, weights, batch, program, environment):
        """Once a net: a file that only infers lacks the other buffers."""
        if os.path.exists(batch):
            return
        tensors = subprocess.run([program], env=environment, check=True,
                                 stdout=subprocess.PIPE).stdout
        subprocess.run([os.path.join(options.build, "testsuite", "random_tensors"), "--seed", "5",
                        "--weights", weights, "--batch", batch], input=tensors, check=True)

    def keep_sound(self, net, level, mode, plan):
        with open(self.path(f"{net}.{level}.{mode}"), "w") as file:
            json.dump(plan, file)

    def plans(self, net, level, mode, changed=None):
        """Paths of the plans that an emitted file follows, one of them changed."""
        modes = ["infer"] if mode == "infer" else ["train", "eval"]
        return [changed if changed and m == mode else self.path(f"{net}.{level}.{m}")
                for m in modes]

    def left_by_sound(self, net, level, mode):
        if (net, level, mode) not in self.sound:
            file = f"{net}.{level}.{'infer' if mode == 'infer' else 'train'}"
            left = {m: self.leave(net, m, file, self.plans(net, level, m))
                    for m in (["infer"] if mode == "infer" else ["train", "eval"])}
            self.sound.update({(net, level, m): left[m] for m in left})
        return self.sound[net, level, mode]

    def harm(self, net, level, mode, name, plan):
        """Returns the fault in the results of a plan's file; None: nothing."""
        sound = self.left_by_sound(net, level, mode)
        if isinstance(sound, str):
            return "that of the sound plan does not run: " + sound
        with open(self.path("plan"), "w") as file:
            json.dump(plan, file)
        left = self.leave(net, mode, name, self.plans(net, level, mode, self.path("plan")))
        os.unlink(self.path(name + ".cu"))
        return left if isinstance(left, str) else None if left == sound else "ends in other bytes"


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
        self.said = collections.Counter()
        self.unrun = {"never": collections.Counter(), "sampled": collections.Counter()}

    def fail(self, text):
        print("FAILED:", text)
        self.failures.append(text)

    def corruption(self, kind, net, mode, level, run, said, by_bytes, *what, plan):
        """One record of corrupt_plans."""
        where = f"{kind} of {net} {mode} -O{level} " + (
            "passes" if said == "sound" else f"was let through ({''.join(what).strip()})")
        faults = verdict(plan)
        self.compared += 1
        if said == "sound" and faults:
            self.fail(f"{where}, but {faults[0]}")
        elif said == "sound":
            self.harmless[kind] += 1
        elif not faults:
            self.stricter[kind] += 1
        self.agreed += (said == "sound") == (not faults)
        if said == "through" and faults:
            self.fail(f"{where}, but {faults[0]}")
        elif said != "caught" and by_bytes == "unsound":
            self.fail(f"{where}, but not each byte is right")
        elif said == "through" and state(plan) != self.states.get((net, mode), state(plan)):
            self.fail(f"{where}, but its state is not laid out as another's")
        elif said != "caught":
            self.look_at_run(kind, net, mode, level, run, plan, where)

    def look_at_run(self, kind, net, mode, level, run, plan, where):
        """run: corrupt_plans's line for it."""
        if run in self.unrun:
            self.unrun[run][kind] += 1
        elif run == "failed":
            self.fail(f"{where}, but nothing can be emitted")
        else:
            self.run[kind] += 1
            harm = self.runner.harm(net, level, mode, run, plan)
            if harm:
                self.fail(f"{where}, but {harm}")

    def take(self, words, plan):
        if words[0] == "plan":
            self.runner.keep_sound(*words[1:], plan)
            self.states[words[1], words[3]] = state(plan)
        elif words[0] == "corruption":
            self.corruption(*words[1:], plan=plan)
        elif words[0] == "wild":
            self.fail(" ".join(words))
        elif words[0] == "said":
            self.said[" ".join(words[1:])] += 1
        elif words[0] == "tally":
            self.tallies.append((words[1], int(words[2]), int(words[3])))
        else:
            print(" ".join(words))

    def look_at_rules(self):
        """Messages of the checker that too few corruptions were refused with."""
        for message in rules_said():
            count = sum(n for text, n in self.said.items() if is_said(text, message))
            if count < options.needed:
                self.fail(f"refused {count} times: {message}")

    def print_row(self, kind, drawn, caught, counts):
        print(f"{kind:20} {drawn:8} {caught:8}" + "".join(f" {count:8}" for count in counts))

    def print_table(self):
        columns = self.harmless, self.run, self.unrun["sampled"], self.unrun["never"]
        self.print_row("corruption", "drawn", "caught", ["harmless", "run", "sampled", "never"])
        for kind, drawn, caught in self.tallies:
            self.print_row(kind, drawn, caught, [column[kind] for column in columns])
            if options.all >= 0 and drawn != caught + self.harmless[kind]:
                self.fail(f"{kind}: {drawn} drawn, {caught} caught, "
                          f"{self.harmless[kind]} harmless")
        drawn, caught = (sum(t[i] for t in self.tallies) for i in (1, 2))
        sums = [sum(column.values()) for column in columns]
        self.print_row("all", drawn, caught, sums)
        print(f"plan_check.py saw {self.compared}: the same verdict on {self.agreed}; caught, "
              f"though sound to it: {dict(self.stricter)}")
        print(f"{self.runner.runs} runs of {len(self.runner.programs.built)} programs")
        harmless, run, *unrun = sums
        if options.all < 0:     # what is let through is counted as well
            return
        if not self.failures and run + sum(unrun) != harmless:
            self.fail(f"of {harmless} harmless {run} are run and {sum(unrun)} are not")
        if sum(unrun) > options.unrun / 100 * harmless:
            self.fail(f"of {harmless} harmless {sum(unrun)} are not run, which is above "
                      f"{options.unrun} %")


def main():
    program = options.program or os.path.join(options.build, "testsuite", "plans",
                                              "corrupt_plans")
    with tempfile.TemporaryDirectory() as folder:
        results = Results(folder)
        command = [program, options.seed, str(options.count), str(options.all), folder]
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
        results.look_at_rules()
    return 1 if results.failures else 0


if __name__ == "__main__":
    sys.exit(main())
