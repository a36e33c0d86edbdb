"""from_torch and its like: a model as a net and its weights. to_onnx: a net as a model."""
import os
from pathlib import Path

from .compiler import parameters
from .errors import CompileError, Unsupported
from .writer import write


class Net:
    """A program, .text, and arrays by the names of its parameters, .weights."""

    def check_parameters(self, trains):
        """The compiler takes the text, and makes parameters of the weights' shapes of it. Raises
        CompileError."""
        rows = parameters(self, mode="infer")
        if trains:
            parameters(self, mode="train")
        found = {row["name"]: tuple(row["shape"]) for row in rows}
        given = {name: array.shape for name, array in self.weights.items()}
        if found != given:
            raise AssertionError(f"the net's parameters are not the weights': "
                                 f"{sorted(set(found.items()) ^ set(given.items()))}")

    def save(self, path):
        """Writes PATH.cnn and PATH.safetensors, or into a folder the net's NAME.cnn and
        NAME.safetensors. Returns both paths."""
        path = Path(path)
        if path.is_dir():
            path /= self.text.partition("net ")[2].partition(" ")[0]
        elif path.suffix == ".cnn":
            path = path.with_suffix("")
        return self.save_as(*(path.with_name(path.name + end) for end in (".cnn", ".safetensors")))

    def save_as(self, program, weights):
        """Writes both files. Returns their paths."""
        from safetensors.numpy import save_file
        replace(program, lambda name: Path(name).write_text(self.text, encoding="utf-8"))
        replace(weights, lambda name: save_file(self.weights, name))
        return program, weights


class Converted(Net):
    """A net that another framework's became.

    text      the program, a .cnn file
    inputs    the variables that are its inputs, without that of a loss
    outputs   the variables that are its outputs
    weights   arrays by cnnc's names
    names     by the framework's name of a parameter, cnnc's
    copies    by cnnc's name of a parameter that is a copy, the framework's; only without a loss
    orders    by cnnc's name of a parameter whose elements change places, the orders of its axis 0
              and its axis 1: element i is the framework's order[i]; None: in place
    axes      by input and output: axis i of the framework's sample is stored as axis axes[i]"""

    def __init__(self, graph, **options):
        written = write(graph, **options)
        self.graph, self.text = graph, written.text
        self.inputs, self.outputs = written.inputs, written.outputs
        self.weights, self.names, self.axes = written.weights, written.names, written.axes
        self.orders, self.copies, self.trains = written.orders, written.copies, written.trains
        self.check()

    def check(self):
        try:
            self.check_parameters(self.trains)
        except CompileError as error:
            raise Unsupported(self.graph.name, f"cnnc refuses the net:\n{error}") from error


def replace(path, write_to):
    """Writes a file whole, or leaves the old one."""
    name = f"{path}.{os.getpid()}.tmp"
    try:
        write_to(name)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def from_torch(module, example_input, loss=None, **options):
    """Converts a torch.nn.Module for inputs of the example's shape.

    The batch is the example's first axis and no part of the net. With a loss the net has the input
    that the loss compares with, and a section train; `batch` and `optimizer` are its settings. A
    loss is a module as torch.nn.HuberLoss(), or an operator: softmax_cross_entropy, nll,
    binary_cross_entropy, focal, mse, mean_absolute_error, smooth_l1. Raises Unsupported."""
    from .torch_graph import graph_of
    if loss is not None and not isinstance(loss, str):
        from .torch_losses import call_of
        loss, options["loss_arguments"] = call_of(loss)
    origin = f"{type(module).__name__}, converted from PyTorch by cnnc.from_torch."
    return Converted(graph_of(module, example_input), loss=loss, origin=origin, **options)


def from_onnx(model, loss=None, shapes=None, batch=True, outputs=None, **options):
    """Converts a model of ONNX: a path, or an onnx.ModelProto.

    `shapes` has the shape of each input that the model leaves open, by name. The batch is the first
    axis of each input; with batch=False an input is one sample. `outputs` names the results to keep
    in place of all. For loss and the settings see from_torch. Raises Unsupported."""
    from .onnx_graph import graph_of
    origin = "Converted from ONNX by cnnc.from_onnx."
    return Converted(graph_of(model, shapes, batch, outputs), loss=loss, origin=origin, **options)


def from_darknet(cfg, weights, loss=None, epsilon=1e-5, **options):
    """Converts a network of darknet: paths of its .cfg and .weights files.

    The inputs of [yolo], [region] and other sections that end a backbone are the outputs, or else
    the last layer's result. `epsilon` is that of the norms, which the files do not have. For loss
    and the settings see from_torch. Raises Unsupported, and WeightError if the file has another
    number of weights."""
    from .darknet_graph import graph_of
    origin = "Converted from darknet by cnnc.from_darknet."
    graph = graph_of(cfg, weights, epsilon, loss is not None)
    return Converted(graph, loss=loss, origin=origin, **options)


def from_keras(model, loss=None, shapes=None, **options):
    """Converts a keras.Model, Sequential or functional: a model, or a file that keras can load.

    `shapes` has the shape of each input that the model leaves open, by name and without the batch.
    With softmax_cross_entropy or binary_cross_entropy the loss reads what is before the model's
    last softmax or sigmoid. For loss and the settings see from_torch. Raises Unsupported."""
    from .keras_graph import graph_of
    origin = "Converted from Keras by cnnc.from_keras."
    return Converted(graph_of(model, shapes, loss), loss=loss, origin=origin, **options)


def to_onnx(net, weights=None, path=None, layout="nchw", batch=None, opset=None, precision="f32",
            external_data=None, **options):
    """A net with its weights as a model of ONNX, for inference. Writes it to `path`, and returns
    the onnx.ModelProto.

    net        the path of a .cnn file, the text of one, or a converted module
    weights    arrays by the net's names, or the path of the safetensors that a trainer has saved;
               a converted module has its own
    layout     of maps that are inputs or outputs: "nchw" is [N, channels, height, width] as ONNX's
               operators want, "nhwc" is [N, height, width, channels] as cnnc stores them
    batch      the samples of a batch; None leaves the axis N open
    opset      of the operators; None is 17, or the lowest that has all of the net's
    precision  "f32" or "f64", of weights and arithmetic
    external_data   True puts the weights into PATH.data; None does so beyond protobuf's 2 GiB
    options    those of the command line, such as define={"width": 8}

    Inputs, outputs, values and weights have the program's names. Raises Unsupported where ONNX has
    no exact counterpart, and WeightError for weights that are not the net's."""
    from . import onnx_writer
    from .weights import load
    weights = getattr(net, "weights", None) if weights is None else load(weights)
    return onnx_writer.export(net, weights, path, layout, batch, opset, precision, external_data,
                              options)
