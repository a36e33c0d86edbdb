#!/usr/bin/env python3
"""A run whose training steps are graphs ends in the bytes of one that launches each kernel.

    check_replay.py CNNC HOST LIBRARY DATA

A small net learns two epochs of the digits, the last batch of each smaller, evaluated after each:
as it is; with its calls made directly; where no graph can be made, or a call fails while one is
made, which it says. Weights and statistics must be the same bytes. Where a graph fails the run must
fail, so graphs are launched.
"""
import os
import subprocess
import sys
import tempfile

CXX = os.environ.get("CXX", "clang++")

cnnc, host, library, data = map(os.path.abspath, sys.argv[1:])

NET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "small.cnn")
CAPTURE = "cudaStreamBeginCapture(c->stream, cudaStreamCaptureModeThreadLocal)"
PREPARED = "&main_graphs, inputs, bytes, main_train)"
FAILS_CAPTURED = """&main_graphs, inputs, bytes, [](const void *const *, const size_t *) {
        small_check(&main_context, cudaErrorStreamCaptureUnsupported, -1, "planted");
        return (int)main_context.error.status; })"""
LAUNCH = "cudaGraphLaunch(graphs->exec[k], c->stream)"
# The edited text; whether the run ends well; the message then.
RUNS = {
    "graphs": ([], True, None),
    "calls": ([("net->replay(", "net->train(")], True, None),
    "none": ([(CAPTURE, "cudaErrorNotSupported")], True, "no graph can be made"),
    "spoilt": ([(PREPARED, FAILS_CAPTURED)], True, "no graph can be made"),
    "failing": ([(LAUNCH, "cudaErrorLaunchFailure")], False, "cudaGraphLaunch"),
}


def train(folder, text, name):
    edits, good, says = RUNS[name]
    for old, new in edits:
        assert text.count(old) == 1, f"no place, or more than one, for {old}"
        text = text.replace(old, new)
    source, program, weights = (os.path.join(folder, name + end) for end in (".cu", "", ".st"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run([CXX, "-std=c++17", "-O0", "-w", "-I", host, "-xc++", source, "-xnone",
                    library, "-lpthread", "-o", program], check=True)
    done = subprocess.run([program, "train", "--data", data, "--epochs", "2", "--val-split", "0.1",
                           "--save", weights], text=True, capture_output=True, check=False)
    print(name, done.returncode, done.stderr.strip()[:200])
    assert (done.returncode == 0) == good, done.stdout + done.stderr
    assert (says or "") in done.stderr and bool(done.stderr) == bool(says), done.stderr
    if not good:
        return None
    with open(weights, "rb") as file:
        return file.read()


def main():
    with tempfile.TemporaryDirectory() as folder:
        text = subprocess.run([cnnc, "--main", NET, "-o", "-"], text=True, stdout=subprocess.PIPE,
                              check=True).stdout
        ends = {name: train(folder, text, name) for name in RUNS}
    assert ends["graphs"] == ends["calls"] == ends["none"], "other bytes"


if __name__ == "__main__":
    main()
