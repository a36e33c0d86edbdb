"""A net of cnnc as a model of ONNX, for TensorRT, ONNX Runtime and other runtimes.

The graph is the net's in inference, before any pass. A value may be held by several tensors, which
have its axes, or the elements of a vector, in different orders. Maps are [N, channels, height,
width] as ONNX's operators want them. A vector that was a map keeps that order of elements until an
operator wants cnnc's. A dense layer has its columns permuted instead.
"""
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from . import convert
from .compiled_graph import CompiledGraph
from .errors import Unsupported, WeightError
from .layouts import inverse, same_order
from .onnx_exports import BINARY, SIMPLE, Exports, first, numbering, plain
from .weights import of_net

LOWEST = 17             # opset: the first with LayerNormalization
MOST_BYTES = 2 ** 31 - 2 ** 20      # of a file: protobuf's limit, without the nodes
ALIGNED = 4096          # tensors of external data begin at multiples
TYPES = {"f32": TensorProto.FLOAT, "f64": TensorProto.DOUBLE, "u8": TensorProto.UINT8,
         "i32": TensorProto.INT32}
LAYOUTS = {"nchw": "[N, channels, height, width]", "nhwc": "[N, height, width, channels]"}


@dataclass(frozen=True)
class Held:
    """A tensor that holds a value. Axis i of it is axis order[i] of the value as cnnc stores it. If
    the value is a vector, element i is element elements[i]; None means the same order."""
    tensor: str
    order: tuple
    elements: object = None

    def with_tensor(self, name):
        return replace(self, tensor=name)


# ---- weights ------------------------------------------------------------------------------------

def in_type(name, array, precision):
    """The array in the model's type."""
    with np.errstate(over="ignore"):
        found = array.astype(np.float64 if precision == "f64" else np.float32, copy=False)
    if found is not array and not np.array_equal(found.astype(array.dtype), array, equal_nan=True):
        raise WeightError(f"weights: {name} has numbers that f32 does not hold; round them, "
                          'or give precision="f64"')
    return found


# ---- the model ----------------------------------------------------------------------------------

class Model(Exports):
    """Builds the nodes and initializers of a graph."""

    def __init__(self, graph, weights, layout, batch, opset):
        self.graph, self.weights, self.layout = graph, weights, layout
        self.batch = "N" if batch is None else batch
        self.fixed, self.opset = opset, opset or LOWEST
        self.real = TYPES[graph.precision]
        self.nodes, self.arrays, self.forms = [], {}, {}
        self.names = {*graph.values, *(at.name for at in graph.operators)}
        live = self.live()
        self.inputs = [self.port(name) for name in graph.inputs if name in live]
        for at in graph.operators:
            if at.result in live:
                self.visit(at)
        self.outputs = [self.result(name) for name in graph.outputs]

    def live(self):
        """The names of the values that an output needs."""
        live = set(self.graph.outputs)
        for at in reversed(self.graph.operators):
            if at.result in live:
                live.update(at.values)
        return live

    def visit(self, at):
        if at.op in SIMPLE:
            self.simple(at)
        elif at.op in BINARY:
            self.binary(at)
        elif hasattr(Exports, at.op):
            getattr(self, at.op)(at)
        else:
            self.refuse(at, "the export to ONNX does not know it")

    def refuse(self, at, reason):
        raise Unsupported(f"{at.place}: {at.result}: {at.op}", reason)

    def needs(self, opset, at, what):
        """Takes a later opset, unless the user has fixed it."""
        if self.fixed and self.fixed < opset:
            self.refuse(at, f"{what} is an operator of opset {opset}, and the opset is "
                        f"{self.fixed}")
        self.opset = max(self.opset, opset)

    # ---- inputs and outputs ---------------------------------------------------------------------

    def outer(self, name):
        """The order of an input or output."""
        rank = len(self.shape(name))
        return first(rank) if rank == 4 and self.layout == "nchw" else plain(rank)

    def described(self, name):
        value, order = self.graph.values[name], self.outer(name)
        shape = [self.batch, *(value.shape[axis] for axis in order[1:])]
        return helper.make_tensor_value_info(name, TYPES[value.dtype], shape)

    def port(self, name):
        self.forms[name] = [Held(name, self.outer(name))]
        return self.described(name)

    def result(self, name):
        """An output of the net: its tensor has its name."""
        held = self.held(name)
        is_outer = held.order == self.outer(name) and held.elements is None
        if held.tensor == name and not is_outer:
            self.rename_tensor(name, self.unique(f"{name}.inner"))
        count = len(self.nodes)
        final = self.with_order(name, self.outer(name)).tensor
        if len(self.nodes) > count:
            self.rename_tensor(final, name)
        elif final != name:
            self.node("Identity", [final], name, self.unique(f"{name}.output"), {})
        return self.described(name)

    def rename_tensor(self, old, new):
        for node in self.nodes:
            for names in (node.input, node.output):
                for at, name in enumerate(names):
                    if name == old:
                        names[at] = new
        for name, forms in self.forms.items():
            self.forms[name] = [held.with_tensor(new) if held.tensor == old else held
                                for held in forms]

    # ---- values of the model -------------------------------------------------------------------

    def shape(self, name):
        return self.graph.values[name].shape

    def held(self, name):
        """The tensor that its operator made."""
        return self.forms[name][0]

    def form(self, order):
        return Held("", order)

    def with_order(self, name, order):
        """A tensor of this order of axes, whose elements are in cnnc's order."""
        for held in self.forms[name]:
            if held.order == order and held.elements is None:
                return held
        held = self.held(name)
        word = {first(4): "nchw", plain(4): "nhwc"}.get(order, "turned")
        made = self.unique(f"{name}.{word}")
        if held.elements is not None:
            self.permute(held.tensor, made, inverse(held.elements))
        else:
            self.turn(held, made, self.shape(name), order)
        self.forms[name].append(Held(made, order))
        return self.forms[name][-1]

    def turn(self, held, made, shape, order):
        """A node that moves axes: a Reshape where only axes of one index move."""
        def long(axes):
            return [axis for axis in axes[1:] if shape[axis] != 1]
        if long(held.order) == long(order):
            sizes = self.integers(made, [0, *(shape[axis] for axis in order[1:])])
            self.node("Reshape", [held.tensor, sizes], made, made, {})
        else:
            perm = [held.order.index(axis) for axis in order]
            self.node("Transpose", [held.tensor], made, made, {"perm": perm})

    def permute(self, tensor, made, elements):
        self.node("Gather", [tensor, self.integers(made, elements)], made, made, {"axis": 1})

    def first(self, name):
        rank = len(self.shape(name))
        return self.with_order(name, first(rank)).tensor

    def plain(self, name):
        return self.with_order(name, plain(len(self.shape(name)))).tensor

    def with_first(self, name):
        """Channels after the batch; a vector stays as it is."""
        rank = len(self.shape(name))
        return self.held(name) if rank == 2 else self.with_order(name, first(rank))

    def arranged(self, name, elements):
        """The tensor of a vector with its elements in this order."""
        for held in self.forms[name]:
            if same_order(held.elements, elements):
                return held.tensor
        if elements is None:
            return self.plain(name)
        made = self.unique(f"{name}.ordered")
        self.permute(self.plain(name), made, elements)
        self.forms[name].append(Held(made, plain(2), elements))
        return made

    def turned(self, at, word, tensor, shape, order):
        """A tensor as one of more axes, in this order. `shape` is that of all axes as stored."""
        made = self.unique(word)
        flat = self.unique(f"{word}.axes")
        sizes = self.integers(flat, [0, *shape[1:]])
        self.node("Reshape", [tensor, sizes], flat, flat, {})
        if order == plain(len(shape)):
            return flat
        self.turn(Held(flat, plain(len(shape))), made, shape, order)
        return made

    def numbering(self, name):
        """By place in the tensor that holds it, the number of a sample's element in storage."""
        held = self.held(name)
        return held.elements if held.elements is not None else \
            numbering(self.shape(name), held.order)

    # ---- nodes ----------------------------------------------------------------------------------

    def unique(self, name):
        count, free = 1, name
        while free in self.names:
            count += 1
            free = f"{name}_{count}"
        self.names.add(free)
        return free

    def node(self, op, inputs, output, name, attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], name, **attributes))

    def put(self, at, op, inputs, order, elements=None, **attributes):
        """The node that makes the call's value."""
        self.node(op, inputs, at.result, at.name, attributes)
        self.forms[at.result] = [Held(at.result, order, elements)]

    def like(self, at, held, op, inputs, **attributes):
        """The node that makes the call's value in the form of an operand."""
        self.put(at, op, inputs, held.order, held.elements, **attributes)

    def step(self, at, word, op, inputs, **attributes):
        """A node before the last one of the call: its tensor."""
        made = self.unique(f"{at.result}.{word}")
        self.node(op, inputs, made, self.unique(f"{at.name}.{word}"), attributes)
        return made

    def reshaped(self, at, word, tensor, sizes):
        return self.step(at, word, "Reshape", [tensor, self.sizes(at, f"{word}.shape", sizes)])

    def alias(self, at, name):
        """The call's value is this value."""
        self.forms[at.result] = self.forms[name]

    def rename(self, at, tensor, order):
        """The call's value is a tensor of another order."""
        self.forms[at.result] = [Held(tensor, order)]

    def add_bias(self, at, tensor):
        """The layer before makes the call's value, with this bias."""
        layer = at.operand("x")
        node = next(node for node in self.nodes if node.output[0] == layer)
        node.input.append(tensor)
        node.output[0] = at.result
        self.forms[at.result] = [self.held(layer).with_tensor(at.result)]

    # ---- numbers --------------------------------------------------------------------------------

    def weight(self, at, role):
        """The array of a weight, or None."""
        name = at.operand(role)
        return None if name is None else self.weights[name]

    def of_elements(self, held, array):
        return array if held.elements is None else array[held.elements]

    def along_channels(self, name, held, array):
        """Numbers of channels, or one for all, in a shape that broadcasts to the tensor."""
        if array.size == 1:
            return array.reshape(1)
        rank = len(self.shape(name))
        axis = held.order.index(rank - 1)
        return self.of_elements(held, array).reshape(-1, *[1] * (rank - 1 - axis))

    def parameter(self, name, array):
        """The tensor of a weight, which has its name."""
        if name in self.arrays and not np.array_equal(self.arrays[name], array, equal_nan=True):
            name = self.unique(name)
        self.arrays[name] = np.ascontiguousarray(array)
        return name

    def constant(self, at, word, numbers):
        """The tensor of a call's constants, in the model's type."""
        kind = helper.tensor_dtype_to_np_dtype(self.real)
        return self.tensor(at, word, np.array(numbers, kind))

    def tensor(self, at, word, array):
        """The tensor of a call's constants, as they are."""
        made = self.unique(f"{at.result}.{word}")
        self.arrays[made] = array
        return made

    def integers(self, made, numbers):
        name = self.unique(f"{made}.numbers")
        self.arrays[name] = np.array(numbers, np.int64)
        return name

    def sizes(self, at, word, sizes):
        """The shape for a Reshape of a sample; 0 keeps the batch."""
        return self.tensor(at, word, np.array([0, *sizes], np.int64))

    def proto(self, external):
        """The model. With the name of an external file its tensors are there."""
        tensors, start = [], 0
        for name, array in self.arrays.items():
            if external is None:
                tensors.append(numpy_helper.from_array(array, name))
                continue
            start = -(-start // ALIGNED) * ALIGNED
            tensors.append(outside(name, array, external, start))
            start += array.nbytes
        opset = [helper.make_opsetid("", self.opset)]
        graph = helper.make_graph(self.nodes, self.graph.name, self.inputs, self.outputs, tensors,
                                  doc_string=self.description())
        model = helper.make_model(graph, producer_name="cnnc", opset_imports=opset,
                                  ir_version=helper.find_min_ir_version_for(opset))
        helper.set_model_props(model, {"cnnc.layout": self.layout})
        return model

    def description(self):
        return f"The net {self.graph.name} in inference, written by cnnc.to_onnx. Maps of inputs " \
            f"and outputs are {LAYOUTS[self.layout]}."


def outside(name, array, file, start):
    """A tensor whose numbers are in another file."""
    tensor = TensorProto(name=name, dims=array.shape,
                         data_type=helper.np_dtype_to_tensor_dtype(array.dtype),
                         data_location=TensorProto.EXTERNAL)
    for key, value in (("location", file), ("offset", start), ("length", array.nbytes)):
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def write_outside(arrays, path):
    with open(path, "wb") as out:
        for array in arrays.values():
            out.write(bytes(-out.tell() % ALIGNED))
            little = array.astype(array.dtype.newbyteorder("<"), copy=False)
            out.write(little.tobytes())


def save(model, path, external):
    """Writes the model; returns its ModelProto. Both files are old or whole."""
    size = sum(array.nbytes for array in model.arrays.values())
    is_large = size > MOST_BYTES
    if is_large and (path is None or external is False):
        raise ValueError(f"the weights have {size} bytes, and a file of ONNX has at most "
                         f"{MOST_BYTES}; give a path, and no external_data=False, so that they "
                         "are in a file next to it")
    if path is None:
        return model.proto(None)
    path = Path(path)
    data = path.with_name(path.name + ".data") if external or is_large else None
    proto = model.proto(data.name if data else None)

    def write_both(name):
        Path(name).write_bytes(proto.SerializeToString())
        if data:
            convert.replace(data, lambda name: write_outside(model.arrays, name))
    convert.replace(path, write_both)
    return proto


def export(net, weights, path, layout, batch, opset, precision, external_data, options):
    """convert.to_onnx, which explains the arguments."""
    for word, given, wanted in (("layout", layout, tuple(LAYOUTS)),
                                ("precision", precision, ("f32", "f64"))):
        if given not in wanted:
            raise ValueError(f"{word}: wanted {' or '.join(wanted)}, found {given!r}")
    last = onnx.defs.onnx_opset_version()
    if opset is not None and not LOWEST <= opset <= last:
        raise ValueError(f"opset: wanted {LOWEST} to {last}, found {opset!r}")
    if batch is not None and (not isinstance(batch, int) or batch < 1):
        raise ValueError(f"batch: wanted None or 1 and more, found {batch!r}")
    graph = CompiledGraph(net, "infer", precision=precision, **options)
    arrays = {name: in_type(name, array, precision)
              for name, array in of_net(graph, weights).items()}
    return save(Model(graph, arrays, layout, batch, opset), path, external_data)
