# Networks that find objects.
import torch
import torch.nn as nn
import torch.nn.functional as F

from operators_detection import decode_boxes, multibox

from .layers import Network, pixels


# Returns one result for each stride that begins: the surplus of even padding is after the map.
def same(x, kernel, stride):
    sides = []
    for size in (x.shape[3], x.shape[2]):
        missing = max(0, (-(-size // stride) - 1) * stride + kernel - size)
        sides += [missing // 2, missing - missing // 2]
    return F.pad(x, sides)


class SameNorm(nn.Module):
    def __init__(self, channels, width, kernel, stride=1, groups=1):
        super().__init__()
        self.conv_1 = nn.Conv2d(channels, width, kernel, stride, groups=groups,
                                bias=False)
        self.batchnorm_1 = nn.BatchNorm2d(width, 1e-3, 3e-4)
        self.kernel, self.stride = kernel, stride

    def forward(self, x):
        x = self.conv_1(same(x, self.kernel, self.stride))
        return F.relu6(self.batchnorm_1(x))


class Separable(nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        self.depthwise = SameNorm(channels, channels, 3, stride, channels)
        self.pointwise = SameNorm(channels, width, 1)

    def forward(self, x):
        return self.pointwise(self.depthwise(x))


# A map of half the size.
class Extra(nn.Module):
    def __init__(self, channels, width):
        super().__init__()
        self.reduce = SameNorm(channels, width // 2, 1)
        self.conv = SameNorm(width // 2, width, 3, 2)

    def forward(self, x):
        return self.conv(self.reduce(x))


# [n, boxes, numbers] of `count` boxes a pixel.
class Head(nn.Module):
    def __init__(self, channels, count, numbers):
        super().__init__()
        self.conv = nn.Conv2d(channels, count * numbers, 1)
        self.numbers = numbers

    def forward(self, x):
        x = self.conv(x).permute(0, 2, 3, 1)
        return x.reshape(x.shape[0], -1, self.numbers)


# The fields of a node that operators_detection.py reads: the boxes of Liu et al. 2016 for maps of
# these sides, widths and heights in turn.
class Anchors:
    overlap, negatives, weight = 0.5, 3, 1

    def __init__(self, maps):
        self.maps, self.counts, self.sizes = maps, [], []
        scales = [0.2 + 0.15 * i for i in range(len(maps))] + [1]
        for i, scale in enumerate(scales[:-1]):
            boxes = [(scale, r) for r in (1, 2, 0.5, 3, 0.3333)]
            boxes.append(((scale * scales[i + 1]) ** 0.5, 1))
            if i == 0:
                boxes = [(0.1, 1), (scale, 2), (scale, 0.5)]
            self.counts.append(len(boxes))
            for side, ratio in boxes:
                self.sizes += [side * ratio ** 0.5, side / ratio ** 0.5]


class SsdMobilenetV1(Network):
    table = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2),
             (512, 1), (512, 1), (512, 1), (512, 1), (512, 1), (1024, 2),
             (1024, 1))

    def __init__(self, size=300, classes=90, objects=100, alpha=1):
        super().__init__()
        self.inputs = [("image", "u8", [size, size, 3], 0),
                       ("boxes", "f32", [objects, 4], 0),
                       ("kinds", "i32", [objects], classes + 1)]
        channels = int(32 * alpha)
        self.stem = SameNorm(3, channels, 3, 2)
        for i, (width, stride) in enumerate(self.table, 1):
            width = int(width * alpha)
            setattr(self, f"separable_{i}", Separable(channels, width, stride))
            channels = width
        sources = [int(512 * alpha), channels]
        for i, width in enumerate((512, 256, 256, 128), 3):
            width = int(width * alpha)
            setattr(self, f"map{i}", Extra(sources[-1], width))
            sources.append(width)
        for i, width in enumerate(sources, 1):
            count = 3 if i == 1 else 6
            setattr(self, f"box{i}", Head(width, count, 4))
            setattr(self, f"score{i}", Head(width, count, classes + 1))

    # Places [n, 1917, 4] and scores of a map of 300x300, and the maps' sides.
    def net(self, x):
        x = self.stem(x)
        for i in range(1, 12):
            x = getattr(self, f"separable_{i}")(x)
        maps = [x, self.separable_13(self.separable_12(x))]
        for i in range(3, 7):
            maps.append(getattr(self, f"map{i}")(maps[-1]))
        places, scores = (
            torch.cat([getattr(self, f"{head}{i}")(x)
                       for i, x in enumerate(maps, 1)], 1)
            for head in ("box", "score"))
        return places, scores, Anchors([x.shape[2] for x in maps])

    def forward(self, batch):
        half = (0.5, 0.5, 0.5)
        places, scores, node = self.net(pixels(batch["image"], half, half))
        self.samples = len(scores)
        rows = multibox(self, node, places, scores, batch["boxes"],
                        batch["kinds"])
        return [rows], {"found": decode_boxes(self, node, places),
                        "chances": scores.softmax(-1)}

    def optimizer(self, parameters):
        return torch.optim.RMSprop(parameters, lr=0.004, alpha=0.9, eps=1,
                                   momentum=0.9, weight_decay=4e-5)
