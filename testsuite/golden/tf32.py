# PyTorch's products with operands rounded to TF32, as they are on tensor cores: of convolutions and
# dense layers, forward and backward, in float32. CPUs have no such products, so they are emulated.
# Operands are rounded to 10 bits of mantissa, to the nearest, of two as near to the larger in
# magnitude; float32 does the rest. A convolution whose filters see one channel of many is no
# product, here as in cnnc.
import contextlib

import torch
import torch.nn.functional as F


def rounded(x):
    return ((x.contiguous().view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)


# A product's operand: its gradient is that of the product with the rounded operand.
class Operand(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return rounded(x)

    @staticmethod
    def backward(context, dx):
        return dx


# A product's result: its gradient is an operand of the products backward.
class Result(torch.autograd.Function):
    @staticmethod
    def forward(context, y):
        return y.clone()

    @staticmethod
    def backward(context, dy):
        return rounded(dy)


# A bias is added to the product: its gradient is the sum of unrounded values.
def product(plain, channels):
    def of(x, weight, bias=None, *options, **more):
        groups = more.get("groups", options[3] if len(options) > 3 and channels else 1)
        if channels and groups > 1 and weight.shape[1] == 1:
            return plain(x, weight, bias, *options, **more)
        y = Result.apply(plain(Operand.apply(x), Operand.apply(weight), None, *options, **more))
        if bias is None:
            return y
        return y + (bias.reshape(-1, 1, 1) if channels else bias)
    return of


@contextlib.contextmanager
def tf32_products():
    plain = F.conv2d, F.conv_transpose2d, F.linear
    F.conv2d, F.conv_transpose2d = product(plain[0], True), product(plain[1], True)
    F.linear = product(plain[2], False)
    try:
        yield
    finally:
        F.conv2d, F.conv_transpose2d, F.linear = plain
