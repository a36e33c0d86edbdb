# Defines activations and elementwise binary operators in PyTorch; operators.py has the table that
# these join.
import torch
import torch.nn.functional as F


def gelu(net, node, x):
    return F.gelu(x, approximate="tanh" if node.approximate else "none")


def clamp(net, node, x):
    return F.hardtanh(x, float(node.low), float(node.high))


# An operator of two values whose samples may have different ranks.
def binary(function):
    def aligned(net, node, a, b):
        rank = max(a.dim(), b.dim())
        a, b = (x.reshape(x.shape[0], *[1] * (rank - x.dim()), *x.shape[1:]) for x in (a, b))
        return function(a, b)
    return aligned


OPERATORS = {
    "relu6": lambda net, node, x: F.relu6(x),
    "leaky_relu": lambda net, node, x: F.leaky_relu(x, node.slope),
    "prelu": lambda net, node, x, slope: torch.where(x > 0, x, slope * x),
    "elu": lambda net, node, x: F.elu(x, node.alpha),
    "selu": lambda net, node, x: F.selu(x),
    "gelu": gelu,
    "swish": lambda net, node, x: F.silu(x),
    "sigmoid": lambda net, node, x: torch.sigmoid(x),
    "tanh": lambda net, node, x: torch.tanh(x),
    "hard_sigmoid": lambda net, node, x: F.hardsigmoid(x),
    "hard_swish": lambda net, node, x: F.hardswish(x),
    "softplus": lambda net, node, x: F.softplus(x, threshold=1e6),
    "mish": lambda net, node, x: F.mish(x),
    "exp": lambda net, node, x: torch.exp(x),
    "log": lambda net, node, x: torch.log(x),
    "sqrt": lambda net, node, x: torch.sqrt(x),
    "square": lambda net, node, x: torch.square(x),
    "abs": lambda net, node, x: torch.abs(x),
    "reciprocal": lambda net, node, x: torch.reciprocal(x),
    "clamp": clamp,
    "shift": lambda net, node, x: x + node.value,
    "softmax": lambda net, node, x: F.softmax(x, -1),
    "log_softmax": lambda net, node, x: F.log_softmax(x, -1),
    "sub": binary(torch.sub),
    "mul": binary(torch.mul),
    "div": binary(torch.div),
    "maximum": binary(torch.maximum),
    "minimum": binary(torch.minimum),
}
