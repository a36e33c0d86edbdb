#!/usr/bin/env python3
"""Holds the machine code of convolutions: a main loop with other instructions is a failure.

    check_sass.py BUILD sass.txt [PATTERN] [--update]

The file has nvcc's version and, for each precision and architecture, the kernels of net.cnn. The
main loop is the innermost one with the most products: HMMA, or FFMA where there is none. PATTERN
chooses among lines such as `f16 sm_90 memory`. With --update the file is written anew. Another nvcc makes
other code, so the test is skipped then, as it is without nvcc or a disassembler. No GPU is needed.

A kernel may use no local memory: nothing spills.
"""
import re
import sys
import tempfile

from machine_code import HERE, compiled, count_math, memory_of, opcode, tile_of
from held import Failed, Table, digest, emitted, run  # machine_code has found its folder

HEAD = """# Main loops of the convolutions of net.cnn in machine code, held by the test nvcc.sass. To write
# them anew:
#
#     testsuite/sass/check_sass.py build testsuite/sass/sass.txt --update
#
# loop: instructions of the main loop; math: products among them; moves: copies of registers; regs:
# registers of a thread; blocks: that an SM has room for; memory: loads and stores of the loop.
"""
COLUMNS = ["loop", "math", "moves", "regs", "blocks"]
OPTIONS = ["--batch", "64", "--gpu", "h200"]
# With --prefer memory, maps are normalized on load. With --prefer time, weights have copies.
SETS = [f"{precision} {arch} memory" for precision in ("f16", "tf32", "f32")
        for arch in ("sm_90", "sm_80")] + ["f16 sm_90 time"]


def short(kernel):
    """`conv_forward three_normalized, normalized` of a demangled name."""
    name, shape = re.search(r"(\w+)<(\w+)_shape", kernel).groups()
    loads = re.search(r"Normalized\b|Centred|UnpoolLoad", kernel)
    return f"{name} {shape}" + (f", {loads[0].lower()} on load" if loads else "")


def row_of(kernel, arch):
    """The counts of a kernel's main loop."""
    found = kernel.main_loop(("HMMA",)) or kernel.main_loop(("FFMA",))
    loop = kernel.texts(*found) if found else []
    math = "HMMA" if count_math(loop, ("HMMA",)) else "FFMA"
    return {"loop": len(loop), "math": count_math(loop, (math,)),
            "moves": sum(bool(re.match(r"MOV|IMAD\.MOV", opcode(text))) for text in loop),
            "regs": kernel.used["REG"], "blocks": kernel.blocks(tile_of(kernel.name)[1], arch),
            "memory": memory_of(loop)}


def options_of(name):
    precision, _, preferred = name.split()
    return [f"{HERE}/net.cnn", *OPTIONS, "--precision", precision, "--prefer", preferred]


def source(build, name):
    """Kernels and steps, which determine the machine code."""
    return digest(emitted(build, "2 kernels", *options_of(name)))


def count(build, name):
    arch = name.split()[1]
    rows = {}
    with tempfile.TemporaryDirectory() as work:
        run([f"{build}/cnnc", *options_of(name), "-o", f"{work}/net.cu"])
        for kernel in compiled(build, f"{work}/net.cu", arch):
            if not re.search(r"(conv|depthwise)_\w+<(?!logits)", kernel.name):
                continue
            if kernel.used["STACK"] or kernel.used["LOCAL"]:
                raise Failed(f"{name}: {kernel.name} uses local memory")
            called = short(kernel.name)
            while called in rows:
                called += " again"
            rows[called] = row_of(kernel, arch)
    return dict(sorted(rows.items()))


sys.exit(Table(HEAD, "set", COLUMNS, 52, 7, "memory").main(count, source, SETS))
