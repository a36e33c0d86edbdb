#!/usr/bin/env python3
"""Calibration of examples/digits for int8, against NumPy.

    check_calibration.py LIBHOST ROOT

A training of a few epochs is calibrated. The integers and scales of weights are NumPy's, bit by
bit. The scales of maps are NumPy's to rounding, also with --percentile. So are the signal-to-noise
ratios that --layers prints. The program of int8 has
NumPy's logits of the same integers, except where a tie is rounded otherwise. It makes at most two
more errors in 360 than the floats. Wrong arguments and weights are refused.
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

cnnc = os.environ["CNNC"]
libhost, root = (os.path.abspath(path) for path in sys.argv[1:])
DATA = os.path.join(root, "examples", "digits", "data")
NET = os.path.join(root, "examples", "digits", "digits.cnn")
HOST = os.path.join(root, "runtime", "host")
WEIGHTS = [layer + ".weight" for layer in ("conv_1", "conv_2", "dense_1", "logits")]


def run(*command, status=0):
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    assert done.returncode == status, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def build(program, *options):
    run(cnnc, "--main", "--batch", "60", *options, NET, "-o", program + ".cu")
    run("clang++", "-std=c++17", "-O1", "-I", HOST, "-x", "c++", program + ".cu", "-x", "none",
        libhost, "-lpthread", "-o", program)


def read_tensors(path):
    with open(path, "rb") as file:
        raw = file.read()
    size = int.from_bytes(raw[:8], "little")
    types = {"F32": np.float32, "I8": np.int8}
    tensors = {}
    for name, at in json.loads(raw[8:8 + size]).items():
        begin, end = at["data_offsets"]
        tensors[name] = np.frombuffer(raw[8 + size + begin:8 + size + end],
                                      types[at["dtype"]]).reshape(at["shape"])
    return tensors


def images(name):
    with open(os.path.join(DATA, name), "rb") as file:
        raw = file.read()
    sizes = np.frombuffer(raw[4:4 + 4 * raw[3]], ">u4")
    return np.frombuffer(raw[4 + 4 * raw[3]:], np.uint8).reshape(sizes)


def conv(x, weight):
    """Same padding of 3x3, in the type of x."""
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    high, wide = x.shape[1:3]
    return sum(padded[:, r:r + high, s:s + wide] @ weight[:, r, s].T
               for r in range(3) for s in range(3))


def pool(x):
    n, high, wide, c = x.shape
    return x.reshape(n, high // 2, 2, wide // 2, 2, c).max((2, 4))


def forward(x, w, keep):
    """Logits in floats; keep(name, map) may change a map that int8 stores."""
    x = x[..., None].astype(np.float64) / 255
    x = keep("relu_1", np.maximum(conv(x, w["conv_1.weight"]) + w["conv_1.bias"], 0))
    x = keep("relu_2", np.maximum(conv(x, w["conv_2.weight"]) + w["conv_2.bias"], 0))
    x = pool(x).reshape(len(x), -1)
    x = keep("relu_3", np.maximum(x @ w["dense_1.weight"].T + w["dense_1.bias"], 0))
    return x @ w["logits.weight"].T + w["logits.bias"]


def in_rows(scale, weight):
    return scale.reshape((-1,) + (1,) * (weight.ndim - 1))


def check_weights(floats, quantized):
    for name in WEIGHTS:
        rows = np.abs(floats[name].reshape(len(floats[name]), -1)).max(1)
        scale = rows / np.float32(127)
        assert np.array_equal(quantized[name + ".scale"], scale), name
        assert np.array_equal(quantized[name],
                              np.rint(floats[name] / in_rows(scale, floats[name]))), name
    for name in floats:
        if name not in WEIGHTS:
            assert np.array_equal(floats[name], quantized[name]), name


def check_maps(maps, quantized, percent):
    for name, values in maps.items():
        largest = values.max()
        if percent < 100:
            bins = 2048
            counts = np.bincount(np.minimum((values.ravel() / largest * bins).astype(int),
                                            bins - 1), minlength=bins)
            largest *= (np.searchsorted(np.cumsum(counts), percent / 100 * values.size) + 1) / bins
        found = quantized[name + ".scale"][0] * 255
        # Some values are at the border of two bins.
        assert abs(found - largest) <= (1e-5 if percent == 100 else 1.01 / 2048) * values.max(), \
            f"{name}: {found}, not {largest}"


def ratio(numbers, rounded):
    numbers = numbers.astype(np.float64)
    return 10 * np.log10(np.sum(numbers ** 2) / np.sum((numbers - rounded) ** 2))


def check_layers(text, floats, maps, quantized):
    """The lines of --layers, against the same numbers rounded by NumPy."""
    lines = [line.split() for line in text.splitlines() if line.startswith("  ")]
    found = {name: (kind, float(number)) for kind, name, number in lines}
    assert sorted(found) == sorted([*WEIGHTS, *maps]), text
    for name, (kind, number) in found.items():
        if kind == "weight":
            scale = in_rows(quantized[name + ".scale"].astype(np.float64), floats[name])
            wanted = ratio(floats[name], quantized[name] * scale)
        else:
            wanted = ratio(maps[name], integers(name, maps[name], quantized))
        print(f"{kind} {name}: {number} dB, {wanted:.3f} by NumPy")
        assert kind == ("weight" if name in WEIGHTS else "map"), name
        assert abs(number - wanted) < 0.02, f"{name}: {number} dB, not {wanted}"


def integers(name, x, scales):
    scale = scales[name + ".scale"][0].astype(np.float64)
    return np.clip(np.rint(x * np.float32(1 / scale)), 0, 255) * scale


def check_logits(quantized, logits):
    weights = dict(quantized)
    for name in WEIGHTS:
        weights[name] = quantized[name] * in_rows(quantized[name + ".scale"].astype(np.float64),
                                                  quantized[name])
    wanted = forward(images("test-images-idx3-ubyte"), weights,
                     lambda name, x: integers(name, x, quantized))
    apart = np.abs(wanted - logits).max(1)
    print(f"logits: {np.mean(apart < 1e-4):.3f} of the samples without a tie, "
          f"at most {apart.max():.5f} apart, of {np.abs(wanted).max():.2f}")
    assert np.mean(apart < 1e-4) > 0.9 and apart.max() < 0.05


def check_constants():
    """A program that contains the integers and scales has the state of one that loads them."""
    build("constant", "--mode", "infer", "--precision", "int8", "--weights", "integers")
    run("./int8", "export", "--load", "integers", "--state", "loaded.bin")
    run("./constant", "export", "--state", "constant.bin")
    with open("loaded.bin", "rb") as loaded, open("constant.bin", "rb") as constant:
        assert loaded.read() == constant.read(), "other constants"
    text = run(cnnc, "--mode", "infer", "--precision", "int8", "--weights", "weights", NET, "-o",
               "x.cu", status=1)
    assert "has no tensor" in text or "is no i8" in text, text


def errors(program, weights):
    text = run("./" + program, "eval", "--data", DATA, "--load", weights)
    right = int(text.split("(")[-1].split("/")[0])
    return 360 - right


def main():
    for program, options in (("train", []), ("calibrate", ["--calibrate"]),
                             ("int8", ["--mode", "infer", "--precision", "int8"])):
        build(program, *options)
    run("./train", "train", "--data", DATA, "--epochs", "4", "--save", "weights")
    floats, maps = read_tensors("weights"), {}

    def keep(name, x):
        maps[name] = x
        return x

    forward(images("train-images-idx3-ubyte"), floats, keep)
    # A pool of the largest has the scale of its operand, and counts, too.
    maps["relu_2"] = np.concatenate([maps["relu_2"].ravel(), pool(maps["relu_2"]).ravel()])
    for percent in "99", "100":
        text = run("./calibrate", "calibrate", "--data", DATA, "--load", "weights", "--save",
                   "integers", "--percentile", percent, "--layers")
        assert "integers: scales of 3 maps, from 1437 samples, and of 4 weights" in text, text
        check_maps(maps, read_tensors("integers"), float(percent))
        check_layers(text, floats, maps, read_tensors("integers"))
    quantized = read_tensors("integers")
    silent = run("./calibrate", "calibrate", "--data", DATA, "--load", "weights", "--save", "again")
    assert "dB" not in silent, silent
    with open("integers", "rb") as file, open("again", "rb") as again:
        assert file.read() == again.read(), "--layers changes the integers"
    check_weights(floats, quantized)
    run("./int8", "predict", "--data", DATA, "--load", "integers", "--output", "out")
    check_logits(quantized, np.load("out/logits.npy"))
    check_constants()
    counts = errors("train", "weights"), errors("int8", "integers")
    print("errors: %d in floats, %d in integers" % counts)
    assert counts[1] <= counts[0] + 2
    for words, status, says in (
            (["./int8", "eval", "--data", DATA, "--load", "weights"], 1, "has no tensor"),
            (["./int8", "calibrate", "--data", DATA, "--load", "weights", "--save", "x"], 2,
             "calibrate"),
            (["./calibrate", "calibrate", "--data", DATA, "--load", "weights", "--save", "x",
              "--percentile", "0"], 2, "wanted a number above 0, at most 100"),
            (["./calibrate", "calibrate", "--data", DATA, "--load", "weights", "--save",
              "weights"], 1, "same file"),
            ([cnnc, "--precision", "int8", NET, "-o", "x.cu"], 2, "int8 is for --mode infer")):
        text = run(*words, status=status)
        assert says in text, f"{words}: {text}"
    assert not os.path.exists("x") and not os.path.exists("x.cu")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
        os.chdir("/")
