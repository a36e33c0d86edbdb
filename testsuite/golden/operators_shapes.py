# Defines average pools, and operators that only move elements, in PyTorch.
# A module of operators.py, whose nodes and maps [n, h, w, c] these work on.
import torch
import torch.nn.functional as F


# A map as PyTorch has it, and back.
def channels_first(x):
    return x.permute(0, 3, 1, 2)


def channels_last(x):
    return x.permute(0, 2, 3, 1)


def margins(node):
    return (node.pad_left, node.pad_right, node.pad_top, node.pad_bottom)


# Sums of windows over sums of their counted elements; a window that would begin in
# the padding that follows does not count, and elements past it do not exist.
def avgpool(net, node, x):
    def sums(x, outside):
        x = F.pad(channels_first(x), margins(node), value=outside)
        y = F.avg_pool2d(x, (node.kernel_h, node.kernel_w),
                         (node.stride_h, node.stride_w),
                         ceil_mode=bool(node.ceil), divisor_override=1)
        return channels_last(y[:, :, :node.shape[1], :node.shape[2]])
    return sums(x, 0.0) / sums(torch.ones_like(x), float(node.count_padding))


def upsample(net, node, x):
    factor = (node.factor_h, node.factor_w)
    x = channels_first(x)
    if node.bilinear:
        y = F.interpolate(x, scale_factor=tuple(map(float, factor)),
                          mode="bilinear", align_corners=False)
    else:
        y = F.interpolate(x, scale_factor=tuple(map(float, factor)))
    return channels_last(y)


def crop(net, node, x):
    return x[:, node.top:x.shape[1] - node.bottom,
             node.left:x.shape[2] - node.right]


# Bytes as fractions of 255.
def normalize(net, node, x):
    mean, std = (torch.tensor(numbers, dtype=torch.float64)
                 for numbers in (node.mean, node.std))
    return ((x.double() / 255 if x.dtype == torch.uint8 else x) - mean) / std


OPERATORS = {
    "avgpool": avgpool,
    "global_avgpool": lambda net, node, x: x.mean((1, 2), keepdim=True),
    "global_maxpool": lambda net, node, x: x.amax((1, 2), keepdim=True),
    "upsample": upsample,
    "reshape": lambda net, node, x: x.reshape(node.shape),
    "concat": lambda net, node, *x: torch.cat(x, node.axis),
    "slice": lambda net, node, x: x.narrow(node.axis, node.start, node.size),
    "pad": lambda net, node, x:
        F.pad(x, (0, 0, node.left, node.right, node.top, node.bottom),
              value=node.value),
    "crop": crop,
    "normalize": normalize,
}
