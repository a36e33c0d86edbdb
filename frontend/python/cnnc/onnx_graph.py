"""A model of ONNX as a neutral graph.

Nodes of constants are computed by onnx's reference evaluator, and onnx infers the shapes of the
others. A value is a sample: with a batch, the first axis of each tensor is no part of it.
"""
import inspect
import re
from pathlib import Path

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import TensorProto, helper, numpy_helper, shape_inference
from onnx.reference import ReferenceEvaluator

from .building import Constant, Value, decimal
from .errors import Unsupported
from .onnx_operators import SIMPLE, Operators

REAL = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16)
BATCH = 2           # of a model that leaves it open


# Operators that read labels.
LABELLED = ("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss")


class Loss:
    """The result of a loss: the value that it reads, and the graph's words for it."""

    def __init__(self, scores, words):
        self.scores, self.words = scores, words


class Labels:
    """An input of integers, which only a loss reads."""

    def __init__(self, name):
        self.name = name


def read_model(path):
    try:
        return onnx.load(path)
    except DecodeError as error:
        raise Unsupported(path, "wanted a model of ONNX, found a file of another format") from error


def graph_of(model, shapes=None, batch=True, outputs=None):
    """The neutral graph of a model: a path, or an onnx.ModelProto."""
    name = None
    if not isinstance(model, onnx.ModelProto):
        name, model = Path(model).stem, read_model(model)
    return Builder(model, name or model.graph.name or "net", shapes or {}, batch, outputs).graph


class Builder(Operators):
    """Builds the neutral graph of a model."""

    def __init__(self, model, name, shapes, batch, outputs):
        self.begin(name)
        self.model, self.lead, self.batch = model, int(batch), None
        self.opset = max([entry.version for entry in model.opset_import
                          if entry.domain in ("", "ai.onnx")], default=1)
        self.graph.copies = True
        self.values = {tensor.name: Constant(numpy_helper.to_array(tensor), tensor.name)
                       for tensor in model.graph.initializer}
        for given in model.graph.input:
            if given.name not in self.values:
                self.values[given.name] = self.visit_input(given, shapes.get(given.name))
        self.outputs = outputs or [output.name for output in model.graph.output]
        self.readers = count(model.graph, self.outputs)
        for self.at in model.graph.node:
            self.visit(self.at)
        for output in self.outputs:
            self.visit_output(output)
        self.drop_unread()

    # ---- the model ------------------------------------------------------------------------------

    def visit_input(self, given, shape):
        self.source = f"input {given.name}"
        tensor = given.type.tensor_type
        if tensor.elem_type in (TensorProto.INT32, TensorProto.INT64):
            return Labels(given.name)
        if tensor.elem_type not in REAL:
            self.refuse("wanted a tensor of floats")
        open_sizes = [dimension.dim_value or None for dimension in tensor.shape.dim]
        if [size for size in open_sizes if size is None] and shape is None and self.lead:
            open_sizes[:1] = [open_sizes[0] or BATCH]
        shape = open_sizes if shape is None else list(shape)
        if None in shape:
            self.refuse(f"axis {shape.index(None)} has no size; give it, as in "
                        f'shapes={{"{given.name}": [1, 3, 224, 224]}}')
        if 0 in shape or "dim_value: 0" in str(tensor.shape):
            self.refuse("an empty tensor")
        if self.lead and not shape:
            self.refuse("a scalar has no batch")
        if self.lead and self.batch not in (None, shape[0]):
            self.refuse(f"a batch of {shape[0]}, and another input's is {self.batch}")
        self.batch = shape[0] if self.lead else None
        return self.node("input", [], {}, shape[self.lead:], path=given.name)

    def visit_output(self, name):
        value = self.values.get(name)
        self.source = f"output {name}"
        if isinstance(value, Loss):
            self.graph.loss, value = value.words, value.scores
        if not isinstance(value, Value):
            self.refuse("wanted a value that the net computes")
        self.graph.outputs.append(value.node.name)

    def visit(self, at):
        self.path = path_of(at.name)
        self.source = f"{at.name or ', '.join(at.output)}: {at.op_type}"
        if at.domain not in ("", "ai.onnx"):
            self.refuse(f"an operator of {at.domain}")
        operands = [self.values.get(name) if name else None for name in at.input]
        for name, operand in zip(at.input, operands):
            if name and operand is None:
                self.refuse(f"reads {name}, which has no counterpart in cnnc")
            if isinstance(operand, Labels) and at.op_type not in LABELLED:
                self.refuse(f"reads the integers {name}; wanted floats")
            if isinstance(operand, Loss):
                self.refuse(f"reads the loss {name}; wanted it as an output of the model")
        if at.op_type == "Shape" or not any(isinstance(operand, Value) for operand in operands):
            results = self.folded(at, operands)
        else:
            results = self.converted(at, operands)
        for name, result in zip(at.output, results):
            self.values[name] = result

    def converted(self, at, operands):
        attributes = {attribute.name: self.attribute(attribute) for attribute in at.attribute}
        self.types = self.inferred(at, operands)
        handler = self.handler(at.op_type)
        try:
            inspect.signature(handler).bind(*operands, **attributes)
        except TypeError as error:
            self.refuse(f"{error}: the converter does not know such a node")
        results = handler(*operands, **attributes)
        return results if isinstance(results, list) else [results]

    def handler(self, op):
        if op in SIMPLE:
            return lambda x, **attributes: self.simple(op, x, attributes)
        if op.startswith("_") or not op[:1].isupper() or not hasattr(Operators, op):
            self.refuse("there is no such operator in cnnc")
        return getattr(self, op)

    def simple(self, op, x, attributes):
        ours, arguments = SIMPLE[op]
        names = {theirs for theirs, _ in arguments.values()}
        if set(attributes) - names - {"consumed_inputs"}:
            self.refuse(f"attributes {sorted(set(attributes) - names)}")
        return self.node(ours, [x], {argument: attributes.get(theirs, default)
                                     for argument, (theirs, default) in arguments.items()})

    def attribute(self, attribute):
        value = helper.get_attribute_value(attribute)
        if isinstance(value, float):
            return decimal(value)
        if isinstance(value, bytes):
            return value.decode()
        return list(value) if attribute.type in (attribute.INTS, attribute.FLOATS) else value

    # ---- constants and shapes -------------------------------------------------------------------

    def folded(self, at, operands):
        """The results of a node of constants."""
        if at.op_type == "Shape":
            sizes = np.array(self.whole(operands[0]), np.int64)
            bounds = {attribute.name: attribute.i for attribute in at.attribute}
            return [Constant(sizes[bounds.get("start", 0):bounds.get("end", len(sizes))])]
        if at.op_type == "Identity":
            return operands
        inputs = {name: operand.array for name, operand in zip(at.input, operands) if name}
        graph = helper.make_graph(
            [at], "constants", [helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
                for name, array in inputs.items()],
            [helper.make_empty_tensor_value_info(name) for name in at.output if name])
        model = helper.make_model(graph, opset_imports=self.model.opset_import)
        try:
            found = iter(ReferenceEvaluator(model).run(None, inputs))
        except Exception as error:  # noqa: BLE001    the evaluator raises all kinds
            self.refuse(f"onnx can't compute it: {error}")
        return [Constant(next(found)) if name else None for name in at.output]

    def whole(self, operand):
        """The shape in the model."""
        if isinstance(operand, Constant):
            return list(operand.array.shape)
        return [self.batch, *operand.shape] if self.lead else operand.shape

    def inferred(self, at, operands):
        """The shapes of the results, in the model. None: onnx knows none."""
        types, data = {}, {}
        if any(isinstance(operand, Labels) for operand in operands):
            return [None] * len(at.output)
        for name, operand in zip(at.input, operands):
            if isinstance(operand, Constant):
                array = operand.array
                array = array.astype(np.float32) if array.dtype.kind == "f" else array
                data[name] = numpy_helper.from_array(array, name)
                kind = data[name].data_type
            elif operand is not None:
                kind = TensorProto.FLOAT
            if operand is not None:
                types[name] = helper.make_tensor_type_proto(kind, self.whole(operand))
        try:
            schema = onnx.defs.get_schema(at.op_type, self.opset, "")
            found = shape_inference.infer_node_outputs(
                schema, at, types, data, opset_imports=list(self.model.opset_import))
        except Exception as error:  # noqa: BLE001
            self.refuse(f"onnx can't infer its shape: {error}")
        return [sizes_of(found.get(name)) for name in at.output]

    @property
    def shape(self):
        """The shape of the node's first result, in a sample."""
        return self.sample(self.types[0])

    def sample(self, shape):
        if shape is None:
            self.refuse("onnx can't infer its shape")
        if self.lead and (not shape or shape[0] != self.batch):
            self.refuse(f"its result {shape} does not begin with the batch")
        if 0 in shape:
            self.refuse("an empty result")
        return shape[self.lead:]

    # ---- for Operators --------------------------------------------------------------------------

    def path_for(self, op, weight):
        """The path of the weight's module. Without one it is that of the node and the operator."""
        owner = (weight.name or "").rpartition(".")[0] if weight is not None else ""
        return owner or f"{self.path}.{op}".lstrip(".")

    def is_read_once(self, x):
        """True if the node at hand alone reads the value that the last node made."""
        return self.graph.nodes[-1] is x.node and \
            all(self.readers[name] == 1 for name in self.at.input if self.values.get(name) is x)

    @staticmethod
    def loss(op, scores, labels, attrs):
        return Loss(scores, {"op": op, "scores": scores.node.name, "label": labels.name,
                             "attrs": attrs})


def count(graph, outputs):
    """How often each tensor is read."""
    readers = dict.fromkeys(outputs, 1)
    for node in graph.node:
        for name in node.input:
            readers[name] = readers.get(name, 0) + 1
    return readers


def sizes_of(kind):
    """The shape of a type, or None."""
    if kind is None or not kind.HasField("tensor_type") or not kind.tensor_type.HasField("shape"):
        return None
    sizes = [dimension.dim_value if dimension.HasField("dim_value") else None
             for dimension in kind.tensor_type.shape.dim]
    return None if None in sizes else sizes


def path_of(name):
    """The module of a node: layer1.0.conv1 of /layer1/layer1.0/conv1/Conv."""
    parts = [part for part in re.split("/", name) if part][:-1]
    kept = []
    for part in parts:
        if kept and part.startswith(kept[-1] + "."):
            kept.pop()
        kept.append(part)
    return ".".join(kept)
