"""Networks of Keras that have each layer which the converter knows, on maps of odd sizes."""
import keras
from keras import layers, ops

SHAPE = (9, 11, 4)


def inner():
    """A model inside of one, in which a layer's activation is another layer."""
    x = layers.Input((9, 11, 4), name="given")
    y = layers.Conv2D(4, 3, padding="same", activation=layers.LeakyReLU(0.1), name="conv")(x)
    return keras.Model(x, [layers.Add(name="sum")([x, y]), y], name="inner")


def squeezed():
    """A model whose results other layers read."""
    x = layers.Input((9, 11, 4))
    gate = layers.Conv2D(4, 1, activation="sigmoid", name="gate")
    return keras.Model(x, [layers.ReLU(name="act")(x), gate(x)], name="squeezed")


def chain():
    return keras.Sequential([
        layers.Input((9, 11, 4)), layers.BatchNormalization(scale=False, momentum=0.9, name="norm"),
        layers.Conv2D(3, (1, 2), activation="silu", name="conv")], name="chain")


def convolutions(x):
    yield layers.Conv2D(5, 3, strides=2, padding="same")(x)
    yield layers.Conv2D(6, (2, 3), strides=(1, 2), padding="same", groups=2, use_bias=False)(x)
    yield layers.Conv2D(3, (3, 2), dilation_rate=(2, 3), activation="relu6")(x)
    yield layers.Conv2D(3, 4, strides=3, padding="same", activation="gelu")(
        layers.ZeroPadding2D(((1, 0), (2, 3)))(x))
    yield layers.Conv2D(3, 3, strides=2)(layers.ZeroPadding2D((2, 1))(x))
    yield layers.DepthwiseConv2D(3, strides=2, padding="same", depth_multiplier=3)(x)
    yield layers.DepthwiseConv2D((2, 4), activation="relu")(x)
    yield layers.SeparableConv2D(7, 3, strides=2, padding="same", depth_multiplier=2)(x)
    for kernel, strides, padding, more in ((3, 2, "same", None), (4, 2, "same", None),
                                           (2, 3, "valid", None), (3, 2, "valid", 1),
                                           (5, 3, "same", None), ((2, 5), (1, 2), "same", None),
                                           (3, 2, "same", 1), (3, 1, "same", None)):
        yield layers.Conv2DTranspose(3, kernel, strides, padding, output_padding=more)(x)
    yield layers.Conv2DTranspose(3, 3, padding="same", dilation_rate=2, activation="tanh")(x)


def pools(x):
    for kind in (layers.MaxPooling2D, layers.AveragePooling2D):
        yield kind((2, 3))(x)
        yield kind(3, strides=2, padding="same")(x)
        yield kind(2, strides=3, padding="same")(x)
    yield layers.GlobalMaxPooling2D(keepdims=True)(x)
    yield layers.GlobalAveragePooling2D()(x)
    yield layers.AdaptiveAveragePooling2D((4, 5))(x)
    yield layers.Cropping2D(((1, 2), (0, 3)))(x)
    yield layers.ZeroPadding2D((1, 2))(x)
    yield layers.UpSampling2D((2, 3))(x)
    yield layers.UpSampling2D(2, interpolation="bilinear")(x)
    yield layers.Resizing(5, 17)(x)
    yield layers.Resizing(18, 11, interpolation="nearest")(x)


def norms(x):
    yield layers.BatchNormalization(epsilon=1e-4)(x)
    yield layers.BatchNormalization(axis=1, center=False)(x)
    yield layers.LayerNormalization()(x)
    yield layers.LayerNormalization(axis=[2, 3], epsilon=1e-5)(x)
    yield layers.LayerNormalization(axis=[1, 2, 3], scale=False)(x)
    yield layers.GroupNormalization(2)(x)
    yield layers.GroupNormalization(-1, epsilon=1e-2)(x)
    yield layers.Rescaling(1 / 127.5, -1)(x)
    yield layers.Rescaling([1.0, 0.5, 2.0, 3.0], [0.0, 1.0, 0.0, -1.0])(x)
    yield layers.Normalization(mean=[0.1, 0.2, 0.3, 0.4], variance=[0.5, 1, 2, 0.0])(x)
    yield layers.Normalization(axis=None, mean=0.5, variance=4.0)(x)
    yield layers.PReLU()(x)
    yield layers.PReLU(shared_axes=[1, 2])(x)
    yield layers.PReLU(shared_axes=[1, 2, 3])(x)
    yield layers.PReLU(shared_axes=[2, 3])(x)


def activations(x):
    for name in """leaky_relu elu selu softplus softsign tanh sigmoid hard_sigmoid hard_silu
            hard_tanh exponential mish celu log_sigmoid tanh_shrink log_softmax softmax""".split():
        yield layers.Activation(name)(x)
    yield layers.ReLU(2.0, negative_slope=0.25)(x)
    yield layers.ReLU(1.5)(x)
    yield layers.LeakyReLU()(x)
    yield layers.ELU(0.5)(x)
    yield layers.Softmax(axis=1)(x)


def joins(x):
    small = layers.GlobalAveragePooling2D(keepdims=True)(x)
    other = layers.Conv2D(4, 1)(x)
    yield layers.Multiply()([x, small])
    yield layers.Average()([x, other, x])
    yield layers.Maximum()([x, other])
    yield layers.Minimum()([small, other])
    yield layers.Subtract()([other, x])
    yield layers.Concatenate(axis=1)([x, other])
    yield layers.Concatenate()([x, other, x])
    yield layers.Add()([x, layers.Dense(4)(layers.Flatten()(x))])
    yield from inner()(x)
    yield layers.Add()(squeezed()(x))
    yield layers.ReLU()(layers.Dropout(0.5)(chain()(x, training=False)))


def views(x):
    flat = layers.Flatten()(x)
    yield layers.Dense(5, activation="softmax")(flat)
    yield layers.Dense(3, use_bias=False)(x)
    yield layers.Conv2D(2, 2)(layers.Reshape((3, -1, 2))(layers.Dense(24)(flat)))
    yield layers.Dense(3)(layers.Flatten()(layers.Permute((3, 1, 2))(x)))
    yield layers.Reshape((11, 36))(x)
    yield layers.Permute((2, 1, 3))(x)
    yield layers.Reshape((9, 11, 4))(layers.Permute((1, 2, 4, 3))(layers.Reshape((9, 11, 2, 2))(x)))


def rows(x):
    """Layers of one spatial axis."""
    steps = layers.Reshape((33, 12))(x)
    yield layers.Conv1D(5, 3, strides=2, padding="same")(steps)
    yield layers.Conv1D(5, 3, dilation_rate=2, padding="causal")(steps)
    yield layers.DepthwiseConv1D(3)(steps)
    yield layers.SeparableConv1D(6, 4, padding="same")(steps)
    yield layers.Conv1DTranspose(6, 3, strides=2, padding="same")(steps)
    yield layers.MaxPooling1D(2)(steps)
    yield layers.AveragePooling1D(3, strides=2, padding="same")(steps)
    yield layers.GlobalMaxPooling1D()(steps)
    yield layers.BatchNormalization()(steps)
    yield layers.GroupNormalization(3)(steps)
    yield layers.ZeroPadding1D(2)(steps)
    yield layers.Cropping1D((1, 2))(steps)
    yield layers.UpSampling1D(2)(steps)


def operations(x):
    yield (1 - x) * 2 + x / 4 - 3 + 1 / (x + 4)
    yield x * (-x) - ops.maximum(x, 0.1) + ops.minimum(x, x * x)
    yield ops.mean(x, axis=(1, 2)) + ops.max(x, axis=[1, 2], keepdims=False)
    yield ops.mean(x, axis=-1, keepdims=True)
    yield ops.concatenate([x[:, 1:5, :, :2], ops.relu(x[:, :4, :, 2:])], axis=-1)
    yield ops.transpose(ops.reshape(ops.gelu(x), (-1, 11, 9, 4)), (0, 2, 1, 3))
    yield ops.sqrt(ops.exp(ops.square(x))) + ops.log(ops.abs(x) + 1)
    yield ops.clip(ops.silu(x), 0.0, 0.5) + ops.sigmoid(x) * ops.leaky_relu(x) * ops.hard_sigmoid(x)


def trained():
    """A network of which a training step is compared: a norm, a frozen layer, a permuted map."""
    keras.utils.clear_session()
    return keras.Sequential([
        layers.Input((8, 7, 3), name="image"),
        layers.Conv2D(4, 3, strides=2, padding="same", use_bias=False, name="conv"),
        layers.BatchNormalization(momentum=0.9, name="norm"), layers.LeakyReLU(0.1, name="leaky"),
        layers.DepthwiseConv2D(2, depth_multiplier=2, trainable=False, name="frozen"),
        layers.Permute((3, 1, 2), name="turn"), layers.Flatten(name="flat"),
        layers.Dense(6, activation="swish", name="dense"), layers.LayerNormalization(name="rows"),
        layers.Dense(10, activation="softmax", name="last")], name="trained")


PARTS = {"layers": (convolutions, pools, norms, joins),
         "functions": (activations, views, rows, operations)}


def layers_net(name):
    """A network of PARTS; each part is an output."""
    keras.utils.clear_session()
    image = layers.Input(SHAPE, name="image")
    x = layers.Conv2D(4, 3, padding="same", name="stem")(image)
    return keras.Model(image, [part for kind in PARTS[name] for part in kind(x)], name=name)
