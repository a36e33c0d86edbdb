#!/usr/bin/env python3
"""coverage.py finds lines that were not run: a small program of which one branch and one bug() are
not."""
import io
import os
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from coverage import HELD, counts_of, report  # noqa: E402

PROGRAM = """#include <stdlib.h>
static void bug(const char *words, int number)
{
    exit(words[0] + number);
}
int main(int argc, char **argv)
{
    (void)argv;
    if (argc == 2)
        return 7;
    if (argc == 3)
        bug("three",
            argc);
    return 0;
}
"""


def main():
    with tempfile.TemporaryDirectory() as work:
        root, build = Path(work).resolve(), Path(work).resolve() / "build"
        (build / "CMakeFiles").mkdir(parents=True)
        for folder in HELD:
            (root / folder).mkdir()
            source = root / folder / "program.c"
            source.write_text(PROGRAM)
            program = build / "CMakeFiles" / folder
            subprocess.run(["gcc", "--coverage", "-O0", "-o", program, source], check=True,
                           cwd=program.parent)
            subprocess.run([program], check=True)
        counts = counts_of(root, build)
        said = io.StringIO()
        with redirect_stdout(said):
            low = report(root, counts, 95, ["ir/program.c"])
            enough = not report(root, counts, 1, [])
    missed = [n for n, c in counts["ir/program.c"].items() if c == 0]
    found = "ir/program.c:10:         return 7;" in said.getvalue()
    print(said.getvalue(), f"not run: {missed}")
    return 0 if low and found and 11 not in missed and 12 not in missed and enough else 1


sys.exit(main())
