#!/usr/bin/env python3
"""Runs that compete for their outputs, and runs that are killed:

    check_rivals.py CNNC LIBHOST NET.cnn PAIRS KILLS SEED

A pair of trainers with other seeds starts at once, with the same paths for all that they write.
The one that comes second is refused, and says why; the files are the other's, every byte of them.
A killed run has lost its locks. The next one goes on at once to the bytes of a run that nothing
disturbed, and no temporary file of either is left.
"""
import os
import random
import signal
import subprocess
import sys
import time

from saving import (build, bytes_of, enter_folder, expect, leave_folder, make_data, no_leftovers,
                    without_speed)

FILES = ["weights", "best", "state", "log"]
EPOCHS = 3
data = []


def command(seed, resume=False):
    return ["./small", "train", "--epochs", str(EPOCHS), *data, "--save", "weights", "--best",
            "best", "--log", "log", "--save-state", "state", "--save-every", "1",
            *(["--resume", "state"] if resume else ["--seed", str(seed)])]


def start(seed, resume=False):
    return subprocess.Popen(command(seed, resume), text=True, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, env=dict(os.environ, CNNC_HOST_THREADS="1"))


def start_anew():
    for path in FILES:
        if os.path.exists(path):
            os.remove(path)


def results():
    return [without_speed(bytes_of(path)) if path == "log" else bytes_of(path) for path in FILES]


def undisturbed(seed):
    start_anew()
    began = time.monotonic()
    process = start(seed)
    said = process.communicate()[1]
    expect(process.returncode == 0, said)
    return results(), time.monotonic() - began


def compete(wanted, took, draw, pairs):
    refused = 0
    for i in range(pairs):
        start_anew()
        # Every other pair at once; else the second comes while the first is at work.
        first = start(1)
        time.sleep(draw.uniform(0, took) if i % 2 else 0)
        second = start(2)
        said = [process.communicate()[1] for process in (first, second)]
        status = [process.returncode for process in (first, second)]
        what = f"pair {i + 1}: status {status}: {said}"
        # Where both are done, one began when the other had ended.
        expect(status in ([0, 0], [0, 1], [1, 0]), what)
        for code, text in zip(status, said):
            expect(code == 0 or "another run is writing it: process " in text, what)
            refused += code
        found = results()
        expect(found in wanted if status == [0, 0] else found == wanted[status.index(0)],
               f"{what}: the files are not those of the run that was done")
        no_leftovers(what)
    expect(refused >= pairs // 4, f"only {refused} of {pairs} pairs met")
    print(f"{pairs} competing pairs: {refused} second runs refused, {pairs - refused} came after "
          "the first had ended; no torn file, no lost run, no temporary file left")


def kill(wanted, took, draw, kills):
    """The run that goes on starts as soon as the first is dead."""
    killed = left = 0
    for i in range(kills):
        start_anew()
        process = start(1)
        while i % 2 and process.poll() is None and not os.path.exists("state"):
            time.sleep(0.0005)
        time.sleep(draw.uniform(0, took / 2))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        expect(process.returncode in (0, -signal.SIGKILL), f"status {process.returncode}")
        killed += process.returncode != 0
        left += any(name.endswith((".tmp", ".lock")) for name in os.listdir("."))
        follower = start(1, resume=os.path.exists("state"))
        said = follower.communicate()[1]
        expect(follower.returncode == 0, f"kill {i + 1}: the next run: {said}")
        expect(results() == wanted, f"kill {i + 1}: the run that went on ends otherwise")
        no_leftovers(f"kill {i + 1}, and the next run")
    expect(left > 0, "no kill left anything: there was nothing to sweep")
    print(f"{kills} kills, {killed} of them of a run at work, {left} that left files: every run "
          "went on to the same bytes, and no temporary file is left")


def main():
    cnnc, libhost, net = [os.path.abspath(path) for path in sys.argv[1:4]]
    pairs, kills, draw = int(sys.argv[4]), int(sys.argv[5]), random.Random(int(sys.argv[6]))
    folder = enter_folder()
    build(cnnc, libhost, net, [], "small")
    data.extend(make_data("small", 8, "data"))
    wanted, took = undisturbed(1)
    compete([wanted, undisturbed(2)[0]], took, draw, pairs)
    kill(wanted, took, draw, kills)
    leave_folder(folder)


if __name__ == "__main__":
    main()
