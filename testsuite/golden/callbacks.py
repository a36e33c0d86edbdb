#!/usr/bin/env python3
"""Writes the effects of Keras' callbacks on figures of epochs to trainer/keras_callbacks.h.

    callbacks.py > testsuite/trainer/keras_callbacks.h

The figures are random walks with plateaus; some are NaN. ReduceLROnPlateau changes the rate,
EarlyStopping ends the run, and ModelCheckpoint(save_best_only = True) keeps weights. Keras compares
in float32: changes are multiples of 3e-5, so that none is within rounding of a least change. Needs
keras with any backend.
"""
import math
import random

import keras

EPOCHS = 60
# mode, factor, patience, min_lr; patience and min_delta of EarlyStopping
CASES = [("min", 0.5, 2, 0.0, 9, 0.0), ("min", 0.1, 1, 1e-5, 15, 1e-3), ("max", 0.2, 3, 0.0, 14, 2e-4),
         ("max", 0.7, 1, 0.02, 12, 0.0), ("min", 0.3, 4, 0.0, 5, 5e-2)]


def walk(draw, sign):
    value, figures = 0.5, []
    for epoch in range(EPOCHS):
        value -= sign * 3e-5 * draw.choice([0, 1, 2, 4, 300, -200])
        figures.append(float("nan") if epoch and draw.random() < 0.05 else round(value, 6))
    return figures


class Saves(keras.callbacks.ModelCheckpoint):
    def __init__(self, **settings):
        super().__init__("unused.weights.h5", save_weights_only=True, **settings)
        self.epoch = 0

    def _save_model(self, epoch, batch, logs):
        if self.best is None or self.monitor_op(logs[self.monitor], self.best):
            self.best, self.epoch = logs[self.monitor], epoch + 1


def follow(case, figures):
    mode, factor, patience, least, stops, delta = case
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.1), "mse")
    plateau = keras.callbacks.ReduceLROnPlateau("x", factor, patience, mode=mode, min_lr=least)
    stopping = keras.callbacks.EarlyStopping("x", delta, stops, mode=mode)
    saves = Saves(monitor="x", mode=mode, save_best_only=True)
    model.stop_training = False
    for callback in (plateau, stopping, saves):
        callback.set_model(model)
        callback.on_train_begin()
    rows = []
    for epoch, figure in enumerate(figures):
        for callback in (plateau, stopping, saves):
            callback.on_epoch_begin(epoch)
            callback.on_epoch_end(epoch, {"x": figure})
        rows.append((figure, float(model.optimizer.learning_rate), saves.epoch))
        if model.stop_training:
            break
    return rows


def number(value):
    return "NAN" if math.isnan(value) else f"{value:.6g}"


def main():
    draw = random.Random(2)
    print("// Written by testsuite/golden/callbacks.py with Keras", keras.__version__ + ".")
    print("#pragma once")
    print("\n// An epoch: its figure, the rate after it, the epoch of the best weights.")
    print("struct KerasEpoch {\n    double figure, rate;\n    unsigned best;\n};")
    tables = []
    for i, case in enumerate(CASES):
        rows = follow(case, walk(draw, 1 if case[0] == "min" else -1))
        print(f"\nstatic const KerasEpoch keras_{i}[] = {{")
        items = [f"{{{number(a)}, {b:.6g}, {c}}}" for a, b, c in rows]
        for at in range(0, len(items), 4):
            print("    " + ", ".join(items[at:at + 4]) + ("," if at + 4 < len(items) else "};"))
        mode, factor, patience, least, stops, delta = case
        tables.append(f'    {{"{mode}", "{factor},{patience},{least:g}", {stops}, {delta:g}, '
                      f"keras_{i}, {len(rows)}}}")
    print("\n// A run: --mode, --reduce-on-plateau, --patience, --min-delta; its epochs.")
    print("static const struct {\n    const char *mode, *reduce;\n    long long patience;")
    print("    double min_delta;\n    const KerasEpoch *epochs;\n    int count;\n} keras_runs[] = {")
    print(",\n".join(tables) + "};")


if __name__ == "__main__":
    main()
