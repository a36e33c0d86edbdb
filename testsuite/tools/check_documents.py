#!/usr/bin/env python3
"""Documents that hold what they promise.

usage: check_documents.py CNNC ROOT REFERENCE.md

Links in every README.md below ROOT and in the reference lead somewhere: files exist, anchors
are headings. Programs in ROOT/README.md and in the reference compile: those fenced as cnn, and
indented ones that begin with a net. The reference has every operator, pass and option.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

faults = []


def anchor_of(heading):
    """As sites that show Markdown make it."""
    text = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return text.replace(" ", "-")


def anchors(text):
    return {anchor_of(h) for h in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


def without_code(text):
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"(?m)^    .*$", "", text)
    return re.sub(r"`[^`\n]*`", "", text)


def check_links(path):
    text = path.read_text()
    count = 0
    for target in re.findall(r"(?<!\\)\]\(([^)\s]+)\)", without_code(text)):
        if re.match(r"\w+:", target):
            continue
        count += 1
        name, _, anchor = target.partition("#")
        file = path.parent / name if name else path
        if not file.exists():
            faults.append(f"{path}: nothing is at {target}")
        elif anchor and anchor not in anchors(file.read_text()):
            faults.append(f"{path}: no heading for {target}")
    return count


def programs(text):
    yield from re.findall(r"^```cnn\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    for block in re.findall(r"(?:^(?:    .*)?\n)+", text, re.MULTILINE):
        if re.match(r"\s*net \w+ \{", block):
            yield re.sub(r"(?m)^    ", "", block)


def check_programs(cnnc, path, folder):
    count = 0
    for program in programs(path.read_text()):
        count += 1
        file = Path(folder) / "program.cnn"
        file.write_text(program)
        result = subprocess.run([cnnc, "--emit", "ir", file, "-o", "/dev/null"],
                                stderr=subprocess.PIPE, text=True)
        if result.returncode != 0:
            faults.append(f"{path}: program {count} does not compile:\n{result.stderr}")
    if count == 0:
        faults.append(f"{path}: no program is in it, or none was found")
    return count


def check_rows(root, reference):
    text = reference.read_text()
    wanted = {"### " + name for name in
              re.findall(r"^OP\((\w+),", (root / "ir/ops.def").read_text(), re.MULTILINE)}
    wanted |= {f"| `{name}` |" for name in
               re.findall(r"^PASS\((\w+),", (root / "passes/passes.def").read_text(),
                          re.MULTILINE)}
    wanted |= {f"| `{name}" for name in
               re.findall(r'^    \{ "(-[^"]+)"', (root / "frontend/options.c").read_text(),
                          re.MULTILINE)}
    lines = text.splitlines()
    for row in sorted(wanted):
        if not any(line == row if row[0] == "#" else line.startswith(row) for line in lines):
            faults.append(f"{reference}: no line '{row}'")
    return len(wanted)


def main():
    cnnc, root, reference = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    documents = [p for p in sorted(root.rglob("README.md"))
                 if "build" not in p.relative_to(root).parts[0]] + [reference]
    links = sum(check_links(p) for p in documents)
    with tempfile.TemporaryDirectory() as folder:
        count = sum(check_programs(cnnc, p, folder) for p in (root / "README.md", reference))
    rows = check_rows(root, reference)
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{len(documents)} documents, {links} links, {count} programs, {rows} rows, "
          f"{len(faults)} faults")
    return 1 if faults or links == 0 else 0


sys.exit(main())
