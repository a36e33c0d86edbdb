#!/usr/bin/env python3
"""The last row of --compare is the file that the same options make.

    check_compare.py CNNC NET.cnn... -- OPTION... [-- OPTION...]...

For each net and each group of options the arena of the last row is ARENA_BYTES of the header. A
refusal is a refusal of both, with the same status. Each row has its saving from the row before;
text, CSV and JSON have the same rows. Levers that the options pull have rows, others have none.
"""
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile

LEVERS = ["micro-batch", "recomputation", "slices inside the net", "maps in host memory"]


def run(*command):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def arena_of(cnnc, options, net, folder):
    """Status, and the arena that the header states."""
    header = os.path.join(folder, "net.h")
    made = run(cnnc, *options, net, "-o", os.path.join(folder, "net.cu"), "--header", header)
    if made.returncode != 0:
        return made.returncode, None
    name = "INFER_ARENA_BYTES" if "infer" in options else "ARENA_BYTES"
    with open(header) as text:
        return 0, int(re.search(rf"_{name} (\d+)", text.read())[1])


def rows_fault(rows):
    """The arenas determine the saved bytes and their share."""
    for before, row in zip(rows, rows[1:]):
        saved = before["arena_bytes"] - row["arena_bytes"]
        if row["saved_bytes"] != saved or \
                abs(row["share"] - saved / rows[0]["arena_bytes"]) > 1e-12:
            return f"{row} does not follow from {before}"
        if row["bound_bytes"] > row["arena_bytes"]:
            return f"{row} is below its bound"
    return None


def format_fault(rows, table, text):
    """The same rows as CSV and as text."""
    read = list(csv.DictReader(io.StringIO(table)))
    as_text = [{key: "" if value is None else str(value) for key, value in row.items()}
               for row in rows]
    if [{**row, "share": ""} for row in read] != [{**row, "share": ""} for row in as_text]:
        return "CSV has other rows"
    lines = text.splitlines()[1:]
    for row, line in zip(rows, lines):
        words = line.removeprefix("+ ").removeprefix(row["after"]).split()
        if words[0] != str(row["arena_bytes"]) or words[2] != str(row["bound_bytes"]):
            return f"text has another row: {line}"
    if len(lines) != len(rows) + 1 or lines[-1].split()[:2] != ["all", str(rows[-1]["arena_bytes"])]:
        return "text has other rows"
    return None


def levers_of(options):
    """The levers that the options set, for a training step."""
    limited = "--budget" in options
    trains = "infer" not in options
    pulled = [trains and "--microbatch" in options and "auto" not in options,
              trains and limited and "-fno-checkpoint" not in options and
              "every 2" not in options,
              limited and "-fno-batch-split" not in options and "--split" not in options,
              trains and "--offload" in options]
    return [name for name, is_pulled in zip(LEVERS, pulled) if is_pulled]


def check(cnnc, net, options, folder):
    status, arena = arena_of(cnnc, options, net, folder)
    compared = run(cnnc, *options, "--compare", "--format", "json", net)
    if compared.returncode != status:
        return f"--compare ends with {compared.returncode}, -o with {status}"
    if status != 0:
        return None
    rows = json.loads(compared.stdout)["compare"]
    if rows[-1]["arena_bytes"] != arena:
        return f"the last row is {rows[-1]['arena_bytes']}, the file's arena {arena}"
    levers = [row["after"] for row in rows if row["after"] in LEVERS]
    if "--fit" not in options and "auto" not in options and levers != levers_of(options):
        return f"the levers are {levers}, not {levers_of(options)}"
    return rows_fault(rows) or format_fault(
        rows, run(cnnc, *options, "--compare", "--format", "csv", net).stdout,
        run(cnnc, *options, "--compare", net).stdout)


def main():
    cnnc, *words = sys.argv[1:]
    groups = [[]]
    for word in words:
        if word == "--":
            groups.append([])
        else:
            groups[-1].append(word)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for net in groups[0]:
            for options in groups[1:]:
                fault = check(cnnc, net, options, folder)
                failed += fault is not None
                if fault:
                    print(f"{os.path.basename(net)} {' '.join(options)}: {fault}")
    print(f"{len(groups[0])} nets, {len(groups) - 1} groups of options, {failed} faults")
    return 1 if failed else 0


sys.exit(main())
