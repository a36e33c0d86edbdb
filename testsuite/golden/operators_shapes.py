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
    dilation = (node.dilation_h, node.dilation_w)

    def sums(x, outside):
        x = F.pad(channels_first(x), margins(node), value=outside)
        if dilation != (1, 1):
            ones = torch.ones(x.shape[1], 1, node.kernel_h, node.kernel_w, dtype=x.dtype)
            return channels_last(F.conv2d(x, ones, stride=(node.stride_h, node.stride_w),
                                          dilation=dilation, groups=x.shape[1]))
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


def resize(net, node, x):
    mode = ("nearest", "nearest-exact", "bilinear", "bilinear")[node.mode]
    align = node.mode == 3 if mode == "bilinear" else None
    y = F.interpolate(channels_first(x), (node.height, node.width), mode=mode,
                      align_corners=align)
    return channels_last(y)


def pad(net, node, x):
    mode = ("constant", "reflect", "replicate", "circular")[node.mode]
    sides = (node.left, node.right, node.top, node.bottom)
    value = node.value if mode == "constant" else None
    return channels_last(F.pad(channels_first(x), sides, mode, value))


def crop(net, node, x):
    return x[:, node.top:x.shape[1] - node.bottom,
             node.left:x.shape[2] - node.right]


# Bytes as fractions of 255.
def normalize(net, node, x):
    mean, std = (torch.tensor(numbers, dtype=torch.float64)
                 for numbers in (node.mean, node.std))
    return ((x.double() / 255 if x.dtype == torch.uint8 else x) - mean) / std


def pixel_shuffle(net, node, x):
    return channels_last(F.pixel_shuffle(channels_first(x), node.factor))


def pixel_unshuffle(net, node, x):
    return channels_last(F.pixel_unshuffle(channels_first(x), node.factor))


def depth_to_space(net, node, x):
    n, h, w, c = x.shape
    f = node.factor
    x = x.reshape(n, h, w, f, f, c // (f * f)).permute(0, 1, 3, 2, 4, 5)
    return x.reshape(n, h * f, w * f, c // (f * f))


def space_to_depth(net, node, x):
    n, h, w, c = x.shape
    f = node.factor
    x = x.reshape(n, h // f, f, w // f, f, c).permute(0, 1, 3, 2, 4, 5)
    return x.reshape(n, h // f, w // f, f * f * c)


def channel_shuffle(net, node, x):
    groups = x.unflatten(-1, (node.groups, -1))
    return groups.transpose(-1, -2).flatten(-2)


def transpose(net, node, x):
    return x.permute(0, *(1 + int(axis) for axis in node.axes))


OPERATORS = {
    "transpose": transpose,
    "channel_shuffle": channel_shuffle,
    "pixel_shuffle": pixel_shuffle,
    "pixel_unshuffle": pixel_unshuffle,
    "depth_to_space": depth_to_space,
    "space_to_depth": space_to_depth,
    "avgpool": avgpool,
    "adaptive_avgpool": lambda net, node, x: channels_last(
        F.adaptive_avg_pool2d(channels_first(x), (node.height, node.width))),
    "global_avgpool": lambda net, node, x: x.mean((1, 2), keepdim=True),
    "global_maxpool": lambda net, node, x: x.amax((1, 2), keepdim=True),
    "upsample": upsample,
    "resize": resize,
    "reshape": lambda net, node, x: x.reshape(node.shape),
    "concat": lambda net, node, *x: torch.cat(x, node.axis),
    "slice": lambda net, node, x: x.narrow(node.axis, node.start, node.size),
    "pad": pad,
    "crop": crop,
    "normalize": normalize,
}
