"""Every operator's net and every example on the GPU: the results of one training step or three.

A row is a run (a line `# run:` of a net, or of golden/examples.txt) in a precision:

    f64      figures, outputs and gradients of one step within 1e-6 of PyTorch's in golden/, weights and
             the optimizer's state of three within 2e-4; device memory does not grow after init
    others   loss, outputs and gradients of one step, by norm: at most 8 times as far from PyTorch's
             float64 as the same emitted file, built by g++ for the CPU on this machine, is, or
             as the precision's rounding

A GPU without tensor tiles has 16 bits without them. On a GPU with tensor cores, each test of
testsuite/tensor makes a row.

The key `distance` has the distance found, `host` the CPU's, `grown` the bytes.
With --host the CPU is judged: in single precision of examples by golden/*/f32.txt, and of
the rest, which have none, to LEAST.
"""
import math
import os
import re
import shlex
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from rows import Failed, HERE, ROOT, Rows, TESTS, run, say

sys.path.insert(0, os.path.join(TESTS, "tools"))
# pylint: disable=wrong-import-position
import distance as golden_distance

GOLDEN = os.path.join(TESTS, "golden")
TIMES = 8
ROUNDING = {"fp32": 2.0 ** -24, "tf32": 2.0 ** -11, "fp16": 2.0 ** -11, "bf16": 2.0 ** -8}
TOLERANCE = {1: 1e-6, 3: 2e-4}
LEAST = 1e-2


class Run:
    """A net, the options it is compiled with, and how much of a batch there is."""

    def __init__(self, name, path, words):
        given = list(zip(words[::2], words[1::2]))
        self.name, self.path = name, path
        self.golden = os.path.join(GOLDEN, name)
        self.options = [word for pair in given if pair[0] not in ("--samples", "--seed", "--deep")
                        for word in pair]
        values = dict(given)
        self.batch = values.get("--batch", "1")
        self.samples = values.get("--samples", self.batch)
        self.seed = values.get("--seed", "0")


def list_runs():
    """All of them: operators, then examples."""
    runs = []
    ops = os.path.join(TESTS, "ops")
    for file in sorted(os.listdir(ops)):
        path = os.path.join(ops, file)
        with open(path, encoding="utf-8") as text:
            lines = re.findall(r"(?m)^# run: *(.*)$", text.read())
        runs += [Run(f"{file[:-4]}-{number}", path, shlex.split(line))
                 for number, line in enumerate(lines, 1)]
    with open(os.path.join(GOLDEN, "examples.txt"), encoding="ascii") as text:
        for line in text:
            name, *words = shlex.split(line)
            runs.append(Run(name + "-1", os.path.join(ROOT, "examples", name, name + ".cnn"), words))
    return runs


def chosen(names):
    """The named nets, with their number or without."""
    return [one for one in list_runs()
            if not names or one.name in names or one.name.rsplit("-", 1)[0] in names]


# ---- one run ---------------------------------------------------------------------------


def build(tools, one, precision, folder):
    """The program for the device, and the one for the CPU or None."""
    base = os.path.join(folder, f"{one.name}.{precision}")
    run([tools.cnnc, *tools.emit_options(precision), "-fkeep-gradients", "--main", *one.options,
         unscaled(one, base), "-o", base + ".cu"])
    source, defines = os.path.join(HERE, "net.cu"), [f'-DNET_FILE="{base}.cu"']
    tools.compile(source, base, defines, optimize="-O2")
    host = None
    if precision != "f64" and not tools.host:
        host = base + ".host"
        tools.compile(source, host, defines, host=True)
    return base, host


def unscaled(one, base):
    """The net, whose loss is not scaled unless it says so: at its first scale the loss of random
    data may overflow, which skips the step."""
    with open(one.path, encoding="utf-8") as file:
        text = file.read()
    if "loss_scale" in text:
        return one.path
    with open(base + ".cnn", "w", encoding="utf-8") as out:
        out.write(re.sub(r"(?m)^train \{", "train {\n    loss_scale = 1", text))
    return base + ".cnn"


def draw(tools, one, program, folder):
    """The random weights and batch of a run, as options of `step`."""
    tensors = re.sub(rf"(?m)^(input \S+ \S+ ){one.batch}([x ])", rf"\g<1>{one.samples}\2",
                     run([program, "info", "--tensors"]))
    weights, batch = os.path.join(folder, "weights"), os.path.join(folder, "batch")
    run([tools.test("random_tensors"), "--seed", one.seed, "--weights", weights, "--batch", batch],
        input=tensors)
    return ["--load", weights, "--batch", batch, "--seed", one.seed]


def step(program, drawn, steps, path):
    """Training steps; the file of all that there is after them."""
    run([program, "step", *drawn, "--steps", steps, "--save", path], timeout=300)
    return path


def judge_double(tools, one, program, drawn, folder):
    """The distances after one step and three; Failed where they are too far."""
    distance = {}
    for steps, tolerance in TOLERANCE.items():
        out = step(program, drawn, steps, os.path.join(folder, "out"))
        said = run([tools.test("compare_tensors"), out, "--tolerance", tolerance, "--names-from-b",
                    os.path.join(one.golden, f"after_{steps}.safetensors")])
        distance[str(steps)] = float(said.split(",")[-1])
    return distance


def distances(one, path):
    """The distance of loss, outputs and gradients from PyTorch's in float64, by norm."""
    ours = golden_distance.read_safetensors(path)
    theirs = golden_distance.read_safetensors(os.path.join(one.golden, "after_1.safetensors"))
    groups = {}
    for name in theirs:
        group = golden_distance.group_of(name)
        groups.setdefault(group, []).extend(golden_distance.pairs(name, ours, theirs))
    found = {}
    for group, pairs in groups.items():
        size = golden_distance.norm(b for _, b in pairs)
        apart = golden_distance.norm(a - b for a, b in pairs)
        found[group] = apart / size if size > 0 else apart
    return found


def f32_of_pytorch(one):
    """How far PyTorch's own float32 is, or nothing."""
    path = os.path.join(one.golden, "f32.txt")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="ascii") as text:
        return {words[0]: float(words[1]) for words in map(str.split, text) if words}


def judge_single(tools, one, precision, made, drawn, folder):
    """The distances, and those of the CPU; Failed where they are too far."""
    program, host = made
    found = distances(one, step(program, drawn, 1, os.path.join(folder, "out")))
    own = (distances(one, step(host, drawn, 1, os.path.join(folder, "host"))) if host
           else f32_of_pytorch(one) if precision == "fp32" else {})
    for group, distance in found.items():
        most = TIMES * max(own[group], ROUNDING[precision]) if group in own else LEAST
        if math.isnan(distance) or distance > most:
            raise Failed(f"{group}: {distance:.3g} from PyTorch's, at most {most:.3g}")
    return found, own


def growth(program):
    """The fewest bytes of three tries, because others may use the device."""
    grown = 0
    for _ in range(3):
        grown = int(run([program, "memory"], timeout=300))
        if grown <= 0:
            return grown
    raise Failed(f"device memory grew by {grown} bytes after init")


def judge(tools, one, precision, made, row):
    """Fills the row; Failed where something is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        drawn = draw(tools, one, made[0], folder)
        if precision == "f64":
            row["distance"] = judge_double(tools, one, made[0], drawn, folder)
            row["grown"] = growth(made[0])
        else:
            row["distance"], row["host"] = judge_single(tools, one, precision, made, drawn, folder)


# ---- all of them -----------------------------------------------------------------------


def knows(tools, precision, folder):
    """True if the compiler knows the precision; if not, a row says so."""
    path = os.path.join(ROOT, "examples", "lenet", "lenet.cnn")
    try:
        run([tools.cnnc, *tools.emit_options(precision), path, "-o",
             os.path.join(folder, "known.cu")])
    except Failed as error:
        say(f"{precision}: {error}")
        return str(error)
    return None


def judge_tensor(tools, rows, names):
    """Tiles on tensor cores alone, and their parts: the number of faults."""
    failed = 0
    for name in ["tensor.layouts", "tensor.tiles"]:
        row = {"net": name, "precision": "all", "device": tools.device, "commit": tools.commit}
        if names and name not in names or not tools.has_tensor_tiles() or rows.has(row):
            continue
        try:
            with tempfile.TemporaryDirectory() as folder:
                program = os.path.join(folder, name)
                tools.compile(os.path.join(TESTS, *name.split(".")) + ".cu", program)
                run([program], timeout=300)
            said = "ok"
        except Failed as error:
            row["error"] = said = str(error)
            failed += 1
        rows.add(row)
        say(f"{name:<26} {said}")
    return failed


def main(tools, options):
    """The number of rows that are wrong."""
    rows = Rows("correct", options, ("net", "precision", "device", "commit"))
    wanted, failed = [], judge_tensor(tools, rows, options.names)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        for precision in options.precisions:
            row = {"precision": precision, "device": tools.device, "commit": tools.commit}
            if error := knows(tools, precision, folder):
                rows.add({"net": "all", **row, "error": error})
                continue
            wanted += [(one, {"net": one.name, **row}) for one in chosen(options.names)]
        wanted = [(one, row) for one, row in wanted if not rows.has(row)]

        def begin(one, precision):
            return None if rows.late() else build(tools, one, precision, folder)
        left = 0
        for one, row, made in [(one, row, pool.submit(begin, one, row["precision"]))
                               for one, row in wanted]:
            result = None
            try:
                result = made.result()
                if result is None or rows.late():
                    left += 1
                    continue
                judge(tools, one, row["precision"], result, row)
                said = "ok"
            except Failed as error:
                row["error"] = said = str(error)
                failed += 1
            rows.add(row)
            found = " ".join(f"{name} {value:.2e}" for name, value in row.get("distance", {}).items())
            say(f"{one.name:<26} {row['precision']:<5} {found}  {said}")
            for path in result or []:
                if isinstance(path, str) and os.path.exists(path):
                    os.remove(path)
    say(f"{len(wanted) - left} runs, {failed} failed, {left} had no time")
    return failed
