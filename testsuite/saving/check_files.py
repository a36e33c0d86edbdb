#!/usr/bin/env python3
"""The trainer and the files of its command line:

    check_files.py CNNC LIBHOST NET.cnn

No output is one of the run's own files, whatever name leads there.  Links are written through,
modes stay, planted links do no harm, and the temporary files of dead runs go.  A data file that
shrinks while the run reads it, and a signal, end the run with a state that goes on.
"""
import fcntl
import os
import signal
import subprocess
import sys
import time

from saving import (build, bytes_of, enter_folder, expect, leave_folder, make_data, no_leftovers,
                    run)

EPOCHS = 8
data = []
TAG = ".0123456789abcdef.tmp"


def train(*options, epochs=1, sets=None):
    return ["./small", "train", "--epochs", str(epochs), *(data if sets is None else sets),
            *options]


def write(path, content=b"as it was\n"):
    with open(path, "wb") as out:
        out.write(content)


def names():
    return {path: bytes_of(path) if os.path.isfile(path) else None for path in os.listdir(".")}


# ---- the run's own files -------------------------------------------------------------------

def refuse_own_files():
    """Each output that is another file of the command is refused before anything is opened."""
    run(train("--save", "weights", "--save-state", "state"))
    image = next(text.split("=")[1] for text in data if text.startswith("image=data/train"))
    val = next(text.split("=")[1] for text in data if text.startswith("image=data/val"))
    os.symlink("nothing", "dangling")
    os.symlink("weights", "link")
    os.link("weights", "hard")
    os.makedirs("set/test")
    for name in ("image", "label"):
        os.link(f"data/train.{name}.npy", f"set/test/{name}.npy")
    os.symlink("test/image.npy", "set/logits.npy")      # an output of this name
    cases = [
        (train("--save", image), f"--save {image}: the train set reads the same file"),
        (train("--log", val), f"--log {val}: the val set reads the same file"),
        (train("--best", "y", "--save-state", "y"), "--save-state y: --best writes the same file"),
        (train("--save", "y", "--log", "./y"), "the same file"),
        (train("--save", "dangling", "--best", "nothing"), "the same file"),
        (train("--load", "weights", "--save", "link"), "--load reads the same file"),
        (train("--load", "weights", "--save", "hard"), "--load reads the same file"),
        (train("--resume", "state", "--save", "state"), "--resume reads the same file"),
        (train("--save-state", "y", "--save", "y.lock"), "the same file"),
        (train("--save", "small"), "this program reads the same file"),
        (["./small", "predict", "--data", "set", "--load", "weights", "--output", "set"],
         "--output set/logits.npy: the test set reads the same file"),
        (["./small", "predict", "--data", "set", "--load", "weights", "--classes", "weights"],
         "--load reads the same file"),
        (["./small", "step", "--batch", "weights", "--save", "weights"],
         "--batch reads the same file"),
    ]
    before = names()
    for arguments, said in cases:
        done = run(arguments, status=1)
        expect(said in done.stderr and done.stderr.count("\n") == 1, f"{arguments}: {done.stderr}")
        expect(names() == before, f"{arguments}: files changed")
    run(train("--resume", "state", "--save-state", "state", epochs=2))
    print(f"{len(cases)} outputs that are other files of the command are refused")


# ---- names that lead elsewhere ---------------------------------------------------------------

def keep_links_and_modes():
    outputs = {"weights": "--save", "best": "--best", "state": "--save-state", "log": "--log"}
    os.makedirs("there")
    for path in outputs:
        for name in (path, "there/" + path):
            if os.path.lexists(name):
                os.remove(name)
        write("there/" + path)
        os.chmod("there/" + path, 0o640)
        os.symlink("there/" + path, path)
    # The last of them leads to a file that is not there yet.
    os.remove("there/log")
    run(train(*[word for path, option in outputs.items() for word in (option, path)], epochs=2))
    for path in outputs:
        expect(os.path.islink(path), f"{path}: the link was replaced")
        expect(bytes_of("there/" + path) != b"as it was\n", f"{path}: was not written through")
        mode = os.stat(path).st_mode & 0o777
        expect(path == "log" or mode == 0o640, f"{path}: mode {mode:o}")
    print(f"{len(outputs)} links are written through, and modes stay")


def survive_plants():
    """Links under the names that temporary files have or had."""
    for path in ("weights", "state"):
        os.remove(path)
    write("victim")
    for name in ("weights.tmp", "state.tmp", "weights" + TAG, "state" + TAG):
        os.symlink("victim", name)
    run(train("--save", "weights", "--save-state", "state"))
    expect(bytes_of("victim") == b"as it was\n", "a planted link was written through")
    for name in ("weights.tmp", "state.tmp", "weights" + TAG, "state" + TAG):
        os.remove(name)
    os.symlink("victim", "state.lock")
    done = run(train("--save-state", "state"), status=1)
    expect("state.lock: can't be opened" in done.stderr, done.stderr)
    expect(bytes_of("victim") == b"as it was\n", "a planted lock was written through")
    os.remove("state.lock")
    print("planted links do no harm")


def sweep():
    """Files of dead runs go; files of a living one stay."""
    others = ["state.tmp", "state.123.tmp", "state" + TAG + "x", "x.state" + TAG]
    for name in ["state" + TAG, "weights" + TAG, *others]:
        write(name)
    held = "state.fedcba9876543210.tmp"
    write(held)
    with open(held, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        run(train("--save", "weights", "--save-state", "state"))
        for name in ["state" + TAG, "weights" + TAG]:
            expect(not os.path.exists(name), f"{name} was left")
        for name in [held, *others]:
            expect(os.path.exists(name), f"{name} was removed")
    run(train("--save-state", "state"))
    expect(not os.path.exists(held), f"{held} was left")
    for name in others:
        os.remove(name)
    no_leftovers("a run")
    print("temporary files of dead runs are removed, and no other file")


# ---- the ends of a run -------------------------------------------------------------------------

def undisturbed(options):
    run(train(*options, "--seed", "3", epochs=EPOCHS))
    return bytes_of("weights"), bytes_of("state")


def start(options, **pipes):
    """A run at work: it has saved its state."""
    for path in ("weights", "state"):
        if os.path.exists(path):
            os.remove(path)
    process = subprocess.Popen(train(*options, "--seed", "3", epochs=EPOCHS), text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=dict(os.environ, CNNC_HOST_THREADS="1"), **pipes)
    while process.poll() is None and not os.path.exists("state"):
        time.sleep(0.001)
    return process


def go_on(options, wanted, what):
    run(train(*options, "--resume", "state", epochs=EPOCHS))
    expect((bytes_of("weights"), bytes_of("state")) == wanted, f"{what}: ends in other bytes")


def shrink(options, wanted):
    """A data file loses its end while it is mapped: pages, or a byte of the last."""
    for part in ("train", "val"):
        path = f"data/{part}.image.npy"
        whole = bytes_of(path)
        for size in (len(whole) // 2, len(whole) - 1, 0):
            process = start(options)
            os.truncate(path, size)
            said, complaint = process.communicate()
            what = f"{path} at {size} of {len(whole)} bytes"
            expect(process.returncode == 1, f"{what}: status {process.returncode}: {complaint}")
            expect(f"small: {path}: became shorter while it was in use" in complaint and
                   complaint.count("\n") == 1, f"{what}: {complaint}")
            expect("the state is in state" in said, f"{what}: {said}")
            write(path, whole)
            go_on(options, wanted, what)
    print("6 data files that shrink are told, and the state is saved")


def hang_up(options, wanted):
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        process = start(options)
        process.send_signal(number)
        said = process.communicate()[0]
        expect(process.returncode == 128 + number, f"{number}: status {process.returncode}")
        expect(f"stopped by {signal.Signals(number).name} after epoch " in said, said)
        go_on(options, wanted, f"signal {number}")
    # Nobody reads the output: SIGPIPE.
    process = start(options)
    process.stdout.close()
    process.wait()
    process.stderr.close()
    expect(process.returncode in (-signal.SIGPIPE, 128 + signal.SIGPIPE),
           f"a closed pipe: status {process.returncode}")
    go_on(options, wanted, "a closed pipe")
    print("SIGHUP, SIGTERM, SIGINT and SIGPIPE save the state")


def fill_output():
    for arguments in (train("--save", "weights"), ["./small", "info"], ["./small", "--help"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, text=True,
                                  check=False)
        said = done.stderr.startswith("small: standard output: can't be written")
        expect(done.returncode == 1 and said and done.stderr.count("\n") == 1,
               f"{arguments}: status {done.returncode}: {done.stderr}")
    print("a full output is told")


def train_alone():
    """With neither a validation set nor a test set."""
    alone = [word for i in range(0, len(data), 2) if data[i] == "--train"
             for word in data[i:i + 2]]
    done = run(train("--save", "weights", sets=alone))
    expect("no test set is given: the net was not tested" in done.stdout, done.stdout)
    print("a run needs no test set")


def main():
    cnnc, libhost, net = [os.path.abspath(path) for path in sys.argv[1:4]]
    folder = enter_folder()
    build(cnnc, libhost, net, [], "small")
    data.extend(make_data("small", 12, "data"))
    refuse_own_files()
    keep_links_and_modes()
    survive_plants()
    sweep()
    options = ["--save", "weights", "--save-state", "state", "--save-every", "3"]
    wanted = undisturbed(options)
    shrink(options, wanted)
    hang_up(options, wanted)
    fill_output()
    train_alone()
    leave_folder(folder)


if __name__ == "__main__":
    main()
