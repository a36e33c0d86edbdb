"""The losses of torch.nn as calls of cnnc."""
from torch import nn

from .building import decimal
from .errors import Unsupported

# Attributes that must have their default, for a loss to be one of cnnc.
PLAIN = {"reduction": "mean", "size_average": None, "reduce": None, "pos_weight": None}


def weights_of(module):
    return {} if module.weight is None else \
        {"class_weights": [decimal(weight) for weight in module.weight.tolist()]}


def labels_of(module):
    """The labels that PyTorch leaves out by default are an error of the data in cnnc."""
    return {} if module.ignore_index == -100 else {"ignore": module.ignore_index}


def cross_entropy(module):
    return "softmax_cross_entropy", {"label_smoothing": module.label_smoothing,
                                     **weights_of(module), **labels_of(module)}


def binary_cross_entropy(module):
    if module.weight is not None:
        raise Unsupported("BCEWithLogitsLoss", "weights of elements; wanted none")
    return "binary_cross_entropy", {}


LOSSES = {
    nn.CrossEntropyLoss: cross_entropy,
    nn.NLLLoss: lambda module: ("nll", {**weights_of(module), **labels_of(module)}),
    nn.BCEWithLogitsLoss: binary_cross_entropy,
    nn.MSELoss: lambda module: ("mse", {}),
    nn.L1Loss: lambda module: ("mean_absolute_error", {}),
    nn.SmoothL1Loss: lambda module: ("smooth_l1", {"beta": module.beta}),
    nn.HuberLoss: lambda module: ("smooth_l1", {"beta": module.delta, "weight": module.delta}),
}


def call_of(module):
    """The operator and the arguments of a loss. Raises Unsupported."""
    name = type(module).__name__
    if type(module) not in LOSSES:
        raise Unsupported(name, "wanted one of " + ", ".join(kind.__name__ for kind in LOSSES))
    for key, value in PLAIN.items():
        found = getattr(module, key, value)
        if found != value:
            raise Unsupported(name, f"{key} {found}; wanted {value}")
    return LOSSES[type(module)](module)
