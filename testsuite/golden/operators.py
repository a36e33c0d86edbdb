# What each operator means, in PyTorch: a net as `cnnc --emit ir` prints it
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

from draws import dropout_mask

NODE = re.compile(r"\[\d+\] forward \S+: (.*) = (\w+)\((.*?)\)(.*) @")
VALUE = re.compile(r"%\d+ (\S+) (\w+)\[(.*?)\] (\w+)(.*)")
SETTING = re.compile(r"(\w+)=(\S+)")


class Node:
    def __init__(self, match):
        results, self.op, operands, settings = match.groups()
        self.result = results.split()[1]
        self.shape = [int(d) for d in
                      re.search(r"\[(.*?)\]", results).group(1).split(", ")]
        self.operands = [o for o in operands.split(", ") if o != "-"]
        self.settings = {k: float(v) for k, v in SETTING.findall(settings)}

    # An attribute, which is not printed where it is 0.
    def __getattr__(self, name):
        value = self.settings.get(name, 0.0)
        return int(value) if value == int(value) else value


def padded(x, node, value):
    x = x.permute(0, 3, 1, 2)
    return F.pad(x, (node.pad_left, node.pad_right, node.pad_top,
                     node.pad_bottom), value=value)


def conv(net, node, x, weight):
    y = F.conv2d(padded(x, node, 0.0), weight, groups=node.groups,
                 stride=(node.stride_h, node.stride_w),
                 dilation=(node.dilation_h, node.dilation_w))
    return y.permute(0, 2, 3, 1)


# A window that would begin in the padding that follows does not count.
def maxpool(net, node, x):
    y = F.max_pool2d(padded(x, node, -torch.inf),
                     (node.kernel_h, node.kernel_w),
                     (node.stride_h, node.stride_w), ceil_mode=bool(node.ceil))
    y = y[:, :, :node.shape[1], :node.shape[2]]
    return y.permute(0, 2, 3, 1)


def dropout(net, node, x, header):
    mask = dropout_mask(x.shape, node.rate, node.number, net.seed, net.step)
    return x * torch.from_numpy(mask)


OPERATORS = {
    "conv": conv,
    "dense": lambda net, node, x, weight: F.linear(x, weight),
    "bias": lambda net, node, x, bias: x + bias,
    "relu": lambda net, node, x: torch.relu(x),
    "maxpool": maxpool,
    "flatten": lambda net, node, x: x.reshape(x.shape[0], -1),
    "add": lambda net, node, a, b: a + b,
    "scale": lambda net, node, x: node.factor * x.double(),
    "dropout": dropout,
    "softmax_cross_entropy": lambda net, node, logits, label:
        F.cross_entropy(logits, label.long(), reduction="none"),
    "accuracy": lambda net, node, logits, label:
        (logits.argmax(1) == label).double(),
}


def sgd(parameters, lr=0.0, momentum=0.0, nesterov=0.0, weight_decay=0.0):
    return torch.optim.SGD(parameters, lr, momentum, nesterov=bool(nesterov),
                           weight_decay=weight_decay)


def adam(parameters, lr=0.0, beta1=0.0, beta2=0.0, epsilon=0.0,
         weight_decay=0.0):
    return torch.optim.Adam(parameters, lr, (beta1, beta2), epsilon,
                            weight_decay)


class ProgramNet:
    # inputs: name, dtype, shape, classes of each; shapes: of each parameter.
    def __init__(self, cnnc, path, options, outputs):
        text = subprocess.run(
            [cnnc, "--emit", "ir", "--stop-after", "frontend", "--precision",
             "f64", *options, path],
            check=True, capture_output=True, text=True).stdout
        self.inputs, self.shapes, self.nodes = [], {}, []
        self.outputs, self.seed, self.step = outputs, 0, 0
        for line in text.splitlines():
            self.read_line(line)

    def read_line(self, line):
        if match := re.match(r"optimizer (\w+)(.*?)(@|$)", line):
            settings = SETTING.findall(match.group(2))
            self.rule = {"sgd": sgd, "adam": adam}[match.group(1)]
            self.rule_settings = {k: float(v) for k, v in settings}
        elif match := NODE.match(line):
            self.nodes.append(Node(match))
        elif match := VALUE.match(line):
            name, dtype, shape, kind, rest = match.groups()
            shape = [int(d) for d in shape.split(", ")]
            classes = int(dict(SETTING.findall(rest)).get("classes", 0))
            if kind == "param":
                self.shapes[name] = shape
            elif kind == "input":
                self.inputs.append((name, dtype, shape, classes))

    def optimizer(self, parameters):
        return self.rule(parameters, **self.rule_settings)

    # Rows of the loss and the metrics, and the outputs by name.
    def forward(self, parameters, batch):
        values = {**parameters, **batch, "header": None}
        for node in self.nodes:
            operands = [values[name] for name in node.operands]
            if node.op == "tally":
                return operands[1:], {k: values[k] for k in self.outputs}
            values[node.result] = OPERATORS[node.op](self, node, *operands)
