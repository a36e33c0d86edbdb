"""The errors of this package that a user's input causes."""


class Unsupported(Exception):
    """A part of a module has no exact counterpart in cnnc.

    The message names the module's path, its operator and the reason."""

    def __init__(self, place, reason):
        super().__init__(f"{place}: {reason}")
        self.place, self.reason = place, reason


class CompileError(Exception):
    """The compiler refused its input. The message is its own, and `status` its exit status."""

    def __init__(self, text, status):
        super().__init__(text)
        self.status = status


class WeightError(Exception):
    """Tensors that do not fit a net's parameters, or fit in several ways."""
