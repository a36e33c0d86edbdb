"""The parameters and inputs of the tests' networks: numbers that follow from a tensor's name and
shape (golden/draws.py), so that no weights are stored."""
import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parent.parent / "golden"))
import draws  # noqa: E402

# Weights are uniform within this over the root of the products of a sum. A network in which two
# samples end alike has a larger number; one that amplifies roundings has a smaller one.
GAIN = 2.5
GAINS = {"efficientnet_b0": 3, "efficientnet_v2_s": 2}
KERAS_GAIN = 2.5
KERAS_GAINS = {**dict.fromkeys(("ResNet50", "ResNet50V2", "Xception"), 1.8),
               "InceptionV3": 2.2, "InceptionResNetV2": 2, "EfficientNetB0": 8, "MobileNetV2": 6,
               "MobileNet": 8,
               "EfficientNetB1": 6, "EfficientNetV2B0": 3.5,
               "MobileNetV3Small": 6, "MobileNetV3Large": 6, "NASNetMobile": 1.5}


def parameter(net, name, shape):
    """A parameter by PyTorch's name for it. Numbers are those of float32."""
    u = 2 * draws.uniform(name, tuple(shape), 0) - 1 if shape else np.zeros(())
    if len(shape) > 1 and np.prod(shape[1:]) > 1:
        u *= GAINS.get(net, GAIN) * np.prod(shape[1:]) ** -0.5
    elif name.endswith(("running_var", "weight")):
        u = 0.8 + 0.3 * u
    elif not name.endswith("layer_scale"):
        u *= 0.2
    return u.astype(np.float32).astype(np.float64)


def keras_parameter(net, path, shape):
    """A parameter of Keras by its path. The sum of a kernel's products is over all axes but the
    last, or over the window of a depthwise kernel."""
    u = 2 * draws.uniform(path, tuple(shape), 0) - 1
    word = path.rpartition("/")[2]
    if word.endswith("kernel"):
        count = np.prod(shape[:2] if word.startswith("depthwise") else shape[:-1])
        u *= KERAS_GAINS.get(net, KERAS_GAIN) * count ** -0.5
    elif word in ("gamma", "moving_variance", "variance"):
        u = 0.8 + 0.3 * u
    else:
        u *= 0.2
    return u.astype(np.float32).astype(np.float64)


def labels(shape, classes):
    return np.floor(draws.uniform("label", tuple(shape), 0) * classes).astype(np.int32)


def batch(shape):
    """Samples of the input, in PyTorch's layout."""
    return 2 * draws.uniform("x", tuple(shape), 0) - 1
