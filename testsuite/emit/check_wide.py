#!/usr/bin/env python3
"""Checks the width of stores of a net's kernels in PTX, which nvcc chooses freely.

    check_wide.py CNNC NET.cnn [SED]

The nets are in f16, for sm_90. Kernels that move vectors store 16 bytes at a time, and convolutions
no 16 bits alone: the net's channels must be multiples of 8. Their partial sums have 32 bits, and
the header counts blocks in 64. SED is a script for the emitted file.
Without nvcc it says so and exits 77.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

# Kernels, and the stores to global memory that they may make.
ALLOWED = {
    r"batchnorm_(forward|gradient)|pair_forward|unary_gradient": r"\.v4\.u32",
    r"conv_(strided_)?dgrad|conv_forward": r"\.[fu]32|\.v[24]\.u32|\.u64",
}


def ptx_of(cnnc, net, edit, folder):
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if nvcc is None:
        print("no nvcc here")
        sys.exit(77)
    source, ptx = os.path.join(folder, "net.cu"), os.path.join(folder, "net.ptx")
    subprocess.run([cnnc, "--precision", "f16", net, "-o", source], check=True)
    if edit:
        before = open(source, encoding="utf-8").read()
        subprocess.run(["sed", "-i", "-E", edit, source], check=True)
        if open(source, encoding="utf-8").read() == before:
            sys.exit(f"'{edit}' finds nothing")
    subprocess.run([nvcc, "-std=c++17", "-fmad=false", "-ptx", "-arch=sm_90", source, "-o", ptx],
                   check=True)
    return open(ptx, encoding="utf-8").read()


def main():
    cnnc, net, edit = sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None
    with tempfile.TemporaryDirectory() as folder:
        kernels = re.split(r"\.entry ", ptx_of(cnnc, net, edit, folder))[1:]
    faults = 0
    for names, allowed in ALLOWED.items():
        looked_at = 0
        for kernel in kernels:
            name = re.match(rf"\w*?\d({names})I", kernel)
            if not name:
                continue
            stores = re.findall(r"\bst\.global(?:\.wb)?(\.[.\w]+)", kernel)
            looked_at += len(stores)
            for store in sorted(set(stores)):
                if not re.fullmatch(allowed, store):
                    faults += 1
                    print(f"{name[1]} stores {store[1:]} {stores.count(store)} times")
        print(f"{names}: {looked_at} stores")
        faults += looked_at == 0
    sys.exit(f"{faults} faults" if faults else 0)


main()
