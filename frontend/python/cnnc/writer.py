"""The neutral graph as the text of a .cnn file, and its weights under the file's names.

Two steps. First each node becomes a call with its weights in cnnc's layouts. A permutation of axes
makes no call; the place of each value says how its axes are stored. Then the calls become
statements, one for each call with parameters. Calls without parameters join the statement of their
operand.
"""
from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np

from . import language
from .errors import Unsupported
from .graph import Node
from .layouts import OIHW_TO_OHWI, flat_order, joined_order, reordered, same_order

MAP = (2, 0, 1)             # the axes of [channels, height, width] in cnnc's [h, w, c]
# The words of axes as they are stored, by rank.
WORDS = {1: ("channels",), 2: ("rows", "channels"), 3: ("height", "width", "channels"),
         4: ("rows", "height", "width", "channels")}
SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
ROLES = ("weight", "bias", "mean", "variance")


@dataclass
class Call:
    node: object            # of the graph
    operands: list          # calls
    op: str
    values: dict = field(default_factory=dict)      # arguments
    params: dict = field(default_factory=dict)      # arrays by role, in cnnc's layouts
    orders: dict = field(default_factory=dict)      # by role, of its axis 0 and its axis 1
    changes: dict = field(default_factory=dict)     # by role: functions that made the array
    statement: object = None

    def give(self, role, array, transform):
        self.params[role], self.changes[role] = array, []
        self.change(role, transform)

    def reorder(self, role, order):
        self.change(role, lambda array: reordered(array, order))

    def change(self, role, transform):
        self.params[role] = transform(self.params[role])
        self.changes[role].append(transform)

    def places(self, role, array):
        """Where the elements of the framework's array are in the call's."""
        places = np.arange(array.size).reshape(array.shape)
        for transform in self.changes[role]:
            places = transform(places)
        return places


@dataclass
class Place:
    """A value: the call that makes it, its shape in the graph, and how that is stored."""
    call: Call
    shape: list
    axes: tuple
    order: object = None    # of a vector's elements
    origin: tuple = None    # of a vector with an order: shape and axes of the map

    @property
    def stored(self):
        """The shape that the compiler sees."""
        return [self.shape[axis] for axis in np.argsort(self.axes)]


def refuse(node, reason):
    raise Unsupported(node.source or node.name, reason)


class Lowering:
    """The calls of a graph."""

    def __init__(self, graph, loss):
        self.loss, self.trains = loss, loss is not None
        self.map_axes = (0, 1, 2) if graph.channels_last else MAP
        self.graph, self.places, self.calls, self.concats = graph, {}, [], {}
        self.uses = Counter([*graph.outputs, *(name for node in graph.nodes
                                               for name in node.inputs)])
        for node in graph.nodes:
            self.places[node.name] = self.lower(node, [self.places[name] for name in node.inputs])
        nodes, self.outputs = {node.name: node for node in graph.nodes}, []
        self.loss_node = nodes[graph.loss["scores"] if graph.loss else
                               graph.scores or graph.outputs[0]]
        for name in graph.outputs:
            self.outputs.append(self.output(nodes[name], self.places[name]))
        self.scores = self.labelled(self.scored(graph))

    def output(self, node, place):
        """The value as an output of its own, which is no input. A vector has the graph's order."""
        place = self.in_order(node, place)
        if self.trains and node is self.loss_node:
            place = self.compared(node, place)
        if place.call.op == "input" or any(place.call is other.call for other in self.outputs):
            place = replace(place, call=self.extra(node, place, "scale", factor=1))
        return place

    def scored(self, graph):
        """The value that a loss reads: an output, or a value inside."""
        if self.loss_node.name in graph.outputs:
            return self.outputs[graph.outputs.index(self.loss_node.name)]
        place = self.in_order(self.loss_node, self.places[self.loss_node.name])
        return self.compared(self.loss_node, place) if self.trains else place

    def compared(self, node, place):
        """The value as the input of a loss has it: a map, or in the graph's order."""
        if self.graph.loss and len(place.shape) > 1:
            return self.as_map(node, place)
        rank = len(place.shape)
        return self.moved(node, place, self.map_axes if rank == 3 else tuple(range(rank)))

    def labelled(self, place):
        """Scores of classes as a vector or a map, whose pixels all other axes are."""
        rank, node = len(place.shape), self.loss_node
        if self.loss not in LABELLED or rank in (1, 3):
            return place
        last = rank - 1 if self.graph.channels_last else 0
        place = self.with_end(node, place, last)
        shape = map_of_classes(place.stored)
        return Place(self.extra(node, place, "reshape", shape=shape), shape, (0, 1, 2))

    def lower(self, node, places):
        if len(node.shape) > len(WORDS) and node.op != "input":
            refuse(node, f"{node.shape} has {len(node.shape)} axes; wanted {len(WORDS)} or fewer")
        special = getattr(self, "lower_" + node.op, None)
        if special is not None:
            return special(node, *places)
        return self.same_layout(node, *places)

    def call(self, node, places, op=None, **values):
        op = op or node.op
        if op not in language.operators():
            refuse(node, f"there is no operator {op} in cnnc")
        for name in values:
            if name not in language.operators()[op]:
                refuse(node, f"{op} of cnnc has no argument {name}")
        if not self.trains:
            values.pop("statistics", None)
        values |= self.train_word(node)
        call = Call(node, [place.call for place in places], op, values)
        self.calls.append(call)
        return call

    def give(self, call, role, transform=lambda array: array):
        """A parameter of the call, if its node has it."""
        name = call.node.params.get(role)
        if name is not None:
            call.give(role, self.graph.arrays[name], transform)

    def require_map(self, node, place):
        if len(place.shape) != 3 or place.axes != MAP:
            refuse(node, f"wanted a map [channels, height, width], found {place.shape}")

    def train_word(self, node):
        """The argument `train` of a layer with frozen parameters."""
        state = {role: name not in self.graph.frozen for role, name in node.params.items()
                 if role in ("weight", "bias")}
        if not self.trains or all(state.values()):
            return {}
        if state == {"weight": True, "bias": False}:
            refuse(node, "the bias is frozen, and the weight is not")
        return {"train": "bias" if any(state.values()) else "none"}

    # ---- layouts --------------------------------------------------------------------------------

    def extra(self, node, place, op, **values):
        """A call that the graph has no node for."""
        name = ".".join(filter(None, [parent_of(place.call), op]))
        return self.call(Node(name, op, [], [], source=node.source), [place], **values)

    def moved(self, node, place, axes):
        """The value with axis i stored as axis axes[i]: a transpose, or a view if the axes longer
        than 1 keep their order."""
        wanted = Place(place.call, place.shape, tuple(axes))
        if wanted.stored != place.stored or wide_order(wanted) != wide_order(place):
            if wide_order(wanted) == wide_order(place):
                wanted.call = self.extra(node, place, "reshape", shape=wanted.stored)
            else:
                turn = [int(place.axes[axis]) for axis in np.argsort(axes)]
                wanted.call = self.extra(node, place, "transpose", axes=turn)
        return wanted

    def as_map(self, node, place):
        if len(place.shape) != 3:
            refuse(node, f"wanted a map [channels, height, width], found {place.shape}")
        return self.moved(node, place, MAP)

    def with_end(self, node, place, axis, last=True):
        """The value with the axis stored last, or first."""
        kept = [int(other) for other in np.argsort(place.axes) if other != axis]
        stored = [*kept, axis] if last else [axis, *kept]
        return self.moved(node, place, np.argsort(stored)) if place.order is None else place

    def in_order(self, node, place):
        """A vector with its elements in the graph's order."""
        if place.order is None:
            return place
        if place.origin is None:
            refuse(node, "the elements of joined flattened maps would have to change places")
        origin = Place(place.call, *place.origin)
        origin.call = self.extra(node, place, "reshape", shape=origin.stored)
        origin = self.moved(node, origin, range(len(origin.shape)))
        return Place(self.extra(node, origin, "flatten"), place.shape, (0,))

    def aligned(self, node, places):
        """Operands with one rank, axes and order."""
        rank = max(len(place.shape) for place in places)
        if rank == 1 and self.have_one_order(places):
            return list(places)
        places = [self.in_order(node, place) for place in places]
        first = next(place for place in places if len(place.shape) == rank)
        return [self.moved(node, self.widened(node, place, rank), first.axes) for place in places]

    @staticmethod
    def have_one_order(places):
        orders = [place.order for place in places if place.shape != [1]]
        return all(same_order(order, orders[0]) for order in orders)

    def widened(self, node, place, rank):
        """A value with axes of size 1 in front."""
        more = rank - len(place.shape)
        if more == 0:
            return place
        shape = [1] * more + list(place.shape)
        wide = Place(None, shape, (*range(more), *(axis + more for axis in place.axes)))
        wide.call = self.extra(node, place, "reshape", shape=wide.stored)
        return wide

    # ---- operators that do not look at the layout, and those of maps alone ----------------------

    def same_layout(self, node, *places):
        """An operator element by element, or one of a map that makes a map."""
        if node.op in MAP_OPERATORS:
            places = [self.as_map(node, place) for place in places]
        places = self.aligned(node, places)
        first = next((place for place in places if place.shape != [1]), places[0])
        return Place(self.call(node, places, **node.attrs), node.shape, first.axes, first.order,
                     first.origin)

    def lower_input(self, node):
        axes = self.map_axes if len(node.shape) == 3 else tuple(range(len(node.shape)))
        self.calls.append(Call(node, [], "input"))
        return Place(self.calls[-1], node.shape, axes)

    # ---- layers with parameters -----------------------------------------------------------------

    def lower_conv(self, node, place):
        place = self.as_map(node, place)
        weight = self.graph.arrays[node.params["weight"]]
        kernel = list(weight.shape[2:])
        values = {"channels": weight.shape[0], "kernel": kernel, "bias": "bias" in node.params,
                  **node.attrs}
        if values["padding"] != "same" and is_same(kernel, node.attrs):
            values["padding"] = "same"
        elif not any(values["padding"]):
            values["padding"] = "valid"
        call = self.call(node, [place], **values)
        self.give(call, "weight", lambda array: array.transpose(OIHW_TO_OHWI))
        self.give(call, "bias")
        return Place(call, node.shape, MAP)

    def lower_conv_transpose(self, node, place):
        place = self.as_map(node, place)
        weight = self.graph.arrays[node.params["weight"]]
        values = {"channels": node.shape[0], "kernel": list(weight.shape[2:]),
                  "bias": "bias" in node.params, **node.attrs}
        if not any(values["padding"]):
            values["padding"] = "valid"
        call = self.call(node, [place], **values)
        self.give(call, "weight", lambda array: array.transpose(OIHW_TO_OHWI))
        self.give(call, "bias")
        return Place(call, node.shape, MAP)

    def lower_dense(self, node, place):
        units, bias = node.shape[-1], "bias" in node.params
        if len(place.shape) == 1:
            call = self.call(node, [place], units=units, bias=bias)
            self.give(call, "weight", lambda array: reordered(array, place.order, 1))
            call.orders["weight"] = None, place.order
            result = Place(call, node.shape, place.axes)
        else:
            result = self.pointwise(node, place, units, bias)
            call = result.call if len(place.shape) == 3 else result.call.operands[0]
            self.give(call, "weight", lambda array: array[:, None, None, :])
        self.give(call, "bias")
        return result

    def pointwise(self, node, place, units, bias):
        """A dense layer along the last axis, as a convolution of one pixel."""
        place = self.with_end(node, place, len(place.shape) - 1)
        result = Place(place.call, node.shape, place.axes)
        *outer, rows, elements = place.stored
        if len(place.shape) != 3:
            result.call = self.extra(node, place, "reshape",
                                     shape=[int(np.prod(outer)), rows, elements])
        result.call = self.call(node, [result], "conv", channels=units, kernel=[1, 1], bias=bias)
        if len(place.shape) != 3:
            result.call = self.extra(node, result, "reshape", shape=result.stored)
        return result

    def lower_channel_scale(self, node, place):
        """A depthwise convolution of one pixel."""
        place = self.with_end(node, place, node.attrs["axis"])
        if len(place.shape) != 3:
            refuse(node, f"wanted a map, found {place.shape}")
        channels = place.shape[node.attrs["axis"]]
        call = self.call(node, [place], "conv", channels=channels, kernel=[1, 1], groups=channels,
                         bias="bias" in node.params)
        self.give(call, "weight", lambda array: array.reshape(channels, 1, 1, 1))
        self.give(call, "bias")
        return Place(call, node.shape, place.axes)

    def lower_batchnorm(self, node, place):
        return self.norm(node, place if len(place.shape) == 1 else self.as_map(node, place))

    def lower_layernorm(self, node, place):
        return self.norm(node, self.with_end(node, place, len(place.shape) - 1))

    def lower_groupnorm(self, node, place):
        return self.norm(node, self.as_map(node, place))

    def norm(self, node, place):
        call = self.call(node, [place], scale="weight" in node.params, bias="bias" in node.params,
                         **node.attrs)
        for role in ROLES:
            self.give(call, role, lambda array: reordered(array, place.order))
            call.orders[role] = place.order, None
        return Place(call, node.shape, place.axes, place.order, place.origin)

    def lower_prelu(self, node, place):
        place = self.with_end(node, place, 0)
        shared = self.graph.arrays[node.params["weight"]].size == 1
        call = self.call(node, [place], shared=shared)
        order = None if shared else place.order
        self.give(call, "weight", lambda array: reordered(array, order))
        call.orders["weight"] = order, None
        return Place(call, node.shape, place.axes, place.order, place.origin)

    # ---- views and shapes -----------------------------------------------------------------------

    def lower_permute(self, node, place):
        axes = tuple(place.axes[axis] for axis in node.attrs["axes"])
        return Place(place.call, node.shape, axes)

    def lower_transpose(self, node, place):
        return self.lower_permute(node, place)

    def lower_flatten(self, node, place):
        order = flat_order(place.shape, place.axes)
        origin = None if order is None else (place.shape, place.axes)
        return Place(self.call(node, [place]), node.shape, (0,), order, origin)

    def lower_reshape(self, node, place):
        if not node.shape and place.shape == [1]:
            return Place(place.call, [1], (0,))
        if [size for size in place.shape if size > 1] == [size for size in node.shape if size > 1]:
            return self.with_ones(node, self.in_order(node, place))
        if len(place.shape) == 1 and len(node.shape) == 3 and not self.graph.channels_last:
            order = flat_order(node.shape, MAP)
            if same_order(order, place.order) or self.reorder_rows(place.call, order):
                result = Place(None, node.shape, MAP)
                result.call = self.call(node, [place], shape=result.stored)
                return result
        place = self.moved(node, self.in_order(node, place), range(len(place.shape)))
        return Place(self.call(node, [place], shape=node.shape), node.shape,
                     tuple(range(len(node.shape))))

    def with_ones(self, node, place):
        """A value with other axes of size 1. It becomes a map if its storage allows that."""
        wide = [axis for axis, size in enumerate(node.shape) if size > 1]
        ones = [axis for axis, size in enumerate(node.shape) if size == 1]
        stored = [*ones, *(wide[at] for at in wide_order(place))]
        result = Place(None, node.shape, tuple(int(axis) for axis in np.argsort(stored)))
        as_map = Place(None, node.shape, self.map_axes)
        if len(node.shape) == 3 and wide_order(as_map) == wide_order(place):
            result = as_map
        result.call = self.call(node, [place], shape=result.stored)
        return result

    def reorder_rows(self, call, order):
        """A map is made of a vector. True if the layers that made it can change the order of their
        results, which they do."""
        calls = []
        while not calls or calls[-1].op != "dense":
            if self.uses[call.node.name] != 1 or call.op not in ELEMENTWISE:
                return False
            calls.append(call)
            call = call.operands[0]
        for changed in calls:
            for role in changed.params if not changed.values.get("shared") else ():
                changed.reorder(role, order)
                changed.orders[role] = order, changed.orders.get(role, (None, None))[1]
        return True

    @staticmethod
    def axis_word(node, place):
        return WORDS[len(place.shape)][place.axes[node.attrs["axis"]]]

    def lower_concat(self, node, *places):
        first, order = places[0], None
        if len(first.shape) == 1:
            order = joined_order([place.order for place in places],
                                 [place.shape[0] for place in places])
        else:
            places = [first, *(self.moved(node, place, first.axes) for place in places[1:])]
        joined, word = Place(None, node.shape, first.axes, order), self.axis_word(node, first)
        places = self.shared(places, node.attrs["axis"], joined)
        while len(places) > MOST_OPERANDS:
            places = [self.begun(node, places[at:at + MOST_OPERANDS], word)
                      for at in range(0, len(places), MOST_OPERANDS)]
        joined.call = self.call(node, places, axis=word)
        return joined

    def begun(self, node, places, word):
        """A part of a concatenation of too many operands. Only its call matters."""
        if len(places) == 1:
            return places[0]
        part = Node(f"{node.name}_part", "concat", [], [], source=node.source)
        return Place(self.call(part, places, axis=word), [], ())

    def shared(self, places, axis, joined):
        """The operands of concat. The longest beginning that was concatenated before is one."""
        calls = [id(place.call) for place in places]
        self.concats.setdefault((axis, *calls), joined)
        for count in range(len(places) - 1, 1, -1):
            begun = self.concats.get((axis, *calls[:count]))
            if begun is not None:
                return [begun, *places[count:]]
        return places

    def lower_slice(self, node, place):
        place = self.in_order(node, place)
        call = self.call(node, [place], start=node.attrs["start"], size=node.attrs["size"],
                         axis=self.axis_word(node, place))
        return Place(call, node.shape, place.axes)

    def lower_softmax(self, node, place):
        return self.along_channels(node, place)

    def lower_log_softmax(self, node, place):
        return self.along_channels(node, place)

    def lower_channel_shuffle(self, node, place):
        place = self.with_end(node, self.in_order(node, place), 0)
        return Place(self.call(node, [place], **node.attrs), node.shape, place.axes)

    def along_channels(self, node, place):
        place = self.with_end(node, place, node.attrs["axis"])
        return Place(self.call(node, [place]), node.shape, place.axes, place.order, place.origin)


MAP_OPERATORS = set("maxpool avgpool adaptive_avgpool global_avgpool global_maxpool upsample "
                    "normalize resize pad crop lrn pixel_shuffle pixel_unshuffle depth_to_space "
                    "space_to_depth".split())
# Operators that an order of a vector passes through, back to the layer that made the vector.
ELEMENTWISE = set("relu relu6 leaky_relu prelu elu selu gelu swish sigmoid tanh hard_sigmoid "
                  "hard_swish softplus mish exp log sqrt square abs reciprocal clamp shift scale "
                  "dense dropout stochastic_depth batchnorm".split())


def wide_order(place):
    """The axes longer than 1 in the order of their storage, numbered among themselves."""
    wide = [place.axes[axis] for axis, size in enumerate(place.shape) if size > 1]
    return [int(axis) for axis in np.argsort(wide)]


def is_same(kernel, attrs):
    """Padding that is `same` for maps of any size."""
    extents = [(size - 1) * step for size, step in zip(kernel, attrs["dilation"])]
    sides = [extents[0], extents[0], extents[1], extents[1]]
    strided = any(step > 1 and extent for step, extent in zip(attrs["stride"], extents))
    return not strided and all(2 * a == b for a, b in zip(attrs["padding"], sides))


# ---- statements ---------------------------------------------------------------------------------

class Statement:
    """A chain of calls of one module, of which at most one has parameters. That one names the
    variable, or else the last one."""

    def __init__(self, first):
        self.calls = [first]
        first.statement = self

    def takes(self, call):
        return parent_of(self.calls[0]) == parent_of(call) and \
            not (call.params and any(other.params for other in self.calls))

    def append(self, call):
        self.calls.append(call)
        call.statement = self

    def variable(self, taken):
        call = ([call for call in self.calls if call.params] or self.calls)[-1]
        return language.identifier(call.node.name, taken, call.op)

    def text(self, name_of):
        words = [first_call(self.calls[0], name_of)]
        words += [language.call(call.op, call.values) for call in self.calls[1:]]
        return " -> ".join(words)


def parent_of(call):
    return call.node.name.rpartition(".")[0]


def first_call(call, name_of):
    operands = [name_of[operand.statement] for operand in call.operands]
    if call.op in SIGNS and len(operands) == 2:
        return f" {SIGNS[call.op]} ".join(operands)
    if len(operands) == 1:
        return f"{operands[0]} -> {language.call(call.op, call.values)}"
    return language.call(call.op, call.values, operands)


def statements_of(lowering):
    """The statements in order, without those of the inputs."""
    users = Counter(id(operand) for call in lowering.calls for operand in call.operands)
    outputs = {id(place.call) for place in [*lowering.outputs, lowering.scores]}
    made = []
    for call in lowering.calls:
        last = call.operands[0] if len(call.operands) == 1 else None
        if last is not None and last.op != "input" and users[id(last)] == 1 and \
                id(last) not in outputs and last.statement.takes(call):
            last.statement.append(call)
        else:
            made.append(Statement(call))
    return made


# ---- weights that several calls have ------------------------------------------------------------

def array_names(call):
    return {role: call.node.params[role] for role in call.params}


def can_share(call, other, arrays):
    return call.op == other.op and array_names(call) == array_names(other) and \
        all(np.array_equal(*(each.places(role, arrays[name]) for each in (call, other)))
            for role, name in array_names(call).items())


def share_weights(lowering, name_of):
    """Calls of the same arrays in the same layouts share the weights of the first one. Otherwise a
    net without a loss has copies, since nothing changes them."""
    owners = {}             # by array
    for call in lowering.calls:
        names = array_names(call).values()
        first = next((owners[name] for name in names if name in owners), None)
        if first is None:
            owners.update(dict.fromkeys(names, call))
        elif can_share(first, call, lowering.graph.arrays):
            for each in (first, call):
                each.values["weights"] = name_of[first.statement]
        elif lowering.trains and not lowering.graph.copies:
            name = next(name for name in names if name in owners)
            refuse(call.node, f"{name} is a weight of {owners[name].node.name} too, in another "
                   "layout or with other weights; layers that share weights are alike")


# ---- the file -----------------------------------------------------------------------------------

# The metric of each loss, and the losses whose target is a label.
LOSSES = {"softmax_cross_entropy": "accuracy", "nll": "accuracy", "binary_cross_entropy": None,
          "focal": None, "mse": "mean_absolute_error", "mean_absolute_error": None,
          "smooth_l1": "mean_absolute_error"}
LABELLED = ("softmax_cross_entropy", "nll")
MOST_OPERANDS = 32      # of concat
TRAIN = """
train {{
    batch     = {batch}
    optimizer = {optimizer}
}}
"""


def target_of(graph, loss, shape):
    """The type of the input that a loss compares a value of this shape with."""
    if loss not in LABELLED:
        return dimensions_of(graph, shape)
    last = map_of_classes(shape if graph.channels_last else [*shape[1:], shape[0]])
    return f"class[{', '.join(map(str, last))}]"


def map_of_classes(shape):
    """Scores [..., classes] as those of a vector or a map: rows are a map of height 1."""
    if len(shape) == 2:
        return [1, *shape]
    return [shape[0] * shape[1], *shape[2:]] if len(shape) == 4 else list(shape)


def dimensions_of(graph, shape):
    """The type of an input. More than four axes have the first ones joined."""
    is_turned = len(shape) == 3 and not graph.channels_last
    stored = [*shape[1:], shape[0]] if is_turned else shape or [1]
    if len(stored) > len(WORDS):
        stored = [int(np.prod(stored[:-3])), *stored[-3:]]
    return f"f32[{', '.join(map(str, stored))}]"


@dataclass
class Written:
    text: str
    inputs: list            # variables, in the graph's order
    outputs: list
    weights: dict           # arrays by cnnc's names
    names: dict             # of cnnc by the other framework's
    copies: dict            # by cnnc's name of a copy, the framework's name of the array
    orders: dict            # by cnnc's name, the orders of its axes 0 and 1: the framework's
    axes: dict              # by input or output: axis i of the graph's value is stored as axes[i]
    trains: bool            # the net has a loss


def write(graph, loss=None, batch=32, optimizer="sgd(lr = 0.01, momentum = 0.9)", origin="",
          loss_arguments=None):
    """The net of a neutral graph, with a loss and the section train if one is named."""
    if loss is not None and loss not in LOSSES:
        raise ValueError(f"loss: wanted {', '.join(LOSSES)}, not {loss}")
    if graph.loss and loss is not None:
        raise ValueError(f"loss: the model has {graph.loss['op']}; wanted None, not {loss}")
    if graph.loss:
        loss = graph.loss["op"]
    lowering = Lowering(graph, loss)
    statements = statements_of(lowering)
    taken = set()
    name_of = {made: made.variable(taken) for made in statements}
    share_weights(lowering, name_of)
    words = graph.loss or {"label": "label" if loss in LABELLED else "target"}
    target = language.identifier(words["label"], taken)
    inputs, body = [], []
    for made in statements:
        if made.calls[0].op == "input":
            shape = made.calls[0].node.shape
            inputs.append(f"    input {name_of[made]} : {dimensions_of(graph, shape)}")
        else:
            line = f"    {name_of[made]} = {made.text(name_of)}"
            body.append(language.wrapped(line, "    "))
    outputs = [name_of[place.call.statement] for place in lowering.outputs]
    ends = [language.wrapped(f"    output {', '.join(outputs)}", "    ")]
    if loss is not None:
        shape = lowering.loss_node.shape
        inputs.append(f"    input {target} : {target_of(graph, loss, shape)}")
        scores = name_of[lowering.scores.call.statement]
        attrs = words.get("attrs", loss_arguments or {})
        ends.append(f"    loss   {language.call(loss, attrs, [scores, target])}")
        if LOSSES[loss] and not graph.loss:
            ends.append(f"    metric {LOSSES[loss]}({scores}, {target})")
    head = f"# {origin}\n" if origin else ""
    net = language.identifier(graph.name.lower(), set())
    parts = [f"{head}net {net} {{", *inputs, "", *body, "", *ends, "}", ""]
    text = "\n".join(parts)
    if loss is not None:
        text += TRAIN.format(batch=batch, optimizer=optimizer)
    given = [lowering.places[node.name] for node in graph.nodes if node.op == "input"]
    axes = {name_of[place.call.statement]: tuple(int(axis) for axis in place.axes)
            for place in [*given, *lowering.outputs]}
    return Written(text, list(axes)[:len(given)], outputs, *weights_of(lowering, name_of), axes,
                   lowering.trains)


def weights_of(lowering, name_of):
    weights, names, copies, orders = {}, {}, {}, {}
    for call in lowering.calls:
        layer = call.values.get("weights", name_of[call.statement])
        for role, array in call.params.items():
            name = f"{layer}.{role}"
            weights[name] = np.ascontiguousarray(array)
            if names.setdefault(call.node.params[role], name) != name:
                copies[name] = call.node.params[role]
            if any(order is not None for order in call.orders.get(role, ())):
                orders[name] = call.orders[role]
    names |= {other: names[name] for other, name in lowering.graph.tied.items()}
    return weights, names, copies, orders

