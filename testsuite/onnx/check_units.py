"""Models of ONNX as nets: names, shapes that are computed, parameters, refusals.

    check_units.py [TEST...]

It runs by with_onnx.
"""
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import cnnc
from reference_operators import evaluate


def numbers(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


class Model:
    """Builds a model of an input x of this shape. A word is an open size."""

    def __init__(self, *shape, opset=18):
        self.nodes, self.arrays, self.opset = [], [], opset
        self.given = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
        self.last = "x"

    def add(self, op, *others, of=None, name="", output=None, **attributes):
        """A node of the last result, or of `of`, and of other tensors or arrays."""
        inputs = [self.last if of is None else of]
        for at, other in enumerate(others):
            if isinstance(other, np.ndarray):
                word = f"{name.strip('/').replace('/', '.').rpartition('.')[0]}.{'wbmv'[at]}" \
                    if name else f"array{len(self.arrays)}"
                self.arrays.append(numpy_helper.from_array(other, word))
                other = word
            inputs.append(other)
        self.last = output or f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [self.last], name, **attributes))
        return self

    def proto(self, *outputs):
        results = [helper.make_empty_tensor_value_info(name) for name in outputs or [self.last]]
        graph = helper.make_graph(self.nodes, "Small", self.given, results, self.arrays)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])

    def net(self, **options):
        return cnnc.from_onnx(self.proto(), **options)


def body(net):
    """The statements of a net."""
    return net.text.partition("\n\n")[2].partition("\n\n")[0].strip()


class Conversions(unittest.TestCase):
    def test_names(self):
        model = Model("batch", 3, 8, 8)
        model.add("Conv", numbers(4, 3, 3, 3), numbers(4), name="/stem/stem.0/Conv",
                  pads=[1, 1, 1, 1])
        model.add("BatchNormalization", *(numbers(4) for _ in range(4)), name="/stem/stem.1/BN",
                  momentum=0.8)
        model.add("Relu", name="/stem/stem.2/Relu")
        net = model.net()
        self.assertEqual(body(net), "stem_stem_0 = x -> conv(4, 3)\n    stem_stem_1 = stem_stem_0 "
                         "-> batchnorm(momentum = 0.2)\n    stem_2_relu = stem_stem_1 -> relu")
        self.assertEqual(net.names["stem.stem.0.w"], "stem_stem_0.weight")

    def test_shapes(self):
        """A reshape whose shape is computed of the input's."""
        model = Model("n", 4, 6, 6)
        model.add("Shape", output="shape").add("Gather", np.array(0), of="shape", output="first")
        model.add("Unsqueeze", np.array([0]), of="first", output="size")
        model.add("Concat", np.array([-1]), of="size", output="sizes", axis=0)
        model.add("Reshape", "sizes", of="x").add("Gemm", numbers(5, 144), transB=1, alpha=0.5)
        net = model.net()
        self.assertEqual(body(net), "dense = x -> flatten -> dense(5, bias = false)")
        order = np.arange(144).reshape(4, 6, 6).transpose(1, 2, 0).ravel()
        weight, = net.weights.values()
        self.assertTrue((weight == numbers(5, 144)[:, order] / 2).all())

    def test_bias(self):
        model = Model(2, 6).add("MatMul", numbers(6, 4)).add("Add", numbers(4))
        net = model.net()
        self.assertEqual(body(net), "dense = x -> dense(4)")
        self.assertTrue((net.weights["dense.bias"] == numbers(4)).all())
        model = Model(2, 6).add("MatMul", numbers(6, 4), output="m").add("Add", numbers(4))
        model.add("Add", "m")
        net = model.net(loss="mse")
        self.assertIn("conv(4, 1, groups = 4, train = bias)", body(net))
        self.assertEqual(sorted(net.weights), ["channel_scale.bias", "channel_scale.weight",
                                               "dense.weight"])
        model = Model(2, 4, 5, 5).add("Mul", numbers(4, 1, 1)).add("Add", numbers(4, 1, 1))
        self.assertEqual(body(model.net()), "channel_scale = x -> conv(4, 1, groups = 4)")

    def test_shared(self):
        """Layers of one operator share their tensors."""
        weight = numbers(6, 6)
        model = Model(2, 6).add("MatMul", weight, output="m").add("MatMul", "array0")
        for options in {}, {"loss": "mse"}:
            net = model.net(**options)
            self.assertEqual(body(net), 'dense = x -> dense(6, bias = false, weights = "dense")\n'
                             '    dense_1 = dense -> dense(6, bias = false, weights = "dense")')
            self.assertEqual(net.names, {"array0": "dense.weight"})
            self.assertTrue((net.weights["dense.weight"] == weight.T).all())
        norms = Model(2, 4, 5, 5).add("BatchNormalization", *(numbers(4) for _ in range(4)))
        norms.add("BatchNormalization", *(f"array{i}" for i in range(4)))
        self.assertEqual(len(norms.net(loss="mse").weights), 4)

    def test_copies(self):
        """A tensor that is read in another way, or with other tensors, is a parameter of each."""
        weight = numbers(6, 6)
        model = Model(2, 6).add("MatMul", weight, output="m").add("Gemm", "array0", transB=1)
        net = model.net(loss="mse")
        self.assertEqual(sorted(net.names), ["array0", "array0_"])
        self.assertTrue((net.weights["dense.weight"] == weight.T).all())
        self.assertTrue((net.weights["dense_1.weight"] == weight).all())
        model = Model(2, 4, 5, 5).add("Conv", numbers(4, 4, 1, 1), output="m")
        model.add("Conv", "array0", numbers(4))
        self.assertEqual(len(model.net(loss="mse").weights), 3)
        # One of them reads a flattened map, whose columns have another order.
        model = Model(2, 4, 2, 3).add("Flatten", output="a")
        model.add("Gemm", numbers(5, 24), transB=1, output="fc")
        model.add("Transpose", of="x", perm=[0, 2, 3, 1]).add("Flatten")
        model.add("Gemm", "array0", transB=1).add("Add", "fc")
        self.assertEqual(len(model.net(loss="mse").weights), 2)

    def test_gather(self):
        """Indices that follow each other are a slice; concat takes at most 32 values."""
        def of(indices):
            return Model(2, 200).add("Gather", np.array(indices), axis=1)
        text = body(of([5, 6, 7, 9, 0, 1]).net())
        self.assertEqual(text.count("slice("), 3)
        x = numbers(2, 200)
        for count in (32, 33, 130, 1100):
            indices = [7 * at % 200 for at in range(count)]
            found, = evaluate(cnnc.to_onnx(of(indices).net()), {"x": x}).values()
            self.assertTrue((found == x[:, indices]).all())
        for index in (200, -201):
            with self.assertRaisesRegex(cnnc.Unsupported, f"index {index} of an axis of 200"):
                of([0, index]).net()

    def test_shuffles(self):
        for first, perm, last, words in (
                ([2, 2, 4, 6, 6], [0, 2, 1, 3, 4], [2, 8, 6, 6], "channel_shuffle(2)"),
                ([2, 2, 2, 2, 6, 6], [0, 1, 4, 2, 5, 3], [2, 2, 12, 12], "pixel_shuffle(2)"),
                ([2, 2, 2, 2, 6, 6], [0, 3, 4, 1, 5, 2], [2, 2, 12, 12], "depth_to_space(2)"),
                ([2, 8, 3, 2, 3, 2], [0, 1, 3, 5, 2, 4], [2, 32, 3, 3], "pixel_unshuffle(2)"),
                ([2, 8, 3, 2, 3, 2], [0, 3, 5, 1, 2, 4], [2, 32, 3, 3], "space_to_depth(2)")):
            model = Model(2, 8, 6, 6).add("Reshape", np.array(first))
            model.add("Transpose", perm=perm).add("Reshape", np.array(last))
            self.assertTrue(body(model.net()).endswith(f"x -> {words}"), words)

    def test_loss(self):
        model = Model(2, 6).add("Gemm", numbers(6, 4), numbers(4))
        for loss, target, metric in (
                ("softmax_cross_entropy", "label : class[4]", "accuracy"),
                ("nll", "label : class[4]", "accuracy"),
                ("binary_cross_entropy", "target : f32[4]", None),
                ("focal", "target : f32[4]", None),
                ("mse", "target : f32[4]", "mean_absolute_error"),
                ("mean_absolute_error", "target : f32[4]", None),
                ("smooth_l1", "target : f32[4]", "mean_absolute_error")):
            net = model.net(loss=loss)
            name = target.partition(" ")[0]
            self.assertIn(f"input {target}\n", net.text)
            self.assertIn(f"loss   {loss}(dense, {name})\n", net.text)
            self.assertEqual(net.text.count("metric"), 1 if metric else 0)
            self.assertIn(f"metric {metric}(dense, {name})\n" if metric else "", net.text)
            self.assertGreater(cnnc.memory(net, batch=2), 0)
        with self.assertRaisesRegex(ValueError, "loss: wanted softmax_cross_entropy, nll, .*huber"):
            model.net(loss="huber")

    def test_path(self):
        model = Model("n", 3, "h", "w").add("Relu")
        with tempfile.TemporaryDirectory() as folder:
            onnx.save(model.proto(), f"{folder}/tiny.onnx")
            net = cnnc.from_onnx(f"{folder}/tiny.onnx", shapes={"x": [1, 3, 5, 7]})
        self.assertIn("net tiny {\n    input x : f32[5, 7, 3]", net.text)

    def test_samples(self):
        net = Model(2, 3, 4).add("Relu").net(batch=False)
        self.assertIn("input x : f32[3, 4, 2]", net.text)
        self.assertEqual(net.axes["x"], (2, 0, 1))


class Refusals(unittest.TestCase):
    def check(self, model, *words, **options):
        with self.subTest(words[0]), self.assertRaises(cnnc.Unsupported) as caught:
            model.net(**options)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_file_of_another_format(self):
        with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
            file.write(b"a text")
            file.flush()
            with self.assertRaisesRegex(cnnc.Unsupported, f"{file.name}: wanted a model of ONNX"):
                cnnc.from_onnx(file.name)

    def test_nodes(self):
        x = 2, 4, 6, 6
        for op, others, attributes, words in (
                ("Sign", (), {}, "there is no such operator in cnnc"),
                ("Mish", (), {"alpha": 1.0}, "Unrecognized attribute: alpha"),
                ("Add", (numbers(4, 6, 6),), {}, "a constant tensor [4, 6, 6]"),
                ("MatMul", (numbers(2, 4, 6, 6),), {}, "wanted a matrix as the second"),
                ("MatMul", ("x",), {}, "the second matrix is computed"),
                ("Transpose", (), {"perm": [1, 0, 2, 3]}, "moves the batch"),
                ("Reshape", (np.array([4, 2, 36]),), {}, "does not begin with the batch"),
                ("ReduceMean", (np.array([0]),), {}, "along the batch"),
                ("Cast", (), {"to": 7}, "no float"),
                ("Slice", (np.array([5]), np.array([0]), np.array([2]), np.array([-1])), {},
                 "steps [-1]"),
                ("Resize", ("", np.array([1, 1, 2, 2], np.float32)), {"mode": "cubic"},
                 "no mode of cnnc"),
                ("Resize", ("", np.array([1, 1, 1.4, 1.4], np.float32)), {"mode": "linear"},
                 "no mode of cnnc"),
                ("LRN", (), {"size": 4}, "size"),
                ("LpPool", (), {"kernel_shape": [2, 2], "p": 3}, "p = 3")):
            self.check(Model(*x).add(op, *others, name="/a/b/op", **attributes),
                       f"/a/b/op: {op}", words)

    def test_inputs(self):
        self.check(Model("n", 3, "h", 8).add("Relu"), "input x: axis 2 has no size")
        model = Model(2, 3).add("Relu")
        model.given[0].type.tensor_type.elem_type = TensorProto.INT64
        self.check(model, "reads the integers x")
        model.given[0].type.tensor_type.elem_type = TensorProto.UINT8
        self.check(model, "input x: wanted a tensor of floats")
        model = Model(2, 3).add("Relu")
        model.given.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 3]))
        self.check(model, "input y: a batch of 4")
        self.check(Model(2, 4, 6, 6).add("Add", "y"), "reads y")
        model = Model(2, 4, 6, 6).add("MaxPool", kernel_shape=[2, 2])
        model.nodes[0].output.append("indices")
        self.check(model.add("Cast", of="indices", to=1), "reads indices")


if __name__ == "__main__":
    unittest.main()
