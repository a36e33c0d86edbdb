#!/usr/bin/env python3
"""The command line of an emitted trainer, as a user meets it:

    check_command_line.py CNNC LIBHOST NET.cnn

With --crop labels of pixels from outside have the value that the loss ignores. Black images of one
class then leave the biases of the other classes equal. The option --resume goes on with the data
and options of the run alone. Mistakes are one line that names the mistake.
"""
import array
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "saving"))
from saving import build, enter_folder, expect, leave_folder, read_tensors, run, write_npy

COUNT, PIXELS = 10, 36


def write_set(folder, dark=True):
    os.makedirs(folder, exist_ok=True)
    values = [0.0 if dark else i / 100 for i in range(COUNT * PIXELS)]
    write_npy(f"{folder}/image.npy", "<f4", [COUNT, 6, 6, 1], array.array("f", values).tobytes())
    ones = array.array("i", [1] * (COUNT * PIXELS)).tobytes()
    write_npy(f"{folder}/label.npy", "<i4", [COUNT, 6, 6], ones)


def biases(path):
    return read_tensors(path)["logits.bias"]


def refused(arguments, words, status=1):
    done = run(["./pixels", *arguments], status=status)
    lines = done.stderr.splitlines()
    expect(len(lines) == 1 and words in lines[0], f"{arguments}: wanted {words}\n{done.stderr}")


def cropped_labels():
    options = ["train", "--data", "data", "--epochs", "3", "--crop", "3", "--val-split", "0.2"]
    run(["./pixels", *options, "--save", "weights", "--save-state", "state"])
    first, right, last = biases("weights")
    expect(first == last and right > first, f"{first} {right} {last}: class 0 was learned")


def resumed_runs():
    options = ["train", "--resume", "state", "--epochs", "4", "--val-split", "0.2"]
    refused_words = "state: the run had --crop 3, and this command has"
    for crop in [], ["--crop", "2"]:
        done = run(["./pixels", *options, "--data", "data", *crop], status=1)
        expect(refused_words in done.stderr, done.stderr)
    write_set("other/train", dark=False)
    write_set("other/test")
    done = run(["./pixels", *options, "--data", "other", "--crop", "3"], status=1)
    expect("state: the run had the training set's image: 10 samples" in done.stderr, done.stderr)
    expect("label" not in done.stderr, done.stderr)
    os.rename("data", "moved")
    run(["./pixels", *options, "--data=moved", "--crop=3", "--workers", "3"])


def mistakes():
    refused(["train", "--epoch", "3"], "did you mean --epochs", 2)
    refused(["trian"], "did you mean train", 2)
    refused(["eval", "--data", "moved", "--load", "state"], "state: is a state of --save-state")
    refused(["eval", "--data", "nowhere", "--load", "weights"], "--data nowhere: this folder can't")
    refused(["train", "--data", "moved", "--std", "1e-60", "--val-split", "0.2"],
            "--std 1e-60: wanted numbers that float can hold")
    done = run(["./pixels", "train", "-h"])
    expect("--save-every" in done.stdout and not done.stderr, done.stdout + done.stderr)
    run(["./pixels", "predict", "--data", "moved", "--load", "weights", "--output", "new/folder"])
    expect(os.path.exists("new/folder/logits.npy"), "no folder is made")


def main():
    cnnc, libhost, net = [os.path.abspath(path) for path in sys.argv[1:4]]
    folder = enter_folder()
    build(cnnc, libhost, net, [], "pixels")
    write_set("data/train")
    write_set("data/test")
    cropped_labels()
    resumed_runs()
    mistakes()
    leave_folder(folder)


if __name__ == "__main__":
    main()
