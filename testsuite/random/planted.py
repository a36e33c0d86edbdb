#!/usr/bin/env python3
"""Checks that losses are found: words that nothing draws, results that do not come, too many
dropped.

usage: planted.py BUILD words|results

words: words.py asks a generator that answers like the real one, except one word.
results: Here random_nets.py runs nets with made-up results, all of them good, and then with some
lost or dropped; and the runner has programs that end their process in silence."""
import contextlib
import io
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import random_nets
import words
from batch import Tools, parse

NETS, SETTINGS = 40, 5
SILENT = "# run: --seed 0 --mode infer\n# run: --seed 1 --mode infer\n" \
    "net silent {\n    input x : f32[2]\n    y = x + x\n    output y\n}\n"


def script(path, text):
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)


def quietly(function, *arguments):
    """Returns its status and its output."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        return function(*arguments), text.getvalue()


def judge(faults, what, good, text, pattern):
    """Adds a fault unless the planted one is found and named; of no pattern: unless all is good."""
    if good == (pattern is None) and re.search(pattern or "", text, re.M):
        return
    faults.append(what)
    print(f"{what}: {'passes' if good else 'fails'}, and says\n{text}")


# ---- words ------------------------------------------------------------------------------------

def plant_words(programs, work):
    """The rarest operator, argument and form, each drawn by nothing or listed nowhere."""
    faults, seeds, nets = [], 8101, 1500
    of = words.drawn(programs, False, seeds, nets)
    names = words.listed(programs, False)
    script(work / "random_net", f'case "$*" in *--list*) cat {work}/list;; *) cat {work}/drawn; esac')

    def check(what, pattern, undrawn=None, unlisted=None):
        (work / "list").write_text("\n".join(name for name in names if name != unlisted))
        (work / "drawn").write_text("".join(
            f"# drawn: {' '.join(sorted(net - {undrawn}))}\n" for net in of))
        judge(faults, what, *quietly(words.check, work, False, seeds, nets), pattern)

    check("nothing", None)
    kinds = {"operator": lambda name: "." not in name,
             "argument": lambda name: "." in name and "=" not in name,
             "form": lambda name: "=" in name}
    for kind, is_one in kinds.items():
        name = min(filter(is_one, names), key=lambda name: sum(name in net for net in of))
        check(f"{kind} {name} is not drawn", f"^never drawn: {re.escape(name)}$", undrawn=name)
        check(f"{kind} {name} is not listed", f"^drawn, and not listed: {re.escape(name)}$",
              unlisted=name)
    return faults


# ---- results ----------------------------------------------------------------------------------

class Stub(Tools):
    """Draws a net once and compiles nothing: a program says that each setting is good, or the
    text that `said` has for it."""
    said = {}

    def draw(self, seed, exact, settings, path):
        if not path.exists():
            super().draw(seed, exact, settings, path)

    def compile(self, arguments):
        pass

    def build_batch(self, nets, folder):
        lines = [self.said.get((Path(net).stem, line), f"ok {net} {line} 3 3 3 0")
                 for net in nets for line in range(SETTINGS)]
        script(folder / "batch", "".join(f"echo {line}\n" for line in lines if line))
        return folder / "batch", ""


def campaign(tools, options, work, said):
    tools.said = said
    totals = random_nets.Totals()
    random_nets.run_campaign(tools, options, work, totals)
    return random_nets.print_summary(tools, options, totals, 0)


def plant_results(build, work):
    faults = []
    options = random_nets.read_arguments([str(build), "--nets", str(NETS)])
    tools = Stub(build, work)

    def check(what, pattern, said):
        judge(faults, what, *quietly(campaign, tools, options, work, said), pattern)

    places = [(f"net{seed}", line) for seed in range(1, NETS + 1) for line in range(SETTINGS)]

    def drops(count):
        return {(net, line): f"dropped {work}/{net}.cnn {line}: as planted"
                for net, line in places[:count]}

    def all_say(counts):
        return {(net, line): f"ok {work}/{net}.cnn {line} {counts}" for net, line in places}

    most = round(random_nets.MOST_DROPPED * NETS * SETTINGS)
    check("nothing", None, {})
    check("a result is lost", r"^FAILED \S+/net3.cnn 2: no result$", {("net3", 2): ""})
    check("the last net's are lost", rf"^FAILED \S+/net{NETS}.cnn 0: no result$",
          {(f"net{NETS}", line): "" for line in range(SETTINGS)})
    check(f"{most} are dropped", None, drops(most))
    check(f"{most + 1} are dropped", r"^more than [0-9.]+ % are dropped$", drops(most + 1))
    check("a moment is not compared", "^less than 80 % are compared after all steps$",
          all_say("3 0 3 0"))
    check("much is ill-conditioned", "^more than 10 % of tensors are ill-conditioned$",
          all_say("3 3 3 1"))
    net = work / "net1.cnn"
    net.write_text(net.read_text().partition("\n")[2])
    check("a net has a setting less", "were to be run", {("net1", SETTINGS - 1): ""})
    return faults


def plant_silence(programs, work):
    (work / "silent.cnn").write_text(SILENT)
    got = subprocess.run([programs / "random_silent", "."], cwd=work, capture_output=True,
                         text=True, check=True)
    said = parse(got.stdout)
    wanted = {("silent.cnn", status): f"FAILED silent.cnn {status}: ends with {status}"
              for status in range(2)}
    if said == wanted:
        return []
    print(f"programs that end in silence: the runner says\n{got.stdout}{got.stderr}")
    return ["programs that end in silence"]


def main():
    build = Path(sys.argv[1]).resolve()
    programs = build / "testsuite" / "random"
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        faults = plant_words(programs, work) if sys.argv[2] == "words" else \
            plant_results(build, work) + plant_silence(programs, work)
    print(f"{len(faults)} faults")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
