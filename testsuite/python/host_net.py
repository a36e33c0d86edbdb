"""A converted net as a program of the host runtime."""
import os
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

import cnnc

HOST = Path(__file__).resolve().parents[2] / "runtime" / "host"
LIMIT = 1e-9
# A training step, which is taken of a batch of SAMPLES.
RATE, SAMPLES = 0.1, 5
TRAIN = {"loss": "softmax_cross_entropy", "optimizer": f"sgd(lr = {RATE})"}


def build(text, libhost, program, precision="f64", **options):
    """Compiles the net's text for the CPU: clang++ takes half of g++'s time, where there is one."""
    cnnc.compile(text, f"{program}.cu", main=True, precision=precision, **options)
    compiler = os.environ.get("CXX") or shutil.which("clang++") or "g++"
    subprocess.run([compiler, "-std=c++17", "-O0", *os.environ.get("CXXFLAGS", "").split(), "-I",
                    str(HOST), "-x", "c++", f"{program}.cu", "-x", "none", libhost, "-lpthread",
                    "-o", program], check=True)


def predict(program, weights, inputs, folder):
    """By name, the outputs for inputs by name. Files have [n, height, width, channels]."""
    results = Path(folder, "results")
    results.mkdir()
    words = []
    for name, array in inputs.items():
        np.save(f"{folder}/{name}.npy", array)
        words += ["--test", f"{name}={folder}/{name}.npy"]
    subprocess.run([program, "predict", "--load", weights, "--output", str(results), *words],
                   check=True, stdout=subprocess.DEVNULL)
    return {path.stem: np.load(path) for path in results.glob("*.npy")}


def framework_results(converted, libhost, folder, arrays):
    """The outputs in order, with the framework's axes, for a batch of each input in order, which
    has the program's."""
    _, weights = converted.save(f"{folder}/net")
    build(converted.text, libhost, f"{folder}/net", batch=len(arrays[0]), mode="infer")
    results = predict(f"{folder}/net", weights, dict(zip(converted.inputs, arrays)), folder)
    return [results[name].transpose(0, *(1 + axis for axis in converted.axes[name]))
            for name in converted.outputs]


def results_of(converted, libhost, folder, x):
    """The outputs in order for a batch of maps with channels first."""
    return framework_results(converted, libhost, folder, [channels_last(x)])


def saved_after_step(converted, libhost, folder, x, labels):
    """The file of the weights after a training step of a batch in the program's layout."""
    _, weights = converted.save(f"{folder}/net")
    build(converted.text, libhost, f"{folder}/net", batch=len(x))
    save_file({converted.inputs[0]: x, "label": labels}, f"{folder}/batch")
    subprocess.run([f"{folder}/net", "step", "--load", weights, "--batch", f"{folder}/batch",
                    "--save", f"{folder}/saved"], check=True, stdout=subprocess.DEVNULL)
    return f"{folder}/saved"


def after_step(converted, libhost, folder, x, labels):
    """PyTorch's state_dict after a training step."""
    saved = saved_after_step(converted, libhost, folder, channels_last(x), labels)
    return cnnc.weights.to_torch(saved, converted)


def channels_last(x):
    return np.ascontiguousarray(x.transpose(0, 2, 3, 1))


def distance(ours, theirs):
    """The largest difference, relative to the largest number."""
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def judged(ours, theirs):
    """True and a line of a table; false if outputs of at least two samples differ."""
    far = max(map(distance, ours, theirs))
    largest = max(abs(each).max() for each in theirs)
    apart = min(distance(each[:1], each[1:]) for each in theirs)
    return far <= LIMIT, f"{far:.1e}, of {largest:.2g}; two samples differ by {apart:.1g}"


def print_table(names, row):
    """Prints a line for each name, of row(name): whether it is good, and a text. Returns the exit
    status."""
    failed = []
    for name in names:
        start = time.time()
        good, text = row(name)
        failed += [] if good else [name]
        print(f"{name:30} {text} ({time.time() - start:.0f} s)", flush=True)
    print(f"too far: {', '.join(failed)}" if failed else "all agree")
    return 1 if failed else 0


def sampled(array, count=400):
    """About `count` elements of a long array: an odd stride passes through all channels."""
    return array.ravel()[::array.size // count | 1]


def samples_of(arrays):
    """The elements of outputs that are stored: a few hundred, or 30 of each of many outputs."""
    return [sampled(array, max(400 // len(arrays), 30)) for array in arrays]
