# Residual networks.
import torch.nn as nn
import torch.nn.functional as F

from .layers import (Classifier, CifarClassifier, conv, flatten,
                     global_avgpool, numbered)


class Basic(nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        self.conv_1 = conv(channels, width, 3, stride)
        self.batchnorm_1 = nn.BatchNorm2d(width)
        self.conv_2 = conv(width, width)
        self.batchnorm_2 = nn.BatchNorm2d(width)
        self.shortcut = None
        if stride != 1 or channels != width:
            self.shortcut = conv(channels, width, 1, stride)
            self.shortcut_norm = nn.BatchNorm2d(width)

    def forward(self, x):
        y = F.relu(self.batchnorm_1(self.conv_1(x)))
        y = self.batchnorm_2(self.conv_2(y))
        if self.shortcut:
            x = self.shortcut_norm(self.shortcut(x))
        return F.relu(x + y)


# The stride is in the middle convolution.
class Bottleneck(nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        self.conv_1 = conv(channels, width, 1)
        self.batchnorm_1 = nn.BatchNorm2d(width)
        self.conv_2 = conv(width, width, 3, stride)
        self.batchnorm_2 = nn.BatchNorm2d(width)
        self.conv_3 = conv(width, 4 * width, 1)
        self.batchnorm_3 = nn.BatchNorm2d(4 * width)
        self.shortcut = None
        if stride != 1 or channels != 4 * width:
            self.shortcut = conv(channels, 4 * width, 1, stride)
            self.shortcut_norm = nn.BatchNorm2d(4 * width)

    def forward(self, x):
        y = F.relu(self.batchnorm_1(self.conv_1(x)))
        y = F.relu(self.batchnorm_2(self.conv_2(y)))
        y = self.batchnorm_3(self.conv_3(y))
        if self.shortcut:
            x = self.shortcut_norm(self.shortcut(x))
        return F.relu(x + y)


# Four layers of `counts` blocks.
class ImagenetResnet(Classifier):
    def __init__(self, block, name, growth, counts, size, classes, width):
        super().__init__(size, classes)
        self.stem = conv(3, width, 7, 2)
        self.batchnorm_1 = nn.BatchNorm2d(width)
        channels = width
        for i, count in enumerate(counts):
            wide = width << i
            blocks = []
            for k in range(count):
                blocks.append(block(channels, wide, 2 if i and not k else 1))
                channels = growth * wide
            setattr(self, f"layer{i + 1}", numbered(name, blocks))
        self.logits = nn.Linear(channels, classes)

    def net(self, x):
        x = F.relu(self.batchnorm_1(self.stem(x)))
        x = F.max_pool2d(x, 3, 2, 1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.logits(global_avgpool(x))


class Resnet18(ImagenetResnet):
    def __init__(self, size=224, classes=1000, width=64):
        super().__init__(Basic, "basic", 1, (2, 2, 2, 2), size, classes, width)


class Resnet50(ImagenetResnet):
    sgd = dict(lr=0.05, momentum=0.9, weight_decay=1e-4)

    def __init__(self, size=224, classes=1000, width=64):
        super().__init__(Bottleneck, "bottleneck", 4, (3, 4, 6, 3), size,
                         classes, width)


class Resnet152(ImagenetResnet):
    sgd = dict(lr=0.025, momentum=0.9, weight_decay=1e-4)

    def __init__(self, size=224, classes=1000, width=64, second=8, third=36):
        super().__init__(Bottleneck, "bottleneck", 4, (3, second, third, 3),
                         size, classes, width)


# Batch norm and ReLU before each convolution; where the shape changes, the
# shortcut branches off after the first of them, else before.
class Preactivated(nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        self.batchnorm_1 = nn.BatchNorm2d(channels)
        self.conv_1 = conv(channels, width, 1, stride)
        self.batchnorm_2 = nn.BatchNorm2d(width)
        self.conv_2 = conv(width, width)
        self.batchnorm_3 = nn.BatchNorm2d(width)
        self.conv_3 = conv(width, 4 * width, 1)
        self.shortcut = None
        if channels != 4 * width:
            self.shortcut = conv(channels, 4 * width, 1, stride)

    def forward(self, x):
        first = F.relu(self.batchnorm_1(x))
        if self.shortcut:
            x = self.shortcut(first)
        y = F.relu(self.batchnorm_2(self.conv_1(first)))
        return x + self.conv_3(F.relu(self.batchnorm_3(self.conv_2(y))))


class Resnet1001(CifarClassifier):
    def __init__(self, blocks=111, width=16):
        super().__init__()
        self.stem = conv(3, width)
        channels = width
        for i in range(3):
            units = []
            for k in range(blocks):
                units.append(Preactivated(channels, width << i,
                                          2 if i and not k else 1))
                channels = 4 * width << i
            setattr(self, f"layer{i + 1}", numbered("preactivated", units))
        self.last_norm = nn.BatchNorm2d(channels)
        self.logits = nn.Linear(channels, 10)

    def net(self, x):
        x = self.layer3(self.layer2(self.layer1(self.stem(x))))
        return self.logits(global_avgpool(F.relu(self.last_norm(x))))


# The shortcut has no parameters: every second pixel, and zeros for the channels
# that are new.
class Plain(nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        self.conv_1 = conv(channels, width, 3, stride)
        self.batchnorm_1 = nn.BatchNorm2d(width)
        self.conv_2 = conv(width, width)
        self.batchnorm_2 = nn.BatchNorm2d(width)
        self.stride, self.new = stride, width - channels

    def forward(self, x):
        y = F.relu(self.batchnorm_1(self.conv_1(x)))
        y = self.batchnorm_2(self.conv_2(y))
        x = x[:, :, ::self.stride, ::self.stride]
        return F.relu(F.pad(x, (0, 0, 0, 0, 0, self.new)) + y)


class Resnet1202(CifarClassifier):
    def __init__(self, blocks=200, width=16):
        super().__init__()
        self.stem = conv(3, width)
        self.batchnorm_1 = nn.BatchNorm2d(width)
        channels = width
        for i in range(3):
            units = []
            for k in range(blocks):
                units.append(Plain(channels, width << i,
                                   2 if i and not k else 1))
                channels = width << i
            setattr(self, f"layer{i + 1}", numbered("basic", units))
        self.logits = nn.Linear(channels, 10)

    def net(self, x):
        x = F.relu(self.batchnorm_1(self.stem(x)))
        x = self.layer3(self.layer2(self.layer1(x)))
        return self.logits(global_avgpool(x))


# conv, maxpool, batch norm, relu.
class Pooled(nn.Module):
    def __init__(self, channels, width):
        super().__init__()
        self.conv_1 = conv(channels, width)
        self.batchnorm_1 = nn.BatchNorm2d(width)

    def forward(self, x):
        return F.relu(self.batchnorm_1(F.max_pool2d(self.conv_1(x), 2)))


class Resnet9(CifarClassifier):
    sgd = dict(lr=0.4, momentum=0.9, nesterov=True, weight_decay=5e-4)

    def __init__(self, width=64):
        super().__init__()
        self.stem = conv(3, width)
        self.batchnorm_1 = nn.BatchNorm2d(width)
        self.pooled_1 = Pooled(width, 2 * width)
        self.residual_1 = Basic(2 * width, 2 * width, 1)
        self.pooled_2 = Pooled(2 * width, 4 * width)
        self.pooled_3 = Pooled(4 * width, 8 * width)
        self.residual_2 = Basic(8 * width, 8 * width, 1)
        self.logits = nn.Linear(8 * width, 10, bias=False)

    def net(self, x):
        x = F.relu(self.batchnorm_1(self.stem(x)))
        x = self.residual_1(self.pooled_1(x))
        x = self.residual_2(self.pooled_3(self.pooled_2(x)))
        return self.logits(flatten(F.max_pool2d(x, 4)))
