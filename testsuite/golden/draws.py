# The numbers that cnnc draws, by their definition. Values of tests come from a counter
# (testsuite/tools/random_tensors.cpp). Dropout's masks come from Philox (DESIGN: seed, training
# step, the dropout's number, sample, element).
import numpy as np

u64 = np.uint64


def fnv1a64(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def splitmix64(z):
    z = z + u64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> u64(30))) * u64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> u64(27))) * u64(0x94D049BB133111EB)
    return z ^ (z >> u64(31))


# `shape` numbers in [0, 1) of the tensor `name`.
def uniform(name, shape, seed):
    key = (fnv1a64(name) + seed * 0x9E3779B97F4A7C15) % 2**64
    z = splitmix64(u64(key) + np.arange(np.prod(shape), dtype=u64))
    return ((z >> u64(11)).astype(np.float64) * 2.0**-53).reshape(shape)


def weight(name, shape, seed):
    limit = (np.prod(shape) / shape[0]) ** -0.5 if len(shape) > 1 else 0.1
    factor = len(shape) == 1 and name.endswith((".weight", ".variance"))
    return factor + (2 * uniform(name, shape, seed) - 1) * limit


# classes: of a label, else 0. ignored: the label that its losses leave out, or 0; a negative one
# is drawn too.
def batch_input(name, dtype, shape, classes, ignored, seed):
    u = uniform(name, shape, seed)
    if classes:
        label = np.floor(u * classes)
        left_out = (ignored < 0) & (u * classes - label < 0.25)
        return np.where(left_out, ignored, label).astype(np.int32)
    if dtype == "u8":
        return np.floor(u * 256).astype(np.uint8)
    return (2 * u - 1).astype(np.int32) if dtype == "i32" else 2 * u - 1


# Philox4x32-10; counter: four arrays of 32-bit numbers.
def philox(counter, key):
    c = [np.asarray(x, dtype=u64) for x in counter]
    low, high, mask = key & 0xFFFFFFFF, key >> 32, u64(0xFFFFFFFF)
    for _ in range(10):
        first, second = u64(0xD2511F53) * c[0], u64(0xCD9E8D57) * c[2]
        c = [(second >> u64(32)) ^ c[1] ^ u64(low), second & mask,
             (first >> u64(32)) ^ c[3] ^ u64(high), first & mask]
        low = (low + 0x9E3779B9) % 2**32
        high = (high + 0xBB67AE85) % 2**32
    return c


# The factor of dropout for each element of [samples, ...].
def dropout_mask(shape, rate, number, seed, step):
    width = int(np.prod(shape[1:]))
    sample, element = np.mgrid[0:shape[0], 0:width].astype(u64)
    words = philox([element // u64(4), sample, np.full_like(sample, number),
                    np.full_like(sample, step)], seed)
    word = np.choose((element % u64(4)).astype(int), words)
    keep = word >= u64(int(rate * 2**32))
    return (keep / (1 - rate)).reshape(shape)


# The factor of stochastic_depth for each sample of [samples, ...].
def depth_mask(shape, rate, number, seed, step):
    sample = np.arange(shape[0], dtype=u64)
    zero = np.zeros_like(sample)
    word, *_ = philox([zero, sample, zero + u64(number), zero + u64(step)],
                      seed)
    keep = (word >= u64(int(rate * 2**32))) / (1 - rate)
    return keep.reshape(-1, *(1 for _ in shape[1:]))
