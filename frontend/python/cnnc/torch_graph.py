"""A torch.nn.Module as a neutral graph.

The module is traced by torch.fx, which keeps modules and their names, or by torch.export if that
fails. An interpreter runs the example through the trace and records the shape of each result.
"""
import inspect
from dataclasses import dataclass

import numpy as np
import torch
from torch import fx

from .errors import Unsupported
from .graph import Graph, Node, unique_name
from .torch_operators import MODULES, SIMPLE, Functions, function_name


class Value:
    """A value of the graph: the node that makes it of operands, its shape without the batch, and an
    object that all tensors of the same memory have."""

    def __init__(self, node, operands=(), storage=None):
        self.node, self.operands, self.shape = node, operands, list(node.shape)
        self.storage = storage or object()


@dataclass
class Parameter:
    """A tensor of the module, or one that is computed of such: it has no name."""
    name: str
    tensor: torch.Tensor

    @property
    def shape(self):
        return self.tensor.shape


VIEWS = ("flatten", "reshape", "permute", "slice")


class Tracer(fx.Tracer):
    """Enters modules except those of the table MODULES and of torch.nn."""

    def is_leaf_module(self, module, path):
        return class_name(module) in MODULES or super().is_leaf_module(module, path)


def class_name(module):
    """The public name of a class: torch.nn.Conv2d."""
    kind = type(module)
    if kind.__module__.startswith("torch.nn.modules"):
        return f"torch.nn.{kind.__name__}"
    return f"{kind.__module__}.{kind.__name__}"


def traced(module, example):
    """A GraphModule of the module."""
    try:
        tracer = Tracer()
        return fx.GraphModule(module, tracer.trace(module))
    except Exception as cause:           # tracing raises all kinds
        try:
            return torch.export.export(module, example, strict=False).module()
        except Exception as error:
            raise Unsupported(type(module).__name__, f"torch.fx says: {first_line(cause)}; "
                              f"torch.export says: {first_line(error)}") from error


def first_line(error):
    return str(error).strip().partition("\n")[0]


class Recorder(fx.Interpreter):
    """Runs the example, and keeps the result of each node."""

    def __init__(self, module):
        super().__init__(module)
        self.results = {}

    def run_node(self, n):
        self.results[n] = result = super().run_node(n)
        return result


def graph_of(module, example):
    """The neutral graph of a module for an example of its input, a tensor or a tuple of tensors. A
    batch of one becomes two, so that no other axis is taken for it."""
    example = example if isinstance(example, tuple) else (example,)
    example = tuple(torch.cat([part, part]) if len(part) == 1 else part for part in example)
    was_training = module.training
    module.eval()
    try:
        with torch.no_grad():
            trace = traced(module, example)
            recorder = Recorder(trace)
            recorder.run(*example)
    finally:
        module.train(was_training)
    return Builder(module, trace, recorder.results, example).graph


class Builder(Functions):
    """Builds the neutral graph from a trace."""

    def __init__(self, module, trace, results, example):
        self.trace, self.results, self.values, self.names = trace, results, {}, set()
        self.batch, self.tied = example[0].shape[0], {}
        self.graph = Graph(type(module).__name__, [], [])
        for self.at in trace.graph.nodes:
            self.path = self.source = None
            self.values[self.at] = self.visit(self.at)
        self.drop_unread()

    def drop_unread(self):
        read = set(self.graph.outputs)
        for node in reversed(self.graph.nodes):
            if node.name in read:
                read.update(node.inputs)
        self.graph.nodes = [node for node in self.graph.nodes if node.name in read]
        params = {name for node in self.graph.nodes for name in node.params.values()}
        self.graph.arrays = {name: array for name, array in self.graph.arrays.items()
                             if name in params}
        self.graph.tied = {other: name for other, name in self.graph.tied.items()
                           if name in params}

    # ---- nodes of the trace ---------------------------------------------------------------------

    def visit(self, n):
        return getattr(self, "visit_" + n.op)(n)

    def visit_placeholder(self, n):
        result = self.results[n]
        if not isinstance(result, torch.Tensor):
            return result
        self.path = self.source = "x" if n.target == "input" else n.target
        return self.node("input", [], {})

    def visit_get_attr(self, n):
        return Parameter(n.target, self.results[n])

    def visit_call_module(self, n):
        module = self.trace.get_submodule(n.target)
        name = class_name(module)
        self.path, self.source = n.target, f"{n.target}: {name}"
        if name not in MODULES:
            if not list(module.children()) and self.results[n] is None:
                return None             # a guard of torch.export
            self.refuse("there is no such operator in cnnc")
        function, attributes = MODULES[name]
        kwargs = dict(n.kwargs)
        for word in attributes.split():
            key, _, attribute = word.rpartition("=")
            kwargs[key or attribute] = self.attribute(module, n.target, attribute)
        in_place = bool(kwargs.pop("inplace", False))
        return self.function(function, n, self.resolve(n.args), kwargs, in_place)

    @staticmethod
    def attribute(module, path, name):
        value = getattr(module, name)
        return Parameter(f"{path}.{name}", value) if isinstance(value, torch.Tensor) else value

    def visit_call_function(self, n):
        name, in_place = function_name(n.target)
        kwargs = dict(self.resolve(n.kwargs))
        in_place |= bool(kwargs.pop("inplace", False))
        args = self.resolve(n.args)
        owner = owner_of(n)
        self.path = f"{owner}.{name}" if owner else name
        self.source = f"{owner or self.graph.name}: {name}"
        if not any(isinstance(value, Value) for value in flat([args, kwargs])):
            return self.constant(name, args, n)
        if not is_tensor(self.results[n]):
            return self.results[n]      # a size, or an assertion
        return self.function(name, n, args, kwargs, in_place)

    def constant(self, name, args, n):
        """The result of a function of parameters and numbers."""
        result = self.results[n]
        if not isinstance(result, torch.Tensor):
            return result
        same = name in ("view", "unsqueeze", "squeeze", "flatten", "identity")
        return Parameter(getattr(args[0], "name", None) if same else None, result)

    visit_call_method = visit_call_function

    def visit_output(self, n):
        outputs = self.resolve(n.args[0])
        for value in flat([outputs]):
            if not isinstance(value, Value) or value.node.op == "input":
                raise Unsupported("the module's result", "wanted values that the module computes")
            self.graph.outputs.append(value.node.name)

    # ---- functions ------------------------------------------------------------------------------

    def function(self, name, n, args, kwargs, in_place):
        result = self.results[n]
        self.shape = list(result.shape[1:]) if isinstance(result, torch.Tensor) else None
        if isinstance(result, torch.Tensor) and (result.dim() == 0 or
                                                 result.shape[0] != self.batch):
            self.refuse(f"its result {list(result.shape)} does not begin with the batch")
        handler = self.handler(name)
        try:
            inspect.signature(handler).bind(*args, **kwargs)
        except TypeError as error:
            self.refuse(f"{error}: the converter does not know such a call")
        value = handler(*args, **kwargs)
        if in_place:
            self.replace(args[0], value)
        return value

    def handler(self, name):
        if name in SIMPLE:
            return lambda x, *args, **kwargs: self.simple(name, x, args, kwargs)
        handler = getattr(Functions, name, None)
        if name.startswith("_") or handler is None:
            self.refuse("there is no such operator in cnnc")
        return getattr(self, name)

    def simple(self, name, x, args, kwargs):
        op, arguments = SIMPLE[name]
        names = [torch_name for torch_name, _ in arguments.values()]
        given = {**dict(zip(names, args)), **kwargs}
        unknown = [key for key in given if key not in names]
        if unknown or len(args) > len(names):
            self.refuse(f"arguments {unknown or list(args)} are not known to the converter")
        return self.node(op, [x], {key: given.get(torch_name, default)
                                   for key, (torch_name, default) in arguments.items()})

    def replace(self, old, new):
        """An operand has changed in place: its name means the result from here on. Other tensors of
        its memory are not read any more."""
        if not isinstance(old, Value) or old is new:
            return
        for n, value in self.values.items():
            if value is old:
                self.values[n] = new
            elif getattr(value, "storage", None) is old.storage and \
                    any(user not in self.values and user is not self.at for user in n.users):
                self.refuse(f"it changes {value.node.name} in place, of which it is a view")

    # ---- for Functions --------------------------------------------------------------------------

    def node(self, op, inputs, attrs, shape=None, path=None, **params):
        for value in inputs:
            if not isinstance(value, Value):
                self.refuse("an operand is not a value of the net")
        name = unique_name(self.names, path or self.path_of(op, params.get("weight")))
        names = {role: self.parameter(parameter) for role, parameter in params.items()
                 if parameter is not None}
        self.graph.nodes.append(Node(name, op, [value.node.name for value in inputs],
                                     self.result_shape() if shape is None else shape, attrs, names,
                                     self.source))
        return Value(self.graph.nodes[-1], inputs, inputs[0].storage if op in VIEWS else None)

    def path_of(self, op, weight):
        """The module's path. A function has that of the module of its weight, or the operator's
        name after that of its caller."""
        if op == "input" or self.at.op == "call_module":
            return self.path
        owner = (getattr(weight, "name", None) or "").rpartition(".")[0]
        return owner or f"{self.path.rpartition('.')[0]}.{op}".lstrip(".")

    def result_shape(self):
        return list(self.results[self.at].shape[1:])

    def parameter(self, parameter):
        """The name of an array. A tensor with several names has the first that a layer reads."""
        if not isinstance(parameter, Parameter) or parameter.name is None:
            self.refuse("a weight is computed; wanted a parameter of the module")
        name, _ = self.tied.setdefault(memory_of(parameter.tensor),
                                       (parameter.name, parameter.tensor))
        if name != parameter.name:
            self.graph.tied[parameter.name] = name
        if name in self.graph.arrays:
            found = list(self.graph.arrays[name].shape)
            if found != list(parameter.shape):
                self.refuse(f"{name} is read as {list(parameter.shape)} here, and as {found} "
                            "before")
            return name
        tensor = parameter.tensor.detach().cpu()
        if tensor.dtype not in (torch.float32, torch.float64):
            tensor = tensor.float()
        self.graph.arrays[name] = np.asarray(tensor.numpy())
        if not parameter.tensor.requires_grad:
            self.graph.frozen.add(name)
        return name

    def same(self, x):
        """The operand, as a tensor of its own."""
        return Value(x.node, x.operands)

    def refuse(self, reason):
        raise Unsupported(self.source, reason)

    def resolve(self, args):
        return fx.node.map_arg(args, lambda n: self.values[n])

    @staticmethod
    def is_value(x):
        return isinstance(x, Value)

    @staticmethod
    def is_parameter(x):
        return isinstance(x, Parameter)

    @staticmethod
    def is_trained(x):
        return isinstance(x, Parameter) and x.tensor.requires_grad

    @staticmethod
    def is_number(x, equal=None):
        return isinstance(x, (int, float)) and equal in (None, x)

    def axis_of(self, x, dim):
        """The axis of a sample."""
        axis = -1 if dim is None else dim % (len(x.shape) + 1) - 1
        if axis < 0:
            self.refuse(f"along {dim}; wanted an axis of a sample")
        return axis

    def axes_of(self, x, dims):
        dims = dims if isinstance(dims, (list, tuple)) else [dims]
        return sorted(self.axis_of(x, dim) for dim in dims)


def memory_of(tensor):
    """Equal for tensors of the same memory and shape."""
    return tensor.data_ptr(), tuple(tensor.shape), tensor.stride()


def owner_of(n):
    """The path of the module that calls a function."""
    stack = n.meta.get("nn_module_stack")
    if not stack:
        return ""
    path = list(stack.values())[-1][0]
    return path.replace("L['self']", "").lstrip(".")


def flat(items):
    for item in items:
        if isinstance(item, dict):
            yield from flat(item.values())
        elif isinstance(item, (list, tuple)):
            yield from flat(item)
        else:
            yield item


def is_tensor(result):
    return any(isinstance(item, torch.Tensor) for item in flat([result]))
