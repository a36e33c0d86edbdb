#!/usr/bin/env python3
"""Where products and sums are one operation in PTX: where the kernels say so, nowhere else.

    check_contraction.py CNNC NET.cnn [SED]

The net is built as the first lines of its file say. By default nvcc contracts a product and its sum
where it sees both. One kernel then differs from another with the same formula, and the last bits
depend on passes, budgets and loss scales. Inner products must be joined all the same, since they
take twice as long otherwise. So must normalized elements, in all kernels alike. SED is a script for
the emitted file. Without nvcc it says so and exits 77.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

JOINED = ["conv_forward", "conv_dgrad", "conv_wgrad", "depthwise_forward", "depthwise_dgrad",
          "depthwise_wgrad", "batchnorm_forward"]
APART = ["batchnorm_gradient", "batchnorm_commit", "sgd_update", "sgd_move"]


def ptx_of(cnnc, net, edit, folder):
    source, ptx = os.path.join(folder, "net.cu"), os.path.join(folder, "net.ptx")
    subprocess.run([cnnc, net, "-o", source], check=True)
    if edit:
        before = open(source, encoding="utf-8").read()
        subprocess.run(["sed", "-i", "-E", edit, source], check=True)
        if open(source, encoding="utf-8").read() == before:
            sys.exit(f"'{edit}' finds nothing")
    text = open(source, encoding="utf-8").read()
    flags = re.search(r"^//   build +nvcc (.*) -c \S+\.cu$", text, re.M)[1].split()
    flags = [flag.replace("=native", "=sm_90") for flag in flags]
    subprocess.run(["nvcc", *flags, "-std=c++17", "-ptx", source, "-o", ptx], check=True)
    return open(ptx, encoding="utf-8").read()


def main():
    cnnc, net, edit = sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None
    os.environ["PATH"] += ":/usr/local/cuda/bin"
    if not shutil.which("nvcc"):
        print("no nvcc here")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        kernels = re.split(r"\.entry ", ptx_of(cnnc, net, edit, folder))[1:]
    faults = 0
    for name in JOINED + APART:
        own = [kernel for kernel in kernels if re.match(rf"\w*?\d{name}I", kernel)]
        counts = [len(re.findall(r"\bfma\.rn\.f32", kernel)) for kernel in own]
        wrong = [count for count in counts if (count == 0) == (name in JOINED)]
        print(f"{name}: {len(own)} kernels, {sum(counts)} joined operations")
        if wrong or not own:
            faults += 1
            print(f"{name}: {len(wrong)} kernels are {'apart' if name in JOINED else 'joined'}")
    sys.exit(f"{faults} faults" if faults else 0)


main()
