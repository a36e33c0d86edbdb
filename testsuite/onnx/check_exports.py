#!/usr/bin/env python3
"""Exports nets to ONNX, and compares the results of onnx's evaluator with the interpreter's.

    check_exports.py INTERPRET [NAME...]
    check_exports.py INTERPRET --random RANDOM_NET FIRST COUNT

The nets are those of ops/ and the small examples, or those with such a name. Each net is two models
in double precision. One has the lowest opset and maps [N, channels, height, width]. The other has
onnx's last opset and maps [N, height, width, channels]. onnx.checker checks both in full. The
first, converted back by from_onnx, has the same results too. With --random the nets are those that
RANDOM_NET draws of COUNT seeds. It runs by with_onnx.
"""
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
from safetensors.numpy import load_file, save_file

import cnnc
from cnnc import compiler
from cnnc.compiled_graph import CompiledGraph
from reference_operators import evaluate

TESTS = Path(__file__).resolve().parents[1]
sys.path.append(str(TESTS / "golden"))
import draws  # noqa: E402

SAMPLES = 3
TOLERANCE = 1e-12
# Random nets have attributes that single precision rounds, and differences of near numbers.
OF_RANDOM = 2e-7
# Attributes of ONNX are in single precision: epsilon, a slope, the constants of selu, a sixth.
ROUNDED = {"leaky_relu": 1e-8, "selu": 1e-7, "hard_sigmoid": 1e-7, "hard_swish": 1e-7,
           "layernorm": 1e-9, "groupnorm": 1e-9, "lrn": 1e-8}
# Nets with these inputs or operators don't convert back.
ONE_WAY = "input .*: wanted a tensor of floats|: Erf: there is no|a constant tensor .* with a value"
# These are no part of inference.
TRAINING = {"dropout", "stochastic_depth"}
EXAMPLES = ["digits", "lenet", "mnist_cnn", "tf_cifar10", "skip", "autoencoder"]


def channels_first(array):
    return np.moveaxis(array, -1, 1) if array.ndim == 4 else array


def channels_last(array):
    return np.moveaxis(array, 1, -1) if array.ndim == 4 else array


def drawn(graph):
    """The weights and the inputs of a net."""
    weights = {value.name: draws.weight(value.name, value.shape, 0) for value in graph.weights}
    values = [graph.values[name] for name in graph.inputs]
    return weights, {value.name: draws.batch_input(value.name, value.dtype, value.shape, 0, 0, 0)
                     for value in values}


def interpreted(interpret, net, weights, inputs):
    """The outputs of the net by the compiler's scalar reference, without a pass."""
    with tempfile.TemporaryDirectory() as folder:
        save_file({name: np.ascontiguousarray(array) for name, array in weights.items()} or
                  {"none": np.zeros(1)}, f"{folder}/weights")
        save_file(inputs, f"{folder}/batch")
        subprocess.run([interpret, "-O0", "--infer", "--batch", str(SAMPLES), net, "--load",
                        f"{folder}/weights", "--batch-file", f"{folder}/batch", "--save",
                        f"{folder}/outputs"], check=True)
        return load_file(f"{folder}/outputs")


def distance(found, expected):
    """The largest difference, relative to the largest number; infinite if only one is finite."""
    is_finite = np.isfinite(expected)
    if not np.array_equal(np.isfinite(found), is_finite):
        return np.inf
    largest = np.abs(expected[is_finite]).max(initial=0)
    return np.abs(found - expected)[is_finite].max(initial=0) / (largest or 1)


def differences(model, inputs, wanted, layout):
    """By output, the largest difference relative to the largest number."""
    onnx.checker.check_model(model, full_check=True)
    to, back = (channels_first, channels_last) if layout == "nchw" else (lambda x: x,) * 2
    names = [port.name for port in model.graph.input]
    for name, array in evaluate(model, {name: to(inputs[name]) for name in names}).items():
        found, expected = back(array), wanted[name]
        assert found.shape == expected.shape, f"{name}: {found.shape} is not {expected.shape}"
        yield name, distance(found, expected)


def differences_back(interpret, model, inputs, wanted):
    """The same differences for the net that the model converts to."""
    try:
        net = cnnc.from_onnx(model)
    except cnnc.Unsupported as refusal:
        if not re.search(ONE_WAY, str(refusal)):
            raise
        return
    given = {}
    for variable, port in zip(net.inputs, model.graph.input, strict=True):
        order = [0, *(1 + axis for axis in np.argsort(net.axes[variable]))]
        given[variable] = np.ascontiguousarray(channels_first(inputs[port.name]).transpose(order))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "net.cnn")
        path.write_text(net.text, encoding="utf-8")
        found = interpreted(interpret, path, net.weights, given)
    for variable, port in zip(net.outputs, model.graph.output, strict=True):
        array = found[variable].transpose(0, *(1 + axis for axis in net.axes[variable]))
        expected = channels_first(wanted[port.name])
        assert array.shape == expected.shape, f"{variable}: {array.shape} is not {expected.shape}"
        yield variable, distance(array, expected)


def check(interpret, net, limit):
    """The faults of a net's models, and its operators."""
    graph = CompiledGraph(net, "infer", precision="f64", batch=SAMPLES)
    operators = {at.op for at in graph.operators}
    limit = max([limit, *(ROUNDED.get(op, 0) for op in operators)])
    weights, inputs = drawn(graph)
    wanted = interpreted(interpret, net, weights, inputs)
    faults, worst = [], 0
    for layout, opset in (("nchw", None), ("nhwc", onnx.defs.onnx_opset_version())):
        model = cnnc.to_onnx(net, weights, layout=layout, opset=opset, precision="f64")
        assert [output.name for output in model.graph.output] == graph.outputs
        found = [(layout, *pair) for pair in differences(model, inputs, wanted, layout)]
        if layout == "nchw":
            found += [("back", *pair) for pair in
                      differences_back(interpret, model, inputs, wanted)]
        for word, name, apart in found:
            worst = max(worst, apart)
            if not apart <= limit:
                faults.append(f"{word}: {name} differs by {apart:.2g}; allowed are {limit:g}")
    return faults, worst, operators


def tried(interpret, net, limit):
    """The result of check, where an exception is a fault."""
    try:
        return check(interpret, net, limit)
    except Exception as error:  # noqa: BLE001    onnx raises all kinds
        return [f"fails: {type(error).__name__}: {error}"], np.nan, set()


def layers():
    """The operators that a net can call on values."""
    text = compiler.run(["--reference"])
    text = text.partition("\n## Layers\n")[2].partition("\n## ")[0]
    return set(re.findall(r"^### (\w+)$", text, re.MULTILINE))


def random_nets(folder, program, first, count):
    for seed in range(int(first), int(first) + int(count)):
        path = Path(folder, f"random-{seed}.cnn")
        with open(path, "w", encoding="utf-8") as file:
            subprocess.run([program, str(seed)], stdout=file, check=True)
        yield path


def stored_nets(given):
    nets = sorted((TESTS / "ops").glob("*.cnn")) + [
        TESTS.parent / "examples" / name / f"{name}.cnn" for name in EXAMPLES]
    nets = [net for net in nets if not given or net.stem in given]
    assert len(nets) >= max(len(given), 1), "there is no such net"
    return nets


def main():
    interpret, *given = sys.argv[1:]
    is_random = given[:1] == ["--random"]
    begin, failed, seen = time.process_time(), 0, set()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        nets = list(random_nets(folder, *given[1:])) if is_random else stored_nets(given)
        limit = OF_RANDOM if is_random else TOLERANCE
        for net, (faults, worst, operators) in zip(
                nets, pool.map(lambda net: tried(interpret, net, limit), nets)):
            seen |= operators
            failed += bool(faults)
            print(f"{net.stem}: {'; '.join(faults) or 'sound'}, {worst:.1e}")
    if not given and layers() - seen != TRAINING:
        print(f"no net has {', '.join(sorted(layers() - seen - TRAINING))}")
        failed += 1
    print(f"{len(nets)} nets of {len(seen)} operators, {failed} failed, "
          f"{time.process_time() - begin:.0f} s")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
