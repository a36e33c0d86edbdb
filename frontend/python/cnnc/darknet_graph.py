"""A network of darknet as a neutral graph: the sections of a .cfg file, and a .weights file.

Layers have the meaning of darknet's own sources: Redmon's, and where the format has grown,
Bochkovskiy's. A handler of Sections reads the keys of its section; a key that nobody has read is
refused.
"""
import math
import re
import struct
from pathlib import Path

import numpy as np

from .building import Building, Constant, Value
from .errors import Unsupported, WeightError

# Sections that end a backbone: they decode boxes, or are losses.
HEADS = set("yolo Gaussian_yolo region detection cost contrastive".split())
# Keys that change no number, and those that matter in training alone.
SILENT = {"stream", "wait_stream", "name"}
TRAINING = set("stopbackward burnin_update train_only_bn grad_centr learning_rate".split())
MOMENTUM = 0.01


class Section:
    """A section of the file: its kind, and values by key."""

    def __init__(self, kind, place):
        self.kind, self.place, self.values, self.read = kind, place, {}, set()

    def refuse(self, reason):
        raise Unsupported(self.place, reason)

    def text(self, key, default=None):
        self.read.add(key)
        if key in self.values:
            return self.values[key]
        if default is None:
            self.refuse(f"wanted the key {key}")
        return default

    def number(self, key, default=None, kind=int, words="an integer"):
        text = self.text(key, default)
        try:
            return kind(text)
        except ValueError:
            self.refuse(f"{key} = {text}: wanted {words}")

    def size(self, key, default=None, least=1):
        found = self.number(key, default)
        if found < least:
            self.refuse(f"{key} = {found}: wanted {least} or more")
        return found

    def real(self, key, default):
        found = self.number(key, default, float, "a number")
        if not math.isfinite(found):
            self.refuse(f"{key} = {self.values[key]}: wanted a finite number")
        return found

    def list(self, key):
        return [self.item(key, part) for part in self.text(key).rstrip(",").split(",")]

    def item(self, key, part):
        try:
            return int(part)
        except ValueError:
            self.refuse(f"{key} = {self.values[key]}: wanted integers with commas between")

    def want(self, key, value):
        """Refuses another value than this default."""
        found = self.text(key, value)
        if found != value and not (re.fullmatch(r"[\d.]+", found) and float(found) == float(value)):
            self.refuse(f"{key} = {found}: cnnc has {value} alone")


def sections_of(path):
    """The sections of a .cfg file in order."""
    found = []
    text = Path(path).read_text(encoding="utf-8", errors="replace")
    for at, line in enumerate(text.splitlines(), 1):
        line = re.sub(r"[#;].*|\s", "", line)
        place = f"{path}:{at}"
        if re.fullmatch(r"\[\w+\]", line):
            found.append(Section(line[1:-1], f"{place}: {line}"))
        elif line:
            key, is_given, value = line.partition("=")
            if not is_given or not found or not value:
                raise Unsupported(place, f"wanted [section] or key = value, found {line[:40]}")
            if key in found[-1].values:
                raise Unsupported(place, f"{key} is given twice in {found[-1].place}")
            found[-1].values[key] = value
    if not found or found[0].kind not in ("net", "network"):
        raise Unsupported(path, "wanted a network of darknet, which begins with [net]")
    return found


class Numbers:
    """The numbers of a .weights file in order."""

    def __init__(self, path):
        self.path, self.data = path, Path(path).read_bytes()
        if len(self.data) < 16:
            self.refuse(f"{len(self.data)} bytes; wanted a header of 16 or 20")
        major, minor, revision = struct.unpack_from("<3i", self.data)
        if major != 0 or not 0 <= minor < 100 or not 0 <= revision < 100:
            self.refuse("wanted darknet's version 0.1 or 0.2 in the header, found "
                        f"{major}.{minor}.{revision}")
        self.at = 20 if minor >= 2 else 16      # the count of images seen has 8 bytes, or 4

    def refuse(self, reason):
        raise WeightError(f"{self.path}: {reason}")

    def take(self, shape, what):
        count = math.prod(shape)
        left = (len(self.data) - self.at) // 4
        if left < count:
            self.refuse(f"ends at byte {len(self.data)} in {what}: wanted {count} numbers from "
                        f"byte {self.at} on, found {left}")
        found = np.frombuffer(self.data, "<f4", count, self.at).reshape(shape)
        self.at += 4 * count
        return found

    def end(self, last):
        if self.at != len(self.data):
            self.refuse(f"{len(self.data) - self.at} bytes follow {last}, the last weights of the "
                        "network; is it another network's file?")


def graph_of(cfg, weights, epsilon=1e-5, trains=False):
    """The neutral graph of a network: paths of its .cfg and .weights files."""
    return Builder(cfg, weights, epsilon, trains).graph


class Sections(Building):
    """A section as nodes of the neutral graph. `self.x` is the result of the section before."""

    def convolutional(self, at):
        """Padding is half of the window, or as given; darknet multiplies it by the dilation."""
        filters, size = at.size("filters", 1), at.size("size", 1)
        stride = at.size("stride", 1)
        strides = [at.size("stride_y", stride), at.size("stride_x", stride)]
        dilation, groups = at.size("dilation", 1), at.size("groups", 1)
        given = at.size("padding", 0, 0)
        around = size // 2 if at.number("pad", 0) else given
        for key in ("binary", "xnor", "flipped", "antialiasing", "share_index", "cbn"):
            at.want(key, "0")
        channels, height, width = self.map(self.x)
        if channels % groups or filters % groups:
            at.refuse(f"groups = {groups} does not divide {channels} and {filters} channels")
        sides = [(extent + 2 * around - size) // step + 1
                 for extent, step in zip((height, width), strides)]
        reach = [(extent + 2 * around * dilation - (size - 1) * dilation - 1) // step + 1
                 for extent, step in zip((height, width), strides)]
        if sides != reach or min(sides) < 1:
            at.refuse(f"from {self.x.shape} with size {size}, padding {around} and dilation "
                      f"{dilation}: darknet makes {sides} pixels and cnnc {reach}")
        normal = at.number("batch_normalize", 0)
        bias, norm = self.vectors(filters, normal)
        weight = self.take([filters, channels // groups, size, size], "weight", "conv")
        x = self.node("conv", [self.x], {
            "stride": strides, "padding": [around * dilation] * 4, "dilation": [dilation] * 2,
            "groups": groups}, [filters, *sides], self.named("conv"), weight=weight,
            **({} if normal else {"bias": bias}))
        return self.activated(at, self.normalized(x, bias, norm), "logistic")

    def vectors(self, count, normal):
        """A layer's bias, and the other arrays of its norm."""
        words = ["weight", "mean", "variance"] if normal else []
        return (self.take([count], "bias", "norm" if normal else "conv"),
                {role: self.take([count], role, "norm") for role in words})

    def normalized(self, x, bias, norm):
        if not norm:
            return x
        return self.node("batchnorm", [x], {"momentum": MOMENTUM, "epsilon": self.epsilon}, x.shape,
                         self.named("norm"), bias=bias, **norm)

    def connected(self, at):
        """Its norm's numbers follow the weights."""
        units = at.size("output", 1)
        normal = at.number("batch_normalize", 0)
        flat = self.flat(self.x)
        bias = self.take([units], "bias", "norm" if normal else "dense")
        weight = self.take([units, flat.shape[0]], "weight", "dense")
        norm = {role: self.take([units], role, "norm")
                for role in (["weight", "mean", "variance"] if normal else [])}
        x = self.node("dense", [flat], {}, [units], self.named("dense"), weight=weight,
                      **({} if normal else {"bias": bias}))
        return self.activated(at, self.normalized(x, bias, norm), "logistic")

    def maxpool(self, at):
        """A window that begins half of the padding before the map. Padding is the sum of both
        sides, size - 1 if none is given."""
        size = at.size("size", at.values.get("stride", 1))
        stride = at.size("stride", 1)
        strides = [at.size("stride_y", stride), at.size("stride_x", stride)]
        total = at.size("padding", size - 1, 0)
        for key in ("maxpool_depth", "antialiasing"):
            at.want(key, "0")
        channels, *extents = self.map(self.x)
        results, around = [], []
        for extent, step in zip(extents, strides):
            results.append((extent + total - size) // step + 1)
            after = max((results[-1] - 1) * step + size - extent - total // 2, 0)
            around += [total // 2, after]
        if min(results) < 1:
            at.refuse(f"a window of {size} does not fit in {self.x.shape}")
        attrs = {"kernel": [size, size], "stride": strides}
        return self.node("maxpool", [self.x], {**attrs, "padding": around} if any(around) else
                         attrs, [channels, *results], self.named("maxpool"))

    def avgpool(self, at):
        return self.node("global_avgpool", [self.x], {}, [self.map(self.x)[0], 1, 1],
                         self.named("avgpool"))

    def upsample(self, at):
        stride, scale = at.size("stride", 2), at.real("scale", 1)
        channels, height, width = self.map(self.x)
        x = self.node("upsample", [self.x], {"factor": [stride] * 2, "mode": "nearest"},
                      [channels, height * stride, width * stride], self.named("upsample"))
        return self.times(x, scale)

    def route(self, at):
        """The results of layers, joined; with groups, the same part of the channels of each."""
        found = [self.layer(at, "layers", index) for index in at.list("layers")]
        groups, group = at.size("groups", 1), at.size("group_id", 0, 0)
        if group >= groups:
            at.refuse(f"group_id = {group}: wanted a number below groups = {groups}")
        for x in found:
            if self.map(x)[0] % groups or x.shape[1:] != found[0].shape[1:]:
                at.refuse(f"joins {' and '.join(str(x.shape) for x in found)} in {groups} groups")
        parts = [self.part(x, 0, x.shape[0] // groups * group, x.shape[0] // groups)
                 for x in found]
        if len(parts) == 1:
            return parts[0]
        return self.node("concat", parts, {"axis": 0}, [sum(x.shape[0] for x in parts),
                                                        *parts[0].shape[1:]], self.named("route"))

    def shortcut(self, at):
        for key, value in (("weights_type", "none"), ("alpha", "1"), ("beta", "1")):
            at.want(key, value)
        at.read.add("weights_normalization")
        x = self.x
        for index in at.list("from"):
            other = self.layer(at, "from", index)
            if other.shape != x.shape:
                at.refuse(f"adds {other.shape} to {x.shape}; wanted equal shapes")
            x = self.node("add", [x, other], {}, x.shape, self.named("shortcut"))
        return self.activated(at, x, "linear")

    def scale_channels(self, at):
        at.want("scale_wh", "0")
        other = self.layer(at, "from", at.number("from"))
        if self.map(self.x) != [self.map(other)[0], 1, 1]:
            at.refuse(f"scales {other.shape} by {self.x.shape}; wanted one pixel")
        return self.activated(at, self.node("mul", [other, self.x], {}, other.shape,
                                            self.named("scale")), "linear")

    def sam(self, at):
        other = self.layer(at, "from", at.number("from"))
        if self.x.shape != other.shape:
            at.refuse(f"multiplies {other.shape} and {self.x.shape}; wanted equal shapes")
        return self.activated(at, self.node("mul", [other, self.x], {}, other.shape,
                                            self.named("sam")), "linear")

    def reorg(self, at):
        """darknet reads the map as one with fewer channels and more pixels, and makes the blocks
        of that one channels. The result is read as a map of fewer pixels."""
        stride = at.size("stride", 1)
        for key in ("reverse", "flatten", "extra"):
            at.want(key, "0")
        channels, height, width = self.map(self.x)
        if channels % stride ** 2 or height % stride or width % stride:
            at.refuse(f"stride {stride} of {self.x.shape}")
        wide = self.view(self.x, [channels // stride ** 2, height * stride, width * stride])
        x = self.node("space_to_depth", [wide], {"factor": stride}, self.x.shape,
                      self.named("reorg"))
        return self.view(x, [channels * stride ** 2, height // stride, width // stride])

    def dropout(self, at):
        rate = at.real("probability", 0.5)
        for key in ("dropblock", "dropblock_size_rel", "dropblock_size_abs"):
            at.want(key, "0")
        return self.node("dropout", [self.x], {"rate": rate}, path=self.named("dropout")) \
            if rate else self.x

    def softmax(self, at):
        for key, value in (("groups", "1"), ("temperature", "1"), ("spatial", "0")):
            at.want(key, value)
        at.read.add("noloss")
        return self.node("softmax", [self.flat(self.x)], {"axis": 0}, path=self.named("softmax"))

    def activation(self, at):
        return self.activated(at, self.x, "linear")

    # ---- for the handlers -----------------------------------------------------------------------

    def activated(self, at, x, default):
        word = at.text("activation", default)
        if word not in ACTIVATIONS:
            at.refuse(f"activation = {word}: cnnc has no such function")
        for op, attrs in ACTIVATIONS[word]:
            x = self.node(op, [x], attrs, x.shape, self.named(op))
        return x

    def flat(self, x):
        return x if len(x.shape) == 1 else \
            self.node("flatten", [x], {}, [int(np.prod(x.shape))], self.named("flatten"))

    def map(self, x):
        if len(x.shape) != 3:
            self.refuse(f"wanted a map [channels, height, width], found {x.shape}")
        return x.shape


SELU = 1.0507, 1.6732           # darknet's
ACTIVATIONS = {
    "linear": [], "logistic": [("sigmoid", {})], "tanh": [("tanh", {})], "relu": [("relu", {})],
    "leaky": [("leaky_relu", {"slope": 0.1})], "relie": [("leaky_relu", {"slope": 0.01})],
    "relu6": [("relu6", {})], "elu": [("elu", {"alpha": 1.0})], "mish": [("mish", {})],
    "swish": [("swish", {})], "hardtan": [("clamp", {"low": -1, "high": 1})],
    "loggy": [("scale", {"factor": 0.5}), ("tanh", {})],
    "selu": [("elu", {"alpha": SELU[1]}), ("scale", {"factor": SELU[0]})],
}


# The handlers by kind. Some kinds have a second word.
LAYERS = {handler.__name__: handler for handler in (
    Sections.convolutional, Sections.connected, Sections.maxpool, Sections.avgpool,
    Sections.upsample, Sections.route, Sections.shortcut, Sections.scale_channels, Sections.sam,
    Sections.reorg, Sections.dropout, Sections.softmax, Sections.activation)}
LAYERS |= {"conv": Sections.convolutional, "conn": Sections.connected, "max": Sections.maxpool,
           "avg": Sections.avgpool, "soft": Sections.softmax}


class Builder(Sections):
    """Builds the neutral graph of a network."""

    def __init__(self, cfg, weights, epsilon, trains):
        sections = sections_of(cfg)
        self.begin(re.sub(r"\W", "_", Path(cfg).stem))
        self.numbers, self.trains, self.results = Numbers(weights), trains, []
        self.index, self.epsilon, self.last = 0, epsilon, "the header"
        self.x = self.image(sections[0])
        if len(sections) == 1:
            sections[0].refuse("wanted a layer after it")
        for self.index, at in enumerate(sections[1:]):
            self.source = at.place
            self.x = self.layer_of(at)
            self.results.append(self.x)
        self.numbers.end(self.last)
        self.graph.outputs = self.graph.outputs or [self.before(sections[-1]).node.name]
        self.drop_unread()

    def image(self, net):
        self.source = net.place
        shape = [net.size(key) for key in ("channels", "height", "width")]
        return self.node("input", [], {}, shape, "x")

    def layer_of(self, at):
        if at.kind in HEADS:
            self.graph.outputs.append(self.before(at).node.name)
            return at
        if at.kind not in LAYERS:
            at.refuse("there is no such layer in cnnc")
        if at.kind != "route":
            self.before(at)
        made = LAYERS[at.kind](self, at)
        unknown = sorted(set(at.values) - at.read - SILENT - TRAINING)
        if unknown:
            at.refuse(f"the converter does not know the key {unknown[0]}")
        training = sorted(set(at.values) & TRAINING)
        if self.trains and training:
            at.refuse(f"cnnc has no {training[0]} in training")
        return made

    def before(self, at):
        """The result that the section reads."""
        if not isinstance(self.x, Value):
            at.refuse(f"reads the result of {self.x.place}, which ends the backbone")
        return self.x

    def layer(self, at, key, index):
        """The result of a layer by its index; a negative one counts back from this layer."""
        whole = index + self.index if index < 0 else index
        if not 0 <= whole < len(self.results):
            at.refuse(f"{key} = {index}: wanted one of the {len(self.results)} layers before")
        found = self.results[whole]
        if not isinstance(found, Value):
            at.refuse(f"{key} = {index} reads the result of {found.place}, which ends the backbone")
        return found

    def named(self, word):
        return f"{word}_{self.index}"

    def path_for(self, op, weight):
        return self.named(op)

    def take(self, shape, role, word):
        """A layer's array from the file."""
        self.last = f"the {role} of layer {self.index}, {self.source}"
        return Constant(self.numbers.take(shape, self.last), f"{self.named(word)}.{role}")
