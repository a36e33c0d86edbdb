"""The layers of Keras as those of the neutral graph.

A layer is a method of Layers with its class's name and with the keys of its config; an operation of
keras.ops is a row of OPERATIONS or a method of Operations. Add either to extend the converter. A
value has Keras's shape, [height, width, channels] of a map; `self.map` is the value with the
channels first.
"""
import math

import numpy as np

from .building import Building, resized
from .layouts import OHWI_TO_OIHW, HWIO_TO_OHWI
from .resizing import own_places

HWIO_TO_OIHW = tuple(HWIO_TO_OHWI[axis] for axis in OHWI_TO_OIHW)
SPATIAL = ("channels_last", "channels_first", None)
# By name the operators, each with its arguments. An axis is that of the sample.
ACTIVATIONS = {
    "linear": [], "relu": [("relu", {})], "relu6": [("relu6", {})],
    "leaky_relu": [("leaky_relu", {"slope": 0.2})], "elu": [("elu", {"alpha": 1.0})],
    "celu": [("elu", {"alpha": 1.0})], "selu": [("selu", {})], "softplus": [("softplus", {})],
    "tanh": [("tanh", {})], "sigmoid": [("sigmoid", {})], "silu": [("swish", {})],
    "swish": [("swish", {})], "gelu": [("gelu", {"approximate": False})],
    "exponential": [("exp", {})], "mish": [("mish", {})], "hard_silu": [("hard_swish", {})],
    "hard_swish": [("hard_swish", {})], "hard_tanh": [("clamp", {"low": -1, "high": 1})],
    "log_sigmoid": [("scale", {"factor": -1}), ("softplus", {}), ("scale", {"factor": -1})],
    "softmax": [("softmax", {"axis": -1})], "log_softmax": [("log_softmax", {"axis": -1})],
}
# hard_sigmoid of Keras 3, and of Keras 2.
HARD_SIGMOID = [("hard_sigmoid", {})]
OLD_HARD_SIGMOID = [("scale", {"factor": 0.2}), ("shift", {"value": 0.5}),
                    ("clamp", {"low": 0, "high": 1})]
ACTIVATION_LAYERS = ("Activation", "ReLU", "LeakyReLU", "ELU", "Softmax")


def before_and_after(value, rank):
    """[before, after] of each spatial axis: of a number, one a side or two."""
    if isinstance(value, int):
        value = [value] * rank
    if rank == 1 and len(value) == 2 and not isinstance(value[0], (list, tuple)):
        value = [value]
    return [[part, part] if isinstance(part, int) else list(part) for part in value]


def transposed_sides(size, taps, stride, dilation, padding, more):
    """(pixels taken from the beginning, from the end, pixels of the result) of a transposed
    convolution along an axis. A negative number adds zeros. Source: TensorFlow and Keras, whose
    result begins at the first pixel of the whole one minus half of the surplus."""
    span = (taps - 1) * dilation + 1
    whole = (size - 1) * stride + span
    if padding == "valid":
        beyond = max(span, stride) - span if more is None else more
        return 0, -beyond, whole + beyond
    total = stride + span - 2 if more is None else span + span % 2 - 2 + more
    left = min(total // 2 + total % 2, span - 1)
    before, after = span - 1 - left, span - 1 - (total - left)
    return before, after, whole - before - after


class Layers(Building):
    """A layer as nodes of the neutral graph. `self.refuse` raises Unsupported; `self.weight` takes
    a weight of the layer by its name in Keras, None if there is none."""

    # ---- layouts --------------------------------------------------------------------------------

    def permuted(self, x, axes):
        """A permutation of a permutation is one, or none."""
        axes = list(axes)
        if x.node.op == "permute":
            axes, x = [x.node.attrs["axes"][axis] for axis in axes], x.operands[0]
        return super().permuted(x, axes)

    def map(self, x, data_format):
        """The value as [channels, height, width]; steps are a row of pixels."""
        if len(x.shape) not in (2, 3):
            self.refuse(f"wanted a map, or steps of channels, found {x.shape}")
        if data_format not in SPATIAL:
            self.refuse(f"data_format {data_format}; wanted channels_last or channels_first")
        if data_format != "channels_first":
            last = len(x.shape) - 1
            x = self.permuted(x, [last, *range(last)])
        return x if len(x.shape) == 3 else self.view(x, [x.shape[0], 1, x.shape[1]])

    def unmap(self, made, rank, data_format):
        """A map in Keras's layout, with as many axes as the operand had."""
        if rank == 2:
            made = self.view(made, [made.shape[0], math.prod(made.shape[1:])])
        if data_format != "channels_first":
            made = self.permuted(made, [*range(1, len(made.shape)), 0])
        return made

    def wide(self, sizes, rank):
        """[height, width] of sizes along one axis or two."""
        sizes = [sizes] * (rank - 1) if isinstance(sizes, (int, float)) else list(sizes)
        if len(sizes) != rank - 1:
            self.refuse(f"{sizes} for a value of {rank} axes")
        return [1] * (3 - rank) + [int(size) for size in sizes]

    def axis(self, x, axis):
        """The axis of a sample."""
        whole = axis % (len(x.shape) + 1) - 1
        if whole < 0:
            self.refuse(f"axis {axis}, which is the batch")
        return whole

    def channel_axis(self, x, axis):
        """The axis of a sample that a norm has; Keras 2 has a list of one."""
        if isinstance(axis, (list, tuple)):
            if len(axis) != 1:
                self.refuse(f"axis {list(axis)}; wanted one axis")
            axis = axis[0]
        return self.axis(x, axis)

    def with_channels(self, x, axis, make):
        """The result of make, of a map whose channels are this axis, in the operand's layout. A
        vector stays one."""
        if len(x.shape) == 1:
            return make(x)
        if len(x.shape) > 3:
            self.refuse(f"wanted a map, found {x.shape}")
        order = [axis, *(other for other in range(len(x.shape)) if other != axis)]
        turned = self.permuted(x, order)
        flat = turned if len(x.shape) == 3 else self.view(turned, [turned.shape[0], 1,
                                                                   turned.shape[1]])
        return self.permuted(self.view(make(flat), turned.shape), np.argsort(order).tolist())

    # ---- activations ----------------------------------------------------------------------------

    def activated(self, x, spec):
        """The value after an activation: a name, or the config of a layer."""
        if isinstance(spec, dict):
            if spec.get("class_name") not in ACTIVATION_LAYERS:
                self.refuse(f"activation {spec.get('config')}; wanted one of Keras's own")
            words = {key: value for key, value in spec["config"].items()
                     if key not in ("name", "trainable", "dtype")}
            return getattr(self, spec["class_name"])(x, **words)
        if spec in (None, "linear"):
            return x
        if spec == "softsign":
            return self.node("div", [x, self.shifted(self.node("abs", [x]), 1)])
        if spec == "tanh_shrink":
            return self.node("sub", [x, self.node("tanh", [x])])
        rows = {**ACTIVATIONS, "hard_sigmoid": OLD_HARD_SIGMOID if self.is_old else HARD_SIGMOID}
        if spec not in rows:
            self.refuse(f"activation {spec}: there is no such function in cnnc")
        for op, attrs in rows[spec]:
            if "axis" in attrs:
                attrs = {"axis": self.axis(x, attrs["axis"])}
            x = self.node(op, [x], dict(attrs))
        return x

    def Activation(self, x, *, activation):
        return self.activated(x, activation)

    def ReLU(self, x, *, max_value=None, negative_slope=0.0, threshold=0.0):
        if threshold:
            self.refuse(f"threshold {threshold}; wanted 0")
        if not negative_slope and max_value == 6:
            return self.node("relu6", [x])
        if not negative_slope and max_value is not None:
            return self.node("clamp", [x], {"low": 0, "high": max_value})
        x = self.node("leaky_relu", [x], {"slope": float(negative_slope)}) if negative_slope else \
            self.node("relu", [x])
        return x if max_value is None else self.node("clamp", [x], {"high": max_value})

    def LeakyReLU(self, x, *, negative_slope=None, alpha=0.3):
        """Keras 2 calls the slope alpha."""
        slope = alpha if negative_slope is None else negative_slope
        return self.node("leaky_relu", [x], {"slope": float(slope)})

    def ELU(self, x, *, alpha=1.0):
        return self.node("elu", [x], {"alpha": float(alpha)})

    def Softmax(self, x, *, axis=-1):
        return self.node("softmax", [x], {"axis": self.channel_axis(x, axis)})

    def PReLU(self, x, *, shared_axes=None):
        """One slope, one for each index of an axis, or one for each element of a sample."""
        alpha = self.weight("alpha")
        wide = [axis for axis, size in enumerate(alpha.array.shape) if size > 1]
        slopes = alpha.changed(alpha.array.ravel())
        if not wide:
            return self.node("prelu", [x], {}, weight=slopes)
        if len(wide) == 1:
            order = [wide[0], *(axis for axis in range(len(x.shape)) if axis != wide[0])]
            made = self.node("prelu", [self.permuted(x, order)], {}, weight=slopes)
            return self.permuted(made, np.argsort(order).tolist())
        if list(alpha.array.shape) != x.shape:
            self.refuse(f"shared_axes {shared_axes} of {x.shape}; wanted all, all but one, or none")
        return self.view(self.node("prelu", [self.view(x, [slopes.array.size])], {},
                                   weight=slopes), x.shape)

    # ---- layers with parameters -----------------------------------------------------------------

    def Dense(self, x, *, units, activation=None, use_bias=True, quantization_config=None):
        if quantization_config is not None:
            self.refuse("quantised weights; wanted floats")
        kernel = self.weight("kernel")
        if not x.shape:
            self.refuse("wanted a vector or a map")
        made = self.node("dense", [x], {}, [*x.shape[:-1], units],
                         weight=kernel.changed(kernel.array.T), bias=self.weight("bias"))
        return self.activated(made, activation)

    def convolution(self, x, kernel, bias, strides, padding, dilation, groups, data_format, path):
        """A convolution of a kernel [height, width, in, out], or [steps, in, out]."""
        rank = len(x.shape)
        array = kernel.array
        if array.ndim != rank + 1:
            self.refuse(f"a window {list(array.shape)} over {x.shape}")
        array = array.reshape(*[1] * (4 - array.ndim), *array.shape).transpose(HWIO_TO_OIHW)
        strides, dilation = self.wide(strides, rank), self.wide(dilation, rank)
        taps = list(array.shape[2:])
        flat = self.map(x, data_format)
        spans = [(size - 1) * step + 1 for size, step in zip(taps, dilation)]
        around = "same" if padding == "same" else [0] * 4
        if padding == "causal":
            around = [0, 0, spans[1] - 1, 0]
        elif padding not in ("same", "valid"):
            self.refuse(f"padding {padding}; wanted valid or same")
        if padding == "valid" and flat.node.op == "pad" and flat.node.attrs.get("value") == 0:
            around, flat = flat.node.attrs["padding"], flat.operands[0]
        sizes = self.window_counts(flat.shape[1:], spans, strides, around)
        made = self.node("conv", [flat], {"stride": strides, "padding": around,
                                          "dilation": dilation, "groups": groups},
                         [array.shape[0], *sizes], path, weight=kernel.changed(array), bias=bias)
        return self.unmap(made, rank, data_format)

    def window_counts(self, sizes, spans, strides, around):
        if around == "same":
            return [-(-size // step) for size, step in zip(sizes, strides)]
        counts = [(size + around[2 * at] + around[2 * at + 1] - spans[at]) // strides[at] + 1
                  for at, size in enumerate(sizes)]
        if min(counts) < 1:
            self.refuse(f"a window of {spans} does not fit in {sizes}")
        return counts

    def Conv2D(self, x, *, filters, kernel_size, strides=1, padding="valid", data_format=None,
               dilation_rate=1, groups=1, activation=None, use_bias=True):
        made = self.convolution(x, self.weight("kernel"), self.weight("bias"), strides, padding,
                                dilation_rate, groups, data_format, None)
        return self.activated(made, activation)

    Conv1D = Conv2D

    def DepthwiseConv2D(self, x, *, kernel_size, strides=1, padding="valid", depth_multiplier=1,
                        data_format=None, dilation_rate=1, activation=None, use_bias=True,
                        filters=None, groups=None):
        kernel = self.weight("depthwise_kernel") or self.weight("kernel")
        made = self.depthwise(x, kernel, self.weight("bias"), strides, padding, dilation_rate,
                              data_format, None)
        return self.activated(made, activation)

    DepthwiseConv1D = DepthwiseConv2D

    def depthwise(self, x, kernel, bias, strides, padding, dilation, data_format, path):
        """Channel c with multiplier m is the result's channel c * multipliers + m."""
        *taps, channels, times = kernel.array.shape
        own = kernel.changed(kernel.array.reshape(*taps, 1, channels * times))
        return self.convolution(x, own, bias, strides, padding, dilation, channels, data_format,
                                path)

    def SeparableConv2D(self, x, *, filters, kernel_size, strides=1, padding="valid",
                        data_format=None, dilation_rate=1, depth_multiplier=1, activation=None,
                        use_bias=True, groups=1):
        path = self.path
        x = self.depthwise(x, self.weight("depthwise_kernel"), None, strides, padding,
                           dilation_rate, data_format, f"{path}_depthwise")
        made = self.convolution(x, self.weight("pointwise_kernel"), self.weight("bias"), 1,
                                "valid", 1, 1, data_format, f"{path}_pointwise")
        return self.activated(made, activation)

    SeparableConv1D = SeparableConv2D

    def Conv2DTranspose(self, x, *, filters, kernel_size, strides=1, padding="valid",
                        output_padding=None, data_format=None, dilation_rate=1, activation=None,
                        use_bias=True, groups=1):
        rank, kernel = len(x.shape), self.weight("kernel")
        array = kernel.array.reshape(*[1] * (4 - kernel.array.ndim), *kernel.array.shape)
        if padding not in ("valid", "same") or groups != 1:
            self.refuse(f"padding {padding}, groups {groups}; wanted valid or same, and 1")
        flat, strides = self.map(x, data_format), self.wide(strides, rank)
        dilation = self.wide(dilation_rate, rank)
        beyond = [None] * 2 if output_padding is None else self.wide(output_padding, rank)
        beyond = [0, beyond[1]] if rank == 2 and output_padding is not None else beyond
        sides = [transposed_sides(flat.shape[1 + at], array.shape[at], strides[at], dilation[at],
                                  padding, beyond[at]) for at in (0, 1)]
        taken = [max(amount, 0) for before, after, _ in sides for amount in (before, after)]
        added = [max(-after, 0) for _, after, _ in sides]
        sizes = [size for *_, size in sides]
        if any(more >= step and more for more, step in zip(added, strides)) or \
                min(before for before, *_ in sides) < 0 or min(sizes) < 1:
            self.refuse(f"output_padding {output_padding} with strides {strides}")
        made = self.node("conv_transpose", [flat], {
            "stride": strides, "padding": taken, "dilation": dilation, "output_padding": added,
            "groups": 1}, [array.shape[2], *sizes],
            weight=kernel.changed(array.transpose(3, 2, 0, 1)), bias=self.weight("bias"))
        return self.activated(self.unmap(made, rank, data_format), activation)

    Conv1DTranspose = Conv2DTranspose

    def BatchNormalization(self, x, *, axis=-1, momentum=0.99, epsilon=1e-3, center=True,
                           scale=True, synchronized=False, renorm=False, renorm_clipping=None,
                           renorm_momentum=0.99, fused=None, virtual_batch_size=None,
                           adjustment=None):
        if renorm or virtual_batch_size is not None:
            self.refuse("renorm or virtual_batch_size; wanted the statistics of the batch")
        attrs = {"momentum": round(1 - momentum, 12), "epsilon": epsilon}
        params = {"weight": self.weight("gamma"), "bias": self.weight("beta"),
                  "mean": self.weight("moving_mean"), "variance": self.weight("moving_variance")}
        if not self.is_trained:
            attrs["statistics"] = "running"
        elif not any(part and part.is_trained for part in (params["weight"], params["bias"])):
            attrs["statistics"] = "batch"       # cnnc's default is `running` then
        if self.is_trained:
            self.want_no_mode("its statistics")
        return self.with_channels(x, self.channel_axis(x, axis), lambda flat: self.node(
            "batchnorm", [flat], attrs, **params))

    def LayerNormalization(self, x, *, axis=-1, epsilon=1e-3, center=True, scale=True,
                           rms_scaling=False):
        if rms_scaling:
            self.refuse("rms_scaling")
        axes = sorted(self.axis(x, each) for each in ([axis] if isinstance(axis, int) else axis))
        params = {role: constant and constant.changed(constant.array.ravel()) for role, constant in
                  (("weight", self.weight("gamma")), ("bias", self.weight("beta")))}
        others = [each for each in range(len(x.shape)) if each not in axes]
        turned = self.permuted(x, [*others, *axes])
        outer = [math.prod(x.shape[each] for each in others)] if others else []
        flat = turned if len(axes) == 1 else \
            self.view(turned, [*outer, math.prod(x.shape[each] for each in axes)])
        made = self.node("layernorm", [flat], {"epsilon": epsilon}, **params)
        return self.permuted(self.view(made, turned.shape), np.argsort([*others, *axes]).tolist())

    def GroupNormalization(self, x, *, groups=32, axis=-1, epsilon=1e-3, center=True, scale=True):
        along = self.channel_axis(x, axis)
        attrs = {"groups": x.shape[along] if groups == -1 else groups, "epsilon": epsilon}
        params = {"weight": self.weight("gamma"), "bias": self.weight("beta")}
        if len(x.shape) == 1:
            self.refuse(f"wanted a map, found {x.shape}")
        return self.with_channels(x, along, lambda flat: self.node("groupnorm", [flat], attrs,
                                                                   **params))

    def LayerScale(self, x, *, projection_dim, init_values=None):
        """keras.applications has it in ConvNeXt, where the weight has no name of its own."""
        return self.node("channel_scale", [x], {"axis": len(x.shape) - 1},
                         weight=self.weight(next(iter(self.weights), "gamma")))

    # ---- numbers of the data --------------------------------------------------------------------

    def Rescaling(self, x, *, scale, offset=0.0):
        if np.ndim(scale) == 0 and np.ndim(offset) == 0:
            return self.shifted(self.times(x, float(scale)), float(offset))
        scale, offset = np.broadcast_arrays(np.ravel(scale).astype(float), np.ravel(offset))
        return self.normalized(x, -offset / scale, 1 / scale)

    def Normalization(self, x, *, axis=-1, mean=None, variance=None, invert=False):
        weights = [self.weight(name) for name in ("mean", "variance", "count")]
        if mean is None and weights[0] is None:
            self.refuse("it has no mean yet; adapt it")
        mean, variance = (np.ravel(given if given is not None else weight.array).astype(float)
                          for given, weight in zip((mean, variance), weights))
        axes = [] if axis is None else [self.axis(x, each) for each in np.ravel(axis).tolist()]
        if invert or axes not in ([], [len(x.shape) - 1]):
            self.refuse(f"axis {axis}, invert {invert}; wanted the channels, and False")
        return self.normalized(x, mean, np.maximum(np.sqrt(variance), 1e-7))

    def normalized(self, x, mean, std):
        """(x - mean) / std along the last axis."""
        if min(std) <= 0 or len(x.shape) > 3:
            self.refuse(f"factors {(1 / std).tolist()} of {x.shape}")
        attrs = {"mean": mean.tolist(), "std": std.tolist()}
        if len(x.shape) == 1:
            flat = self.view(x, [*x.shape, 1, 1])
            return self.view(self.node("normalize", [flat], attrs), x.shape)
        return self.with_channels(x, len(x.shape) - 1, lambda flat: self.node("normalize", [flat],
                                                                              attrs))

    # ---- pools and sizes ------------------------------------------------------------------------

    def pooled(self, op, x, pool_size, strides, padding, data_format):
        rank = len(x.shape)
        flat, kernel = self.map(x, data_format), self.wide(pool_size, rank)
        strides = kernel if strides is None else self.wide(strides, rank)
        if padding not in ("valid", "same"):
            self.refuse(f"padding {padding}; wanted valid or same")
        around = "same" if padding == "same" else [0] * 4
        sizes = self.window_counts(flat.shape[1:], kernel, strides, around)
        attrs = {"kernel": kernel, "stride": strides}
        made = self.node(op, [flat], {**attrs, "padding": "same"} if padding == "same" else attrs,
                         [flat.shape[0], *sizes])
        return self.unmap(made, rank, data_format)

    def MaxPooling2D(self, x, *, pool_size=2, strides=None, padding="valid", data_format=None):
        return self.pooled("maxpool", x, pool_size, strides, padding, data_format)

    def AveragePooling2D(self, x, *, pool_size=2, strides=None, padding="valid", data_format=None):
        return self.pooled("avgpool", x, pool_size, strides, padding, data_format)

    MaxPooling1D, AveragePooling1D = MaxPooling2D, AveragePooling2D

    def whole_map(self, op, x, data_format, keepdims):
        made = self.node(op, [self.map(x, data_format)], {}, [self.map(x, data_format).shape[0],
                                                              1, 1])
        if not keepdims:
            return self.view(made, made.shape[:1])
        return self.unmap(made, len(x.shape), data_format)

    def GlobalAveragePooling2D(self, x, *, data_format=None, keepdims=False):
        return self.whole_map("global_avgpool", x, data_format, keepdims)

    def GlobalMaxPooling2D(self, x, *, data_format=None, keepdims=False):
        return self.whole_map("global_maxpool", x, data_format, keepdims)

    GlobalAveragePooling1D, GlobalMaxPooling1D = GlobalAveragePooling2D, GlobalMaxPooling2D

    def AdaptiveAveragePooling2D(self, x, *, output_size, data_format=None):
        flat, sizes = self.map(x, data_format), self.wide(output_size, len(x.shape))
        made = self.node("adaptive_avgpool", [flat], {"size": sizes}, [flat.shape[0], *sizes])
        return self.unmap(made, len(x.shape), data_format)

    AdaptiveAveragePooling1D = AdaptiveAveragePooling2D

    def amounts(self, x, value):
        """[top, bottom, left, right] of a padding or a cropping."""
        sides = before_and_after(value, len(x.shape) - 1)
        return [0] * (4 - 2 * len(sides)) + [amount for side in sides for amount in side]

    def ZeroPadding2D(self, x, *, padding=1, data_format=None):
        made = self.grown(self.map(x, data_format), self.amounts(x, padding), {"value": 0})
        return self.unmap(made, len(x.shape), data_format)

    def Cropping2D(self, x, *, cropping=0, data_format=None):
        amounts, flat = self.amounts(x, cropping), self.map(x, data_format)
        if min(resized(flat.shape, amounts, -1)) < 1:
            self.refuse(f"cropping {amounts} of {x.shape}")
        made = self.cropped(flat, amounts) if any(amounts) else flat
        return self.unmap(made, len(x.shape), data_format)

    ZeroPadding1D, Cropping1D = ZeroPadding2D, Cropping2D

    def UpSampling2D(self, x, *, size=2, data_format=None, interpolation="nearest"):
        if interpolation not in ("nearest", "bilinear"):
            self.refuse(f"interpolation {interpolation}; wanted nearest or bilinear")
        flat, factors = self.map(x, data_format), self.wide(size, len(x.shape))
        made = self.node("upsample", [flat], {"factor": factors, "mode": interpolation}, [
            flat.shape[0], *(old * factor for old, factor in zip(flat.shape[1:], factors))])
        return self.unmap(made, len(x.shape), data_format)

    UpSampling1D = UpSampling2D

    def Resizing(self, x, *, height, width, interpolation="bilinear", crop_to_aspect_ratio=False,
                 pad_to_aspect_ratio=False, fill_mode="constant", fill_value=0.0, antialias=False,
                 data_format=None):
        flat, sizes = self.map(x, data_format), [height, width]
        if crop_to_aspect_ratio or pad_to_aspect_ratio:
            self.refuse("crop_to_aspect_ratio or pad_to_aspect_ratio")
        if antialias and any(new < old for new, old in zip(sizes, flat.shape[1:])):
            self.refuse("antialias")
        alike = all(np.array_equal(own_places(old, new, "nearest", False),
                                   own_places(old, new, "nearest_exact", False))
                    for old, new in zip(flat.shape[1:], sizes))
        if interpolation != "bilinear" and not (interpolation == "nearest" and alike):
            self.refuse(f"interpolation {interpolation} from {x.shape}; wanted bilinear, or nearest"
                        " where all backends of Keras read the same pixels")
        made = self.node("resize", [flat], {"size": sizes, "mode": interpolation},
                         [flat.shape[0], *sizes])
        return self.unmap(made, len(x.shape), data_format)

    # ---- views ----------------------------------------------------------------------------------

    def Flatten(self, x, *, data_format=None):
        if data_format == "channels_first" and len(x.shape) > 1:
            x = self.permuted(x, [*range(1, len(x.shape)), 0])
        return self.view(x, [math.prod(x.shape)])

    def Reshape(self, x, *, target_shape):
        shape, known = list(target_shape), -math.prod(target_shape)
        if shape.count(-1) == 1 and known and math.prod(x.shape) % known == 0:
            shape[shape.index(-1)] = math.prod(x.shape) // known
        return self.view(x, shape)

    def Permute(self, x, *, dims):
        return self.permuted(x, [axis - 1 for axis in dims])

    def Identity(self, x):
        return x

    # ---- sums and joins -------------------------------------------------------------------------

    def combined(self, op, operands):
        made = operands[0]
        for other in operands[1:]:
            try:
                shape = list(np.broadcast_shapes(tuple(made.shape), tuple(other.shape)))
            except ValueError:
                self.refuse(f"{made.shape} and {other.shape} have no common shape")
            made = self.node(op, [made, other], {}, shape)
        return made

    def Add(self, *operands):
        return self.combined("add", operands)

    def Multiply(self, *operands):
        return self.combined("mul", operands)

    def Maximum(self, *operands):
        return self.combined("maximum", operands)

    def Minimum(self, *operands):
        return self.combined("minimum", operands)

    def Subtract(self, one, other):
        return self.combined("sub", [one, other])

    def Average(self, *operands):
        return self.times(self.combined("add", operands), 1 / len(operands))

    def Concatenate(self, *operands, axis=-1):
        along = self.axis(operands[0], axis)
        rest = {(*x.shape[:along], *x.shape[along + 1:]) for x in operands}
        if len(rest) > 1:
            self.refuse(f"joins {', '.join(str(x.shape) for x in operands)} along axis {axis}")
        if len(operands) == 1:
            return operands[0]
        shape = list(operands[0].shape)
        shape[along] = sum(x.shape[along] for x in operands)
        return self.node("concat", list(operands), {"axis": along}, shape)

    def CustomScaleLayer(self, one, other, *, scale):
        """keras.applications has it in InceptionResNetV2."""
        return self.combined("add", [one, self.times(other, scale)])

    # ---- training -------------------------------------------------------------------------------

    def Dropout(self, x, *, rate, noise_shape=None, seed=None):
        """A mask of the samples is a stochastic depth."""
        ones = [1] * len(x.shape)
        if noise_shape is not None and list(noise_shape)[1:] not in (x.shape, ones):
            self.refuse(f"noise_shape {list(noise_shape)}; wanted one draw an element or a sample")
        if not rate:
            return x
        self.want_no_mode("its draws")
        is_whole = noise_shape is not None and list(noise_shape)[1:] == ones != x.shape
        return self.node("stochastic_depth" if is_whole else "dropout", [x], {"rate": rate})

    def StochasticDepth(self, x, *, drop_path_rate):
        """keras.applications has it in ConvNeXt."""
        return self.Dropout(x, rate=drop_path_rate, noise_shape=[None] + [1] * len(x.shape))


class Operations(Layers):
    """The operations of keras.ops in a functional model, with their operands and config: op_ and
    the class's name."""

    def op_Add(self, x, y):
        return self.with_number("add", x, y, lambda value, number: self.shifted(value, number))

    def op_Subtract(self, x, y):
        if not self.is_value(x):
            return self.shifted(self.times(y, -1), self.real(x))
        return self.with_number("sub", x, y, lambda value, number: self.shifted(value, -number))

    def op_Multiply(self, x, y):
        return self.with_number("mul", x, y, self.times)

    def op_Divide(self, x, y):
        if not self.is_value(x):
            return self.times(self.node("reciprocal", [y]), self.real(x))
        if self.is_value(y):
            return self.combined("div", [x, y])
        return self.times(x, 1 / self.real(y))

    op_TrueDivide = op_Divide

    def op_Maximum(self, x, y):
        return self.with_number("maximum", x, y, lambda value, number: self.node(
            "clamp", [value], {"low": number}))

    def op_Minimum(self, x, y):
        return self.with_number("minimum", x, y, lambda value, number: self.node(
            "clamp", [value], {"high": number}))

    def real(self, number):
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            self.refuse("an operand is a constant tensor; wanted a number")
        return number

    def with_number(self, op, x, y, make):
        """An operator of two values, or of a value and a number in any order."""
        if self.is_value(x) and self.is_value(y):
            return self.combined(op, [x, y])
        value, number = (x, y) if self.is_value(x) else (y, x)
        return make(value, self.real(number))

    def op_Negative(self, x):
        return self.times(x, -1)

    def op_Mean(self, x, *, axis=None, keepdims=False):
        return self.along("avgpool", x, axis, keepdims)

    def op_Max(self, x, *, axis=None, keepdims=False, initial=None):
        if initial is not None:
            self.refuse(f"initial {initial}")
        return self.along("maxpool", x, axis, keepdims)

    def along(self, op, x, axis, keepdims):
        if axis is None:
            self.refuse("along the batch")
        axes = sorted(self.axis(x, each) for each in np.ravel(axis).tolist())
        return self.reduced(op, x, axes, keepdims)

    def op_Softmax(self, x, *, axis=-1):
        return self.node("softmax", [x], {"axis": self.axis(x, axis)})

    def op_LogSoftmax(self, x, *, axis=-1):
        return self.node("log_softmax", [x], {"axis": self.axis(x, axis)})

    def op_LeakyRelu(self, x, *, negative_slope=0.2):
        return self.node("leaky_relu", [x], {"slope": float(negative_slope)})

    def op_Elu(self, x, *, alpha=1.0):
        return self.node("elu", [x], {"alpha": float(alpha)})

    def op_Gelu(self, x, *, approximate=True):
        return self.node("gelu", [x], {"approximate": approximate})

    def op_Clip(self, x, *, x_min, x_max):
        return self.node("clamp", [x], {"low": self.real(x_min), "high": self.real(x_max)})

    def op_Reshape(self, x, *, newshape):
        return self.Reshape(x, target_shape=list(newshape)[1:])

    def op_Transpose(self, x, *, axes=None):
        axes = list(range(len(x.shape) + 1))[::-1] if axes is None else list(axes)
        if axes[0] != 0:
            self.refuse(f"axes {axes} move the batch")
        return self.permuted(x, [axis - 1 for axis in axes[1:]])

    def op_Concatenate(self, x, *, axis=0):
        return self.Concatenate(*x, axis=axis)

    def op_GetItem(self, x, key):
        """Ranges of axes."""
        key = key if isinstance(key, (list, tuple)) else [key]
        for axis, part in enumerate(key):
            if part == slice(None):
                continue
            if not isinstance(part, slice) or axis == 0 or part.step not in (None, 1):
                self.refuse(f"index {part} of axis {axis}; wanted a range of a sample")
            start, end, _ = part.indices(x.shape[axis - 1])
            if end <= start:
                self.refuse(f"an empty range of axis {axis}")
            x = self.part(x, axis - 1, start, end - start)
        return x


# Operations of one value by class: cnnc's operator, or the name of an activation.
OPERATIONS = {
    **{name: name.lower() for name in ("Abs", "Exp", "Log", "Sqrt", "Square", "Reciprocal")},
    "Absolute": "abs", "Relu": "relu", "Relu6": "relu6", "Sigmoid": "sigmoid", "Tanh": "tanh",
    "Silu": "swish", "Softplus": "softplus", "Selu": "selu", "HardSilu": "hard_swish",
    "HardSigmoid": "hard_sigmoid", "Mish": "mish",
}
