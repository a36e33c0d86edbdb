"""Prints the measurements as one table in Markdown.

The last row of each kind counts, for a net in a precision; a row that is an error says so. The peer
of fp16 and bf16 is PyTorch's compile_graph, that of tf32 and fp32 its eager_fp32 (which may use
TF32).
"""
import os

import floors
from rows import RESULTS, read_rows, say

PEERS = {"fp16": "compile_graph", "bf16": "compile_graph", "tf32": "eager_fp32",
         "fp32": "eager_fp32"}
COLUMNS = ["net", "batch", "precision", "ms", "images/s", "PyTorch ms", "ratio", "of roofline",
           "arena MiB", "process MiB", "PyTorch MiB", "first step s", "launches"]


def rows_of(kind, options):
    """From both folders; those of --out come last, and so count."""
    folders = [RESULTS] if os.path.abspath(options.out) == RESULTS else [RESULTS, options.out]
    return [row for folder in folders for row in read_rows(os.path.join(folder, kind + ".jsonl"))]


def number(value, form):
    """A number of the table, or a dash."""
    return "-" if value is None else format(value, form)


def mib(size):
    """Bytes, in MiB."""
    return None if size is None else size / 2 ** 20


def cells(row, peers):
    """A row of the table."""
    head = [row["net"], str(row.get("batch", "-")), row["precision"]]
    if "error" in row:
        return [*head, row["error"].split("\n")[0][:60], *["-"] * (len(COLUMNS) - 4)]
    peer = peers.get((row["net"], PEERS[row["precision"]]), {})
    same = peer.get("batch") == row["batch"] and "ms_med" in peer
    return [*head, number(row["ms"], ".3f"), number(row["images_s"], ".0f"),
            number(peer["ms_med"] if same else None, ".3f"),
            number(row["ms"] / peer["ms_med"] if same else None, ".2f"),
            number(row.get("of_floor"), ".2f"), number(mib(row["arena_bytes"]), ".1f"),
            number(mib(row.get("process_bytes")), ".0f"),
            number(peer.get("dev_used_mib") if same else None, ".0f"),
            number(row["first_step_s"], ".2f"), str(row["launches"])]


def print_ours(options):
    """The nets, in the order of the bench."""
    order = list(floors.NETS)
    peers = {(row["net"], row["mode"]): row for row in rows_of("peers", options)
             if "error" not in row}
    last = {}
    for row in rows_of("ours", options):
        last[row["net"], row["precision"], row["device"]] = row
    if not last:
        say("No times are there yet.")
        return
    for device in sorted({key[2] for key in last}):
        commits = sorted({row["commit"] for key, row in last.items() if key[2] == device})
        say(f"On {device}, of {', '.join(commits)}:\n")
        say("| " + " | ".join(COLUMNS) + " |")
        say("|" + "---|" * len(COLUMNS))
        for key in sorted((key for key in last if key[2] == device),
                          key=lambda key: (order.index(key[0]), key[1])):
            say("| " + " | ".join(cells(last[key], peers)) + " |")
        say("")


def print_correct(options):
    """How many runs are right, and which are not."""
    last = {(row["net"], row["precision"], row["device"]): row
            for row in rows_of("correct", options)}
    for device, precision in sorted({(key[2], key[1]) for key in last}):
        found = [row for key, row in last.items() if key[1:] == (precision, device)]
        wrong = [row for row in found if "error" in row]
        say(f"{device}, {precision}: {len(found) - len(wrong)} of {len(found)} runs are right.")
        for row in wrong:
            say(f"* {row['net']}: {row['error'].splitlines()[0][:160]}")


def main(options):
    """Prints both; 0."""
    print_ours(options)
    print_correct(options)
    return 0
