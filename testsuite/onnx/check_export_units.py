"""Nets as models of ONNX: names, layouts, weights, files, refusals.

    check_export_units.py [TEST...]

It runs by with_onnx.
"""
import os
import tempfile
import unittest
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from safetensors.numpy import save_file

import cnnc
from cnnc import onnx_writer
from cnnc.compiled_graph import CompiledGraph
from reference_operators import evaluate

NET = """net small {
    input image : f32[6, 5, 3]
    stem = image -> conv(8, 3, stride = 2, bias = false) -> batchnorm(epsilon = 0.5) -> relu
    logits = stem -> flatten -> dense(4)
    output logits
}"""


def numbers(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) / 8 + 1


def weights_of(net, **options):
    return {value.name: numbers(*value.shape)
            for value in CompiledGraph(net, "infer", **options).weights}


def exported(net, **options):
    model = cnnc.to_onnx(net, weights_of(net), **options)
    if "path" not in options:
        onnx.checker.check_model(model, full_check=True)
    return model


def body(*lines):
    return "net n {\n    " + "\n    ".join(lines) + "\n}"


def operators(model):
    return [node.op_type for node in model.graph.node]


def arrays_of(model):
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}


def shape_of(port):
    return [axis.dim_param or axis.dim_value for axis in port.type.tensor_type.shape.dim]


class Names(unittest.TestCase):
    def test_names(self):
        model = exported(NET)
        self.assertEqual([(node.name, node.op_type, node.output[0]) for node in model.graph.node],
                         [("conv_1", "Conv", "conv_1"),
                          ("batchnorm_1", "BatchNormalization", "batchnorm_1"),
                          ("relu_1", "Relu", "stem"), ("flatten_1", "Flatten", "flatten_1"),
                          ("logits", "Gemm", "logits")])
        self.assertEqual(set(arrays_of(model)), set(weights_of(NET)))
        self.assertEqual([model.graph.name, model.producer_name, model.opset_import[0].version],
                         ["small", "cnnc", 17])
        self.assertIn("[N, channels, height, width]", model.graph.doc_string)
        self.assertEqual({prop.key: prop.value for prop in model.metadata_props},
                         {"cnnc.layout": "nchw"})

    def test_shapes(self):
        image, = exported(NET).graph.input
        logits, = exported(NET).graph.output
        self.assertEqual([image.name, shape_of(image)], ["image", ["N", 3, 6, 5]])
        self.assertEqual([logits.name, shape_of(logits)], ["logits", ["N", 4]])
        image, = exported(NET, batch=7, layout="nhwc").graph.input
        self.assertEqual(shape_of(image), [7, 6, 5, 3])

    def test_types(self):
        model = exported(body("input a : u8[4]", "input b : i32[4]",
                              "y = (a -> scale(1/255)) + (b -> scale(2))", "output y"))
        self.assertEqual([port.type.tensor_type.elem_type for port in model.graph.input],
                         [onnx.TensorProto.UINT8, onnx.TensorProto.INT32])
        a, b = np.full((2, 4), 51, np.uint8), np.full((2, 4), -3, np.int32)
        self.assertTrue(np.allclose(evaluate(model, {"a": a, "b": b})["y"], 0.2 - 6))

    def test_batches(self):
        """The batch is open in reshapes and resizes too."""
        model = exported(body("input x : f32[4, 4, 2]", "a = x -> reshape([32, 1, 1])",
                              "b = x -> resize(5x7, mode = bilinear)",
                              "c = x -> groupnorm(1) -> channel_shuffle(2)", "output a, b, c"))
        for samples in (1, 3):
            found = evaluate(model, {"x": numbers(samples, 2, 4, 4)})
            self.assertEqual([array.shape for array in found.values()],
                             [(samples, 1, 32, 1), (samples, 2, 5, 7), (samples, 2, 4, 4)])

        text = body("input x : f32[4, 4, 2]", "y = x -> resize(5x7, mode = bilinear)", "output y")
        self.assertEqual(operators(exported(text, batch=3)), ["Resize"])

    def test_outputs(self):
        """Outputs have their names, whichever nodes read them."""
        model = exported(body("input x : f32[2, 3, 4]", "a = x -> relu", "b = a -> detach",
                              "c = a -> transpose([1, 0, 2])", "d = c -> flatten",
                              "e = d -> dense(2)", "output b, a, c, d, e"))
        x = numbers(2, 2, 3, 4) - 4
        found = evaluate(model, {"x": x.transpose(0, 3, 1, 2)})
        self.assertEqual(list(found), ["b", "a", "c", "d", "e"])
        a = np.maximum(x, 0)
        flat = a.transpose(0, 2, 1, 3).reshape(2, -1)
        for name, wanted in (("a", a), ("b", a), ("c", a.transpose(0, 2, 1, 3))):
            self.assertTrue((found[name] == wanted.transpose(0, 3, 1, 2)).all(), name)
        self.assertTrue((found["d"] == flat).all())
        self.assertTrue(np.allclose(found["e"], flat @ numbers(2, 24).T + numbers(2)))
        model = exported(body("input x : f32[2, 3, 4]", "a = x -> layernorm", "b = a -> detach",
                              "output b, a"))
        found = evaluate(model, {"x": x.transpose(0, 3, 1, 2)})
        self.assertEqual({name: array.shape for name, array in found.items()},
                         {"b": (2, 4, 2, 3), "a": (2, 4, 2, 3)})
        self.assertTrue((found["a"] == found["b"]).all())


class Layouts(unittest.TestCase):
    def test_weights(self):
        """Windows come last, and columns of a flattened map are in the map's order."""
        arrays = arrays_of(exported(NET))
        self.assertTrue((arrays["conv_1.weight"] ==
                         numbers(8, 3, 3, 3).transpose(0, 3, 1, 2)).all())
        self.assertTrue((arrays["logits.weight"] == numbers(4, 3, 3, 8).transpose(0, 3, 1, 2)
                         .reshape(4, -1)).all())

    def test_nhwc(self):
        text = body("input x : f32[5, 4, 3]", "y = x -> conv(2, 3) -> relu", "output y")
        first, last = exported(text), exported(text, layout="nhwc")
        self.assertEqual(operators(first), ["Conv", "Relu"])
        self.assertEqual(operators(last), ["Transpose", "Conv", "Relu", "Transpose"])
        self.assertEqual({node.name for node in last.graph.node},
                         {"x.nchw", "y", "relu_1", "y.nhwc"})
        x = numbers(2, 3, 5, 4)
        y = evaluate(first, {"x": x})["y"]
        moved = evaluate(last, {"x": np.moveaxis(x, 1, -1)})["y"]
        self.assertTrue((np.moveaxis(moved, -1, 1) == y).all())

    def test_views(self):
        """No node moves axes where an operator may read the tensor as it is."""
        text = body("input x : f32[4, 4, 3]", "input v : f32[48]",
                    "a = x -> transpose([2, 0, 1]) -> relu -> transpose([1, 2, 0]) -> conv(3, 1)",
                    "b = x -> flatten -> dense(48) -> batchnorm -> prelu -> dropout(0.5)",
                    "c = x -> flatten -> relu -> reshape([4, 4, 3]) -> conv(3, 1)",
                    "d = x -> global_avgpool -> layernorm -> conv(2, 1)",
                    "e = concat(x -> flatten, v) -> dense(2)", "output a, b, c, d, e")
        found = operators(exported(text))
        self.assertEqual([found.count(op) for op in ("Transpose", "Gather", "Identity")], [0, 0, 0])

    def test_vectors(self):
        """Vectors that were maps, with other vectors, and with numbers for each element."""
        text = body("input x : f32[2, 3, 4]", "input v : f32[24]", "flat = x -> flatten",
                    "a = flat + v", "b = concat(flat, v)", "c = flat -> slice(5, 7)",
                    "d = flat -> batchnorm", "e = flat -> prelu", "f = v - flat",
                    "g = flat -> layernorm", "h = flat -> normalize([1], [2]) -> reshape([4, 6])",
                    "output a, b, c, d, e, f, g, h")
        x, v = numbers(2, 2, 3, 4) - 4, numbers(2, 24) / 3
        found = evaluate(exported(text), {"x": np.moveaxis(x, -1, 1), "v": v})
        flat, factor = x.reshape(2, 24), numbers(24)
        apart = flat - flat.mean(1, keepdims=True)
        normal = apart / np.sqrt((apart ** 2).mean(1, keepdims=True) + 1e-5)
        wanted = {"a": flat + v, "b": np.concatenate([flat, v], 1), "c": flat[:, 5:12],
                  "d": (flat - factor) / np.sqrt(factor + 1e-5) * factor + factor,
                  "e": np.where(flat > 0, flat, flat * factor), "f": v - flat,
                  "g": normal * factor + factor,
                  "h": ((flat - 1) / 2).reshape(2, 4, 6)}
        for name, array in wanted.items():
            self.assertTrue(np.allclose(found[name], array, 1e-5, 1e-5), name)

    def test_resize(self):
        """Rows by number where coordinates that are rounded could meet others."""
        def of(call):
            return operators(exported(body("input x : f32[6, 9, 2]", f"y = x -> {call}",
                                           "output y")))
        self.assertEqual(of("upsample(3)"), ["Resize"])
        self.assertEqual(of("resize(12x27)"), ["Resize"])
        self.assertEqual(of("resize(4x3)"), ["Gather", "Gather"])
        self.assertEqual(of("resize(3x9, mode = nearest_exact)"), ["Gather", "Gather"])
        self.assertEqual(of("resize(7x11, mode = bilinear)"),
                         ["Shape", "Slice", "Concat", "Resize"])

    def test_bias(self):
        text = body("input x : f32[4, 4, 3]", "a = x -> conv(2, 3)",
                    "b = x -> conv_transpose(2, 3, stride = 2)", "c = a -> flatten -> dense(3)",
                    "output b, c")
        model = exported(text)
        self.assertEqual({node.op_type: len(node.input) for node in model.graph.node},
                         {"Conv": 3, "ConvTranspose": 3, "Flatten": 1, "Gemm": 3})


class Opsets(unittest.TestCase):
    POOL = body("input x : f32[9, 9, 2]", "y = x -> avgpool(3, stride = 1, dilation = 2)",
                "output y")

    def test_opset(self):
        self.assertEqual(exported(self.POOL).opset_import[0].version, 19)
        with self.assertRaisesRegex(cnnc.Unsupported, "stdin:3:14: y: avgpool: a dilated "
                                    "AveragePool is an operator of opset 19, and the opset is 17"):
            exported(self.POOL, opset=17)
        model = exported(body("input x : f32[3]", "y = x -> gelu", "output y"), opset=20)
        self.assertEqual(operators(model), ["Gelu"])

    def test_padding(self):
        """AveragePool of ONNX wants a padding below its window without dilation."""
        text = body("input x : f32[9, 9, 2]", "y = x -> avgpool(2, padding = 2, dilation = 3)",
                    "output y")
        with self.assertRaisesRegex(cnnc.Unsupported, r"y: avgpool: its padding is not smaller "
                                    "than its window of 2x2"):
            exported(text)
        self.assertEqual(operators(exported(text.replace("avg", "max"))), ["Pad", "MaxPool"])

    def test_words(self):
        for words, message in (({"layout": "nwhc"}, "layout: wanted nchw or nhwc, found 'nwhc'"),
                               ({"precision": "f16"}, "precision: wanted f32 or f64, found 'f16'"),
                               ({"opset": 16}, "opset: wanted 17 to [0-9]+, found 16"),
                               ({"opset": 99}, "found 99"),
                               ({"batch": 0}, "batch: wanted None or 1 and more, found 0")):
            with self.assertRaisesRegex(ValueError, message):
                exported(NET, **words)


class Weights(unittest.TestCase):
    def refused(self, change, message, **options):
        given = weights_of(NET)
        change(given)
        with self.assertRaisesRegex(cnnc.WeightError, message):
            cnnc.to_onnx(NET, given, **options)

    def test_weights(self):
        self.refused(lambda given: given.pop("conv_1.weight"),
                     r"wanted conv_1.weight \[8, 3, 3, 3\], found no such tensor")
        self.refused(lambda given: given.update({"logits.bias": numbers(5)}),
                     r"logits.bias: wanted \[4\], found \[5\]")
        self.refused(lambda given: given.update({"logits.bias": numbers(4, 1)}), r"found \[4, 1\]")
        self.refused(lambda given: given.update({"other": numbers(5)}), "the net has no other")
        self.refused(lambda given: given.update({"logits.bias": np.arange(4)}),
                     "logits.bias: wanted floats, found int64")
        self.refused(lambda given: given.update({"logits.bias": np.full(4, 0.1)}),
                     "logits.bias has numbers that f32 does not hold")
        self.refused(lambda given: given.update({"logits.bias": np.full(4, 1e300)}),
                     "does not hold")
        with self.assertRaisesRegex(cnnc.WeightError, "found no such tensor"):
            cnnc.to_onnx(NET)

    def test_types(self):
        given = {**weights_of(NET), "bn.num_batches_tracked": np.array(3)}
        given["logits.bias"] = np.full(4, 0.5, np.float16)
        model = cnnc.to_onnx(NET, given, precision="f64")
        self.assertTrue((arrays_of(model)["logits.bias"] == 0.5).all())
        self.assertEqual({array.dtype for array in arrays_of(model).values()}, {np.dtype("f8")})

    def test_file(self):
        """Weights and program as files; the program's constants are options."""
        text = "classes = 3\n" + NET.replace("dense(4)", "dense(classes)")
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "net.cnn").write_text(text, encoding="utf-8")
            save_file(weights_of(NET), f"{folder}/weights")
            path = Path(folder, "net.onnx")
            cnnc.to_onnx(f"{folder}/net.cnn", f"{folder}/weights", path, define={"classes": 4})
            self.assertEqual(onnx.load(path), exported(NET))
            self.assertEqual(sorted(os.listdir(folder)), ["net.cnn", "net.onnx", "weights"])

    def test_converted(self):
        net = cnnc.from_onnx(exported(NET))
        again = cnnc.to_onnx(net)
        x = numbers(2, 3, 6, 5)
        one, = evaluate(exported(NET), {"image": x}).values()
        other, = evaluate(again, {"image": x}).values()
        self.assertTrue(np.allclose(one, other, 1e-6))

    def test_none(self):
        text = body("input x : f32[3]", "y = x -> relu", "output y")
        for weights in (None, {}):
            self.assertEqual(operators(cnnc.to_onnx(text, weights)), ["Relu"])
        with self.assertRaisesRegex(cnnc.WeightError, "the net has no w"):
            cnnc.to_onnx(text, {"w": numbers(3)})

    def test_program(self):
        with self.assertRaisesRegex(cnnc.CompileError, "conf"):
            cnnc.to_onnx(NET.replace("conv", "conf"), {})


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.addCleanup(setattr, onnx_writer, "MOST_BYTES", onnx_writer.MOST_BYTES)

    def test_large(self):
        """Weights beyond the limit of a file are in a file next to it."""
        onnx_writer.MOST_BYTES = 1000
        path = self.folder / "net.onnx"
        exported(NET, path=path)
        self.assertEqual(sorted(os.listdir(self.folder)), ["net.onnx", "net.onnx.data"])
        onnx.checker.check_model(str(path), full_check=True)
        self.assertTrue(all(tensor.data_location == onnx.TensorProto.EXTERNAL for tensor in
                            onnx.load(path, load_external_data=False).graph.initializer))
        onnx_writer.MOST_BYTES = 2 ** 31
        whole = exported(NET)
        self.assertEqual(arrays_of(onnx.load(path)).keys(), arrays_of(whole).keys())
        for name, array in arrays_of(onnx.load(path)).items():
            self.assertTrue((array == arrays_of(whole)[name]).all(), name)

    def test_too_large(self):
        onnx_writer.MOST_BYTES = 1000
        for words in ({}, {"path": self.folder / "net.onnx", "external_data": False}):
            with self.assertRaisesRegex(ValueError, "the weights have 2[0-9]+ bytes, and a file of "
                                        "ONNX has at most 1000"):
                exported(NET, **words)
        self.assertEqual(os.listdir(self.folder), [])

    def test_external(self):
        exported(NET, path=self.folder / "net.onnx", external_data=True)
        self.assertEqual(len(os.listdir(self.folder)), 2)

    def test_unwritable(self):
        """A file is old or whole, and none is left over."""
        with self.assertRaises(OSError):
            exported(NET, path=self.folder / "none" / "net.onnx")
        path = self.folder / "net.onnx"
        exported(NET, path=path, external_data=True)
        old = path.read_bytes(), Path(f"{path}.data").read_bytes()
        Path(f"{path}.data").unlink()
        Path(f"{path}.data").mkdir()
        with self.assertRaises(OSError):
            exported(NET, path=path, external_data=True, layout="nhwc")
        self.assertEqual(path.read_bytes(), old[0])
        self.assertEqual(sorted(os.listdir(self.folder)), ["net.onnx", "net.onnx.data"])


if __name__ == "__main__":
    unittest.main()
