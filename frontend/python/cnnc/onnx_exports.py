"""The operators of cnnc as nodes of ONNX, a method each.

A method takes the call, `at`, and ends with put() or alias(): the value that the call makes.
"""
import math
from fractions import Fraction

import numpy as np

from .layouts import OHWI_TO_OIHW, joined_order, same_order

# Operators that are one node of ONNX on any tensor, and the attributes: ONNX's word by cnnc's.
SIMPLE = {
    "relu": ("Relu", {}), "leaky_relu": ("LeakyRelu", {"slope": "alpha"}),
    "elu": ("Elu", {"alpha": "alpha"}), "selu": ("Selu", {}), "sigmoid": ("Sigmoid", {}),
    "tanh": ("Tanh", {}), "softplus": ("Softplus", {}), "exp": ("Exp", {}), "log": ("Log", {}),
    "sqrt": ("Sqrt", {}), "abs": ("Abs", {}), "reciprocal": ("Reciprocal", {}),
    "hard_swish": ("HardSwish", {}),
}
BINARY = {"add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "maximum": "Max",
          "minimum": "Min"}
GELU = 20               # the opset that has it
NO_BOUND = 1e30         # of clamp
AXES = ("h", "w")


def first(rank):
    """The order of a tensor whose channels follow the batch."""
    return (0, rank - 1, *range(1, rank - 1))


def plain(rank):
    return tuple(range(rank))


def padding_of(attributes, word="pad_"):
    """Before and after the map, along height and width."""
    return ((attributes[f"{word}top"], attributes[f"{word}bottom"]),
            (attributes[f"{word}left"], attributes[f"{word}right"]))


def pads_of(padding):
    return [before for before, _ in padding] + [after for _, after in padding]


def pair(attributes, word):
    return [attributes[f"{word}_{axis}"] for axis in AXES]


class Exports:
    """The operators. The class that inherits this holds the tensors (onnx_writer.py)."""

    # ---- layers with weights --------------------------------------------------------------------

    def conv(self, at):
        weight = self.weight(at, "weight").transpose(OHWI_TO_OIHW)
        self.put(at, "Conv", [self.first(at.operand("x")),
                              self.parameter(at.operand("weight"), weight)], first(4),
                 group=at.attributes["groups"], **self.windows(at, weight))

    def conv_transpose(self, at):
        """Padding below zero at an end is output_padding."""
        weight = self.weight(at, "weight").transpose(OHWI_TO_OIHW)
        words = self.windows(at, weight)
        x, y = self.shape(at.operand("x")), self.shape(at.result)
        padding = [(begin, max(end, 0)) for begin, end in padding_of(at.attributes)]
        words["pads"] = pads_of(padding)
        more = [y[1 + axis] - (x[1 + axis] - 1) * words["strides"][axis] -
                (size - 1) * words["dilations"][axis] - 1 + sum(padding[axis])
                for axis, size in enumerate(words["kernel_shape"])]
        if any(more):
            words["output_padding"] = more
        self.put(at, "ConvTranspose", [self.first(at.operand("x")),
                                       self.parameter(at.operand("weight"), weight)], first(4),
                 group=at.attributes["groups"], **words)

    @staticmethod
    def windows(at, weight):
        return {"kernel_shape": list(weight.shape[2:]), "strides": pair(at.attributes, "stride"),
                "dilations": pair(at.attributes, "dilation"),
                "pads": pads_of(padding_of(at.attributes))}

    def dense(self, at):
        """The columns of the weights are in the order of the vector's elements."""
        held = self.held(at.operand("x"))
        weight = self.weight(at, "weight")
        if held.elements is not None:
            weight = weight[:, held.elements]
        self.put(at, "Gemm", [held.tensor, self.parameter(at.operand("weight"), weight)], plain(2),
                 transB=1)

    def bias(self, at):
        """A part of the layer before it."""
        self.add_bias(at, self.parameter(at.operand("bias"), self.weight(at, "bias")))

    def prelu(self, at):
        held = self.held(at.operand("x"))
        slope = self.along_channels(at.operand("x"), held, self.weight(at, "weight"))
        self.like(at, held, "PRelu", [held.tensor, self.parameter(at.operand("weight"), slope)])

    def batchnorm(self, at):
        held = self.with_first(at.operand("x"))
        channels = self.shape(at.result)[-1]
        self.like(at, held, "BatchNormalization", [
            held.tensor, *self.affine(at, held, channels),
            *(self.parameter(at.operand(role), self.of_elements(held, self.weight(at, role)))
              for role in ("mean", "variance"))], epsilon=float(at.attributes["epsilon"]))

    def affine(self, at, held, channels):
        """The tensors weight and bias of a norm; a norm that has none gets ones and zeros."""
        for role, number in (("weight", 1), ("bias", 0)):
            array = self.weight(at, role)
            if array is None:
                yield self.constant(at, role, np.full(channels, number, float))
            else:
                yield self.parameter(at.operand(role), self.of_elements(held, array))

    def layernorm(self, at):
        held = self.held(at.operand("x"))
        if held.elements is None:
            held = self.with_order(at.operand("x"), plain(len(held.order)))
        self.like(at, held, "LayerNormalization",
                  [held.tensor, *self.affine(at, held, self.shape(at.result)[-1])], axis=-1,
                  epsilon=float(at.attributes["epsilon"]), stash_type=self.real)

    def groupnorm(self, at):
        """InstanceNormalization of the groups as channels; weight and bias follow."""
        x = at.operand("x")
        channels, groups = self.shape(x)[-1], at.attributes["groups"]
        rank = len(self.shape(x))
        order = first(rank) if rank > 2 else plain(2)
        held = self.with_order(x, order)
        sizes = [self.shape(x)[axis] for axis in order[1:]]
        epsilon = float(at.attributes["epsilon"])
        if groups == channels and rank > 2:
            self.put(at, "InstanceNormalization",
                     [held.tensor, *self.affine(at, held, channels)], order, epsilon=epsilon)
            return
        rows = self.reshaped(at, "groups", held.tensor, [groups, math.prod(sizes) // groups])
        unit = [self.constant(at, word, np.full(groups, number, float))
                for word, number in (("ones", 1), ("zeros", 0))]
        y = self.step(at, "normal", "InstanceNormalization", [rows, *unit], epsilon=epsilon)
        parts = [(word, role) for word, role in (("Mul", "weight"), ("Add", "bias"))
                 if at.operand(role) is not None]
        if not parts:
            self.put(at, "Reshape", [y, self.sizes(at, "shape", sizes)], order)
            return
        y = self.reshaped(at, "map", y, sizes)
        for word, role in parts:
            array = self.along_channels(x, held, self.weight(at, role))
            inputs = [y, self.parameter(at.operand(role), array)]
            if role == parts[-1][1]:
                self.put(at, word, inputs, order)
            else:
                y = self.step(at, "scaled", word, inputs)

    # ---- elementwise ----------------------------------------------------------------------------

    def simple(self, at):
        op, words = SIMPLE[at.op]
        held = self.held(at.operand("x"))
        self.like(at, held, op, [held.tensor],
                  **{theirs: float(at.attributes[ours]) for ours, theirs in words.items()})

    def relu6(self, at):
        self.limited(at, 0, 6)

    def clamp(self, at):
        low, high = at.attributes["low"], at.attributes["high"]
        self.limited(at, low if low > -NO_BOUND else None, high if high < NO_BOUND else None)

    def limited(self, at, low, high):
        held = self.held(at.operand("x"))
        bounds = ["" if bound is None else self.constant(at, word, bound)
                  for word, bound in (("low", low), ("high", high))]
        self.like(at, held, "Clip", [held.tensor, *bounds])

    def hard_sigmoid(self, at):
        held = self.held(at.operand("x"))
        self.like(at, held, "HardSigmoid", [held.tensor], alpha=1 / 6, beta=0.5)

    def square(self, at):
        held = self.held(at.operand("x"))
        self.like(at, held, "Mul", [held.tensor, held.tensor])

    def swish(self, at):
        held = self.held(at.operand("x"))
        gate = self.step(at, "sigmoid", "Sigmoid", [held.tensor])
        self.like(at, held, "Mul", [held.tensor, gate])

    def mish(self, at):
        held = self.held(at.operand("x"))
        gate = self.step(at, "softplus", "Softplus", [held.tensor])
        gate = self.step(at, "tanh", "Tanh", [gate])
        self.like(at, held, "Mul", [held.tensor, gate])

    def gelu(self, at):
        held = self.held(at.operand("x"))
        x = held.tensor
        if self.fixed and self.fixed >= GELU:
            self.like(at, held, "Gelu", [x],
                      approximate="tanh" if at.attributes["approximate"] else "none")
            return
        if at.attributes["approximate"]:
            cube = self.step(at, "square", "Mul", [x, x])
            cube = self.step(at, "cube", "Mul", [cube, x])
            cube = self.step(at, "part", "Mul", [cube, self.constant(at, "factor", 0.044715)])
            line = self.step(at, "sum", "Add", [x, cube])
            root = self.constant(at, "root", math.sqrt(2 / math.pi))
            gate = self.step(at, "tanh", "Tanh", [self.step(at, "inner", "Mul", [line, root])])
        else:
            root = self.constant(at, "root", math.sqrt(2))
            gate = self.step(at, "erf", "Erf", [self.step(at, "inner", "Div", [x, root])])
        gate = self.step(at, "gate", "Add", [gate, self.constant(at, "one", 1)])
        twice = self.step(at, "twice", "Mul", [x, gate])
        self.like(at, held, "Mul", [twice, self.constant(at, "half", 0.5)])

    def scale(self, at):
        held = self.in_reals(at)
        self.like(at, held, "Mul",
                  [held.tensor, self.constant(at, "factor", at.attributes["factor"])])

    def shift(self, at):
        held = self.held(at.operand("x"))
        self.like(at, held, "Add",
                  [held.tensor, self.constant(at, "value", at.attributes["value"])])

    def normalize(self, at):
        x = at.operand("x")
        held = self.in_reals(at)
        tensor = held.tensor
        if self.graph.values[x].dtype == "u8":
            tensor = self.step(at, "unit", "Div", [tensor, self.constant(at, "255", 255)])
        mean, std = (self.constant(at, word, self.along_channels(
            x, held, np.array(at.attributes[word], float))) for word in ("mean", "std"))
        self.like(at, held, "Div", [self.step(at, "centered", "Sub", [tensor, mean]), std])

    def in_reals(self, at):
        """The operand; integers are converted."""
        held = self.held(at.operand("x"))
        if self.graph.values[at.operand("x")].dtype not in ("u8", "i32"):
            return held
        return held.with_tensor(self.step(at, "real", "Cast", [held.tensor], to=self.real))

    def softmax(self, at):
        self.over_channels(at, "Softmax")

    def log_softmax(self, at):
        self.over_channels(at, "LogSoftmax")

    def over_channels(self, at, op):
        held = self.held(at.operand("x"))
        self.like(at, held, op, [held.tensor], axis=held.order.index(len(held.order) - 1))

    def lrn(self, at):
        x = at.operand("x")
        rank = len(self.shape(x))
        words = {"size": at.attributes["size"],
                 **{theirs: float(at.attributes[ours])
                    for ours, theirs in (("alpha", "alpha"), ("beta", "beta"), ("k", "bias"))}}
        if rank > 2:
            self.put(at, "LRN", [self.first(x)], first(rank), **words)
            return
        map_ = self.reshaped(at, "map", self.plain(x), [self.shape(x)[1], 1, 1])
        map_ = self.step(at, "normal", "LRN", [map_], **words)
        self.put(at, "Reshape", [map_, self.sizes(at, "shape", self.shape(x)[1:])], plain(2))

    def binary(self, at):
        """The last axes of operands of unequal ranks belong together."""
        rank = len(self.shape(at.result))
        held = self.common([value for value in at.values if self.shape(value)[1:] ==
                            self.shape(at.result)[1:]] or at.values[:1], rank)
        self.like(at, held, BINARY[at.op], [self.broadcast(at, value, held) for value in at.values])

    def common(self, values, rank):
        """A form for values of this rank: that which all have, or the usual one."""
        helds = [self.held(value) for value in values if len(self.shape(value)) == rank]
        if helds and all(held.order == helds[0].order and
                         same_order(held.elements, helds[0].elements) for held in helds):
            return helds[0]
        return self.form(first(rank) if rank == 4 else plain(rank))

    def broadcast(self, at, value, form):
        shape, rank = self.shape(value), len(form.order)
        if len(shape) == 2 and rank == 2:
            if shape[1] == 1:
                return self.plain(value)
            held = self.held(value)
            if same_order(held.elements, form.elements):
                return held.tensor
            return self.arranged(value, form.elements)
        if len(shape) == rank:
            return self.with_order(value, form.order).tensor
        whole = [shape[0], *[1] * (rank - len(shape)), *shape[1:]]
        return self.turned(at, f"{value}.wide", self.plain(value), whole, form.order)

    # ---- pools ----------------------------------------------------------------------------------

    def maxpool(self, at):
        """The padding ends with the last window: ceil_mode of ONNX was read in two ways."""
        words, _ = self.pool_words(at)
        x = self.first(at.operand("x"))
        if any(pad >= size for pad, size in zip(words["pads"], words["kernel_shape"] * 2)):
            lowest = self.constant(at, "lowest", -np.inf)
            x = self.step(at, "padded", "Pad", [x, self.whole_pads(at, words["pads"]), lowest])
            words["pads"] = [0] * 4
        self.put(at, "MaxPool", [x], first(4), **words)

    def avgpool(self, at):
        """With count_padding the padding is counted, but nothing past it."""
        words, padding = self.pool_words(at)
        x = self.first(at.operand("x"))
        if words["dilations"] == [1, 1]:
            del words["dilations"]
        else:
            self.needs(19, at, "a dilated AveragePool")
        counts = bool(at.attributes["count_padding"])
        if counts and words["pads"] != padding:
            x = self.step(at, "padded", "Pad", [x, self.whole_pads(at, padding)])
            words["pads"] = [end - own for end, own in zip(words["pads"], padding)]
            counts = False
        if any(pad >= size for pad, size in zip(words["pads"], words["kernel_shape"] * 2)):
            self.refuse(at, "its padding is not smaller than its window of "
                        f"{'x'.join(str(size) for size in words['kernel_shape'])}, and "
                        "AveragePool of ONNX wants that")
        self.put(at, "AveragePool", [x], first(4), count_include_pad=int(counts), **words)

    def pool_words(self, at):
        """The words of a pool whose padding ends with its last window, and its own padding. With
        ceil that window may end after the padding."""
        sizes, strides = pair(at.attributes, "kernel"), pair(at.attributes, "stride")
        dilations, padding = pair(at.attributes, "dilation"), padding_of(at.attributes)
        whole, result = self.shape(at.operand("x"))[1:3], self.shape(at.result)[1:3]
        ends = []
        for axis in (0, 1):
            before, after = padding[axis]
            end = (result[axis] - 1) * strides[axis] + (sizes[axis] - 1) * dilations[axis] + 1
            ends.append((before, max(after, end - before - whole[axis])))
        return {"kernel_shape": sizes, "strides": strides, "dilations": dilations,
                "pads": pads_of(ends)}, pads_of(padding)

    def whole_pads(self, at, pads):
        top, left, bottom, right = pads
        return self.tensor(at, "pads", np.array([0, 0, top, left, 0, 0, bottom, right], np.int64))

    def global_avgpool(self, at):
        self.put(at, "GlobalAveragePool", [self.first(at.operand("x"))], first(4))

    def global_maxpool(self, at):
        self.put(at, "GlobalMaxPool", [self.first(at.operand("x"))], first(4))

    def adaptive_avgpool(self, at):
        """Windows of one size are a pool; others are a product with a matrix of means an axis."""
        x, whole = self.first(at.operand("x")), self.shape(at.operand("x"))[1:3]
        result = self.shape(at.result)[1:3]
        if all(size % count == 0 for size, count in zip(whole, result)):
            sizes = [size // count for size, count in zip(whole, result)]
            self.put(at, "AveragePool", [x], first(4), kernel_shape=sizes, strides=sizes)
            return
        rows, columns = (self.constant(at, word, matrix) for word, matrix in
                         (("rows", means(whole[0], result[0])),
                          ("columns", means(whole[1], result[1]).T)))
        self.put(at, "MatMul", [self.step(at, "of_rows", "MatMul", [rows, x]), columns], first(4))

    # ---- sizes ----------------------------------------------------------------------------------

    def upsample(self, at):
        self.resized(at, "bilinear" if at.attributes["bilinear"] else "nearest")

    def resize(self, at):
        self.resized(at, at.attributes["mode"])

    def resized(self, at, mode):
        x, whole = at.operand("x"), self.shape(at.operand("x"))[1:3]
        result = self.shape(at.result)[1:3]
        if whole == result:
            self.alias(at, x)
            return
        if mode.startswith("nearest") and not all(
                is_robust(size, count, mode) for size, count in zip(whole, result)):
            self.gathered(at, mode, whole, result)
            return
        words = {
            "nearest": {"mode": "nearest", "coordinate_transformation_mode": "asymmetric",
                        "nearest_mode": "floor"},
            "nearest_exact": {"mode": "nearest", "coordinate_transformation_mode": "half_pixel",
                              "nearest_mode": "round_prefer_ceil"},
            "bilinear": {"mode": "linear", "coordinate_transformation_mode": "half_pixel"},
            "align_corners": {"mode": "linear",
                              "coordinate_transformation_mode": "align_corners"},
        }[mode]
        scales = [count / size for size, count in zip(whole, result)]
        if all(float(scale).is_integer() for scale in scales):
            sizes = [self.tensor(at, "scales", np.array([1, 1, *scales], np.float32))]
        else:
            sizes = ["", self.whole_sizes(at, result)]
        self.put(at, "Resize", [self.first(x), "", *sizes], first(4), **words)

    def whole_sizes(self, at, result):
        """The sizes of the result, with the batch of the operand."""
        x = at.operand("x")
        rest = np.array([self.shape(x)[3], *result], np.int64)
        if isinstance(self.batch, int):
            return self.tensor(at, "sizes", np.array([self.batch, *rest], np.int64))
        batch = self.cut(at, "batch", self.step(at, "shape", "Shape", [self.first(x)]), {0: (0, 1)})
        return self.step(at, "sizes", "Concat", [batch, self.tensor(at, "size", rest)], axis=0)

    def gathered(self, at, mode, whole, result):
        """Rows and columns by number, where a runtime's coordinates could round to others."""
        tensor = self.first(at.operand("x"))
        numbers = [np.array([math.floor(place) for place in
                             nearest_places(size, count, mode)], np.int64)
                   for size, count in zip(whole, result)]
        rows = self.step(at, "of_rows", "Gather",
                         [tensor, self.tensor(at, "rows", numbers[0])], axis=2)
        self.put(at, "Gather", [rows, self.tensor(at, "columns", numbers[1])], first(4), axis=3)

    def pad(self, at):
        x = self.first(at.operand("x"))
        padding, mode = padding_of(at.attributes, ""), at.attributes["mode"]
        if mode == "wrap":
            self.wrapped(at, x, padding)
            return
        inputs = [x, self.whole_pads(at, pads_of(padding))]
        if mode == "constant":
            inputs.append(self.constant(at, "value", at.attributes["value"]))
        self.put(at, "Pad", inputs, first(4), mode=mode)

    def wrapped(self, at, x, padding):
        """Pixels of the other side, along height and then width."""
        for axis, (before, after) in enumerate(padding, 2):
            size = self.shape(at.operand("x"))[axis - 1]
            word = AXES[axis - 2]
            parts = [x]
            if before:
                parts.insert(0, self.cut(at, f"before_{word}", x, {axis: (size - before, size)}))
            if after:
                parts.append(self.cut(at, f"after_{word}", x, {axis: (0, after)}))
            if axis == 2:
                x = self.step(at, "rows", "Concat", parts, axis=2)
            else:
                self.put(at, "Concat", parts, first(4), axis=3)

    def cut(self, at, word, x, ranges):
        """The elements from a start to an end, by axis of the tensor."""
        return self.step(at, word, "Slice", [x, *self.bounds(at, word, ranges)])

    def bounds(self, at, word, ranges):
        return [self.tensor(at, f"{word}.{name}", np.array(numbers, np.int64)) for name, numbers
                in (("starts", [start for start, _ in ranges.values()]),
                    ("ends", [end for _, end in ranges.values()]), ("axes", list(ranges)))]

    def crop(self, at):
        (top, _), (left, _) = padding_of(at.attributes, "")
        height, width = self.shape(at.result)[1:3]
        ranges = {2: (top, top + height), 3: (left, left + width)}
        self.put(at, "Slice", [self.first(at.operand("x")), *self.bounds(at, "crop", ranges)],
                 first(4))

    def slice(self, at):
        x, start = at.operand("x"), at.attributes["start"]
        held = self.held(x)
        if held.elements is not None:
            held = self.with_order(x, plain(2))
        axis = held.order.index(at.attributes["axis"])
        ranges = {axis: (start, start + at.attributes["size"])}
        self.like(at, held, "Slice", [held.tensor, *self.bounds(at, "slice", ranges)])

    def concat(self, at):
        axis, rank = at.attributes["axis"], len(self.shape(at.result))
        if rank == 2:
            helds = [self.held(value) for value in at.values]
            order = joined_order([held.elements for held in helds],
                                 [self.shape(value)[1] for value in at.values])
            self.put(at, "Concat", [held.tensor for held in helds], plain(2), elements=order,
                     axis=1)
            return
        form = self.common(at.values, rank)
        self.put(at, "Concat", [self.with_order(value, form.order).tensor for value in at.values],
                 form.order, axis=form.order.index(axis))

    # ---- other orders of elements ---------------------------------------------------------------

    def detach(self, at):
        self.alias(at, at.operand("x"))

    def flatten(self, at):
        x = at.operand("x")
        if len(self.shape(x)) == 2:
            self.alias(at, x)
            return
        self.put(at, "Flatten", [self.held(x).tensor], plain(2), elements=self.numbering(x), axis=1)

    def reshape(self, at):
        """Without a transposition where the tensor has the result's elements in order."""
        x, shape = at.operand("x"), self.shape(at.result)
        rank = len(shape)
        held, numbers = self.held(x), self.numbering(x)
        for order in dict.fromkeys((first(rank) if rank == 4 else plain(rank), plain(rank))):
            if same_order(numbers, numbering(shape, order)):
                break
        else:
            held = self.with_order(x, plain(len(held.order)))
        sizes = [shape[axis] for axis in order[1:]]
        self.put(at, "Reshape", [held.tensor, self.sizes(at, "shape", sizes)], order)

    def transpose(self, at):
        """No node: the axes have other numbers."""
        axes = [0, *(1 + int(axis) for axis in at.attributes["axes"])]
        held = self.held(at.operand("x"))
        if held.elements is not None:
            held = self.with_order(at.operand("x"), plain(2))
        self.rename(at, held.tensor, tuple(axes.index(axis) for axis in held.order))

    def channel_shuffle(self, at):
        x, groups = at.operand("x"), at.attributes["groups"]
        rank = len(self.shape(x))
        order = first(rank) if rank > 2 else plain(2)
        sizes = [self.shape(x)[axis] for axis in order[1:]]
        parts = [groups, sizes[0] // groups, *sizes[1:]]
        split = self.reshaped(at, "groups", self.with_order(x, order).tensor, parts)
        turned = self.step(at, "shuffled", "Transpose", [split],
                           perm=[0, 2, 1, *range(3, len(parts) + 1)])
        self.put(at, "Reshape", [turned, self.sizes(at, "shape", sizes)], order)

    def pixel_shuffle(self, at):
        self.put(at, "DepthToSpace", [self.first(at.operand("x"))], first(4), mode="CRD",
                 blocksize=at.attributes["factor"])

    def depth_to_space(self, at):
        self.put(at, "DepthToSpace", [self.first(at.operand("x"))], first(4), mode="DCR",
                 blocksize=at.attributes["factor"])

    def space_to_depth(self, at):
        self.put(at, "SpaceToDepth", [self.first(at.operand("x"))], first(4),
                 blocksize=at.attributes["factor"])

    def pixel_unshuffle(self, at):
        _, height, width, channels = self.shape(at.operand("x"))
        factor = at.attributes["factor"]
        split = self.reshaped(at, "blocks", self.first(at.operand("x")),
                              [channels, height // factor, factor, width // factor, factor])
        turned = self.step(at, "shuffled", "Transpose", [split], perm=[0, 1, 3, 5, 2, 4])
        sizes = [channels * factor * factor, height // factor, width // factor]
        self.put(at, "Reshape", [turned, self.sizes(at, "shape", sizes)], first(4))

    # ---- detectors ------------------------------------------------------------------------------

    def decode_boxes(self, at):
        """middle = anchor + code / 10 * size and side = size * exp(code / 5), as corners."""
        x = self.plain(at.operand("x"))
        boxes = anchors(at.attributes)
        code, sides = (self.cut(at, word, x, {2: bounds})
                       for word, bounds in (("code", (0, 2)), ("sides", (2, 4))))
        middle, size = (self.constant(at, word, boxes[:, part])
                        for word, part in (("middle", slice(0, 2)), ("size", slice(2, 4))))
        move = self.step(at, "tenth", "Div", [code, self.constant(at, "10", 10)])
        move = self.step(at, "move", "Mul", [move, size])
        center = self.step(at, "center", "Add", [move, middle])
        side = self.step(at, "fifth", "Div", [sides, self.constant(at, "5", 5)])
        side = self.step(at, "growth", "Exp", [side])
        side = self.step(at, "side", "Mul", [side, size])
        half = self.step(at, "half", "Div", [side, self.constant(at, "2", 2)])
        self.put(at, "Concat", [self.step(at, "first", "Sub", [center, half]),
                                self.step(at, "last", "Add", [center, half])], plain(3), axis=2)


def numbering(shape, order):
    """By place in a tensor of this order, the number of the sample's element in storage. None: the
    same."""
    numbers = np.arange(math.prod(shape[1:])).reshape(shape[1:])
    numbers = numbers.transpose([axis - 1 for axis in order[1:]]).ravel()
    return None if (numbers[1:] > numbers[:-1]).all() else numbers


def means(size, count):
    """The matrix [count, size] of the means of adaptive_avgpool along an axis."""
    matrix = np.zeros((count, size))
    for at in range(count):
        begin, end = at * size // count, -(-(at + 1) * size // count)
        matrix[at, begin:end] = 1 / (end - begin)
    return matrix


def nearest_places(size, count, mode):
    """The places whose floor is the pixel that cnnc reads, exact."""
    half = Fraction(mode == "nearest_exact", 2)
    return [(at + half) * size / count for at in range(count)]


def is_robust(size, count, mode):
    """True if no rounding of coordinates in single precision leads to another pixel: the factor is
    whole, or each place is far from a whole number."""
    apart = [abs(place - round(place)) for place in nearest_places(size, count, mode) if place]
    return count % size == 0 or all(distance > 1e-3 for distance in apart)


def anchors(attributes):
    """The anchors [count, 4] of a detector: center and size (ir/families/anchors.c)."""
    boxes, sizes = [], np.array(attributes["sizes"]).reshape(-1, 2)
    for side, count in zip(attributes["maps"], attributes["counts"]):
        side, count = int(side), int(count)
        of_map, sizes = sizes[:count], sizes[count:]
        for cell in range(side * side):
            middle = [(cell % side + 0.5) / side, (cell // side + 0.5) / side]
            boxes += [[*middle, *box] for box in of_map]
    return np.array(boxes)
