# Networks that concatenate.
import torch
import torch.nn as nn
import torch.nn.functional as F

from .layers import (Classifier, ConvNorm, Segmenter, conv, flatten,
                     global_avgpool, masks, numbered)


def pool(x, kernel=3):
    return F.max_pool2d(x, kernel, 2, ceil_mode=True)


# Four branches of (direct, reduce_3, conv_3, reduce_5, conv_5, project)
# channels; the third has 3x3 convolutions too.
class Inception(nn.Module):
    def __init__(self, channels, counts):
        super().__init__()
        direct, reduce_3, conv_3, reduce_5, conv_5, project = counts
        self.direct = ConvNorm(channels, direct, 1, eps=0.001)
        self.reduce_3 = ConvNorm(channels, reduce_3, 1, eps=0.001)
        self.conv_3 = ConvNorm(reduce_3, conv_3, 3, eps=0.001)
        self.reduce_5 = ConvNorm(channels, reduce_5, 1, eps=0.001)
        self.conv_5 = ConvNorm(reduce_5, conv_5, 3, eps=0.001)
        self.project = ConvNorm(channels, project, 1, eps=0.001)

    def forward(self, x):
        pooled = F.max_pool2d(x, 3, 1, 1)
        return torch.cat([self.direct(x), self.conv_3(self.reduce_3(x)),
                          self.conv_5(self.reduce_5(x)), self.project(pooled)],
                         1)


class Googlenet(Classifier):
    sgd = dict(lr=0.01, momentum=0.9, weight_decay=2e-4)
    table = {"inception_3a": (64, 96, 128, 16, 32, 32),
             "inception_3b": (128, 128, 192, 32, 96, 64),
             "inception_4a": (192, 96, 208, 16, 48, 64),
             "inception_4b": (160, 112, 224, 24, 64, 64),
             "inception_4c": (128, 128, 256, 24, 64, 64),
             "inception_4d": (112, 144, 288, 32, 64, 64),
             "inception_4e": (256, 160, 320, 32, 128, 128),
             "inception_5a": (256, 160, 320, 32, 128, 128),
             "inception_5b": (384, 192, 384, 48, 128, 128)}

    def __init__(self, size=224, classes=1000, thinner=1):
        super().__init__(size, classes)
        self.stem_1 = ConvNorm(3, 64 // thinner, 7, 2, eps=0.001)
        self.stem_2 = ConvNorm(64 // thinner, 64 // thinner, 1, eps=0.001)
        self.stem_3 = ConvNorm(64 // thinner, 192 // thinner, 3, eps=0.001)
        channels = 192 // thinner
        for name, counts in self.table.items():
            counts = [count // thinner for count in counts]
            setattr(self, name, Inception(channels, counts))
            channels = counts[0] + counts[2] + counts[4] + counts[5]
        self.logits = nn.Linear(channels, classes)

    def net(self, x):
        x = pool(self.stem_3(self.stem_2(pool(self.stem_1(x)))))
        for name in self.table:
            if name == "inception_4a":
                x = pool(x)
            if name == "inception_5a":
                x = pool(x, 2)
            x = getattr(self, name)(x)
        return self.logits(masks.dropout(global_avgpool(x), 0.2))


class DenseLayer(nn.Module):
    def __init__(self, channels, growth):
        super().__init__()
        self.batchnorm_1 = nn.BatchNorm2d(channels)
        self.conv_1 = conv(channels, 4 * growth, 1)
        self.batchnorm_2 = nn.BatchNorm2d(4 * growth)
        self.conv_2 = conv(4 * growth, growth)

    def forward(self, x):
        y = self.conv_1(F.relu(self.batchnorm_1(x)))
        return torch.cat([x, self.conv_2(F.relu(self.batchnorm_2(y)))], 1)


# Half as many channels, on a map of half the size.
class Transition(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.batchnorm_1 = nn.BatchNorm2d(channels)
        self.conv_1 = conv(channels, channels // 2, 1)

    def forward(self, x):
        return F.avg_pool2d(self.conv_1(F.relu(self.batchnorm_1(x))), 2)


class Densenet121(Classifier):
    counts = (6, 12, 24, 16)

    def __init__(self, size=224, classes=1000, growth=32):
        super().__init__(size, classes)
        channels = 2 * growth
        self.stem = conv(3, channels, 7, 2)
        self.batchnorm_1 = nn.BatchNorm2d(channels)
        for i, count in enumerate(self.counts, 1):
            layers = [DenseLayer(channels + k * growth, growth)
                      for k in range(count)]
            setattr(self, f"block{i}", numbered("dense_layer", layers))
            channels += count * growth
            if i < 4:
                setattr(self, f"transition_{i}", Transition(channels))
                channels //= 2
        self.last_norm = nn.BatchNorm2d(channels)
        self.logits = nn.Linear(channels, classes)

    def net(self, x):
        x = F.relu(self.batchnorm_1(self.stem(x)))
        x = F.max_pool2d(x, 3, 2, 1)
        for i in range(1, 5):
            x = getattr(self, f"block{i}")(x)
            x = getattr(self, f"transition_{i}")(x) if i < 4 else x
        return self.logits(global_avgpool(F.relu(self.last_norm(x))))


class Fire(nn.Module):
    def __init__(self, channels, squeeze):
        super().__init__()
        self.squeeze = nn.Conv2d(channels, squeeze, 1)
        self.expand_1 = nn.Conv2d(squeeze, 4 * squeeze, 1)
        self.expand_3 = nn.Conv2d(squeeze, 4 * squeeze, 3, padding=1)

    def forward(self, x):
        x = F.relu(self.squeeze(x))
        return torch.cat([F.relu(self.expand_1(x)), F.relu(self.expand_3(x))],
                         1)


class Squeezenet11(Classifier):
    sgd = dict(lr=0.04, momentum=0.9, weight_decay=2e-4)

    def __init__(self, size=224, classes=1000, squeeze=16):
        super().__init__(size, classes)
        channels = 4 * squeeze
        self.stem = nn.Conv2d(3, channels, 3, stride=2)
        for i in range(1, 9):
            narrow = (i + 1) // 2 * squeeze
            setattr(self, f"fire_{i}", Fire(channels, narrow))
            channels = 8 * narrow
        self.last = nn.Conv2d(channels, classes, 1)

    def net(self, x):
        x = F.relu(self.stem(x))
        for i in range(1, 9):
            if i in (1, 3, 5):
                x = pool(x)
            x = getattr(self, f"fire_{i}")(x)
        x = masks.dropout(x, 0.5)
        return global_avgpool(F.relu(self.last(x)))


# Two 3x3 convolutions.
class Double(nn.Module):
    def __init__(self, channels, width):
        super().__init__()
        self.conv_1 = nn.Conv2d(channels, width, 3, padding=1)
        self.conv_2 = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x):
        return F.relu(self.conv_2(F.relu(self.conv_1(x))))


class Up(nn.Module):
    def __init__(self, channels, width):
        super().__init__()
        self.conv_transpose_1 = nn.ConvTranspose2d(channels, width, 2, 2)
        self.double_1 = Double(2 * width, width)

    def forward(self, x, skip):
        return self.double_1(torch.cat([skip, self.conv_transpose_1(x)], 1))


class Unet(Segmenter):
    sgd = dict(lr=0.01, momentum=0.99)

    def __init__(self, size=256, classes=2, width=64):
        super().__init__(size, size, classes)
        for i in range(5):
            setattr(self, f"down{i + 1}",
                    Double(width << i - 1 if i else 3, width << i))
        for i in range(4, 0, -1):
            setattr(self, f"up{i}", Up(width << i, width << i - 1))
        self.logits = nn.Conv2d(width, classes, 1)

    def net(self, x):
        skips = [self.down1(x)]
        for i in range(2, 6):
            down = getattr(self, f"down{i}")
            skips.append(down(F.max_pool2d(skips[-1], 2)))
        x = skips[4]
        for i in range(4, 0, -1):
            x = getattr(self, f"up{i}")(x, skips[i - 1])
        return self.logits(x)


# Two 3x3 convolutions with batch norm, the first to `middle` channels.
class NormedDouble(nn.Module):
    def __init__(self, channels, middle, width):
        super().__init__()
        self.conv_1 = conv(channels, middle)
        self.batchnorm_1 = nn.BatchNorm2d(middle)
        self.conv_2 = conv(middle, width)
        self.batchnorm_2 = nn.BatchNorm2d(width)

    def forward(self, x):
        x = F.relu(self.batchnorm_1(self.conv_1(x)))
        return F.relu(self.batchnorm_2(self.conv_2(x)))


class Unet416x608(Segmenter):
    sgd = dict(lr=0.01, momentum=0.9)

    def __init__(self, rows=416, columns=608, classes=2, width=64):
        super().__init__(rows, columns, classes)
        widths = [width, 2 * width, 4 * width, 8 * width, 8 * width]
        for i, wide in enumerate(widths):
            setattr(self, f"down{i + 1}",
                    NormedDouble(widths[i - 1] if i else 3, wide, wide))
        for i in range(4, 0, -1):
            wide = widths[i - 1]
            setattr(self, f"up{i}", numbered("double", [
                NormedDouble(2 * wide, wide, max(wide // 2, width))]))
        self.logits = nn.Conv2d(width, classes, 1)

    def net(self, x):
        skips = [self.down1(x)]
        for i in range(2, 6):
            down = getattr(self, f"down{i}")
            skips.append(down(F.max_pool2d(skips[-1], 2)))
        x = skips[4]
        for i in range(4, 0, -1):
            x = torch.cat([skips[i - 1], F.interpolate(x, scale_factor=2)], 1)
            x = getattr(self, f"up{i}")(x)
        return self.logits(x)
