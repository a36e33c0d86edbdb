#!/usr/bin/env python3
"""Checks the answers of cnnc about available memory and its absence.

    check_answers.py CNNC NET.cnn BUDGET [OPTION]...

BUDGET, in bytes, is one in which nothing fits. The refusal has the status 4 and leaves no file; its
smallest arena is one that can be had; the list at the fullest step has buffers of that plan, and
all of its bytes; the batches that it names fit, and one sample more does not, which --fit finds
too. Every row of --curve can be had as a budget, at no more than its cost and no less than its
bound. The banner and --summary agree with --time about a budget.

Then each answer is made wrong, in every way that the checks are for, and each must be found.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


class Compiler:
    """Runs of cnnc on one net; equal ones run once."""

    def __init__(self, cnnc, net, options):
        self.command = [cnnc, *options]
        self.net = net
        self.runs = {}

    def run(self, *options):
        """Status, output and standard error."""
        if options not in self.runs:
            result = subprocess.run([*self.command, *options, self.net], text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.runs[options] = result.returncode, result.stdout, result.stderr
        return self.runs[options]

    def plan(self, *options):
        """None: it does not fit."""
        status, text, _ = self.run("--emit", "plan", *options)
        return json.loads(text) if status == 0 else None

    def arena(self, batch, *options):
        """For a file that trains; None: it does not fit."""
        plans = [self.plan("--batch", str(batch), "--mode", mode, *options)
                 for mode in ("train", "eval")]
        return None if None in plans else max(p["arena_bytes"] for p in plans)


def size_of(text):
    number, unit = text.split()
    return float(number) * UNITS[unit]


def is_about(text, size):
    """True if a size with two decimals is that number of bytes."""
    return abs(size_of(text) - size) <= 0.0101 * UNITS[text.split()[1]]


# ---- the refusal ----------------------------------------------------------------------------------

LINE = re.compile(r" +([0-9.]+ [KMG]?i?B)  in (.+)")
BUFFER = re.compile(r"(\S+) (\w+)(\[.*?\])(?: \(line (\d+)\))?$")


def alive_at(plan, step):
    """Bytes of each root that is alive at that step, padded."""
    buffers = {b["id"]: b for b in plan["buffers"]}
    holder, sizes = {}, {}
    for b in sorted(plan["buffers"], key=lambda b: (b["alias_of"] is not None, b["first"])):
        root = b
        while root["alias_of"] is not None:
            root = buffers[root["alias_of"]]
        if b is root and b["first"] <= step <= b["last"]:
            sizes[b["id"]] = -(-b["bytes"] // plan["alignment"]) * plan["alignment"]
        if root["id"] in sizes and b["first"] <= step and not b["view"]:
            holder[root["id"]] = b
    return [(holder[k], sizes[k]) for k in sizes]


def check_peak(said, plan):
    """Compares the rounded list of live buffers with the plan."""
    found = re.search(r"alive at step (\d+), (\S+?)(?: \(line \d+\))?: (.*)", said)
    if not found:
        return ["the fullest step is not said"]
    step, name, total = int(found[1]), found[2], found[3]
    faults = []
    if plan["steps"][step]["name"] != name:
        faults.append(f"step {step} is {plan['steps'][step]['name']}, not {name}")
    alive = alive_at(plan, step)
    if not is_about(total, plan["max_live_bytes"]) or \
            sum(size for _, size in alive) != plan["max_live_bytes"]:
        faults.append(f"{total} are said to be alive, of {plan['max_live_bytes']}")
    state = sum(size for b, size in alive if b["persistent"])
    others = {b["name"]: (b, size) for b, size in alive if not b["persistent"]}
    sizes = sorted((size for _, size in others.values()), reverse=True)
    lines = LINE.findall(said[found.end():].split("note:")[0])
    named = [(size, BUFFER.match(what)) for size, what in lines if BUFFER.match(what)]
    if not lines or not lines[0][1].startswith("the state") or not is_about(lines[0][0], state):
        faults.append(f"the state is not {state} bytes")
    for (text, match), size in zip(named, sizes):
        b, own = others.get(match[1], (None, 0))
        if b is None or own != size or not is_about(text, size) or b["dtype"] != match[2] or \
                b["shape"] != json.loads(match[3]) or (match[4] or "0") != str(b["line"]):
            faults.append(f"{match[0]}: {text} is not alive, or not next")
    more = re.search(r"([0-9.]+ [KMG]?i?B)  in (\d+) more", said)
    if len(sizes) != len(named) + (int(more[2]) if more else 0) or \
            (more and not is_about(more[1], sum(sizes[len(named):]))):
        faults.append("what is not listed is not counted")
    return faults


def check_smallest(said, cnnc):
    found = re.search(r"smallest arena found for it, at batch (\d+), has (\d+) bytes", said)
    if not found:
        return ["the smallest arena is not said"]
    batch, smallest = found.groups()
    faults = []
    plan = cnnc.plan("--budget", smallest)
    if plan is None or plan["arena_bytes"] != int(smallest) or plan["batch"] != int(batch):
        return [f"the smallest arena is not {smallest}"]
    plain = re.search(r" +(\S+ \S+)  nothing recomputed\n", said)
    levers = re.search(r" +(\S+ \S+)  checkpoint: (.*)", said)
    if not plain or not is_about(plain[1], cnnc.plan()["arena_bytes"]):
        faults.append("the arena without recomputation is another")
    if not levers or not is_about(levers[1], int(smallest)) or \
            levers[2] not in cnnc.run("--budget", smallest, "--time", "--emit", "plan")[2]:
        faults.append("what the checkpoints cost is another")
    return faults + check_peak(said, plan)


def check_batches(said, cnnc, budget):
    """For both kinds; and --fit."""
    faults = []
    fit = ["--fit", str(budget)]
    for lever, own, fits in (("nothing recomputed", [], [*fit, "-fno-checkpoint"]),
                             ("checkpoint", ["--budget", str(budget)], fit)):
        found = re.search(rf" +(\d+)  {lever}: (\S+ \S+)\n", said)
        if not found:
            faults.append(f"the batch for {lever} is not said")
            continue
        batch = int(found[1])
        arena, above = (cnnc.arena(n, *own) for n in (batch, batch + 1))
        if arena is None or arena > budget or (above is not None and above <= budget):
            faults.append(f"{batch} is not the largest batch for {lever}")
        status, text, note = cnnc.run("--emit", "plan", *fits)
        if status != 0 or json.loads(text)["batch"] != batch or \
                json.loads(text)["arena_bytes"] > budget or f"batch {batch} is the largest" not in note:
            faults.append(f"--fit does not find {batch}")
    return faults


def check_refusal(said, cnnc, budget):
    return check_smallest(said, cnnc) + check_batches(said, cnnc, budget)


# ---- the curve ------------------------------------------------------------------------------------

AGAIN = re.compile(r"(\d+) launch(?:es)? recomputed, time \+([0-9.]+) %, FLOPs \+([0-9.]+) %, "
                   r"bound \+([0-9.]+) %")


def check_curve(said, cnnc):
    rows = [[float(cell.rstrip("%")) for cell in line.split()[:7]]
            for line in said.splitlines()[1:]]
    faults = []
    if len(rows) < 20:
        faults.append(f"the curve has {len(rows)} points")
    whole = cnnc.plan()["arena_bytes"]
    if not rows or rows[0][0] != whole or any(rows[0][3:]):
        return faults + ["the curve does not begin where nothing is recomputed"]
    for i, (arena, mib, share, time, flops, again, bound) in enumerate(rows):
        if i > 0 and (arena >= rows[i - 1][0] or time < rows[i - 1][3]):
            faults.append(f"row {i} is not on from the row before")
        if abs(mib - arena / (1 << 20)) > 0.006 or abs(share - 100 * arena / whole) > 0.06:
            faults.append(f"row {i} has another size in it")
        if bound > time + 0.006:
            faults.append(f"row {i} costs less than can be")
        if i not in (1, len(rows) // 2, len(rows) - 1):
            continue
        status, plan, text = cnnc.run("--budget", str(int(arena)), "--time", "--emit", "plan")
        match = AGAIN.search(text)
        if status != 0 or not match or json.loads(plan)["arena_bytes"] > arena:
            faults.append(f"row {i} can't be had")
            continue
        counts = [float(x) for x in match.groups()]
        if counts[1] > time + 0.006:
            faults.append(f"row {i} costs {counts[1]}, not {time}")
        if json.loads(plan)["arena_bytes"] == arena and counts != [again, time, flops, bound]:
            faults.append(f"row {i} is {counts} elsewhere")
    return faults


# ---- the stated cost of a budget ----------------------------------------------------------------

def check_costs(said, cnnc, arena):
    """--summary, then the emitted file, against --time and the plan's phases."""
    _, text, time = cnnc.run("--budget", str(arena), "--time", "--emit", "plan")
    match = AGAIN.search(time)
    if not match:
        return ["--time has no costs"]
    steps = json.loads(text)["steps"]
    again = [s["flops"] for s in steps if s["phase"] == "recompute"]
    rest = sum(s["flops"] for s in steps) - sum(again)
    faults = []
    if int(match[1]) != len(again) or abs(float(match[3]) - 100 * sum(again) / rest) > 0.006:
        faults.append(f"--time has {match[0]}; the plan repeats {len(again)} launches")
    if f"checkpoint            {match[0]}\n" not in said:
        faults.append("--summary has other costs")
    banner = said[said.find("// "):].split("// The program,")[0]
    plain = cnnc.plan()["arena_bytes"]
    stated = re.search(r"//   budget .*|$", banner)[0]
    for figure in (arena, plain):
        if f"{figure:,}".replace(",", " ") not in stated:
            faults.append(f"the banner does not say {figure}")
    if match[0].rsplit(",", 1)[0] + "," not in banner:
        faults.append("the banner has other costs")
    if said.count(" recompute\n") < 1:
        faults.append("no step is headed recompute")
    return faults


# ---- wrong answers --------------------------------------------------------------------------------

def more(pattern, text, amount=1):
    """The number that the pattern's group is, more by so much."""
    def change(match):
        start, end = match.start(1) - match.start(), match.end(1) - match.start()
        number = match[1]
        changed = f"{float(number) + amount:.{len(number.partition('.')[2])}f}"
        return match[0][:start] + changed + match[0][end:]
    return re.sub(pattern, change, text, count=1)


REFUSALS = {
    "the smallest arena is larger": lambda t: more(r"has (\d+) bytes", t, 256),
    "the smallest arena is smaller": lambda t: more(r"has (\d+) bytes", t, -256),
    "the batch is another": lambda t: more(r"at batch (\d+), has", t),
    "another step is the fullest": lambda t: more(r"alive at step (\d+)", t),
    "more is alive": lambda t: more(r"alive at step .*: ([0-9.]+) ", t),
    "the state is larger": lambda t: more(r"([0-9.]+) \S+  in the state", t),
    "a buffer is larger": lambda t: more(r"([0-9.]+) \S+  in \S+ f32\[", t),
    "a buffer has another shape": lambda t: more(r"  in \S+ f32\[(\d+)", t),
    "a buffer is of another line": lambda t: more(r"  in \S+ f32\[.*\(line (\d+)\)", t),
    "a buffer is not said": lambda t: re.sub(r" +\S+ \S+  in \S+ f32.*\n", "", t, count=1),
    "another buffer is alive": lambda t: re.sub(r"  in (\S+ f32)", r"  in x\1", t, count=1),
    "it was larger before": lambda t: more(r"([0-9.]+) \S+  nothing recomputed\n", t),
    "checkpoints cost less": lambda t: more(r"  checkpoint: .*time \+([0-9.]+)", t, -0.01),
    "one launch more": lambda t: more(r"  checkpoint: (\d+)", t),
    "a batch more": lambda t: more(r" +(\d+)  checkpoint", t),
    "a batch less": lambda t: more(r" +(\d+)  checkpoint", t, -1),
    "a batch more with nothing again": lambda t: more(r" +(\d+)  nothing recomputed:", t),
    "a batch less with nothing again": lambda t: more(r" +(\d+)  nothing recomputed:", t, -1),
}
ROW = r"\n *(?:\S+ +){%d}\+?([0-9.]+)%%?.*$"
CURVES = {
    "a row is lost": lambda t: t.split("\n", 2)[0] + "\n" + t.split("\n", 2)[2],
    "few rows": lambda t: "".join(t.splitlines(True)[:6]),
    "an arena is smaller": lambda t: more(ROW % 0, t, -(1 << 24)),
    "a share is larger": lambda t: more(ROW % 2, t),
    "a time is less": lambda t: more(ROW % 3, t, -0.02),
    "a time is more": lambda t: more(ROW % 3, t, 100),
    "a launch more": lambda t: more(ROW % 5, t),
    "FLOPs are more": lambda t: more(ROW % 4, t, 0.02),
    "the bound is more": lambda t: more(ROW % 6, t, 100),
    "two rows are swapped": lambda t: "\n".join((lambda r: r[:2] + [r[3], r[2]] + r[4:])(
        t.split("\n"))),
}
COSTS = {
    "the summary has a launch more": lambda t: more(r"checkpoint +(\d+) launch", t),
    "the summary's bound is more": lambda t: more(r"bound \+([0-9.]+)", t),
    "the banner's budget is another": lambda t: re.sub(r"(//   budget +)\d", r"\g<1>0", t, count=1),
    "the banner's costs are others": lambda t: more(r"//  +\d+ launch.*FLOPs \+([0-9.]+)", t),
    "the banner says nothing": lambda t: re.sub(r"//   budget(.*\n){3}", "", t, count=1),
    "no heading": lambda t: t.replace(" recompute\n", "\n"),
}


def check_plants(plants, text, check):
    faults = []
    for what, plant in plants.items():
        wrong = plant(text)
        if wrong == text:
            faults.append(f"planted, '{what}' changes nothing")
        elif not check(wrong):
            faults.append(f"planted, '{what}' is not found")
    return faults




def main():
    path, net, budget, *options = sys.argv[1:]
    budget = int(budget)
    cnnc = Compiler(path, net, options)
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        emitted = os.path.join(folder, "net.cu")
        status, _, refusal = cnnc.run("--budget", str(budget), "-o", emitted)
        if status != 4 or os.path.exists(emitted):
            faults.append(f"the status is {status}, or there is a file")
        curve = cnnc.run("--curve")[1]
        smallest = int(re.search(r"has (\d+) bytes", refusal)[1])
        costs = cnnc.run("--budget", str(smallest), "--summary")[1] + cnnc.run(
            "--budget", str(smallest))[1]
    for said, plants, check in (
            (refusal, REFUSALS, lambda text: check_refusal(text, cnnc, budget)),
            (curve, CURVES, lambda text: check_curve(text, cnnc)),
            (costs, COSTS, lambda text: check_costs(text, cnnc, smallest))):
        faults += check(said) + check_plants(plants, said, check)
        print(f"{len(plants)} wrong answers are found")
    print(f"{len(cnnc.runs)} runs", *faults[:20], f"{len(faults)} faults", sep="\n")
    return 1 if faults else 0


sys.exit(main())
