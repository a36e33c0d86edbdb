# Defines each operator in PyTorch: a net as `cnnc --emit ir` prints it
# before any pass, evaluated node by node with PyTorch's functions.  Gradients
# are autograd's and updates torch.optim's, so of the compiler nothing is used
# but its reading of the source.  A new operator adds a function here.
#
# Maps are [n, h, w, c] between nodes; parameters of rank 4 are kept in
# PyTorch's layout, [k, c, r, s].
import re
import subprocess

import torch
import torch.nn.functional as F

import operators_elementwise
import operators_shapes
from draws import dropout_mask
from operators_detection import DETECTION
from operators_norms import NORMS
from operators_losses import LOSSES
from pruning import Pruning

NODE = re.compile(r"\[\d+\] forward \S+: (.*) = (\w+)\((.*?)\)(.*) @")
VALUE = re.compile(r"%\d+ (\S+) (\w+)\[(.*?)\] (\w+)(.*)")
SETTING = re.compile(r"(\w+)=(\[.*?\]|\S+)")


# A number, or a list of them.
def number(text):
    if text.startswith("["):
        return [float(part) for part in text[1:-1].split(", ")]
    return float(text)


class Node:
    def __init__(self, match):
        results, self.op, operands, settings = match.groups()
        self.result = results.split()[1]
        self.shape = [int(d) for d in
                      re.search(r"\[(.*?)\]", results).group(1).split(", ")]
        self.operands = [o for o in operands.split(", ") if o != "-"]
        self.settings = {k: number(v) for k, v in SETTING.findall(settings)}

    # An attribute, which is not printed where it is 0.
    def __getattr__(self, name):
        value = self.settings.get(name, 0.0)
        whole = not isinstance(value, list) and value == int(value)
        return int(value) if whole else value


def padded(x, node, value):
    x = x.permute(0, 3, 1, 2)
    return F.pad(x, (node.pad_left, node.pad_right, node.pad_top,
                     node.pad_bottom), value=value)


# A map's scale, of which number 0 is used, or one for each row of a weight.  PyTorch's function
# takes scales in single precision, so x is divided by them before.
def fake_quantize(net, node, x, scale):
    if node.operands[1] in net.scales:
        net.largest.setdefault(node.operands[1], []).append(
            (x[:net.samples].abs().max() / node.most, node))
        scale = scale[0]
    else:
        scale = scale.reshape(-1, *[1] * (x.dim() - 1))
    divisor = torch.where(scale == 0, torch.ones_like(scale), scale)
    rounded = torch.fake_quantize_per_tensor_affine(x / divisor, 1.0, 0, node.least,
                                                    node.most) * divisor
    return torch.where(scale == 0, x, rounded)


def row_scales(net, node, weight, _):
    rows = weight.detach().abs().reshape(weight.shape[0], -1).amax(dim=1)
    return rows / 127 if net.step >= node.delay else torch.zeros_like(rows)


def conv(net, node, x, weight):
    y = F.conv2d(padded(x, node, 0.0), weight, groups=node.groups,
                 stride=(node.stride_h, node.stride_w),
                 dilation=(node.dilation_h, node.dilation_w))
    return y.permute(0, 2, 3, 1)


# PyTorch knows no uneven padding here, so that it is taken away afterwards.
def conv_transpose(net, node, x, weight):
    y = F.conv_transpose2d(x.permute(0, 3, 1, 2), weight, groups=node.groups,
                           stride=(node.stride_h, node.stride_w),
                           dilation=(node.dilation_h, node.dilation_w))
    y = F.pad(y, (0, node.shape[2], 0, node.shape[1]))
    y = y[:, :, node.pad_top:node.pad_top + node.shape[1],
          node.pad_left:node.pad_left + node.shape[2]]
    return y.permute(0, 2, 3, 1)


# A window that would begin in the padding that follows does not count.
def maxpool(net, node, x):
    y = F.max_pool2d(padded(x, node, -torch.inf),
                     (node.kernel_h, node.kernel_w),
                     (node.stride_h, node.stride_w), ceil_mode=bool(node.ceil),
                     dilation=(node.dilation_h, node.dilation_w))
    y = y[:, :, :node.shape[1], :node.shape[2]]
    return y.permute(0, 2, 3, 1)


def dropout(net, node, x, header):
    mask = dropout_mask(x.shape, node.rate, node.number, net.seed, net.step)
    return x * torch.from_numpy(mask)


OPERATORS = {
    **operators_elementwise.OPERATORS,
    **NORMS,
    "conv": conv,
    "conv_transpose": conv_transpose,
    "dense": lambda net, node, x, weight: F.linear(x, weight),
    "bias": lambda net, node, x, bias: x + bias,
    "relu": lambda net, node, x: torch.relu(x),
    "maxpool": maxpool,
    "fake_quantize": fake_quantize,
    "row_scales": row_scales,
    "detach": lambda net, node, x: x.detach(),
    "flatten": lambda net, node, x: x.reshape(x.shape[0], -1),
    "add": lambda net, node, a, b: a + b,
    "scale": lambda net, node, x: node.factor * x.double(),
    "dropout": dropout,
    **operators_shapes.OPERATORS,
    **LOSSES,
    **DETECTION,
}


def sgd(parameters, lr=0.0, momentum=0.0, nesterov=0.0, weight_decay=0.0):
    return torch.optim.SGD(parameters, lr, momentum, nesterov=bool(nesterov),
                           weight_decay=weight_decay)


def adam(parameters, lr=0.0, beta1=0.0, beta2=0.0, epsilon=0.0,
         weight_decay=0.0):
    return torch.optim.Adam(parameters, lr, (beta1, beta2), epsilon,
                            weight_decay)


def adamw(parameters, lr=0.0, beta1=0.0, beta2=0.0, epsilon=0.0,
          weight_decay=0.0):
    return torch.optim.AdamW(parameters, lr, (beta1, beta2), epsilon,
                             weight_decay)


def rmsprop(parameters, lr=0.0, decay=0.0, epsilon=0.0, momentum=0.0,
            weight_decay=0.0):
    return torch.optim.RMSprop(parameters, lr, decay, epsilon, weight_decay,
                               momentum)


OPTIMIZERS = {"sgd": sgd, "adam": adam, "adamw": adamw, "rmsprop": rmsprop}


# The factor of the learning rate that one of PyTorch's schedulers has after
# `count` steps; count may be past the last.
def factor_after(count, make, *settings, **named):
    optimizer = torch.optim.SGD([torch.zeros(1)], 1.0)
    scheduler = make(optimizer, *settings, **named)
    for _ in range(count):
        optimizer.step()
        scheduler.step()
    return optimizer.param_groups[0]["lr"]


def step(t, every=0.0, factor=0.0, **_):
    return factor_after(t, torch.optim.lr_scheduler.StepLR, int(every), factor)


def cosine(t, steps=0.0, warmup=0.0, final=0.0):
    last = int(steps - warmup)
    return factor_after(min(t, last), torch.optim.lr_scheduler.
                        CosineAnnealingLR, last, final)


def polynomial(t, steps=0.0, power=0.0, warmup=0.0, final=0.0):
    left = factor_after(t, torch.optim.lr_scheduler.PolynomialLR,
                        int(steps - warmup), power)
    return final + (1 - final) * left


def one_cycle(t, steps=0.0, pct_start=0.0, div_factor=0.0,
              final_div_factor=0.0):
    return factor_after(min(t, int(steps) - 1), torch.optim.lr_scheduler.
                        OneCycleLR, 1.0, int(steps), pct_start=pct_start,
                        div_factor=div_factor, cycle_momentum=False,
                        final_div_factor=final_div_factor)


SCHEDULES = {"constant": lambda t, **_: 1.0, "step": step, "cosine": cosine,
             "polynomial": polynomial, "one_cycle": one_cycle}


NO_LABEL = -2**31


class ProgramNet:
    # inputs: name, dtype, shape, classes of each; shapes: of each parameter.
    def __init__(self, cnnc, path, options, outputs):
        text = subprocess.run(
            [cnnc, "--emit", "ir", "--stop-after", "frontend", "--precision",
             "f64", *options, path],
            check=True, capture_output=True, text=True).stdout
        self.inputs, self.shapes, self.nodes = [], {}, []
        self.statistic_shapes = {}
        self.outputs, self.seed, self.step = outputs, 0, 0
        self.samples, self.kept = None, {}  # kept: by metrics, from step to step
        self.decayed, self.rate_factors = [], []
        self.frozen, self.schedule = set(), None
        self.pruned, self.pruning = [], None
        self.scales, self.largest = {}, {}  # of maps: [used, average]
        for line in text.splitlines():
            self.read_line(line)

    def read_line(self, line):
        if match := re.match(r"(optimizer|schedule|prune) (\w+)(.*?)(@|$)", line):
            settings = {k: float(v) for k, v in
                        SETTING.findall(match.group(3))}
            if match.group(1) == "optimizer":
                self.rule = OPTIMIZERS[match.group(2)]
                self.rule_settings = settings
            elif match.group(1) == "prune":
                self.pruning = Pruning(settings)
            else:
                self.schedule = SCHEDULES[match.group(2)]
                self.schedule_settings = settings
        elif line.startswith("net "):
            settings = dict(SETTING.findall(line))
            self.clip_value, self.clip_norm, self.average, self.loss_scale = (
                float(settings.get(k, 0))
                for k in ("clip_value", "clip_norm", "average", "loss_scale"))
        elif match := NODE.match(line):
            self.nodes.append(Node(match))
        elif match := VALUE.match(line):
            name, dtype, shape, kind, rest = match.groups()
            shape = [int(d) for d in shape.split(", ")]
            settings = dict(SETTING.findall(rest))
            classes = int(settings.get("classes", 0))
            if kind == "param":
                self.shapes[name] = shape
                self.decayed.append("decayed" in rest)
                self.rate_factors.append(float(settings.get("rate_factor", 1)))
                if "frozen" in rest:
                    self.frozen.add(name)
            elif kind == "state" and name.endswith(".pruned"):
                self.pruned.append(name.rpartition(".")[0])
            elif kind == "state" and name.endswith(".scale"):
                self.scales[name] = torch.zeros(2, dtype=torch.float64)
            elif kind == "statistic":
                self.statistic_shapes[name] = shape
            elif kind == "input":
                self.inputs.append((name, dtype, shape, classes))

    # The label on which all losses that read it agree, or 0.
    def ignored_label(self, name):
        sums = self.nodes[-1]
        for node in self.nodes:
            if node.op == "accumulate_metrics":
                sums = node
        rows = sums.operands[1:1 + sums.losses]
        found = {node.settings.get("ignore", 0) for node in self.nodes
                 if node.result in rows and name in node.operands}
        return int(found.pop()) if len(found) == 1 and NO_LABEL not in found else 0

    # The scales for the next step, as MovingAverageMinMaxObserver's ranges.
    def track_scales(self):
        for name, found in self.largest.items():
            largest = max(value.detach() for value, _ in found)
            node, average = found[0][1], self.scales[name][1]
            average = largest if average == 0 else average + (1 - node.keep) * (largest - average)
            used = average if self.step + 1 >= node.delay else 0
            self.scales[name] = torch.tensor([used, average], dtype=torch.float64)

    def optimizer(self, parameters):
        groups = []
        for p, decayed, factor in zip(parameters, self.decayed, self.rate_factors):
            groups.append({"params": [p], "lr": self.rule_settings.get("lr", 0.0) * factor,
                           "rate_factor": factor})
            if not decayed:
                groups[-1]["weight_decay"] = 0.0
        return self.rule(groups, **self.rule_settings)

    # Applies the train section to gradients and rate before a step.
    def before_step(self, parameters, optimizer):
        parameters = [p for p in parameters if p.grad is not None]
        if self.clip_value:
            torch.nn.utils.clip_grad_value_(parameters, self.clip_value)
        if self.clip_norm:
            torch.nn.utils.clip_grad_norm_(parameters, self.clip_norm)
        if not self.schedule:
            return
        settings = self.schedule_settings
        warmup = int(settings.get("warmup", 0))
        factor = (self.step + 1) / warmup if self.step < warmup else \
            self.schedule(self.step - warmup, **settings)
        for group in optimizer.param_groups:
            group["lr"] = self.rule_settings.get("lr", 0.0) * factor * group["rate_factor"]

    # Rows of the loss and the metrics, and by name the outputs that these
    # options have.  Operands that only the compiler makes, as partial sums, are
    # None.
    def forward(self, parameters, batch):
        values = {**parameters, **self.statistics, **self.scales, **batch}
        self.largest = {}
        for node in self.nodes:
            # None: the header, and results of cnnc's own launches.
            operands = [values.get(name) for name in node.operands]
            if node.op == "accumulate_metrics":
                loss, metrics = (operands[1:1 + node.losses],
                                 operands[1 + node.losses:])
                named = {k: values[k] for k in self.outputs if k in values}
                return [sum(loss), *metrics], named
            values[node.result] = OPERATORS[node.op](self, node, *operands)
