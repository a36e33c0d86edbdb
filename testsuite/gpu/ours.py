"""Times and memory of the nine nets that peers.py has, at its batches and with its optimizer.

A row is a net in a precision:

    ms, ms_p10, ms_p90     a training step, the whole of it in a CUDA graph: bench.cu
    images_s               batch / ms
    arena_bytes            all that the net takes, known before anything runs
    process_bytes          of the device's memory in use at the end less what was before the
                           process began: with the context, the code and the data of a batch
    first_step_s           from the start of the process to the end of the first training step
    compile_s              nvcc on the file
    launches               of a training step
    floor_ms, of_floor     floors.py's practical fusion for this precision, and ms beside it

Images are bytes here and numbers there; both lie on the device before the step begins. With --host
nets are small, as golden/examples.txt makes them, and a step runs on the CPU: times mean nothing.
"""
import json
import os
import re
import shlex
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, wait

import floors
from rows import Failed, HERE, ROOT, Rows, TESTS, run, say

OPTIMIZER = "sgd(lr = 1e-3, momentum = 0.9)"
NETS = list(floors.NETS)
BANDWIDTH = 4.3e12
PEAKS = {"fp32": (4, 60e12), "tf32": (4, 400e12), "fp16": (2, 790e12), "bf16": (2, 790e12)}


def source_of(net, folder):
    """The example, trained as peers.py does."""
    with open(os.path.join(ROOT, "examples", net, net + ".cnn"), encoding="utf-8") as file:
        text, count = re.subn(r"(?m)^( *optimizer *=).*$", rf"\1 {OPTIMIZER}", file.read())
    text = re.sub(r"(?m)^ *(schedule|decay|clip_norm|clip_value|average) *=.*\n", "", text)
    if count != 1:
        raise Failed(f"{net} has {count} optimizers")
    path = os.path.join(folder, net + ".cnn")
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


def small_options():
    """The options that make the examples small, by name."""
    small = {}
    with open(os.path.join(TESTS, "golden", "examples.txt"), encoding="ascii") as file:
        for line in file:
            words = shlex.split(line)
            pairs = list(zip(words[1::2], words[2::2]))
            small[words[0]] = [word for name, value in pairs if name in ("--batch", "-D")
                               for word in (name, value)]
    return small


def floor_ms(net, precision):
    """A lower bound of a training step with practical fusion."""
    size, peak = PEAKS[precision]
    return floors.summarise(floors.NETS[net](), "P", size, peak, BANDWIDTH)["kern"]


def used_now():
    """Bytes of the device in use, by nvidia-smi; None where that can't be told."""
    try:
        text = run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"])
        return int(text.split()[0]) << 20
    except (Failed, ValueError, IndexError):
        return None


def build(tools, net, precision, options, folder):
    """The program, and the facts known before it runs."""
    folder = os.path.join(folder, precision)
    os.makedirs(folder, exist_ok=True)
    source = source_of(net, folder)
    command = [tools.cnnc, *tools.emit_options(precision), *options, source]
    emitted, program = (os.path.join(folder, net + end) for end in (".cu", ""))
    run([*command, "--main", "-o", emitted])
    steps = len(json.loads(run([*command, "--emit", "plan"]))["steps"])
    begun = time.monotonic()
    tools.compile(os.path.join(HERE, "bench.cu"), program,
                  [f"-DNET={net}", f'-DNET_FILE="{emitted}"'])
    return program, {"launches": steps, "compile_s": round(time.monotonic() - begun, 2)}


def measure(tools, net, precision, program, row):
    """Runs the program; the row."""
    before = None if tools.host else used_now()
    limits = ["0", "1"] if tools.host else ["3", "20"]
    out = run([program, *limits], timeout=300, env=dict(os.environ, BENCH_BEGAN=repr(time.time())))
    got = json.loads(out.splitlines()[-1])
    row.update({name: got[name] for name in (
        "batch", "ms", "ms_p10", "ms_p90", "steps", "arena_bytes", "first_step_s", "loss_first",
        "loss_last")})
    row["images_s"] = round(1000 * got["batch"] / got["ms"], 1)
    row["process_bytes"] = got["used_end"] - before if before is not None else None
    if got["batch"] == floors.NETS[net]().N and not tools.host:
        row["floor_ms"] = floor_ms(net, precision)
        row["of_floor"] = got["ms"] / row["floor_ms"]
    return row


def main(tools, options):
    """The number of rows that are errors."""
    rows = Rows("ours", options, ("net", "precision", "device", "commit"))
    small = small_options() if tools.host else {}
    failed = 0
    wanted = [{"net": net, "precision": precision, "device": tools.device, "commit": tools.commit}
              for net in options.nets or NETS for precision in options.precisions]
    wanted = [row for row in wanted if not rows.has(row)]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        def begin(row):
            if rows.late():
                return None
            return build(tools, row["net"], row["precision"], small.get(row["net"], []), folder)
        # Nothing is timed while something compiles.
        begun = [(row, pool.submit(begin, row)) for row in wanted]
        wait([made for _, made in begun])
        for row, made in begun:
            name = f"{row['net']:<13} {row['precision']}"
            try:
                result = made.result()
                if result is None or rows.late():
                    say(f"{name}  no time is left for it")
                    continue
                row.update(result[1])
                row = measure(tools, row["net"], row["precision"], result[0], row)
                say(f"{name}  {row['ms']:9.3f} ms  {row['images_s']:9.0f} images/s  "
                    f"{row.get('of_floor') or 0:6.2f} of the floor")
            except Failed as error:
                row["error"] = str(error)
                failed += 1
                say(f"{name}  {error}")
            rows.add(row)
    return failed
