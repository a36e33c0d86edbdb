#!/usr/bin/env python3
"""A trainer, each of whose calls to CUDA and cuBLAS fails once.

    check_trainer.py CNNC HOST LIBRARY DATA EACH

A small net learns an epoch of the digits, by graphs, and is evaluated and saved. Call k fails, for
each k (EACH: every EACHth), with a transient error and with one that ruins the device. The run ends
with status 1 and a reason, and its file has all of the weights or none; or, where a graph could not
be made, says that and ends in the same bytes, as it does where something can't be given back. A
trainer that loses errors fails this test.
"""
import os
import re
import subprocess
import sys
import tempfile

CXX = os.environ.get("CXX", "g++")

NET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "trainer", "small.cnn")
PASSES, RUINS = 999, 700  # cudaErrorUnknown, cudaErrorIllegalAddress
CALLED = "    if (error == cudaSuccess) return SMALL_OK;\n    cudaGetLastError();"
LOSES = CALLED.replace("cudaSuccess)", "cudaSuccess || step > 2)")
GRAPHLESS = "no graph can be made"
FAILED = "was made to fail"
GIVES_BACK = ", (cudaFree|cublasDestroy|cuda[A-Za-z]*Destroy)"


class Trainer:
    def __init__(self, folder, name, text, host, library, data):
        self.program, self.weights = (os.path.join(folder, name + end) for end in ("", ".st"))
        self.command = [self.program, "train", "--data", data, "--epochs", "1", "--val-split",
                        "0.1", "--save", self.weights]
        with open(self.program + ".cu", "w", encoding="utf-8") as file:
            file.write(text)
        flags = os.environ.get("CXXFLAGS", "").split()
        subprocess.run([CXX, "-std=c++17", "-O1", "-w", *flags, "-I", host,
                        "-xc++", self.program + ".cu", "-xnone", library, "-lpthread", "-o",
                        self.program], check=True)
        self.sound = self.run({})[2]

    def run(self, environment):
        """The status, the message, and the weights or None."""
        done = subprocess.run(self.command, env=dict(os.environ, **environment), text=True,
                              capture_output=True, check=False)
        weights = None
        if os.path.exists(self.weights):
            with open(self.weights, "rb") as file:
                weights = file.read()
            os.remove(self.weights)
        return done.returncode, done.stderr, weights

    def fault(self, k, error):
        """Returns the fault of a run whose call k fails; None if nothing is, "" if there is
        none."""
        status, said, weights = self.run({"CNNC_HOST_FAIL": f"{k}:{error}"})
        if FAILED not in said:
            return ""
        told = [line for line in said.splitlines() if not line.startswith("host: ")]
        if status == 1:
            good = told and weights in (None, self.sound)
        else:
            graphless = error == PASSES and any(GRAPHLESS in line for line in told)
            good = (status == 0 and weights == self.sound and
                    (graphless or re.search(GIVES_BACK, said)))
        return None if good else f"status {status}, weights {weights is not None}: {said}"


def main():
    cnnc, host, library, data = map(os.path.abspath, sys.argv[1:5])
    each = int(sys.argv[5])
    with tempfile.TemporaryDirectory() as folder:
        text = subprocess.run([cnnc, "--main", "--batch", "600", NET, "-o", "-"], text=True,
                              stdout=subprocess.PIPE, check=True).stdout
        trainer = Trainer(folder, "small", text, host, library, data)
        k, fault = 1, None
        while fault is None:
            fault = trainer.fault(k, PASSES)
            if fault is None:
                fault = trainer.fault(k, RUINS)
            k += each
        assert not fault, f"call {k - each}: {fault}"
        print(f"{(k - 1) // each - 1} calls failed, of {k - each - 1}")
        assert k > 100, "too few calls"

        assert text.count(CALLED) == 1, f"no place, or more than one, for {CALLED}"
        loses = Trainer(folder, "loses", text.replace(CALLED, LOSES), host, library, data)
        assert any(loses.fault(k, PASSES) for k in range(1, 200, 3)), "nobody noticed lost errors"


if __name__ == "__main__":
    main()
