#!/usr/bin/env python3
"""Compares exported nets in ONNX Runtime, in single precision, with cnnc.

    check_runtime.py CNNC INTERPRET LIBHOST [WORD...]

Nets of ops/ are compared with the interpreter in double precision, and examples with their emitted
file on the host runtime, in single precision. With words, nets whose names have one. It wants the
packages numpy, onnx, onnxruntime and safetensors; CXXFLAGS=-O1 makes the examples faster.
"""
import os
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent / "python"), str(ROOT / "frontend" / "python")]
os.environ["CNNC"] = str(Path(sys.argv[1]).resolve())

import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402
from safetensors.numpy import save_file  # noqa: E402

import cnnc  # noqa: E402
import host_net  # noqa: E402
from check_exports import (SAMPLES, TESTS, channels_first, channels_last, drawn,  # noqa: E402
                           interpreted)
from cnnc.compiled_graph import CompiledGraph  # noqa: E402

TOLERANCE = 1e-5
# These take minutes to build and to run.
LONG = {"resnet1001", "resnet1202"}


def in_single(arrays):
    return {name: array.astype(np.float32) if array.dtype == np.float64 else array
            for name, array in arrays.items()}


def by_runtime(model, inputs):
    session = onnxruntime.InferenceSession(model.SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    names = [port.name for port in session.get_inputs()]
    given = {name: np.ascontiguousarray(channels_first(inputs[name])) for name in names}
    found = session.run(None, given)
    return {port.name: channels_last(array)
            for port, array in zip(session.get_outputs(), found)}


def by_emitted(net, libhost, weights, inputs, samples):
    """The outputs of the emitted file."""
    with tempfile.TemporaryDirectory() as folder:
        host_net.build(net, libhost, f"{folder}/net", "f32", batch=samples, mode="infer")
        save_file(weights, f"{folder}/weights")
        return host_net.predict(f"{folder}/net", f"{folder}/weights", inputs, folder)


def check(net, interpret, libhost):
    is_example = TESTS not in net.parents
    samples = 1 if is_example else SAMPLES
    graph = CompiledGraph(net, "infer", batch=samples)
    weights, inputs = (in_single(arrays) for arrays in drawn(graph))
    begin = time.perf_counter()
    model = cnnc.to_onnx(net, weights)
    exported = time.perf_counter()
    found = by_runtime(model, inputs)
    if is_example:
        wanted = by_emitted(net, libhost, weights, inputs, samples)
    else:
        wanted = interpreted(interpret, net, *({name: array.astype(np.float64)
                                                if array.dtype == np.float32 else array
                                                for name, array in arrays.items()}
                                               for arrays in (weights, inputs)))
    worst = 0
    for name in graph.outputs:
        assert found[name].shape == wanted[name].shape, name
        worst = max(worst, np.abs(found[name] - wanted[name]).max() / np.abs(wanted[name]).max())
    return worst, len(model.graph.node), exported - begin


def main():
    interpret, libhost, *words = sys.argv[2:]
    nets = sorted((TESTS / "ops").glob("*.cnn")) + sorted(ROOT.glob("examples/*/*.cnn"))
    nets = [net for net in nets if net.stem not in LONG and
            (not words or any(word in net.stem for word in words))]
    failed = 0
    print("| net | nodes | export s | largest difference / largest number |\n|---|---|---|---|")
    for net in nets:
        worst, nodes, seconds = check(net, interpret, libhost)
        failed += not worst <= TOLERANCE
        print(f"| {net.stem} | {nodes} | {seconds:.2f} | {worst:.1e} |", flush=True)
    print(f"{len(nets)} nets, {failed} beyond {TOLERANCE:g}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
