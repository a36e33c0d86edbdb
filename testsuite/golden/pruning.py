# Magnitude pruning in NumPy, by the formulas of TensorFlow Model Optimization 0.8
# (pruning_schedule.py, pruning_impl.py), with its arithmetic in float32:
#
#     p = clamp((step - begin) / (end - begin), 0, 1)
#     sparsity = final + (initial - final) * (1 - p)^power
#     k = max(round(n * (1 - sparsity)), 1), to even; mask = |w| >= the k-th largest |w|
#     a mask is made if begin <= step <= end and (step - begin) % every == 0
#
# TensorFlow makes the mask of a step at its beginning, and masks the weights before each step
# uses them.  Here as in cnnc both happen at the end of the step before.
import numpy as np

F = np.float32


class Pruning:
    # settings: by the names of cnnc's text of a graph, without those that are 0.
    def __init__(self, settings):
        self.final, self.initial, self.power = (
            settings.get(k, 0.0) for k in ("final", "initial", "power"))
        self.begin, self.end, self.every = (
            int(settings.get(k, 0)) for k in ("begin", "end", "every"))
        self.masks = {}

    def is_due(self, step):
        return step >= self.begin and (self.end < 0 or step <= self.end) and \
            (step - self.begin) % self.every == 0

    def sparsity(self, step):
        if self.final == self.initial:
            return F(self.final)
        p = np.clip(F(step - self.begin) / F(self.end - self.begin), F(0), F(1))
        power = F(np.float64(F(1) - p) ** np.float64(self.power))
        return F(self.initial - self.final) * power + F(self.final)

    def kept(self, step, count):
        return int(max(np.round(F(count) * (F(1) - self.sparsity(step))), F(1)))

    def mask(self, weight, step):
        magnitude = np.abs(weight)
        smallest = np.sort(magnitude, axis=None)[::-1][self.kept(step, weight.size) - 1]
        return magnitude >= smallest

    # Masks the weight of this name before the step uses it; returns the mask.
    def apply(self, name, weight, step):
        if self.is_due(step):
            self.masks[name] = self.mask(weight, step)
        mask = self.masks.get(name, np.ones(weight.shape, bool))
        weight[~mask] = 0
        return mask

    # A bit for each weight, 1 where it is pruned, as cnnc stores them.
    def bits(self, name, count):
        mask = self.masks.get(name, np.ones(count, bool))
        return np.packbits(~mask.reshape(-1), bitorder="little")
