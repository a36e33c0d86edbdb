#!/usr/bin/env python3
"""Checks --counts: the page has each launch's counts, and a table of another program is refused.

    check_counts.py CNNC NET.cnn [OPTION...]

The table is one of make_counts.py, so no nvcc is needed. Cells of the page are computed from it
again. Cells are changed in turn, and each change must be found. Tables that do not fit must be
errors with a place.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from browser import Browser  # noqa: E402
from check_page import MODES, check_looks, check_page, grouped, run  # noqa: E402

ROWS = """
[...document.querySelectorAll('#train-counts tr')].slice(1).map(r =>
    [...r.cells].map(c => (c.classList.contains('hot') ? '!' : '') + c.textContent))"""

# An edit of the table, as sed -E, and the error.
REFUSED = {
    "s/^1 1 [0-9]+ /1 1 3 /": r":4:1: error: step 1 of this program has \d+ blocks in a launch: are",
    "s/^1 1 /1 0 /": r":4:1: error: step 1 of this program has \d+ blocks",
    "s/conv_forward/conv_backward/": r":3:\d+: error: step 0 of this program is a launch of conv_",
    "s/ conv_forward<.*/ conv_forward2/": r":3:\d+: error: step 0 of this program is a launch of",
    "4d": r":\d+:1: error: step 1 is missing, a launch of [a-z_]+",
    "4p": r":5:1: error: step 1 is there twice",
    "s/^1 1 /999 1 /": ":4:1: error: the program has no step 999",
    "s/^(1 1 [0-9]+) [0-9]+/\\1 many/": r":4:\d+: error: expected a number",
    "s/^(1 1 [0-9]+) /\\1 -/": r":4:\d+: error: a count is negative",
    "s/^(1 1 [0-9]+) /\\19999999999999999999/": r":4:\d+: error: this number is too large",
    "4s/ [0-9]+ ([a-z])/ \\1/": r":4:\d+: error: expected a number",
    "1s/ mma//": ":1:1: error: there is no column 'mma': a table of counts is what",
    "1s/ kernel//": ":1:1: error: there is no column 'kernel'",
    "1s/step/steps/": ":1:1: error: there is no column 'step'",
    "2,$d": ":2:1: error: there is no step of the program",
    "d": ":1:1: error: there is no column 'kernel'",
}


def ratio(count, of):
    return count / of if of else 0


def bytes_text(count):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            break
        count /= 1024
    return f"{count} B" if unit == "B" else f"{count:.2f} {unit}"


def against(row, requests, actual, least):
    if row[requests] == 0:
        return "–"
    marked = "!" if row[actual] >= 1.5 * row[least] else ""
    return f"{marked}{row[actual] / row[requests]:.2f} of {row[least] / row[requests]:.2f}"


def cells(row, whole):
    """The cells that a row of counts has, after the names; the third is the bar."""
    return [grouped(row["instructions"]), "",
            f"{100 * ratio(row['instructions'], whole):.1f}%",
            f"{row['instructions'] / row['mma']:.1f}" if row["mma"] else "–",
            against(row, "load_requests", "load_sectors", "load_least"),
            against(row, "store_requests", "store_sectors", "store_least"),
            against(row, "shared_requests", "shared_passes", "shared_least"),
            f"{row['lanes'] / row['instructions']:.1f}",
            f"{100 * ratio(row['divergent'], row['branches']):.0f}%",
            bytes_text(row["load_bytes"]), bytes_text(row["store_bytes"])]


def wanted(table, plan):
    columns, *lines = [line.split() for line in table.splitlines()]
    rows = {}
    for line in lines:
        rows[int(line[0])] = dict(zip(columns[:-1], map(int, line)))
    rows.pop(-1)
    whole = {name: sum(row[name] for row in rows.values()) for name in columns[:-1]}
    names = [[step["name"], step.get("kernel", "no kernel")] for step in plan["steps"]]
    return [*(name + (cells(rows[k], whole["instructions"]) if k in rows else ["not counted"])
              for k, name in enumerate(names)),
            ["all", "", *cells(whole, whole["instructions"])]]


def shown(browser, path):
    browser.open(path)
    return browser.evaluate(ROWS)


def check_refused(command, table, folder):
    path = os.path.join(folder, "refused.txt")
    for edit, error in REFUSED.items():
        text = subprocess.run(["sed", "-E", edit], input=table, stdout=subprocess.PIPE, text=True,
                              check=True).stdout
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([*command, path], stderr=subprocess.PIPE, text=True, check=False)
        if text == table or done.returncode != 1 or not re.match(re.escape(path) + error,
                                                                 done.stderr):
            yield f"{edit}: status {done.returncode}, {done.stderr[:200]}"
    if os.path.exists(os.path.join(folder, "none.html")):
        yield "there is a page of a table that is refused"


def main():
    cnnc, *program = sys.argv[1:]
    browser = Browser()
    with tempfile.TemporaryDirectory() as folder:
        page, counts = (os.path.join(folder, name) for name in ("page.html", "counts.txt"))
        table = run(sys.executable, f"{HERE}/make_counts.py", cnnc, *program)
        with open(counts, "w", encoding="utf-8") as file:
            file.write(table)
        run(cnnc, *program, "--report", page, "--counts", counts)
        plans = {mode: json.loads(run(cnnc, *program, "--mode", mode, "--emit", "plan"))
                 for mode in MODES}
        faults = check_page(browser, page, plans) + check_looks(browser, page)
        rows = wanted(table, plans["train"])
        got = shown(browser, page)
        faults += [f"{len(got)} rows, not {len(rows)}"] if len(got) != len(rows) else []
        faults += [f"a row is {a}, not {b}" for a, b in zip(got, rows) if a != b]
        with open(page, encoding="utf-8") as file:
            text = file.read()
        section = text.index('id="train-counts"')
        found = list(re.finditer(r'class="number[ hot]*" data-of="[a-z ]+">[0-9]', text[section:]))
        for match in found[:13]:
            at = section + match.end() - 1
            with open(page, "w", encoding="utf-8") as file:
                file.write(text[:at] + str(9 - int(text[at])) + text[at + 1:])
            if shown(browser, page) == rows:
                faults.append(f"not found: another digit in {match[0]}")
        faults += check_refused([cnnc, *program, "--report", os.path.join(folder, "none.html"),
                                 "--counts"], table, folder)
    browser.close()
    print(*faults[:20], f"{len(rows)} rows, {len(found[:13])} cells changed, {len(REFUSED)} tables "
          f"refused, {len(faults)} faults", sep="\n")
    return 1 if faults else 0


sys.exit(main())
