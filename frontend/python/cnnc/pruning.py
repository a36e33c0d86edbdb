"""Cuts channels of a net: a smaller program with smaller weights (channels.py has the rules).

Li et al. 2017, "Pruning Filters for Efficient ConvNets": the filters with the smallest L1 norms go.
A class of channels that belong together has the sum of its filters' norms.
"""
import fnmatch
import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .channels import CHANNELS, Channels
from .compiled_graph import CompiledGraph
from .compiler import text_of
from .convert import Net
from .errors import WeightError
from .flat_program import program
from .weights import load, of_net


class Cut:
    """Which channels of a net stay.

    kept_atoms      by atom
    reasons         by layer that keeps all its channels, why"""

    def __init__(self, channels, weights, keep, multiple, skip):
        self.channels, self.keep, self.multiple = channels, keep, multiple
        for layer in channels.layers:
            for glob in skip:
                if fnmatch.fnmatchcase(layer.call.name, glob):
                    channels.hold(layer.atoms, f"its channels are those of a layer like {glob}")
        classes = channels.classes()
        self.numbers, self.classes = np.unique(classes, return_inverse=True)
        held = self.held_classes()
        scores = self.scores(weights)
        kept = np.ones(len(self.numbers), bool)
        cells = self.cells()
        cells[list(held)] = -1
        steps = self.steps(cells)
        by_score = np.lexsort((-scores, cells))
        for members in np.split(by_score, np.flatnonzero(np.diff(cells[by_score])) + 1):
            cell = cells[members[0]]
            if cell >= 0:
                kept[members[self.count(len(members), steps.get(cell, 1)):]] = False
        self.kept_atoms = kept[self.classes]
        self.reasons = {layer.call.name: self.reason(layer, held, cells)
                        for layer in channels.layers if self.kept_atoms[layer.atoms].all()}

    def held_classes(self):
        """By class that can't be cut, the first reason."""
        reasons = {}
        for atoms, reason in self.channels.held:
            for number in np.unique(self.classes[atoms]):
                reasons.setdefault(int(number), reason)
        return reasons

    def scores(self, weights):
        """By class, the sum of the L1 norms of its filters. Shared filters count once."""
        scores, seen = np.zeros(len(self.numbers)), set()
        for layer in self.channels.layers:
            if layer.call.layer not in seen:
                seen.add(layer.call.layer)
                name = f"{layer.call.layer}.weight"
                norms = CHANNELS[layer.call.op].norms(layer.call, weights[name])
                if not np.isfinite(norms).all():
                    raise WeightError(f"weights: {name}: wanted finite numbers, found others")
                np.add.at(scores, self.classes[layer.atoms], norms)
        return scores

    def cells(self):
        """By class, the number of its group: classes that are in the same values. A class of each
        group stays, so that no value is without channels."""
        cells, seen = np.zeros(len(self.numbers), int), set()
        for atoms in self.channels.values.values():
            if id(atoms) in seen or len(atoms) == 0:
                continue
            seen.add(id(atoms))
            is_in = np.zeros(len(cells), int)
            is_in[self.classes[atoms]] = 1
            cells = np.unique(2 * cells + is_in, return_inverse=True)[1]
        return cells

    def steps(self, cells):
        """By group, the number of classes of which a multiple stays, so that each layer keeps a
        multiple of channels. A class may be several channels of a layer."""
        steps = {}
        for layer in self.channels.layers:
            classes, counts = np.unique(self.classes[layer.atoms], return_counts=True)
            for cell in np.unique(cells[classes]):
                each = math.gcd(*counts[cells[classes] == cell].tolist())
                steps.setdefault(cell, []).append(self.multiple // math.gcd(self.multiple, each))
        return {cell: math.lcm(*found) for cell, found in steps.items()}

    def count(self, classes, step):
        """How many of a group's classes stay."""
        wanted = max(1, math.floor(self.keep * classes + Fraction(1, 2)))
        return min(classes, -(-wanted // step) * step)

    def reason(self, layer, held, cells):
        classes = np.unique(self.classes[layer.atoms])
        found = next((held[number] for number in classes.tolist() if number in held), None)
        if found is not None:
            return found
        groups = Counter(cells[classes].tolist())
        if max(groups.values()) == 1:
            return "its channels can be cut together alone"
        return f"all {len(layer.atoms)} are kept by the numbers given"

    def kept(self, value):
        return self.kept_atoms[self.channels.values[value]]

    def groups(self, call):
        """How many groups of the call's operand stay."""
        return int(self.kept(call.operands[0]).reshape(call.arguments["groups"], -1)[:, 0].sum())


def cut_weights(graph, cut, weights):
    """The smaller arrays, by name."""
    arrays = dict(weights)
    for call in graph.calls:
        sides = {"out": cut.kept(call.result), "in": cut.kept(call.operands[0])}
        for role, axes in CHANNELS[call.op].parameters(call).items():
            name = f"{call.layer}.{role}"
            if name not in weights:     # without a bias
                continue
            array = weights[name]
            for axis, side in enumerate(axes):
                if side is not None:
                    array = array.compress(sides[side], axis)
            arrays[name] = np.ascontiguousarray(array)
    return arrays


@dataclass
class Row:
    """A layer with weights: its channels before and after, and why all stay, or None."""
    layer: str
    before: int
    after: int
    reason: str


class Pruned(Net):
    """A smaller net.

    text      the program
    weights   arrays by its names
    layers    a Row for each layer that makes channels
    trains    it has a section train"""

    def __init__(self, graph, text, arrays, cut, origin):
        changes = {call.result: CHANNELS[call.op].arguments(call, cut) for call in graph.calls}
        self.text = program(graph, text, origin, changes)
        self.weights = cut_weights(graph, cut, arrays)
        self.layers = [Row(layer.call.name, len(layer.atoms), int(cut.kept_atoms[layer.atoms].sum()),
                           cut.reasons.get(layer.call.name)) for layer in cut.channels.layers]
        self.cut, self.trains = cut, graph.mode == "train"
        self.check_parameters(self.trains)

    def kept(self, value):
        """For each channel of a value of the net before, whether it stays."""
        return self.cut.kept(value)


def graph_of(net, options):
    """The net in training, which has dropout and checkpoints, or in evaluation if it has no section
    train."""
    graph = CompiledGraph(net, "eval", **options)
    return CompiledGraph(net, "train", **options) if graph.train else graph


def checked_options(keep, multiple):
    share = Fraction(str(keep))
    if not 0 < share <= 1:
        raise ValueError(f"keep: wanted a number above 0, at most 1; found {keep}")
    if multiple < 1 or multiple != int(multiple):
        raise ValueError(f"round: wanted 1 or a larger integer; found {multiple}")
    return share


def prune_channels(net, weights=None, keep=0.7, save=None, round=1, skip=(), **options):
    """Cuts channels of a net whose filters are small.

    net       a path, a program's text, or the result of a converter
    weights   arrays by the net's names, or the file that its trainer saved
    keep      the share that stays of each group of channels that are in the same values: at least
              one, halves rounded up
    save      as in Converted.save: writes SAVE.cnn and SAVE.safetensors
    round     rounds what stays up to a multiple
    skip      globs: layers with such names keep their channels
    options   those of the command line, such as define={"width": 8}

    Returns a Pruned. Raises WeightError for weights that are not the net's, and Unsupported."""
    share = checked_options(keep, round)
    skip = [skip] if isinstance(skip, str) else list(skip)
    _, text = text_of(net)
    graph = graph_of(net, options)
    arrays = of_net(graph, getattr(net, "weights", None) if weights is None else load(weights))
    channels = Channels(graph)
    for glob in skip:
        if not any(fnmatch.fnmatchcase(layer.call.name, glob) for layer in channels.layers):
            raise ValueError(f"skip: no layer with channels has a name like {glob}")
    cut = Cut(channels, arrays, share, round, skip)
    origin = f"{graph.name} with {float(share):g} of its channels, by cnnc.prune_channels."
    pruned = Pruned(graph, text, arrays, cut, origin)
    if save is not None:
        pruned.save(save)
    return pruned
