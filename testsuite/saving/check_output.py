#!/usr/bin/env python3
"""A file that cnnc writes is whole or missing:

    check_output.py CNNC NET.cnn

With a header and dependencies that makes three files.  Each call that touches one of them fails, or
a fault or a signal comes in it. Then all are as they were, or none is there, and no other file is
left.  When it is killed each file is whole.  A check that writes in place shows that junk would be
noticed.
"""
import os
import resource
import signal
import subprocess
import sys

from saving import build_shim, bytes_of, enter_folder, expect, leave_folder, run

FILES = ["net.cu", "net.h", "net.d"]
OLD = b"as it was\n"
new = []


def start_anew(there):
    for path in os.listdir("."):
        if path not in ("shim.so", "net.cnn"):
            os.remove(path)
    for path in FILES if there else []:
        with open(path, "wb") as out:
            out.write(OLD)


def found():
    return [bytes_of(path) if os.path.exists(path) else None for path in FILES]


def leftovers():
    return sorted(set(os.listdir(".")) - {"shim.so", "net.cnn", "trace", *FILES})


def check_ends(command, calls):
    ends = {"fail": 3, "exit": 70, "term": -signal.SIGTERM, "int": -signal.SIGINT}
    for at, call in enumerate(calls, 1):
        for do, status in ends.items():
            if call == "rename" and do == "exit":
                continue    # nothing is left to find a fault
            for there in [True, False]:
                start_anew(there)
                before = found()
                done = run(command, status=status, at=at, do=do)
                what = f"{do} in call {at}, {call}"
                # Signals wait until all files are moved.
                whole = [new] if call == "rename" and do in ("term", "int") else [before]
                expect(found() in whole, f"{what}: some files changed, and some did not")
                expect(not leftovers(), f"{what}: left {leftovers()}")
                if do == "fail":
                    expect("cnnc: can't write '" in done.stderr and
                           "No space left on device" in done.stderr, f"{what}: {done.stderr}")
    print(f"{len(ends)} ends in each of {len(calls)} calls")


def check_kills(command, calls):
    for at, call in enumerate(calls, 1):
        start_anew(True)
        run(command, status=-signal.SIGKILL, at=at, do="kill")
        for path, has, want in zip(FILES, found(), new):
            expect(has in (OLD, want), f"killed in call {at}, {call}: {path} is junk")
    print(f"killed in each of {len(calls)} calls")


def check_limits(command):
    limits = [0, 1, 4096, len(new[0]) - 1]
    for limit in limits:
        start_anew(True)
        done = subprocess.run(
            command, text=True, stderr=subprocess.PIPE, check=False,
            preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                              (limit, limit)))
        expect(done.returncode == 3 and "File too large" in done.stderr,
               f"files of at most {limit} bytes: status {done.returncode}: {done.stderr}")
        expect(found() == [OLD] * 3 and not leftovers(), f"at most {limit} bytes: not as it was")
    print(f"{len(limits)} limits of size")


def check_places(cnnc):
    """A file that has no place: none of the others is written."""
    os.mkdir("folder")
    for arguments in [["-o", "net.cu", "--header", "nowhere/net.h", "-MD", "-MF", "net.d"],
                      ["-o", "net.cu", "--header", "net.h", "-MD", "-MF", "folder"]]:
        done = run([cnnc, *arguments, "net.cnn"], status=3)
        expect("cnnc: can't write '" in done.stderr, done.stderr)
        expect(found() == [None] * 3 and leftovers() == ["folder"], f"{arguments}: {leftovers()}")
    os.rmdir("folder")
    run([cnnc, "-o", "net.cu", "--header", "net.cu.d", "-MD", "net.cnn"], status=2)
    expect(found() == [None] * 3 and not leftovers(), "two outputs with one name")
    print("3 places that are none")


def plant(command, calls):
    """Written in place, files would be cut short when the program ends."""
    noticed = 0
    for at, call in enumerate(calls, 1):
        start_anew(True)
        run(command, status=None, at=at, do="kill", in_place=1)
        noticed += any(has not in (OLD, want) for has, want in zip(found(), new))
    expect(noticed >= 3, "files that are written in place go unnoticed")
    print(f"planted: junk is noticed in {noticed} of {len(calls)} calls")


def main():
    cnnc, net = [os.path.abspath(path) for path in sys.argv[1:3]]
    folder = enter_folder()
    build_shim()
    with open("net.cnn", "wb") as out:
        out.write(bytes_of(net))
    command = [cnnc, "net.cnn", "-o", "net.cu", "--header", "net.h", "-MD", "-MF", "net.d"]
    run(command, trace="trace")
    with open("trace", encoding="ascii") as trace:
        calls = trace.read().splitlines()
    new.extend(found())
    start_anew(False)
    check_places(cnnc)
    check_ends(command, calls)
    check_kills(command, calls)
    check_limits(command)
    plant(command, calls)
    leave_folder(folder)


if __name__ == "__main__":
    main()
