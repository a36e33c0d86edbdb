"""Weights between PyTorch or Keras and a net of cnnc, by the names of cnnc --emit names.

Tensors of the map `names` are matched as it says. The others are matched by layers: those with the
same roles and shapes, in order. That is refused where the orders of both differ and a layer could
be another of the same shapes.
"""
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from .compiler import parameters, text_of
from .errors import WeightError
from .flattened import orders_of
from .graph import unique_name
from .layouts import (HWIO_TO_OHWI, OHWI_TO_HWIO, OHWI_TO_OIHW, OIHW_TO_OHWI, inverse, reordered)

TORCH_ROLES = {"weight": "weight", "bias": "bias", "running_mean": "mean",
               "running_var": "variance"}
KERAS_ROLES = {"kernel": "weight", "depthwise_kernel": "weight", "pointwise_kernel": "weight",
               "embeddings": "weight", "bias": "bias", "gamma": "weight", "beta": "bias",
               "alpha": "weight", "moving_mean": "mean", "moving_variance": "variance"}
IGNORED = "num_batches_tracked"


@dataclass
class Form:
    """A tensor's layout: functions to cnnc's, and back to the framework's."""
    to: object
    back: object


@dataclass
class Tensor:
    name: str
    layer: str
    role: str               # None: unknown
    array: np.ndarray
    forms: list             # candidates
    others: list = field(default_factory=list)      # further names of the same tensor
    row: dict = None        # the parameter of cnnc
    form: Form = None


@dataclass
class Layer:
    name: str
    parts: dict = field(default_factory=dict)   # by role: tensors, or rows of cnnc


SAME = Form(lambda array: array, lambda array: array)
TORCH_MAP = Form(lambda array: array.transpose(OIHW_TO_OHWI),
                 lambda array: array.transpose(OHWI_TO_OIHW))
TURNED = Form(lambda array: array.T, lambda array: array.T)
KERAS_MAP = Form(lambda array: array.transpose(HWIO_TO_OHWI),
                 lambda array: array.transpose(OHWI_TO_HWIO))

KERAS_ROW = Form(lambda array: array.transpose(2, 0, 1), lambda array: array.transpose(1, 2, 0))


def keras_depthwise(shape):
    height, width, channels, times = shape
    return Form(lambda array: array.transpose(2, 3, 0, 1).reshape(-1, height, width, 1),
                lambda array: array.reshape(channels, times, height, width).transpose(2, 3, 0, 1))


def as_array(tensor):
    """A numpy array of a tensor of any framework; half precision becomes single."""
    if hasattr(tensor, "detach"):
        tensor = tensor.detach().cpu()
        tensor = tensor.float().numpy() if str(tensor.dtype) == "torch.bfloat16" else tensor.numpy()
    array = np.asarray(tensor)
    return array.astype(np.float32) if array.dtype == np.float16 else array


# ---- the tensors of a framework -----------------------------------------------------------------

def torch_tensors(state):
    """One tensor for all names of the same memory: of modules that share a parameter."""
    found = {}
    for name, tensor in state.items():
        if name.endswith(IGNORED):
            continue
        array = as_array(tensor)
        memory = array.__array_interface__["data"][0], array.shape, array.strides
        if memory in found:
            found[memory].others.append(name)
            continue
        layer, _, word = name.rpartition(".")
        found[memory] = Tensor(name, layer, TORCH_ROLES.get(word), array,
                               [TORCH_MAP if array.ndim == 4 else SAME])
    return list(found.values())


def keras_tensors(source):
    known = set()
    for (name, *others), tensor in keras_pairs(source):
        layer, _, word = name.rpartition("/")
        array = as_array(tensor)
        if word == "depthwise_kernel":
            layer += "/depthwise"
        if name in known:
            raise WeightError(f"two tensors have the name {name}; give the model, or names that "
                              "differ")
        known.add(name)
        yield Tensor(name, layer, KERAS_ROLES.get(word), array, keras_forms(array, word), others)


def keras_row_depthwise(shape):
    steps, channels, times = shape
    return Form(lambda array: array.transpose(1, 2, 0).reshape(-1, steps, 1),
                lambda array: array.reshape(channels, times, steps).transpose(2, 0, 1))


def keras_forms(array, word):
    if KERAS_ROLES.get(word) and not word.endswith(("kernel", "embeddings")):
        return [SAME]
    if array.ndim == 3:
        rows = [keras_row_depthwise(array.shape)]
        return rows if word == "depthwise_kernel" else [KERAS_ROW, *rows * (word == "kernel")]
    if array.ndim == 4 and word == "depthwise_kernel":
        return [keras_depthwise(array.shape)]
    if array.ndim == 4:
        return [KERAS_MAP] + [keras_depthwise(array.shape)] * (word == "kernel")
    return [TURNED] if array.ndim == 2 else [SAME]


def keras_pairs(source):
    """(names, array) of a model, a mapping, a list of pairs, or an .h5 file of Keras 2."""
    if hasattr(source, "weights"):
        names = keras_names(source)
        return [(names[id(weight)], weight) for weight in source.weights]
    if isinstance(source, str) or hasattr(source, "__fspath__"):
        pairs = h5_pairs(source)
    else:
        pairs = list(source.items()) if hasattr(source, "items") else list(source)
    return [([name.removesuffix(":0")], tensor) for name, tensor in pairs]


def keras_path(variable):
    return (getattr(variable, "path", None) or variable.name).partition(":")[0]


def keras_names(model):
    """By id of each variable of a model, its names. The first one is the path of its layer in the
    model and its own name. The second one is Keras's path, unless it is the same or not unique: it
    may be that of two variables, and a model that was saved may have others."""
    first, paths, taken = {}, {}, set()

    def visit(layers, prefix):
        for layer in layers:
            visit(getattr(layer, "layers", None) or [], f"{prefix}{layer.name}.")
            take(layer.weights, f"{prefix}{layer.name}/")

    def take(variables, prefix):
        for variable in variables:
            if id(variable) not in first:
                paths[id(variable)] = path = keras_path(variable)
                word = path.rpartition("/")[2] if prefix else path
                first[id(variable)] = unique_name(taken, prefix + word)

    visit(model.layers if hasattr(model, "layers") else [], "")
    take(model.weights, "")
    uses = Counter([*first.values(), *paths.values()])
    return {key: [name, *[paths[key]] * (uses[paths[key]] == 1)] for key, name in first.items()}


def h5_pairs(path):
    import h5py
    with h5py.File(path) as file:
        file = file.get("model_weights", file)
        if "layer_names" not in file.attrs:
            raise WeightError(f"{path}: no names of layers and weights; give the model, or pairs "
                              "of a name and an array")
        return [(text(name), np.array(file[text(layer)][text(name)]))
                for layer in file.attrs["layer_names"]
                for name in file[text(layer)].attrs["weight_names"]]


def text(word):
    return word.decode() if isinstance(word, bytes) else str(word)


# ---- which tensor is which parameter ------------------------------------------------------------

def match(tensors, rows, names, copies):
    """Sets row and form of each tensor. Copies of tensors are further ones."""
    by_name = {row["name"]: row for row in rows}
    left, taken = dict(by_name), {}
    for tensor in tensors:
        for name in (tensor.name, *tensor.others):
            if name in names and tensor.row is None:
                match_named(tensor, names[name], by_name, left, taken)
    for ours, name in copies.items():
        for tensor in tensors:
            if name in (tensor.name, *tensor.others):
                copy = replace(tensor, row=None, form=None)
                match_named(copy, ours, by_name, left, taken)
                tensors.append(copy)
                break
    unknown = sorted(set(names) - all_names(tensors))
    if unknown:
        raise WeightError(f"names: there is no tensor {', '.join(unknown)}")
    match_layers([tensor for tensor in tensors if tensor.row is None], list(left.values()))


def all_names(tensors):
    return {name for tensor in tensors for name in (tensor.name, *tensor.others)}


def match_named(tensor, name, by_name, left, taken):
    if name not in by_name:
        raise WeightError(f"names: {tensor.name}: the net has no parameter {name}")
    if not np.array_equal(taken.setdefault(name, tensor.array), tensor.array):
        raise WeightError(f"names: {name} is named twice")
    left.pop(name, None)
    row = by_name[name]
    shape = tuple(row["shape"])
    forms = list(filter(None, (fitted(form, tensor.array, shape) for form in tensor.forms)))
    if not forms:
        raise WeightError(f"{tensor.name} {list(tensor.array.shape)} does not fit {name} "
                          f"{list(shape)}")
    tensor.row, tensor.form = row, forms[0]


def fitted(form, array, shape):
    """The form, with other axes of size 1, or as a vector of all elements. None: it does not
    fit."""
    made = form.to(array)
    if made.shape == shape:
        return form
    theirs = made.shape
    if [n for n in shape if n > 1] != [n for n in theirs if n > 1] and \
            (len(shape) != 1 or made.size != shape[0]):
        return None
    return Form(lambda array: form.to(array).reshape(shape),
                lambda array: form.back(array.reshape(theirs)))


def layers_of(items, key):
    layers = {}
    for item in items:
        name, role = key(item)
        layers.setdefault(name, Layer(name)).parts[role] = item
    return list(layers.values())


def match_layers(tensors, rows):
    unknown = [tensor.name for tensor in tensors if tensor.role is None]
    if unknown:
        raise WeightError(f"tensors of no known role; name their parameters: {', '.join(unknown)}")
    theirs = layers_of(tensors, lambda tensor: (tensor.layer, tensor.role))
    ours = layers_of(rows, lambda row: (row["name"].rpartition(".")[0], row["role"]))
    places = defaultdict(list)
    for at, layer in enumerate(ours):
        places[frozenset((role, tuple(row["shape"]))
                         for role, row in layer.parts.items())].append(at)
    signatures = [choose_forms(layer, places) for layer in theirs]
    for signature in {*places, *signatures}:
        check_counts(signature, [layer for layer, own in zip(theirs, signatures)
                                 if own == signature], [ours[at] for at in places[signature]])
    taken = {signature: iter(at) for signature, at in places.items()}
    order = [next(taken[signature]) for signature in signatures]
    check_order(order, theirs, ours, signatures)
    for layer, at in zip(theirs, order):
        for role, tensor in layer.parts.items():
            tensor.row = ours[at].parts[role]


def choose_forms(layer, places):
    """Chooses the forms of the layer's tensors with which it is one of the net's."""
    parts = list(layer.parts.items())
    fits = {}
    for forms in product(*(tensor.forms for _, tensor in parts)):
        shapes = frozenset((role, form.to(tensor.array).shape)
                           for (role, tensor), form in zip(parts, forms))
        fits.setdefault(shapes, forms)
    known = [shapes for shapes in fits if shapes in places] or list(fits)[:1]
    if len(known) > 1:
        raise WeightError(f"{layer.name}: is depthwise or not; name its parameters")
    for (_, tensor), form in zip(parts, fits[known[0]]):
        tensor.form = form
    return known[0]


def described(layers):
    return ", ".join(layer.name for layer in layers) or "none"


def check_counts(signature, theirs, ours):
    if len(theirs) != len(ours):
        shapes = ", ".join(f"{role} {list(shape)}" for role, shape in sorted(signature))
        raise WeightError(f"layers with {shapes}: {len(theirs)} in the file: {described(theirs)}; "
                          f"{len(ours)} in the net: {described(ours)}")


def check_order(order, theirs, ours, signatures):
    """Layers out of order must be the only ones of their shapes."""
    start, last = 0, -1
    for at, place in enumerate(order):
        last = max(last, place)
        if last > at:
            continue
        for i in range(start, at + 1) if at > start else ():
            alike = [j for j, signature in enumerate(signatures) if signature == signatures[i]]
            if len(alike) > 1:
                raise WeightError(
                    "the order of layers is another, and these have the same shapes; name their "
                    f"parameters: {described(theirs[j] for j in alike)}; "
                    f"in the net: {described(ours[order[j]] for j in alike)}")
        start = at + 1


# ---- conversions --------------------------------------------------------------------------------

def rows_of(net):
    """The net's parameters, and its mode: a net without a section train is for inference."""
    path, program = text_of(net)
    if program is None:
        with open(path, encoding="utf-8") as file:
            program = file.read()
    mode = "train" if re.search(r"^\s*train\b", program, re.MULTILINE) else "infer"
    return parameters(net, mode=mode), mode


def names_for(net, names, tensors):
    """The names of a converted module and the given ones. A file has at least
    one of the names of a parameter, and the others may be missing."""
    converted, known = getattr(net, "names", {}), all_names(tensors)
    reached = {ours for name, ours in converted.items() if name in known}
    return {**{name: ours for name, ours in converted.items()
               if name in known or ours not in reached}, **(names or {})}


def matched(tensors, net, names):
    """The tensors with their parameters, and the net's mode."""
    tensors = list(tensors)
    rows, mode = rows_of(net)
    match(tensors, rows, names_for(net, names, tensors), getattr(net, "copies", {}))
    return tensors, mode


def load(weights):
    """Arrays by cnnc's names, of a mapping or a file of safetensors."""
    if hasattr(weights, "items"):
        return dict(weights)
    from safetensors.numpy import load_file
    return load_file(weights)


def of_net(graph, weights):
    """The arrays of a net's weights, by name in its order. `weights` is a mapping. Raises
    WeightError if one is missing, has another shape or no floats, or is not the net's."""
    given = {} if weights is None else dict(weights)
    arrays = {}
    for value in graph.weights:
        if value.name not in given:
            raise WeightError(f"weights: wanted {value.name} {list(value.shape)}, found no such "
                              "tensor")
        arrays[value.name] = np.asarray(given[value.name])
        found = arrays[value.name]
        if found.dtype.kind != "f":
            raise WeightError(f"weights: {value.name}: wanted floats, found {found.dtype}")
        if found.shape != value.shape:
            raise WeightError(f"weights: {value.name}: wanted {list(value.shape)}, found "
                              f"{list(found.shape)}")
    foreign = sorted(name for name in given if name not in arrays and not name.endswith(IGNORED))
    if foreign:
        raise WeightError(f"weights: the net has no {', '.join(foreign)}")
    return arrays


def to_cnnc(tensors, orders):
    arrays = {}
    for tensor in tensors:
        rows, columns = orders.get(tensor.row["name"], (None, None))
        array = reordered(tensor.form.to(tensor.array), rows)
        arrays[tensor.row["name"]] = np.ascontiguousarray(reordered(array, columns, 1))
    return arrays


def from_cnnc(weights, tensors, orders):
    arrays = {}
    for tensor in tensors:
        name = tensor.row["name"]
        rows, columns = orders.get(name, (None, None))
        array = reordered(as_array(weights[name]), inverse(rows))
        array = tensor.form.back(reordered(array, inverse(columns), 1))
        for each in (tensor.name, *tensor.others):
            arrays[each] = np.ascontiguousarray(array)
    return arrays


def from_torch(state_dict, net, names=None):
    """A state_dict as arrays by the names of a net: a .cnn file, its text, or a converted module.

    `names` maps tensors of PyTorch to parameters of cnnc where their order does not tell."""
    tensors, mode = matched(torch_tensors(state_dict), net, names)
    return to_cnnc(tensors, orders_of(net, mode))


def to_torch(weights, net, like=None, names=None):
    """Weights of cnnc, arrays or a file, as a state_dict of numpy arrays. It has the names and the
    shapes of `like`, the module's state_dict. A converted module needs none."""
    if like is None:
        arrays = net.graph.arrays
        like = {**arrays, **{other: arrays[name] for other, name in net.graph.tied.items()}}
    tensors, mode = matched(torch_tensors(like), net, names)
    arrays = from_cnnc(load(weights), tensors, orders_of(net, mode))
    return {name: arrays[name] if name in arrays else as_array(like[name]) for name in like}


def from_keras(source, net, names=None):
    """Weights of Keras as arrays by the names of a net: of a model, of pairs of a name and an array
    such as ("conv2d/kernel", array), or of an .h5 file that names them."""
    tensors, _ = matched(keras_tensors(source), net, names)
    return to_cnnc(tensors, getattr(net, "orders", {}))


def to_keras(weights, net, like, names=None):
    """Weights of cnnc as a list of arrays in the order of `like`, for model.set_weights."""
    tensors, _ = matched(keras_tensors(like), net, names)
    arrays = from_cnnc(load(weights), tensors, getattr(net, "orders", {}))
    return [arrays[name] for name in dict.fromkeys(tensor.name for tensor in tensors)]
