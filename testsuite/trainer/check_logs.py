#!/usr/bin/env python3
"""The logs of a run agree: CSV of epochs, CSV of steps, TensorBoard's event files.

    check_logs.py CNNC LIBHOST NET.cnn

Tags and steps are those of Keras' TensorBoard callback. A run that goes on from a state has the
rows of one that never stopped. It writes event files of its own, from which TensorBoard drops later
steps of the earlier ones.
"""
import glob
import os
import struct
import sys

# Its bytes do not depend on the compiler.
os.environ.setdefault("CXX", "clang++")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "saving"))
from events import scalars  # noqa: E402
from saving import (build, bytes_of, enter_folder, expect, leave_folder, make_data, run,  # noqa: E402
                    without_speed)

cnnc, libhost, net = map(os.path.abspath, sys.argv[1:])
EPOCHS, STEPS, EVERY = 3, 6, 4     # of an epoch: five batches and one sample


def rows(path):
    with open(path, encoding="ascii") as file:
        names, *lines = [line.rstrip("\n").split(",") for line in file]
    expect(all(len(line) == len(names) for line in lines), f"{path}: lines of other lengths")
    return [dict(zip(names, line)) for line in lines]


def single(text):
    return struct.unpack("f", struct.pack("f", float(text)))[0]


def train(data, *more, status=0):
    return run(["./net", "train", "--seed", "3", *data, *more], status)


def logs(name, *more):
    return ["--log", name + ".csv", "--log-steps", name + ".steps", "--log-every", str(EVERY),
            "--tensorboard", name, *more]


def of_part(folder, part, files=1):
    """The scalars of the only file of a run, or of all; the restarts."""
    paths = sorted(glob.glob(f"{folder}/{part}/events.out.tfevents.*"))
    expect(len(paths) == files, f"{len(paths)} event files in {folder}/{part}")
    found, restarts = zip(*map(scalars, paths))
    return sum(found, []), sum(restarts, [])


def wanted_epochs(lines, prefix, names):
    return [(f"epoch_{name}", epoch, single(line[prefix + name]))
            for epoch, line in enumerate(lines) for name in names]


def check_whole(data):
    train(data, "--epochs", str(EPOCHS), "--save", "w.weights", "--save-state", "w.state", *logs("w"))
    epochs, steps = rows("w.csv"), rows("w.steps")
    metrics = [name for name in epochs[0] if "validation_" + name in epochs[0] and name != "loss"]
    expect(metrics and list(steps[0]) == ["step", "epoch", "samples", "loss", *metrics,
                                          "skipped_steps", "rate", "images_per_second"],
           f"columns {list(steps[0])}")
    count = EPOCHS * STEPS // EVERY
    expect([int(row["step"]) for row in steps] == [EVERY * (i + 1) for i in range(count)], "steps")
    expect([int(row["epoch"]) for row in steps] == [EVERY * (i + 1) // STEPS + (
        EVERY * (i + 1) % STEPS > 0) for i in range(count)], "epochs of steps")
    found, restarts = of_part("w", "train")
    batch = [(f"batch_{tag}", int(row["step"]), single(row[name])) for row in steps
             for tag, name in [(name, name) for name in ["loss", *metrics]] +
             [("learning_rate", "rate")]]
    training = wanted_epochs([dict(row, learning_rate=row["rate"]) for row in epochs], "",
                             ["loss", *metrics, "learning_rate"])
    expect(sorted(found) == sorted(batch + training) and not restarts, f"train: {found}")
    found, restarts = of_part("w", "validation")
    expect(found == wanted_epochs(epochs, "validation_", ["loss", *metrics]) and not restarts,
           f"validation: {found}")
    expect(len({value for _, _, value in found}) > EPOCHS, "figures do not differ")


def check_resumed(data):
    train(data, "--epochs", "2", "--save-state", "r.state", *logs("r"))
    with open("r.steps", "a", encoding="ascii") as file:
        file.write("16,3,128,1,1,0,1,1\n")
    train(data, "--epochs", str(EPOCHS), "--resume", "r.state", "--save", "r.weights", "--save-state",
          "r.state", *logs("r"))
    expect(bytes_of("r.weights") == bytes_of("w.weights"), "other weights")
    for name in "csv", "steps":
        expect(without_speed(bytes_of("r." + name)) == without_speed(bytes_of("w." + name)),
               f"rows of {name} differ when the run goes on")
    for part in "train", "validation":
        found, restarts = of_part("r", part, 2)
        expect(sorted(found) == sorted(of_part("w", part)[0]), f"{part} differs when a run goes on")
        expect(restarts == [2 * STEPS + 1], f"restarts at {restarts}")


def check_refusals(data):
    without = train(data, "--epochs", "1", "--tensorboard", "e")
    expect(not without.stderr and all(tag.startswith("epoch_") for tag, _, _ in
                                      of_part("e", "train")[0]), "rows of steps, unasked")
    said = train(data, "--log-every", "2", status=2).stderr
    expect("--log-every needs --log-steps or --tensorboard" in said, said)
    said = train(data, "--log-steps", "s", status=2).stderr
    expect("--log-steps needs --log-every" in said, said)
    said = train(data, "--tensorboard", "w.csv", status=1).stderr
    expect("w.csv" in said and "folder" in said, said)
    said = train(data, "--tensorboard", "new", "--save", "new", status=1).stderr
    expect("new: can't be written: wanted a regular file" in said, said)
    said = train(data, "--log", "same", "--log-steps", "same", "--log-every", "1", status=1).stderr
    expect("the same file" in said, said)


def main():
    folder = enter_folder()
    build(cnnc, libhost, net, [], "net")
    data = make_data("net", STEPS - 1, "data")
    check_whole(data)
    check_resumed(data)
    check_refusals(data)
    leave_folder(folder)


if __name__ == "__main__":
    main()
