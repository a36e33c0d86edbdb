#!/usr/bin/env python3
"""Which words random nets draw: operators, arguments, their forms, inputs and settings.

usage: words.py BUILD [--seed S] [--nets N] [--exact]

Draws nets and compiles none.  Every word that the tables list must be in one of them, and none
that they don't.  Prints the words that come least; exits with 1 naming those that never do."""
import argparse
import collections
import subprocess
import sys
from pathlib import Path

FEWEST = 5      # words that are shown


def ask(programs, exact, *arguments):
    command = [programs / "random_net", *map(str, arguments)] + (["--exact"] if exact else [])
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def listed(programs, exact):
    return ask(programs, exact, "--list").split()


def drawn(programs, exact, seed, nets):
    """The set of words of each net."""
    lines = ask(programs, exact, seed, "--drawn", nets).splitlines()
    if len(lines) != nets:
        sys.exit(f"{nets} nets were asked for, and {len(lines)} are drawn")
    return [set(line.removeprefix("# drawn:").split()) for line in lines]


def check(programs, exact, seed, nets):
    words = listed(programs, exact)
    counts = collections.Counter(
        word for net in drawn(programs, exact, seed, nets) for word in net)
    never = [word for word in words if counts[word] == 0]
    unknown = sorted(set(counts) - set(words))
    print(f"{nets} nets, seeds {seed} to {seed + nets - 1}{', exact' if exact else ''}: "
          f"{len(words) - len(never)} of {len(words)} words drawn")
    fewest = sorted(words, key=lambda word: counts[word])[:FEWEST]
    print("the fewest: " + ", ".join(f"{word} by {counts[word]}" for word in fewest))
    if exact:
        without = [word for word in listed(programs, False) if word not in words]
        print("not there, as rows without the flag EXACT have it: " +
              ", ".join(word for word in without if "." not in word or word.startswith("train.")))
    if never:
        print("never drawn: " + " ".join(never))
    if unknown:
        print("drawn, and not listed: " + " ".join(unknown))
    return not never and not unknown


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nets", type=int, default=1500)
    parser.add_argument("--exact", action="store_true")
    options = parser.parse_args()
    return not check(options.build / "testsuite" / "random", options.exact, options.seed,
                     options.nets)


if __name__ == "__main__":
    sys.exit(main())
