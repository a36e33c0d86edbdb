"""A model of Keras as a neutral graph, by the configs of its layers.

A model has get_config() and layers; a layer has a name, weights and get_weights():
neither TensorFlow nor Keras is imported. Keras 3 and 2 differ in their configs; both are read.
"""
import inspect
from pathlib import Path

import numpy as np

from .building import Constant, Value
from .errors import Unsupported
from .keras_layers import OPERATIONS, Layers, Operations
from .weights import keras_names, keras_path

COMMON = ("name", "trainable", "dtype", "batch_shape", "batch_input_shape", "autocast")
# Ends of keys that act on a loss, or on weights after a step.
TRAINING = ("_regularizer", "_constraint")
# Losses of cnnc that read the operand of an activation.
BEFORE = {"softmax_cross_entropy": "softmax", "binary_cross_entropy": "sigmoid",
          "focal": "sigmoid"}
DRAWS = ("Dropout", "StochasticDepth")


def graph_of(model, shapes=None, loss=None):
    """The neutral graph of a model, or of the file of one."""
    if isinstance(model, (str, Path)):
        model = loaded(model)
    return Builder(model, shapes or {}, loss).graph


def loaded(path):
    if not Path(path).is_file():
        raise FileNotFoundError(f"{path}: there is no such file")
    try:
        from keras.saving import load_model
    except ImportError as error:
        raise Unsupported(path, "wanted the package keras, which reads this file") from error
    try:
        return load_model(path, compile=False)
    except Exception as error:      # noqa: BLE001    keras raises all kinds
        raise Unsupported(path, f"keras can't load it: {str(error).strip()}") from error


class Call:
    """A use of a layer: its operands, which refer to values by key, and its keyword arguments."""

    def __init__(self, args, kwargs):
        self.args, self.kwargs = args, kwargs


class Reference:
    """A value of the model: the layer, the number of its use, and that of its result."""

    def __init__(self, key, shape):
        self.key, self.shape = tuple(key), shape


def decoded(item):
    """An argument of a call in a config of Keras 3."""
    if isinstance(item, dict):
        kind, config = item.get("class_name"), item.get("config")
        if kind == "__keras_tensor__":
            return Reference(config["keras_history"], config["shape"])
        if kind == "__slice__":
            return slice(config["start"], config["stop"], config["step"])
        return {key: decoded(value) for key, value in item.items()}
    return [decoded(part) for part in item] if isinstance(item, (list, tuple)) else item


def calls_of(record, bases):
    """The uses of a layer. Keras 2 has lists of [layer, use, result, arguments], and counts uses
    of models from `bases`."""
    for node in record.get("inbound_nodes") or []:
        if isinstance(node, dict):
            yield Call(decoded(node["args"]), decoded(node["kwargs"]))
        else:
            node = [node] if isinstance(node[0], str) else node
            operands = [Reference((name, use - bases.get(name, 0), at), None)
                        for name, use, at, *_ in node]
            yield Call([operands] if len(operands) > 1 else operands,
                       node[0][3] if len(node[0]) > 3 else {})


def flat(items):
    for item in items.values() if isinstance(items, dict) else items:
        if isinstance(item, (list, tuple, dict)):
            yield from flat(item)
        else:
            yield item


def keys_of(tensors):
    """The keys of a model's inputs or outputs."""
    if isinstance(tensors, dict):
        tensors = list(tensors.values())
    return [tuple(tensors)] if isinstance(tensors[0], str) else \
        [key for part in tensors for key in keys_of(part)]


def is_old(config):
    """True for a config of Keras 2."""
    return any("batch_input_shape" in record["config"] or
               "layers" in record["config"] and is_old(record["config"])
               for record in config["layers"])


class Builder(Operations):
    """Builds the neutral graph of a model."""

    def __init__(self, model, shapes, loss):
        config = config_of(model)
        self.begin(config["name"])
        self.shapes, self.trains, self.mode = shapes, loss is not None, None
        self.is_old, self.graph.channels_last = is_old(config), not is_channels_first(config)
        self.variables = keras_names(model)
        results = self.model(config, layers_by_name(model), None, "", True)
        self.source = "the model's result"
        self.graph.outputs = [self.output(value).node.name for value in results]
        self.set_scores(results[0], loss)
        unknown = sorted(set(shapes) - {node.name for node in self.graph.nodes
                                        if node.op == "input"})
        if unknown:
            raise Unsupported(self.graph.name, f"shapes: there is no input {unknown[0]}")
        self.drop_unread()
        self.graph.tied = {other: name for name, *others in self.variables.values()
                           for other in others if name in self.graph.arrays}

    def output(self, value):
        """A value as a node that is no input."""
        if value.node.op == "input":
            self.refuse("wanted a value that the model computes")
        return value

    def set_scores(self, value, loss):
        """cnnc's losses of probabilities read the operand of their softmax or sigmoid."""
        if BEFORE.get(loss) == value.node.op and value.node.attrs.get(
                "axis", len(value.shape) - 1) == len(value.shape) - 1:
            self.graph.scores = value.operands[0].node.name

    # ---- models ---------------------------------------------------------------------------------

    def model(self, config, layers, given, prefix, is_trained):
        """The results of a model. `given` has the values of its inputs if another model calls
        it."""
        is_trained = is_trained and config.get("trainable", True)
        if "input_layers" not in config:
            return [self.chain(config, layers, given, prefix, is_trained)]
        values, left = {}, []
        if given is not None:
            keys = keys_of(config["input_layers"])
            if len(keys) != len(given):
                self.refuse(f"{len(given)} inputs; wanted {len(keys)}")
            values.update(zip(keys, given))
        bases = {name_of(record): self.first_use(record["config"]) for record in config["layers"]}
        for record in config["layers"]:
            name = name_of(record)
            if record["class_name"] == "InputLayer":
                if (name, 0, 0) not in values:
                    values[name, 0, 0] = self.input(record["config"], prefix)
            else:
                left += [(record, name, use, call)
                         for use, call in enumerate(calls_of(record, bases))]
        while left:
            later = []
            for record, name, use, call in left:
                references = [item for item in flat([call.args, call.kwargs])
                              if isinstance(item, Reference)]
                if all(item.key in values for item in references):
                    self.place(record, prefix)
                    results = self.use(record, layers.get(name), call, values, is_trained)
                    values.update({(name, use, at): made for at, made in enumerate(results)})
                else:
                    later.append((record, name, use, call))
            if len(later) == len(left):
                raise Unsupported(prefix + left[0][1], "reads a value that no layer makes")
            left = later
        return [values[name, use - bases[name], at]
                for name, use, at in keys_of(config["output_layers"])]

    def first_use(self, config):
        """The number of a layer's first use in lists of outputs, and in Keras 2 everywhere. A model
        with inputs has its own results as use 0."""
        if "input_layers" in config:
            return 1
        layers = config.get("layers") if self.is_old else None
        return int(bool(layers) and layers[0]["class_name"] == "InputLayer")

    def chain(self, config, layers, given, prefix, is_trained):
        """The result of a Sequential model."""
        records = list(config["layers"])
        if given is not None:
            x, = given
        first = records[0] if records else {"class_name": None}
        if first["class_name"] == "InputLayer":
            x = self.input(records.pop(0)["config"], prefix) if given is None else x
            records = [record for record in records if record["class_name"] != "InputLayer"]
        elif given is None:
            shape = config.get("build_input_shape") or \
                first.get("config", {}).get("batch_input_shape")
            if shape is None:
                raise Unsupported(config["name"], "it has no input shape; build it, or begin with "
                                  "an Input")
            x = self.input({"name": "x", "batch_shape": shape}, prefix)
        for record in records:
            self.place(record, prefix)
            x, = self.use(record, layers.get(name_of(record)), Call([x], {}), {}, is_trained)
        return x

    def input(self, config, prefix):
        name = prefix + config["name"]
        self.path, self.source = name, f"{name}: InputLayer"
        shape = list(config.get("batch_shape") or config["batch_input_shape"])[1:]
        if config.get("sparse") or config.get("ragged"):
            self.refuse("a sparse or ragged tensor")
        own = self.shapes.get(name)
        if own is not None:
            if len(own) != len(shape) or any(a not in (None, b) for a, b in zip(shape, own)):
                self.refuse(f"shapes gives {list(own)}; wanted {shape}")
            shape = list(own)
        if None in shape:
            self.refuse(f"axis {shape.index(None) + 1} has no size; give it, as in "
                        f'shapes={{"{name}": [224, 224, 3]}}')
        return self.node("input", [], {}, shape, path=name)

    # ---- layers ---------------------------------------------------------------------------------

    def place(self, record, prefix):
        self.path = prefix + name_of(record)
        self.source = f"{self.path}: {record['class_name']}"

    def use(self, record, layer, call, values, is_trained):
        """The results of a use of a layer."""
        args = [self.resolved(item, values) for item in call.args]
        kwargs = {key: self.resolved(item, values) for key, item in call.kwargs.items()}
        mode = kwargs.pop("training", None)
        if mode is False and record["class_name"] in DRAWS:
            mode = None         # the default of their call, and no wish of the user
        if kwargs.pop("mask", None) is not None:
            self.refuse("is called with a mask")
        outer = self.mode
        self.mode = outer if mode is None else mode
        try:
            if "layers" in record["config"]:
                return self.inner(record["config"], layer, args, kwargs, is_trained)
            made = self.convert(record, layer, args, kwargs, is_trained)
        finally:
            self.mode = outer
        return [made]

    def inner(self, config, layer, args, kwargs, is_trained):
        if kwargs:
            self.refuse(f"is called with {sorted(kwargs)}")
        given = list(flat(args))
        return self.model(config, layers_by_name(layer), given, self.path + ".", is_trained)

    def resolved(self, item, values):
        if isinstance(item, Reference):
            value = values[item.key]
            known = list(item.shape or [None, *value.shape])[1:]
            if len(known) != len(value.shape) or any(
                    a not in (None, b) for a, b in zip(known, value.shape)):
                self.refuse(f"reads {known}, and the converter made {value.shape}")
            return value
        if isinstance(item, (list, tuple)):
            return [self.resolved(part, values) for part in item]
        return item

    def convert(self, record, layer, args, kwargs, is_trained):
        config = {key: value for key, value in record["config"].items() if key not in COMMON}
        self.is_trained = is_trained and record["config"].get("trainable", True)
        self.check_training(config)
        policy = record["config"].get("dtype")
        if isinstance(policy, dict):
            policy = (policy.get("config") or {}).get("name", "")
        if "int" in str(policy) or "float8" in str(policy):
            self.refuse(f"weights of {policy}; wanted floats")
        config = {key: value for key, value in config.items()
                  if not key.endswith(("_initializer", "_regularizer", "_constraint"))}
        self.weights = self.weights_of(layer)
        handler = self.handler(record)
        if not is_operation(record) and len(args) == 1 and isinstance(args[0], list):
            args = args[0]
        if not all(isinstance(item, Value) for item in args) and not is_operation(record):
            self.refuse("an operand is not a value of the model")
        try:
            inspect.signature(handler).bind(*args, **kwargs, **config)
        except TypeError as error:
            self.refuse(f"{error}: the converter does not know such a layer")
        made = handler(*args, **kwargs, **config)
        if self.weights:
            self.refuse(f"the converter does not know its weights {', '.join(self.weights)}")
        return made

    def check_training(self, config):
        """Regularizers and constraints of a trained layer have no counterpart."""
        for key, value in config.items():
            if value is not None and key.endswith(TRAINING) and self.trains and \
                    (self.is_trained or key == "activity_regularizer"):
                self.refuse(f"{key}: cnnc has weight_decay of the optimizer alone")

    def handler(self, record):
        name = record["class_name"]
        if is_operation(record):
            if name in OPERATIONS:
                return lambda x: self.node(OPERATIONS[name], [x])
            handler = getattr(self, "op_" + name, None)
        else:
            if not is_own(record):
                self.refuse(f"a class of {record.get('module') or 'yours'}, not of Keras")
            is_layer = name[:1].isupper() and hasattr(Layers, name)
            handler = getattr(self, name) if is_layer else None
        if handler is None:
            self.refuse("there is no such layer in cnnc")
        return handler

    # ---- for Layers -----------------------------------------------------------------------------

    def weights_of(self, layer):
        """The weights of a layer by their own names."""
        if layer is None or not layer.weights:
            return {}
        found = {}
        for variable, array in zip(layer.weights, layer.get_weights()):
            word = keras_path(variable).rpartition("/")[2]
            is_trained = self.is_trained and getattr(variable, "trainable", True)
            found[word] = Constant(as_floats(array), self.variables[id(variable)][0], is_trained)
        return found

    def weight(self, name):
        """Takes a weight of the layer, or None."""
        return self.weights.pop(name, None)

    def want_no_mode(self, what):
        """Refuses a call with an argument `training` that matters. Versions of Keras differ in
        what False means for a layer that trains."""
        if self.mode is True:
            self.refuse(f"is called with training=True, so {what} are those of training in "
                        "inference; wanted None or False")
        if self.mode is False and self.trains:
            self.refuse(f"is called with training=False, and Keras 2 and 3 differ in {what} in "
                        "training; set trainable = False, or leave the argument out")

    def path_for(self, op, weight):
        """The layer's path, and for a second node the operator with it."""
        if op in ("permute", "flatten", "reshape") or self.path in self.names:
            return f"{self.path}_{op}"
        return self.path


def as_floats(array):
    """Numbers of half precision become single."""
    array = np.asarray(array)
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float32)


def config_of(model):
    try:
        config = model.get_config()
    except (AttributeError, NotImplementedError):
        config = {}
    if not isinstance(config, dict) or "layers" not in config:
        raise Unsupported(type(model).__name__, "wanted a Sequential or a functional model of "
                          "Keras; a subclass has no graph of layers")
    return config


def layers_by_name(model):
    return {layer.name: layer for layer in getattr(model, "layers", [])}


def name_of(record):
    return record.get("name") or record["config"]["name"]


def is_operation(record):
    """True for an operation of keras.ops, which is no layer."""
    return ".ops" in (record.get("module") or "")


def is_own(record):
    """True for a class of Keras itself. Keras 2 leaves the module out."""
    if record.get("module") is None and ">" in (record.get("registered_name") or ""):
        return False
    module = record.get("module") or "keras"
    return module.partition(".")[0] in ("keras", "tf_keras", "tensorflow")


def is_channels_first(config):
    return any(record["config"].get("data_format") == "channels_first" or
               "layers" in record["config"] and is_channels_first(record["config"])
               for record in config["layers"])
