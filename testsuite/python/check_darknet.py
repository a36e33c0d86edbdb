"""Networks of darknet as nets: layers against a plain NumPy of them, names, refusals.

    check_darknet.py LIBHOST [-k TEST...]

It runs by with_package. The reference reads the .cfg and the .weights itself, and writes out what
darknet's sources say of each layer.
"""
import re
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

import cnnc
import drawn
import host_net

FOLDER = Path(__file__).resolve().parent / "darknet"
BATCH = 2
HEADER = np.array([0, 2, 0, 64, 0], "<i4").tobytes()


# ---- the reference ------------------------------------------------------------------------------

def layers_of(text):
    """(kind, values by key) of each section."""
    text = re.sub(r"#.*", "", text)
    parts = re.split(r"^\[(\w+)\]", text, flags=re.MULTILINE)[1:]
    return [(kind, dict(re.findall(r"^(\w+)\s*=\s*(\S.*?)\s*$", body, re.MULTILINE)))
            for kind, body in zip(parts[::2], parts[1::2])]


def act(x, word):
    positive = np.maximum(x, 0)
    return {"linear": lambda: x, "leaky": lambda: np.where(x > 0, x, 0.1 * x),
            "relu": lambda: positive, "relu6": lambda: np.minimum(positive, 6),
            "logistic": lambda: 1 / (1 + np.exp(-x)), "swish": lambda: x / (1 + np.exp(-x)),
            "mish": lambda: x * np.tanh(np.log1p(np.exp(x))),
            "elu": lambda: np.where(x >= 0, x, np.exp(x) - 1),
            "selu": lambda: 1.0507 * np.where(x >= 0, x, 1.6732 * (np.exp(x) - 1)),
            "loggy": lambda: 2 / (1 + np.exp(-x)) - 1}[word]()


def windows(x, size, stride, top, left, rows, columns, dilation, fill):
    """[n, c, rows, columns, size, size]: the pixels of each window."""
    n, c, height, width = x.shape
    wide = np.full((n, c, height + 4 * size * dilation, width + 4 * size * dilation), fill)
    at = 2 * size * dilation
    wide[:, :, at:at + height, at:at + width] = x
    found = np.empty((n, c, rows, columns, size, size))
    for i, j in np.ndindex(size, size):
        down, right = at - top + i * dilation, at - left + j * dilation
        found[..., i, j] = wide[:, :, down:down + stride[0] * rows:stride[0],
                                right:right + stride[1] * columns:stride[1]][:, :, :rows, :columns]
    return found


class Reference:
    """The outputs of a network of darknet in float64."""

    def __init__(self, text, weights, x):
        self.weights, self.at, self.results, self.outputs = weights, 0, [], []
        self.x = x
        for kind, values in layers_of(text)[1:]:
            self.values = values
            self.x = getattr(self, kind)(self.x)
            self.results.append(self.x)
        assert self.at == len(weights), (self.at, len(weights))

    def take(self, *shape):
        count = int(np.prod(shape))
        self.at += count
        return self.weights[self.at - count:self.at].reshape(shape).astype(np.float64)

    def number(self, key, default=0):
        return int(self.values.get(key, default))

    def indices(self, key):
        return [int(word) if int(word) >= 0 else int(word) + len(self.results)
                for word in self.values[key].split(",")]

    def norm(self, x, bias, scale, mean, variance):
        shape = [-1] + [1] * (x.ndim - 2)
        bias, scale, mean, variance = (a.reshape(shape) for a in (bias, scale, mean, variance))
        return (x - mean) / np.sqrt(variance + 1e-5) * scale + bias

    def convolutional(self, x):
        n, size, groups = self.number("filters"), self.number("size"), self.number("groups", 1)
        normal, dilation = self.number("batch_normalize"), self.number("dilation", 1)
        around = size // 2 if self.number("pad") else self.number("padding")
        step = self.number("stride", 1)
        stride = self.number("stride_y", step), self.number("stride_x", step)
        vectors = [self.take(n) for _ in range(4 if normal else 1)]
        weight = self.take(n, x.shape[1] // groups, size, size)
        rows, columns = ((side + 2 * around - size) // s + 1 for side, s in
                         zip(x.shape[2:], stride))
        around *= dilation
        seen = windows(x, size, stride, around, around, rows, columns, dilation, 0.0)
        seen = seen.reshape(len(x), groups, -1, rows, columns, size, size)
        weight = weight.reshape(groups, n // groups, -1, size, size)
        y = np.einsum("bgcpqij,gkcij->bgkpq", seen, weight, optimize=True)
        y = y.reshape(len(x), n, rows, columns)
        y = self.norm(y, *vectors) if normal else y + vectors[0].reshape(-1, 1, 1)
        return act(y, self.values.get("activation", "logistic"))

    def connected(self, x):
        n, flat = self.number("output"), x.reshape(len(x), -1)
        bias, weight = self.take(n), self.take(n, flat.shape[1])
        y = flat @ weight.T
        y = self.norm(y, bias, *(self.take(n) for _ in range(3))) \
            if self.number("batch_normalize") else y + bias
        return act(y, self.values.get("activation", "logistic"))

    def maxpool(self, x):
        stride, size = self.number("stride", 1), self.number("size", self.values.get("stride", 1))
        padding = self.number("padding", size - 1)
        rows, columns = ((side + padding - size) // stride + 1 for side in x.shape[2:])
        return windows(x, size, (stride, stride), padding // 2, padding // 2, rows, columns, 1,
                       -np.inf).max((4, 5))

    def avgpool(self, x):
        return x.mean((2, 3), keepdims=True)

    def upsample(self, x):
        times = self.number("stride", 2)
        return x.repeat(times, 2).repeat(times, 3) * float(self.values.get("scale", 1))

    def route(self, x):
        groups, group = self.number("groups", 1), self.number("group_id")
        return np.concatenate([np.split(self.results[i], groups, 1)[group]
                               for i in self.indices("layers")], 1)

    def shortcut(self, x):
        return act(x + self.results[self.indices("from")[0]], self.values["activation"])

    def scale_channels(self, x):
        return x * self.results[self.indices("from")[0]]

    sam = scale_channels

    def reorg(self, x):
        """By darknet's loop over the elements of the result."""
        s = self.number("stride", 1)
        (n, c, h, w), out = x.shape, np.empty_like(x).reshape(len(x), -1)
        flat = x.reshape(n, -1)
        for k, j, i in np.ndindex(c, h, w):
            part, block = k % (c // s ** 2), k // (c // s ** 2)
            down, right = j * s + block // s, i * s + block % s
            out[:, i + w * (j + h * k)] = flat[:, right + w * s * (down + h * s * part)]
        return out.reshape(n, c * s * s, h // s, w // s)

    def dropout(self, x):
        return x

    def softmax(self, x):
        e = np.exp(x - x.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    def yolo(self, x):
        self.outputs.append(x)

    cost = yolo


# ---- weights ------------------------------------------------------------------------------------

def shapes_of(text):
    """(role, shape) of each array of the file in order, for networks without [connected]."""
    channels, results = 3, []
    for kind, values in layers_of(text)[1:]:
        if kind == "convolutional":
            n, size = int(values["filters"]), int(values["size"])
            roles = ["bias", "scale", "mean", "variance"] if "batch_normalize" in values else \
                ["bias"]
            yield from ((role, [n]) for role in roles)
            yield "weight", [n, channels // int(values.get("groups", 1)), size, size]
            channels = n
        elif kind == "route":
            back = [int(word) for word in values["layers"].split(",")]
            channels = sum(results[at] for at in back) // int(values.get("groups", 1))
        elif kind == "reorg":
            channels *= 4
        results.append(channels)


def drawn_weights(text, more=()):
    """Numbers in the file's order, drawn from the places of their arrays."""
    parts = []
    for at, (role, shape) in enumerate([*shapes_of(text), *more]):
        name = {"scale": "weight", "variance": "running_var"}.get(role, role)
        parts.append(drawn.parameter("darknet", f"{at}.{name}", shape).ravel())
    return np.concatenate(parts).astype("<f4")


# The arrays of the two [connected] layers of parts.cfg.
CONNECTED = [("bias", [10]), ("weight", [10, 486]), ("scale", [10]), ("mean", [10]),
             ("variance", [10]), ("bias", [7]), ("weight", [7, 10])]


class Networks(unittest.TestCase):
    libhost = None

    def check(self, name, more=()):
        cfg = FOLDER / f"{name}.cfg"
        text = cfg.read_text(encoding="utf-8")
        numbers = drawn_weights(text, more)
        with tempfile.TemporaryDirectory() as folder:
            weights = Path(folder, "net.weights")
            weights.write_bytes(HEADER + numbers.tobytes())
            net = cnnc.from_darknet(cfg, weights)
            x = drawn.batch([BATCH, *net.graph.nodes[0].shape])
            ours = host_net.results_of(net, self.libhost, folder, x)
        theirs = Reference(text, numbers, x).outputs
        self.assertEqual([a.shape for a in ours], [a.shape for a in theirs])
        for one, other in zip(ours, theirs):
            self.assertLess(host_net.distance(one, other), host_net.LIMIT)
            self.assertGreater(host_net.distance(other[:1], other[1:]), 1e-4)
        return net

    def test_yolov3_tiny(self):
        net = self.check("yolov3_tiny")
        self.assertIn("maxpool(2, stride = 1, padding = 0x1x0x1)", net.text)
        self.assertIn("maxpool(2)\n", net.text)
        # The published file has 35434956 bytes.
        self.assertEqual(sum(array.size for array in net.weights.values()), 35434936 // 4)

    def test_parts(self):
        self.check("parts", CONNECTED)


NET = "[net]\nwidth=8\nheight=6\nchannels=2\n"
CONV = "[convolutional]\nfilters=3\nsize=3\npad=1\nactivation=leaky\nbatch_normalize=1\n"
LONG = 3 * 4 + 3 * 2 * 9         # numbers of CONV


class Small(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cfg, self.weights = (Path(folder.name, f"net.{end}") for end in ("cfg", "weights"))

    def net(self, text, count=LONG, header=HEADER, more=b"", **options):
        self.cfg.write_text(text, encoding="utf-8")
        self.weights.write_bytes(header + np.arange(count, dtype="<f4").tobytes() + more)
        return cnnc.from_darknet(self.cfg, self.weights, **options)

    def test_text(self):
        net = self.net(NET + CONV)
        self.assertIn("input x : f32[6, 8, 2]", net.text)
        self.assertIn("conv_0 = x -> conv(3, 3, bias = false)", net.text)
        self.assertIn("batchnorm(momentum = 0.01) -> leaky_relu(slope = 0.1)", net.text)
        self.assertIn("epsilon = 1e-6", self.net(NET + CONV, epsilon=1e-6).text)

    def test_order(self):
        """Biases, scales, means, variances, weights, after a header of either length."""
        old = np.array([0, 1, 0, 64], "<i4").tobytes()
        for header in (HEADER, old):
            ours = self.net(NET + CONV, header=header).weights
            self.assertEqual([list(ours[f"norm_0.{role}"]) for role in
                              ("bias", "weight", "mean", "variance")],
                             [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]])
            self.assertEqual(ours["conv_0.weight"][1, 0, 2, 1], 12 + 18 + 9 + 2)

    def refused(self, text, *words, error=cnnc.Unsupported, **options):
        with self.assertRaises(error) as caught:
            self.net(text, **options)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_files(self):
        for words, options in (
                (["net.weights: ends at byte 280 in the weight of layer 0", "net.cfg:5",
                  "wanted 54 numbers from byte 68 on, found 53"], {"count": LONG - 1}),
                (["net.weights: 4 bytes follow the weight of layer 0"], {"count": LONG + 1}),
                (["1 bytes follow"], {"more": b"x"}),
                (["version 0.1 or 0.2", "found 67324752."], {"header": b"PK\3\4" + HEADER}),
                (["8 bytes; wanted a header"], {"header": b"", "count": 2})):
            self.refused(NET + CONV, *words, error=cnnc.WeightError, **options)

    def test_refusals(self):
        for text, words in (
                (CONV, "net.cfg: wanted a network of darknet"),
                (NET + CONV + "[lstm]\n", "net.cfg:11: [lstm]: there is no such layer"),
                (NET + "[node]\n", "net.cfg:5: [node]: there is no such layer"),
                (NET + "size\n", "net.cfg:5: wanted [section] or key = value, found size"),
                (NET + CONV + "size=1\n", "net.cfg:11: size is given twice in"),
                (NET + CONV.replace("size=3", "size=big"), "size = big: wanted an integer"),
                (NET + CONV + "[dropout]\nprobability=nan\n", "probability = nan: wanted a finite"),
                (NET + CONV + "deform=1\n", "does not know the key deform"),
                (NET + CONV + "xnor=1\n", "xnor = 1: cnnc has 0 alone"),
                (NET + CONV.replace("leaky", "stair"), "activation = stair: cnnc has no such"),
                (NET + CONV + "groups=2\n", "groups = 2 does not divide 2 and 3 channels"),
                (NET + CONV.replace("pad=1", "dilation=2"), "darknet makes [4, 6] pixels and cnnc"),
                (NET + CONV + "[route]\nlayers=1\n", "layers = 1: wanted one of the 1 layers"),
                (NET + CONV + "[route]\nlayers=-1,a\n", "layers = -1,a: wanted integers"),
                (NET + CONV + "[route]\nlayers=0\ngroups=2\n", "joins [3, 6, 8] in 2 groups"),
                (NET + CONV + "[route]\nlayers=0\ngroup_id=1\n", "group_id = 1: wanted a number"),
                (NET + CONV + "[maxpool]\nsize=2\nstride=2\n[shortcut]\nfrom=-2\n",
                 "adds [3, 6, 8] to [3, 3, 4]; wanted equal shapes"),
                (NET + CONV + "[shortcut]\nfrom=0\nweights_type=per_channel\n",
                 "weights_type = per_channel"),
                (NET + CONV + "[yolo]\n[route]\nlayers=-1\n", "[route]: layers = -1 reads the "),
                (NET + CONV + "[yolo]\n[avgpool]\n", "[avgpool]: reads the result of"),
                (NET, "[net]: wanted a layer after it")):
            with self.subTest(words):
                self.refused(text, words)
        self.refused(NET + CONV + "stopbackward=1\n[avgpool]\n", "cnnc has no stopbackward",
                     loss="mse")
        self.assertIn("avgpool", self.net(NET + CONV + "stopbackward=1\n[avgpool]\n").text)


if __name__ == "__main__":
    Networks.libhost = sys.argv.pop(1)
    unittest.main()
