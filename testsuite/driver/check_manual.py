#!/usr/bin/env python3
"""The manual page of cnnc.

usage: check_manual.py CNNC

man and mandoc read it without a warning. It has the sections of a manual page, and under OPTIONS
each option of --help in its group, with its help. Each word that an option takes is named. The
exit statuses are those of --help. Each example of a command of cnnc has options that exist.
"""
import re
import shutil
import subprocess
import sys
import tempfile

SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "FILES", "EXAMPLES",
            "SEE ALSO"]


def run(*command):
    result = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return result.stdout, result.stderr


def shown(page):
    """The page as a terminal of 200 columns shows it, without bold and italic type."""
    text, errors = run("mandoc", "-T", "utf8", "-O", "width=200", page)
    return re.sub(".\b", "", text).replace("‐", "-"), errors


def check_tools(page, faults):
    for command in (["man", "--warnings=w", "-EUTF-8", "-Tutf8", "-l", page],
                    ["mandoc", "-T", "lint", "-W", "style", page]):
        out, errors = run(*command)
        said = errors + (out if command[0] == "mandoc" else "")
        if said or not (out or command[0] == "mandoc"):
            faults.append(f"{' '.join(command)}: {said or 'nothing is shown'}")


def check_sections(text, faults):
    found = re.findall(r"^([A-Z][A-Z ]+)$", text, re.MULTILINE)
    if found != SECTIONS:
        faults.append(f"the sections are {found}, not {SECTIONS}")


def rows_of(text):
    """Option, placeholder, help and group of each row of --help."""
    group = None
    for line in text.splitlines():
        title = re.match(r"(\w+):$", line)
        group = title[1] if title else group
        row = re.match(r"  (-\S+)(?: ([A-Z]\S*))?(?: {2,}| )(\S.*)", line)
        if row:
            yield row[1], row[2], row[3], group


def check_options(text, helped, faults):
    count = 0
    for name, value, meaning, group in rows_of(helped):
        count += 1
        section = re.search(rf"^   {group}$(.*?)(?=^ {{0,3}}\S)", text, re.MULTILINE | re.DOTALL)
        head = name + (f" {value}" if value else "")
        pattern = rf"^ +{re.escape(head)}\s+{re.escape(meaning)}"
        if not section or not re.search(pattern, section[1], re.MULTILINE):
            faults.append(f"{head} has no entry in the group {group}: {meaning}")
    if count < 40:
        faults.append(f"--help lists only {count} options")


def check_words(cnnc, text, faults):
    for name in ("--dump", "--stop-after", "--gpu"):
        table = "--gpus" if name == "--gpu" else "--passes"
        words = re.findall(r"^(\w+)", run(cnnc, table, "--format", "csv")[0], re.MULTILINE)[1:]
        entry = re.search(rf"^ +{name} .*?(?=^ +-)", text, re.MULTILINE | re.DOTALL)[0]
        faults.extend(f"the entry of {name} does not name {word}" for word in words
                      if not re.search(rf"\b{word}\b", entry))


def check_statuses(text, helped, faults):
    table = helped.split("Exit status:")[1]
    for status, meaning in re.findall(r"^  (\d+) +(.*)", table, re.MULTILINE):
        if not re.search(rf"^ +{status}\s+{re.escape(meaning)}$", text, re.MULTILINE):
            faults.append(f"the exit status {status} is missing: {meaning}")


def check_examples(text, helped, faults):
    known = {name for name, _, _, _ in rows_of(helped)}
    examples = re.findall(r"^ +cnnc (.*)", text.split("EXAMPLES")[1], re.MULTILINE)
    if len(examples) < 3:
        faults.append("there are fewer than 3 examples of cnnc")
    for example in examples:
        faults.extend(f"cnnc {example}: there is no {word}" for word in example.split()
                      if word.startswith("-") and word not in known)


def main():
    cnnc, faults = sys.argv[1], []
    for tool in ("man", "mandoc"):
        if shutil.which(tool) is None:
            print(f"no {tool} here: skipped")
            sys.exit(77)
    helped = run(cnnc, "--help")[0]
    with tempfile.NamedTemporaryFile("w", suffix=".1") as file:
        file.write(run(cnnc, "--man")[0])
        file.flush()
        check_tools(file.name, faults)
        text = shown(file.name)[0]
    check_sections(text, faults)
    check_options(text, helped, faults)
    check_words(cnnc, text, faults)
    check_statuses(text, helped, faults)
    check_examples(text, helped, faults)
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{len(text.splitlines())} lines, {len(faults)} faults")
    return 1 if faults else 0


sys.exit(main())
