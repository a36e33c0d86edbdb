# Defines activations and elementwise binary operators in PyTorch; operators.py has the table that
# these join.
import torch
import torch.nn.functional as F


def gelu(net, node, x):
    return F.gelu(x, approximate="tanh" if node.approximate else "none")


OPERATORS = {
    "relu6": lambda net, node, x: F.relu6(x),
    "leaky_relu": lambda net, node, x: F.leaky_relu(x, node.slope),
    "elu": lambda net, node, x: F.elu(x, node.alpha),
    "selu": lambda net, node, x: F.selu(x),
    "gelu": gelu,
    "swish": lambda net, node, x: F.silu(x),
    "sigmoid": lambda net, node, x: torch.sigmoid(x),
    "tanh": lambda net, node, x: torch.tanh(x),
    "hard_sigmoid": lambda net, node, x: F.hardsigmoid(x),
    "hard_swish": lambda net, node, x: F.hardswish(x),
    "softmax": lambda net, node, x: F.softmax(x, -1),
    "sub": lambda net, node, a, b: a - b,
    "mul": lambda net, node, a, b: a * b,
    "div": lambda net, node, a, b: a / b,
    "maximum": lambda net, node, a, b: torch.maximum(a, b),
}
