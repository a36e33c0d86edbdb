# Shared by the networks: their inputs, losses and metrics, the masks that
# cnnc draws, and layers that recur.  Layers bear the names that cnnc gives
# them; maps are PyTorch's [n, c, h, w] inside.
from collections import OrderedDict

import torch
import torch.nn as nn
import torch.nn.functional as F

import draws

IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
CIFAR = ((0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616))


# A batch of [n, h, w, c] bytes as a map of PyTorch's default type.
def pixels(image, mean=(0.0,), std=(1.0,)):
    x = image.permute(0, 3, 1, 2).to(torch.get_default_dtype()) / 255
    mean, std = torch.tensor([mean, std], dtype=x.dtype).view(2, 1, -1, 1, 1)
    return (x - mean) / std


# As cnnc does, (h, w, c).
def flatten(x):
    return x.permute(0, 2, 3, 1).flatten(1)


def global_avgpool(x):
    return x.mean((2, 3))


# name_1, name_2, ... in a chain.
def numbered(name, layers):
    return nn.Sequential(OrderedDict(
        (f"{name}_{i}", layer) for i, layer in enumerate(layers, 1)))


# No bias: a batch norm follows.
def conv(channels, width, kernel=3, stride=1, groups=1):
    return nn.Conv2d(channels, width, kernel, stride=stride,
                     padding=(kernel - 1) // 2, groups=groups, bias=False)


# A convolution, its batch norm, and an activation or none.
class ConvNorm(nn.Module):
    def __init__(self, channels, width, kernel=3, stride=1, groups=1,
                 act=F.relu, eps=1e-5, momentum=0.1):
        super().__init__()
        self.conv_1 = conv(channels, width, kernel, stride, groups)
        self.batchnorm_1 = nn.BatchNorm2d(width, eps, momentum)
        self.act = act

    def forward(self, x):
        x = self.batchnorm_1(self.conv_1(x))
        return self.act(x) if self.act else x


# Masks are numbered in the order of the program, which is that of the calls.
class Masks:
    enabled, seed, step, number = True, 0, 0, 0

    def begin(self, seed, step):
        self.seed, self.step, self.number = seed, step, 0

    # Elements of a map are counted (h, w, c).
    def dropout(self, x, rate):
        if not self.enabled:
            return x
        y = x.permute(0, 2, 3, 1) if x.dim() == 4 else x
        mask = draws.dropout_mask(y.shape, rate, self.number, self.seed,
                                  self.step)
        self.number += 1
        y = y * torch.from_numpy(mask).to(y.dtype)
        return y.permute(0, 3, 1, 2) if x.dim() == 4 else y

    # A draw a sample.
    def stochastic_depth(self, x, rate):
        if not self.enabled:
            return x
        mask = draws.dropout_mask((x.shape[0], 1), rate, self.number,
                                  self.seed, self.step)
        self.number += 1
        return x * torch.from_numpy(mask).to(x.dtype).view(-1, 1, 1, 1)


masks = Masks()


# A network says its inputs (name, dtype, shape of a sample, classes or 0). It gives rows of the
# loss and of the metrics, and the outputs, of a batch.
class Network(nn.Module):
    sgd = dict(lr=0.1, momentum=0.9, weight_decay=1e-4)

    def optimizer(self, parameters):
        return torch.optim.SGD(parameters, **self.sgd)


# net(x) gives the logits of a map.
class Classifier(Network):
    scaling, top, smoothing = IMAGENET, 5, 0

    def __init__(self, size, classes):
        super().__init__()
        self.inputs = [("image", "u8", [size, size, 3], 0),
                       ("label", "i32", [], classes)]

    def forward(self, batch):
        logits = self.net(pixels(batch["image"], *self.scaling))
        label = batch["label"].long()
        rows = [F.cross_entropy(logits, label, reduction="none", label_smoothing=self.smoothing),
                (logits.argmax(1) == label).double()]
        if self.top:
            best = logits.topk(self.top).indices
            rows.append((best == label[:, None]).any(1).double())
        return rows, {"logits": logits}


# CIFAR's images have ten classes: the five best say little.
class CifarClassifier(Classifier):
    scaling, top = CIFAR, 0

    def __init__(self):
        super().__init__(32, 10)


# net(x) gives the logits of every pixel of a map.
class Segmenter(Network):
    scaling = IMAGENET

    def __init__(self, rows, columns, classes):
        super().__init__()
        self.inputs = [("image", "u8", [rows, columns, 3], 0),
                       ("mask", "i32", [rows, columns], classes)]

    def forward(self, batch):
        logits = self.net(pixels(batch["image"], *self.scaling))
        mask, guess = batch["mask"].long(), logits.argmax(1)
        rows = [F.cross_entropy(logits, mask, reduction="none").mean((1, 2)),
                (guess == mask).double().mean((1, 2)),
                self.mean_iou(guess, mask, logits.shape[1])]
        return rows, {"logits": logits.permute(0, 2, 3, 1)}

    # Over all steps so far: the mean of this step's row and of those before is correct.
    def mean_iou(self, guess, mask, classes):
        if masks.step == 0:
            self.hits, self.sum = 0, 0
        pairs = (mask * classes + guess).flatten()
        self.hits += torch.bincount(pairs, minlength=classes**2) \
            .reshape(classes, classes)
        both = self.hits.diagonal().double()
        either = self.hits.sum(0) + self.hits.sum(1) - both
        mean = (both[either > 0] / either[either > 0]).mean()
        row = mean * (masks.step + 1) - self.sum
        self.sum += row
        return row.expand(len(mask))
