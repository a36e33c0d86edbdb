#!/usr/bin/env python3
"""Checks the values that data may hold, and batches without a finite loss:

    check_data.py CNNC LIBHOST NET.cnn

Labels that the loss ignores are taken, others outside the classes are refused; the
confusion matrix leaves them out.  Samples that evaluation drops are counted, and a
validation that drops some is never the best.
"""
import math
import os
import struct
import sys

from saving import build, bytes_of, enter_folder, expect, leave_folder, run, write_npy

SAMPLES, IGNORED = 16, 255


def write_set(part, labels, bad=()):
    numbers = [math.sin(i) for i in range(3 * len(labels))]
    for sample in bad:
        numbers[3 * sample] = math.nan
    write_npy(f"{part}.image.npy", "<f4", [len(labels), 3],
              struct.pack(f"<{len(numbers)}f", *numbers))
    write_npy(f"{part}.label.npy", "<i4", [len(labels)],
              struct.pack(f"<{len(labels)}i", *labels))


def command(name, *parts, options=()):
    files = []
    for part in parts:
        files += ["--" + part, f"image={part}.image.npy", "--" + part, f"label={part}.label.npy"]
    return ["./marks", name, *files, *options]


def labels_that_are_ignored():
    labels = [i % 3 for i in range(SAMPLES)]
    labels[2] = labels[5] = IGNORED
    write_set("train", labels)
    write_set("test", labels)
    run(command("train", "train", "test", options=["--epochs", "2", "--save", "weights"]))
    done = run(command("eval", "test", options=["--load", "weights", "--confusion"]))
    counts = [int(line.split()[-1]) for line in done.stdout.splitlines()
              if len(line.split()) == 5 and line.split()[0] in "012"]
    expect(counts == [sum(x == c for x in labels) for c in range(3)], done.stdout)
    for label in [3, 254, 256, -1]:
        labels[7] = label
        write_set("train", labels)
        done = run(command("train", "train", "test"), status=1)
        expect(f"label 7 is {label}, and the net has classes 0 to 2 and ignores 255" in done.stderr,
               done.stderr)
    print("labels that the loss ignores are taken, others refused")


def samples_that_are_dropped():
    labels = [i % 3 for i in range(SAMPLES)]
    write_set("train", labels)
    options = ["--load", "weights"]
    for bad, dropped in [((), 0), ((6,), 4), ((0, 1, 15), 8), (range(SAMPLES), SAMPLES)]:
        write_set("test", labels, bad)
        done = run(command("eval", "test", options=options))
        said = f"{dropped} samples of {SAMPLES} are not in these means" in done.stdout
        expect(said == (dropped > 0), done.stdout)
        expect(f"/{SAMPLES - dropped})" in done.stdout, done.stdout)
        expect(("loss nan" in done.stdout) == (dropped == SAMPLES), done.stdout)
        write_set("val", labels, bad)
        if os.path.exists("best"):
            os.remove("best")
        done = run(command("train", "train", "val", options=["--epochs", "2", "--best", "best"]))
        expect(os.path.exists("best") == (not dropped), "a validation that drops samples is the best")
        expect((f"{dropped} samples of {SAMPLES} are not" in done.stdout) == (dropped > 0),
               done.stdout)
    print("samples that evaluation drops are counted")


def steps_that_are_skipped():
    """All of an epoch: weights stay unchanged."""
    labels = [i % 3 for i in range(SAMPLES)]
    write_set("train", labels, range(SAMPLES))
    write_set("test", labels)
    run(command("train", "train", "test",
                options=["--epochs", "1", "--load", "weights", "--save", "same"]))
    expect(bytes_of("same") == bytes_of("weights"), "skipped steps changed weights")
    done = run(command("train", "train", "test", options=["--epochs", "1"]))
    expect("the loss of 4 training steps was not finite: they changed nothing" in done.stdout,
           done.stdout)
    print("skipped steps are counted")


def main():
    cnnc, libhost, net = [os.path.abspath(path) for path in sys.argv[1:4]]
    folder = enter_folder()
    build(cnnc, libhost, net, [], "marks")
    labels_that_are_ignored()
    samples_that_are_dropped()
    steps_that_are_skipped()
    leave_folder(folder)


if __name__ == "__main__":
    main()
