#!/usr/bin/env python3
"""Converts networks of torchvision, or their weights for a program of examples/, and compares
outputs with PyTorch's in float64.

    with_package CNNC frontend/python make.py LIBHOST [--store] [NAME...]

Needs torch and torchvision. Prints a line a network: the largest difference of an output, relative
to the largest number, or the reason that the network does not convert. With --store it writes the
neutral graphs and outputs of STORED to graphs/, which check_nets.py reads.
"""
import gzip
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save_file
from torch import nn
from torchvision import models

import cnnc
import drawn
import host_net
from modules import OWN

GRAPHS = Path(__file__).resolve().parent / "graphs"
CLASSES = 10
BATCH = 2
# Sides of images: small ones where a network allows it.
SIZE = 64
SIZES = {"alexnet": 224, "inception_v3": 139, "swin_t": 224, "swin_v2_t": 256, "maxvit_t": 224,
         "vit_b_16": 224, "vgg": 224, "ssdlite_backbone": 96}
CLASSIFIERS = """alexnet convnext_tiny convnext_small densenet121 densenet161 densenet169
    densenet201 efficientnet_b0 efficientnet_b1 efficientnet_b2 efficientnet_b3 efficientnet_b4
    efficientnet_v2_s googlenet inception_v3 maxvit_t mnasnet0_5 mnasnet0_75 mnasnet1_0 mnasnet1_3
    mobilenet_v2 mobilenet_v3_large mobilenet_v3_small regnet_x_1_6gf regnet_x_400mf regnet_x_800mf
    regnet_y_1_6gf regnet_y_400mf regnet_y_800mf resnet18 resnet34 resnet50 resnet101 resnet152
    resnext50_32x4d shufflenet_v2_x0_5 shufflenet_v2_x1_0 squeezenet1_0 squeezenet1_1 swin_t
    swin_v2_t vgg11 vgg11_bn vgg13 vgg16 vgg16_bn vgg19 vit_b_16 wide_resnet50_2""".split()
SEGMENTERS = """deeplabv3_mobilenet_v3_large deeplabv3_resnet50 fcn_resnet50
    lraspp_mobilenet_v3_large""".split()
OTHERS = ["ssdlite_backbone", *OWN]
# Programs of examples/ that take the weights of torchvision, by name.
EXAMPLES = {f"examples/{name}": name for name in
            "densenet121 mobilenet_v2 resnet18 resnet50 vgg16".split()}
EXAMPLES_FOLDER = Path(__file__).resolve().parents[2] / "examples"
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
STORED = """densenet121 efficientnet_b0 googlenet lraspp_mobilenet_v3_large mobilenet_v2
    regnet_y_400mf resnet18 shufflenet_v2_x0_5 squeezenet1_1""".split() + list(OWN)


def network(name, num_classes=CLASSES):
    if name in OWN:
        return OWN[name][0]()
    if name == "ssdlite_backbone":
        return models.detection.ssdlite320_mobilenet_v3_large(
            weights=None, weights_backbone=None).backbone
    options = {"num_classes": num_classes, "weights": None}
    if name in SEGMENTERS:
        options["weights_backbone"] = None
    if name in ("googlenet", "inception_v3"):
        options["init_weights"] = False
    return models.get_model(name, **options)


def sides(name):
    if name in OWN:
        return OWN[name][1]
    size = SIZES.get("vgg" if name.startswith("vgg") else name, SIZE)
    return size, size


def with_drawn_weights(name, **options):
    """The network in double precision, with the parameters of drawn.py. One with several names has
    the first."""
    module = network(name, **options).double().eval()
    drawn_already = set()
    for key, tensor in module.state_dict().items():
        if tensor.is_floating_point() and tensor.data_ptr() not in drawn_already:
            drawn_already.add(tensor.data_ptr())
            tensor.copy_(torch.from_numpy(drawn.parameter(name, key, list(tensor.shape))))
    return module


def outputs_of(module, x):
    with torch.no_grad():
        results = module(x)
    results = results.values() if isinstance(results, dict) else [results]
    return [result.numpy() for result in results]


def store(name, converted, outputs):
    GRAPHS.mkdir(exist_ok=True)
    with gzip.GzipFile(GRAPHS / f"{name}.json.gz", "wb", mtime=0) as out:
        out.write(converted.graph.to_json().encode())
    np.savez_compressed(GRAPHS / f"{name}.npz", *(host_net.sampled(each) for each in outputs))


def store_step(name):
    """Stores the tensors of a network after a training step."""
    module = with_drawn_weights(name).train()
    x = drawn.batch([host_net.SAMPLES, 3, *sides(name)])
    results = module(torch.from_numpy(x))
    labels = drawn.labels([len(x), *results.shape[2:]], results.shape[1])
    optimizer = torch.optim.SGD(module.parameters(), host_net.RATE)
    nn.functional.cross_entropy(results, torch.from_numpy(labels).long()).backward()
    optimizer.step()
    state = {key: tensor.detach().numpy() for key, tensor in module.state_dict().items()
             if tensor.is_floating_point()}
    np.savez_compressed(GRAPHS / f"{name}.step.npz",
                        **{key: host_net.sampled(array) for key, array in state.items()})


def compare(name, libhost, folder):
    """The converted net, PyTorch's outputs, and what host_net.judged says. Raises Unsupported."""
    module = with_drawn_weights(name)
    x = drawn.batch([BATCH, 3, *sides(name)])
    converted = cnnc.from_torch(module, torch.from_numpy(x))
    theirs = outputs_of(module, torch.from_numpy(x))
    ours = host_net.results_of(converted, libhost, folder, x)
    return converted, theirs, host_net.judged(ours, theirs)


def compare_example(name, libhost, folder):
    """The largest difference of an example's logits with the weights of torchvision's network."""
    side, _ = sides(name)
    module = with_drawn_weights(name, num_classes=1000)
    x = np.floor(128 + 128 * drawn.batch([BATCH, side, side, 3])).astype(np.uint8)
    theirs, = outputs_of(module, torch.from_numpy(((x / 255 - MEAN) / STD).transpose(0, 3, 1, 2)))
    net = EXAMPLES_FOLDER / name / f"{name}.cnn"
    save_file(cnnc.weights.from_torch(module.state_dict(), net), f"{folder}/weights")
    host_net.build(net, libhost, f"{folder}/net", batch=BATCH, mode="infer", define={"size": side})
    ours = host_net.predict(f"{folder}/net", f"{folder}/weights", {"image": x}, folder)
    return host_net.distance(ours["logits"], theirs)


def row(name, libhost, stores):
    """True and a line of the table; false if the outputs differ."""
    if name in EXAMPLES:
        with tempfile.TemporaryDirectory() as folder:
            far = compare_example(EXAMPLES[name], libhost, folder)
        return far <= host_net.LIMIT, f"{far:.1e}"
    with tempfile.TemporaryDirectory() as folder:
        try:
            converted, theirs, verdict = compare(name, libhost, folder)
        except cnnc.Unsupported as refusal:
            return True, f"refused: {refusal}"
    if stores and name in STORED:
        store(name, converted, theirs)
    if stores and name in OWN:
        store_step(name)
    return verdict


def main():
    warnings.filterwarnings("ignore")
    libhost, stores = sys.argv[1], "--store" in sys.argv
    names = [word for word in sys.argv[2:] if word != "--store"]
    return host_net.print_table(names or [*CLASSIFIERS, *SEGMENTERS, *OTHERS, *EXAMPLES],
                                lambda name: row(name, libhost, stores))


if __name__ == "__main__":
    sys.exit(main())
