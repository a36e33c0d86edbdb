"""Networks of PyTorch from their stored graphs: text, weights, program and outputs.

    check_nets.py LIBHOST [NAME...]

For each graph of graphs/ the writer makes the net and its weights. The program on the host runtime
gives PyTorch's outputs in float64, which are stored. So are PyTorch's weights after a training step
of some networks. It runs by with_package.
"""
import gzip
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

import drawn
import host_net
from cnnc.convert import Converted
from cnnc.graph import Graph

GRAPHS = Path(__file__).resolve().parent / "graphs"
BATCH = 2


def graph_of(name):
    text = gzip.decompress((GRAPHS / f"{name}.json.gz").read_bytes()).decode()
    return Graph.from_json(text, partial(drawn.parameter, name))


def is_theirs(name, ours, path):
    """True if these arrays by name are those of the file."""
    theirs = np.load(path)
    far = max(host_net.distance(host_net.sampled(ours[key]), theirs[key]) for key in theirs.files)
    print(f"{name}: {far:.1e}", flush=True)
    return far <= host_net.LIMIT and len(ours) == len(theirs.files)


def check_outputs(name, libhost, folder):
    graph = graph_of(name)
    x = drawn.batch([BATCH, *graph.nodes[0].shape])
    ours = host_net.results_of(Converted(graph), libhost, folder, x)
    return is_theirs(name, {f"arr_{i}": our for i, our in enumerate(ours)}, GRAPHS / f"{name}.npz")


def check_step(name, libhost, folder):
    graph = graph_of(name)
    x = drawn.batch([host_net.SAMPLES, *graph.nodes[0].shape])
    classes, *pixels = graph.nodes[-1].shape
    labels = drawn.labels([len(x), *pixels], classes)
    ours = host_net.after_step(Converted(graph, **host_net.TRAIN), libhost, folder, x, labels)
    return is_theirs(f"{name}, a training step", ours, GRAPHS / f"{name}.step.npz")


def main():
    libhost = sys.argv[1]
    names = sys.argv[2:] or sorted(path.name.partition(".")[0] for path in GRAPHS.glob("*.gz"))
    good = bool(names)
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            good &= check_outputs(name, libhost, folder)
        if (GRAPHS / f"{name}.step.npz").exists():
            with tempfile.TemporaryDirectory() as folder:
                good &= check_step(name, libhost, folder)
    print("the numbers are PyTorch's" if good else "numbers differ by more than 1e-9")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
