#!/usr/bin/env python3
"""The manual page of cnnc-pack-images.

usage: check_manual.py PACK

man and mandoc read it without a warning. It has each option of --help with its meaning, each exit
status, and the whole description.
"""
import re
import shutil
import subprocess
import sys
import tempfile

OPTIONS, STATUSES = 19, 4


def run(*command):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False).stdout


def main():
    pack, faults = sys.argv[1], []
    for tool in ("man", "mandoc"):
        if shutil.which(tool) is None:
            print(f"no {tool} here: skipped")
            sys.exit(77)
    helped = run(pack, "--help")
    with tempfile.NamedTemporaryFile("w", suffix=".1") as file:
        file.write(run(pack, "--man"))
        file.flush()
        for said in (run("mandoc", "-T", "lint", "-W", "style", file.name),
                     run("man", "--warnings=w", "-EUTF-8", "-Tlatin1", "-l", file.name)):
            faults += [line for line in said.splitlines() if re.search(r"\.1:\d+", line)]
        text = re.sub(".\b", "", run("mandoc", "-T", "utf8", "-O", "width=200", file.name))
    text = " ".join(text.replace("‐", "-").split())
    options = re.findall(r"^  (--\S+) +([A-Z]\w*)? +(.*)$", helped, re.MULTILINE)
    statuses = re.findall(r"^  (\d)  (.*)$", helped, re.MULTILINE)
    if (len(options), len(statuses)) != (OPTIONS, STATUSES):
        faults.append(f"--help has {len(options)} options and {len(statuses)} exit statuses")
    wanted = [" ".join(word for word in row if word) for row in options + statuses]
    wanted.append(" ".join(helped.split("\n\n")[1].split()))
    faults += [f"it lacks: {words}" for words in wanted if words not in text]
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{len(wanted)} texts, {len(faults)} faults")
    return 1 if faults else 0


sys.exit(main())
