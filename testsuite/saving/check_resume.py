#!/usr/bin/env python3
"""A run that goes on is, bit for bit, one that never stopped:

    check_resume.py CNNC LIBHOST NET.cnn [--sections 1] OPTIONS...

OPTIONS are cnnc's; those of golden/examples.txt that are not are left out.  A run of two epochs
saves its state after every training step.  From each state that was ever on disk a run goes on with
more readers. In turn it uses the same program, one of other memory passes, and one that recomputes
maps. Weights, best weights, log and last state must be those of the first run. With --sections a
bit of each section is changed: that must show, and so must a program of another STATE_HASH.
"""
import os
import sys

# Its files do not depend on the compiler, as the calls that check_whole.py orders do.
os.environ.setdefault("CXX", "clang++")
from saving import (build, build_shim, bytes_of, enter_folder, expect, forged, kept, leave_folder,
                    make_data, run, sections, without_speed)

EPOCHS, BATCHES = 2, 2
OTHERS = {"apart": ["-fno-share-buffers", "-fno-schedule", "-fno-assign-offsets"],
          "again": ["--checkpoint", "every 2"]}
FILES = ["weights", "best", "state"]


def options_of(words):
    options = []
    for word, value in zip(words[::2], words[1::2]):
        if word in ("--batch", "-D"):
            options += [word, value]
    return options


def write(path, data):
    with open(path, "wb") as out:
        out.write(data)


def train(program, data, resume=None, **shim):
    arguments = ["./" + program, "train", "--epochs", str(EPOCHS), "--seed", "3", *data,
                 "--save", "weights", "--best", "best", "--log", "log",
                 "--save-state", "state", "--save-every", "1"]
    if resume:
        arguments += ["--resume", "state", "--workers", "3"]
    return run(arguments, **shim)


def results():
    return [bytes_of(name) for name in FILES] + [without_speed(bytes_of("log"))]


def check_sections_matter(state, data, wanted):
    """A bit of each section, changed and its checksum mended, must show: the resumed run writes
    other bytes, or is refused."""
    for name, offset, size in sections(state):
        at = offset + (16 if name == "position" else 32 if name == "header" else size // 2 // 4 * 4)
        spoilt = bytearray(state)
        spoilt[at] ^= 0x10
        for path in FILES:
            if os.path.exists(path):
                os.remove(path)
        write("state", forged(spoilt))
        done = run(["./whole", "train", "--epochs", str(EPOCHS), *data, "--save", "weights",
                    "--best", "best", "--log", "log", "--save-state", "state", "--save-every", "1",
                    "--resume", "state"], status=None)
        expect(done.returncode or results() != wanted, f"a changed {name} goes unnoticed")
        write("state", bytes(spoilt))
        done = run(["./whole", "train", *data, "--resume", "state"], status=1)
        expect(f"state: {name}, bytes {offset} to {offset + size}: wanted checksum" in done.stderr,
               done.stderr)


def check_hash_matters(cnnc, libhost, net, options, state, data):
    """A program whose state is said to be another refuses the file."""
    build(cnnc, libhost, net, options, "unlike", [(r"_STATE_HASH 0x\w+", r"\g<0> + 1")])
    write("state", state)
    done = run(["./unlike", "train", *data, "--resume", "state"], status=1)
    expect("state: " in done.stderr and "epoch" not in done.stdout, done.stderr)


def main():
    cnnc, libhost, net = [os.path.abspath(path) for path in sys.argv[1:4]]
    options = options_of(sys.argv[4:])
    folder = enter_folder()
    build_shim()
    build(cnnc, libhost, net, options, "whole")
    for name, others in OTHERS.items():
        build(cnnc, libhost, net, options + others, name)
    data = make_data("whole", BATCHES, "data")
    os.mkdir("kept")
    train("whole", data, keep="kept")
    wanted, log = results(), bytes_of("log")
    states, bests = kept("kept", "state"), kept("kept", "best")
    expect(len(states) == EPOCHS * (BATCHES + 1), f"{len(states)} states were saved")
    for i, (number, state) in enumerate(states):
        for path in ["weights", "best"]:
            if os.path.exists(path):
                os.remove(path)
        earlier = [best for n, best in bests if n < number]
        if earlier:
            write("best", earlier[-1])
        write("state", state)
        write("log", log)
        train(["whole", *OTHERS][i % 3], data, resume=True)
        for name, found, want in zip(FILES + ["log"], results(), wanted):
            expect(found == want, f"{name} differs when state {i + 1} goes on")
    print(f"{len(states)} states go on to the same bytes")
    if "--sections" in sys.argv:
        check_sections_matter(states[1][1], data, wanted)
        print(f"{len(list(sections(states[0][1])))} sections matter")
        check_hash_matters(cnnc, libhost, net, options, states[1][1], data)
    leave_folder(folder)


if __name__ == "__main__":
    main()
