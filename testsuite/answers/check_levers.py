#!/usr/bin/env python3
"""Checks the answers of cnnc about each lever: budgets in which nothing fits, and --microbatch
auto.

    check_levers.py CNNC NET.cnn BATCH BUDGET

BUDGET, in bytes, is one in which nothing fits at BATCH, but some samples do. Every row of the
refusal is compared with plans made with that lever alone. Its arena and its cost by --summary are
compared, and its largest batch or slice, of which one more does not fit. Where the net has no step
in slices, that must be refused. The option --microbatch auto takes the cheapest of all slices
within each of eight budgets, and none where nothing is recomputed at once.

Then each answer is made wrong, and each must be found.
"""
import json
import re
import subprocess
import sys

cnnc, net, batch, budget = sys.argv[1:]
batch, budget = int(batch), int(budget)
BUDGETS = 8
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
TIMES = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
runs = {}
# Levers for whose arena, as a budget, a plan is found that recomputes less; the time that the
# refusal names, as a multiple of that plan's.  The search for the smallest arena spends its work
# on small schedules, the one for a budget on schedules near it.
faster = {}
DEARER = 1.1


def run(*options):
    """Status, output and standard error; equal runs are run once."""
    if options not in runs:
        done = subprocess.run([cnnc, *options, net], text=True, capture_output=True)
        runs[options] = done.returncode, done.stdout, done.stderr
    return runs[options]


def is_about(text, size):
    number, unit = text.split()
    return abs(float(number) * UNITS[unit] - size) <= 0.0101 * UNITS[unit]


def arena(*options):
    """For a file that trains; None: it is refused."""
    sizes = []
    for mode in "train", "eval":
        status, text, _ = run("--mode", mode, "--emit", "plan", *options)
        if status != 0:
            return None
        sizes.append(json.loads(text)["arena_bytes"])
    return max(sizes)


def smallest(*options):
    """The arena that a refusal names."""
    return int(re.search(r"has (\d+) bytes", run("--budget", "1", "--emit", "plan", *options)[2])[1])


def seconds(slices, *options):
    """The time of a training step in the model, from its phases: all except the update once a
    slice. Launches count one by one, as they do in what a budget costs."""
    text = run("--summary", "--format", "json", "-fno-fuse-horizontal", *options)[1]
    return sum(row["model_time_ps"] / 1e12 * (1 if row["phase"] == "update" else slices)
               for row in json.loads(text)["phases"]
               if row["mode"] == "train" and row["phase"] != "all")


# A lever's options for its smallest arena, and for budgets; how many slices.
def levers(size, slices):
    own, small, whole = ["--batch", str(size)], ["--microbatch", "1"], ["-fno-batch-split"]
    return {
        "nothing recomputed": (own, ["--checkpoint", "off", *whole], 1),
        "elementwise": (own, ["--checkpoint", "elementwise", *whole], 1),
        "checkpoint": (own, whole, 1),
        "slices inside the net": (own, [], 1),
        "micro-batch": (own + small, ["--checkpoint", "off", *whole], slices),
        "micro-batch and checkpoint": (own + small, whole, slices),
        "maps in half precision": (own, ["--precision", "f16", *whole], 1),
    }


def stays_whole(*options):
    """Where layers need the whole batch, a step does not come in slices, and a note says so."""
    return "layers between such take" in run("--emit", "plan", *options)[2]


def check_smallest(said):
    part = said.split("the smallest arenas at")[1].split("note:")[0]
    rows = dict((m[2], (m[1], m[3])) for m in
                re.finditer(r"^ +(\S+ \S+|none)  ([a-z -]+?)(?:: (.*))?$", part, re.M))
    faults = [] if part.startswith(f" batch {batch}:") else ["the batch is another"]
    plain = arena("--batch", str(batch), "--checkpoint", "off")
    once = seconds(1, "--batch", str(batch), "--checkpoint", "off")
    for name, (own, options, slices) in levers(batch, batch).items():
        if name not in rows:
            faults.append(f"{name} is not said")
            continue
        text, costs = rows[name]
        if text == "none":
            if not stays_whole(*own):
                faults.append(f"{name} could be used")
            continue
        off = "off" in options
        bytes_ = arena(*own, *options) if off else smallest(*own, *options)
        if bytes_ is None or not is_about(text, bytes_):
            faults.append(f"{name}: the arena has {bytes_} bytes, not {text}")
            continue
        if name == "nothing recomputed":
            continue
        if costs == "nothing more is gained":
            if bytes_ < smallest(*own, "-fno-batch-split"):
                faults.append(f"{name}: something is gained")
            continue
        if costs == "nothing is gained":
            if bytes_ < plain:
                faults.append(f"{name}: something is gained")
            continue
        within = [] if off else ["--budget", str(bytes_)]
        if arena(*own, *options, *within) != bytes_:
            faults.append(f"{name}: no plan has {bytes_} bytes")
        launches = run("--emit", "plan", *own, *options, *within)[1].count('"recompute"')
        said_launches = re.search(r"(\d+) launch(?:es)? recomputed", costs)
        time = re.search(r"time ([+-][0-9.]+) %", costs)
        more = 100 * (seconds(slices, *own, *options, *within) / once - 1)
        again = int(said_launches[1]) if said_launches else 0
        above, rounding = float(time[1]) - more, 0.02 + 0.0002 * more
        if launches < again and above > rounding:
            faster[name] = (100 + float(time[1])) / (100 + more)
            continue
        if launches != again:
            faults.append(f"{name}: {launches} launches run again")
        if abs(above) > rounding:
            faults.append(f"{name}: the time is {more:+.2f} %, not {time[1]}")
        if ("1 sample at a time, " in costs) != (slices > 1):
            faults.append(f"{name}: slices are of another size")
    return faults


def check_batches(said):
    part = said.split("the largest batches that fit in ")[1]
    faults = [] if is_about(part.split(":")[0], budget) else ["the budget is another"]
    rows = dict((m[2], (m[1], m[3])) for m in
                re.finditer(r"^ +(\d+|none|any)  ([a-z -]+?): (.*)$", part, re.M))
    for name, (own, options, slices) in levers(batch, batch).items():
        sliced = slices > 1
        if name == "slices inside the net" or (sliced and stays_whole(*own)):
            if name in rows:
                faults.append(f"{name}: no batch is looked for")
            continue
        if name not in rows:
            faults.append(f"{name}: the batch is not said")
            continue
        count, text = rows[name]
        if (count == "any") != (sliced and count != "none"):
            faults.append(f"{name}: any batch fits in slices alone")
        if count == "any":
            count = text.split()[0]
        count = 0 if count == "none" else int(count)

        def fits(n):
            of = ["--batch", str(4 * n), "--microbatch", str(n)] if sliced else ["--batch", str(n)]
            size = arena(*of, *options, "--budget", str(budget))
            return size if size is not None else 0
        size = fits(count) if count else 0
        if count and (not size or not is_about(re.search(r"([0-9.]+ \w+)$", text)[1], smallest_at(
                count, options, sliced))):
            faults.append(f"{name}: {count} do not fit, or not in so much")
        if fits(count + 1):
            faults.append(f"{name}: {count + 1} fit")
    return faults


def smallest_at(count, options, sliced):
    own = ["--batch", str(count), *(["--microbatch", str(count)] if sliced else [])]
    return arena(*own, *options) if "off" in options else smallest(*own, *options)


# ---- --microbatch auto ------------------------------------------------------------------------

AUTO = re.compile(r"the batch of (\d+) is taken (at once|in slices of \d+), in (.*): ([0-9.]+) (\w+) in the model, "
                  r"(nothing recomputed|\d+ launch)")


def check_auto(budgets_said):
    """Takes (budget, status, note): the chosen plan costs least."""
    faults, kinds = [], set()
    for within, (status, said) in budgets_said.items():
        times = {}
        for size in (d for d in range(1, batch + 1) if batch % d == 0):
            options = ["--batch", str(batch), "--budget", str(within)]
            if size < batch and stays_whole("--batch", str(batch), "--microbatch", str(size)):
                continue
            options += ["--microbatch", str(size)] if size < batch else []
            if arena(*options) is not None:
                times[size] = seconds(batch // size, *options)
        match = AUTO.search(said)
        if not times or not match:
            if times or match or status != 4:
                faults.append(f"{within} bytes: status {status}, where {len(times)} slices fit")
            kinds.add("none")
            continue
        size = batch if match[2] == "at once" else int(match[2].split()[-1])
        time = float(match[4]) * TIMES[match[5]]
        best = min(times.values())
        if size not in times or times[size] > best * 1.00001 or abs(time / best - 1) > 0.051 or \
                int(match[1]) != batch or not is_about(match[3], within) or \
                ("at once it does not fit" in said) != (batch not in times) or \
                any(n > size and t <= times[size] for n, t in times.items()):
            faults.append(f"{within} bytes: {match[0]}, of {times}")
        kinds.add("once" if size == batch else "slices")
    return faults + [f"no budget leads to {k}" for k in {"none", "once"} - kinds]


def ask_auto():
    plain = arena("--batch", str(batch))
    answers = {}
    for k in range(BUDGETS):
        within = budget // 3 + (plain - budget // 3) * k // (BUDGETS - 1)
        options = ["--batch", str(batch), "--budget", str(within), "--microbatch", "auto"]
        status, text, said = run("--emit", "plan", *options)
        if status == 0 and json.loads(text)["arena_bytes"] > within:
            said = "the plan is over its budget"
        answers[within] = status, said
    return answers


# ---- wrong answers ----------------------------------------------------------------------------

def more(pattern, text, amount=1):
    """The number that the pattern's group is, more by so much."""
    def change(match):
        start, end = match.start(1) - match.start(), match.end(1) - match.start()
        digits = len(match[1].partition(".")[2])
        return match[0][:start] + f"{float(match[1]) + amount:.{digits}f}" + match[0][end:]
    return re.sub(pattern, change, text, count=1, flags=re.M)


def planted(said):
    """Wrong refusals, by their fault."""
    wrong = {"the batch": more(r"arenas at batch (\d+)", said),
             "the budget": more(r"that fit in ([0-9.]+)", said)}
    for name in levers(1, 1):
        wrong[f"{name}: the arena"] = more(rf"^ +([0-9.]+) \S+  {name}(?:$|: .*time)", said)
        if name not in faster:
            wrong[f"{name}: the time"] = more(rf"  {name}: .*time \+([0-9.]+)", said)
            wrong[f"{name}: launches"] = more(rf"  {name}: .*?(\d+) launch", said)
        wrong[f"{name}: the batch"] = more(rf"^ +(\d+)  {name}:", said)
        wrong[f"{name}: a batch less"] = more(rf"^ +(\d+)  {name}:", said, -1)
        wrong[f"{name}: the slice"] = more(rf"any  {name}: (\d+)", said)
        wrong[f"{name}: a slice less"] = more(rf"any  {name}: (\d+)", said, -1)
        wrong[f"{name}: not said"] = re.sub(rf"^.*  {name}:.*\n", "", said, count=1, flags=re.M)
        wrong[f"{name}: impossible"] = re.sub(rf"^.*  {name}: .*time.*$", f"  none  {name}: no",
                                              said, count=1, flags=re.M)
    return {what: text for what, text in wrong.items() if text != said}


def planted_auto(answers):
    wrong = {}
    for within, (status, said) in answers.items():
        for what, text in {
                "another slice": said.replace("at once, in", "in slices of 1, in"),
                "a larger slice": re.sub(r"in slices of \d+", "at once", said),
                "another time": more(r": ([0-9.]+) \S+ in the model, ", said, 100),
                "another batch": more(r"batch of (\d+)", said),
                "whether it fits": said.replace("; at once it does not fit", "")}.items():
            if text != said and status == 0:
                wrong[f"auto in {within}: {what}"] = {**answers, within: (status, text)}
    return wrong


def main():
    status, _, said = run("--batch", str(batch), "--budget", str(budget), "--emit", "plan")
    faults = [] if status == 4 else [f"the status is {status}"]

    def refusal(text):
        return check_smallest(text) + check_batches(text)
    faults += refusal(said)
    wrong = planted(said)
    faults += [f"planted, '{what}' is not found" for what, text in wrong.items()
               if not refusal(text)]
    answers = ask_auto()
    faults += check_auto(answers)
    wrong_auto = planted_auto(answers)
    faults += [f"planted, '{what}' is not found" for what, some in wrong_auto.items()
               if not check_auto(some)]
    print(said, *(note for _, note in answers.values() if "taken" in note), sep="\n")
    faults += [f"{name}: the time named is {times:.3f} times that of a plan that is found"
               for name, times in faster.items() if times > DEARER]
    print(f"{len(wrong) + len(wrong_auto)} wrong answers, {len(runs)} runs", *faults,
          f"{len(faults)} faults", sep="\n")
    return 1 if faults or not wrong_auto else 0


sys.exit(main())
