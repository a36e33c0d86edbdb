"""Which mode of cnnc's resize is a Resize of ONNX, for given sizes.

Both are compared pixel by pixel along each axis: the pixels that are read, and their weights.
"""
import numpy as np

NEAREST = {"floor": np.floor, "ceil": np.ceil, "round_prefer_floor": lambda x: np.ceil(x - 0.5),
           "round_prefer_ceil": lambda x: np.floor(x + 0.5)}


def coordinates(size, result, factor, word):
    """The places in the operand of the result's pixels along an axis, or None."""
    at = np.arange(result, dtype=np.float64)
    if word == "asymmetric":
        return at / factor
    if word == "align_corners":
        return at * (size - 1) / (factor * size - 1) if result > 1 else at * 0
    if word == "half_pixel" or word == "pytorch_half_pixel" and result > 1:
        return (at + 0.5) / factor - 0.5
    if word == "pytorch_half_pixel":
        return at * 0
    if word == "half_pixel_symmetric":
        return size / 2 * (1 - result / (factor * size)) + (at + 0.5) / factor - 0.5
    return None


def places(size, result, factor, words):
    """The places that ONNX reads, in the map: of nearest pixels, or between two. Or None."""
    found = coordinates(size, result, factor, words["coordinates"])
    if found is None or words["antialias"] and factor < 1 or words["exclude_outside"]:
        return None
    if words["mode"] == "nearest":
        found = NEAREST[words["nearest"]](found)
    elif words["mode"] != "linear":
        return None
    return np.clip(found, 0, size - 1)


def own_places(size, result, mode, corners):
    """The places that cnnc reads."""
    at = np.arange(result)
    if mode == "nearest":
        return at * size // result
    if mode == "nearest_exact":
        return (2 * at + 1) * size // (2 * result)
    if corners:
        return at * (size - 1) / max(result - 1, 1)
    return np.clip((at + 0.5) * size / result - 0.5, 0, size - 1)


def described(words):
    """A Resize of ONNX for a message."""
    parts = [words["mode"], words["coordinates"]]
    parts += [words["nearest"]] if words["mode"] == "nearest" else []
    parts += [word for word in ("antialias", "exclude_outside") if words[word]]
    return ", ".join(parts)


def mode_of(sizes, results, factors, words):
    """The arguments of resize that read the same pixels, or None."""
    theirs = [places(*axis, words) for axis in zip(sizes, results, factors)]
    if any(found is None for found in theirs):
        return None
    modes = [{"mode": "nearest"}, {"mode": "nearest_exact"}] if words["mode"] == "nearest" else \
        [{"mode": "bilinear"}, {"mode": "bilinear", "align_corners": True}]
    for mode in modes:
        ours = [own_places(size, result, mode["mode"], "align_corners" in mode)
                for size, result in zip(sizes, results)]
        if all(np.allclose(a, b, rtol=0, atol=1e-6) for a, b in zip(ours, theirs)):
            return mode
    return None
