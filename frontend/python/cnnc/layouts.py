"""The layouts of weights: PyTorch's, Keras's and cnnc's.

A vector that was a map has its elements in the order of the map's storage. An `order` is that of
cnnc's vector in terms of the other framework's: cnnc's element i is the other's order[i]. None
means that both are equal.
"""
import numpy as np

OIHW_TO_OHWI = (0, 2, 3, 1)         # conv; conv_transpose too, [in, out, h, w] to [in, h, w, out]
OHWI_TO_OIHW = (0, 3, 1, 2)
HWIO_TO_OHWI = (3, 0, 1, 2)         # Keras: Conv2D; Conv2DTranspose, [h, w, out, in]
OHWI_TO_HWIO = (1, 2, 3, 0)


def inverse(order):
    return None if order is None else np.argsort(order)


def flat_order(shape, axes):
    """The order of a flattened map. Axis i of its shape is axis axes[i] of cnnc's."""
    indices = np.arange(int(np.prod(shape))).reshape(shape)
    order = indices.transpose(np.argsort(axes)).ravel()
    return None if (order == np.arange(order.size)).all() else order


def same_order(one, other):
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)


def reordered(array, order, axis=0):
    return array if order is None else np.take(array, order, axis=axis)


def joined_order(orders, sizes):
    """The order of vectors that are concatenated."""
    if all(order is None for order in orders):
        return None
    starts = np.cumsum([0, *sizes[:-1]])
    return np.concatenate([start + (np.arange(size) if order is None else order)
                           for order, size, start in zip(orders, sizes, starts)])
