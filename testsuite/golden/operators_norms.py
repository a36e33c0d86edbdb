# Defines normalisations and stochastic depth in PyTorch.  Parameters and
# statistics are found by name, since a node prints no operand that it was told
# to leave out.
import torch
import torch.nn.functional as F

from draws import depth_mask


def parameters(node, operands):
    named = {name.rpartition(".")[2]: x
             for name, x in zip(node.operands[1:], operands)}
    return [named.get(name) for name in ("weight", "bias", "mean", "variance")]


def layernorm(net, node, x, *operands):
    weight, bias, *_ = parameters(node, operands)
    return F.layer_norm(x, x.shape[-1:], weight, bias, node.epsilon)


# PyTorch 1.13 has no gradient of group_norm with one parameter of the two.
def groupnorm(net, node, x, *operands):
    weight, bias, *_ = parameters(node, operands)
    y = F.group_norm(x.movedim(-1, 1), node.groups, eps=node.epsilon)
    y = y.movedim(1, -1) if weight is None else y.movedim(1, -1) * weight
    return y if bias is None else y + bias


# PyTorch refuses a single value a channel, which is its own mean.  Samples that
# are not there are normalised like the rest, and count nowhere.
def batchnorm(net, node, x, *operands):
    weight, bias, mean, variance = parameters(node, operands)
    if not any(name.endswith(".batch_mean") for name in node.operands):
        y = F.batch_norm(x.movedim(-1, 1), mean, variance, weight, bias, False, 0, node.epsilon)
        return y.movedim(1, -1)
    rows = x.reshape(-1, x.shape[-1])
    given = x[:net.samples].reshape(-1, x.shape[-1])
    with torch.no_grad():
        centre = given.mean(0)
        spread = given.var(0, unbiased=False)
    if len(given) > 1:
        y = F.batch_norm(given, mean, variance, weight, bias, True,
                         node.momentum, node.epsilon)
    else:
        mean += node.momentum * (centre - mean)
        variance *= 1 - node.momentum
        y = 0 * given if weight is None else 0 * given + 0 * weight
        y = y if bias is None else y + bias
    with torch.no_grad():
        rest = (rows[len(given):] - centre) / (spread + node.epsilon).sqrt()
        rest = rest if weight is None else rest * weight
        rest = rest if bias is None else rest + bias
    return torch.cat([y, rest]).reshape(x.shape)


def stochastic_depth(net, node, x, header):
    mask = depth_mask(x.shape, node.rate, node.number, net.seed, net.step)
    return x * torch.from_numpy(mask)


# PyTorch's is over the second axis.
def lrn(net, node, x):
    channels = x.reshape(len(x), -1, x.shape[-1]).movedim(-1, 1)
    y = F.local_response_norm(channels, node.size, node.alpha, node.beta, node.k)
    return y.movedim(1, -1).reshape(x.shape)


NORMS = {
    "lrn": lrn,
    "batchnorm": batchnorm,
    "groupnorm": groupnorm,
    "layernorm": layernorm,
    "stochastic_depth": stochastic_depth,
}
