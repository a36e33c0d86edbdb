"""Compares a training step of a net with one of which some parameters are frozen."""
import math
import re

STATES = ("momentum", "m", "v", "square", "average", "pruned")


def parameter_of(name):
    """The parameter of a state or a gradient."""
    name = name.removeprefix("d.")
    stem, _, last = name.rpartition(".")
    return stem if last in STATES else name


def distance(a, b):
    return math.dist(a, b) / (math.hypot(*b) or 1)


def faults_of(loaded, whole, part, params, frozen, close):
    """Lines that say what differs between the tensors of a whole net and one with frozen parameters.

    A bias whose weight is frozen may differ by `close` of its norm.
    """
    for name in params:
        if name in frozen and part[name].tobytes() != loaded[name].tobytes():
            yield f"{name} is frozen and moved"
    for name, values in part.items():
        of = parameter_of(name)
        if of not in params or of in frozen:
            if of in frozen and of != name:
                yield f"{name} is of a frozen parameter"
            continue
        alone = of.endswith(".bias") and re.sub(r"bias$", "weight", of) in frozen
        apart = distance(values, whole[name])
        if values.tobytes() != whole[name].tobytes() and not (alone and apart < close):
            yield f"{name} differs by {apart:.3g} of its norm"
    for name in whole:
        if name not in part and parameter_of(name) not in frozen:
            yield f"{name} is missing"
