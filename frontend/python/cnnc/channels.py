"""Which channels of a net belong together: the dependencies of pruning, an operator at a time.

The channels of a value are its last axis. Each is an atom, a number. A layer with weights makes new
atoms; other operators hand on those of their operands, in another order, several times, or in part.
Two atoms are joined where one can't be cut without the other, as the sides of a sum. Joined atoms
are a class. Every class is kept whole, or cut whole from every value, parameter and argument.

A cut is exact: if the channels of a class contribute zero to what reads them, the net without them
has the same results. So an operator that reads all channels for each, as a softmax, holds them. One
that reads the channels of a group, as a group norm, joins them.

CHANNELS has a rule for each operator that a program can call.
"""
from dataclasses import dataclass

import numpy as np

from .errors import Unsupported


@dataclass
class Layer:
    """A call that makes channels."""
    call: object
    atoms: np.ndarray


class Channels:
    """The atoms of a net's values.

    values      by value, the atoms of its last axis
    read        by call, the values of its operands
    layers      the layers with weights, in order
    held        pairs of atoms and the reason why they can't be cut; the first one counts"""

    def __init__(self, net):
        self.net, self.count = net, 0
        self.values, self.layers, self.held, self.edges, self.owners = {}, [], [], [], {}
        for name in net.inputs:
            self.values[name] = self.new(self.size(name))
            self.hold(self.values[name], f"its channels are those of input {name}")
        for call in net.calls:
            rule = CHANNELS.get(call.op)
            if rule is None:
                raise Unsupported(f"{call.name}: {call.op}", "there is no rule for its channels")
            operands = [self.values[name] for name in call.operands]
            self.values[call.result] = rule.flow(self, call, *operands)
        self.held[:0] = [(self.values[name], f"its channels are those of output {name}")
                         for name in net.results]

    def shape(self, name):
        """The shape of a sample."""
        return self.net.shapes[name]

    def size(self, name):
        """The elements of the last axis; labels of samples have none."""
        return self.shape(name)[-1] if self.shape(name) else 0

    def new(self, count):
        self.count += count
        return np.arange(self.count - count, self.count)

    def join(self, one, other):
        one, other = np.broadcast_arrays(one, other)
        apart = one != other
        self.edges.append((one[apart], other[apart]))

    def hold(self, atoms, reason):
        self.held.append((atoms, reason))

    def layer(self, call):
        """New channels for the result of a layer with weights."""
        atoms = self.new(self.size(call.result))
        self.layers.append(Layer(call, atoms))
        return atoms

    def share(self, call, *sides):
        """Layers with the same weights have the same channels at each side."""
        for one, other in zip(self.owners.setdefault(call.layer, sides), sides):
            self.join(one, other)

    def classes(self):
        """By atom, the number of its class: the least atom of it."""
        labels = np.arange(self.count)
        one, other = (np.concatenate([edge[side] for edge in self.edges] or [[]]).astype(int)
                      for side in (0, 1))
        while True:
            least = labels.copy()
            np.minimum.at(least, labels[one], labels[other])
            np.minimum.at(least, labels[other], labels[one])
            least = least[least[labels]]
            if np.array_equal(least, labels):
                return labels
            labels = least


# ---- rules --------------------------------------------------------------------------------------

class Rule:
    """An operator's rule.

    flow        (channels, call, atoms of each operand): the atoms of the result
    parameters  (call): by role, a side for each axis: "out", "in", or None for one that stays
    arguments   (call, cut): the arguments that change; cut.kept(value) has True for each channel
                that stays"""

    def flow(self, channels, call, *operands):
        raise NotImplementedError

    def parameters(self, call):     # noqa: ARG002
        return {}

    def arguments(self, call, cut):     # noqa: ARG002
        return {}


class Same(Rule):
    """Channel by channel. An operand with one channel is repeated along others."""

    def flow(self, channels, call, *operands):
        size = channels.size(call.result)
        whole = [atoms for atoms in operands if len(atoms) == size]
        for atoms in whole[1:]:
            channels.join(whole[0], atoms)
        return whole[0]


class PerChannel(Same):
    """Channel by channel, with parameters or lists that have one number a channel."""

    def __init__(self, roles=(), lists=()):
        self.roles, self.lists = roles, lists

    def flow(self, channels, call, x):
        channels.share(call, x)
        return x

    def parameters(self, call):
        return {} if call.arguments.get("shared") else {role: ("out",) for role in self.roles}

    def arguments(self, call, cut):
        kept = cut.kept(call.operands[0])
        return {name: [number for number, stays in zip(call.arguments[name], kept) if stays]
                for name in self.lists if len(call.arguments[name]) == len(kept) > 1}


class Norm(PerChannel):
    """Statistics of a group of channels: a group is cut whole."""

    def flow(self, channels, call, x):
        groups = x.reshape(call.arguments["groups"], -1)
        channels.join(groups, groups[:, :1])
        return super().flow(channels, call, x)

    def arguments(self, call, cut):
        return {"groups": cut.groups(call)}


class Layers(Rule):
    """Weights between all channels of a group. Each of several groups is cut whole.

    size        the argument that is the number of channels
    sides       of the weight's axes; `inside` are the channels of one group"""

    def __init__(self, size, sides, inside):
        self.size, self.sides, self.inside = size, sides, inside

    def flow(self, channels, call, x):
        result = channels.layer(call)
        count = call.arguments.get("groups", 1)
        if count > 1:
            groups = x.reshape(count, -1)
            channels.join(groups, groups[:, :1])
            channels.join(result.reshape(count, -1), groups[:, :1])
        channels.share(call, x, result)
        return result

    def norms(self, call, weight):
        """The L1 norm of each channel's filter."""
        count = call.arguments.get("groups", 1) if self.inside == "out" else 1
        axis = 1 + self.sides.index("out")
        sums = np.abs(weight, dtype=np.float64).reshape(count, -1, *weight.shape[1:])
        return sums.sum(tuple(other for other in range(1, sums.ndim) if other != axis)).ravel()

    def parameters(self, call):
        is_grouped = call.arguments.get("groups", 1) > 1
        return {"weight": [None if is_grouped and side == self.inside else side
                           for side in self.sides], "bias": ("out",)}

    def arguments(self, call, cut):
        changed = {self.size: int(cut.kept(call.result).sum())}
        if call.arguments.get("groups", 1) > 1:
            changed["groups"] = cut.groups(call)
        return changed


class Held(Rule):
    """Computes with all channels. The reason is that of the layers that make them."""

    def __init__(self, reason, makes_others=False):
        self.reason, self.makes_others = reason, makes_others

    def flow(self, channels, call, *operands):
        reason = self.reason.format(call.name)
        for atoms in operands:
            channels.hold(atoms, reason)
        if len(operands) == 1 and not self.makes_others:
            return operands[0]
        made = channels.new(channels.size(call.result))
        channels.hold(made, reason)
        return made


class Reshape(Rule):
    """The elements in their order. Rows of the result that hold other channels than the first row
    are joined to it."""

    def flow(self, channels, call, x):
        before, after = channels.shape(call.operands[0]), channels.shape(call.result)
        rows = np.broadcast_to(x, before).reshape(-1, after[-1])
        channels.join(rows, rows[:1])
        return rows[0]

    def arguments(self, call, cut):
        if "shape" not in call.arguments:       # flatten
            return {}
        return {"shape": [*call.arguments["shape"][:-1], int(cut.kept(call.result).sum())]}


class Blocks(Rule):
    """Channels whose order is [`outer`, factor^2] or [factor^2, `outer`] become pixels: those of
    an `outer` are one."""

    def __init__(self, is_last):
        self.is_last = is_last

    def flow(self, channels, call, x):
        pixels = call.arguments["factor"] ** 2
        table = x.reshape(-1, pixels) if self.is_last else x.reshape(pixels, -1).T
        channels.join(table, table[:, :1])
        return table[:, 0]


class Unblocks(Rule):
    """The pixels of a block become channels: the inverse."""

    def __init__(self, is_last):
        self.is_last = is_last

    def flow(self, channels, call, x):      # noqa: ARG002
        pixels = call.arguments["factor"] ** 2
        return np.repeat(x, pixels) if self.is_last else np.tile(x, pixels)


class Shuffle(Rule):
    """[groups, rest] becomes [rest, groups]: the groups lose the same places."""

    def flow(self, channels, call, x):
        groups = x.reshape(call.arguments["groups"], -1)
        channels.join(groups, groups[:1])
        return groups.T.ravel()


class Transpose(Held):
    """Axes in another order; the last one may stay."""

    def flow(self, channels, call, x):
        axes = call.arguments["axes"]
        return x if axes[-1] == len(axes) - 1 else super().flow(channels, call, x)


def is_along_channels(channels, call):
    """True if the call's axis is the last one. The rows of a vector are channels."""
    words = {"rows": 0, "height": -3, "width": -2, "channels": -1}
    rank = len(channels.shape(call.result))
    return words[call.arguments["axis"]] % rank == rank - 1


class Concat(Rule):
    def flow(self, channels, call, *operands):
        if is_along_channels(channels, call):
            return np.concatenate(operands)
        for atoms in operands[1:]:
            channels.join(operands[0], atoms)
        return operands[0]


class Slice(Rule):
    def flow(self, channels, call, x):
        if not is_along_channels(channels, call):
            return x
        start = call.arguments["start"]
        return x[start:start + call.arguments["size"]]

    def arguments(self, call, cut):
        if not is_along_channels(cut.channels, call):
            return {}
        kept, start = cut.kept(call.operands[0]), call.arguments["start"]
        return {"start": int(kept[:start].sum()), "size": int(cut.kept(call.result).sum())}


class Figure(Rule):
    """A loss or metric."""

    def flow(self, channels, call, *operands):
        for atoms in operands:
            channels.hold(atoms, f"{call.name} reads its channels")
        return channels.new(0)


SAME, FIGURE = Same(), Figure()
SUMS = Held("{} sums over its channels")
CHANNELS = {
    "conv": Layers("channels", ("out", None, None, "in"), "in"),
    "conv_transpose": Layers("channels", ("in", None, None, "out"), "out"),
    "dense": Layers("units", ("out", "in"), None),
    "batchnorm": PerChannel(("weight", "bias", "mean", "variance")),
    "groupnorm": Norm(("weight", "bias")),
    "prelu": PerChannel(("weight",)),
    "normalize": PerChannel(lists=("mean", "std")),
    "layernorm": Held("{} normalizes all its channels together"),
    "lrn": SUMS, "softmax": SUMS, "log_softmax": SUMS,
    "decode_boxes": Held("{} reads its channels by their places", makes_others=True),
    "flatten": Reshape(), "reshape": Reshape(),
    "transpose": Transpose("{} makes another axis of its channels", makes_others=True),
    "channel_shuffle": Shuffle(),
    "pixel_shuffle": Blocks(is_last=True), "pixel_unshuffle": Unblocks(is_last=True),
    "depth_to_space": Blocks(is_last=False), "space_to_depth": Unblocks(is_last=False),
    "concat": Concat(), "slice": Slice(),
    **dict.fromkeys(("add", "sub", "mul", "div", "maximum", "minimum"), SAME),
    **dict.fromkeys(("relu", "relu6", "leaky_relu", "elu", "selu", "gelu", "swish", "sigmoid",
                     "tanh", "hard_sigmoid", "hard_swish", "softplus", "mish", "exp", "log", "sqrt",
                     "square", "abs", "reciprocal", "clamp", "shift", "scale"), SAME),
    **dict.fromkeys(("maxpool", "avgpool", "adaptive_avgpool", "global_avgpool", "global_maxpool",
                     "upsample", "resize", "pad", "crop"), SAME),
    **dict.fromkeys(("detach", "dropout", "stochastic_depth"), SAME),
    **dict.fromkeys(("softmax_cross_entropy", "nll", "binary_cross_entropy", "focal", "mse",
                     "mean_absolute_error", "smooth_l1", "dice", "multibox", "accuracy", "top_k",
                     "mean_iou", "precision", "recall", "f1", "auc"), FIGURE),
}
# Operators that a net does not call: those of the section train, and those that passes make.
NOT_CALLED = set("bias sgd adam adamw rmsprop constant step cosine polynomial one_cycle slice_batch "
                 "clip clip_norm loss_scale round_weights signs average accumulate_grad sum_splits "
                 "offload accumulate_metrics advance_step prune fake_quantize row_scales "
                 "track_scale".split())
