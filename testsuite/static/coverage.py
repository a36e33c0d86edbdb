#!/usr/bin/env python3
"""Which lines of the compiler its tests run.

    coverage.py ROOT BUILD [--least PERCENT] [--lines FILE ...] [--built | --no-run]

Builds ROOT's preset `coverage` in BUILD. Runs units, texts, the passes' texts, and the nets of ops/
and the small examples. The nets go through the compiler and the interpreter, with all passes and
with none. --built: BUILD is built, and its units and texts have run, so that only nets do. Prints
the share of lines run in each folder and the files that have most lines not run; with --lines these
lines of the files named. 1 if ir, passes or frontend have less than PERCENT.

A line counts as gcov counts it, except calls of bug(), which no input may reach: those lines, and
their continuations, are left out.  So are the files of flex and bison; their files here count.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOLDERS = ("ir", "passes", "frontend", "codegen")
HELD = ("ir", "passes", "frontend")
WORST = 12
FORMS = 3       # one net in so many has a table of its plan, and its graph is read back
EXAMPLES = ("digits", "lenet", "skip", "mnist_cnn")
TARGETS = ("cnnc", "interpret", "random_tensors")


def run(*command, **options):
    return subprocess.run([str(c) for c in command], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, **options)


def must(*command, **options):
    done = run(*command, **options)
    if done.returncode:
        sys.exit(f"{' '.join(str(c) for c in command)}:\n{(done.stdout + done.stderr)[-4000:]}")
    return done.stdout


def build(root, folder):
    must("cmake", "--preset", "coverage", "-DCNNC_TESTS=ON", "-B", folder, "-S", root, cwd=root)
    tests = [f"test_{p.stem[5:]}" for p in sorted((root / "testsuite/unit").glob("test_*.c"))]
    must("cmake", "--build", folder, "-j", os.environ.get("JOBS", "1"), "--target", *TARGETS,
         *tests)
    for counts in folder.rglob("*.gcda"):
        counts.unlink()


def tensors_of(text):
    """The lines of `info --tensors`, from a graph's text: role, name, type, shape, classes."""
    for line in text.splitlines():
        match = re.match(r"%\d+ (\S+) (\w+)\[(.*?)\] (input|param|statistic)\b(?:.*?classes=(\d+))?", line)
        if match:
            name, dtype, shape, role, classes = match.groups()
            role = "input" if role == "input" else "param"
            yield f"{role} {name} {dtype} {shape.replace(', ', 'x')} {classes or 0}\n"


def check_net(folder, net, options, forms):
    """All that the compiler does for a net, and the references of its operators; forms: the table of
    its plan and the reader of its graph, too."""
    cnnc, tools = folder / "cnnc", folder / "testsuite"
    with tempfile.TemporaryDirectory() as work:
        more = [["--emit", "plan-csv"]] if forms else []
        for flags in (["-O2", "--main", "--header", "net.h"], ["-O0"], ["--mode", "infer"],
                      ["-fkeep-gradients", "--emit", "plan"], *more):
            must(cnnc, *flags, *options, net, "-o", "net.cu", cwd=work)
        graph = must(cnnc, "--emit", "ir", "--precision", "f64", *options, net)
        if forms:
            Path(work, "net.ir").write_text(graph)
            must(cnnc, "--emit", "ir", "net.ir", cwd=work)
        must(tools / "random_tensors", "--seed", "1", "--weights", "w", "--batch", "b", cwd=work,
             input="".join(tensors_of(graph)))
        for level in ("-O0", "-O2"):
            must(tools / "interpret", level, *options, net, "--load", "w", "--batch-file", "b",
                 "--seed", "1", "--steps", "1", cwd=work)


def options_of(text):
    return [w for o in re.findall(r"(?:-D\s*\w+=\S+|--batch\s+\d+)", text) for w in o.split()]


def run_texts(folder):
    out = must("ctest", "--test-dir", folder, "-j", os.environ.get("JOBS", "1"), "-R",
               r"^(unit\..*|text|passes\.text)$", "--output-on-failure")
    print(re.search(r"^\d+% tests passed.*$", out, re.MULTILINE).group())


def run_nets(root, folder):
    nets = [(root / "examples" / name / f"{name}.cnn", ["--batch", "2"]) for name in EXAMPLES]
    for net in sorted((root / "testsuite/ops").glob("*.cnn")):
        runs = re.findall(r"^# run:(.*)$", net.read_text(), re.MULTILINE)
        nets += [(net, options_of(line)) for line in runs[:1]]
    with ThreadPoolExecutor(int(os.environ.get("JOBS", "1"))) as pool:
        list(pool.map(lambda net: check_net(folder, *net[1], net[0] % FORMS == 0), enumerate(nets)))
    print(f"{len(nets)} nets compiled and interpreted", flush=True)


def lines_of_bugs(text):
    """Numbers of the lines on which a call of bug() stands, to its end."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        inside = inside or re.match(r"\s*(?:default:\s*)?bug\(", line)
        if inside or re.search(r"\bbug\(", line):
            yield number
            inside = not line.rstrip().endswith(";")


def counts_of(root, folder):
    """{file: {line: how often}} of the compiler's own files."""
    counts = {}
    for data in sorted((folder / "CMakeFiles").rglob("*.gcda")):
        out = run("gcov", "--json-format", "--stdout", data, cwd=folder).stdout
        for text in out.splitlines():
            for file in json.loads(text)["files"] if text.startswith("{") else []:
                path = Path(folder, file["file"]).resolve()
                if not path.is_relative_to(root) or path.is_relative_to(folder):
                    continue
                lines = counts.setdefault(str(path.relative_to(root)), {})
                for line in file["lines"]:
                    number = line["line_number"]
                    lines[number] = lines.get(number, 0) + line["count"]
    for name, lines in counts.items():
        for number in lines_of_bugs((root / name).read_text()):
            lines.pop(number, None)
    return counts


def report(root, counts, least, wanted):
    low = False
    missed = {name: [n for n, c in sorted(lines.items()) if c == 0]
              for name, lines in counts.items() if name.startswith(FOLDERS)}
    for folder in FOLDERS:
        names = [n for n in missed if n.split("/")[0] == folder]
        total = sum(len(counts[n]) for n in names)
        share = 100 * (1 - sum(len(missed[n]) for n in names) / total) if total else 0
        print(f"{folder}: {share:.2f} % of {total} lines")
        low = low or (folder in HELD and share < least)
    for name in sorted(missed, key=lambda n: -len(missed[n]))[:WORST]:
        print(f"    {name}: {len(missed[name])} of {len(counts[name])} lines not run")
    for name in wanted:
        lines = (root / name).read_text().splitlines()
        for number in missed[name]:
            print(f"{name}:{number}: {lines[number - 1]}")
    return low


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("build", type=Path)
    parser.add_argument("--least", type=float, default=95)
    parser.add_argument("--lines", nargs="*", default=[])
    parser.add_argument("--built", action="store_true")
    parser.add_argument("--no-run", action="store_true", help="report what was counted before")
    options = parser.parse_args()
    root, folder = options.root.resolve(), options.build.resolve()
    if not options.no_run:
        if not options.built:
            build(root, folder)
            run_texts(folder)
        run_nets(root, folder)
    if report(root, counts_of(root, folder), options.least, options.lines):
        print(f"less than {options.least} % of {', '.join(HELD)}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
