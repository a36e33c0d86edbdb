"""cnnc.prune_channels: which channels go, and that those which contribute nothing change nothing.

    check_pruning.py INTERPRET [TEST...]

Outputs are the interpreter's, in double precision and without a pass. It runs by with_package.
"""
import contextlib
import io
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

import cnnc
from cnnc import channels, prune_command
from cnnc.compiled_graph import CompiledGraph

TESTS = Path(__file__).resolve().parents[1]
sys.path.append(str(TESTS / "golden"))
import draws  # noqa: E402

SAMPLES = 3
LIMIT = 1e-12
INTERPRET = None            # the program

# Nets, and by layer or parameter the channels that contribute nothing: their parameters are zero.
NETS = {
    "a chain": ("""
        input x : f32[6, 6, 3]
        a = x -> conv(8, 3)
        an = a -> batchnorm
        b = an -> relu -> conv(6, 3, stride = 2)
        bn = b -> batchnorm(scale = false)
        y = bn -> relu -> maxpool(2) -> conv(4, 1)
        output y""", {"a": (1, 2, 5, 7), "an": (1, 2, 5, 7), "b": (0, 3, 5), "bn": (0, 3, 5)}),
    "a residual": ("""
        input x : f32[6, 6, 3]
        a = x -> conv(8, 3)
        b = a -> relu -> conv(8, 3, bias = false)
        bn = b -> batchnorm
        s = a + bn
        c = s -> prelu -> conv(8, 3)
        d = s -> conv(8, 1)
        t = maximum(s, minimum(c, d)) - c
        y = t -> conv(2, 3)
        output y""", dict.fromkeys("a b bn conv_3 d".split(), (0, 4, 6, 7))),
    "depthwise convolutions": ("""
        input x : f32[6, 6, 3]
        a = x -> conv(6, 1)
        b = a -> relu6 -> conv(6, 3, groups = 6)
        c = b -> conv(12, 3, groups = 6)
        y = c -> conv(3, 1)
        output y""", {"a": (0, 2, 3), "b": (0, 2, 3), "c": (0, 1, 4, 5, 6, 7)}),
    "groups of channels": ("""
        input x : f32[6, 6, 3]
        a = x -> conv(8, 1)
        b = a -> relu -> conv(12, 3, groups = 4)
        c = b -> relu -> conv_transpose(8, 3, groups = 4)
        d = c -> relu -> conv(8, 1)
        e = d -> groupnorm(4) -> relu
        f = e -> conv(6, 1) -> groupnorm(6)
        y = f -> conv(2, 1)
        output y""", {"a": (2, 3, 6, 7), "b": (3, 4, 5, 9, 10, 11), "c": (2, 3, 6, 7),
                      "c.weight": (3, 4, 5, 9, 10, 11), "d": (0, 1, 4, 5), "e": (0, 1, 4, 5),
                      "conv_4": (1, 2, 4), "groupnorm_2": (1, 2, 4)}),
    "concatenations and slices": ("""
        input x : f32[4, 4, 3]
        a = x -> conv(4, 1)
        b = x -> conv(6, 1)
        b2 = x -> conv(6, 1)
        c = concat(a, b, a) -> relu
        d = c -> conv(2, 1)
        left = c -> slice(0, 4)
        right = c -> slice(4, 6)
        e = concat(right, left) -> conv(2, 3)
        tall = concat(b, b2, axis = height) -> slice(1, 5, axis = height)
        f = tall -> conv(2, 1)
        g = concat(d, e) -> conv(2, 1)
        output g, f""", {"a": (0, 1), "b": (2, 3, 5), "b2": (2, 3, 5), "d": (1,),
                        "e": (0,)}),
    "dense layers": ("""
        input x : f32[4, 3, 2]
        a = x -> conv(4, 3)
        b = a -> relu -> flatten -> dense(6)
        bn = b -> batchnorm -> leaky_relu -> dropout(0.5)
        c = bn -> dense(24)
        d = c -> reshape([2, 3, 4]) -> conv(4, 1)
        e = concat(d -> flatten, bn) -> dense(5)
        output e""", {"a": (0, 2), "b": (1, 2, 5), "bn": (1, 2, 5),
                      "c": tuple(4 * i + j for i in range(6) for j in (1, 3)), "d": (0, 3)}),
    "squeeze and excitation": ("""
        input x : f32[4, 4, 3]
        a = x -> conv(8, 3)
        s = a -> global_avgpool -> conv(4, 1) -> relu
        t = s -> conv(8, 1) -> sigmoid
        m = a * t * (a -> conv(1, 1) -> sigmoid)
        v = a -> global_maxpool -> flatten -> dense(8) -> tanh
        y = (m / (1 + m * m) + v * m) -> conv(2, 1)
        output y""", {"a": (0, 3, 4, 7), "s": (1, 2), "t": (0, 3, 4, 7),
                      "v": (0, 3, 4, 7)}),
    "shared weights": ("""
        input left : f32[5, 5, 3]
        input right : f32[5, 5, 3]
        a = left -> tower(weights = "t")
        b = right -> tower(weights = "t")
        c = a -> conv(8, 3, weights = "u") -> relu -> conv(8, 3, weights = "u")
        y = concat(c, b) -> conv(3, 1)
        output y""", {"t.conv_1": (0, 1, 2), "t.norm": (0, 1, 2), "t.conv_2": (1, 4, 5, 6),
                      "u": (1, 4, 5, 6)}),
    "pixels": ("""
        input x : f32[4, 4, 3]
        a = x -> conv(8, 3)
        b = a -> avgpool(2) -> upsample(2, mode = bilinear) -> resize(5) -> pad(1) -> crop(1x2)
        c = b -> conv(16, 3)
        d = c -> pixel_shuffle(2) -> conv(8, 3)
        e = d -> depth_to_space(2) -> conv(2, 1)
        f = e -> space_to_depth(2) -> conv(6, 1)
        g = f -> channel_shuffle(3) -> slice(2, 2)
        h = concat(f -> channel_shuffle(3), g) -> pixel_unshuffle(2) -> conv(3, 1)
        output h""", {"a": (1, 3, 5, 6), "c": (0, 1, 2, 3, 12, 13, 14, 15), "d": (1, 3, 5, 7),
                      "e": (1,), "f": (0, 2, 4)}),
    "a shuffle": ("""
        input x : f32[4, 4, 3]
        a = x -> conv(8, 3)
        y = a -> channel_shuffle(2) -> conv(2, 1)
        output y""", {"a": (0, 3, 4, 7)}),
    "other operators": ("""
        input x : f32[4, 4, 3]
        a = x -> conv(4, 3)
        b = a -> swish -> normalize([0, 0, 0, 0], [1, 2, 3, 4]) -> adaptive_avgpool(3) -> detach
        c = b -> transpose([1, 0, 2]) -> clamp(-1, 1) -> stochastic_depth(0.5) -> reshape([9, 1, 4])
        y = c -> conv_transpose(2, 2, stride = 2)
        output y""", {"a": (1, 2)}),
}
TOWER = """
block tower(x) {
    return x -> conv(6, 3) -> batchnorm(name = "norm") -> relu -> conv(8, 3)
}
"""


def program(body, end=""):
    return f"net n {{{body}\n}}\n{TOWER if 'tower' in body else ''}{end}"


def drawn(graph):
    return {value.name: draws.weight(value.name, value.shape, 0) for value in graph.weights}


def inputs_of(graph):
    return {name: draws.batch_input(name, graph.values[name].dtype, graph.values[name].shape,
                                    graph.values[name].classes, 0, 0) for name in graph.inputs}


def interpreted(text, weights, inputs, *mode):
    """The outputs of a program, or what a training step leaves; the parameters are among them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "net.cnn")
        path.write_text(text, encoding="utf-8")
        save_file({name: np.ascontiguousarray(array) for name, array in weights.items()} or
                  {"none": np.zeros(1)}, f"{folder}/weights")
        save_file(inputs, f"{folder}/batch")
        subprocess.run([INTERPRET, "-O0", *mode, "--batch", str(SAMPLES), path, "--load",
                        f"{folder}/weights", "--batch-file", f"{folder}/batch", "--save",
                        f"{folder}/outputs"], check=True, stdout=subprocess.DEVNULL)
        return load_file(f"{folder}/outputs")


def distance(ours, theirs):
    return np.abs(ours - theirs).max() / np.abs(theirs).max()


def rows_of(weights, silent):
    """By parameter, its rows of silent channels."""
    return {name: list(silent.get(name, silent.get(name.rpartition(".")[0], ())))
            for name in weights if name.endswith((".weight", ".bias", ".mean"))}


class Net(unittest.TestCase):
    """A net before and after."""

    def setUp(self):
        self.text = self.graph = self.weights = self.pruned = None

    def take(self, text):
        self.text = text
        self.graph = CompiledGraph(text, "infer", precision="f64", batch=SAMPLES)
        self.weights = drawn(self.graph)

    def prune(self, **options):
        self.pruned = cnnc.prune_channels(self.text, self.weights, precision="f64", **options)

    def assert_same_outputs(self):
        inputs = inputs_of(self.graph)
        before = interpreted(self.text, self.weights, inputs, "--infer")
        after = interpreted(self.pruned.text, self.pruned.weights, inputs, "--infer")
        for name in self.graph.outputs:
            self.assertGreater(distance(before[name][:1], before[name][1:]), 1e-3, name)
            self.assertLess(distance(after[name], before[name]), LIMIT, name)


class Exact(Net):
    """Channels that contribute nothing change no output."""

    def test_silent_channels(self):
        """The filters of silent channels are zero: these go."""
        for name, (body, silent) in NETS.items():
            with self.subTest(name):
                self.take(program(body))
                layers = {name.rpartition(".")[0] for name in self.weights}
                self.assertLessEqual(set(silent), layers | set(self.weights))
                rows = rows_of(self.weights, silent)
                for parameter, places in rows.items():
                    self.weights[parameter][places] = 0
                self.prune(keep=0.5)
                for parameter, places in rows.items():
                    if places:
                        self.assertEqual(len(self.pruned.weights[parameter]),
                                         len(self.weights[parameter]) - len(places), parameter)
                self.assert_same_outputs()

    def test_unread_channels(self):
        """No layer reads the channels that go, whatever they are."""
        for name, (body, _) in NETS.items():
            with self.subTest(name):
                self.take(program(body))
                self.prune(keep=0.4)
                for call in self.graph.calls:
                    if call.op in ("conv", "dense") and call.arguments.get("groups", 1) == 1:
                        kept = self.pruned.kept(call.operands[0])
                        self.weights[f"{call.layer}.weight"][..., ~kept] = 0
                    elif call.op == "conv_transpose" and call.arguments["groups"] == 1:
                        kept = self.pruned.kept(call.operands[0])
                        self.weights[f"{call.layer}.weight"][~kept] = 0
                self.assertTrue(any(row.after < row.before for row in self.pruned.layers))
                self.assert_same_outputs()


CHAIN = """
    input x : f32[4, 4, 2]
    a = x -> conv(4, 1, bias = false)
    b = a -> relu -> conv(5, 1, bias = false)
    c = b -> conv(45, 1, bias = false)
    y = c -> conv(3, 1)
    output y"""


class Choice(Net):
    """Which channels go, and how many."""

    def rows(self):
        return {row.layer: (row.before, row.after) for row in self.pruned.layers}

    def test_counts(self):
        """Halves are rounded up, and 0.7 is 7/10."""
        self.take(program(CHAIN))
        self.prune(keep=0.7)
        self.assertEqual(self.rows(), {"a": (4, 3), "b": (5, 4), "c": (45, 32), "y": (3, 3)})
        self.prune(keep=0.5)
        self.assertEqual(self.rows(), {"a": (4, 2), "b": (5, 3), "c": (45, 23), "y": (3, 3)})

    def test_one_stays(self):
        self.take(program(CHAIN))
        self.prune(keep=0.001)
        self.assertEqual(self.rows(), {"a": (4, 1), "b": (5, 1), "c": (45, 1), "y": (3, 3)})

    def test_multiples(self):
        self.take(program(CHAIN))
        self.prune(keep=0.3, round=8)
        self.assertEqual(self.rows(), {"a": (4, 4), "b": (5, 5), "c": (45, 16), "y": (3, 3)})
        self.take(program("""
            input x : f32[4, 4, 2]
            a = x -> conv(64, 1) -> groupnorm(32)
            y = a -> conv(3, 1)
            output y"""))
        self.prune(keep=0.3, round=8)
        self.assertEqual(self.rows(), {"conv_1": (64, 24), "y": (3, 3)})

    def test_norms(self):
        """The filters of the least L1 norms go, and not those of the least L2 norms."""
        self.take(program(CHAIN))
        self.weights["a.weight"] = np.array([[3, 0], [2, -2], [0, 1], [1, 1.5]]) \
            .reshape(4, 1, 1, 2)
        self.prune(keep=0.5)
        self.assertEqual(self.pruned.weights["a.weight"].reshape(2, 2).tolist(), [[3, 0], [2, -2]])
        self.assertTrue((self.pruned.kept("a") == [True, True, False, False]).all())

    def test_equal_norms(self):
        """The first ones of equal norms stay."""
        self.take(program(CHAIN))
        self.weights["a.weight"][...] = 1
        self.prune(keep=0.5)
        self.assertTrue((self.pruned.kept("a") == [True, True, False, False]).all())

    def test_sum_of_group(self):
        """The channels of a sum have the sum of both norms. A shared filter counts once."""
        self.take(program("""
            input x : f32[4, 4, 2]
            a = x -> conv(2, 1, bias = false, weights = "a")
            b = x * 2 -> conv(2, 1, bias = false, weights = "a")
            c = x -> conv(2, 1, bias = false)
            y = (a + b + c) -> conv(3, 1)
            output y"""))
        self.weights["a.weight"][..., 0] = [[[3]], [[1]]]
        self.weights["a.weight"][..., 1] = 0
        self.weights["c.weight"][..., 0] = 0
        for other, kept in ((4, [False, True]), (2.5, [False, True]), (1.5, [True, False])):
            self.weights["c.weight"][..., 1] = [[[0.25]], [[other]]]
            self.prune(keep=0.5)
            self.assertEqual(self.pruned.kept("c").tolist(), kept)

    def test_transposed_filters(self):
        """A filter of conv_transpose is a column of each row, and rows of a group."""
        for groups, kept in ((1, [False, True, False, True]), (2, [True, True, False, False])):
            self.take(program(f"""
                input x : f32[2, 2, 3]
                a = x -> conv(4, 1)
                b = a -> conv_transpose(4, 1, groups = {groups}, bias = false)
                y = b -> conv(2, 1)
                output y"""))
            self.weights["a.weight"][...] = 1
            weight = self.weights["b.weight"]
            weight[...] = np.array([1, 5, 2, 4])[:4 // groups]
            weight[2:] /= groups
            self.prune(keep=0.5)
            self.assertEqual(self.pruned.kept("b").tolist(), kept)

    def test_each_part_keeps_one(self):
        """Each operand of a concatenation and each slice keeps its share."""
        self.take(program("""
            input x : f32[4, 4, 2]
            a = x -> conv(4, 1)
            b = x -> conv(6, 1)
            c = concat(a, b)
            y = concat(c, c -> slice(1, 2) -> conv(2, 1)) -> conv(3, 1)
            output y"""))
        self.weights["a.weight"] *= 1e-6
        self.prune(keep=0.5)
        kept = self.pruned.kept("c")
        self.assertEqual((kept[1:3].sum(), kept[[0, 3]].sum(), kept[4:].sum()), (1, 1, 3))


class Left(Net):
    """Layers that keep all their channels, and why."""

    REASONS = (
        ("y = a -> conv(2, 1)\noutput y", "y", "its channels are those of output y"),
        ("y = a -> conv(2, 1)\noutput y, a", "a", "its channels are those of output a"),
        ("s = x + (a -> conv(4, 1))\ny = s -> conv(2, 1)\noutput y", "s",
         "its channels are those of input x"),
        ("n = a -> layernorm\ny = n -> conv(2, 1)\noutput y", "a",
         "n normalizes all its channels together"),
        ("n = a -> softmax\ny = n -> conv(2, 1)\noutput y", "a", "n sums over its channels"),
        ("n = a -> lrn(3)\ny = n -> conv(2, 1)\noutput y", "a", "n sums over its channels"),
        ("n = a -> transpose([2, 1, 0])\ny = n -> conv(2, 1)\noutput y", "a",
         "n makes another axis of its channels"),
        ("n = a -> groupnorm(1)\ny = n -> conv(2, 1)\noutput y", "a",
         "its channels can be cut together alone"),
        ("y = a -> conv(2, 1)\noutput y\nloss mse(a, x)", "a", "mse reads its channels"),
    )

    def test_reasons(self):
        for body, layer, reason in self.REASONS:
            with self.subTest(body):
                self.take(program("\ninput x : f32[4, 4, 4]\na = x -> conv(4, 1)\n" + body))
                self.prune(keep=0.5)
                reasons = {row.layer: row.reason for row in self.pruned.layers}
                self.assertEqual(reasons[layer], reason)
                self.assertEqual(len(self.pruned.weights[f"{layer}.weight"]),
                                 len(self.weights[f"{layer}.weight"]))

    def test_skip(self):
        self.take(program(CHAIN))
        self.prune(keep=0.5, skip=["[ab]"])
        self.assertEqual([row.reason for row in self.pruned.layers],
                         ["its channels are those of a layer like [ab]"] * 2 +
                         [None, "its channels are those of output y"])
        self.assertEqual([row.after for row in self.pruned.layers], [4, 5, 23, 3])

    def test_numbers(self):
        self.take(program(CHAIN))
        self.prune(keep=1)
        self.assertEqual(self.pruned.layers[0].reason, "all 4 are kept by the numbers given")
        self.assertTrue(all(np.array_equal(self.pruned.weights[name], array)
                            for name, array in self.weights.items()))


TRAINED = """
rate = 0.1
steps = 3 * 20
width = 4                       # unused by the section
block unit(x, n) {
    y = x -> conv(n, 3, init = 0.25, bias = false) -> batchnorm -> relu -> checkpoint
    return y + (y -> conv(n, 1, train = bias) -> dropout(0.25, name = "drop"))
}
net trained {
    input image : u8[6, 6, 3]
    input label : class[5]
    input target : f32[2]
    x = image -> scale(1/255)
    repeat 2 as i { x = x -> unit(width * (i + 1), name = "stage") }
    side = x -> flatten -> dense(2, train = none) -> tanh
    float32 side
    logits = x -> global_avgpool -> flatten -> dense(5) -> scale(2)
    output logits, side
    loss softmax_cross_entropy(logits, label, label_smoothing = 0.1)
    loss mse(side, target, weight = 0.5)
    metric accuracy(logits, label)
    metric mse(side, target)
}
train {
    # a comment with a }
    batch     = 3
    optimizer = sgd(lr = rate, momentum = 0.9)
    schedule  = cosine(steps = steps)
    freeze    = "*.batchnorm_1.bias"
    rate      = "stage*": 1/2
}
"""


class Text(Net):
    """The smaller program: what it takes over."""

    def test_training(self):
        """With all channels a training step leaves the same bits."""
        for text in (TRAINED, *((TESTS / "ops" / f"{name}.cnn").read_text(encoding="utf-8")
                                for name in ("focal", "dropout", "mean_iou", "top_k"))):
            graph = CompiledGraph(text, "train", precision="f64", batch=SAMPLES)
            weights = drawn(graph)
            pruned = cnnc.prune_channels(text, weights, keep=1, precision="f64")
            before, after = (interpreted(each, weights, inputs_of(graph))
                             for each in (text, pruned.text))
            self.assertEqual(list(before), list(after))
            for name, array in before.items():
                self.assertTrue(np.array_equal(array, after[name]), name)
            marked = {"checkpoint": "marked", "precision": "f16"}
            for options in ({}, marked) if text is TRAINED else ({},):
                self.assertEqual(cnnc.memory(text, **options), cnnc.memory(pruned.text, **options))

    def test_arena(self):
        """A training step with 70 % of the channels takes a quarter less memory."""
        net = TESTS.parent / "examples" / "digits" / "digits.cnn"
        self.take(str(net))
        self.prune(keep=0.7)
        before, after = cnnc.memory(net), cnnc.memory(self.pruned)
        self.assertLess(after, 0.75 * before)

    def test_section(self):
        self.take(TRAINED)
        self.prune(define={"rate": "0.25"})
        section = TRAINED[TRAINED.index("train {"):]
        self.assertTrue(self.pruned.text.endswith("\nrate = 0.25\nsteps = 60\n\n" + section))

    def test_names(self):
        self.take(TRAINED)
        self.prune(keep=0.5)
        graph = CompiledGraph(self.pruned.text, "infer")
        self.assertEqual([value.name for value in graph.weights], list(self.weights))
        self.assertEqual((graph.inputs, graph.outputs), (self.graph.inputs, self.graph.outputs))
        self.assertEqual(self.pruned.weights["stage.conv_1.weight"].shape, (2, 3, 3, 3))
        self.assertEqual(self.pruned.weights["stage_2.conv_2.weight"].shape, (4, 1, 1, 4))
        self.assertEqual(self.pruned.weights["side.weight"].shape, (2, 4 * 36))

    def test_included(self):
        """The section train may be in another file than the net."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "net.cnn")
            head, section = TRAINED.split("train {")
            Path(folder, "rest.inc").write_text(head[:head.index("net")], encoding="utf-8")
            path.write_text(f'include "rest.inc"\n{head[head.index("net"):]}train {{{section}',
                            encoding="utf-8")
            self.take(str(path))
            self.prune(keep=0.5)
        self.assertIn("\nrate = 0.10000000000000001\nsteps = 60\n\ntrain {", self.pruned.text)

    def test_inference(self):
        """A net without a section train keeps its dropout."""
        self.take(program("""
            input x : f32[4, 4, 2]
            a = x -> conv(4, 1) -> dropout(0.5) -> relu
            y = a -> conv(3, 1) -> dropout(0.5)
            output y"""))
        self.prune(keep=0.5)
        self.assertEqual(self.pruned.text.count("dropout(0.5"), 2)
        self.assertEqual(CompiledGraph(self.pruned.text, "infer").outputs, self.graph.outputs)


class Refusals(Net):
    def refused(self, error, pattern, **options):
        with self.assertRaisesRegex(error, pattern):
            self.prune(**options)

    def test_arguments(self):
        self.take(program(CHAIN))
        for keep in (0, -1, 1.5):
            self.refused(ValueError, f"keep: wanted a number above 0, at most 1; found {keep}",
                         keep=keep)
        self.refused(ValueError, "round: wanted 1 or a larger integer; found 0", round=0)
        self.refused(ValueError, r"skip: no layer with channels has a name like head\*",
                     skip=["a", "head*"])

    def test_weights(self):
        self.take(program(CHAIN))
        weight = self.weights.pop("b.weight")
        self.refused(cnnc.WeightError, r"wanted b.weight \[5, 1, 1, 4\], found no such tensor")
        self.weights["b.weight"] = weight[:4]
        self.refused(cnnc.WeightError, r"b.weight: wanted \[5, 1, 1, 4\], found \[4, 1, 1, 4\]")
        self.weights |= {"b.weight": weight, "z.weight": weight}
        self.refused(cnnc.WeightError, "the net has no z.weight")
        del self.weights["z.weight"]
        weight[1, 0, 0, 2] = np.nan
        self.refused(cnnc.WeightError, "b.weight: wanted finite numbers, found others")

    def test_program(self):
        self.weights = {}
        self.text = "net n {\n    input x : f32[3]\n    y = x -> relu7\n    output y\n}\n"
        self.refused(cnnc.CompileError, "relu7")


class Rules(unittest.TestCase):
    def test_operators(self):
        """Each operator of the compiler has a rule, or no net calls it."""
        table = (TESTS.parent / "ir" / "ops.def").read_text(encoding="utf-8")
        rows = re.findall(r'^OP\((\w+), "[^"]*",\s+([A-Z_0-9 |]+)', table, re.MULTILINE)
        called = {name for name, flags in rows
                  if {"LAYER", "LOSS", "METRIC"} & set(flags.split(" | "))}
        self.assertEqual(called, set(channels.CHANNELS))
        self.assertEqual({name for name, _ in rows} - called, channels.NOT_CALLED)


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.net = self.folder / "net.cnn"
        self.net.write_text(TRAINED, encoding="utf-8")
        graph = CompiledGraph(str(self.net), "infer")
        save_file({name: array.astype(np.float32) for name, array in drawn(graph).items()},
                  str(self.folder / "trained"))

    def run_with(self, *arguments, load="trained"):
        """The exit status, and the texts of both streams."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = prune_command.main(
                [str(self.net), "--load", str(self.folder / load), "--save",
                 str(self.folder / "small.cnn"), "--save-weights", str(self.folder / "small"),
                 *arguments])
        return status, out.getvalue(), err.getvalue()

    def test_files(self):
        status, out, err = self.run_with("--keep", "0.5", "--skip", "stage_2*", "-D", "rate=0.2")
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"(?m)^stage.conv_1 +4 -> 2$")
        self.assertRegex(out, r"(?m)^logits +5 -> 5 +its channels are those of output logits$")
        self.assertRegex(out, r"(?m)^stage_2.conv_1 +8 -> 8 +.* a layer like stage_2\*$")
        weights = load_file(str(self.folder / "small"))
        sizes = sum(array.size for array in weights.values())
        whole = sum(array.size for array in load_file(str(self.folder / "trained")).values())
        self.assertRegex(out, rf"(?m)^parameters +{whole} -> {sizes} +-\d+\.\d %$")
        for mode, word in (("train", "training"), ("infer", "inference")):
            arenas = [cnnc.memory(str(self.folder / name), mode=mode)
                      for name in ("net.cnn", "small.cnn")]
            self.assertRegex(out, rf"(?m)^bytes of {word} +{arenas[0]} -> {arenas[1]} ")
        self.assertIn("rate = 0.2", (self.folder / "small.cnn").read_text(encoding="utf-8"))
        self.assertEqual(weights["stage.conv_1.weight"].dtype, np.float32)

    def test_errors(self):
        for arguments, wanted in ((("--keep", "2"), "keep: wanted"), (("--skip", "q"), "skip: no")):
            status, out, err = self.run_with(*arguments)
            self.assertEqual((status, out), (1, ""))
            self.assertIn(f"cnnc-prune-channels: error: {wanted}", err)
        self.assertIn("absent", self.run_with(load="absent")[2])
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()),
                         ["net.cnn", "trained"])


if __name__ == "__main__":
    INTERPRET = sys.argv.pop(1)
    unittest.main()
