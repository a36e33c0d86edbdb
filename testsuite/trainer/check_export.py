#!/usr/bin/env python3
"""Weights go from a training to a program in C:

    check_export.py CNNC LIBHOST NET.cnn

NET is exported.cnn. Its trainer trains and exports; so does its inference program, from the same
weights. A program in C imports each state, and its logits are those of predict, bit for bit. Programs
that contain the weights export the same states without --load. Inference in 16 bits has weights of
16 bits, and its import rounds the trainer's, as Python does.
"""
import array
import os
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "saving"))
# Its files do not depend on the compiler, as the calls that check_whole.py orders do.
os.environ.setdefault("CXX", "clang++")
from saving import (COMPILER, HOST, build, bytes_of, enter_folder, expect, leave_folder,
                    read_tensors, run, write_npy)

BATCH, COUNT, NUMBERS = 4, 12, 6 * 6 * 2


def write_sets():
    for name, seed in ("train", 3), ("test", 11):
        os.makedirs(f"data/{name}")
        values = [(seed * i * i + i) % 23 / 8 - 1 for i in range(COUNT * NUMBERS)]
        images = array.array("f", values)
        write_npy(f"data/{name}/image.npy", "<f4", [COUNT, 6, 6, 2], images.tobytes())
        labels = array.array("i", [i % 3 for i in range(COUNT)])
        write_npy(f"data/{name}/label.npy", "<i4", [COUNT], labels.tobytes())
    with open("images", "wb") as out:
        out.write(images[:BATCH * NUMBERS].tobytes())


def build_importer(cnnc, libhost, net, options, name, defines=()):
    subprocess.run([cnnc, "--mode", "infer", *options, "--header", "exported.h", net, "-o",
                    "exported.cu"], check=True)
    subprocess.run(["gcc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", *defines, "-I",
                    HOST, "-I", ".", "-c", os.path.join(HERE, "import_state.c"), "-o", "main.o"],
                   check=True)
    subprocess.run([COMPILER, "-std=c++17", "-O0", "-I", HOST, "-x", "c++", "exported.cu", "-x",
                    "none", "main.o", libhost, "-lpthread", "-o", name], check=True)


def check_logits(importer, state):
    run(["./" + importer, state, "images", "from_c"])
    size = BATCH * 3 * 4
    predicted = bytes_of("predicted/logits.npy")[-COUNT * 3 * 4:]
    expect(bytes_of("from_c") == predicted[:size], f"{state}: other logits than predict's")


def predict(program):
    os.makedirs("predicted", exist_ok=True)
    run([f"./{program}", "predict", "--data", "data", "--load", "weights", "--output", "predicted"])


def rounded(numbers, precision):
    """The bytes of f32 numbers in 16 bits, by Python; bfloat16 by its definition."""
    if precision == "f16":
        return struct.pack(f"<{len(numbers)}e", *numbers)
    bits = struct.unpack(f"<{len(numbers)}I", struct.pack(f"<{len(numbers)}f", *numbers))
    return struct.pack(f"<{len(bits)}H", *((b + 0x7fff + (b >> 16 & 1)) >> 16 for b in bits))


def check_weights(state, precision):
    """Weights with two dimensions and more are in the state, rounded to nearest."""
    tensors = read_tensors("weights")
    for name in "conv_1.weight", "logits.weight":
        expect(rounded(tensors[name], precision) in state, f"{precision}: {name} is not rounded")


def check_halves(cnnc, libhost, net, precision):
    """The trainer's f32 state, and those of the inference program itself."""
    options = ["--precision", precision]
    build(cnnc, libhost, net, ["--mode", "infer", *options], "half")
    build_importer(cnnc, libhost, net, options, "import_half")
    build_importer(cnnc, libhost, net, options, "import_f32", ["-DFROM_F32"])
    predict("half")
    run(["./half", "export", "--load", "weights", "--state", "half.bin"])
    expect(os.path.getsize("half.bin") < os.path.getsize("server.bin"), "weights of 16 bits")
    check_weights(bytes_of("half.bin"), precision)
    check_logits("import_half", "half.bin")
    check_logits("import_f32", "trainer.bin")
    check_logits("import_f32", "server.bin")
    build(cnnc, libhost, net, ["--mode", "infer", *options, "--weights", "weights"], "constant")
    run(["./constant", "export", "--state", "constant.bin"])
    expect(bytes_of("constant.bin") == bytes_of("half.bin"), f"{precision}: other constants")


def main():
    cnnc, libhost, net = [os.path.abspath(path) for path in sys.argv[1:4]]
    folder = enter_folder()
    write_sets()
    build(cnnc, libhost, net, [], "trainer")
    build(cnnc, libhost, net, ["--mode", "infer"], "server")
    build_importer(cnnc, libhost, net, [], "import_state")
    run(["./trainer", "train", "--data", "data", "--epochs", "3", "--save", "weights"])
    predict("trainer")
    for program in "trainer", "server":
        done = run([f"./{program}", "export", "--load", "weights", "--state", program + ".bin"])
        expect(f"{program}.bin: " in done.stdout, done.stdout)
        check_logits("import_state", program + ".bin")
    for program, options in ("trainer", []), ("server", ["--mode", "infer"]):
        build(cnnc, libhost, net, [*options, "--weights", "weights"], "constant")
        run(["./constant", "export", "--state", "constant.bin"])
        expect(bytes_of("constant.bin") == bytes_of(program + ".bin"),
               f"constants of {program}: another state")
    before = bytes_of("server.bin")
    for options, words in [(["--load", "weights", "--state", "weights"], "reads the same file"),
                           (["--load", "images", "--state", "server.bin"], "wanted safetensors"),
                           (["--load", "weights", "--state", "none/x"], "folder is missing")]:
        done = run(["./server", "export", *options], status=1)
        expect(words in done.stderr, f"{options}: {done.stderr}")
    expect(bytes_of("server.bin") == before, "a failed export has changed its file")
    for precision in "f16", "bf16":
        check_halves(cnnc, libhost, net, precision)
    leave_folder(folder)


if __name__ == "__main__":
    main()
