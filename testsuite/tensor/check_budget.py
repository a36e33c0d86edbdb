#!/usr/bin/env python3
"""Checks ptxas's report of the tensor core GEMM kernels.

usage: check_budget.py CNNC ROOT REPORT ARCH NET.cnn...

Each net is emitted with products of TF32 and compiled for ARCH. Its kernels of convolutions have no
stack and spill nothing. They take at most the registers that ir/gpu/tensor_core_tile.c counts with
for their tile. Their shared memory is as much as their tile's stages, or at most 48 KiB. All of
them go to REPORT, a line each. A file whose loops are not unrolled, and one whose stages are one
more, must be told. Without nvcc it says so and exits 77.
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROW_BYTES, MOST_SHARED = 64, 48 << 10
UNROLLED = '_Pragma("unroll")'
KERNEL = re.compile(r"Compiling entry function '(\w+)'.*\n.*\n +(\d+) bytes stack frame, (\d+) bytes "
                    r"spill stores, (\d+) bytes spill loads\n.*Used (\d+) registers(.*)")
NAME = re.compile(r"\b(conv_\w+)<.*?TensorTile<Tf32, (\d+), (\d+), (\d+), (\d+), (\d+)>")


def budgets(root):
    """Registers by tile, as the compiler counts with."""
    text = (root / "ir/gpu/tensor_core_tile.c").read_text()
    rows = re.findall(r"\{ \{ (\.rows = [^}]+)\}, (\d+), \d+ \}", text)
    assert rows, "no candidates in tensor_core_tile.c"
    return {tuple(int(x) for x in re.findall(r"= (\d+)", tile)): int(count)
            for tile, count in rows}


def kernels(nvcc, folder, text, arch):
    """Lists each kernel on tensor cores: name, tile, stack and spills, registers, shared memory."""
    (folder / "net.cu").write_text(text)
    said = subprocess.run([nvcc, "-std=c++17", "-fmad=false", "-arch=" + arch, "-Werror",
                           "all-warnings", "-Xptxas", "-v", "-cubin", "net.cu", "-o", "net.cubin"],
                          cwd=folder, capture_output=True, text=True, check=True).stderr
    for mangled, stack, stores, loads, registers, rest in KERNEL.findall(said):
        name = subprocess.run(["c++filt", mangled], capture_output=True, text=True,
                              check=True).stdout
        found = NAME.search(re.sub(r"\w+::", "", name))
        shared = re.search(r"(\d+) bytes smem", rest)
        if found:
            yield (found[1], tuple(int(x) for x in found.groups()[1:]),
                   int(stack) + int(stores) + int(loads), int(registers),
                   int(shared[1]) if shared else 0)


def faults(rows, budget):
    for kernel, tile, memory, registers, shared in rows:
        where = f"{kernel} {tile}: "
        wanted = tile[4] * (tile[0] + tile[1]) * ROW_BYTES
        if tile not in budget:
            yield where + "no candidate"
            continue
        if memory:
            yield where + f"{memory} bytes of stack and spills"
        if registers > budget[tile]:
            yield where + f"{registers} registers, at most {budget[tile]}"
        if shared > MOST_SHARED or (shared != wanted and "pool" not in kernel):
            yield where + f"{shared} bytes of shared memory, not {wanted}"


def main():
    cnnc, root, report, arch = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if not nvcc:
        print("no nvcc here")
        return 77
    budget, lines, found, kinds = budgets(root), [], [], set()
    for net in sys.argv[5:]:
        text = subprocess.run([cnnc, "--precision", "tf32", net], capture_output=True, text=True,
                              check=True).stdout
        with tempfile.TemporaryDirectory() as folder:
            rows = list(kernels(nvcc, Path(folder), text, arch))
            if net == sys.argv[5]:
                planted = [kernels(nvcc, Path(folder), text.replace(UNROLLED, ""), arch),
                           kernels(nvcc, Path(folder), re.sub(r"(TensorTile<.*), \d>", r"\1, 2>", text),
                                   arch)]
                found += [f"{what} is not told" for what, rows_of in
                          zip(("that nothing is unrolled", "another number of stages"), planted)
                          if not list(faults(rows_of, budget))]
        kinds |= {kernel for kernel, *_ in rows}
        found += [f"{Path(net).stem}: {fault}" for fault in faults(rows, budget)]
        lines += [f"{arch} {Path(net).stem:20} {kernel:20} {'x'.join(map(str, tile)):18} "
                  f"registers {registers:3} shared {shared:5} stack and spills {memory}"
                  for kernel, tile, memory, registers, shared in rows]
    report.write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} kernels, {report}", *found, sep="\n")
    if len(kinds) < 4:
        found.append("the nets have not the kernels that this is about")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
