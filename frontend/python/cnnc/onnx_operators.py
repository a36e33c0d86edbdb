"""The operators of ONNX as those of the neutral graph.

An operator is a row of SIMPLE, or a method of Operators with ONNX's inputs and attributes. Add
either to extend the converter.
"""
import math

import numpy as np

from .building import Building, decimal, same_sides
from .resizing import described, mode_of

# Operators of one value: cnnc's, and by its argument the attribute with its default.
SIMPLE = {
    "Relu": ("relu", {}), "Sigmoid": ("sigmoid", {}), "Tanh": ("tanh", {}),
    "LeakyRelu": ("leaky_relu", {"slope": ("alpha", 0.01)}),
    "Elu": ("elu", {"alpha": ("alpha", 1.0)}), "HardSwish": ("hard_swish", {}),
    "Softplus": ("softplus", {}), "Mish": ("mish", {}), "Exp": ("exp", {}), "Log": ("log", {}),
    "Sqrt": ("sqrt", {}), "Abs": ("abs", {}), "Reciprocal": ("reciprocal", {}),
}
SELU = 1.67326319217681884765625, 1.05070102214813232421875


def sides(pads):
    """ONNX's [top, left, bottom, right] as [top, bottom, left, right]."""
    half = len(pads) // 2
    return [pads[at + end] for at in range(half) for end in (0, half)]


class Operators(Building):
    """A node of the model as nodes of the neutral graph. `self.node` adds a node, `self.refuse`
    raises Unsupported, `self.shape` is the shape of the first result in a sample."""

    # ---- axes and views -------------------------------------------------------------------------

    def axis_of(self, x, axis):
        """The axis of a sample."""
        whole = axis % (len(x.shape) + self.lead) - self.lead
        if whole < 0:
            self.refuse("along the batch")
        return whole

    # ---- layers with parameters -----------------------------------------------------------------

    def Conv(self, x, w, b=None, *, auto_pad="NOTSET", dilations=None, group=1, kernel_shape=None,
             pads=None, strides=None):
        taps = self.constant(w, "the weight").array.shape[2:]
        if len(taps) == 3 and len(x.shape) == 4:
            return self.deep_conv(x, w, b, strides or [1] * 3, dilations or [1] * 3,
                                  pads or [0] * 6, group, auto_pad)
        kernel, attrs = self.window(x, taps, strides, dilations, pads, auto_pad)
        flat, result = self.as_rows(x, self.shape)
        made = self.node("conv", [flat], {**attrs, "groups": group}, result,
                         weight=w.changed(w.array.reshape(*w.array.shape[:2], *kernel)), bias=b)
        return self.view(made, self.shape)

    def deep_conv(self, x, w, b, strides, dilations, pads, group, auto_pad):
        """A convolution of three dimensions. The maps that a result's depth reads are channels of
        one map, and the maps of all depths are below each other, padded to whole strides."""
        filters, _, *taps = w.array.shape
        result, depth = self.shape, self.shape[1]
        if auto_pad.startswith("SAME"):
            before_after = same_sides(x.shape[1:], taps, strides, dilations,
                                      auto_pad == "SAME_LOWER")
            pads = [*before_after[::2], *before_after[1::2]]
        zero = {"value": 0}
        x = self.edged(x, {axis: (pads[axis - 1], pads[axis + 2]) for axis in (1, 2, 3)}, zero)
        x = self.edged(x, {2: (0, -x.shape[2] % strides[1])}, zero)
        channels, _, height, width = x.shape
        parts = [self.view(self.part(x, 1, tap * dilations[0], depth, strides[0]),
                           [channels, 1, depth, height * width]) for tap in range(taps[0])]
        stack = self.view(self.Concat(*parts, axis=1 + self.lead),
                          [channels * taps[0], depth * height, width])
        rows = (depth * height - (taps[1] - 1) * dilations[1] - 1) // strides[1] + 1
        made = self.node("conv", [stack], {"stride": strides[1:], "padding": [0] * 4,
                                           "dilation": dilations[1:], "groups": group},
                         [filters, rows, result[3]], bias=b, weight=w.changed(
                             w.array.reshape(filters, -1, *taps[1:])))
        each = height // strides[1]
        made = self.grown(made, [0, depth * each - rows, 0, 0], zero)
        made = self.view(made, [filters, depth, each * result[3]])
        return self.view(self.part(made, 2, 0, result[2] * result[3]), result)

    def as_rows(self, x, shape):
        """A row [channels, width] as a map of height 1, and the shape of the result as one."""
        if len(x.shape) == 3:
            return x, list(shape)
        return self.view(x, [x.shape[0], 1, x.shape[1]]), [shape[0], 1, *shape[1:]]

    def window(self, x, kernel, strides, dilations, pads, auto_pad):
        """The kernel, and the arguments stride, padding and dilation, of two dimensions."""
        count = len(kernel)
        if len(x.shape) != count + 1 or count > 2:
            self.refuse(f"a window of {count} dimensions over {x.shape}; wanted 1 or 2")
        one = [1] * (2 - count)
        kernel, sizes = [*one, *kernel], [*one, *x.shape[1:]]
        strides, dilations = [*one, *(strides or [1] * count)], [*one, *(dilations or [1] * count)]
        padding = [0] * (4 - 2 * count) + sides(pads or [0] * 2 * count)
        if auto_pad.startswith("SAME"):
            padding = same_sides(sizes, kernel, strides, dilations, auto_pad == "SAME_LOWER")
        if min(padding) < 0:
            self.refuse(f"pads {pads}; wanted 0 or more")
        return kernel, {"stride": strides, "padding": padding, "dilation": dilations}

    def ConvTranspose(self, x, w, b=None, *, auto_pad="NOTSET", dilations=None, group=1,
                      kernel_shape=None, output_padding=None, output_shape=None, pads=None,
                      strides=None):
        kernel = self.constant(w, "the weight").array.shape[2:]
        kernel, attrs = self.window(x, kernel, strides, dilations, pads, "NOTSET")
        flat, result = self.as_rows(x, self.shape)
        beyond = [*[0] * (2 - len(x.shape[1:])), *(output_padding or [0] * len(x.shape[1:]))]
        if output_shape or auto_pad.startswith("SAME"):
            attrs["padding"], beyond = self.removed(flat, result, kernel, attrs, beyond,
                                                    auto_pad == "SAME_UPPER")
        made = self.node("conv_transpose", [flat],
                         {**attrs, "output_padding": beyond, "groups": group}, result,
                         weight=w.changed(w.array.reshape(*w.array.shape[:2], *kernel)), bias=b)
        return self.view(made, self.shape)

    @staticmethod
    def removed(x, result, kernel, attrs, beyond, upper):
        """The padding and the output padding with which a transposed convolution has this shape."""
        padding, added = [], []
        for at, size in enumerate(x.shape[1:]):
            total = attrs["stride"][at] * (size - 1) + beyond[at] + 1 - result[1 + at] + \
                (kernel[at] - 1) * attrs["dilation"][at]
            added.append(beyond[at] + max(-total, 0))
            total = max(total, 0)
            less, more = total // 2, total - total // 2
            padding += [less, more] if upper else [more, less]
        return padding, added

    def Gemm(self, a, b, c=None, *, alpha=1.0, beta=1.0, transA=0, transB=0, broadcast=0):
        weight = self.constant(b, "the second matrix")
        matrix = weight.array if transB else weight.array.T
        x = self.permuted(a, [self.axis_of(a, 1), self.axis_of(a, 0)]) if transA else a
        shape = [*x.shape[:-1], len(matrix)]
        if matrix.shape[1] != x.shape[-1]:
            self.refuse(f"{self.whole(a)} times {list(weight.array.shape)}")
        bias = None
        if c is not None and not self.is_value(c) and c.array.size in (1, len(matrix)) and \
                c.array.shape[-1:] in ((), (1,), (len(matrix),)) and (c.array.ndim < 2 or
                                                                    len(c.array) == 1):
            vector = np.broadcast_to(c.array.ravel() * c.array.dtype.type(beta), [len(matrix)])
            bias, c = c.changed(vector), None
        made = self.node("dense", [x], {}, shape, bias=bias, weight=weight.changed(
            matrix if alpha == 1 else matrix * matrix.dtype.type(alpha)))
        if c is None:
            return made
        return self.Add(made, self.times(c, beta) if self.is_value(c) else c)

    def MatMul(self, a, b):
        if not self.is_value(a):
            return self.matrix_first(a, b)
        matrix = self.constant(b, "the second matrix")
        if matrix.array.ndim > 2 and a.shape and not self.lead:
            return self.products(a, matrix)
        if matrix.array.ndim > 2 or not a.shape:
            self.refuse(f"a product of {self.whole(a)} and {list(matrix.array.shape)}; wanted a "
                        "matrix as the second")
        turned = matrix.array.T if matrix.array.ndim == 2 else matrix.array[None]
        made = self.node("dense", [a], {}, [*a.shape[:-1], len(turned)],
                         weight=matrix.changed(turned))
        return self.view(made, self.shape)

    def products(self, a, matrices):
        """Matrices times constant ones, each with its own: a convolution of a group each."""
        a = a if len(a.shape) > 1 else self.view(a, [1, *a.shape])
        a = self.expanded(a, list(np.broadcast_shapes(tuple(a.shape),
                                                      (*matrices.array.shape[:-2], 1, 1))))
        *outer, rows, elements = a.shape
        count, columns = math.prod(outer), matrices.array.shape[-1]
        each = np.broadcast_to(matrices.array, [*outer, elements, columns])
        each = each.reshape(count, elements, columns).swapaxes(1, 2)
        flat = self.permuted(self.view(a, [count, rows, elements]), [0, 2, 1])
        made = self.node("conv", [self.view(flat, [count * elements, rows, 1])], {
            "stride": [1, 1], "padding": [0] * 4, "dilation": [1, 1], "groups": count},
            [count * columns, rows, 1],
            weight=matrices.changed(each.reshape(count * columns, elements, 1, 1)))
        made = self.permuted(self.view(made, [count, columns, rows]), [0, 2, 1])
        return self.view(made, self.shape)

    def matrix_first(self, a, b):
        """A constant matrix times the columns of a value."""
        if a.array.ndim != 2 or len(b.shape) < 2:
            self.refuse(f"a product of {list(a.array.shape)} and {self.whole(b)}")
        swap = [*range(len(b.shape) - 2), len(b.shape) - 1, len(b.shape) - 2]
        turned = self.permuted(b, swap)
        made = self.node("dense", [turned], {}, [*turned.shape[:-1], len(a.array)], weight=a)
        return self.permuted(made, swap)

    def BatchNormalization(self, x, scale, b, mean, var, *, epsilon=1e-5, momentum=0.9,
                           training_mode=0, spatial=1, is_test=1, consumed_inputs=None):
        if training_mode or not spatial:
            self.refuse("statistics of the batch in inference" if training_mode else "spatial = 0")
        attrs = {"epsilon": epsilon, "momentum": round(1 - momentum, 7)}
        flat = x if len(x.shape) == 1 else self.joined(x, x.shape[1:])
        made = self.node("batchnorm", [flat], attrs, weight=scale, bias=b, mean=mean, variance=var)
        return self.view(made, x.shape)

    def InstanceNormalization(self, x, scale, b, *, epsilon=1e-5, consumed_inputs=None):
        return self.groups(x, scale, b, x.shape[0], epsilon)

    def GroupNormalization(self, x, scale, bias, *, num_groups, epsilon=1e-5, stash_type=1):
        repeats = x.shape[0] // self.constant(scale, "the scale").array.size
        return self.groups(x, scale.changed(np.repeat(scale.array, repeats)), bias.changed(
            np.repeat(self.constant(bias, "the bias").array, repeats)), num_groups, epsilon)

    def groups(self, x, scale, bias, groups, epsilon):
        made = self.node("groupnorm", [self.joined(x, x.shape[1:])],
                         {"groups": groups, "epsilon": epsilon}, weight=scale, bias=bias)
        return self.view(made, x.shape)

    def LayerNormalization(self, x, scale, b=None, *, axis=-1, epsilon=1e-5, stash_type=1):
        flat = self.rows_from(x, axis)
        vectors = [constant and constant.changed(np.broadcast_to(
            self.constant(constant, "a parameter").array,
            x.shape[self.axis_of(x, axis):]).ravel()) for constant in (scale, b)]
        made = self.node("layernorm", [flat], {"epsilon": epsilon}, weight=vectors[0],
                         bias=vectors[1])
        return self.view(made, x.shape)

    def rows_from(self, x, axis):
        """A view whose last axis has all from this axis on."""
        axis = self.axis_of(x, axis)
        if axis == len(x.shape) - 1:
            return x
        outer = [math.prod(x.shape[:axis])] if axis else []
        return self.view(x, [*outer, math.prod(x.shape[axis:])])

    def RMSNormalization(self, x, scale, *, axis=-1, epsilon=1e-5, stash_type=1):
        flat = self.rows_from(x, axis)
        mean = self.reduced("avgpool", self.node("square", [flat]), [len(flat.shape) - 1], True)
        root = self.node("sqrt", [self.shifted(mean, epsilon)])
        made = self.node("div", [flat, root])
        vector = np.broadcast_to(self.constant(scale, "the scale").array,
                                 x.shape[self.axis_of(x, axis):]).ravel()
        return self.view(self.scaled(made, len(flat.shape) - 1, scale.changed(vector)), x.shape)

    def MeanVarianceNormalization(self, x, *, axes=(0, 2, 3)):
        axes = [self.axis_of(x, axis) for axis in axes]
        centred = self.node("sub", [x, self.reduced("avgpool", x, axes, True)])
        variance = self.reduced("avgpool", self.node("square", [centred]), axes, True)
        return self.node("div", [centred, self.shifted(self.node("sqrt", [variance]), 1e-9)])

    def PRelu(self, x, slope):
        if self.is_value(slope):
            negative = self.node("clamp", [x], {"high": 0})
            return self.combined("add", self.node("relu", [x]),
                                 self.combined("mul", slope, negative))
        if self.opset < 7 and slope.array.size == x.shape[0]:
            slope = slope.changed(slope.array.reshape(-1, *[1] * (len(x.shape) - 1)))
        axis = self.wide_axis(x, slope.array)
        shared = slope.changed(slope.array.ravel())
        if axis is None:
            return self.node("prelu", [x], {}, weight=shared)
        order = [axis, *(other for other in range(len(x.shape)) if other != axis)]
        made = self.node("prelu", [self.permuted(x, order)], {}, weight=shared)
        return self.permuted(made, np.argsort(order).tolist())

    def wide_axis(self, x, array):
        """The axis of a sample along which a constant operand has its numbers. None: it has one."""
        wide = [axis - array.ndim for axis, size in enumerate(array.shape) if size != 1]
        if not wide:
            return None
        axis = wide[0] + len(x.shape)
        if len(wide) > 1 or axis < 0 or x.shape[axis] != array.size:
            self.refuse(f"a constant tensor {list(array.shape)} with a value {self.whole(x)}; "
                        "wanted one number, or one a channel")
        return axis

    # ---- pools ----------------------------------------------------------------------------------

    def MaxPool(self, x, *, kernel_shape, auto_pad="NOTSET", ceil_mode=0, dilations=None,
                pads=None, storage_order=0, strides=None):
        return self.pooled("maxpool", x, kernel_shape, auto_pad, ceil_mode, dilations, pads,
                           strides)

    def AveragePool(self, x, *, kernel_shape, auto_pad="NOTSET", ceil_mode=0, count_include_pad=0,
                    dilations=None, pads=None, strides=None):
        return self.pooled("avgpool", x, kernel_shape, auto_pad, ceil_mode, dilations, pads,
                           strides, bool(count_include_pad))

    def LpPool(self, x, *, kernel_shape, p=2, auto_pad="NOTSET", ceil_mode=0, dilations=None,
               pads=None, strides=None):
        if p not in (1, 2, 4) or ceil_mode:
            self.refuse(f"p = {p}, ceil_mode = {ceil_mode}; wanted 1, 2 or 4, and 0")
        power = self.node("abs", [x]) if p == 1 else self.repeated("square", x, p // 2)
        mean = self.pooled("avgpool", power, kernel_shape, auto_pad, 0, dilations, pads, strides,
                           True)
        total = self.times(mean, math.prod(kernel_shape))
        return self.repeated("sqrt", total, p // 2)

    def repeated(self, op, x, times):
        for _ in range(times):
            x = self.node(op, [x])
        return x

    def pooled(self, op, x, kernel, auto_pad, ceil, dilations, pads, strides, count_padding=False):
        count = len(kernel)
        if count == 3 and len(x.shape) == 4:
            return self.pooled_apart(op, x, kernel, auto_pad, ceil, dilations, pads, strides,
                                     count_padding)
        kernel, attrs = self.window(x, kernel, strides, dilations, pads, auto_pad)
        attrs = {"kernel": kernel, **attrs, "ceil": bool(ceil)}
        if count_padding:
            attrs["count_padding"] = True
        flat, _ = self.as_rows(x, x.shape)
        sizes = [pooled_size(size, attrs, at) for at, size in enumerate(flat.shape[1:])]
        made = self.node(op, [flat], {name: value for name, value in attrs.items()
                                      if name != "padding" or any(value)}, [x.shape[0], *sizes])
        return self.view(made, [x.shape[0], *sizes[2 - count:]])

    def pooled_apart(self, op, x, kernel, auto_pad, ceil, dilations, pads, strides, *rest):
        """A window of three dimensions is one of height and width, and then one of depth."""
        strides, dilations = strides or [1] * 3, dilations or [1] * 3
        pads = pads or [0] * 6
        channels, depth, *_ = x.shape
        flat = self.view(x, [channels * depth, *x.shape[2:]])
        flat = self.pooled(op, flat, kernel[1:], auto_pad, ceil, dilations[1:],
                           [*pads[1:3], *pads[4:]], strides[1:], *rest)
        sizes = flat.shape[1:]
        flat = self.view(flat, [channels, depth, math.prod(sizes)])
        flat = self.pooled(op, flat, [kernel[0], 1], auto_pad, ceil, [dilations[0], 1],
                           [pads[0], 0, pads[3], 0], [strides[0], 1], *rest)
        return self.view(flat, [channels, flat.shape[1], *sizes])

    def GlobalAveragePool(self, x):
        return self.reduced("avgpool", x, range(1, len(x.shape)), True)

    def GlobalMaxPool(self, x):
        return self.reduced("maxpool", x, range(1, len(x.shape)), True)

    def reduction(self, op, x, axes, keepdims, empty):
        """(value, number of elements of each) of a reduction; x itself if no axis is reduced."""
        given = axes if axes is None or isinstance(axes, list) else \
            self.constant(axes, "the axes").list
        if not given and empty:
            return x, 1
        if not given and self.lead:
            self.refuse("along the batch")
        axes = sorted(self.axis_of(x, axis) for axis in given or range(len(x.shape)))
        return self.reduced(op, x, axes, keepdims), math.prod(x.shape[axis] for axis in axes)

    def ReduceMean(self, x, given=None, *, axes=None, keepdims=1, noop_with_empty_axes=0):
        return self.reduction("avgpool", x, given or axes, keepdims, noop_with_empty_axes)[0]

    def ReduceMax(self, x, given=None, *, axes=None, keepdims=1, noop_with_empty_axes=0):
        return self.reduction("maxpool", x, given or axes, keepdims, noop_with_empty_axes)[0]

    def ReduceMin(self, x, given=None, *, axes=None, keepdims=1, noop_with_empty_axes=0):
        return self.Neg(self.reduction("maxpool", self.Neg(x), given or axes, keepdims,
                                       noop_with_empty_axes)[0])

    def ReduceSum(self, x, given=None, *, axes=None, keepdims=1, noop_with_empty_axes=0):
        mean, size = self.reduction("avgpool", x, given or axes, keepdims, noop_with_empty_axes)
        return self.times(mean, size)

    def ReduceSumSquare(self, x, given=None, **options):
        return self.ReduceSum(self.node("square", [x]), given, **options)

    def ReduceL1(self, x, given=None, **options):
        return self.ReduceSum(self.node("abs", [x]), given, **options)

    def ReduceL2(self, x, given=None, **options):
        return self.node("sqrt", [self.ReduceSumSquare(x, given, **options)])

    # ---- arithmetic -----------------------------------------------------------------------------

    def Add(self, a, b, *, axis=None, broadcast=0, consumed_inputs=None):
        a, b = (a, self.placed(a, b, axis)) if self.is_value(a) else (b, a)
        if self.is_value(b):
            return self.combined("add", a, b)
        along = self.wide_axis(a, b.array)
        if along is None:
            return self.shaped_as(self.shifted(a, b.number), b)
        if self.takes_bias(a, along):
            a.node.params["bias"] = b.changed(b.array.ravel())
            return a
        return self.scaled(a, along, self.ones(b), b)

    def takes_bias(self, x, axis):
        """True if the value is a layer's that can have a bias along the axis."""
        last = {"conv": 0, "conv_transpose": 0, "dense": len(x.shape) - 1,
                "channel_scale": x.node.attrs.get("axis")}.get(x.node.op)
        return axis == last and "bias" not in x.node.params and self.is_read_once(x)

    def Sub(self, a, b, *, axis=None, broadcast=0, consumed_inputs=None):
        b = self.placed(a, b, axis)
        if self.is_value(a) and self.is_value(b):
            return self.combined("sub", a, b)
        if self.is_value(a):
            return self.Add(a, b.changed(-b.array))
        return self.Add(self.Neg(b), a)

    def Mul(self, a, b, *, axis=None, broadcast=0, consumed_inputs=None):
        a, b = (a, self.placed(a, b, axis)) if self.is_value(a) else (b, a)
        if self.is_value(b):
            return self.combined("mul", a, b)
        along = self.wide_axis(a, b.array)
        if along is None:
            return self.shaped_as(self.times(a, b.number), b)
        return self.scaled(a, along, b)

    def Div(self, a, b, *, axis=None, broadcast=0, consumed_inputs=None):
        b = self.placed(a, b, axis)
        if self.is_value(a) and self.is_value(b):
            return self.combined("div", a, b)
        if self.is_value(a):
            return self.Mul(a, b.changed(1 / b.array.astype(np.float64)))
        return self.Mul(self.node("reciprocal", [b]), a)

    def placed(self, a, b, axis):
        """The second operand of opset 6, whose first axis is this one."""
        if axis is None:
            return b
        shape = [*self.whole(b), *[1] * (len(self.whole(a)) - axis % len(self.whole(a)) -
                                         len(self.whole(b)))]
        if self.is_value(b):
            if self.lead:
                self.refuse(f"axis = {axis} of a value")
            return self.view(b, shape)
        return b.changed(b.array.reshape(shape))

    def shaped_as(self, x, constant):
        """A value that a constant operand of one number has given more axes."""
        more = constant.array.ndim - len(x.shape) - self.lead
        if more > 0 and self.lead:
            self.refuse(f"a constant {list(constant.array.shape)} moves the batch")
        return self.view(x, [1] * max(more, 0) + x.shape)

    def combined(self, op, a, b):
        """Two values, of which an axis of size 1 is repeated."""
        if self.lead and len(a.shape) != len(b.shape):
            self.refuse(f"{self.whole(a)} and {self.whole(b)}: their batches do not meet")
        return self.node(op, [a, b], {}, np.broadcast_shapes(tuple(a.shape), tuple(b.shape)))

    def Neg(self, x):
        return self.node("scale", [x], {"factor": -1})

    def Pow(self, x, y):
        exponent = self.constant(y, "the exponent")
        op = {1: None, 2: "square", 0.5: "sqrt", -1: "reciprocal"}
        if not self.is_value(x) or exponent.array.size != 1 or exponent.number not in op:
            self.refuse("wanted a value to the power of 1, 2, 0.5 or -1")
        word = op[exponent.number]
        return self.shaped_as(self.node(word, [x]) if word else x, exponent)

    def Max(self, *operands):
        return self.extreme("maximum", "low", operands)

    def Min(self, *operands):
        return self.extreme("minimum", "high", operands)

    def extreme(self, op, limit, operands):
        values = [operand for operand in operands if self.is_value(operand)]
        x = values[0]
        for value in values[1:]:
            x = self.combined(op, x, value)
        for constant in operands:
            if not self.is_value(constant):
                if self.wide_axis(x, constant.array) is not None:
                    self.refuse(f"a constant tensor {list(constant.array.shape)}")
                x = self.shaped_as(self.node("clamp", [x], {limit: constant.number}), constant)
        return x

    def Sum(self, *operands):
        x = operands[0]
        for operand in operands[1:]:
            x = self.Add(x, operand)
        return x

    def Mean(self, *operands):
        return self.times(self.Sum(*operands), 1 / len(operands))

    # ---- functions of an element ----------------------------------------------------------------

    def Selu(self, x, *, alpha=SELU[0], gamma=SELU[1], consumed_inputs=None):
        if np.allclose((alpha, gamma), SELU, rtol=1e-7):
            return self.node("selu", [x])
        return self.times(self.node("elu", [x], {"alpha": alpha}), gamma)

    def Celu(self, x, *, alpha=1.0):
        return self.times(self.node("elu", [self.times(x, 1 / alpha)], {"alpha": 1}), alpha)

    def HardSigmoid(self, x, *, alpha=0.2, beta=0.5):
        if (np.float32(alpha), beta) == (np.float32(1 / 6), 0.5):
            return self.node("hard_sigmoid", [x])
        line = self.shifted(self.times(x, alpha), beta)
        return self.node("clamp", [line], {"low": 0, "high": 1})

    def Swish(self, x, *, alpha=1.0):
        if alpha == 1:
            return self.node("swish", [x])
        return self.node("mul", [x, self.node("sigmoid", [self.times(x, alpha)])])

    def Gelu(self, x, *, approximate="none"):
        return self.node("gelu", [x], {"approximate": approximate == "tanh"})

    def Softsign(self, x):
        return self.node("div", [x, self.shifted(self.node("abs", [x]), 1)])

    def Clip(self, x, low=None, high=None, *, min=None, max=None,  # noqa: A002
             consumed_inputs=None):
        low = min if low is None else self.constant(low, "a bound").number
        high = max if high is None else self.constant(high, "a bound").number
        low, high = (None if bound is None or abs(bound) > 1e30 else bound for bound in (low, high))
        if (low, high) in ((0, None), (0, 6)):
            return self.node("relu6" if high else "relu", [x])
        if None not in (low, high) and low > high:
            low = high
        bounds = {name: bound for name, bound in (("low", low), ("high", high))
                  if bound is not None}
        return self.node("clamp", [x], bounds) if bounds else x

    def Dropout(self, x, given=None, mode=None, *, ratio=0.5, seed=0, is_test=1,
                consumed_inputs=None):
        rate = ratio if given is None else self.constant(given, "the ratio").number
        if mode is not None and self.constant(mode, "the mode").array and rate:
            self.refuse("dropout in inference")
        return [self.node("dropout", [x], {"rate": rate}) if rate else x, None]

    def Softmax(self, x, *, axis=None):
        return self.along("softmax", x, axis)

    def LogSoftmax(self, x, *, axis=None):
        return self.along("log_softmax", x, axis)

    def along(self, op, x, axis):
        if self.opset >= 13:
            return self.node(op, [x], {"axis": self.axis_of(x, -1 if axis is None else axis)})
        flat = self.rows_from(x, 1 if axis is None else axis)
        return self.view(self.node(op, [flat], {"axis": len(flat.shape) - 1}), x.shape)

    def SoftmaxCrossEntropyLoss(self, scores, labels, weights=None, **settings):
        flat, loss = self.labelled("softmax_cross_entropy", scores, labels, weights, **settings)
        return [loss, self.view(self.node("log_softmax", [flat], {"axis": 0}), scores.shape)]

    def NegativeLogLikelihoodLoss(self, scores, labels, weights=None, **settings):
        return self.labelled("nll", scores, labels, weights, **settings)[1]

    def labelled(self, op, scores, labels, weights=None, ignore_index=None, reduction="mean"):
        """The net's loss, and its scores. Labels of a row or of more than two dimensions are those
        of a map."""
        if self.is_value(labels) or reduction != "mean":
            self.refuse(f"reduction {reduction}; wanted mean, and labels of integers as an input")
        flat = scores if len(scores.shape) == 1 else self.joined(scores, scores.shape[1:])
        attrs = {} if ignore_index is None else {"ignore": ignore_index}
        if weights is not None:
            attrs["class_weights"] = [decimal(weight) for weight in
                                      self.constant(weights, "the weights").array]
        return flat, self.loss(op, flat, labels, attrs)

    def LRN(self, x, *, size, alpha=1e-4, beta=0.75, bias=1.0):
        if size % 2 == 0:
            self.refuse(f"size {size}; wanted an odd number")
        flat = self.joined(x, x.shape[1:])
        attrs = {"size": size, "alpha": alpha, "beta": beta, "k": bias}
        return self.view(self.node("lrn", [flat], attrs), x.shape)

    # ---- shapes ---------------------------------------------------------------------------------

    def Identity(self, x):
        return x

    def Cast(self, x, *, to, saturate=1, round_mode="up"):
        if to not in (1, 10, 11):
            self.refuse("to a type that is no float")
        return x

    def Flatten(self, x, *, axis=1):
        return self.view(x, self.shape)

    def Reshape(self, x, shape=None, *, allowzero=0, **old):
        return self.view(x, self.shape)

    def Squeeze(self, x, given=None, *, axes=None):
        return self.view(x, self.shape)

    def Unsqueeze(self, x, given=None, *, axes=None):
        return self.view(x, self.shape)

    def Transpose(self, x, *, perm=None):
        axes = list(range(len(self.whole(x))))[::-1] if perm is None else list(perm)
        if self.lead and axes[0] != 0:
            self.refuse(f"perm {axes} moves the batch")
        return self.permuted(x, [axis - self.lead for axis in axes[self.lead:]])

    def Concat(self, *operands, axis=1):
        if len(operands) == 1:
            return operands[0]
        if any(not self.is_value(operand) for operand in operands):
            self.refuse("an operand is a constant tensor, which cnnc has none of")
        along = self.axis_of(operands[0], axis)
        shape = list(operands[0].shape)
        shape[along] = sum(operand.shape[along] for operand in operands)
        return self.node("concat", list(operands), {"axis": along}, shape)

    def Split(self, x, split=None, *, axis=0, num_outputs=None, **old):
        along = self.axis_of(x, axis)
        sizes = [kind[axis] for kind in self.types]
        starts = [sum(sizes[:at]) for at in range(len(sizes))]
        return [self.part(x, along, start, size) for start, size in zip(starts, sizes)]

    def Slice(self, x, *given, starts=None, ends=None, axes=None):
        names = ["starts", "ends", "axes", "steps"]
        lists = {"starts": starts, "ends": ends, "axes": axes}
        lists.update({name: self.constant(part, name).list for name, part in zip(names, given)
                      if part is not None})
        count = len(lists["starts"])
        axes = lists.get("axes") or range(count)
        for at, (axis, step) in enumerate(zip(axes, lists.get("steps") or [1] * count)):
            whole = self.whole(x)[axis]
            found = range(*slice(lists["starts"][at], lists["ends"][at], step).indices(whole))
            if len(found) == whole and step == 1:
                continue
            if step < 0 and len(found) > 1:
                self.refuse(f"steps {lists['steps']}; wanted 1 or more")
            x = self.part(x, self.axis_of(x, axis), found.start, len(found), max(step, 1))
        return x

    def Gather(self, x, indices, *, axis=0):
        """Indices that follow each other are one slice."""
        numbers, runs = self.constant(indices, "an index"), []
        along = self.axis_of(x, axis)
        size = x.shape[along]
        outside = [number for number in numbers.list if not -size <= number < size]
        if outside:
            self.refuse(f"index {outside[0]} of an axis of {size}")
        for index in (number % size for number in numbers.list):
            if runs and index == sum(runs[-1]):
                runs[-1][1] += 1
            else:
                runs.append([index, 1])
        parts = [self.part(x, along, start, count) for start, count in runs]
        return self.view(self.Concat(*parts, axis=along + self.lead), self.shape)

    def Tile(self, x, repeats):
        for axis, times in enumerate(self.constant(repeats, "repeats").list):
            if times > 1:
                x = self.Concat(*[x] * times, axis=axis)
        return x

    def Expand(self, x, shape):
        return self.expanded(x, self.shape)

    def expanded(self, x, wanted):
        """A value of which axes of size 1 are repeated."""
        x = self.view(x, [1] * (len(wanted) - len(x.shape)) + x.shape)
        for axis, size in enumerate(wanted):
            if size != x.shape[axis]:
                flat = self.around(x, axis)
                made = self.node("resize", [flat], {"size": [size, flat.shape[2]]},
                                 [flat.shape[0], size, flat.shape[2]])
                x = self.view(made, [*x.shape[:axis], size, *x.shape[axis + 1:]])
        return x

    def DepthToSpace(self, x, *, blocksize, mode="DCR"):
        op = "depth_to_space" if mode == "DCR" else "pixel_shuffle"
        return self.node(op, [x], {"factor": blocksize}, self.shape)

    def SpaceToDepth(self, x, *, blocksize, mode="DCR"):
        op = "space_to_depth" if mode == "DCR" else "pixel_unshuffle"
        return self.node(op, [x], {"factor": blocksize}, self.shape)

    # ---- pads and sizes -------------------------------------------------------------------------

    def Pad(self, x, given=None, number=None, which=None, *, mode="constant", pads=None, value=0.0,
            paddings=None):
        amounts = self.constant(given, "pads").list if given is not None else pads or paddings
        value = value if number is None else self.constant(number, "the value").number
        rank, half = len(self.whole(x)), len(amounts) // 2
        axes = list(range(rank)) if which is None else self.constant(which, "axes").list
        around = {axis % rank - self.lead: (amounts[at], amounts[half + at])
                  for at, axis in enumerate(axes) if amounts[at] or amounts[half + at]}
        if any(axis < 0 for axis in around):
            self.refuse("along the batch")
        extra = {"value": value} if mode == "constant" else {"mode": mode}
        if len(x.shape) == 3 and set(around) <= {1, 2}:
            return self.padded(x, [*around.get(1, (0, 0)), *around.get(2, (0, 0))], extra)
        return self.edged(x, around, extra)

    def CenterCropPad(self, x, shape, *, axes=None):
        sizes = self.constant(shape, "the shape").list
        for axis, size in zip(range(len(sizes)) if axes is None else axes, sizes):
            whole = self.whole(x)[axis]
            if size < whole:
                x = self.part(x, self.axis_of(x, axis), (whole - size) // 2, size)
            elif size > whole:
                before = (size - whole) // 2
                x = self.edged(x, {self.axis_of(x, axis): (before, size - whole - before)},
                               {"value": 0})
        return x

    def Upsample(self, x, *given, mode="nearest", scales=None):
        return self.Resize(x, *given, mode=mode, scales=scales)

    def Resize(self, x, *given, mode="nearest", coordinate_transformation_mode=None,
               nearest_mode=None, antialias=0, axes=None, cubic_coeff_a=-0.75, exclude_outside=0,
               extrapolation_value=0.0, keep_aspect_ratio_policy="stretch", scales=None):
        sizes = self.shape
        factors = self.factors(x, given, axes, keep_aspect_ratio_policy, scales)
        if sizes == x.shape:
            return x
        if sizes[:1] != x.shape[:1] or len(sizes) not in (2, 3):
            self.refuse(f"from {x.shape} to {sizes}; wanted another height and width")
        new = self.opset >= 11
        words = {"mode": mode, "antialias": antialias, "exclude_outside": exclude_outside,
                 "coordinates": coordinate_transformation_mode or
                 ("half_pixel" if new else "asymmetric"),
                 "nearest": nearest_mode or ("round_prefer_floor" if new else "floor")}
        found = mode_of(x.shape[1:], sizes[1:], factors[1:], words)
        if found is None:
            self.refuse(f"no mode of cnnc is {described(words)} from {x.shape} to {sizes}")
        flat, result = self.as_rows(x, sizes)
        whole = [new // old for new, old in zip(result[1:], flat.shape[1:])]
        is_whole = [new * old for new, old in zip(whole, flat.shape[1:])] == result[1:]
        if is_whole and max(whole) <= 64 and found in ({"mode": "nearest"}, {"mode": "bilinear"}):
            made = self.node("upsample", [flat], {"factor": whole, **found}, result)
        else:
            made = self.node("resize", [flat], {"size": result[1:], **found}, result)
        return self.view(made, sizes)

    def factors(self, x, given, axes, policy, numbers):
        """By axis of a sample, the scale that the coordinates have."""
        whole, result = self.whole(x), self.types[0]
        given = [None, *given] if self.opset == 10 or len(given) == 1 else list(given)
        scales = given[1] if len(given) > 1 else None
        factors = [new / size for new, size in zip(result, whole)]
        axes = range(len(whole)) if axes is None else axes
        if scales is not None and scales.array.size:
            numbers = scales.array.tolist()
        if numbers:
            for axis, factor in zip(axes, numbers):
                factors[axis] = float(factor)
        elif policy != "stretch":
            ratios = [size / whole[axis] for axis, size in
                      zip(axes, self.constant(given[2], "sizes").list)]
            for axis in axes:
                factors[axis] = min(ratios) if policy == "not_larger" else max(ratios)
        return factors[self.lead:]


def pooled_size(size, attrs, at):
    """The results of a pool of cnnc along height or width. With ceil the last window begins in the
    map or in the padding before it."""
    before, after = attrs["padding"][2 * at:2 * at + 2]
    stride = attrs["stride"][at]
    left = size + before + after - (attrs["kernel"][at] - 1) * attrs["dilation"][at] - 1
    results = (-(-left // stride) if attrs["ceil"] else left // stride) + 1
    return results - int(attrs["ceil"] and (results - 1) * stride >= size + before)
