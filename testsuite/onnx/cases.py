"""ONNX's own test cases as models with constants.

A case of onnx gives all tensors as inputs. Parameters of layers, and integers such as shapes and
axes, become constants of the model here.
"""
import hashlib
import os
import pickle
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"
FOLDERS = ("pytorch-converted", "pytorch-operator", "simple")
OPERATORS = set("""Abs Adagrad Adam Add AveragePool BatchNormalization Celu CenterCropPad Clip
    Concat Conv ConvTranspose DepthToSpace Div Dropout Elu Exp Expand Flatten Gelu Gemm
    GlobalAveragePool GlobalMaxPool GroupNormalization HardSigmoid HardSwish Identity
    InstanceNormalization LRN
    LayerNormalization LeakyRelu Log LogSoftmax LpPool MatMul Max MaxPool Mean
    MeanVarianceNormalization Min Mish Momentum Mul Neg NegativeLogLikelihoodLoss PRelu Pad
    RMSNormalization ReduceMax ReduceMean ReduceSum Relu Reshape Resize Selu Sigmoid Slice Softmax
    SoftmaxCrossEntropyLoss Softplus SpaceToDepth Split Sqrt Squeeze Sub Sum Swish Tanh
    ThresholdedRelu Tile Transpose Unsqueeze Upsample""".split())
# Operators whose operands are all values of the net.
OF_VALUES = set("Add Sub Mul Div Max Min Sum Mean Concat".split())
# Results that cnnc has not: indices, masks, statistics.
FIRST_ALONE = set("MaxPool Dropout LayerNormalization".split())


@dataclass
class Case:
    name: str
    model: onnx.ModelProto
    inputs: list
    outputs: list

    @property
    def operator(self):
        return "+".join(node.op_type for node in self.model.graph.node)

    @property
    def kept(self):
        """The names of the results to compare."""
        names = [output.name for output in self.model.graph.output]
        operators = {node.op_type for node in self.model.graph.node}
        return names[:1] if operators & FIRST_ALONE else names

    def with_constants(self, side):
        """The model, and arrays by the names of its inputs. With `side`, PRelu's slope and Gemm's C
        are inputs too."""
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        graph = model.graph
        own = {tensor.name for tensor in graph.initializer}
        arrays = dict(zip([given.name for given in graph.input if given.name not in own],
                          self.inputs))
        for name in list(arrays)[1:]:
            if self.is_constant(name, arrays[name], side):
                array = np.asarray(arrays.pop(name))
                graph.initializer.append(numpy_helper.from_array(array, name))
        left = [onnx.ValueInfoProto.FromString(given.SerializeToString())
                for given in graph.input if given.name in arrays]
        del graph.input[:]
        graph.input.extend(left)
        return model, arrays

    def is_constant(self, name, array, side):
        readers = [(node.op_type, list(node.input).index(name)) for node in self.model.graph.node
                   if name in node.input]
        if readers in ([("SoftmaxCrossEntropyLoss", 1)], [("NegativeLogLikelihoodLoss", 1)]):
            return False
        if getattr(array, "dtype", np.dtype(object)).kind != "f":
            return isinstance(array, (np.ndarray, np.generic))
        if side and any(reader in (("PRelu", 1), ("Gemm", 2)) for reader in readers):
            return False
        return not any(op in OF_VALUES for op, _ in readers)


def array_of(tensor):
    return numpy_helper.to_array(tensor) if isinstance(tensor, onnx.TensorProto) else tensor


def as_floats(model, inputs, outputs):
    """A case of integers that Pad moves, as one of floats."""
    if model.graph.node[0].op_type == "Pad" and inputs[0].dtype == np.int32:
        model.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.FLOAT
        inputs = [inputs[0].astype(np.float32), *inputs[1:]]
    return model, inputs, outputs


def node_cases():
    """The cases of one operator, without those that compose it."""
    for case in load_model_tests(kind="node"):
        nodes = case.model.graph.node
        if "_expanded" not in case.name and len(nodes) == 1 and nodes[0].op_type in OPERATORS:
            inputs, outputs = case.data_sets[0]
            yield Case(case.name, *as_floats(case.model, *([array_of(tensor) for tensor in part]
                                                           for part in (inputs, outputs))))


def stored_arrays(folder, kind):
    count = len(list(folder.glob(f"{kind}_*.pb")))
    for at in range(count):
        tensor = onnx.TensorProto()
        tensor.ParseFromString((folder / f"{kind}_{at}.pb").read_bytes())
        yield numpy_helper.to_array(tensor)


def stored_cases():
    for group in FOLDERS:
        for folder in sorted((DATA / group).iterdir()):
            data = folder / "test_data_set_0"
            try:
                yield Case(folder.name, onnx.load(folder / "model.onnx"),
                           list(stored_arrays(data, "input")), list(stored_arrays(data, "output")))
            except (TypeError, ValueError, onnx.ONNXException) as error:
                print(f"{folder.name}: {error}")


def all_cases():
    """All cases. onnx takes long to make them, so a file next to its package keeps them."""
    version = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]
    kept = Path(onnx.__file__).parents[1] / f"cases.{version}"
    if not kept.exists():
        with np.errstate(all="ignore"):
            cases = [*node_cases(), *stored_cases()]
        handle, name = tempfile.mkstemp(dir=kept.parent)
        with open(handle, "wb") as made:
            pickle.dump(cases, made)
        os.replace(name, kept)
    return pickle.loads(kept.read_bytes())
