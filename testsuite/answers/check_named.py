#!/usr/bin/env python3
"""Random programs under random budgets: each number that a refusal names can be used.

    check_named.py CNNC COUNT [FIRST] [--limits | --memory]

Programs FIRST to FIRST + COUNT - 1 have up to 1,000 layers and options drawn with them. Where a
budget is refused, the smallest arena, the arena of each lever and the batches that fit are each
used as the refusal says. The slowest answer and the largest are printed. With --memory an answer
of more than 300 MB is a fault too, and with --limits one of more than 5 s of the processor; no test
asks for that, because time depends on the machine.
"""
import os
import random
import re
import subprocess
import sys
import tempfile

SECONDS, MEGABYTES = 5, 300
OVER = 4
LEVERS = {
    "nothing recomputed": ["--checkpoint", "off"],
    "elementwise": ["--checkpoint", "elementwise"],
    "checkpoint": ["--checkpoint", "auto"],
    "slices inside the net": ["--checkpoint", "auto"],
    "maps in host memory": [],
    "micro-batch": ["--microbatch", "1", "--checkpoint", "off"],
    "micro-batch and checkpoint": ["--microbatch", "1", "--checkpoint", "auto"],
    "maps in half precision": ["--precision", "f16", "--checkpoint", "auto"],
}
cnnc = sys.argv[1]
slowest = [0.0, "", 0.0, ""]      # seconds and megabytes, and of which program
answers = 0


def ask(number, path, *options):
    """Status and messages; takes note of the processor's time and the memory."""
    global answers
    answers += 1
    with tempfile.TemporaryFile("w+") as said:
        child = subprocess.Popen([cnnc, path, "-o", os.devnull, *options], stderr=said,
                                 stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read()
    seconds, megabytes = used.ru_utime + used.ru_stime, used.ru_maxrss / 1000
    name = f"{number} {' '.join(options)}"
    if seconds > slowest[0]:
        slowest[:2] = seconds, name
    if megabytes > slowest[2]:
        slowest[2:] = megabytes, name
    return child.returncode, text


def draw_program(draw):
    """A net of up to some 1,000 layers: stages of blocks, each of one kind."""
    layers = int(10 ** draw.uniform(0.7, 2.95))
    size, channels = draw.choice([8, 16, 32]), draw.choice([2, 4, 8])
    body, left = [f"    x = image -> conv({channels}, 3)"], layers
    norm = draw.choice(["", " -> batchnorm", " -> groupnorm(2)"])
    act = draw.choice(["relu", "sigmoid", "gelu"])
    while left > 0:
        unit = f"x -> conv({channels}, 3){norm} -> {act}"
        kind = draw.choice(["chain", "residual", "dense", "gate", "branches"])
        each = {"chain": 3, "residual": 4, "dense": 4, "gate": 5, "branches": 8}[kind]
        times = draw.randint(1, max(1, min(left // each, 1000)))
        if kind == "dense":
            times = min(times, 40)
        left -= each * times + 2
        block = {"chain": f"x = {unit}", "residual": f"x = x + ({unit})",
                 "dense": f"x = concat(x, {unit})",
                 "gate": f"y = {unit}\n        x = x + y * (y -> sigmoid)",
                 "branches": f"x = concat({unit}, x -> conv({channels}, 1)) -> conv({channels}, 1)"}
        body += [f"    repeat {times} {{", f"        {block[kind]}", "    }"]
        if kind == "dense":
            body.append(f"    x = x -> conv({channels}, 1)")
        if size > 8 and draw.random() < 0.4:
            size //= 2
            body.append("    x = x -> maxpool(2)")
    return "\n".join([
        "net drawn {", f"    input image : f32[{draw.choice([32, 64])}, 32, 3]",
        "    input label : class[10]", *body, "    logits = x -> global_avgpool -> flatten -> dense(10)",
        "    output logits", "    loss softmax_cross_entropy(logits, label)", "}", "train {",
        f"    batch = {draw.choice([1, 2, 8, 12, 32])}",
        f"    optimizer = {draw.choice(['sgd(lr = 0.1)', 'adam(lr = 0.001)'])}", "}", ""])


def draw_options(draw):
    return draw.choice([[], [], [], ["--checkpoint", "elementwise"], ["--checkpoint", "off"],
                        ["--precision", "bf16"], ["--offload"], ["-fno-batch-split"]])


def named(said, budget, options):
    """Pairs of a refusal's number and the options that use it."""
    found = re.search(r"has (\d+) bytes", said)
    uses = [("the smallest arena", ["--budget", found[1]])] if found else []
    part = said.partition("the smallest arenas at")[2].partition("note:")[0]
    for size, unit, name in re.findall(r"^ +([0-9.]+) (\w+)  ([a-z -]+?)(?::.*)?$", part, re.M):
        uses.append((name, ["--budget", size + unit, *LEVERS[name]]))
    part = said.partition("largest batches that fit in")[2]
    for batch, name in re.findall(r"^ +(\d+)  ([a-z -]+?):.*$", part, re.M):
        uses.append((f"batch, {name}", ["--batch", batch, "--budget", str(budget), *LEVERS[name]]))
    for name, batch in re.findall(r"^ +any  ([a-z -]+?): (\d+) sample", part, re.M):
        uses.append((f"slice, {name}", ["--budget", str(budget), *LEVERS[name],
                                        "--microbatch", batch]))
    # Where nothing is to be recomputed no lever does.
    last = options if "off" in options else []
    return [(what, [*options, *use, *last]) for what, use in uses]


def check(number, folder):
    """Faults, and how many numbers were used."""
    draw = random.Random(number)
    path = os.path.join(folder, f"{number}.cnn")
    with open(path, "w") as file:
        file.write(draw_program(draw))
    options = draw_options(draw)
    budget = int(10 ** draw.uniform(3, 7.5))
    status, said = ask(number, path, "--budget", str(budget), *options)
    if status not in (0, OVER):
        return [f"{number}: status {status}: {said[:300]}"], 0
    uses = named(said, budget, options) if status == OVER else []
    faults = [f"{number}: {what}, {' '.join(use)}, is refused"
              for what, use in uses if ask(number, path, *use)[0] != 0]
    if status == OVER and not uses:
        faults.append(f"{number}: a refusal names nothing")
    return faults, len(uses)


def main():
    numbers = [int(word) for word in sys.argv[2:] if not word.startswith("--")]
    count, first = numbers if len(numbers) > 1 else (numbers[0], 1)
    faults, used, refused = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, first + count):
            more, uses = check(number, folder)
            faults += more
            used += uses
            refused += uses > 0
    print(f"{count} programs, {refused} refused, {used} numbers used, {answers} answers; the "
          f"slowest {slowest[0]:.2f} s ({slowest[1]}), the largest {slowest[2]:.0f} MB "
          f"({slowest[3]})")
    timed, sized = "--limits" in sys.argv, "--memory" in sys.argv
    if (timed and slowest[0] > SECONDS) or ((timed or sized) and slowest[2] > MEGABYTES):
        faults.append("an answer takes too much")
    print(*faults, f"{len(faults)} faults", sep="\n")
    return 1 if faults or not used else 0


sys.exit(main())
