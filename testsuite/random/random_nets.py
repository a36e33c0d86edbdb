#!/usr/bin/env python3
"""Random nets with random settings, held to the interpreter.

usage: random_nets.py BUILD [--seed S] [--nets N] [--settings K] [--exact] [-j J] [--output DIR]
                      [--batch B] [--least C] [--shrink SECONDS] [--first]
       random_nets.py BUILD --net FILE.cnn...     the settings that its "# run:" lines have

N nets are drawn from the seeds S, S + 1, ..., each compiled with K settings, in batches of B nets
for a translation unit and J at a time.  A net that fails is made smaller, for at most SECONDS, and
written to DIR with the command that shows it.  --first: the first failure is enough.  --least:
every operator must have been drawn by C nets at least.  Prints a summary; exits with 1 after a
failure."""
import argparse
import collections
import re
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from batch import ROOT, Tools, is_failure
from shrink import shrink


def read_arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nets", type=int, default=100)
    parser.add_argument("--settings", type=int, default=5)
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("-j", type=int, default=1)
    parser.add_argument("--batch", type=int, default=20)
    parser.add_argument("--least", type=int, default=0)
    parser.add_argument("--shrink", type=float, default=120)
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--output", default="random-failures")
    parser.add_argument("--net", nargs="+")
    return parser.parse_args()


# What options.c knows and settings are to have, in a campaign of so many.
OPTIONS = ["--batch", "--checkpoint", "--mode", "--offload", "--samples", "--split", "--squeeze"]
PRECISIONS = ["--precision f16", "--precision bf16", "--precision tf32"]
ENOUGH = 150


def options_of(line):
    return [word.replace("--precision=", "--precision ").split("=")[0]
            for word in re.sub(r"--precision ", "--precision=", line).split()
            if word.startswith("--")]


class Totals:
    """What has been done so far, by all threads."""

    def __init__(self):
        self.nets = self.settings = self.tensors = self.loose = 0
        self.dropped, self.failures = set(), []
        self.drawn = collections.Counter()
        self.options = collections.Counter()
        self.lock = threading.Lock()
        self.stop = False

    def add(self, results, paths):
        with self.lock:
            self.nets += len(paths)
            failed = set()
            runs = {str(path): re.findall(r"^# run: (.*)$", Path(path).read_text(), re.M)
                    for path in paths}
            for (net, line), text in sorted(results.items()):
                words = text.split()
                self.settings += 1
                if words[0] == "ok":
                    self.tensors += int(words[3])
                    self.loose += int(words[4])
                    self.options.update(options_of(runs[net][line]))
                elif words[0] == "dropped":
                    self.dropped.add(net)
                elif net not in failed:
                    failed.add(net)
                    self.failures.append((net, line, text))
                    print(text, file=sys.stderr)
            for path in paths:
                drawn = re.search(r"^# drawn:(.*)$", Path(path).read_text(), re.M)
                if drawn and str(path) not in self.dropped:
                    self.drawn.update(drawn.group(1).split())
            return failed


def run_seeds(tools, options, seeds, work, totals):
    if totals.stop:
        return
    name = f"{seeds[0]}"
    paths = [work / f"{'exact' if options.exact else 'net'}{seed}.cnn" for seed in seeds]
    for seed, path in zip(seeds, paths):
        tools.draw(seed, options.exact, options.settings, path)
    results = tools.run(paths, name)
    failed = totals.add(results, paths)
    print(f"{totals.nets} nets, {totals.settings} settings, {len(totals.failures)} failed",
          file=sys.stderr, flush=True)
    totals.stop = totals.stop or bool(failed and options.first)


def run_campaign(tools, options, work, totals):
    seeds = list(range(options.seed, options.seed + options.nets))
    groups = [seeds[i:i + options.batch] for i in range(0, len(seeds), options.batch)]
    with ThreadPoolExecutor(options.j) as pool:
        waiting = [pool.submit(run_seeds, tools, options, group, work, totals) for group in groups]
        for done in as_completed(waiting):
            done.result()


def report(tools, options, work, totals):
    """Shrinks each failure, one after the other, and says how to see it again."""
    output = Path(options.output)
    for net, line, text in totals.failures[:1 if options.first else None]:
        print(text)
        output.mkdir(parents=True, exist_ok=True)
        whole = Path(net).read_text()
        (output / Path(net).name).write_text(whole)
        if options.shrink <= 0:
            continue
        program = shrink(tools, whole, line, work / f"shrink.{Path(net).stem}", options.shrink)
        small = output / f"{Path(net).stem}.small.cnn"
        small.write_text(program.text())
        exact = " --exact" if options.exact else ""
        print(f"---- {small}: {len(program.statements())} statements")
        print(program.text(), end="")
        print(f"---- {ROOT / 'testsuite/random/random_nets.py'} {tools.build}{exact} --net {small}",
              flush=True)


def never_drawn(tools, options, totals):
    """Operators drawn by too few nets, and arguments never drawn."""
    got = subprocess.run([tools.programs / "random_net", "--list"] +
                         (["--exact"] if options.exact else []),
                         capture_output=True, text=True, check=True)
    words = got.stdout.split()
    few = [word for word in words if "." not in word and totals.drawn[word] < options.least]
    none = [word for word in words if totals.drawn[word] == 0]
    return words, few, none


def print_summary(tools, options, totals, seconds):
    words, few, none = never_drawn(tools, options, totals)
    print(f"{totals.nets} nets, {totals.settings} settings, seeds {options.seed} to "
          f"{options.seed + options.nets - 1}{', exact' if options.exact else ''}; "
          f"{len(totals.dropped)} dropped, {len(totals.failures)} failed; {totals.tensors} tensors,"
          f" {totals.loose} of them ill-conditioned; {seconds:.0f} s")
    print(f"{len(words) - len(none)} of {len(words)} operators, arguments and words drawn"
          f"{'; never: ' + ' '.join(none) if none else ''}")
    wanted = OPTIONS + (PRECISIONS if options.exact else [])
    print("compared with " + ", ".join(f"{word}: {totals.options[word]}" for word in wanted))
    missing = [word for word in wanted
               if totals.options[word] == 0 and totals.settings >= ENOUGH]
    if missing and not totals.stop:
        print(f"never compared with {', '.join(missing)}")
    if few and not totals.stop:
        print(f"drawn by fewer than {options.least} nets: {' '.join(few)}")
    return not totals.failures and not few and not missing


def main():
    options = read_arguments()
    totals, start = Totals(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        tools = Tools(options.build, work, options.exact)
        if options.net:
            results = tools.run([Path(net).resolve() for net in options.net], "net")
            for text in results.values():
                print(text)
            return any(map(is_failure, results.values()))
        run_campaign(tools, options, work, totals)
        report(tools, options, work, totals)
        return not print_summary(tools, options, totals, time.monotonic() - start)


if __name__ == "__main__":
    sys.exit(main())
