"""Converters between other frameworks and cnnc, and the compiler as a function."""
from . import weights
from .compiler import compile, memory
from .convert import Converted, from_darknet, from_keras, from_onnx, from_torch, to_onnx
from .errors import CompileError, Unsupported, WeightError
from .pruning import Pruned, prune_channels

__all__ = ["CompileError", "Converted", "Pruned", "Unsupported", "WeightError", "compile", "from_darknet",
           "from_keras", "from_onnx", "from_torch", "memory", "prune_channels", "to_onnx", "weights"]
