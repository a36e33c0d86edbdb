#!/usr/bin/env python3
"""The walk-through of a net shows the present effect of the passes.

usage: check_walkthrough.py CNNC NET.cnn README.md

Blocks fenced as "ir PASS" hold lines of the training graph after that pass, in order; "..." stands
for anything, a line of it for any lines. The block "compare" is the output of --compare. Every pass
of --passes is shown. A block with a word changed must be refused, or this test could not fail.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def shows(line, dumped):
    """True if a dumped line begins with the line's text, left out where it says so."""
    parts = [re.escape(part.strip()) for part in line.split("...")]
    return re.match(r".*?".join(parts), dumped) is not None


def missing_line(block, dump):
    """The first line of the block that the dump has not, after those before it."""
    lines = iter(dump.splitlines())
    for line in block.splitlines():
        if line.strip() == "...":
            continue
        if not any(shows(line, dumped) for dumped in lines):
            return line
    return None


def dumps_of(cnnc, net):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([cnnc, "--dump=all", f"--dump-dir={folder}", net, "-o", "/dev/null"],
                       check=True)
        return {re.match(r"\d+-(\w+)", path.name)[1]: path.read_text()
                for path in Path(folder).glob("*.ir") if path.name.count(".") == 1}


def main():
    cnnc, net, readme = sys.argv[1:]
    text = Path(readme).read_text()
    dumps = dumps_of(cnnc, net)
    faults = []
    blocks = re.findall(r"^```ir (\w+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    for name, block in blocks:
        line = missing_line(block, dumps[name])
        if line:
            faults.append(f"{readme}: after {name} no line, or not here:\n    {line}")
        for word in ("live=", "f32[", "= "):
            changed = block.replace(word, word + "7", 1)
            if changed != block and not missing_line(changed, dumps[name]):
                faults.append(f"{readme}: {name}: a changed line is not found wanting")
    faults += [f"{readme}: nothing is shown of {name}"
               for name in dumps if name not in [block[0] for block in blocks]]
    table = re.search(r"^```compare\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    printed = subprocess.run([cnnc, "--compare", net], stdout=subprocess.PIPE, text=True,
                             check=True).stdout
    if not table or table[1] != printed:
        faults.append(f"{readme}: --compare prints\n{printed}")
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{len(blocks)} excerpts, {len(dumps)} passes, {len(faults)} faults")
    return 1 if faults or not blocks else 0


sys.exit(main())
