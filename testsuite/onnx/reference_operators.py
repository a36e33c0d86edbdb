"""Operators of ONNX that onnx's reference evaluator computes wrongly, refuses, or rounds to single
precision, written from the standard:

    LRN                  sums the squares of as many channels as there are samples
    ConvTranspose        takes no groups with more channels than one
    MaxPool              counts no padding where windows are one pixel apart
    LayerNormalization   takes no stash_type but single precision
    Erf, Gelu            round to single precision
"""
import math

import numpy as np
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun


class LRN(OpRun):
    op_domain = ""

    def _run(self, x, alpha=1e-4, beta=0.75, bias=1.0, size=None):
        before, after, channels = (size - 1) // 2, size // 2, x.shape[1]
        sums = np.stack([(x[:, max(0, c - before):c + after + 1] ** 2).sum(1)
                         for c in range(channels)], axis=1)
        return ((x / (bias + alpha / size * sums) ** beta).astype(x.dtype),)


class ConvTranspose(OpRun):
    op_domain = ""

    def _run(self, x, weight, bias=None, auto_pad=None, dilations=None, group=1, kernel_shape=None,
             output_padding=None, output_shape=None, pads=None, strides=None):
        more = output_padding or [0, 0]
        spans = [(size - 1) * apart + 1 for size, apart in zip(kernel_shape, dilations)]
        whole = [(size - 1) * stride + span + extra for size, stride, span, extra in
                 zip(x.shape[2:], strides, spans, more)]
        n, channels, height, width = x.shape
        inputs = x.reshape(n, group, channels // group, height, width)
        weights = weight.reshape(group, channels // group, *weight.shape[1:])
        y = np.zeros((n, group, weight.shape[1], *whole), x.dtype)
        for r, s in np.ndindex(*kernel_shape):
            top, left = r * dilations[0], s * dilations[1]
            part = y[:, :, :, top:top + (height - 1) * strides[0] + 1:strides[0],
                     left:left + (width - 1) * strides[1] + 1:strides[1]]
            part += np.einsum("ngchw,gck->ngkhw", inputs, weights[..., r, s])
        y = y.reshape(n, -1, *whole)
        y = y[:, :, pads[0]:whole[0] - pads[2], pads[1]:whole[1] - pads[3]]
        return (y if bias is None else y + bias.reshape(-1, 1, 1),)


class MaxPool(OpRun):
    op_domain = ""

    def _run(self, x, auto_pad=None, ceil_mode=0, dilations=None, kernel_shape=None, pads=None,
             storage_order=0, strides=None):
        assert not ceil_mode
        top, left, bottom, right = pads
        padded = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)),
                        constant_values=-np.inf)
        counts = [(whole - (size - 1) * apart - 1) // stride + 1 for whole, size, apart, stride in
                  zip(padded.shape[2:], kernel_shape, dilations, strides)]
        y = np.full((*x.shape[:2], *counts), -np.inf, x.dtype)
        for r, s in np.ndindex(*kernel_shape):
            top, left = r * dilations[0], s * dilations[1]
            part = padded[:, :, top:top + (counts[0] - 1) * strides[0] + 1:strides[0],
                          left:left + (counts[1] - 1) * strides[1] + 1:strides[1]]
            np.maximum(y, part, out=y)
        return (y,)


class LayerNormalization(OpRun):
    op_domain = ""

    def _run(self, x, weight, bias=None, axis=-1, epsilon=1e-5, stash_type=1):
        assert axis in (-1, x.ndim - 1)
        apart = x - x.mean(-1, keepdims=True)
        y = apart / np.sqrt((apart ** 2).mean(-1, keepdims=True) + epsilon) * weight
        return ((y if bias is None else y + bias).astype(x.dtype),)


class Erf(OpRun):
    op_domain = ""

    def _run(self, x):
        return (erf(x),)


class Gelu(OpRun):
    op_domain = ""

    def _run(self, x, approximate="none"):
        gate = np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)) \
            if approximate == "tanh" else erf(x / math.sqrt(2))
        return ((x * (1 + gate) / 2).astype(x.dtype),)


def erf(x):
    return np.vectorize(math.erf, otypes=[np.float64])(x).astype(x.dtype)


OPERATORS = [LRN, ConvTranspose, MaxPool, LayerNormalization, Erf, Gelu]


def evaluate(model, inputs):
    """By name, the outputs of a model for arrays by name."""
    evaluator = ReferenceEvaluator(model, new_ops=OPERATORS)
    with np.errstate(all="ignore"):
        results = evaluator.run(None, inputs)
    return dict(zip([output.name for output in model.graph.output], results))
