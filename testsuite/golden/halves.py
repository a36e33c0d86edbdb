# A run of PyTorch in float32 that rounds maps to 16 bits.
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

# The functions of losses, and those that only name or make arrays.
LOSSES = ("_log_softmax", "nll_loss", "binary_cross_entropy", "smooth_l1", "mse_loss")
VIEWS = ("view", "t", "permute", "transpose", "detach", "expand", "slice", "select",
         "_unsafe_view", "alias", "unsqueeze", "squeeze", "as_strided")
PRODUCTS = ("convolution", "mm", "addmm", "bmm", "convolution_backward")


class Halves(TorchDispatchMode):
    """Within it every operation's result that is a map is rounded to `half`: a real tensor of two
    and more dimensions that is not of a parameter's shape. Parameters are rounded where a product
    reads them, or not (weights); their gradients stay."""

    def __init__(self, half, shapes, weights):
        super().__init__()
        self.half = half
        self.rounds_weights = weights
        self.weights = set()
        for shape in shapes.values():
            self.weights.add(tuple(shape))
            if len(shape) == 4:
                self.weights.add(tuple(shape[i] for i in (0, 3, 1, 2)))
            if len(shape) == 2:
                self.weights.add(tuple(shape[::-1]))

    def rounded(self, x):
        return x.to(self.half).to(torch.float32)

    def is_real(self, x):
        return isinstance(x, torch.Tensor) and x.dtype == torch.float32

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.overloadpacket.__name__

        def given(x):
            weight = self.is_real(x) and tuple(x.shape) in self.weights
            return self.rounded(x) if weight else x

        def made(x):
            if not self.is_real(x) or x.dim() < 2 or tuple(x.shape) in self.weights:
                return x
            near = self.rounded(x)
            return x.copy_(near) if name.endswith("_") else near

        if name in PRODUCTS and self.rounds_weights:
            args = tree_map(given, args)
        out = func(*args, **(kwargs or {}))
        loss = any(name.startswith(word) for word in LOSSES) and "backward" not in name
        if loss or name in VIEWS:
            return out
        return tree_map(made, out)
