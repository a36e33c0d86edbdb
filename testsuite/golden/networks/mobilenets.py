# Networks of depthwise convolutions.
import torch
import torch.nn as nn
import torch.nn.functional as F

from .layers import Classifier, ConvNorm, global_avgpool, masks


# PyTorch's own take 1/6 in single precision.
def hard_sigmoid(x):
    return F.relu6(x + 3) / 6


def hard_swish(x):
    return x * hard_sigmoid(x)


# A depthwise convolution and a pointwise one.
class Separable(nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        self.depthwise = ConvNorm(channels, channels, 3, stride, channels)
        self.pointwise = ConvNorm(channels, width, 1)

    def forward(self, x):
        return self.pointwise(self.depthwise(x))


class MobilenetV1(Classifier):
    sgd = dict(lr=0.1, momentum=0.9, weight_decay=4e-5)
    table = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2),
             (512, 1), (512, 1), (512, 1), (512, 1), (512, 1), (1024, 2),
             (1024, 1))

    def __init__(self, size=224, classes=1000, alpha=1):
        super().__init__(size, classes)
        channels = int(32 * alpha)
        self.stem = ConvNorm(3, channels, 3, 2)
        for i, (width, stride) in enumerate(self.table, 1):
            width = int(width * alpha)
            setattr(self, f"separable_{i}", Separable(channels, width, stride))
            channels = width
        self.logits = nn.Linear(channels, classes)

    def net(self, x):
        x = self.stem(x)
        for i in range(1, len(self.table) + 1):
            x = getattr(self, f"separable_{i}")(x)
        return self.logits(global_avgpool(x))


# Expands by a factor, unless it is 1; joined with x where the shapes agree.
class Inverted(nn.Module):
    def __init__(self, channels, width, factor, stride):
        super().__init__()
        wide = factor * channels
        self.expand = None
        if factor != 1:
            self.expand = ConvNorm(channels, wide, 1, act=F.relu6)
        self.depthwise = ConvNorm(wide, wide, 3, stride, wide, F.relu6)
        self.project = ConvNorm(wide, width, 1, act=None)
        self.joined = stride == 1 and channels == width

    def forward(self, x):
        y = self.expand(x) if self.expand else x
        y = self.project(self.depthwise(y))
        return x + y if self.joined else y


class MobilenetV2(Classifier):
    sgd = dict(lr=0.05, momentum=0.9, weight_decay=4e-5)
    table = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
             (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))

    def __init__(self, size=224, classes=1000, alpha=1):
        super().__init__(size, classes)
        channels, self.count = int(32 * alpha), 0
        self.stem = ConvNorm(3, channels, 3, 2, act=F.relu6)
        for factor, width, repeats, stride in self.table:
            width = int(width * alpha)
            for i in range(repeats):
                self.count += 1
                setattr(self, f"inverted_{self.count}",
                        Inverted(channels, width, factor, 1 if i else stride))
                channels = width
        last = int(1280 * alpha)
        self.last = ConvNorm(channels, last, 1, act=F.relu6)
        self.logits = nn.Linear(last, classes)

    def net(self, x):
        x = self.stem(x)
        for i in range(1, self.count + 1):
            x = getattr(self, f"inverted_{i}")(x)
        return self.logits(global_avgpool(self.last(x)))


# Each channel times a factor that is made from the means of all.
class Squeeze(nn.Module):
    def __init__(self, channels, squeeze, act, gate):
        super().__init__()
        self.reduce = nn.Conv2d(channels, squeeze, 1)
        self.restore = nn.Conv2d(squeeze, channels, 1)
        self.act, self.gate = act, gate

    def forward(self, x):
        y = x.mean((2, 3), keepdim=True)
        return x * self.gate(self.restore(self.act(self.reduce(y))))


class V3Block(nn.Module):
    def __init__(self, channels, kernel, wide, width, squeeze, act, stride):
        super().__init__()
        tail = dict(eps=0.001, momentum=0.01)
        self.expand = self.squeeze = None
        if wide != channels:
            self.expand = ConvNorm(channels, wide, 1, act=act, **tail)
        self.depthwise = ConvNorm(wide, wide, kernel, stride, wide, act,
                                  **tail)
        if squeeze:
            self.squeeze = Squeeze(wide, squeeze, F.relu, hard_sigmoid)
        self.project = ConvNorm(wide, width, 1, act=None, **tail)
        self.joined = stride == 1 and channels == width

    def forward(self, x):
        y = self.expand(x) if self.expand else x
        y = self.depthwise(y)
        y = self.project(self.squeeze(y) if self.squeeze else y)
        return x + y if self.joined else y


class MobilenetV3Large(Classifier):
    R, H = F.relu, hard_swish
    table = ((3, 16, 16, 0, R, 1), (3, 64, 24, 0, R, 2), (3, 72, 24, 0, R, 1),
             (5, 72, 40, 24, R, 2), (5, 120, 40, 32, R, 1),
             (5, 120, 40, 32, R, 1), (3, 240, 80, 0, H, 2),
             (3, 200, 80, 0, H, 1), (3, 184, 80, 0, H, 1),
             (3, 184, 80, 0, H, 1), (3, 480, 112, 120, H, 1),
             (3, 672, 112, 168, H, 1), (5, 672, 160, 168, H, 2),
             (5, 960, 160, 240, H, 1), (5, 960, 160, 240, H, 1))

    def __init__(self, size=224, classes=1000):
        super().__init__(size, classes)
        tail = dict(act=hard_swish, eps=0.001, momentum=0.01)
        self.stem = ConvNorm(3, 16, 3, 2, **tail)
        channels = 16
        for i, row in enumerate(self.table, 1):
            setattr(self, f"bneck_{i}", V3Block(channels, *row))
            channels = row[2]
        self.last = ConvNorm(channels, 960, 1, **tail)
        self.fc = nn.Linear(960, 1280)
        self.logits = nn.Linear(1280, classes)

    def net(self, x):
        x = self.stem(x)
        for i in range(1, len(self.table) + 1):
            x = getattr(self, f"bneck_{i}")(x)
        x = hard_swish(self.fc(global_avgpool(self.last(x))))
        return self.logits(masks.dropout(x, 0.2))

    def optimizer(self, parameters):
        return torch.optim.RMSprop(parameters, lr=0.064, alpha=0.9, eps=0.0316,
                                   momentum=0.9, weight_decay=1e-5)


# The branch of block `index` of 16 is left out for a sample with probability
# 0.2 * index / 16.
class Mbconv(nn.Module):
    def __init__(self, channels, width, factor, kernel, stride, index):
        super().__init__()
        wide, self.rate = factor * channels, 0.2 * index / 16
        self.expand = None
        if factor != 1:
            self.expand = ConvNorm(channels, wide, 1, act=F.silu)
        self.depthwise = ConvNorm(wide, wide, kernel, stride, wide, F.silu)
        self.squeeze = Squeeze(wide, channels // 4, F.silu, torch.sigmoid)
        self.project = ConvNorm(wide, width, 1, act=None)
        self.joined = stride == 1 and channels == width

    def forward(self, x):
        y = self.expand(x) if self.expand else x
        y = self.project(self.squeeze(self.depthwise(y)))
        return x + masks.stochastic_depth(y, self.rate) if self.joined else y


class EfficientnetB0(Classifier):
    sgd = dict(lr=0.1, momentum=0.9, weight_decay=1e-5)
    table = ((1, 3, 1, 16, 1), (6, 3, 2, 24, 2), (6, 5, 2, 40, 2),
             (6, 3, 2, 80, 3), (6, 5, 1, 112, 3), (6, 5, 2, 192, 4),
             (6, 3, 1, 320, 1))

    def __init__(self, size=224, classes=1000):
        super().__init__(size, classes)
        self.stem = ConvNorm(3, 32, 3, 2, act=F.silu)
        channels, self.count = 32, 0
        for factor, kernel, stride, width, repeats in self.table:
            for i in range(repeats):
                block = Mbconv(channels, width, factor, kernel,
                               1 if i else stride, self.count)
                self.count += 1
                setattr(self, f"mbconv_{self.count}", block)
                channels = width
        self.last = ConvNorm(channels, 1280, 1, act=F.silu)
        self.logits = nn.Linear(1280, classes)

    def net(self, x):
        x = self.stem(x)
        for i in range(1, self.count + 1):
            x = getattr(self, f"mbconv_{i}")(x)
        x = global_avgpool(self.last(x))
        return self.logits(masks.dropout(x, 0.2))
