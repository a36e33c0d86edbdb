# The examples in plain torch.nn, written from their description and not from cnnc's graph: the
# small ones here, the rest in networks/.  Layers bear the names of cnnc's parameters; maps are
# PyTorch's [n, c, h, w] inside, and flattened as cnnc does, (h, w, c).
import torch
import torch.nn as nn
import torch.nn.functional as F

from draws import dropout_mask
from networks import NETWORKS
from networks.layers import masks


def flatten(x):
    return x.permute(0, 2, 3, 1).flatten(1)


# A batch of [n, h, w, c] bytes as a map of [0, 1].
def pixels(image):
    return image.permute(0, 3, 1, 2).to(torch.get_default_dtype()) / 255


class Digits(nn.Module):
    image = ("u8", [8, 8, 1])

    def __init__(self):
        super().__init__()
        self.conv_1 = nn.Conv2d(1, 32, 3, padding=1)
        self.conv_2 = nn.Conv2d(32, 64, 3, padding=1)
        self.dense_1 = nn.Linear(4 * 4 * 64, 128)
        self.logits = nn.Linear(128, 10)

    # The first dropout is of the map, whose elements are counted (h, w, c).
    def forward(self, image, seed, step):
        def dropout(x, number):
            mask = dropout_mask(x.shape, 0.5, number, seed, step)
            return x * torch.from_numpy(mask).to(x.dtype)
        x = F.relu(self.conv_1(pixels(image)))
        x = F.max_pool2d(F.relu(self.conv_2(x)), 2)
        x = F.relu(self.dense_1(dropout(flatten(x), 0)))
        return self.logits(dropout(x, 1))

    def optimizer(self, parameters):
        return torch.optim.Adam(parameters, lr=1e-3, weight_decay=3e-4)


class Lenet(nn.Module):
    image = ("u8", [28, 28, 1])

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(5 * 5 * 16, 120)
        self.fc2 = nn.Linear(120, 84)
        self.logits = nn.Linear(84, 10)

    def forward(self, image, seed, step):
        x = F.max_pool2d(F.relu(self.conv1(pixels(image))), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.relu(self.fc2(F.relu(self.fc1(flatten(x)))))
        return self.logits(x)

    def optimizer(self, parameters):
        return torch.optim.Adam(parameters, lr=1e-3)


class MnistCnn(nn.Module):
    image = ("u8", [28, 28, 1])

    def __init__(self):
        super().__init__()
        self.conv_1 = nn.Conv2d(1, 32, 3, padding=1)
        self.conv_2 = nn.Conv2d(32, 64, 3, padding=1)
        self.logits = nn.Linear(7 * 7 * 64, 10)

    def forward(self, image, seed, step):
        x = F.max_pool2d(F.relu(self.conv_1(pixels(image))), 2)
        x = F.max_pool2d(F.relu(self.conv_2(x)), 2)
        return self.logits(flatten(x))

    def optimizer(self, parameters):
        return torch.optim.SGD(parameters, lr=0.05, momentum=0.9)


# y = conv(relu(conv(x))), and x itself, or a 1x1 convolution of it.
class Basic(nn.Module):
    def __init__(self, channels, width, stride=1):
        super().__init__()
        self.conv_1 = nn.Conv2d(channels, width, 3, stride=stride)
        self.conv_2 = nn.Conv2d(width, width, 3, padding=1)
        self.stride = stride
        if stride != 1 or channels != width:
            self.conv_3 = nn.Conv2d(channels, width, 1, stride=stride,
                                    bias=False)

    # Same padding over even sizes: a stride of 2 needs one row, after the map.
    def forward(self, x):
        padding = (0, 1, 0, 1) if self.stride == 2 else (1, 1, 1, 1)
        y = F.relu(self.conv_1(F.pad(x, padding)))
        x = self.conv_3(x) if hasattr(self, "conv_3") else x
        return F.relu(x + self.conv_2(y))


class Skip(nn.Module):
    image = ("f64", [16, 16, 3])

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, padding=1)
        self.basic_1 = Basic(16, 16)
        self.basic_2 = Basic(16, 16)
        self.basic_3 = Basic(16, 32, stride=2)
        self.basic_4 = Basic(32, 32)
        self.logits = nn.Linear(4 * 4 * 32, 10)

    def forward(self, image, seed, step):
        x = F.relu(self.stem(image.permute(0, 3, 1, 2)))
        x = self.basic_2(self.basic_1(x))
        x = self.basic_4(self.basic_3(x))
        return self.logits(flatten(F.max_pool2d(x, 2)))

    def optimizer(self, parameters):
        return torch.optim.SGD(parameters, lr=0.02, momentum=0.9,
                               weight_decay=1e-4)


# The interface of operators.py's nets, for a module of ten classes.
class ExampleNet:
    def ignored_label(self, name):
        return 0

    def __init__(self, module, batch):
        self.module, self.seed, self.step = module, 0, 0
        dtype, shape = module.image
        self.inputs = [("image", dtype, [batch, *shape], 0),
                       ("label", "i32", [batch], 10)]
        self.shapes, self.statistic_shapes = {}, {}
        for name, p in module.named_parameters():
            shape = list(p.shape)
            k, c, *rest = shape if len(shape) == 4 else (0, 0)
            self.shapes[name] = [k, *rest, c] if rest else shape

    def optimizer(self, parameters):
        return self.module.optimizer(parameters)

    def forward(self, parameters, batch):
        logits = torch.nn.utils.stateless.functional_call(
            self.module, parameters, (batch["image"], self.seed, self.step))
        label = batch["label"].long()
        loss = F.cross_entropy(logits, label, reduction="none")
        return [loss, (logits.argmax(1) == label).double()], {"logits": logits}


# cnnc's names of the buffers of PyTorch's batch norm.
STATISTICS = {"running_mean": "mean", "running_var": "variance"}


# The same for a network, which says its inputs and figures itself.
class NetworkNet(ExampleNet):
    def __init__(self, module, batch):
        module.image = ("u8", [])
        super().__init__(module, batch)
        self.inputs = [(name, dtype, [batch, *shape], classes)
                       for name, dtype, shape, classes in module.inputs]
        self.frozen = {name for name, p in module.named_parameters() if not p.requires_grad}
        self.buffers = {}
        for path, buffer in module.named_buffers():
            layer, _, last = path.rpartition(".")
            if last in STATISTICS:
                name = f"{layer}.{STATISTICS[last]}"
                self.buffers[path] = name
                self.statistic_shapes[name] = list(buffer.shape)

    # Batch norms change the statistics in place.
    def forward(self, parameters, batch):
        masks.begin(self.seed, self.step)
        buffers = {path: self.statistics[name]
                   for path, name in self.buffers.items()}
        return torch.nn.utils.stateless.functional_call(
            self.module, {**parameters, **buffers}, (batch,))


def example_net(name, constants, batch):
    if name in NETWORKS:
        return NetworkNet(NETWORKS[name](**constants), batch)
    return ExampleNet(EXAMPLES[name](), batch)


EXAMPLES = {"digits": Digits, "lenet": Lenet, "mnist_cnn": MnistCnn,
            "skip": Skip}
