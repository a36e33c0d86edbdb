"""Values of a neutral graph, and the compositions of operators that several front ends make."""
import math

import numpy as np

from .errors import Unsupported
from .graph import Graph, Node, unique_name
from .shuffles import shuffle_of


def decimal(number):
    """Single precision as the shortest decimal of it: 0.1, not 0.10000000149."""
    single = np.float32(number)
    return float(str(single)) if float(single) == float(number) else float(number)


def same_sides(sizes, kernel, strides, dilations, lower):
    """The padding of auto_pad. The surplus is before the map with SAME_LOWER, else after it."""
    found = []
    for size, taps, stride, dilation in zip(sizes, kernel, strides, dilations):
        total = max((-(-size // stride) - 1) * stride + (taps - 1) * dilation + 1 - size, 0)
        found += [total - total // 2, total // 2] if lower else [total // 2, total - total // 2]
    return found


def resized(shape, amounts, sign):
    """A map's shape with pixels added around it, or removed."""
    channels, height, width = shape
    return [channels, height + sign * sum(amounts[:2]), width + sign * sum(amounts[2:])]


class Value:
    """A value of the graph: the node that makes it of operands, and its shape in a sample."""

    def __init__(self, node, operands, shape):
        self.node, self.operands, self.shape = node, operands, list(shape)


class Constant:
    """A tensor that the model has or that is computed of such. The latter have no name."""

    def __init__(self, array, name=None, is_trained=True):
        self.array, self.name, self.is_trained = np.asarray(array), name, is_trained

    def changed(self, array):
        return Constant(array, self.name, self.is_trained)

    def equals(self, other):
        """True if both are one tensor of the model, changed likewise."""
        same = self.name == other.name if self.name else self is other
        return same and self.is_trained == other.is_trained and \
            np.array_equal(self.array, other.array)

    @property
    def list(self):
        return [int(number) for number in self.array.ravel()]

    @property
    def number(self):
        """The single element as Python's number: the shortest one that is the same in float32."""
        element = self.array.reshape(())[()]
        return decimal(element) if self.array.dtype.kind == "f" else int(element)


class Building:
    """Builds a neutral graph. A front end sets `path` and `source` for each part of its model: the
    names that its nodes and messages have."""

    def begin(self, name):
        self.graph, self.names = Graph(name, [], []), set()
        self.path, self.source, self.shared = "", name, {}

    def refuse(self, reason):
        raise Unsupported(self.source, reason)

    # ---- nodes and arrays -----------------------------------------------------------------------

    def node(self, op, inputs, attrs=None, shape=None, path=None, **params):
        for operand in inputs:
            if not isinstance(operand, Value):
                self.refuse("an operand is a constant tensor, which cnnc has none of")
        shape = list(inputs[0].shape if shape is None else shape)
        params = {role: constant for role, constant in params.items() if constant is not None}
        for constant in params.values():
            if not isinstance(constant, Constant):
                self.refuse("a weight is computed; wanted a constant")
        name = unique_name(self.names, path or self.path_for(op, params.get("weight")))
        made = Node(name, op, [value.node.name for value in inputs], shape or [1], attrs or {},
                    params, self.source)
        self.graph.nodes.append(made)
        return Value(made, inputs, shape)

    def is_value(self, x):
        return isinstance(x, Value)

    @staticmethod
    def ones(like):
        """The weights of a layer that has a bias alone, which training leaves as they are."""
        return Constant(np.ones_like(like.array), is_trained=False)

    def constant(self, x, what):
        if not isinstance(x, Constant):
            self.refuse(f"{what} is computed; wanted a constant")
        return x

    def drop_unread(self):
        read = {node.name for node in self.graph.nodes if node.op == "input"}
        read.update(self.graph.outputs)
        for node in reversed(self.graph.nodes):
            if node.name in read:
                read.update(node.inputs)
        self.graph.nodes = [node for node in self.graph.nodes if node.name in read]
        for node in self.graph.nodes:
            node.params = self.array_names(node)

    def array_names(self, node):
        """The names of a node's arrays in the graph. Layers of one operator with the same tensors
        have the same names; a tensor that is read otherwise is one of each layer."""
        constants = node.params.values()
        for params, names in self.shared.setdefault(node.op, []):
            if params.keys() == node.params.keys() and \
                    all(one.equals(other) for one, other in zip(params.values(), constants)):
                return names
        names = {role: self.array_name(node, role, constant)
                 for role, constant in node.params.items()}
        if names:
            self.shared[node.op].append((node.params, names))
        return names

    def array_name(self, node, role, constant):
        array = constant.array
        if array.dtype.kind != "f":
            raise Unsupported(node.source, f"{role} is a tensor of {array.dtype}; wanted floats")
        name = constant.name or f"{node.name}.{role}"
        while name in self.graph.arrays:
            name += "_"
        self.graph.arrays[name] = array if array.itemsize > 2 else array.astype(np.float32)
        if not constant.is_trained:
            self.graph.frozen.add(name)
        return name

    # ---- views and compositions ----------------------------------------------------------------

    def view(self, x, shape):
        shape = list(shape)
        if shape == x.shape:
            return x
        if math.prod(shape) != math.prod(x.shape):
            self.refuse(f"from {x.shape} to {shape}")
        if len(shape) == 1 and len(x.shape) > 1:
            return self.node("flatten", [x], {}, shape)
        shuffle = shuffle_of(x, shape)
        if shuffle:
            op, attrs, source = shuffle
            return self.node(op, [source], attrs, shape)
        return self.node("reshape", [x], {"shape": shape or [1]}, shape)

    def permuted(self, x, axes):
        axes = list(axes)
        if axes == sorted(axes):
            return x
        return self.node("permute", [x], {"axes": axes}, [x.shape[axis] for axis in axes])

    def around(self, x, axis):
        """A view [before, axis, after]."""
        return self.view(x, [math.prod(x.shape[:axis]), x.shape[axis],
                             math.prod(x.shape[axis + 1:])])

    def joined(self, x, sizes):
        """A map of the channels and the other axes: [channels, 1, width] of a row."""
        sizes = [1] * (2 - len(sizes)) + sizes
        return self.view(x, [x.shape[0], math.prod(sizes[:-1]), sizes[-1]])

    def part(self, x, axis, start, size, step=1):
        """`size` indices of an axis."""
        if size == 0:
            self.refuse("an empty result")
        if step != 1:
            x = self.part(x, axis, start, min(size * step, x.shape[axis] - start))
            return self.every(x, axis, size, step)
        if size == x.shape[axis]:
            return x
        shape = [*x.shape[:axis], size, *x.shape[axis + 1:]]
        return self.node("slice", [x], {"start": start, "size": size, "axis": axis}, shape)

    def every(self, x, axis, size, step):
        """Every `step`-th index of an axis: a pool of windows of one pixel."""
        flat = self.around(x, axis)
        made = self.node("maxpool", [flat], {"kernel": [1, 1], "stride": [step, 1]},
                         [flat.shape[0], size, flat.shape[2]])
        return self.view(made, [*x.shape[:axis], size, *x.shape[axis + 1:]])

    def reduced(self, op, x, axes, keeps):
        """The mean or the maximum along axes: a global pool of a map whose pixels they are."""
        axes = list(axes)
        kept = [axis for axis in range(len(x.shape)) if axis not in axes]
        shape = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
        turned = self.permuted(x, [*kept, *axes])
        if len(x.shape) != 3 or len(axes) != 2:
            turned = self.view(turned, [math.prod(x.shape[axis] for axis in kept),
                                        math.prod(x.shape[axis] for axis in axes), 1])
        made = self.node("global_" + op, [turned], {}, [turned.shape[0], 1, 1])
        return self.view(made, shape if keeps else [x.shape[axis] for axis in kept])

    def scaled(self, x, axis, factors, bias=None):
        """A value times a number for each index of an axis, and plus one: parameters."""
        numbers = factors.changed(factors.array.ravel())
        bias = bias and bias.changed(bias.array.ravel())
        flat, at = x, axis
        if len(x.shape) == 1:
            flat, at = self.view(x, [*x.shape, 1, 1]), 0
        elif len(x.shape) != 3:
            flat, at = self.around(x, axis), 1
        made = self.node("channel_scale", [flat], {"axis": at},
                         weight=numbers, bias=bias)
        return self.view(made, x.shape)

    def times(self, x, number):
        return x if number == 1 else self.node("scale", [x], {"factor": number})

    def shifted(self, x, number):
        return x if number == 0 else self.node("shift", [x], {"value": number})

    def edged(self, x, around, extra):
        """A value padded along axes, one after the other. By axis, the amounts before and after."""
        for axis, (before, after) in around.items():
            if before or after:
                shape = [*x.shape[:axis], x.shape[axis] + before + after, *x.shape[axis + 1:]]
                grown = self.padded(self.around(x, axis), [before, after, 0, 0], extra)
                x = self.view(grown, shape)
        return x

    def padded(self, x, amounts, extra):
        """A map with pixels around it. Negative amounts are cropped first."""
        if min(amounts) < 0:
            if "mode" in extra:
                self.refuse(f"{extra['mode']} with {amounts}")
            x = self.cropped(x, [max(-amount, 0) for amount in amounts])
        return self.grown(x, [max(amount, 0) for amount in amounts], extra)

    def cropped(self, x, amounts):
        return self.node("crop", [x], {"padding": amounts}, resized(x.shape, amounts, -1))

    def grown(self, x, amounts, extra):
        if not any(amounts):
            return x
        return self.node("pad", [x], {"padding": amounts, **extra}, resized(x.shape, amounts, 1))
