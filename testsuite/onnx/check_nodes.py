#!/usr/bin/env python3
"""Converts ONNX's own test cases, and compares the outputs with theirs.

    check_nodes.py LIBHOST [--update] [--jobs N] [--only WORD...]

Cases of one batch are one net: their graphs are joined, so that a program has hundreds of outputs.
Prints a table of operators. A case of expressible.txt that does not convert is a failure, and one
that converts and is not in it; --update writes that file. With --only, cases whose name or operator
has a word. It runs by with_onnx.
"""
import argparse
import re
import subprocess
import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

import cnnc
import host_net
from cases import all_cases
from cnnc.convert import Converted
from cnnc.graph import Graph
from cnnc.onnx_graph import graph_of
from safetensors.numpy import save_file

LIST = Path(__file__).resolve().parent / "expressible.txt"
# By precision, the relative and the absolute tolerance.
TOLERANCES = {"f32": (1e-3, 1e-5), "f64": (1e-6, 1e-6)}
# Expected numbers that are not exact: beyond the range of floats, or typed with four digits.
BEYOND = "test_operator_add_broadcast test_operator_add_size1_right_broadcast " \
    "test_operator_add_size1_singleton_broadcast test_operator_addconstant"
FAULTS = {"f32": set(BEYOND.split()),
          "f64": {"test_averagepool_2d_ceil_last_window_starts_on_pad"}}
OF_A_NET = 64       # inputs, and outputs


@dataclass
class Attempt:
    """A case that converts: its graph, the arrays of its inputs, and whether they have a batch."""
    case: object
    graph: Graph
    arrays: list
    batch: bool
    states: dict = field(default_factory=dict)      # by precision, "" or how the outputs differ

    @property
    def size(self):
        return len(self.arrays[0]) if self.batch else 1


def attempt(case):
    """An Attempt, or the reason why the case does not convert. Without a batch all axes belong to a
    sample."""
    reasons = []
    for side in (False, True):
        model, arrays = case.with_constants(side)
        for batch in (True, False):
            try:
                graph = graph_of(model, batch=batch, outputs=case.kept)
                Converted(graph)
                return Attempt(case, graph, list(arrays.values()), batch)
            except cnnc.Unsupported as refusal:
                reasons.append(refusal)
    return reason_of(min(reasons, key=lambda refusal: "batch" in str(refusal)))


def reason_of(refusal):
    """A refusal's reason without shapes, for the table."""
    text = refusal.reason.strip()
    text = text.splitlines()[1] if "cnnc refuses" in text else text
    return re.sub(r"\[[\d, ]*\]", "[..]", text.rpartition("error: ")[2])


# ---- one net of many cases ----------------------------------------------------------------------

def joined(attempts):
    """A graph of all cases. The nodes of a case begin with its number."""
    whole = Graph("cases", [], [])
    for at, part in enumerate(attempts):
        graph, head = part.graph, f"c{at}."
        for node in graph.nodes:
            whole.nodes.append(replace(
                node, name=head + node.name, inputs=[head + name for name in node.inputs],
                params={role: head + name for role, name in node.params.items()},
                source=f"{part.case.name}: {node.source}"))
        whole.outputs += [head + name for name in graph.outputs]
        whole.arrays.update({head + name: array for name, array in graph.arrays.items()})
    return whole


def stored(array, shape, axes, precision):
    """An array of samples as the net's input."""
    kind = np.float64 if precision == "f64" else np.float32
    order = [0, *(1 + int(axis) for axis in np.argsort(axes))]
    array = array.reshape(-1, *shape).transpose(order).astype(kind)
    if array.ndim > 5:          # a net's input has at most four axes
        array = array.reshape(len(array), -1, *array.shape[-3:])
    return np.ascontiguousarray(array)


def results_of(attempts, precision, libhost, folder):
    """By case, its outputs in ONNX's layout."""
    graph = joined(attempts)
    net = Converted(graph)
    shapes = {node.name: node.shape for node in graph.nodes}
    given = [array for part in attempts for array in part.arrays]
    nodes = [node for node in graph.nodes if node.op == "input"]
    inputs = {name: stored(array, node.shape, net.axes[name], precision)
              for name, node, array in zip(net.inputs, nodes, given, strict=True)}
    _, weights = net.save(f"{folder}/net")
    host_net.build(net.text, libhost, f"{folder}/net", precision, batch=attempts[0].size,
                   mode="infer")
    files = host_net.predict(f"{folder}/net", weights, inputs, folder)
    outputs = iter(zip(net.outputs, graph.outputs))
    for part in attempts:
        found = []
        for variable, node in [next(outputs) for _ in part.graph.outputs]:
            axes = [0, *(1 + axis for axis in net.axes[variable])]
            array = files[variable].transpose(axes)
            assert list(array.shape[1:]) == shapes[node]
            found.append(array if part.batch else array[0])
        yield part, found


def results_of_loss(part, precision, libhost, folder):
    """The loss of a training step's batch, and the outputs after it. The first output has the
    scores."""
    net = Converted(part.graph)
    (scores, labels), (name,) = part.arrays, net.inputs
    node = next(node for node in part.graph.nodes if node.op == "input")
    x = stored(scores, node.shape, net.axes[name], precision)
    size = next(node.shape for node in part.graph.nodes
                if node.name == part.graph.loss["scores"])[1:]
    _, weights = net.save(f"{folder}/net")
    host_net.build(net.text, libhost, f"{folder}/net", precision, batch=part.size)
    save_file({name: x, part.graph.loss["label"]: labels.reshape(-1, *size).astype(np.int32)},
              f"{folder}/batch")
    subprocess.run([f"{folder}/net", "step", "--load", weights, "--batch", f"{folder}/batch",
                    "--save", f"{folder}/saved"], check=True, stdout=subprocess.DEVNULL)
    files = host_net.predict(f"{folder}/net", weights, {name: x}, folder)
    found = [files[output].transpose(0, *(1 + axis for axis in net.axes[output]))
             for output in net.outputs]
    loss = cnnc.weights.load(f"{folder}/saved")["figures"][0, 0]
    return [np.asarray(loss), *found[1:]]


def difference(ours, theirs, precision):
    """"" if these are the expected outputs, or how they differ."""
    relative, absolute = TOLERANCES[precision]
    for our, their in zip(ours, theirs):
        relative = max(relative, 1e-3 if their.dtype == np.float16 else 0)
        # A sample that is a scalar has the shape [1].
        if our.shape not in (their.shape, (*their.shape, 1)):
            return f"shape {our.shape}, expected {their.shape}"
        our, their = our.reshape(their.shape), their.astype(np.float64)
        if not np.allclose(our, their, relative, absolute, equal_nan=True):
            return f"differs by {np.nanmax(abs(our - their)):.3g} of {np.nanmax(abs(their)):.3g}"
    return ""


def run(attempts, precision, libhost):
    with tempfile.TemporaryDirectory() as folder:
        if attempts[0].graph.loss:
            part, = attempts
            ours = results_of_loss(part, precision, libhost, folder)
            part.states[precision] = difference(ours, part.case.outputs, precision)
            return
        for part, ours in results_of(attempts, precision, libhost, folder):
            part.states[precision] = difference(ours, part.case.outputs, precision)


def batches_of(attempts):
    """Lists of cases of one batch. A case with a loss is a net of its own."""
    attempts = list(attempts)
    yield from ([part] for part in attempts if part.graph.loss)
    by_size = defaultdict(list)
    for part in (part for part in attempts if not part.graph.loss):
        by_size[part.size].append(part)
    for parts in by_size.values():
        taken = []
        for part in parts:
            if fits([*taken, part]):
                taken.append(part)
            else:
                yield taken
                taken = [part]
        yield taken


def fits(attempts):
    return max(sum(len(part.arrays) for part in attempts),
               sum(len(part.graph.outputs) for part in attempts)) <= OF_A_NET


# ---- the table ----------------------------------------------------------------------------------

def print_table(cases, attempts, refusals):
    by_operator = defaultdict(list)
    for case in cases:
        by_operator[case.operator].append(case.name)
    print("| operator | cases | expressible | pass f32 | pass f64 | not expressible |")
    print("|---|---|---|---|---|---|")
    rows = sorted(by_operator.items(), key=lambda row: (-len(row[1]), row[0]))
    for operator, names in [*rows, ("all", [case.name for case in cases])]:
        found = [attempts[name] for name in names if name in attempts]
        passed = [sum(part.states[precision] == "" for part in found) for precision in TOLERANCES]
        reasons = Counter(refusals[name] for name in names if name in refusals)
        text = "; ".join(f"{count} {reason}" for reason, count in reasons.most_common())
        print(f"| {operator} | {len(names)} | {len(found)} | {passed[0]} | {passed[1]} | "
              f"{text if operator != 'all' else ''} |")


def failures_of(attempts, refusals, listed):
    for name in listed:
        if name in refusals:
            yield f"{name}: does not convert any more: {refusals[name]}"
    for name in sorted(set(attempts) - set(listed)):
        yield f"{name}: converts, and expressible.txt lacks it"
    for name, part in attempts.items():
        for precision, state in part.states.items():
            if state and name not in FAULTS[precision]:
                yield f"{name}: {precision}: {state}"
            if not state and name in FAULTS[precision]:
                yield f"{name}: {precision}: passes, and is one of FAULTS"


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("libhost")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="*")
    return parser.parse_args()


def main():
    warnings.simplefilter("ignore")
    given = arguments()
    cases = [case for case in all_cases() if given.only is None or
             any(word in (case.operator, case.name) for word in given.only)]
    tried = {case.name: attempt(case) for case in cases}
    attempts = {name: result for name, result in tried.items() if isinstance(result, Attempt)}
    refusals = {name: result for name, result in tried.items() if isinstance(result, str)}
    with ThreadPoolExecutor(given.jobs) as pool:
        work = [pool.submit(run, parts, precision, given.libhost)
                for parts in batches_of(attempts.values()) for precision in TOLERANCES]
        for task in work:
            task.result()
    print_table(cases, attempts, refusals)
    if given.update:
        LIST.write_text("\n".join(sorted(attempts)) + "\n", encoding="utf-8")
    names = {case.name for case in cases}
    listed = [name for name in LIST.read_text(encoding="utf-8").split() if name in names]
    failures = list(failures_of(attempts, refusals, listed))
    print(*failures, sep="\n")
    return 1 if failures or not attempts else 0


if __name__ == "__main__":
    sys.exit(main())
