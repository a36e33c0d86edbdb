"""The package cnnc without PyTorch: layouts, names, refusals, weights, the compiler.

    check_units.py [TEST...]

It runs by with_package.
"""
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np

import cnnc
from cnnc.convert import Converted, replace
from cnnc.graph import Graph, Node

TRAIN = "\ntrain {\n    optimizer = sgd(lr = 0.1)\n}\n"
CONV = {"stride": [1, 1], "padding": [1, 1, 1, 1], "dilation": [1, 1], "groups": 1}


def numbers(*shape):
    return np.arange(np.prod(shape), dtype=np.float64).reshape(shape)


class Net:
    """Builds a neutral graph of an input x of this shape."""

    def __init__(self, *shape):
        self.graph = Graph("Net", [Node("x", "input", [], list(shape))], [])

    def add(self, name, op, inputs, shape, attrs=None, **params):
        names = {role: f"{name}.{role}" for role in params}
        self.graph.arrays.update({names[role]: array for role, array in params.items()})
        self.graph.nodes.append(Node(name, op, inputs, shape, attrs or {}, names,
                                     f"{name}: torch.nn.{op.title()}"))
        self.graph.outputs = [name]
        return self

    def converted(self, **options):
        return Converted(self.graph, **options)


def flattened(height=2, width=3, channels=4):
    """A net in which a dense layer reads a flattened map, and a map is made of its result."""
    net = Net(channels, height, width)
    net.add("flat", "flatten", ["x"], [channels * height * width])
    return net.add("drop", "dropout", ["flat"], [channels * height * width], {"rate": 0.5})


class Layouts(unittest.TestCase):
    def test_flatten(self):
        weight = numbers(5, 24)
        net = flattened().add("fc", "dense", ["drop"], [5], weight=weight, bias=numbers(5))
        ours = net.converted().weights["fc.weight"]
        for c, h, w in np.ndindex(4, 2, 3):
            self.assertTrue((ours[:, (h * 3 + w) * 4 + c] == weight[:, (c * 2 + h) * 3 + w]).all())

    def test_norm_of_flattened(self):
        net = flattened()
        roles = {role: numbers(24) for role in ("weight", "bias", "mean", "variance")}
        net.add("norm", "batchnorm", ["drop"], [24], {"momentum": 0.1, "epsilon": 1e-5}, **roles)
        net.add("fc", "dense", ["norm"], [5], weight=numbers(5, 24))
        weights = net.converted().weights
        for role in roles:
            self.assertEqual(list(weights[f"norm.{role}"][:5]), [0, 6, 12, 18, 1])

    def test_joined(self):
        net = Net(2, 1, 2)
        net.add("pool", "global_avgpool", ["x"], [2, 1, 1])
        net.add("vector", "flatten", ["pool"], [2]).add("map", "flatten", ["x"], [4])
        net.add("both", "concat", ["vector", "map"], [6], {"axis": 0})
        net.add("fc", "dense", ["both"], [1], weight=numbers(1, 6))
        self.assertEqual(list(net.converted().weights["fc.weight"][0]), [0, 1, 2, 4, 3, 5])

    def test_map_of_vector(self):
        net = Net(3).add("fc", "dense", ["x"], [12], weight=numbers(12, 3), bias=numbers(12))
        net.add("act", "relu", ["fc"], [12])
        net.add("map", "reshape", ["act"], [3, 2, 2], {"shape": [3, 2, 2]})
        net.add("out", "relu", ["map"], [3, 2, 2])
        converted = net.converted()
        self.assertIn("reshape([2, 2, 3])", converted.text)
        self.assertEqual(list(converted.weights["fc.bias"]),
                         [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11])

    def test_convolutions(self):
        weight, turned = numbers(6, 1, 3, 2), numbers(6, 4, 3, 2)
        net = Net(6, 8, 8)
        net.add("depth", "conv", ["x"], [6, 8, 7], {**CONV, "padding": [1, 1, 0, 0], "groups": 6},
                weight=weight)
        net.add("up", "conv_transpose", ["depth"], [4, 17, 14], {
            "stride": [2, 2], "padding": [0] * 4, "dilation": [1, 1], "output_padding": [0, 0],
            "groups": 1}, weight=turned)
        weights = net.converted().weights
        self.assertEqual(weights["depth.weight"].shape, (6, 3, 2, 1))
        self.assertEqual(weights["depth.weight"][5, 2, 1, 0], weight[5, 0, 2, 1])
        self.assertEqual(weights["up.weight"].shape, (6, 3, 2, 4))
        self.assertEqual(weights["up.weight"][5, 2, 1, 3], turned[5, 3, 2, 1])

    def test_channels_last(self):
        net = Net(4, 2, 3).add("turn", "permute", ["x"], [2, 3, 4], {"axes": [1, 2, 0]})
        net.add("fc", "dense", ["turn"], [2, 3, 5], weight=numbers(5, 4))
        net.add("back", "permute", ["fc"], [5, 2, 3], {"axes": [2, 0, 1]})
        net.add("flat", "flatten", ["back"], [30])
        net.add("last", "dense", ["flat"], [2], weight=numbers(2, 30))
        weights = net.converted().weights
        self.assertTrue((weights["fc.weight"][:, 0, 0, :] == numbers(5, 4)).all())
        self.assertEqual(list(weights["last.weight"][0, :3]), [0, 6, 12])
        early = Net(4, 2, 3).add("turn", "permute", ["x"], [2, 3, 4], {"axes": [1, 2, 0]})
        early.add("flat", "flatten", ["turn"], [24])
        early.add("fc", "dense", ["flat"], [2], weight=numbers(2, 24))
        self.assertTrue((early.converted().weights["fc.weight"] == numbers(2, 24)).all())


class Moves(unittest.TestCase):
    """Values that a transpose brings into the order that an operator or an output wants."""

    def body(self, net):
        return net.converted().text.partition("\n\n")[2].partition("\n\n")[0].strip()

    def test_flattened(self):
        self.assertEqual(self.body(flattened()), "flatten = x -> flatten -> dropout(0.5) -> "
                         "reshape([2, 3, 4]) -> transpose([2, 0, 1]) -> flatten")
        net = flattened().add("fc", "dense", ["drop"], [24], weight=numbers(24, 24))
        self.assertIn("transpose([2, 0, 1]) -> flatten",
                      self.body(net.add("sum", "add", ["fc", "drop"], [24])))
        net = flattened().add("part", "slice", ["drop"], [4], {"axis": 0, "start": 0, "size": 4})
        self.assertIn("transpose([2, 0, 1]) -> flatten\n          -> slice(0, 4)", self.body(net))
        net = Net(12).add("map", "reshape", ["x"], [3, 2, 2], {"shape": [3, 2, 2]})
        self.assertIn("x -> reshape([3, 2, 2])", self.body(net))
        self.assertIn("transpose([1, 2, 0]) -> maxpool(2)", self.body(net.add(
            "pool", "maxpool", ["map"], [3, 1, 1], {"kernel": [2, 2]})))

    def test_axes(self):
        net = Net(3, 8, 9).add("s", "softmax", ["x"], [3, 8, 9], {"axis": 1})
        self.assertIn("x -> transpose([1, 2, 0]) -> softmax", self.body(net))
        self.assertEqual(net.converted().axes, {"x": (2, 0, 1), "s": (1, 2, 0)})
        net = Net(2, 3, 4, 5).add("s", "slice", ["x"], [2, 2, 4, 5],
                                  {"start": 1, "size": 2, "axis": 1})
        self.assertIn("x -> slice(1, 2, axis = height)", self.body(net))
        net = Net(4, 7).add("map", "reshape", ["x"], [4, 1, 7], {"shape": [4, 1, 7]})
        net.add("pool", "maxpool", ["map"], [4, 1, 5], {"kernel": [1, 3], "stride": [1, 1]})
        net.add("row", "reshape", ["pool"], [4, 5], {"shape": [4, 5]})
        self.assertIn("reshape([1, 4, 7]) -> transpose([0, 2, 1]) -> maxpool(1x3, stride = 1)\n"
                      "          -> reshape([5, 4])", self.body(net))

    def test_outputs(self):
        net = Net(3, 8, 9)
        net.graph.outputs = ["x"]
        self.assertEqual(self.body(net), "scale = x -> scale(1)")


TEXT = """net net_ {
    input x : f32[8, 8, 3]
    input label : class[10]

    stem_conv = x -> conv(4, 3, stride = 2, padding = 1) -> relu -> maxpool(2)
    stem_norm = stem_conv -> batchnorm(momentum = 0.2)
    fc = stem_norm + stem_conv -> relu6 -> flatten -> dense(10, train = none)

    output fc
    loss   softmax_cross_entropy(fc, label)
    metric accuracy(fc, label)
}

train {
    batch     = 16
    optimizer = sgd(lr = 0.01, momentum = 0.9)
}
"""


class Texts(unittest.TestCase):
    def test_text(self):
        net = Net(3, 8, 8)
        net.add("stem.conv", "conv", ["x"], [4, 4, 4], {**CONV, "stride": [2, 2]},
                weight=numbers(4, 3, 3, 3), bias=numbers(4))
        net.add("stem.act", "relu", ["stem.conv"], [4, 4, 4])
        net.add("stem.pool", "maxpool", ["stem.act"], [4, 2, 2],
                {"kernel": [2, 2], "stride": [2, 2], "ceil": False})
        net.add("stem.norm", "batchnorm", ["stem.pool"], [4, 2, 2],
                {"momentum": 0.2, "epsilon": 1e-5},
                **{role: numbers(4) for role in ("weight", "bias", "mean", "variance")})
        net.add("add", "add", ["stem.norm", "stem.pool"], [4, 2, 2])
        net.add("act", "relu6", ["add"], [4, 2, 2]).add("flat", "flatten", ["act"], [16])
        net.add("fc", "dense", ["flat"], [10], weight=numbers(10, 16), bias=numbers(10))
        net.graph.frozen = {"fc.weight", "fc.bias"}
        converted = net.converted(loss="softmax_cross_entropy", batch=16)
        self.assertEqual(converted.text, TEXT)
        self.assertEqual(converted.names["stem.conv.weight"], "stem_conv.weight")
        self.assertEqual(int(cnnc.memory(converted)), int(cnnc.memory(converted.text, batch=16)))

    def test_padding(self):
        for kernel, stride, padding, words in (
                (3, 1, 1, "conv(2, 3, bias = false)"), (1, 2, 0, "conv(2, 1, stride = 2, bias"),
                (3, 1, 0, "padding = valid"), (3, 2, 1, "stride = 2, padding = 1"),
                (5, 1, 1, "padding = 1"), (2, 2, 0, "padding = valid")):
            side = (8 + 2 * padding - kernel) // stride + 1
            attrs = {**CONV, "stride": [stride] * 2, "padding": [padding] * 4}
            net = Net(3, 8, 8).add("c", "conv", ["x"], [2, side, side], attrs,
                                   weight=numbers(2, 3, kernel, kernel))
            self.assertIn(words, net.converted().text)

    def test_names(self):
        net = Net(3, 8, 8).add("loss", "relu", ["x"], [3, 8, 8])
        net.add("a.b", "conv", ["loss"], [2, 8, 8], CONV, weight=numbers(2, 3, 3, 3))
        net.add("a_b", "conv", ["a.b"], [2, 8, 8], CONV, weight=numbers(2, 2, 3, 3))
        net.add("0", "conv", ["a_b"], [2, 8, 8], CONV, weight=numbers(2, 2, 3, 3))
        self.assertEqual(sorted(net.converted().weights),
                         ["a_b.weight", "a_b_1.weight", "conv_0.weight"])


class SharedWeights(unittest.TestCase):
    def test_shared(self):
        """Two layers of the same arrays. A copy is for nets that are not trained, and for graphs
        that say so."""
        def net(second=(4, 2, 3), **more):
            made = Net(4, 2, 3).add("a", "flatten", ["x"], [24])
            made.add("view", "permute", ["x"], [second[1], second[2], 4] if more else [4, 2, 3],
                     {"axes": [1, 2, 0] if more else [0, 1, 2]})
            made.add("b", "flatten", ["view"], [24])
            made.add("fc", "dense", ["a"], [5], weight=numbers(5, 24), bias=numbers(5))
            made.add("fc_2", "dense", ["b"], [5], weight=numbers(5, 24), bias=numbers(5))
            made.graph.nodes[-1].params = made.graph.nodes[-2].params
            return made.add("sum", "add", ["fc", "fc_2"], [5])
        trained = {"loss": "softmax_cross_entropy"}
        for options in ({}, trained):
            shared = net().converted(**options)
            self.assertEqual(shared.text.count('weights = "fc"'), 2)
            self.assertEqual(sorted(shared.weights), ["fc.bias", "fc.weight"])
        turned = net(turned=True)
        self.assertEqual(sorted(turned.converted().weights),
                         ["fc.bias", "fc.weight", "fc_2.bias", "fc_2.weight"])
        with self.assertRaisesRegex(cnnc.Unsupported, "fc_2: .*: fc.weight is a weight of fc too, "
                                    "in another layout"):
            turned.converted(**trained)
        turned.graph.copies = True
        self.assertEqual(len(turned.converted(**trained).weights), 4)


class Losses(unittest.TestCase):
    def ends(self, net, loss):
        text = net.converted(loss=loss).text
        self.assertGreater(cnnc.memory(text, batch=2), 0)
        return [line.strip() for line in text.splitlines()
                if line.strip().startswith(("input target", "input label", "loss ", "a = ", "b = ",
                                            "reshape = "))]

    def test_rows(self):
        """A loss compares rows in the graph's order, and scores of classes as a map."""
        rows = Net(3, 4, 4).add("last", "permute", ["x"], [4, 4, 3], {"axes": [1, 2, 0]})
        rows.add("relu", "relu", ["last"], [4, 4, 3])
        rows.add("rows", "reshape", ["relu"], [16, 3], {"shape": [16, 3]})
        rows.add("turned", "permute", ["rows"], [3, 16], {"axes": [1, 0]})
        self.assertEqual(self.ends(rows, "mse"), ["input target : f32[3, 16]",
                                                  "loss   mse(transpose, target)"])
        self.assertEqual(self.ends(rows, "nll"), [
            "input label : class[1, 16, 3]",
            "reshape = transpose -> transpose([1, 0]) -> reshape([1, 16, 3])",
            "loss   nll(reshape, label)"])
        boxes = Net(2, 3, 4).add("a", "reshape", ["x"], [2, 3, 2, 2], {"shape": [2, 3, 2, 2]})
        self.assertIn("input label : class[6, 2, 2]", self.ends(boxes, "nll"))

    def test_scalar(self):
        """A sample of no axes is one number."""
        net = Net(4).add("fc", "dense", ["x"], [1], weight=numbers(1, 4))
        net.add("y", "reshape", ["fc"], [], {"shape": [1]})
        self.assertEqual(self.ends(net, "mse"), ["input target : f32[1]", "loss   mse(fc, target)"])

    def test_program(self):
        """The converter refuses a net that the compiler refuses in training alone."""
        net = Net(4).add("fc", "dense", ["x"], [3], weight=numbers(3, 4))
        with self.assertRaisesRegex(cnnc.Unsupported, "class_weights has 2 numbers for 3 classes"):
            net.converted(loss="nll", loss_arguments={"class_weights": [1, 2]})

    def test_own(self):
        net = Net(4).add("fc", "dense", ["x"], [3], weight=numbers(3, 4))
        net.graph.loss = {"op": "nll", "scores": "fc", "label": "y", "attrs": {}}
        self.assertIn("loss   nll(fc, y)", net.converted().text)
        with self.assertRaisesRegex(ValueError, "loss: the model has nll; wanted None, not mse"):
            net.converted(loss="mse")


class Refusals(unittest.TestCase):
    def refused(self, net, *words, **options):
        with self.assertRaises(cnnc.Unsupported) as caught:
            net.converted(**options)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_refusals(self):
        self.refused(Net(3, 8, 8).add("layer3.0.attn", "attention", ["x"], [3, 8, 8]),
                     "layer3.0.attn: torch.nn.Attention", "there is no operator attention in cnnc")
        self.refused(Net(3, 8, 8).add("p", "maxpool", ["x"], [3, 3, 3], {
            "kernel": [2, 2], "strides": [2, 2]}), "p: torch.nn.Maxpool", "maxpool", "strides")
        self.refused(Net(2, 3).add("n", "conv", ["x"], [2, 3], CONV, weight=numbers(2, 2, 3, 3)),
                     "n: torch.nn.Conv", "wanted a map")
        net = Net(2, 1, 2).add("map", "flatten", ["x"], [4]).add("tail", "flatten", ["x"], [4])
        net.add("both", "concat", ["map", "tail"], [8], {"axis": 0})
        self.refused(net, "both: torch.nn.Concat", "joined flattened maps would have to change")
        net = Net(3).add("fc", "dense", ["x"], [2], weight=numbers(2, 3), bias=numbers(2))
        net.graph.frozen = {"fc.bias"}
        self.refused(net, "fc: torch.nn.Dense", "the bias is frozen", loss="mse")
        net = Net(3, 8, 8).add("up", "upsample", ["x"], [3, 800, 800],
                               {"factor": [100, 100], "mode": "nearest"})
        self.refused(net, "Net", "cnnc refuses the net", "upsample")


NET = """
net digits {
    input x : f32[4, 6, 3]
    input label : class[10]
    first = x -> conv(8, 3)
    norm = first -> batchnorm -> relu
    depth = norm -> conv(8, 3, groups = 8, bias = false)
    hidden = depth -> flatten -> dropout(0.5) -> dense(12) -> relu
    logits = hidden -> dense(10)
    output logits
    loss softmax_cross_entropy(logits, label)
}
""" + TRAIN
SHAPES = {"features.0.weight": (8, 3, 3, 3), "features.0.bias": (8,), "features.1.weight": (8,),
          "features.1.bias": (8,), "features.1.running_mean": (8,),
          "features.1.running_var": (8,), "features.3.weight": (8, 1, 3, 3),
          "head.0.weight": (12, 192), "head.0.bias": (12,), "head.2.weight": (10, 12),
          "head.2.bias": (10,)}


def state():
    tensors = {name: numbers(*shape) + len(name) for name, shape in SHAPES.items()}
    tensors["features.1.num_batches_tracked"] = np.zeros((), np.int64)
    return tensors


class TorchWeights(unittest.TestCase):
    def test_layouts(self):
        tensors = state()
        ours = cnnc.weights.from_torch(tensors, NET)
        self.assertEqual(len(ours), 11)
        self.assertEqual(ours["first.weight"][7, 1, 2, 0], tensors["features.0.weight"][7, 0, 1, 2])
        self.assertTrue((ours["norm.variance"] == tensors["features.1.running_var"]).all())
        self.assertEqual(ours["depth.weight"][7, 1, 2, 0], tensors["features.3.weight"][7, 0, 1, 2])
        for c, h, w in np.ndindex(8, 4, 6):
            self.assertEqual(ours["hidden.weight"][3, (h * 6 + w) * 8 + c],
                             tensors["head.0.weight"][3, (c * 4 + h) * 6 + w])
        self.assertTrue((ours["logits.weight"] == tensors["head.2.weight"]).all())

    def test_there_and_back(self):
        tensors = state()
        back = cnnc.weights.to_torch(cnnc.weights.from_torch(tensors, NET), NET, like=tensors)
        self.assertEqual(list(back), list(tensors))
        for name, tensor in tensors.items():
            self.assertTrue(np.array_equal(back[name], tensor), name)

    def test_map_of_vector(self):
        text = """net g {
            input x : f32[3]
            fc = x -> dense(12) -> relu -> reshape([2, 2, 3])
            up = fc -> conv_transpose(5, 2, stride = 2)
            output up
        }"""
        tensors = {"a.weight": numbers(12, 3), "a.bias": numbers(12),
                   "b.weight": numbers(3, 5, 2, 2), "b.bias": numbers(5)}
        ours = cnnc.weights.from_torch(tensors, text)
        self.assertEqual(list(ours["fc.bias"][:4]), [0, 4, 8, 1])
        self.assertEqual(list(ours["fc.weight"][1]), list(tensors["a.weight"][4]))
        self.assertEqual(ours["up.weight"][2, 1, 0, 4], tensors["b.weight"][2, 4, 1, 0])
        back = cnnc.weights.to_torch(ours, text, like=tensors)
        self.assertTrue(all(np.array_equal(back[name], tensors[name]) for name in tensors))

    def test_joined(self):
        text = """net g {
            input x : f32[1, 2, 2]
            vector = x -> global_avgpool -> flatten
            fc = concat(vector, x -> flatten) -> dense(1, bias = false)
            output fc
        }"""
        ours = cnnc.weights.from_torch({"a.weight": numbers(1, 6)}, text)
        self.assertEqual(list(ours["fc.weight"][0]), [0, 1, 2, 4, 3, 5])

    def test_order(self):
        text = """net g {
            input x : f32[4, 4, 3]
            short = x -> conv(3, 1)
            long = x -> conv(3, 1) -> conv(4, 3)
            last = concat(long, short) -> conv(2, 1)
            output last
        }"""
        shapes = {"a": (3, 3, 1, 1), "b": (4, 3, 3, 3), "shortcut": (3, 3, 1, 1),
                  "c": (2, 7, 1, 1)}
        tensors = {}
        for name, shape in shapes.items():
            tensors[f"{name}.weight"], tensors[f"{name}.bias"] = numbers(*shape), numbers(shape[0])
        with self.assertRaisesRegex(cnnc.WeightError, "a, shortcut; in the net: short, conv_2"):
            cnnc.weights.from_torch(tensors, text)
        tensors["shortcut.bias"] += 7
        names = {f"shortcut.{role}": f"short.{role}" for role in ("weight", "bias")}
        ours = cnnc.weights.from_torch(tensors, text, names=names)
        self.assertEqual(list(ours["short.bias"]), [7, 8, 9])
        for wrong, words in (({"none": "short.bias"}, "there is no tensor none"),
                             ({"a.bias": "none"}, "no parameter none"),
                             ({"a.bias": "last.bias"}, "does not fit"),
                             ({"a.bias": "short.bias", "shortcut.bias": "short.bias"}, "twice")):
            with self.assertRaisesRegex(cnnc.WeightError, words):
                cnnc.weights.from_torch(tensors, text, names=wrong)

    def test_shared(self):
        """Layers that share weights must both read a flattened map, or neither."""
        text = """net shared {
            input x : f32[2, 3, 4]
            input y : f32[2, 3, 4]
            a = x -> flatten -> dense(5, weights = "fc")
            b = y -> flatten -> dense(5, weights = "fc")
            sum = a + b
            output sum
        }"""
        tensors = {"fc.weight": numbers(5, 24), "fc.bias": numbers(5)}
        ours = cnnc.weights.from_torch(tensors, text)
        self.assertEqual(list(ours["fc.weight"][0, :3]), [0, 6, 12])
        with self.assertRaisesRegex(cnnc.WeightError, "fc.weight: a.* and b.* share it"):
            cnnc.weights.from_torch(tensors, text.replace("y : f32[2, 3, 4]", "y : f32[24]"))

    def test_mismatch(self):
        tensors = state()
        tensors["head.2.weight"] = numbers(5, 12)
        tensors["head.2.bias"] = numbers(5)
        with self.assertRaisesRegex(cnnc.WeightError, r"head\.2.*0 in the net|logits"):
            cnnc.weights.from_torch(tensors, NET)
        with self.assertRaisesRegex(cnnc.WeightError, "no known role.*scale.gamma"):
            cnnc.weights.from_torch({**state(), "scale.gamma": numbers(3)}, NET)


KERAS = {"conv2d/kernel": (3, 3, 3, 8), "conv2d/bias": (8,), "bn/gamma": (8,), "bn/beta": (8,),
         "bn/moving_mean": (8,), "bn/moving_variance": (8,), "dw/depthwise_kernel": (3, 3, 8, 1),
         "dense/kernel": (192, 12), "dense/bias": (12,), "dense_1/kernel": (12, 10),
         "dense_1/bias": (10,)}


def keras(shapes):
    return [(name, numbers(*shape) + len(name)) for name, shape in shapes.items()]


class KerasWeights(unittest.TestCase):
    def test_layouts(self):
        pairs = keras(KERAS)
        theirs, ours = dict(pairs), cnnc.weights.from_keras(pairs, NET)
        self.assertEqual(ours["first.weight"][7, 1, 2, 0], theirs["conv2d/kernel"][1, 2, 0, 7])
        self.assertEqual(ours["depth.weight"][5, 1, 2, 0],
                         theirs["dw/depthwise_kernel"][1, 2, 5, 0])
        self.assertTrue((ours["norm.weight"] == theirs["bn/gamma"]).all())
        self.assertTrue((ours["norm.mean"] == theirs["bn/moving_mean"]).all())
        self.assertTrue((ours["hidden.weight"] == theirs["dense/kernel"].T).all())
        back = cnnc.weights.to_keras(ours, NET, like=pairs)
        self.assertTrue(all(np.array_equal(a, b) for a, (_, b) in zip(back, pairs)))

    def test_depthwise(self):
        text = """net g {
            input x : f32[4, 4, 3]
            depth = x -> conv(6, 3x2, groups = 3, bias = false)
            point = depth -> conv(5, 1)
            up = point -> conv_transpose(4, 2x3)
            output up
        }"""
        pairs = keras({"sep/depthwise_kernel": (3, 2, 3, 2), "sep/pointwise_kernel": (1, 1, 6, 5),
                       "sep/bias": (5,), "up/kernel:0": (2, 3, 4, 5), "up/bias:0": (4,)})
        ours = cnnc.weights.from_keras(pairs, text)
        theirs = dict(pairs)
        self.assertEqual(ours["depth.weight"][2 * 2 + 1, 2, 1, 0],
                         theirs["sep/depthwise_kernel"][2, 1, 2, 1])
        self.assertEqual(ours["up.weight"][4, 1, 2, 3], theirs["up/kernel:0"][1, 2, 3, 4])
        back = cnnc.weights.to_keras(ours, text, like=pairs)
        self.assertTrue(all(np.array_equal(a, b) for a, (_, b) in zip(back, pairs)))
        pairs[0] = ("sep/kernel", pairs[0][1])      # Keras 3
        pairs[1] = ("point/kernel", pairs[1][1])
        pairs[2] = ("point/bias", pairs[2][1])
        again = cnnc.weights.from_keras(pairs, text)
        self.assertTrue((again["depth.weight"] == ours["depth.weight"]).all())

    def test_file(self):
        try:
            import h5py
        except ImportError:
            self.skipTest("no h5py here")
        with tempfile.TemporaryDirectory() as folder:
            with h5py.File(f"{folder}/w.h5", "w") as file:
                layers = list(dict.fromkeys(name.partition("/")[0] for name in KERAS))
                file.attrs["layer_names"] = layers
                for layer in layers:
                    group = file.create_group(layer)
                    group.attrs["weight_names"] = [f"{name}:0" for name in KERAS
                                                   if name.startswith(layer + "/")]
                for name, array in keras(KERAS):
                    file[f"{name.partition('/')[0]}/{name}:0"] = array
            ours = cnnc.weights.from_keras(f"{folder}/w.h5", NET)
            theirs = cnnc.weights.from_keras(keras(KERAS), NET)
            self.assertTrue(all(np.array_equal(ours[name], theirs[name]) for name in theirs))
            with h5py.File(f"{folder}/new.h5", "w") as file:
                file["layers/conv2d/vars/0"] = numbers(3)
            with self.assertRaisesRegex(cnnc.WeightError, "new.h5: no names"):
                cnnc.weights.from_keras(f"{folder}/new.h5", NET)


class Compiler(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "net.cnn").write_text(NET, encoding="utf-8")

    def plan(self, *options):
        printed = subprocess.run([os.environ["CNNC"], "--emit", "plan", *options,
                                  self.folder / "net.cnn"], check=True, stdout=subprocess.PIPE)
        return json.loads(printed.stdout)["arena_bytes"]

    def test_memory(self):
        path = self.folder / "net.cnn"
        self.assertEqual(cnnc.memory(path, 32), self.plan("--batch", "32"))
        self.assertEqual(cnnc.memory(NET, 32, mode="infer"),
                         self.plan("--batch", "32", "--mode", "infer"))
        self.assertEqual(cnnc.memory(path, batch=64, prefer="memory", checkpoint="every 2"),
                         self.plan("--batch", "64", "--prefer", "memory", "--checkpoint",
                                   "every 2"))
        self.assertIn("<iframe", cnnc.memory(path)._repr_html_())

    def test_compile(self):
        path, output = self.folder / "net.cnn", self.folder / "net.cu"
        result = cnnc.compile(path, output, main=True, batch=8, header=self.folder / "net.h")
        self.assertEqual(result.arena, self.plan("--batch", "8"))
        self.assertEqual(result.path, output)
        self.assertTrue((self.folder / "net.h").exists())
        self.assertIn("int main(", output.read_text(encoding="utf-8"))
        self.assertNotIn("int main(", cnnc.compile(path, batch=8).text)

    def test_errors(self):
        output = self.folder / "net.cu"
        with self.assertRaisesRegex(cnnc.CompileError, "conf.*no such operator|conf") as caught:
            cnnc.compile(NET.replace("conv(8, 3)", "conf(8, 3)"), output)
        self.assertEqual(caught.exception.status, 1)
        with self.assertRaises(cnnc.CompileError) as caught:
            cnnc.memory(NET, batch=1024, budget="1MiB", checkpoint="off")
        self.assertEqual(caught.exception.status, 4)
        with self.assertRaises(TypeError):
            cnnc.compile(7, output)
        self.assertFalse(output.exists())

    def test_save(self):
        net = Net(3).add("fc", "dense", ["x"], [2], weight=numbers(2, 3), bias=numbers(2))
        converted = net.converted()
        program, weights = converted.save(self.folder)
        self.assertEqual(program, self.folder / "net_.cnn")
        self.assertEqual(program.read_text(encoding="utf-8"), converted.text)
        self.assertTrue((cnnc.weights.load(weights)["fc.weight"] == numbers(2, 3)).all())
        converted.weights["fc.weight"] = "no array"
        with self.assertRaises(Exception):
            converted.save(self.folder)
        self.assertTrue((cnnc.weights.load(weights)["fc.weight"] == numbers(2, 3)).all())
        self.assertEqual(len(list(self.folder.iterdir())), 3)

    def test_failed_write(self):
        def half(name):
            Path(name).write_text("half", encoding="utf-8")
            raise OSError("disk full")
        path = self.folder / "net.cnn"
        with self.assertRaisesRegex(OSError, "disk full"):
            replace(path, half)
        self.assertEqual([file.name for file in self.folder.iterdir()], ["net.cnn"])
        self.assertEqual(path.read_text(encoding="utf-8"), NET)


if __name__ == "__main__":
    unittest.main()
