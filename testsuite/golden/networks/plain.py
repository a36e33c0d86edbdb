# Networks that are chains, or nearly so.
import torch
import torch.nn as nn
import torch.nn.functional as F

from .layers import (Classifier, CifarClassifier, Network, Segmenter, conv,
                     flatten, masks, pixels)


# count pairs of a 3x3 convolution and ReLU, then pooling.
class Stage(nn.Module):
    def __init__(self, channels, width, count):
        super().__init__()
        self.count = count
        for i in range(count):
            setattr(self, f"conv_{i + 1}",
                    nn.Conv2d(width if i else channels, width, 3, padding=1))

    def forward(self, x):
        for i in range(self.count):
            x = F.relu(getattr(self, f"conv_{i + 1}")(x))
        return F.max_pool2d(x, 2)


class CifarVgg(CifarClassifier):
    sgd = dict(lr=0.05, momentum=0.9, weight_decay=5e-4)

    def __init__(self, width=64):
        super().__init__()
        self.stage_1 = Stage(3, width, 2)
        self.stage_2 = Stage(width, 2 * width, 2)
        self.stage_3 = Stage(2 * width, 4 * width, 2)
        self.logits = nn.Linear(4 * 4 * 4 * width, 10)

    def net(self, x):
        x = self.stage_3(self.stage_2(self.stage_1(x)))
        return self.logits(flatten(x))


class Vgg16(Classifier):
    sgd = dict(lr=0.01, momentum=0.9, weight_decay=5e-4)

    def __init__(self, size=224, classes=1000, width=64, hidden=4096):
        super().__init__(size, classes)
        self.stage_1 = Stage(3, width, 2)
        self.stage_2 = Stage(width, 2 * width, 2)
        self.stage_3 = Stage(2 * width, 4 * width, 3)
        self.stage_4 = Stage(4 * width, 8 * width, 3)
        self.stage_5 = Stage(8 * width, 8 * width, 3)
        self.fc1 = nn.Linear((size // 32) ** 2 * 8 * width, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.logits = nn.Linear(hidden, classes)

    def net(self, x):
        x = self.stage_3(self.stage_2(self.stage_1(x)))
        x = flatten(self.stage_5(self.stage_4(x)))
        x = masks.dropout(F.relu(self.fc1(x)), 0.5)
        x = masks.dropout(F.relu(self.fc2(x)), 0.5)
        return self.logits(x)


# A group of airbench94: the first convolution is pooled before its batch norm.
class Group(nn.Module):
    def __init__(self, channels, width):
        super().__init__()
        self.conv_1 = conv(channels, width)
        self.batchnorm_1 = nn.BatchNorm2d(width, momentum=0.4)
        self.conv_2 = conv(width, width)
        self.batchnorm_2 = nn.BatchNorm2d(width, momentum=0.4)
        for norm in self.batchnorm_1, self.batchnorm_2:
            norm.weight.requires_grad_(False)

    def forward(self, x):
        x = F.gelu(self.batchnorm_1(F.max_pool2d(self.conv_1(x), 2)))
        return F.gelu(self.batchnorm_2(self.conv_2(x)))


class Airbench94(CifarClassifier):
    sgd = dict(lr=0.2, momentum=0.85, nesterov=True, weight_decay=1e-3)
    smoothing = 0.2

    def __init__(self, width=64):
        super().__init__()
        self.whiten = nn.Conv2d(3, 24, 2)
        self.whiten.weight.requires_grad_(False)
        self.group_1 = Group(24, width)
        self.group_2 = Group(width, 4 * width)
        self.group_3 = Group(4 * width, 4 * width)
        self.logits = nn.Linear(4 * width, 10, bias=False)

    def net(self, x):
        x = self.group_1(F.gelu(self.whiten(x)))
        x = self.group_3(self.group_2(x))
        return self.logits(flatten(F.max_pool2d(x, 3))) / 9

    def optimizer(self, parameters):
        groups = []
        for (name, _), p in zip(self.named_parameters(), parameters):
            of_norm = "batchnorm" in name
            groups.append({"params": [p], "lr": self.sgd["lr"] * (64 if of_norm else 1),
                           "weight_decay": self.sgd["weight_decay"] * (p.dim() > 1)})
        return torch.optim.SGD(groups, **self.sgd)


class TfCifar10(CifarClassifier):
    scaling = ()

    def __init__(self):
        super().__init__()
        self.conv_1 = nn.Conv2d(3, 32, 3)
        self.conv_2 = nn.Conv2d(32, 64, 3)
        self.conv_3 = nn.Conv2d(64, 64, 3)
        self.dense_1 = nn.Linear(4 * 4 * 64, 64)
        self.logits = nn.Linear(64, 10)

    def net(self, x):
        x = F.max_pool2d(F.relu(self.conv_1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv_2(x)), 2)
        x = flatten(F.relu(self.conv_3(x)))
        return self.logits(F.relu(self.dense_1(x)))

    def optimizer(self, parameters):
        return torch.optim.Adam(parameters, lr=1e-3)


class Separable(nn.Module):
    def __init__(self, channels, width):
        super().__init__()
        self.depthwise = nn.Conv2d(channels, channels, 3, groups=channels,
                                   bias=False)
        self.pointwise = nn.Conv2d(channels, width, 1)

    def forward(self, x):
        return F.relu(self.pointwise(self.depthwise(x)))


class TfCifar10Separable(TfCifar10):
    def __init__(self):
        super().__init__()
        del self.conv_1, self.conv_2, self.conv_3
        self.separable_1 = Separable(3, 32)
        self.separable_2 = Separable(32, 64)
        self.separable_3 = Separable(64, 64)

    def net(self, x):
        x = F.max_pool2d(self.separable_1(x), 2)
        x = F.max_pool2d(self.separable_2(x), 2)
        x = flatten(self.separable_3(x))
        return self.logits(F.relu(self.dense_1(x)))


class Autoencoder(Network):
    inputs = [("image", "u8", [28, 28, 1], 0)]

    def __init__(self):
        super().__init__()
        self.conv_1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv_2 = nn.Conv2d(16, 8, 3, padding=1)
        self.conv_transpose_1 = nn.ConvTranspose2d(8, 16, 2, stride=2)
        self.conv_transpose_2 = nn.ConvTranspose2d(16, 1, 2, stride=2)

    def forward(self, batch):
        x = pixels(batch["image"])
        code = F.max_pool2d(F.relu(self.conv_1(x)), 2)
        code = F.max_pool2d(F.relu(self.conv_2(code)), 2)
        y = F.relu(self.conv_transpose_1(code))
        y = torch.sigmoid(self.conv_transpose_2(y))
        row = (y - x).square().mean((1, 2, 3))
        outputs = {"code": code, "image_again": y}
        return [row], {k: v.permute(0, 2, 3, 1) for k, v in outputs.items()}

    def optimizer(self, parameters):
        return torch.optim.Adam(parameters, lr=1e-3)


# 3x3 convolutions to widths in turn, each with batch norm and ReLU.
class Normed(nn.Module):
    def __init__(self, channels, widths):
        super().__init__()
        self.count = len(widths)
        for i, width in enumerate(widths, 1):
            setattr(self, f"conv_{i}", conv(channels, width))
            setattr(self, f"batchnorm_{i}", nn.BatchNorm2d(width))
            channels = width

    def forward(self, x):
        for i in range(1, self.count + 1):
            x = getattr(self, f"conv_{i}")(x)
            x = F.relu(getattr(self, f"batchnorm_{i}")(x))
        return x


class Segnet(Segmenter):
    def __init__(self, rows=352, columns=480, classes=11, width=64):
        super().__init__(rows, columns, classes)
        a, b, c, d = width, 2 * width, 4 * width, 8 * width
        encoder = [Normed(3, [a, a]), Normed(a, [b, b]),
                   Normed(b, [c, c, c]), Normed(c, [d, d, d]),
                   Normed(d, [d, d, d])]
        decoder = [Normed(d, [d, d, d]), Normed(d, [d, d, c]),
                   Normed(c, [c, c, b]), Normed(b, [b, a]), Normed(a, [a])]
        for i in range(5):
            setattr(self, f"encode_{i + 1}", encoder[i])
            setattr(self, f"decode_{i + 1}", decoder[i])
        self.logits = nn.Conv2d(a, classes, 3, padding=1)

    def net(self, x):
        for i in range(1, 6):
            x = F.max_pool2d(getattr(self, f"encode_{i}")(x), 2)
        for i in range(1, 6):
            x = F.interpolate(x, scale_factor=2)
            x = getattr(self, f"decode_{i}")(x)
        return self.logits(x)
