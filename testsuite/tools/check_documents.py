#!/usr/bin/env python3
"""Checks the promises of documents.

usage: check_documents.py CNNC ROOT REFERENCE.md

Links in every README.md and manual page below ROOT and in the reference lead somewhere: files
exist, anchors are headings. The README.md of a folder of the compiler lists its files. Programs in
all documents compile: those fenced as cnn, and indented ones that begin with a net. Commands of
cnnc run: indented lines that begin with cnnc or build/cnnc, and those in code that have options.
After a command that begins with $, each line must be one of its output. So do the
examples of the reference, one for each group of operators. The reference has every operator with
its arguments, every pass and option; --help-ops has the same arguments.
"""
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

faults = []


def anchor_of(heading):
    """Makes it like sites that show Markdown."""
    text = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return text.replace(" ", "-")


def anchors(text):
    return {anchor_of(h) for h in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


def without_blocks(text):
    return re.sub(r"(?m)^    .*$", "", re.sub(r"(?ms)^```.*?^```", "", text))


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", without_blocks(text))


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


def compiles(cnnc, path, program, what, folder):
    file = Path(folder) / "program.cnn"
    file.write_text(program)
    result = subprocess.run([cnnc, "--emit", "ir", file, "-o", "/dev/null"],
                            stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        faults.append(f"{path}: {what} does not compile:\n{result.stderr}")


def check_programs(cnnc, path, folder):
    count = 0
    for program in programs(path.read_text()):
        count += 1
        compiles(cnnc, path, program, f"program {count}", folder)
    return count


def commands(text):
    """Pairs of a command of cnnc and the lines that it must print."""
    for block in re.findall(r"(?m)(?:^    .+\n)+", text):
        lines = [line[4:] for line in block.splitlines()]
        if lines[0].startswith("$ cnnc "):
            yield lines[0][2:], lines[1:]
            continue
        for line in lines:
            for part in line.split("#")[0].split("&&"):
                if re.match(r"(build/)?cnnc [^\[]*\.cnn", part.strip()):
                    yield part.strip(), []
    for code in re.findall(r"`(cnnc [^`]*\.cnn[^`]*)`", without_blocks(text)):
        yield code, []


def check_commands(cnnc, root, path, folder):
    """Runs in a folder with the examples, digits.cnn and net.cnn."""
    count = 0
    for command, wanted in commands(path.read_text()):
        words = shlex.split(command)
        if not all(Path(folder, word).exists() for word in words if word.endswith((".cnn", ".gpu"))):
            faults.append(f"{path}: {command}: a file is missing")
            continue
        result = subprocess.run([Path(cnnc).resolve(), *words[1:]], cwd=folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        count += 1
        if result.returncode != 0 and not wanted:
            faults.append(f"{path}: {command}: status {result.returncode}:\n{result.stdout[:400]}")
        printed = result.stdout.splitlines()
        faults.extend(f"{path}: {command} does not print:\n{line}"
                      for line in wanted if line not in printed)
    return count


def make_folder(root, folder):
    for name, target in (("examples", "examples"), ("digits.cnn", "examples/digits/digits.cnn"),
                         ("net.cnn", "examples/lenet/lenet.cnn")):
        Path(folder, name).symlink_to(root / target)
    Path(folder, "dumps").mkdir()
    rates = {"fp64": 34e12, "fp32": 67e12, "tf32": 494e12, "bf16": 989e12, "fp16": 989e12,
             "memory": 4.8e12, "launch": 2e-6, "product": 0.9, "elementwise": 0.9}
    Path(folder, "my.gpu").write_text("".join(f"{k} = {v}\n" for k, v in rates.items()))


# A net around one line of the net, one of its end, and one of its training.
AROUND = """net around {{
    input x : u8[8, 8, 3]
    input label : class[10]
    y = scale(x, 1/255)
    {}
    logits = y -> flatten -> dense(10)
    output logits
    {}
}}
train {{
    optimizer = adam(lr = 1e-3)
    {}
}}
"""


def check_examples(cnnc, reference, folder):
    """The line that stands below the heading of each group."""
    text = reference.read_text()
    lines = re.findall(r"^## (?:Layers|Losses|Metrics|Optimizers|Schedules)\n\n.+\n\n    (.+)$",
                       text, re.MULTILINE)
    if len(lines) != 5:
        faults.append(f"{reference}: {len(lines)} of 5 groups have an example")
    for line in lines:
        word = line.split()[0]
        layer = line.replace("x ->", "y ->") if word == "y" else ""
        loss = line if word == "loss" else "loss softmax_cross_entropy(logits, label)"
        end = loss + (f"\n    {line}" if word == "metric" else "")
        program = AROUND.format(layer, end, line if word == "schedule" else "")
        if word == "optimizer":
            program = program.replace("optimizer = adam(lr = 1e-3)", line)
        compiles(cnnc, reference, program, f"'{line}'", folder)
    return len(lines)


def check_arguments(cnnc, reference):
    """Each argument that --help-ops names stands in the operator's table."""
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", reference.read_text(),
                               re.MULTILINE | re.DOTALL))
    text = subprocess.run([cnnc, "--help-ops"], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    count = 0
    for name, rest in re.findall(r"^  (\w+)\(.*?\)\n    .*\n((?:    \w+ .*\n)*)", text,
                                 re.MULTILINE):
        for argument in re.findall(r"^    (\w+)", rest, re.MULTILINE):
            count += 1
            if f"| `{argument}` |" not in sections.get(name, ""):
                faults.append(f"{reference}: {name} has no row for {argument}")
    if count == 0:
        faults.append("--help-ops names no argument")
    return count


def check_rows(root, reference):
    text = reference.read_text()
    wanted = {"### " + name for name in
              re.findall(r"^OP\((\w+),", (root / "ir/ops.def").read_text(), re.MULTILINE)}
    wanted |= {f"| `{name}` |" for name in
               re.findall(r"^PASS\((\w+),", (root / "passes/passes.def").read_text(),
                          re.MULTILINE)}
    wanted |= {f"| `{name}" for name in
               re.findall(r'^    \{ "(-[^"]+)"', (root / "frontend/driver/options.c").read_text(),
                          re.MULTILINE)}
    lines = text.splitlines()
    for row in sorted(wanted):
        if not any(line == row if row[0] == "#" else line.startswith(row) for line in lines):
            faults.append(f"{reference}: no line '{row}'")
    return len(wanted)


def check_files(root, folder):
    """README.md names each source of the folder and its rooms, or the one of a header.  The
    operators' sources are named by their table."""
    words = set(re.findall(r"`([a-z_0-9]+\.\w+)`", (root / folder / "README.md").read_text()))
    count = 0
    for path in sorted((root / folder).rglob("*.*")):
        name = path.name
        if path.suffix == ".h" and path.with_suffix(".c").exists():
            name = path.with_suffix(".c").name
        if path.suffix not in (".c", ".h", ".l", ".y") or path.parent.name == "ops":
            continue
        count += 1
        if not words & {name, path.name}:
            faults.append(f"{folder}/README.md: does not list {path.relative_to(root)}")
    return count


def main():
    cnnc, root, reference = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    documents = [p for p in sorted(root.rglob("[A-Z]*.md"))
                 if "build" not in p.relative_to(root).parts[0]] + [reference]
    links = sum(check_links(p) for p in documents)
    with tempfile.TemporaryDirectory() as folder:
        count = {p: check_programs(cnnc, p, folder) for p in documents}
        examples = check_examples(cnnc, reference, folder)
        make_folder(root.resolve(), folder)
        ran = sum(check_commands(cnnc, root, p, folder) for p in documents)
    for path in (root / "README.md", root / "frontend/LANGUAGE.md", reference):
        if count[path] == 0:
            faults.append(f"{path}: no program is in it, or none was found")
    rows = check_rows(root, reference) + check_arguments(cnnc, reference)
    listed = sum(check_files(root, folder) for folder in ("ir", "passes", "codegen", "frontend"))
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{len(documents)} documents, {links} links, {sum(count.values())} programs, "
          f"{ran} commands, {examples} examples, {rows} rows, {listed} files, "
          f"{len(faults)} faults")
    return 1 if faults or links == 0 or ran == 0 else 0


sys.exit(main())
