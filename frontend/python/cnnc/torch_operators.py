"""The operators of PyTorch as those of the neutral graph.

MODULES and SIMPLE are the tables to extend. A module is the function of a name with arguments that
are its attributes. A function is a row of SIMPLE, or a method of Functions with PyTorch's
arguments. Both torch.nn.functional and the operators of torch.export (aten) have these names.
"""
import operator

from .shuffles import shuffle_of

# By class, the function and the attributes that are its arguments: "name" or "argument=name".
CONV = "weight bias stride padding dilation groups"
POOL = "kernel_size stride padding ceil_mode"
MODULES = {
    "torch.nn.Conv2d": ("conv2d", CONV + " padding_mode"),
    "torch.nn.ConvTranspose2d": ("conv_transpose2d", "weight bias stride padding output_padding "
                                 "groups dilation padding_mode"),
    "torch.nn.Linear": ("linear", "weight bias"),
    "torch.nn.BatchNorm1d": ("batch_norm", "running_mean running_var weight bias momentum eps"),
    "torch.nn.BatchNorm2d": ("batch_norm", "running_mean running_var weight bias momentum eps"),
    "torchvision.ops.misc.FrozenBatchNorm2d": ("frozen_batch_norm",
                                               "running_mean running_var weight bias eps"),
    "torch.nn.LayerNorm": ("layer_norm", "normalized_shape weight bias eps"),
    "torch.nn.GroupNorm": ("group_norm", "num_groups weight bias eps"),
    "torch.nn.MaxPool2d": ("max_pool2d", "kernel_size stride padding dilation ceil_mode "
                           "return_indices"),
    "torch.nn.AvgPool2d": ("avg_pool2d", POOL + " count_include_pad divisor_override"),
    "torch.nn.AdaptiveAvgPool2d": ("adaptive_avg_pool2d", "output_size"),
    "torch.nn.AdaptiveMaxPool2d": ("adaptive_max_pool2d", "output_size return_indices"),
    "torch.nn.Upsample": ("interpolate", "size scale_factor mode align_corners"),
    "torch.nn.UpsamplingNearest2d": ("interpolate", "size scale_factor mode align_corners"),
    "torch.nn.UpsamplingBilinear2d": ("interpolate", "size scale_factor mode align_corners"),
    "torch.nn.Flatten": ("flatten", "start_dim end_dim"),
    "torch.nn.Unflatten": ("unflatten", "dim sizes=unflattened_size"),
    "torch.nn.Identity": ("identity", ""),
    "torch.nn.Dropout": ("dropout", "p inplace"),
    "torchvision.ops.stochastic_depth.StochasticDepth": ("stochastic_depth", "p mode"),
    "torch.nn.Softmax": ("softmax", "dim"),
    "torch.nn.LogSoftmax": ("log_softmax", "dim"),
    "torch.nn.ReLU": ("relu", "inplace"),
    "torch.nn.ReLU6": ("relu6", "inplace"),
    "torch.nn.Hardtanh": ("hardtanh", "min_val max_val inplace"),
    "torch.nn.LeakyReLU": ("leaky_relu", "negative_slope inplace"),
    "torch.nn.PReLU": ("prelu", "weight"),
    "torch.nn.ELU": ("elu", "alpha inplace"),
    "torch.nn.SELU": ("selu", "inplace"),
    "torch.nn.GELU": ("gelu", "approximate"),
    "torch.nn.SiLU": ("silu", "inplace"),
    "torch.nn.Mish": ("mish", "inplace"),
    "torch.nn.Softplus": ("softplus", "beta threshold"),
    "torch.nn.Sigmoid": ("sigmoid", ""),
    "torch.nn.Tanh": ("tanh", ""),
    "torch.nn.Hardsigmoid": ("hardsigmoid", "inplace"),
    "torch.nn.Hardswish": ("hardswish", "inplace"),
    "torch.nn.ZeroPad2d": ("pad", "pad=padding"),
    "torch.nn.ConstantPad2d": ("pad", "pad=padding value"),
    "torch.nn.ReflectionPad2d": ("reflection_pad2d", "padding"),
    "torch.nn.ReplicationPad2d": ("replication_pad2d", "padding"),
    "torch.nn.CircularPad2d": ("circular_pad2d", "padding"),
    "torch.nn.PixelShuffle": ("pixel_shuffle", "upscale_factor"),
    "torch.nn.PixelUnshuffle": ("pixel_unshuffle", "downscale_factor"),
    "torch.nn.ChannelShuffle": ("channel_shuffle", "groups"),
    "torch.nn.LocalResponseNorm": ("local_response_norm", "size alpha beta k"),
}

# Functions of one value: the operator, and by cnnc's name each argument with its default.
SIMPLE = {
    "relu": ("relu", {}), "relu6": ("relu6", {}), "selu": ("selu", {}),
    "leaky_relu": ("leaky_relu", {"slope": ("negative_slope", 0.01)}),
    "elu": ("elu", {"alpha": ("alpha", 1.0)}),
    "silu": ("swish", {}), "sigmoid": ("sigmoid", {}), "tanh": ("tanh", {}),
    "hardsigmoid": ("hard_sigmoid", {}), "hardswish": ("hard_swish", {}),
    "detach": ("detach", {}), "mish": ("mish", {}),
    "exp": ("exp", {}), "log": ("log", {}), "sqrt": ("sqrt", {}),
    "abs": ("abs", {}), "square": ("square", {}), "reciprocal": ("reciprocal", {}),
    "pixel_shuffle": ("pixel_shuffle", {"factor": ("upscale_factor", None)}),
    "pixel_unshuffle": ("pixel_unshuffle", {"factor": ("downscale_factor", None)}),
    "channel_shuffle": ("channel_shuffle", {"groups": ("groups", None)}),
}

# Other names of functions and methods.
SAME = {"iadd": "add", "isub": "sub", "imul": "mul", "itruediv": "div", "truediv": "div",
        "true_divide": "div", "concat": "cat", "concatenate": "cat", "clip": "clamp",
        "native_dropout": "dropout", "feature_dropout": "dropout2d", "contiguous": "identity",
        "clone": "identity", "alias": "identity", "reshape": "view", "_unsafe_view": "view",
        "upsample_nearest2d": "upsample_nearest", "upsample_bilinear2d": "upsample_bilinear",
        "swapaxes": "transpose", "absolute": "abs", "unsafe_chunk": "chunk",
        "split_with_sizes": "split", "unsafe_split": "split", "negative": "neg",
        "max_pool2d_with_indices": "max_pool2d"}


def pair(value):
    """[height, width] of a number or two."""
    if isinstance(value, (list, tuple)):
        return [int(size) for size in (value if len(value) == 2 else list(value) * 2)]
    return [int(value)] * 2


def sides(value):
    """[top, bottom, left, right] of a symmetric padding."""
    rows, columns = pair(value)
    return [rows, rows, columns, columns]


class Functions:
    """A call of the module as nodes of the neutral graph. `self.node` adds a node, `self.refuse`
    raises Unsupported, `self.shape` is the shape of the result, without the batch."""

    # ---- layers with parameters -----------------------------------------------------------------

    def conv2d(self, x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1,
               padding_mode="zeros"):
        if padding_mode != "zeros":
            self.refuse(f"padding_mode {padding_mode}; wanted zeros")
        if padding == "valid":
            padding = 0
        dilation = pair(dilation)
        around = self.same_sides(weight, dilation) if padding == "same" else sides(padding)
        return self.node("conv", [x], {"stride": pair(stride), "padding": around,
                                       "dilation": dilation, "groups": groups},
                         weight=weight, bias=bias)

    @staticmethod
    def same_sides(weight, dilation):
        """PyTorch's same: the surplus is after the map."""
        around = []
        for size, step in zip(weight.shape[2:], dilation):
            total = (size - 1) * step
            around += [total // 2, total - total // 2]
        return around

    def conv_transpose2d(self, x, weight, bias=None, stride=1, padding=0, output_padding=0,
                         groups=1, dilation=1, padding_mode="zeros"):
        if padding_mode != "zeros":
            self.refuse(f"padding_mode {padding_mode}; wanted zeros")
        return self.node("conv_transpose", [x], {
            "stride": pair(stride), "padding": sides(padding), "dilation": pair(dilation),
            "output_padding": pair(output_padding), "groups": groups}, weight=weight, bias=bias)

    def linear(self, x, weight, bias=None):
        return self.node("dense", [x], {}, weight=weight, bias=bias)

    def batch_norm(self, x, running_mean=None, running_var=None, weight=None, bias=None,
                   training=False, momentum=0.1, eps=1e-5):
        if running_mean is None or running_var is None or training:
            self.refuse("no running statistics: inference would depend on the batch")
        if momentum is None:
            self.refuse("momentum None, the mean of all batches; wanted a number")
        attrs = {"momentum": momentum, "epsilon": eps}
        if not self.is_trained(weight) and not self.is_trained(bias):
            attrs["statistics"] = "batch"       # cnnc's default is `running` then
        return self.node("batchnorm", [x], attrs, weight=weight, bias=bias, mean=running_mean,
                         variance=running_var)

    def aten_batch_norm(self, x, weight, bias, running_mean, running_var, training, momentum, eps,
                        cudnn_enabled):
        return self.batch_norm(x, running_mean, running_var, weight, bias, training, momentum, eps)

    def frozen_batch_norm(self, x, running_mean, running_var, weight, bias, eps=1e-5):
        return self.node("batchnorm", [x], {"epsilon": eps, "statistics": "running"},
                         weight=weight, bias=bias, mean=running_mean, variance=running_var)

    def layer_norm(self, x, normalized_shape, weight=None, bias=None, eps=1e-5,
                   cudnn_enable=True):
        if len(list(normalized_shape)) != 1:
            self.refuse(f"normalized_shape {list(normalized_shape)}; wanted the last axis alone")
        return self.node("layernorm", [x], {"epsilon": eps}, weight=weight, bias=bias)

    def group_norm(self, x, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True):
        return self.node("groupnorm", [x], {"groups": num_groups, "epsilon": eps}, weight=weight,
                         bias=bias)

    def prelu(self, x, weight):
        return self.node("prelu", [x], {}, weight=weight)

    # ---- pools and sizes ------------------------------------------------------------------------

    def max_pool2d(self, x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
                   return_indices=False):
        if return_indices:
            self.refuse("return_indices")
        attrs = self.pool(kernel_size, stride, padding, ceil_mode)
        if pair(dilation) != [1, 1]:
            attrs["dilation"] = pair(dilation)
        return self.node("maxpool", [x], attrs)

    def avg_pool2d(self, x, kernel_size, stride=None, padding=0, ceil_mode=False,
                   count_include_pad=True, divisor_override=None):
        if divisor_override is not None:
            self.refuse("divisor_override")
        attrs = self.pool(kernel_size, stride, padding, ceil_mode)
        if "padding" in attrs:
            attrs["count_padding"] = count_include_pad
        return self.node("avgpool", [x], attrs)

    @staticmethod
    def pool(kernel_size, stride, padding, ceil_mode):
        kernel = pair(kernel_size)
        attrs = {"kernel": kernel, "stride": pair(stride) if stride else kernel, "ceil": ceil_mode}
        return {**attrs, "padding": sides(padding)} if any(pair(padding)) else attrs

    def adaptive_avg_pool2d(self, x, output_size):
        return self.adaptive(x, "avgpool")

    def adaptive_max_pool2d(self, x, output_size, return_indices=False):
        if return_indices:
            self.refuse("return_indices")
        return self.adaptive(x, "maxpool")

    def adaptive(self, x, op):
        sizes, results = x.shape[1:], self.shape[1:]
        if results == [1, 1]:
            return self.node("global_" + op, [x], {})
        if results == sizes:
            return self.same(x)
        if any(size % result for size, result in zip(sizes, results)):
            return self.node("adaptive_" + op, [x], {"size": results})
        kernel = [size // result for size, result in zip(sizes, results)]
        return self.node(op, [x], {"kernel": kernel})

    def mean(self, x, dim=None, keepdim=False):
        if self.axes_of(x, dim) != [0, 1, 2][1:] or len(x.shape) != 3:
            self.refuse(f"the mean along {dim} of {x.shape}; wanted height and width of a map")
        pooled = self.node("global_avgpool", [x], {}, shape=[x.shape[0], 1, 1])
        return pooled if keepdim else self.node("flatten", [pooled], {})

    def amax(self, x, dim=None, keepdim=False):
        if self.axes_of(x, dim) != [1, 2] or len(x.shape) != 3:
            self.refuse(f"the maximum along {dim} of {x.shape}; wanted height and width of a map")
        pooled = self.node("global_maxpool", [x], {}, shape=[x.shape[0], 1, 1])
        return pooled if keepdim else self.node("flatten", [pooled], {})

    def interpolate(self, x, size=None, scale_factor=None, mode="nearest", align_corners=None,
                    recompute_scale_factor=None, antialias=False):
        if antialias:
            self.refuse("antialias")
        return self.resized(x, mode, align_corners, scale_factor)

    def upsample_nearest(self, x, output_size=None, scale_factors=None, *scales):
        return self.resized(x, "nearest", None, scale_factors)

    def upsample_bilinear(self, x, output_size=None, align_corners=False, scale_factors=None,
                          *scales):
        return self.resized(x, "bilinear", align_corners, scale_factors)

    def resized(self, x, mode, align_corners, scale_factor):
        sizes, results = x.shape[1:], self.shape[1:]
        if sizes == results:
            return self.same(x)
        factors = [result / size for result, size in zip(results, sizes)]
        given = factors if scale_factor is None else scale_factor
        given = list(given) if isinstance(given, (list, tuple)) else [given] * 2
        mode = mode.replace("-", "_")
        if mode not in ("nearest", "nearest_exact", "bilinear"):
            self.refuse(f"mode {mode}; wanted nearest, nearest-exact or bilinear")
        if align_corners:
            return self.node("resize", [x], {"size": results, "mode": mode, "align_corners": True})
        if [float(factor) for factor in given] != factors:
            self.refuse(f"scale_factor {scale_factor} of {sizes}, which is not the ratio of sizes")
        if mode != "nearest_exact" and all(f.is_integer() and f <= 64 for f in factors):
            return self.node("upsample", [x], {"factor": [int(f) for f in factors], "mode": mode})
        return self.node("resize", [x], {"size": results, "mode": mode})

    def pad(self, x, pad, mode="constant", value=None):
        amounts = self.pad_amounts(pad)
        words = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
        if mode in words and min(amounts) >= 0:
            return self.node("pad", [x], {"padding": amounts, "mode": words[mode]})
        if mode != "constant":
            self.refuse(f"mode {mode} with padding {list(pad)}")
        if min(amounts) < 0 < max(amounts):
            self.refuse(f"padding {list(pad)} of both signs")
        if min(amounts) < 0:
            return self.node("crop", [x], {"padding": [-amount for amount in amounts]})
        return self.node("pad", [x], {"padding": amounts, "value": value or 0})

    def constant_pad_nd(self, x, pad, value=0):
        return self.pad(x, pad, "constant", value)

    def reflection_pad2d(self, x, padding):
        return self.pad(x, padding, "reflect")

    def replication_pad2d(self, x, padding):
        return self.pad(x, padding, "replicate")

    def circular_pad2d(self, x, padding):
        return self.pad(x, padding, "circular")

    def pad_amounts(self, pad):
        """PyTorch's left, right, top, bottom as top, bottom, left, right."""
        amounts = list(pad) if isinstance(pad, (list, tuple)) else [pad] * 4
        if len(amounts) == 2:
            amounts += [0, 0]
        if len(amounts) > 4 and any(amounts[4:]):
            self.refuse(f"padding {amounts} of other axes than height and width")
        return amounts[2:4] + amounts[:2]

    def local_response_norm(self, x, size, alpha=1e-4, beta=0.75, k=1.0):
        return self.node("lrn", [x], {"size": size, "alpha": alpha, "beta": beta, "k": k})

    # ---- views ----------------------------------------------------------------------------------

    def identity(self, x, *args, **kwargs):
        return x

    def flatten(self, x, start_dim=0, end_dim=-1):
        return self.view(x)

    def view(self, x, *sizes):
        if self.shape == x.shape:
            return x
        if len(self.shape) == 1:
            return self.node("flatten", [x], {})
        shuffle = shuffle_of(x, self.shape)
        if shuffle:
            op, attrs, source = shuffle
            return self.node(op, [source], attrs)
        return self.node("reshape", [x], {"shape": self.shape})

    def unflatten(self, x, dim, sizes):
        return self.view(x)

    def squeeze(self, x, *dims):
        return self.view(x)

    def unsqueeze(self, x, dim):
        return self.view(x)

    def permute(self, x, *dims):
        dims = list(dims[0]) if isinstance(dims[0], (list, tuple)) else list(dims)
        axes = [dim % (len(x.shape) + 1) for dim in dims]
        if axes[0] != 0:
            self.refuse(f"axes {dims} move the batch")
        return self.node("permute", [x], {"axes": [axis - 1 for axis in axes[1:]]})

    def transpose(self, x, dim0, dim1):
        axes = list(range(len(x.shape) + 1))
        axes[dim0], axes[dim1] = axes[dim1], axes[dim0]
        return self.permute(x, axes)

    def cat(self, tensors, dim=0):
        axis = self.axis_of(tensors[0], dim)
        return tensors[0] if len(tensors) == 1 else self.node("concat", tensors, {"axis": axis})

    def chunk(self, x, chunks, dim=0):
        axis = self.axis_of(x, dim)
        return self.pieces(x, -(-x.shape[axis] // chunks), axis)

    def split(self, x, split_size, dim=0):
        return self.pieces(x, split_size, self.axis_of(x, dim))

    def pieces(self, x, sizes, axis):
        if not isinstance(sizes, (list, tuple)):
            count, rest = divmod(x.shape[axis], sizes)
            sizes = [sizes] * count + [rest] * (rest > 0)
        starts = [sum(sizes[:i]) for i in range(len(sizes))]
        return [self.piece(x, start, size, axis) for start, size in zip(starts, sizes)]

    def piece(self, x, start, size, axis):
        if size == x.shape[axis]:
            return x
        shape = [*x.shape[:axis], size, *x.shape[axis + 1:]]
        return self.node("slice", [x], {"start": start, "size": size, "axis": axis}, shape=shape)

    def narrow(self, x, dim, start, length):
        return self.piece(x, start, length, self.axis_of(x, dim))

    def slice(self, x, dim=0, start=None, end=None, step=1):
        return self.ranges(x, [slice(None)] * dim + [slice(start, end, step)])

    def getitem(self, x, index):
        if isinstance(x, (list, tuple, dict)):
            return x[index]
        return self.ranges(x, list(index) if isinstance(index, tuple) else [index])

    def ranges(self, x, index):
        """Ranges of axes. None adds an axis of size 1, and an index of such an axis removes it."""
        whole = [None, *x.shape]        # the batch's size is unknown
        index = [part for part in index if part is not None]
        if Ellipsis in index:
            at = index.index(Ellipsis)
            index[at:at + 1] = [slice(None)] * (len(whole) - len(index) + 1)
        for axis, part in enumerate(index):
            if part == slice(None) or part in (0, -1) and whole[axis] == 1:
                continue
            if not isinstance(part, slice) or axis == 0 or part.step not in (None, 1):
                self.refuse(f"index {part} of axis {axis}; wanted a range")
            start, end, _ = part.indices(whole[axis])
            x = self.piece(x, start, end - start, axis - 1)
        return self.view(x)

    # ---- arithmetic -----------------------------------------------------------------------------

    def add(self, a, b, alpha=1):
        if alpha != 1:
            b = self.mul(b, alpha)
        a, b = (b, a) if self.is_number(a) else (a, b)
        return self.shifted(a, b) if self.is_number(b) else self.binary("add", a, b)

    def sub(self, a, b, alpha=1):
        if alpha != 1:
            b = self.mul(b, alpha)
        if self.is_number(b):
            return self.shifted(a, -b)
        return self.shifted(self.neg(b), a) if self.is_number(a) else self.binary("sub", a, b)

    def rsub(self, a, b, alpha=1):
        return self.sub(b, a, alpha)

    def shifted(self, x, number):
        return x if number == 0 else self.node("shift", [x], {"value": number})

    def mul(self, a, b):
        a, b = (b, a) if not self.is_value(a) else (a, b)
        if self.is_number(b):
            return self.node("scale", [a], {"factor": b})
        if self.is_parameter(b):
            return self.channel_scale(a, b)
        return self.binary("mul", a, b)

    def div(self, a, b, rounding_mode=None):
        if rounding_mode is not None:
            self.refuse(f"rounding_mode {rounding_mode}")
        if self.is_number(b):
            return self.node("scale", [a], {"factor": 1 / b})
        if self.is_number(a):
            inverse = self.node("reciprocal", [b], {})
            return inverse if a == 1 else self.mul(inverse, a)
        return self.binary("div", a, b)

    def neg(self, x):
        return self.node("scale", [x], {"factor": -1})

    def pow(self, x, exponent):
        op = {2: "square", 0.5: "sqrt", -1: "reciprocal"}.get(exponent)
        if op is None:
            self.refuse(f"exponent {exponent}; wanted 2, 0.5 or -1")
        return self.node(op, [x], {})

    def maximum(self, a, b):
        return self.limited("maximum", "low", a, b)

    def minimum(self, a, b):
        return self.limited("minimum", "high", a, b)

    def limited(self, op, limit, a, b):
        a, b = (b, a) if self.is_number(a) else (a, b)
        return self.node("clamp", [a], {limit: b}) if self.is_number(b) else self.binary(op, a, b)

    def binary(self, op, a, b):
        for operand in (a, b):
            if not self.is_value(operand):
                kind = "a number" if self.is_number(operand) else "a tensor that is not computed"
                self.refuse(f"{op} of a value and {kind}: there is no such operator in cnnc")
        if len(a.shape) != len(b.shape):
            self.refuse(f"{op} of {a.shape} and {b.shape}, whose batches do not meet")
        return self.node(op, [a, b], {})

    def channel_scale(self, x, weight):
        """A value times a parameter with one number a channel."""
        shape = [1] * (len(x.shape) - len(weight.shape)) + list(weight.shape)
        wide = [axis for axis, size in enumerate(shape[-len(x.shape):]) if size > 1]
        if len(shape) > len(x.shape) + 1 or len(wide) != 1 or shape[-len(x.shape):][wide[0]] != \
                x.shape[wide[0]]:
            self.refuse(f"a parameter {list(weight.shape)} times a value {x.shape}; wanted one "
                        "number a channel")
        return self.node("channel_scale", [x], {"axis": wide[0]}, path=weight.name,
                         weight=weight)

    # ---- the rest -------------------------------------------------------------------------------

    def dropout(self, x, p=0.5, training=True, inplace=False):
        return x if p == 0 else self.node("dropout", [x], {"rate": p})

    def stochastic_depth(self, x, p, mode, training=True):
        if p == 0:
            return x
        if mode != "row":
            self.refuse(f"mode {mode}; wanted row")
        return self.node("stochastic_depth", [x], {"rate": p})

    def softmax(self, x, dim=None, _stacklevel=3, dtype=None):
        return self.node("softmax", [x], {"axis": self.axis_of(x, dim)})

    def log_softmax(self, x, dim=None, _stacklevel=3, dtype=None):
        return self.node("log_softmax", [x], {"axis": self.axis_of(x, dim)})

    def gelu(self, x, approximate="none"):
        return self.node("gelu", [x], {"approximate": approximate == "tanh"})

    def softplus(self, x, beta=1, threshold=20):
        if (beta, threshold) != (1, 20):
            self.refuse(f"beta {beta}, threshold {threshold}; wanted 1 and 20")
        return self.node("softplus", [x], {})

    def hardtanh(self, x, min_val=-1.0, max_val=1.0):
        return self.clamp(x, min_val, max_val)

    def clamp(self, x, min=None, max=None):
        if (min, max) == (0, None):
            return self.node("relu", [x], {})
        if (min, max) == (0, 6):
            return self.node("relu6", [x], {})
        limits = {"low": min, "high": max}
        return self.node("clamp", [x], {key: limit for key, limit in limits.items()
                                        if limit is not None})


def function_name(target):
    """The name that the tables have for a function, a method or an operator of aten. True with it
    if the first operand changes in place."""
    if isinstance(target, str):
        name = target
    elif hasattr(target, "_schema"):
        name = target._schema.name.partition("::")[2]
        name = "aten_batch_norm" if name == "batch_norm" else name
    else:
        name = target.__name__
    in_place = target in (operator.iadd, operator.isub, operator.imul, operator.itruediv) or \
        name.endswith("_") and not name.startswith("__")
    name = name.rstrip("_") if in_place else name
    return SAME.get(name, name), in_place
