#!/usr/bin/env python3
"""The registers of convolution GEMMs do not spill.

usage: check_stack.py CNNC NET.cnn

nvcc moves arrays without constant indices to memory.  A product whose
operands are computed on load then has its tile's elements in local memory, and
is slow without a word.  So ptxas is asked for the stack of every kernel that
is launched for a convolution: none.  A file without UNROLL is told.  Without
nvcc it says so and exits 77.
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

KERNELS = re.compile(r"conv_(?:pool_|strided_)?(?:forward|dgrad|wgrad)")
FRAME = re.compile(r"Function properties for (\w+)\n +(\d+) bytes stack frame")
UNROLLED = '_Pragma("unroll")'


def frames(nvcc, folder, text):
    """The stacks of the kernels of convolutions, in bytes."""
    (folder / "net.cu").write_text(text)
    said = subprocess.run(
        [nvcc, "-std=c++17", "-fmad=false", "-arch=sm_90", "-Xptxas", "-v", "-c", "net.cu",
         "-o", "net.o"], cwd=folder, capture_output=True, text=True, check=True)
    found = {}
    for name, size in FRAME.findall(said.stderr):
        kernel = KERNELS.search(name)
        if kernel:
            found[name] = (kernel.group(), int(size))
    return list(found.values())


def main():
    cnnc, net = sys.argv[1:3]
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if not nvcc:
        print("no nvcc here")
        return 77
    text = subprocess.run([cnnc, net], capture_output=True, text=True,
                          check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        found = frames(nvcc, Path(folder), text)
        planted = frames(nvcc, Path(folder), text.replace(UNROLLED, ""))
    print(f"as emitted: {found}\nwithout UNROLL: {planted}")
    kinds = {kernel for kernel, _ in found}
    if len(kinds) < 4:
        print("the net has not the kernels that this is about")
        return 1
    if not any(size for _, size in planted):
        print("that nothing is unrolled is not told")
        return 1
    return 1 if any(size for _, size in found) else 0


if __name__ == "__main__":
    sys.exit(main())
