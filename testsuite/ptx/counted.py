"""Counts of one training step of a net, which nvcc's PTX of it takes on the CPU."""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "tools"))
from held import run  # noqa: E402


def read_table(path):
    """The rows of CNNC_HOST_PTX_TABLE: numbers by column, and the kernel's name."""
    with open(path, encoding="utf-8") as file:
        *columns, _ = file.readline().split()
        for line in file:
            *numbers, kernel = line.rstrip("\n").split(" ", len(columns))
            yield {**dict(zip(columns, map(int, numbers))), "kernel": kernel}


def count_step(build, net, options, work, table=None):
    """Builds the net in the folder and takes one step. Returns the plan of training, and the rows
    of its steps by their numbers."""
    table = table or f"{work}/counts"
    run([f"{HERE}/prepare", build, net, work, "-fno-keep-gradients", *options])
    run([f"{work}/net", "step", "--seed", "1", "--load", f"{work}/weights", "--steps", "1",
         "--batch", f"{work}/batch", "--save", f"{work}/saved"],
        CNNC_HOST_PTX=f"{work}/net.ptx", CNNC_HOST_PTX_TABLE=table,
        CNNC_HOST_PLAN=f"{work}/train.json:{work}/eval.json")
    with open(f"{work}/train.json", encoding="utf-8") as file:
        plan = json.load(file)
    rows = {}
    for row in read_table(table):
        if row["step"] >= 0:
            rows.setdefault(row["step"], []).append(row)
    return plan, rows


def short(kernel):
    """The name of a kernel without its template arguments."""
    return kernel.split("<")[0]


def total(rows):
    """The sums of rows, without their names."""
    rows = list(rows)
    return {key: sum(row[key] for row in rows)
            for key in rows[0] if key not in ("step", "kernel")} if rows else {}
