#!/usr/bin/env python3
"""Programs of int8 against ONNX Runtime, which runs the same net with Q/DQ nodes.

    check_qdq.py LIBHOST FOLDER NAME...             the check, from stored results
    check_qdq.py LIBHOST FOLDER --make NAME...      stores them: wants onnx and onnxruntime

FOLDER/NAME.cnn is a net whose functions below build the ONNX model. The option --make draws
weights, calibrates them with the program of `cnnc --calibrate`, and writes that file of integers
and scales to NAME.weights. The Q/DQ model has the same. ONNX Runtime runs it on the CPU without
optimisations; NAME.results has the integers of all maps and the logits of SAMPLES samples, drawn
by SEED.

The check compiles two programs of int8. One is the net as it is. The other also outputs the sum of
each map and itself, which is exact. Both load NAME.weights.

 * An integer of a map differs by one level at most, and few do: sums are rounded in other orders.
 * Logits have 32 bits. They are x W' + b of the last map x. The program's own x is known, so its
   levels explain a part of the difference: W' (x - x of ONNX Runtime). Rounding is the rest.
 * The net without outputs of its maps has those logits, to rounding, in most samples. An integer
   may become another where kernels sum in another order.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np
from safetensors.numpy import load_file, save_file

SEED, SAMPLES, BATCH = 5, 12, 6
FEW = 0.01          # of the integers of a map
ROUNDING = 1e-5     # of the largest logit
CNNC = os.environ["CNNC"]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def run(*command):
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    assert done.returncode == 0, f"{command}: {(done.stdout + done.stderr)[-800:]}"
    return done.stdout


# ---- nets -----------------------------------------------------------------------------------------

class Model:
    """An ONNX model of the tensors of a calibrated file. Maps are [n, c, h, w]."""

    def __init__(self, tensors, image):
        from onnx import TensorProto, helper, numpy_helper
        self.helper, self.numpy, self.types = helper, numpy_helper, TensorProto
        self.tensors, self.nodes, self.initial, self.maps = dict(tensors), [], [], {}
        kind = TensorProto.FLOAT if image.dtype == np.float32 else TensorProto.UINT8
        self.inputs = [helper.make_tensor_value_info("image", kind, image.shape)]
        self.count = 0

    def take(self, name):
        return self.tensors.pop(name)

    def constant(self, array, name=None):
        self.count += 1
        name = name or f"constant_{self.count}"
        self.initial.append(self.numpy.from_array(np.ascontiguousarray(array), name))
        return name

    def add(self, kind, *inputs, **attributes):
        self.count += 1
        name = f"{kind}_{self.count}"
        self.nodes.append(self.helper.make_node(kind, inputs, [name], **attributes))
        return name

    def weight(self, name):
        """A layer's integers, which a node multiplies by the scales of rows; or its reals."""
        weight = self.take(name + ".weight")
        if weight.ndim == 4:
            weight = weight.transpose(0, 3, 1, 2)
        if weight.dtype == np.float32:
            return self.constant(weight), len(weight)
        scale = self.take(name + ".weight.scale")
        return self.add("DequantizeLinear", self.constant(weight), self.constant(scale),
                        self.constant(np.zeros(len(scale), np.int8)), axis=0), len(weight)

    def conv(self, x, name, size, groups=1):
        weight, _ = self.weight(name)
        return self.add("Conv", x, weight, self.constant(self.take(name + ".bias")), group=groups,
                        kernel_shape=[size, size], pads=[size // 2] * 4)

    def dense(self, x, name):
        weight, _ = self.weight(name)
        return self.add("Gemm", x, weight, self.constant(self.take(name + ".bias")), transB=1)

    def flatten(self, x):
        return self.add("Flatten", self.add("Transpose", x, perm=[0, 2, 3, 1]))

    def relu(self, x):
        return self.add("Relu", x)

    def stored(self, x, name, scale=None, signed=False):
        """A map as the program stores it, if it does."""
        key = (scale or name) + ".scale"
        if key not in self.tensors and key not in self.maps:
            assert scale is None, key
            return x
        if key in self.tensors:
            self.maps[key] = self.constant(self.take(key)[0])
        zero = self.constant(np.array(0, np.int8 if signed else np.uint8))
        self.nodes.append(self.helper.make_node("QuantizeLinear", [x, self.maps[key], zero],
                                                ["integers." + name]))
        return self.add("DequantizeLinear", "integers." + name, self.maps[key], zero)

    def build(self, output, maps):
        """The model, whose outputs are the integers of these maps, and the logits."""
        assert not self.tensors, f"not in the model: {sorted(self.tensors)}"
        self.nodes.append(self.helper.make_node("Identity", [output], ["logits"]))
        outputs = [self.helper.make_empty_tensor_value_info(name)
                   for name in ("logits", *("integers." + name for name in maps))]
        graph = self.helper.make_graph(self.nodes, "net", self.inputs, outputs, self.initial)
        return self.helper.make_model(graph, ir_version=8,
                                      opset_imports=[self.helper.make_opsetid("", 17)])


def plain(m):
    x = m.add("Cast", "image", to=m.types.FLOAT)
    x = m.add("Mul", x, m.constant(np.float32(1 / 255)))
    x = m.stored(x, "scale_1", signed=True)
    a = m.stored(m.relu(m.conv(x, "first", 3)), "a")
    b = m.stored(m.relu(m.conv(a, "second", 3)), "b")
    x = m.add("MaxPool", b, kernel_shape=[2, 2], strides=[2, 2])
    c = m.stored(m.relu(m.dense(m.flatten(x), "third")), "c")
    return m.dense(c, "last")


def joins(m):
    a = m.stored(m.relu(m.conv("image", "first", 3)), "a")
    b = m.stored(m.relu(m.conv(a, "depthwise", 3, 16)), "b")
    x = m.stored(m.conv(b, "point", 1), "point", signed=True)
    c = m.stored(m.relu(m.add("Add", x, a)), "c")
    d = m.stored(m.relu(m.conv(c, "left", 1)), "d", signed=True)
    e = m.stored(m.conv(c, "right", 3), "e", "d", True)
    x = m.add("Concat", d, e, axis=1)
    f = m.stored(m.add("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2]), "f", signed=True)
    g = m.stored(m.relu(m.conv(f, "wide", 3)), "g")
    return m.dense(m.flatten(g), "last")


# The function of a net, the shape of its image, its maps, and maps that have another's scale.
NETS = {"plain": (plain, (8, 8, 1), "a b c", {}),
        "joins": (joins, (8, 8, 4), "a b c d e f g", {"e": "d"})}


# ---- stored results --------------------------------------------------------------------------------

def images(name):
    random = np.random.RandomState(SEED)
    if name == "plain":
        return random.randint(0, 256, (SAMPLES, *NETS[name][1])).astype(np.uint8)
    return random.standard_normal((SAMPLES, *NETS[name][1])).astype(np.float32)


def compile_net(libhost, net, program, *options):
    run(CNNC, "--main", "--batch", str(BATCH), *options, net, "-o", program + ".cu")
    run(os.environ.get("CXX", "clang++"), "-std=c++17", "-O0", "-I",
        os.path.join(ROOT, "runtime", "host"), "-x", "c++", program + ".cu", "-x", "none", libhost,
        "-lpthread", "-o", program)
    return "./" + program


def draw_weights(program):
    """Weights of about the size of a trained net's, so that no map vanishes."""
    random, weights = np.random.RandomState(SEED + 1), {}
    for line in run(program, "info", "--tensors").splitlines():
        role, name, _, shape = line.split()[:4]
        if role == "param":
            shape = [int(n) for n in shape.split("x")]
            fan = np.prod(shape[1:]) if len(shape) > 1 else 100
            weights[name] = (random.standard_normal(shape) * (2 / fan) ** 0.5).astype(np.float32)
    return weights


def make(libhost, folder, name):
    import onnxruntime
    build, _, maps, _ = NETS[name]
    image = images(name)
    program = compile_net(libhost, f"{folder}/{name}.cnn", name + ".calibrate", "--calibrate")
    save_file(draw_weights(program), "floats")
    np.save("image.npy", image)
    print(run(program, "calibrate", "--train", "image=image.npy", "--load", "floats", "--save",
              f"{folder}/{name}.weights").strip())
    model = Model(load_file(f"{folder}/{name}.weights"), image.transpose(0, 3, 1, 2))
    output = build(model)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(
        model.build(output, maps.split()).SerializeToString(), options,
        providers=["CPUExecutionProvider"])
    results = session.run(None, {"image": np.ascontiguousarray(image.transpose(0, 3, 1, 2))})
    save_file({key: np.ascontiguousarray(value.transpose(0, 2, 3, 1) if value.ndim == 4 else value)
               for key, value in zip(("logits", *maps.split()), results)},
              f"{folder}/{name}.results")


# ---- the check ------------------------------------------------------------------------------------

def predict(libhost, net, program, weights):
    program = compile_net(libhost, net, program, "--mode", "infer", "--precision", "int8")
    run(program, "predict", "--test", "image=image.npy", "--load", weights, "--output",
        program + ".out")
    return {file[:-4]: np.load(f"{program}.out/{file}") for file in os.listdir(program + ".out")}


def check(libhost, folder, name):
    _, _, maps, scales = NETS[name]
    maps = maps.split()
    weights, known = load_file(f"{folder}/{name}.weights"), load_file(f"{folder}/{name}.results")
    np.save("image.npy", images(name))
    net = f"{folder}/{name}.cnn"
    with open(net, encoding="utf-8") as file:
        text = file.read()
    doubles = "".join(f"    twice_{m} = {m} + {m}\n" for m in maps)
    listed = ", ".join(["logits", *("twice_" + m for m in maps)])
    with open(name + ".maps.cnn", "w", encoding="utf-8") as file:
        file.write(text.replace("    output logits\n", f"{doubles}    output {listed}\n"))
    found = predict(libhost, name + ".maps.cnn", name + ".maps", f"{folder}/{name}.weights")
    assert len(found) == 1 + len(maps), sorted(found)
    level = 0
    for m in maps:
        scale = weights[scales.get(m, m) + ".scale"][0]
        integers = np.rint(found["twice_" + m] / (2 * scale))
        assert np.allclose(integers * scale * 2, found["twice_" + m], rtol=1e-6), m
        apart = integers - known[m]
        print(f"{name}: {m}: {np.count_nonzero(apart)} of {apart.size} integers differ, "
              f"by {np.abs(apart).max():.0f}; {known[m].min()} .. {known[m].max()}")
        assert np.abs(apart).max() <= 1 and np.mean(apart != 0) <= FEW, m
        assert len(np.unique(known[m])) > 50, m
        level = apart * np.float64(scale)       # of the last
    factors = weights["last.weight"] * np.float64(weights["last.weight.scale"])[:, None]
    most = ROUNDING * np.abs(known["logits"]).max()
    rest = found["logits"] - known["logits"] - level.reshape(SAMPLES, -1) @ factors.T
    print(f"{name}: logits: {np.abs(rest).max():.2g} apart without the last map's levels, "
          f"{np.abs(found['logits'] - known['logits']).max():.2g} with them, of "
          f"{np.abs(known['logits']).max():.3g}")
    assert np.abs(rest).max() <= most
    alone = predict(libhost, net, name, f"{folder}/{name}.weights")["logits"]
    apart = np.abs(alone - found["logits"]).max(1)
    print(f"{name}: {np.count_nonzero(apart > most)} of {SAMPLES} samples have other logits "
          f"without outputs of maps, by {apart.max():.2g}")
    assert np.mean(apart > most) <= 0.1
    scale = np.float64(weights[scales.get(maps[-1], maps[-1]) + ".scale"][0])
    assert apart.max() <= most + 3 * scale * np.abs(factors).max()


def main():
    libhost, folder, *names = sys.argv[1:]
    libhost, folder = os.path.abspath(libhost), os.path.abspath(folder)
    action = check
    if names[:1] == ["--make"]:
        action = make
        del names[0]
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for name in names:
            action(libhost, folder, name)
        os.chdir("/")


if __name__ == "__main__":
    main()
