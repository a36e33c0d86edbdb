"""Models of Keras as nets, without Keras: networks from stored configs, layouts, refusals.

    check_keras.py LIBHOST [-k TEST...]

The configs and outputs in keras/ are those of make_keras.py. It runs by with_package.
"""
import gzip
import json
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

import cnnc
import drawn
import host_net

STORE = Path(__file__).resolve().parent / "keras"
BATCH = 2


class Variable:
    def __init__(self, path, trainable=True):
        self.path, self.trainable = path, trainable


class Filled(Variable):
    """A variable of three ones, which NumPy reads."""

    def __array__(self, dtype=None, copy=None):
        return np.ones(3, dtype)


class Stored:
    """A layer or a model: a config, and weights drawn from their paths or given."""

    def __init__(self, name, form, draw, config=None):
        self.name, self.config = name, config
        self.weights, self.arrays, self.layers = [], [], []
        if isinstance(form, dict):
            self.config = form["config"]
            self.layers = [Stored(layer, part, draw) for layer, part in form["layers"].items()]
        else:
            self.weights = [Variable(path) for path, _ in form]
            self.arrays = [draw(path, shape) for path, shape in form]

    def get_config(self):
        return self.config

    def get_weights(self):
        return self.arrays


def stored(name):
    form = json.loads(gzip.decompress((STORE / f"{name}.json.gz").read_bytes()))
    return Stored(name, form, lambda path, shape: drawn.keras_parameter(name, path, shape))


class Networks(unittest.TestCase):
    libhost = None

    def check(self, name, *words):
        net = cnnc.from_keras(stored(name))
        node = net.graph.nodes[0]
        x = drawn.batch([BATCH, *node.shape])
        with tempfile.TemporaryDirectory() as folder:
            ours = host_net.framework_results(net, self.libhost, folder, [x])
        theirs = np.load(STORE / f"{name}.npz")
        self.assertEqual(len(ours), len(theirs.files))
        far = {}
        for at, (part, output) in enumerate(zip(host_net.samples_of(ours), net.outputs)):
            far[output] = host_net.distance(part, theirs[f"arr_{at}"])
        self.assertEqual({output: gap for output, gap in far.items() if gap > host_net.LIMIT}, {})
        for word in words:
            self.assertIn(word, net.text)
        return net

    def test_mobilenet_v2(self):
        self.check("MobileNetV2", "input input_layer : f32[64, 64, 3]",
                   "Conv1 = input_layer -> conv(32, 3, stride = 2, bias = false)",
                   "batchnorm(momentum = 0.001, epsilon = 0.001) -> relu6",
                   "conv(96, 3, stride = 2, padding = 0x1x0x1, groups = 96, bias = false)",
                   "predictions = Conv_1_bn -> dense(10) -> softmax")

    def test_resnet50(self):
        self.check("ResNet50", "conv(64, 7, stride = 2, padding = 3)")

    def test_layers(self):
        self.check("layers")

    def test_trained(self):
        """The weights after a step are Keras's. The running variance has another divisor."""
        self.check("trained")
        model = stored("trained")
        net = cnnc.from_keras(model, **host_net.TRAIN)
        shape = net.graph.nodes[0].shape
        x, labels = drawn.batch([host_net.SAMPLES, *shape]), drawn.labels([host_net.SAMPLES], 10)
        old = {variable.path: array for part in model.layers
               for variable, array in zip(part.weights, part.arrays)}
        with tempfile.TemporaryDirectory() as folder:
            saved = host_net.saved_after_step(net, self.libhost, folder, x, labels)
            ours = dict(zip(old, cnnc.weights.to_keras(saved, net, old)))
        theirs = np.load(STORE / "trained.step.npz")
        self.assertEqual(set(theirs.files), set(old))
        pixels = host_net.SAMPLES * 4 * 4
        for path, before in old.items():
            wanted = theirs[path]
            if path.endswith("moving_variance"):
                wanted = 0.9 * before + (wanted - 0.9 * before) * pixels / (pixels - 1)
            self.assertLess(host_net.distance(ours[path], wanted), host_net.LIMIT, path)
            moved = abs(wanted - before).max() > 1e-3
            self.assertEqual(moved, "frozen" not in path, path)

    def test_functions(self):
        self.check("functions")


# ---- small models -------------------------------------------------------------------------------

def numbers(*shape):
    return np.arange(np.prod(shape), dtype=np.float64).reshape(shape)


def layer(kind, name=None, **config):
    return {"module": "keras.layers", "class_name": kind, "registered_name": None,
            "config": {"name": name or kind.lower(), "trainable": True, **config}}


def chain(shape, *records, old=False, **arrays):
    """A Sequential model of an input x of this shape. Arrays by "layer/weight"."""
    key = "batch_input_shape" if old else "batch_shape"
    first = layer("InputLayer", "x", **{key: [None, *shape]})
    config = {"name": "small", "trainable": True, "layers": [first, *records]}
    return modeled(config, arrays)


def modeled(config, arrays):
    model = Stored("small", [], None, config)
    for record in config["layers"]:
        name = record["config"]["name"]
        own = {path: array for path, array in arrays.items() if path.startswith(name + "/")}
        part = Stored(name, [[path, None] for path in own], lambda path, shape: arrays[path])
        model.layers.append(part)
    return model


def graph(shape, *records, outputs, **arrays):
    """A functional model: records of a layer and the names of what it reads."""
    layers = [dict(layer("InputLayer", "x", batch_shape=[None, *shape]), inbound_nodes=[])]
    for record, *calls in records:
        nodes = []
        for call in calls:
            inputs, kwargs = call if isinstance(call, tuple) else (call, {})
            args = [{"class_name": "__keras_tensor__", "config": {
                "shape": [None] + [None] * rank, "keras_history": [name, at, 0]}}
                for name, at, rank in inputs]
            nodes.append({"args": [args] if len(args) > 1 else args, "kwargs": kwargs})
        layers.append(dict(record, name=record["config"]["name"], inbound_nodes=nodes))
    return modeled({"name": "small", "layers": layers, "input_layers": ["x", 0, 0],
                    "output_layers": outputs}, arrays)


def body(net):
    """The statements of a net."""
    return net.text.partition("\n\n")[2].partition("\n\n")[0].strip()


CONV = {"filters": 4, "kernel_size": [3, 2]}
KERNEL = {"conv/kernel": numbers(3, 2, 3, 4), "conv/bias": numbers(4)}


class Layouts(unittest.TestCase):
    def test_convolution(self):
        net = cnnc.from_keras(chain((8, 9, 3), layer("Conv2D", "conv", **CONV), **KERNEL))
        for o, h, w, i in np.ndindex(4, 3, 2, 3):
            self.assertEqual(net.weights["conv.weight"][o, h, w, i],
                             KERNEL["conv/kernel"][h, w, i, o])
        self.assertEqual(net.axes, {"x": (0, 1, 2), "conv": (0, 1, 2)})
        self.assertEqual(net.names, {"conv/kernel": "conv.weight", "conv/bias": "conv.bias"})

    def test_flatten(self):
        """Keras's order of a flattened map is cnnc's."""
        kernel = numbers(2 * 3 * 4, 5)
        model = chain((2, 3, 4), layer("Flatten"), layer("Dense", "fc", units=5),
                      **{"fc/kernel": kernel, "fc/bias": numbers(5)})
        self.assertTrue((cnnc.from_keras(model).weights["fc.weight"] == kernel.T).all())
        first = {"data_format": "channels_first"}
        model = chain((2, 3, 4), layer("Flatten", **first), layer("Dense", "fc", units=5),
                      **{"fc/kernel": kernel, "fc/bias": numbers(5)})
        net = cnnc.from_keras(model)
        self.assertIn("input x : f32[3, 4, 2]", net.text)
        self.assertTrue((net.weights["fc.weight"] == kernel.T).all())

    def test_depthwise(self):
        kernel = numbers(3, 2, 4, 2)
        model = chain((8, 9, 4), layer("DepthwiseConv2D", "d", kernel_size=[3, 2],
                                       depth_multiplier=2, use_bias=False),
                      **{"d/depthwise_kernel": kernel})
        ours = cnnc.from_keras(model).weights["d.weight"]
        for c, m in np.ndindex(4, 2):
            self.assertTrue((ours[c * 2 + m, :, :, 0] == kernel[:, :, c, m]).all())

    def test_there_and_back(self):
        for name in ("layers", "functions"):
            self.check_there_and_back(stored(name))

    def check_there_and_back(self, model):
        net = cnnc.from_keras(model)
        pairs = [(variable.path, array) for part in model.layers for variable, array in
                 zip(part.weights, part.arrays)]
        pairs += [(variable.path, array) for inner in model.layers for part in inner.layers
                  for variable, array in zip(part.weights, part.arrays)]
        back = cnnc.weights.to_keras(net.weights, net, pairs)
        again = cnnc.weights.from_keras(pairs, net)
        for (path, array), ours in zip(pairs, back):
            self.assertTrue(np.array_equal(array, ours), path)
        for name, array in net.weights.items():
            self.assertTrue(np.array_equal(array, again[name]), name)


class Texts(unittest.TestCase):
    def text(self, shape, *records, old=False, **arrays):
        return body(cnnc.from_keras(chain(shape, *records, old=old, **arrays)))

    def test_pad_before_convolution(self):
        text = self.text((8, 9, 3), layer("ZeroPadding2D", padding=[[1, 0], [2, 1]]),
                         layer("Conv2D", "conv", **CONV), **KERNEL)
        self.assertEqual(text, "conv = x -> conv(4, 3x2, padding = 1x0x2x1)")
        text = self.text((8, 9, 3), layer("ZeroPadding2D", padding=1),
                         layer("MaxPooling2D", pool_size=3))
        self.assertEqual(text, "maxpooling2d = x -> pad(1) -> maxpool(3)")
        text = self.text((8, 9, 3), layer("ZeroPadding2D", padding=1),
                         layer("Conv2D", "conv", padding="same", **CONV), **KERNEL)
        self.assertIn("pad(1) -> conv(4, 3x2)", text.replace("\n    conv = zeropadding2d", ""))

    def test_norms(self):
        roles = {f"n/{word}": numbers(3) for word in ("gamma", "beta", "moving_mean",
                                                      "moving_variance")}
        norm = layer("BatchNormalization", "n", momentum=0.99, epsilon=1e-3, axis=[3])
        self.assertEqual(self.text((8, 9, 3), norm, **roles),
                         "n = x -> batchnorm(momentum = 0.01, epsilon = 0.001)")
        text = self.text((8, 9, 3), layer("LayerNormalization", "n", axis=[1]),
                         **{"n/gamma": numbers(8), "n/beta": numbers(8)})
        self.assertIn("x -> transpose([1, 2, 0]) -> layernorm(epsilon = 0.001)", text)

    def test_versions(self):
        """hard_sigmoid and the slope of LeakyReLU have changed with Keras 3."""
        hard = layer("Activation", activation="hard_sigmoid")
        self.assertEqual(self.text((3,), hard), "activation = x -> hard_sigmoid")
        self.assertIn("scale(0.2) -> shift(0.5) -> clamp(low = 0, high = 1)",
                      self.text((3,), hard, old=True))
        self.assertIn("slope = 0.25", self.text((3,), layer("LeakyReLU", alpha=0.25), old=True))
        self.assertIn("slope = 0.3", self.text((3,), layer("LeakyReLU")))

    def test_old_functional(self):
        config = {"name": "old", "layers": [
            dict(layer("InputLayer", "x", batch_input_shape=[None, 4, 4, 3]), inbound_nodes=[]),
            dict(layer("Activation", "a", activation="relu"),
                 inbound_nodes=[[["x", 0, 0, {}]], [["b", 0, 0, {}]]]),
            dict(layer("Add", "b"), inbound_nodes=[[["x", 0, 0, {}], ["a", 0, 0, {}]]])],
            "input_layers": [["x", 0, 0]], "output_layers": [["a", 1, 0]]}
        for record in config["layers"]:
            record.pop("module")
        text = body(cnnc.from_keras(modeled(config, {})))
        self.assertEqual(text, "a = x -> relu\n    a_relu = x + a -> relu")

    def test_shapes(self):
        model = chain((None, None, 3), layer("ReLU"))
        self.assertIn("input x : f32[6, 8, 3]", cnnc.from_keras(model, shapes={
            "x": (6, 8, 3)}).text)
        with self.assertRaisesRegex(cnnc.Unsupported, r"x: InputLayer: axis 1 has no size; give"):
            cnnc.from_keras(model)
        with self.assertRaisesRegex(cnnc.Unsupported, r"shapes gives \[6, 8, 4\]; wanted"):
            cnnc.from_keras(model, shapes={"x": (6, 8, 4)})
        with self.assertRaisesRegex(cnnc.Unsupported, "shapes: there is no input y"):
            cnnc.from_keras(model, shapes={"x": (6, 8, 3), "y": (1,)})


DENSE = {"fc/kernel": numbers(6, 4), "fc/bias": numbers(4)}


class Training(unittest.TestCase):
    def test_losses(self):
        """A loss reads what is before the last softmax or sigmoid."""
        for activation, loss, words in (
                ("softmax", "softmax_cross_entropy", "loss   softmax_cross_entropy(fc, label)"),
                ("linear", "softmax_cross_entropy", "loss   softmax_cross_entropy(fc, label)"),
                ("sigmoid", "binary_cross_entropy", "loss   binary_cross_entropy(fc, target)"),
                ("sigmoid", "mse", "loss   mse(fc, target)")):
            model = chain((6,), layer("Dense", "fc", units=4, activation=activation), **DENSE)
            net = cnnc.from_keras(model, loss=loss)
            self.assertIn(words, net.text)
            apart = activation != "linear" and loss != "mse"
            self.assertEqual(f"fc_{activation} = fc -> {activation}" in net.text, apart)
            self.assertEqual(int(cnnc.memory(net, 2)) > 0, True)

    def test_map_of_classes(self):
        model = chain((5, 6, 3), layer("Conv2D", "conv", padding="same", activation="softmax",
                                       **CONV), **KERNEL)
        net = cnnc.from_keras(model, loss="softmax_cross_entropy")
        self.assertIn("input label : class[5, 6, 4]", net.text)
        self.assertGreater(int(cnnc.memory(net, 2)), 0)
        self.assertIn("input target : f32[5, 6, 4]", cnnc.from_keras(model, loss="mse").text)

    def test_frozen(self):
        norm = {f"n/{word}": numbers(4) for word in ("gamma", "beta", "moving_mean",
                                                     "moving_variance")}
        model = chain((8, 9, 3), layer("Conv2D", "conv", **{**CONV, "trainable": False}),
                      layer("BatchNormalization", "n", trainable=False),
                      layer("Dropout", rate=0.5), **KERNEL, **norm)
        text = cnnc.from_keras(model, loss="mse").text
        self.assertIn("conv(4, 3x2, padding = valid, train = none)", text)
        self.assertIn("statistics = running, train = none)", text)
        self.assertNotIn("statistics", cnnc.from_keras(model).text)
        bare = layer("BatchNormalization", "n", center=False, scale=False)
        del norm["n/gamma"], norm["n/beta"]
        model = chain((8, 9, 3), layer("Conv2D", "conv", **CONV), bare, **KERNEL, **norm)
        self.assertIn("statistics = batch", cnnc.from_keras(model, loss="mse").text)

    def test_nested(self):
        """A frozen model in a model, which is called with training=False."""
        norm = {f"n/{word}": numbers(3) for word in ("gamma", "beta", "moving_mean",
                                                     "moving_variance")}
        for is_trained in (False, True):
            base = graph((4, 4, 3), (layer("BatchNormalization", "n"), [("x", 0, 3)]),
                         (layer("Dropout", rate=0.5), ([("n", 0, 3)], {"training": False})),
                         outputs=[["dropout", 0, 0]], **norm)
            record = {"class_name": "Functional", "config": {
                **base.config, "name": "base", "trainable": is_trained}}
            model = graph((4, 4, 3), (record, ([("x", 0, 3)], {"training": is_trained or None})),
                          (layer("ReLU", "r"), [("base", 0, 3)]),
                          outputs=[["base", 1, 0], ["r", 0, 0]])
            model.layers[1] = base
            base.name = "base"
            if is_trained:
                with self.assertRaisesRegex(cnnc.Unsupported, r"base.n: Batch.*training=True"):
                    cnnc.from_keras(model, loss="mse")
                continue
            net = cnnc.from_keras(model, loss="mse")
            self.assertIn("statistics = running, train = none)\n          -> dropout(0.5)\n"
                          "    r = base_n -> relu", body(net))

    def test_depth(self):
        for noise, word in (([None, 1, 1, 1], "stochastic_depth(0.2)"), (None, "dropout(0.2)")):
            model = chain((8, 9, 3), layer("Dropout", rate=0.2, noise_shape=noise))
            self.assertIn(word, cnnc.from_keras(model).text)

    def test_shared(self):
        """A layer that is used twice shares its weights with itself."""
        model = graph((4, 4, 3), (layer("Conv2D", "conv", padding="same", filters=3,
                                        kernel_size=[1, 1]), [("x", 0, 3)], [("conv", 0, 3)]),
                      outputs=["conv", 1, 0], **{"conv/kernel": numbers(1, 1, 3, 3),
                                                 "conv/bias": numbers(3)})
        for loss in None, "mse":
            net = cnnc.from_keras(model, loss=loss)
            self.assertEqual(sorted(net.weights), ["conv.bias", "conv.weight"])
            self.assertEqual(net.text.count('weights = "conv"'), 2)

    def test_equal_paths(self):
        """Two layers of one path, with equal weights as Keras draws them, share nothing."""
        names = ("gamma", "beta", "moving_mean", "moving_variance")
        model = graph((4, 4, 3), (layer("BatchNormalization", "a"), [("x", 0, 3)]),
                      (layer("BatchNormalization", "b"), [("a", 0, 3)]), outputs=["b", 0, 0])
        for part in model.layers[1:]:
            part.weights = [Filled(f"n/{word}") for word in names]
            part.arrays = [np.array(variable) for variable in part.weights]
            model.weights += part.weights
        net = cnnc.from_keras(model, loss="mse")
        self.assertEqual(len(net.weights), 8)
        self.assertEqual(net.names["b/beta"], "b.bias")
        given = {name: array + at for at, (name, array) in enumerate(net.weights.items())}
        back = cnnc.weights.to_keras(given, net, model)
        self.assertEqual([array[0] for array in back], [1, 2, 3, 4, 5, 6, 7, 8])
        with self.assertRaisesRegex(cnnc.WeightError, "two tensors have the name n/beta"):
            cnnc.weights.from_keras([("n/beta", np.zeros(3))] * 2, net)

    def test_other_paths(self):
        """Keras's paths of a model that was loaded lack the model's name."""
        config = dict(units=2, activation=None, use_bias=False)
        kernel = numbers(3, 2)
        net = cnnc.from_keras(chain((3,), layer("Dense", "fc", **config), **{"fc/kernel": kernel}))
        model = chain((3,), layer("Dense", "fc", **config), **{"fc/kernel": kernel})
        model.layers[1].weights = [Variable("small/fc/kernel")]
        other = cnnc.from_keras(model)
        self.assertEqual(other.names, {"fc/kernel": "fc.weight", "small/fc/kernel": "fc.weight"})
        for name in other.names:
            ours = cnnc.weights.from_keras([(name, kernel)], other)
            self.assertTrue((ours["fc.weight"] == kernel.T).all())
        self.assertEqual(net.names, {"fc/kernel": "fc.weight"})

    def test_mode(self):
        norm = {f"n/{word}": numbers(3) for word in ("gamma", "beta", "moving_mean",
                                                     "moving_variance")}
        for mode in (True, False):
            model = graph((4, 4, 3), (layer("BatchNormalization", "n"),
                                      ([("x", 0, 3)], {"training": mode})),
                          outputs=["n", 0, 0], **norm)
            with self.assertRaisesRegex(cnnc.Unsupported, f"n: Batch.*training={mode}"):
                cnnc.from_keras(model, loss="mse")
        self.assertIn("batchnorm", cnnc.from_keras(model).text)


class Refusals(unittest.TestCase):
    def refused(self, model, words, **options):
        with self.assertRaises(cnnc.Unsupported) as caught:
            cnnc.from_keras(model, **options)
        self.assertIn(words, str(caught.exception))

    def test_layers(self):
        image = (8, 9, 3)
        for shape, record, words in (
                (image, layer("MultiHeadAttention", "attn"), "attn: MultiHeadAttention: there is"),
                (image, layer("map", "m"), "m: map: there is no such layer"),
                (image, layer("ReLU", threshold=1.0), "relu: ReLU: threshold 1.0; wanted 0"),
                (image, layer("ReLU", magic=1), "'magic'"),
                (image, layer("Activation", activation="sparsemax"), "activation sparsemax: there"),
                (image, layer("Activation", activation={"class_name": "function", "config": "f"}),
                 "activation f; wanted one of Keras's own"),
                (image, layer("GaussianNoise", stddev=0.1), "there is no such layer"),
                (image, layer("Dropout", rate=0.5, noise_shape=[None, 1, 1, 3]), "noise_shape"),
                (image, layer("UpSampling2D", size=[2, 2], interpolation="bicubic"), "bicubic"),
                (image, layer("Resizing", height=5, width=5, interpolation="nearest"), "nearest"),
                (image, layer("Resizing", height=4, width=4, antialias=True), "antialias"),
                (image, layer("Normalization", axis=[1], mean=[1.0] * 8, variance=[1.0] * 8),
                 "axis [1]"),
                (image, layer("Normalization"), "it has no mean yet; adapt it"),
                (image, layer("MaxPooling2D", pool_size=[9, 9]), "does not fit in [8, 9]"),
                (image, layer("Cropping2D", cropping=4), "cropping [4, 4, 4, 4]"),
                (image, layer("Concatenate", axis=0), "axis 0, which is the batch"),
                (image, layer("Reshape", target_shape=[5, -1]), "from [8, 9, 3] to [5, -1]"),
                ((8, 8, 8, 3), layer("MaxPooling2D"), "found [8, 8, 8, 3]"),
                (image, layer("LayerNormalization", rms_scaling=True), "rms_scaling")):
            with self.subTest(words):
                self.refused(chain(shape, record), words)

    def test_foreign(self):
        other = dict(layer("Conv2D", "conv", **CONV), module="package.layers")
        self.refused(chain((8, 9, 3), other, **KERNEL), "conv: Conv2D: a class of package.layers")
        other = dict(other, module=None, registered_name="Custom>Conv2D")
        self.refused(chain((8, 9, 3), other, **KERNEL), "conv: Conv2D: a class of yours")
        more = {**KERNEL, "conv/lora_kernel_a": numbers(2)}
        self.refused(chain((8, 9, 3), layer("Conv2D", "conv", **CONV), **more),
                     "does not know its weights lora_kernel_a")
        policy = {"class_name": "QuantizedDTypePolicy", "config": {"name": "int8_from_float32"}}
        self.refused(chain((6,), layer("Dense", "fc", units=4, dtype=policy), **DENSE),
                     "weights of int8_from_float32; wanted floats")

    def test_regularizers(self):
        conv = layer("Conv2D", "conv", kernel_regularizer={"class_name": "L2"}, **CONV)
        model = chain((8, 9, 3), conv, **KERNEL)
        self.refused(model, "conv: Conv2D: kernel_regularizer", loss="mse")
        self.assertIn("conv", cnnc.from_keras(model).text)

    def test_transposed(self):
        for config in ({"output_padding": [2, 2], "strides": [2, 2]}, {"padding": "causal"}):
            self.refused(chain((8, 9, 4), layer("Conv2DTranspose", "conv", **{
                **CONV, "filters": 3, **config}), **KERNEL), "padding")

    def test_models(self):
        class Subclass(Stored):
            def get_config(self):
                raise NotImplementedError

        self.refused(Subclass("s", [], None), "Subclass: wanted a Sequential or a functional")
        unbuilt = modeled({"name": "unbuilt", "layers": [layer("ReLU")]}, {})
        self.refused(unbuilt, "unbuilt: it has no input shape")
        self.refused(chain((3,)), "wanted a value that the model computes")
        with self.assertRaisesRegex(FileNotFoundError, "absent.keras"):
            cnnc.from_keras("absent.keras")
        model = graph((4, 4, 3), (layer("ReLU", "r"), [("r", 0, 3)]), outputs=["r", 0, 0])
        self.refused(model, "r: reads a value that no layer makes")
        model = graph((4, 4, 3), (layer("ReLU", "r"), [("x", 0, 2)]), outputs=["r", 0, 0])
        self.refused(model, "r: ReLU: reads [None, None], and the converter made [4, 4, 3]")


if __name__ == "__main__":
    Networks.libhost = sys.argv.pop(1)
    unittest.main()
