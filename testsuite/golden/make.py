#!/usr/bin/python3
# Makes the golden results in this folder: PyTorch's, in float64, of the nets in
# ../ops, ../freeze, ../joins, ../pools, ../shared and ../slices and of the examples
# (examples.txt).
#
#     make.py CNNC [--distances] [NAME...]
#
# A run is a net, the options it is compiled with, and how many samples of the
# batch are there.  Weights and inputs are not stored: random_tensors draws the
# same.  After one training step and after three a file is written to NAME-N/:
#
#     after_1.safetensors   figures [1, 1 + metrics], outputs, gradients (with the
#                           scale of the loss, where it has one)
#     after_3.safetensors   figures [3, 1 + metrics], weights, optimizer state,
#                           running statistics
#     f32.txt               of an example: how far PyTorch's float32 is from its
#                           float64 after a step
#     tf32.txt              likewise with products of TF32, emulated (tf32.py)
#     f16.txt, bf16.txt     likewise, how far a float32 step is that rounds each map
#                           that an operation makes, forward and backward, to so
#                           many bits: losses are float32.  Products may round the
#                           parameters as well; the farther of both is meant, for
#                           either may meet a kink (halves.py)
#
# A long tensor t is stored by every N-th element only, as t@N; of the networks
# fewer, and no optimizer state, so that a folder takes less than 200 KB.  With
# --distances only the distances are written.
#
# Debian: python3-torch, python3-numpy, python3-sklearn.
import contextlib
import json
import re
import struct
import sys
from pathlib import Path

import numpy as np
import torch

import draws
from halves import Halves
from examples import EXAMPLES, NETWORKS, NetworkNet, example_net
from operators import ProgramNet
from shared import SHARED
from tf32 import tf32_products

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
STORED = 40         # elements, about, of a long tensor
LARGEST = 170000    # bytes, about, of a network's folder


# Maps of weights go between PyTorch's [k, c, r, s] and cnnc's [k, r, s, c].
def to_torch(x):
    return x.permute(0, 3, 1, 2).contiguous() if x.dim() == 4 else x


def from_torch(x):
    return x.permute(0, 2, 3, 1) if x.dim() == 4 else x


# A tensor of PyTorch's default type.
def real(x):
    return torch.from_numpy(x).to(torch.get_default_dtype())


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, x in tensors.items():
        x = np.ascontiguousarray(x, dtype=np.float64)
        header[name] = {"dtype": "F64", "shape": list(x.shape),
                        "data_offsets": [len(data), len(data) + x.nbytes]}
        data += x.tobytes()
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


# How many elements of a long tensor there is room for in a network's folder,
# where a name takes 100 bytes.
def room(net):
    count = 2 * len(net.shapes) + len(net.statistic_shapes)
    return max(2, min(STORED, (LARGEST - 100 * count) // (12 * count)))


# A few elements of a tensor will do: an odd stride passes through all rows and
# channels.
def sampled(tensors, stored):
    out = {}
    for name, x in tensors.items():
        stride = x.size // stored | 1
        if name == "figures" or stride == 1:
            out[name] = x
        else:
            out[f"{name}@{stride}"] = x.reshape(-1)[::stride]
    return out


# Inputs by name; past the samples those come again, as the interface has it.
def draw_batch(net, samples):
    batch = {}
    for name, dtype, shape, classes in net.inputs:
        x = draws.batch_input(name, dtype, shape, classes, net.ignored_label(name), net.seed)
        x = x[np.arange(len(x)) % samples]
        batch[name] = real(x) if x.dtype == np.float64 else torch.from_numpy(x)
    return batch


# PyTorch's names of cnnc's momentum, m, v and square.
STATES = {"momentum_buffer": "momentum", "exp_avg": "m", "exp_avg_sq": "v",
          "square_avg": "square"}


def optimizer_state(optimizer, parameters):
    state = {}
    for name, p in parameters.items():
        for key, x in optimizer.state[p].items():
            if key in STATES and x is not None:
                state[f"{name}.{STATES[key]}"] = from_torch(x).numpy()
    return state


# A loss or metric is the mean of its rows over the samples. Where it has a sum and a weight for
# each sample, it is the sum of all over their weight.
def figure(rows, samples):
    if not isinstance(rows, tuple):
        return rows[:samples].sum() / samples
    total, weight = (part[:samples].sum() for part in rows)
    return total / weight if weight else 0 * total


# After each of three training steps: figures, and comparable tensors.
def train(net, samples):
    parameters = {
        name: to_torch(real(draws.weight(name, shape, net.seed)))
        .requires_grad_(name not in getattr(net, "frozen", ()))
        for name, shape in net.shapes.items()}
    optimizer = net.optimizer(parameters.values())
    net.samples = samples
    net.statistics = {
        name: real(draws.weight(name, shape, net.seed))
        for name, shape in getattr(net, "statistic_shapes", {}).items()}
    batch, figures = draw_batch(net, samples), []
    kept, averages = getattr(net, "average", 0), {}
    if kept:
        averages = {k: p.detach().clone() for k, p in parameters.items() if p.requires_grad}
    mask_weights(net, parameters, averages, 0)
    for net.step in range(3):
        optimizer.zero_grad()
        rows, outputs = net.forward(parameters, batch)
        means = [figure(row, samples) for row in rows]
        means[0].backward()
        figures.append([float(m) for m in means])
        scale = getattr(net, "loss_scale", 0) or 1
        gradients = {f"d.{k}": scale * from_torch(p.grad).numpy()
                     for k, p in parameters.items() if p.grad is not None}
        outputs = {k: x.detach().numpy() for k, x in outputs.items()}
        if isinstance(net, ProgramNet):
            net.before_step(parameters.values(), optimizer)
        optimizer.step()
        for k, x in averages.items():
            x.mul_(kept).add_(parameters[k].detach(), alpha=1 - kept)
        bits = mask_weights(net, parameters, averages, net.step + 1)
        if getattr(net, "scales", None):
            net.track_scales()
        weights = {k: from_torch(p.detach()).numpy().copy()
                   for k, p in parameters.items()}
        yield (np.array(figures), {**outputs, **gradients},
               {**weights, **optimizer_state(optimizer, parameters),
                **{k: x.numpy().copy() for k, x in net.statistics.items()},
                **{k: x.numpy().copy() for k, x in getattr(net, "scales", {}).items()},
                **{f"{k}.average": from_torch(x).numpy().copy()
                   for k, x in averages.items()}, **bits})


# Prunes weights, and averages alike, before a step uses them (pruning.py).  Returns the bits.
def mask_weights(net, parameters, averages, step):
    bits = {}
    for name in getattr(net, "pruned", ()):
        weight = from_torch(parameters[name].detach())
        pruned = weight.numpy().copy()
        mask = net.pruning.apply(name, pruned, step)
        with torch.no_grad():
            parameters[name].copy_(to_torch(torch.from_numpy(pruned)))
            if name in averages:
                averages[name].mul_(to_torch(torch.from_numpy(mask)))
        bits[f"{name}.pruned"] = net.pruning.bits(name, mask.size)
    return bits


# The names after the word output.
def output_names(path):
    lines = re.findall(r"^ *output (.*)$", path.read_text(), re.M)
    return [name.strip() for line in lines for name in line.split(",")]


def take(options, flag, fallback):
    if flag not in options:
        return fallback
    at = options.index(flag)
    value = int(options[at + 1])
    del options[at:at + 2]
    return value


# The values of -D, by name.
def constants(options):
    defined = [options[i + 1].split("=") for i, option in enumerate(options)
               if option == "-D"]
    return {name: float(value) if "." in value else int(value)
            for name, value in defined}


# How far single precision is from double after a step: of the loss, of all
# outputs and of all gradients, by norm.
def distances(single, double):
    groups = {"loss": ["figures"], "outputs": [], "gradients": []}
    for name in double:
        if name != "figures":
            group = "gradients" if name.startswith("d.") else "outputs"
            groups[group].append(name)
    for group, names in groups.items():
        a, b = (np.concatenate([
            np.float64(x[name]).ravel()[:1 if name == "figures" else None]
            for name in names]) for x in (single, double))
        yield group, np.linalg.norm(a - b) / np.linalg.norm(b)


# The roundings of each precision below float32, in one way or in several.
ROUNDINGS = {
    "f32": [lambda net: contextlib.nullcontext()],
    "tf32": [lambda net: tf32_products()],
    "f16": [lambda net: Halves(torch.float16, net.shapes, True),
            lambda net: Halves(torch.float16, net.shapes, False)],
    "bf16": [lambda net: Halves(torch.bfloat16, net.shapes, True),
             lambda net: Halves(torch.bfloat16, net.shapes, False)],
}


# The first step again in single precision, with the further roundings of rounding(net), and how far
# it is from `double`.
def make_distances(path, options, samples, seed, stored, double, rounding):
    torch.set_default_dtype(torch.float32)
    batch = int(options[options.index("--batch") + 1])
    net = example_net(path.stem, constants(options), batch)
    net.seed, net.samples = seed, samples
    with rounding(net):
        figures, results, _ = next(train(net, samples))
    single = sampled({"figures": figures, **results}, stored)
    torch.set_default_dtype(torch.float64)
    return dict(distances(single, double))


def is_state(name):
    return name.rpartition(".")[2] in STATES.values()


# One line of `# run:` of the net at path.
def make(cnnc, path, name, options, distances_alone):
    batch = int(options[options.index("--batch") + 1])
    samples = take(options, "--samples", batch)
    seed = take(options, "--seed", 0)
    stored = STORED
    example = path.stem in EXAMPLES or path.stem in NETWORKS
    if example:
        take(options, "--deep", 0)
        net = example_net(path.stem, constants(options), batch)
        stored = room(net) if path.stem in NETWORKS else STORED
    elif path.stem in SHARED:
        net = NetworkNet(SHARED[path.stem](), batch)
        net.average = getattr(net.module, "average", 0)
    else:
        net = ProgramNet(cnnc, path, options, output_names(path))
    net.seed, net.samples = seed, samples
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    if distances_alone:
        steps = [next(train(net, samples))] if example else []
    else:
        steps = list(train(net, samples))
    for count, kept in ([] if distances_alone else
                        [(1, steps[0][1]), (3, steps[2][2])]):
        if path.stem in NETWORKS:
            kept = {k: x for k, x in kept.items() if not is_state(k)}
        write_safetensors(folder / f"after_{count}.safetensors", sampled(
            {"figures": steps[count - 1][0], **kept}, stored))
    # A seed will do with no kink within reach of float32's rounding.
    if example:
        double = sampled({"figures": steps[0][0], **steps[0][1]}, stored)
        for precision, ways in ROUNDINGS.items():
            apart = [make_distances(path, options, samples, seed, stored, double, rounding)
                     for rounding in ways]
            (folder / f"{precision}.txt").write_text("".join(
                f"{group} {max(one[group] for one in apart):.3g}\n" for group in apart[0]))
    if distances_alone:
        return
    print(f"{name}: loss {steps[0][0][0, 0]:.6f}, after three steps "
          f"{steps[2][0][2, 0]:.6f}")


# Each net with its runs: those of the examples are in examples.txt.
def all_runs():
    for path in sorted(path for folder in ("ops", "freeze", "joins", "pools", "shared", "slices")
                       for path in HERE.parent.glob(f"{folder}/*.cnn")):
        yield path, re.findall(r"^# run: (.*)$", path.read_text(), re.M)
    for line in (HERE / "examples.txt").read_text().splitlines():
        name, options = line.split(maxsplit=1)
        yield ROOT / "examples" / name / f"{name}.cnn", [options]


def main():
    cnnc, only = sys.argv[1], sys.argv[2:]
    distances_alone = "--distances" in only
    only = [name for name in only if name != "--distances"]
    torch.set_default_dtype(torch.float64)
    for path, runs in all_runs():
        for number, options in enumerate(runs, 1):
            if not only or path.stem in only:
                make(cnnc, path, f"{path.stem}-{number}", options.split(),
                     distances_alone)


if __name__ == "__main__":
    main()
