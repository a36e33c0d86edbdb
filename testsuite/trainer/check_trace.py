#!/usr/bin/env python3
"""A trace of training steps has each launch of the plan with its time, and changes no bit.

    check_trace.py CNNC LIBHOST NET.cnn PAIRS.cnn

The second net takes three micro-batches, so its launches repeat; some are products of cuBLAS. Names, phases, lines, costs and live
bytes are those of --emit trace; the maximum of the counter is the plan's bound. A program without
cnnc --trace has no marks, and refuses the option.
"""
import json
import os
import subprocess
import sys
import time

# Its bytes do not depend on the compiler.
os.environ.setdefault("CXX", "clang++")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "saving"))
from saving import build, bytes_of, enter_folder, expect, leave_folder, make_data, run  # noqa: E402

cnnc, libhost, net, pairs = map(os.path.abspath, sys.argv[1:])
MICRO = ["--microbatch", "16"]


def plan(kind, path, *options):
    text = subprocess.run([cnnc, path, "--emit", kind, "-o", "-", *options], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return json.loads(text)


def train(name, data, *more, status=0):
    return run(["./" + name, "train", "--epochs", "2", *data, *more], status)


def of_phase(events, phase):
    return [event for event in events if event["ph"] == phase]


def check_times(events, wall):
    """Launches follow each other; none takes no time."""
    end = 0
    for event in events:
        begin, length = round(event["ts"] * 1e3), round(event["dur"] * 1e3)
        expect(begin >= end and length >= 0, f"overlaps at {event}")
        end = begin + length
    end /= 1e3
    total = sum(event["dur"] for event in events)
    expect(0 < total <= end <= 1e6 * wall, f"{total} of {end} us in {wall} s")


def check(name, path, data, options, steps, order):
    """order: the numbers of a training step's launches, from its plan."""
    begun = time.monotonic()
    first, last = steps
    said = train(name, data, "--save", name + ".traced", "--trace", name + ".json", *(
        ["--trace-steps", f"{first}..{last}"] if steps != (2, 4) else [])).stdout
    wall = time.monotonic() - begun
    expect(f"training steps {first} to {last} are in {name}.json" in said, said)
    train(name, data, "--save", name + ".usual")
    expect(bytes_of(name + ".traced") == bytes_of(name + ".usual"), "a trace changes bits")
    with open(name + ".json", encoding="ascii") as file:
        trace = json.load(file)
    model = plan("trace", path, *options)
    launches, counters = (of_phase(model["traceEvents"], phase) for phase in "XC")
    numbers = plan("plan", path, *options)
    wanted = [(step, number) for step in range(first, last + 1) for number in order(numbers)]
    found = of_phase(trace["traceEvents"], "X")
    expect([(event["args"]["training_step"], event["args"]["step"]) for event in found] == wanted,
           f"launches {[event['args']['step'] for event in found]}")
    live = of_phase(trace["traceEvents"], "C")
    for event, count in zip(found, live):
        like = launches[event["args"]["step"]]
        for key in "name", "cat":
            expect(event[key] == like[key], f"{event} is not {like}")
        for key in "phase", "line", "moved_bytes", "flops":
            expect(event["args"][key] == like["args"][key], f"{event} is not {like}")
        expect(count["args"] == counters[event["args"]["step"]]["args"] and
               count["ts"] == event["ts"], f"{count} at {event}")
    expect(max(count["args"]["live bytes"] for count in live) == numbers["max_live_bytes"],
           "the bound")
    check_times(found, wall)


def check_refusals(data):
    rows = [("0..2", "wanted training steps from 1"), ("3..2", "wanted training steps from 1"),
            ("3-4", "wanted training steps from 1"), ("12..13", "and this run takes 1 to 12"),
            ("1..", "wanted training steps from 1")]
    for steps, words in rows:
        said = train("net", data, "--trace", "t", "--trace-steps", steps, status=1).stderr
        expect(words in said, said)
    said = train("plain", data, "--trace", "t", status=1).stderr
    expect("wanted a program of cnnc --main --trace" in said, said)
    train("net", data, "--save-state", "s")
    said = run(["./net", "train", "--epochs", "3", *data, "--resume", "s", "--trace", "t"],
               1).stderr
    expect("wanted training steps 2 to 4, and this run takes 13 to 18" in said, said)
    expect(not os.path.exists("t"), "a file of a refused trace")
    with open("plain.cu", encoding="ascii") as file:
        expect("mark_launch(" not in file.read(), "marks that nobody wants")
    said = subprocess.run([cnnc, net, "--trace", "-o", os.devnull], stderr=subprocess.PIPE,
                          text=True, check=False)
    expect(said.returncode and "--trace is for the trainer of --main" in said.stderr,
           said.stderr)


def check_stopped(data):
    """A run that patience ends before the last traced step leaves no file."""
    done = train("net", data, "--lr", "0", "--monitor", "loss", "--patience", "1", "--mode", "max",
                 "--min-delta", "9", "--epochs", "40", "--trace", "stopped", "--trace-steps",
                 "10..200")
    expect("the run ended before training step 200: nothing is written" in done.stderr and
           not os.path.exists("stopped"), done.stderr)


def repeated(numbers):
    """Three micro-batches, then the update."""
    batch = list(range(numbers["batch_steps"]))
    return 3 * batch + list(range(len(batch), len(numbers["steps"])))


def main():
    folder = enter_folder()
    build(cnnc, libhost, net, ["--trace"], "net")
    build(cnnc, libhost, net, [], "plain")
    build(cnnc, libhost, pairs, ["--trace", *MICRO], "micro")
    data = make_data("net", 5, "data")
    check("net", net, data, [], (2, 4), lambda numbers: range(len(numbers["steps"])))
    check("micro", pairs, make_data("micro", 2, "pairs"), MICRO, (1, 2), repeated)
    check_refusals(data)
    check_stopped(data)
    leave_folder(folder)


if __name__ == "__main__":
    main()
