#!/usr/bin/env python3
"""Numbers that cnnc prints in two answers are equal.

    check_same.py CNNC HOST LIBRARY NET.cnn [OPTION]...

Counts of parameters and running statistics agree in --summary, the page of --report, the banner and
header of the emitted file and the trainer's `info`. The trainer is compiled against HOST, the
folder of the CPU's CUDA, and its LIBRARY. The costs in the plan as JSON are those of --summary:
operations, bytes moved, time in the model, recomputed launches; and so are budget, precision, GPU.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

CXX = os.environ.get("CXX", "clang++")


def run(*command):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, check=True).stdout


def find(pattern, text):
    """The numbers of the first match; digits may be in groups."""
    match = re.search(pattern, text)
    return tuple(int(n.replace(" ", "")) for n in match.groups("0")) if match else None


def weights(cnnc, host, library, net, options, folder):
    """(parameters, running statistics) by whom says so, and tensors where they are said."""
    cu, header, page = (os.path.join(folder, name) for name in ("net.cu", "net.h", "net.html"))
    run(cnnc, *options, net, "--main", "-o", cu, "--header", header, "--report", page)
    program = os.path.join(folder, "net")
    run(CXX, "-std=c++17", "-O0", "-I", host, "-x", "c++", cu, "-x", "none", library, "-lpthread",
        "-o", program)
    texts = [open(path, encoding="utf-8").read() for path in (cu, header, page)]
    banner = find(r"//   parameters  ([\d ]+) in (\d+) tensors?(?:; ([\d ]+) running statistics in "
                  r"(\d+) tensors?)?\n", texts[0])
    macros = {name: find(rf"#define \w+?_{name} (\d+)\n", texts[1])[0]
              for name in ("PARAMETERS", "PARAM_COUNT", "STATISTICS", "STATISTIC_COUNT")}
    said = find(r"(\d+) parameters, (?:(\d+) running statistics, )?batch", run(program, "info"))
    tile = find(r"<dt>parameters</dt><dd>([\d ]+)<small>(?:beside ([\d ]+) running)?", texts[2])
    summary = json.loads(run(cnnc, *options, "--summary", "--format", "json", net))
    return {
        "the summary": (summary["parameters"], summary["running_statistics"]),
        "its layers": (sum(row["parameters"] for row in summary["layers"]),
                       summary["running_statistics"]),
        "the text of the summary": (
            find(r"\nparameters +(\d+)\n", run(cnnc, *options, "--summary", net))[0],
            find(r"\nrunning statistics +(\d+)\n", run(cnnc, *options, "--summary", net))[0]),
        "the banner": (banner[0], banner[2]),
        "the header": (macros["PARAMETERS"], macros["STATISTICS"]),
        "the trainer": said,
        "the page": tile,
    }, (banner[1], banner[3]), (macros["PARAM_COUNT"], macros["STATISTIC_COUNT"])


def check_weights(found):
    said, *tensors = found
    faults = [f"{who} has {count}, the summary {said['the summary']}"
              for who, count in said.items() if count != said["the summary"]]
    if tensors[0] != tensors[1]:
        faults.append(f"the banner has {tensors[0]} tensors, the header {tensors[1]}")
    return faults


def check_costs(cnnc, net, options):
    """The plan's sums against its steps, and against --summary."""
    plan = json.loads(run(cnnc, *options, "--emit", "plan", net))
    summary = json.loads(run(cnnc, *options, "--summary", "--format", "json", net))
    whole = next(row for row in summary["phases"] if row["phase"] == "all")
    faults = []
    for key in ("flops", "moved_bytes", "model_time_ps"):
        total = sum(step[key] for step in plan["steps"])
        if key == "model_time_ps":
            total += plan["copy_wait_ps"]
        if not plan[key] == whole[key] == total:
            faults.append(f"{key}: {plan[key]} in the plan, {total} in its steps, {whole[key]} in "
                          "the summary")
    again = sum(step["phase"] == "recompute" for step in plan["steps"])
    if plan["recomputed_steps"] != again:
        faults.append(f"{plan['recomputed_steps']} recomputed steps are stated, of {again}")
    for key in ("precision", "gpu", "budget_bytes", "net", "mode"):
        if plan[key] != summary[key]:
            faults.append(f"{key} is {plan[key]} in the plan, {summary[key]} in the summary")
    if any(o.startswith("--budget") for o in options) != (plan["budget_bytes"] is not None):
        faults.append(f"the budget is {plan['budget_bytes']}")
    return faults


def main():
    cnnc, host, library, net, *options = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        found = weights(cnnc, host, library, net, options, folder)
    print(*found)
    faults = check_weights(found) + check_costs(cnnc, net, options)
    print(*faults, f"{len(faults)} faults", sep="\n")
    return 1 if faults else 0


sys.exit(main())
