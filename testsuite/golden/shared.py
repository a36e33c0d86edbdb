# The nets of ../shared in plain torch.nn, written from their description and not from cnnc's graph.
# A layer that shares its weights is a module that is called again. Slopes of prelu do not decay.
import torch
import torch.nn as nn
import torch.nn.functional as F

from networks.layers import flatten


def planes(x):
    return x.permute(0, 3, 1, 2)


# Normalises the channels of each pixel.
def channel_norm(norm, x):
    return norm(x.movedim(1, -1)).movedim(-1, 1)


def cross_entropy(logits, batch):
    return F.cross_entropy(logits, batch["label"].long(), reduction="none")


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv_1 = nn.Conv2d(3, 6, 3, padding=1, bias=False)
        self.batchnorm_1 = nn.BatchNorm2d(6, momentum=0.3)
        self.conv_2 = nn.Conv2d(6, 5, 3, padding=1)
        self.batchnorm_2 = nn.BatchNorm2d(5)
        self.prelu_1 = nn.PReLU(5)
        self.dense_1 = nn.Linear(3 * 2 * 5, 7)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.batchnorm_1(self.conv_1(x))), 2)
        x = self.prelu_1(self.batchnorm_2(self.conv_2(x)))
        return self.dense_1(flatten(x))


class Siamese(nn.Module):
    inputs = [("left", "f64", [6, 4, 2], 0), ("right", "f64", [6, 4, 2], 0), ("label", "i32", [], 3)]

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(2, 3, 1).requires_grad_(False)
        self.tower = Tower()
        self.logits = nn.Linear(7, 3)

    def forward(self, batch):
        a, b = (self.tower(self.stem(planes(batch[side]))) for side in ("left", "right"))
        logits = self.logits((a - b) ** 2)
        right = (logits.argmax(1) == batch["label"]).double()
        return [cross_entropy(logits, batch), right], {"logits": logits}

    # The program has a rate of its own for one layer, and clips the norm of all gradients.
    def optimizer(self, parameters):
        return ClippedSGD(groups(self, parameters, {
            "tower.conv_1.weight": {"lr": 0.04}, "tower.prelu_1.weight": {"weight_decay": 0}}),
            lr=0.02, momentum=0.9, weight_decay=1e-3)


# The trained parameters: those with settings of their own, and the rest.
def groups(module, parameters, settings):
    named = {name: p for (name, _), p in zip(module.named_parameters(), parameters)
             if p.requires_grad}
    own = [{"params": [named.pop(name)], **setting} for name, setting in settings.items()]
    return [{"params": list(named.values())}, *own]


class ClippedSGD(torch.optim.SGD):
    def step(self, closure=None):
        nn.utils.clip_grad_norm_([p for group in self.param_groups for p in group["params"]], 1)
        return super().step(closure)


class Refine(nn.Module):
    def __init__(self):
        super().__init__()
        self.layernorm_1 = nn.LayerNorm(4)
        self.own = nn.Conv2d(4, 4, 3, padding=1)

    def forward(self, x, dilation=1):
        y = channel_norm(self.layernorm_1, x)
        y = F.relu(F.conv2d(y, self.own.weight, self.own.bias, padding=dilation, dilation=dilation))
        return x + self.own(y)


class Recursive(nn.Module):
    inputs = [("image", "f64", [6, 4, 2], 0), ("label", "i32", [], 3)]
    average = 0.9

    def __init__(self):
        super().__init__()
        self.conv_1 = nn.Conv2d(2, 4, 3, padding=1)
        self.step = nn.Conv2d(4, 4, 3, padding=1)
        self.norm = nn.GroupNorm(2, 4)
        self.up = nn.ConvTranspose2d(4, 4, (3, 2), stride=2)
        self.slope = nn.PReLU(4)
        self.refine = Refine()
        self.refine_3 = Refine()
        self.head = nn.Linear(4, 6)
        self.logits = nn.Linear(6, 3)

    def forward(self, batch):
        x = self.conv_1(planes(batch["image"]))
        for _ in range(3):
            x = F.relu(self.norm(self.step(x)))
        # Same padding over an even size: a row after the map.
        y = F.conv2d(F.pad(x, (0, 1, 0, 1)), self.step.weight, self.step.bias, stride=2)
        y = F.max_pool2d(self.slope(self.up(y)), 2)
        y = self.slope(F.conv_transpose2d(y, self.up.weight, self.up.bias))
        z = self.refine_3(self.refine(self.refine(x), 2))
        logits = self.logits(F.relu(self.head(y.mean((2, 3))) * self.head(z.mean((2, 3)))))
        return [cross_entropy(logits, batch)], {"logits": logits}

    def optimizer(self, parameters):
        return torch.optim.AdamW(groups(self, parameters, {"slope.weight": {"weight_decay": 0}}),
                                 lr=0.01, weight_decay=0.1)


SHARED = {"siamese": Siamese, "recursive": Recursive}
