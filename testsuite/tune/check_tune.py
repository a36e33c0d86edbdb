#!/usr/bin/env python3
"""A program of --tune on the CPU: it prints its measurements, and cnnc takes them.

usage: check_tune.py CNNC ROOT LIBHOST [SED]

LIBHOST is the host runtime's. The program of net.cnn is built as users do, without a warning;
nothing in it is unused. Its table has a line for each product that the trainer of the same net
makes on tensor cores. The tiles called (model) are those that the trainer has. With the table it
has the tiles that took the least time. With a table where all lines are made to say one tile, it
has that tile everywhere. The numbers are those of the GPU that it was compiled for; lines of
products that it does not measure stay. Where a call of CUDA fails, the command line is wrong or the
output can't be written, it says so. It then exits with another status than 0 and has printed
nothing.

SED is a file of edits of the emitted program, for faults that are planted.
"""
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "emit"))
from definitions import unused  # noqa: E402

CXX = os.environ.get("CXX", "clang++")

PRECISION = ["--precision", "bf16"]
TILE = re.compile(r"TensorTile<Bf16, (\d+), (\d+),")
LINE = re.compile(r"^# ([^\n]*)\n# ([^\n]*)\ntile (\w+ \w+(?: \d+){4}) = (\d+x\d+)$", re.MULTILINE)
TIMED = re.compile(r"(\d+x\d+)( \(model\))? ([\d.]+)")
# One is of no product of the net, one of another type than the net's; a third is measured anew.
A100 = """fp64 = 9.7e12\nfp32 = 19.5e12\ntf32 = 156e12\nbf16 = 312e12\nfp16 = 312e12
memory = 2039e9\nhost = 26e9\nintegrated = 0\nlaunch = 2e-6\nsm = 80\nmultiprocessors = 108\nshared = 167936\nclock = 1.41e9
product = 0.9\nelementwise = 0.9\n"""
KNOWN = ["tile bf16 forward 77 64 576 1 = 32x128", "tile f16 pooled 80 4 36 2 = 128x64"]
ANEW = "tile bf16 pooled 80 4 36 2 = 128x128"


class Fault(Exception):
    """The list of faults."""


def need(good, what):
    if not good:
        raise Fault(what)


class Bench:
    def __init__(self, folder, cnnc, root, libhost, edit):
        self.folder, self.cnnc, self.root, self.libhost = folder, cnnc, Path(root), libhost
        self.edit = edit
        self.here = self.root / "testsuite" / "tune"
        self.net = str(self.here / "net.cnn")

    def compile(self, *options):
        done = subprocess.run([self.cnnc, *PRECISION, *options, self.net], cwd=self.folder,
                              capture_output=True, text=True)
        need(done.returncode == 0, f"cnnc {' '.join(options)}: {done.stderr}")
        return done.stdout

    def tiles(self, *options):
        """How many launches of a training step have which tile."""
        text = self.compile(*options)
        steps = text[text.index("int tuned_train_steps"):text.index("int tuned_eval_steps")]
        return Counter(f"{rows}x{columns}" for rows, columns in TILE.findall(steps))

    def build(self, text):
        path = Path(self.folder, "tune.cu")
        path.write_text(text)
        if self.edit:
            edits = Path(self.edit).read_text()
            subprocess.run(["sed", "-i", "-E", "-f", self.edit, path], check=True)
            need(path.read_text() != text or not edits.strip(), f"nothing to edit by {edits}")
        warnings = ["-w"] if self.edit else ["-Wall", "-Wextra", "-Werror"]
        subprocess.run([CXX, "-std=c++17", "-O1", *warnings, "-I",
                        self.root / "runtime" / "host", "-include", self.here / "elapsed.h", "-x",
                        "c++", path, "-x", "none", self.libhost, "-lpthread", "-o",
                        Path(self.folder, "tune")], check=True)

    def run(self, *words, **environment):
        return subprocess.run(["./tune", *words], cwd=self.folder, capture_output=True, text=True,
                              timeout=120, env={**os.environ, **environment})

    def gpu(self, text):
        Path(self.folder, "my.gpu").write_text(text)
        return "--gpu", "./my.gpu"


def check_table(bench, table, plain):
    """The lines, and cnnc's results for them."""
    lines = LINE.findall(table)
    need(len(lines) == table.count("\ntile ") - len(KNOWN), "a line without its times")
    wanted, modelled, tiles = Counter(), Counter(), set()
    for launches, times, key, tile in lines:
        count = sum(int(n) for n in re.findall(r"(?:^|, )(\d+) ", launches))
        timed = {name: float(took) for name, _, took in TIMED.findall(times)}
        need(len(timed) == 5, f"{key}: not in all tiles: {times}")
        need(timed[tile] == min(timed.values()), f"{key}: {tile} is not the fastest of {times}")
        model = [name for name, mark, _ in TIMED.findall(times) if mark]
        need(len(model) == 1, f"{key}: the model takes {model}")
        wanted[tile] += count
        modelled[model[0]] += count
        tiles |= set(timed)
    need(modelled == plain, f"the model's tiles are {dict(plain)}, not {dict(modelled)}")
    found = bench.tiles(*bench.gpu(table))
    need(found == wanted, f"with the table the trainer has {dict(found)}, not {dict(wanted)}")
    for tile in sorted(tiles):
        one = re.sub(r"^(tile .*) = \d+x\d+$", rf"\1 = {tile}", table, flags=re.MULTILINE)
        found = bench.tiles(*bench.gpu(one))
        need(found == {tile: sum(plain.values())}, f"all in {tile} are {dict(found)}")


def numbers(text):
    return {key: float(value) for key, value in re.findall(r"^(\w+) = (\S+)$", text, re.MULTILINE)}


def check_numbers(table):
    need(numbers(table) == numbers(A100), f"the GPU's numbers are {numbers(table)}")
    for line in KNOWN:
        need(table.count(f"\n{line}\n") == 1, f"{line}: not kept")


def check_sums(bench):
    """Where each launch takes a millisecond: products take as many as they have launches."""
    table = bench.run("--seconds", "0.01", TUNE_ELAPSED="1").stdout
    for launches, times, key, tile in LINE.findall(table):
        count = sum(int(n) for n in re.findall(r"(?:^|, )(\d+) ", launches))
        for name, _, took in TIMED.findall(times):
            need(float(took) == 1000 * count, f"{key}: {count} launches in {name} take {took}")
        need(tile == "128x128", f"{key}: {tile} wins where all are as fast")


def check_failures(bench):
    """Each of the first calls, and some of the rest; and faults outside of CUDA."""
    runs = [((), {"CNNC_HOST_FAIL": str(call)}, 1) for call in (*range(1, 10), 25, 90)]
    runs += [(words, {}, 2) for words in (("--seconds", "0"), ("--seconds", "nan"), ("--seconds",),
                                          ("--second", "1"), ("1", "2", "3"))]
    for words, environment, status in runs:
        done = bench.run(*(words or ("--seconds", "0.01")), **environment)
        where = f"{words} {environment}"
        need(done.returncode == status, f"{where}: exit {done.returncode}")
        need(done.stdout == "", f"{where}: printed {done.stdout[:60]}")
        need("tune: " in done.stderr, f"{where}: nothing said")
    with open("/dev/full", "w") as full:
        done = subprocess.run(["./tune", "--seconds", "0.01"], cwd=bench.folder, stdout=full,
                              stderr=subprocess.PIPE, text=True)
    need(done.returncode == 1 and "can't be written" in done.stderr, "a full disk is not told")


def check_program(program):
    left = list(unused(program, lambda name: name == "main"))
    need(not left, f"nothing uses {', '.join(left)}")
    cases = re.findall(r"^    case TILE_(\w+):\n(.*?)^        return true;", program,
                       re.MULTILINE | re.DOTALL)
    need(cases, "no launches")
    for tile, text in cases:
        found = {f"{rows}x{columns}" for rows, columns in TILE.findall(text)}
        need(found == {tile}, f"as {tile} is measured {found}")


def check(bench):
    before = bench.gpu("\n".join([A100, *KNOWN, ANEW, ""]))
    program = bench.compile("--tune", *before)
    check_program(program)
    bench.build(program)
    done = bench.run("--seconds", "0.01")
    need(done.returncode == 0, f"exit {done.returncode}: {done.stderr}")
    plain = bench.tiles("--gpu", "a100")
    check_table(bench, done.stdout, plain)
    check_numbers(done.stdout)
    check_sums(bench)
    check_failures(bench)
    return f"{len(LINE.findall(done.stdout))} products, {sum(plain.values())} launches"


def main(cnnc, root, libhost, edit=""):
    with tempfile.TemporaryDirectory() as folder:
        try:
            print(check(Bench(folder, os.path.abspath(cnnc), os.path.abspath(root),
                              os.path.abspath(libhost), edit)))
        except Fault as fault:
            print(fault)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
