"""The dense layers of a net that read a flattened map, from the graph that the compiler prints.

PyTorch flattens [channels, height, width], and cnnc [height, width, channels]. So a layer that
reads a flattened map has its columns in another order. One whose result becomes a map has its rows
so.
"""
from .compiled_graph import CompiledGraph
from .errors import WeightError
from .layouts import flat_order, joined_order, same_order

MAP = (2, 0, 1)


def orders_of(net, mode):
    """By parameter, the order of its axis 0 and that of its axis 1."""
    graph = CompiledGraph(net, mode)
    makers = {at.result: at for at in graph.operators}
    found, orders, read = {}, {}, {}
    for at in graph.operators:
        check_shared(graph, at, orders, read)
        orders[at.result] = order_of(graph, at, orders, found)
        if at.op == "reshape" and len(graph.values[at.result].shape) == 4 and \
                len(graph.values[at.values[0]].shape) == 2:
            order = flat_order(map_shape(graph, at.result), MAP)
            if order is not None and orders.get(at.values[0]) is None:
                mark_rows(graph, makers, at.values[0], order, found)
    return found


def check_shared(graph, at, orders, read):
    """Layers that share weights must read values of one order. Launches of one layer do."""
    found = (orders.get(name) for name in at.values if not graph.values[name].is_weight)
    order = next((order for order in found if order is not None), None)
    for name in at.values:
        if graph.values[name].is_weight:
            other, before = read.setdefault(name, (at, order))
            if not same_order(before, order):
                raise WeightError(f"{name}: {other.result} and {at.result} share it, and one reads "
                                  "a flattened map, the other none or another; its weights can't "
                                  "be converted")


def map_shape(graph, name):
    _, height, width, channels = graph.values[name].shape
    return [channels, height, width]


def order_of(graph, at, orders, found):
    """The order of a node's result; marks the parameters that read vectors of another order."""
    values = [name for name in at.values if not graph.values[name].is_weight]
    given = [orders.get(value) for value in values]
    parameters = [name for name in at.values if graph.values[name].is_weight]
    if at.op == "flatten" and len(graph.values[values[0]].shape) == 4:
        return flat_order(map_shape(graph, values[0]), MAP)
    if all(order is None for order in given) or len(graph.values[at.result].shape) != 2:
        return None
    if at.op == "dense":
        found[parameters[0]] = (None, given[0])
        return None
    if at.op == "concat":
        return joined_order(given, [graph.values[value].shape[1] for value in values])
    if at.op == "slice":
        raise WeightError(f"{at.result}: a slice of a flattened map; its weights can't be "
                          "converted")
    for parameter in parameters:
        found[parameter] = (given[0], None)
    return given[0]


def mark_rows(graph, makers, name, order, found):
    """Marks the layers that make a vector which becomes a map."""
    while True:
        at = makers[name]
        for operand in at.values:
            if graph.values[operand].is_weight:
                found[operand] = (order, found.get(operand, (None, None))[1])
        if at.op == "dense":
            return
        name = at.values[0]
        if name not in makers:
            raise WeightError(f"{name}: a vector becomes a map; its order can't be converted")
