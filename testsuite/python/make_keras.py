#!/usr/bin/env python3
"""Converts networks of keras.applications, and compares outputs with Keras's in float64.

    KERAS_BACKEND=torch with_package CNNC frontend/python make_keras.py LIBHOST [--store] [NAME...]

Needs keras and torch. Prints a line a network: the largest difference of an output, relative to the
largest number, or the reason that the network does not convert. With --store it writes the configs
and outputs of STORED to keras/, which check_keras.py reads.
"""
import gzip
import json
import sys
import tempfile
import warnings
from pathlib import Path

import keras
import numpy as np
from keras.src.applications.nasnet import NASNet
from keras.src.backend.common import dtypes

import cnnc
import drawn
import host_net
from keras_layers_net import PARTS, layers_net, trained

STORE = Path(__file__).resolve().parent / "keras"
CLASSES = 10
BATCH = 2
# Sides of images: small ones where a network allows it.
SIZE = 64
SIZES = {"InceptionV3": 75, "InceptionResNetV2": 75, "Xception": 71}
NETWORKS = """ConvNeXtTiny DenseNet121 DenseNet169 EfficientNetB0 EfficientNetB1 EfficientNetV2B0
    InceptionResNetV2 InceptionV3 MobileNet MobileNetV2 MobileNetV3Large MobileNetV3Small
    NASNetMobile ResNet50 ResNet50V2 VGG16 VGG19 Xception""".split()
STORED = ["MobileNetV2", "ResNet50", "trained", *PARTS]
# Keys of configs that say nothing about a network's numbers.
NOISE = ("build_config", "compile_config")


def network(name):
    if name in PARTS:
        return layers_net(name)
    if name == "trained":
        return trained()
    side = SIZES.get(name, SIZE)
    if name == "NASNetMobile":          # which keras makes with other backends than PyTorch alone
        return NASNet((side, side, 3), 1056, 4, 32, False, 2, weights=None, classes=CLASSES,
                      default_size=224, name="nasnet_mobile")
    return getattr(keras.applications, name)(
        weights=None, input_shape=(side, side, 3), classes=CLASSES)


def variables_of(model):
    """By path, each variable of the layers of a model and of the models in it."""
    found = {}
    for layer in model.layers:
        parts = variables_of(layer) if hasattr(layer, "layers") else \
            {variable.path: variable for variable in layer.weights}
        found.update(parts)
    return found


def with_drawn_weights(name):
    model = network(name)
    for path, variable in variables_of(model).items():
        if variable.dtype.startswith("float"):
            variable.assign(drawn.keras_parameter(name, path, list(variable.shape)))
    return model


def slim(config):
    if isinstance(config, dict):
        return {key: slim(value) for key, value in config.items()
                if key not in NOISE and not key.endswith("_initializer")}
    return [slim(part) for part in config] if isinstance(config, list) else config


def stored_form(model):
    """The config of a model, and the shapes of its layers' weights, by the layer's name."""
    return {"config": model.get_config(), "layers": {
        layer.name: stored_form(layer) if hasattr(layer, "layers") else
        [[variable.path, list(variable.shape)] for variable in layer.weights]
        for layer in model.layers}}


def store(name, model, outputs):
    STORE.mkdir(exist_ok=True)
    text = json.dumps(slim(stored_form(model)), separators=(",", ":"))
    with gzip.GzipFile(STORE / f"{name}.json.gz", "wb", mtime=0) as out:
        out.write(text.encode())
    np.savez_compressed(STORE / f"{name}.npz", *host_net.samples_of(outputs))


def store_step(model):
    """Stores the weights of a network after a training step, by their paths."""
    x = drawn.batch([host_net.SAMPLES, *model.input_shape[1:]])
    model.compile(keras.optimizers.SGD(host_net.RATE), "sparse_categorical_crossentropy")
    model.train_on_batch(x, drawn.labels([len(x)], model.output_shape[-1]))
    np.savez_compressed(STORE / f"{model.name}.step.npz", **{
        variable.path: array for variable, array in zip(model.weights, model.get_weights())})


def row(name, libhost, stores):
    """True and a line of the table; false if the outputs differ."""
    model = with_drawn_weights(name)
    x = drawn.batch([BATCH, *model.input_shape[1:]])
    with tempfile.TemporaryDirectory() as folder:
        try:
            converted = cnnc.from_keras(model)
        except cnnc.Unsupported as refusal:
            return True, f"refused: {refusal}"
        theirs = model.predict(x, verbose=0)
        theirs = theirs if isinstance(theirs, list) else [theirs]
        ours = host_net.framework_results(converted, libhost, folder, [x])
    if stores and name in STORED:
        store(name, model, theirs)
    if stores and name == "trained":
        store_step(model)
    return host_net.judged(ours, theirs)


def main():
    warnings.filterwarnings("ignore")
    keras.config.set_floatx("float64")
    dtypes.BIT64_TO_BIT32_DTYPE["float64"] = "float64"      # norms and means too
    libhost, stores = sys.argv[1], "--store" in sys.argv
    names = [word for word in sys.argv[2:] if word != "--store"]
    return host_net.print_table(names or [*NETWORKS, *PARTS, "trained"],
                                lambda name: row(name, libhost, stores))


if __name__ == "__main__":
    sys.exit(main())
