#!/usr/bin/env python3
"""cnnc and the files of its command line:

    check_cnnc_files.py CNNC

Inputs without an end are refused, with a limit and status 3.  Links are written through, modes
stay, planted links do no harm, and files of a killed cnnc go.
"""
import fcntl
import os
import subprocess
import sys
import threading
import time

from saving import bytes_of, enter_folder, expect, leave_folder, no_leftovers, run

TAG = ".0123456789abcdef"
NET = "net n {\n    input x : f32[4]\n    y = x -> relu\n    output y\n}\n"


def write(path, text="as it was\n"):
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)


def refuse(cnnc, arguments, said, stdin=subprocess.DEVNULL):
    began = time.monotonic()
    done = subprocess.run([cnnc, *arguments], text=True, stdin=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60, check=False)
    expect(done.returncode == 3 and said in done.stderr,
           f"{arguments}: status {done.returncode}: {done.stderr}")
    return time.monotonic() - began


def endless_inputs(cnnc):
    limit = "there are more than 64 MiB to read"
    os.mkfifo("pipe")
    os.symlink("/dev/zero", "zero.ir")
    os.symlink("/dev/zero", "zero.inc")
    write("big.csv", "id,lower,upper,size\n")
    os.truncate("big.csv", (64 << 20) + 1)
    write("zeros.cnn", 'include "zero.inc"\n' + NET)
    write("net.cnn", NET)
    refuse(cnnc, ["/dev/zero"], limit)
    refuse(cnnc, ["zero.ir"], limit)
    refuse(cnnc, ["--plan", "big.csv"], limit)
    refuse(cnnc, ["--gpu", "/dev/zero", "net.cnn"], limit)
    refuse(cnnc, ["zeros.cnn"], "zeros.cnn:1:9: error: can't read 'zero.inc': " + limit)
    took = refuse(cnnc, ["pipe"], "no program writes to this pipe")
    expect(took > 3, "a pipe is not waited for")
    print("inputs without an end: 6 refused")


def endless_includes(cnnc):
    """Files that include the next one twice, and ones that are too deep."""
    for i in range(40):
        write(f"twice{i}.inc", f'include "twice{i + 1}.inc"\n' * 2)
    write("twice40.inc", "")
    write("twice.cnn", 'include "twice0.inc"\n' + NET)
    refuse(cnnc, ["twice.cnn"], "error: more than 1000 files are included")
    for i in range(60):
        write(f"deep{i}.inc", f'include "deep{i + 1}.inc"\n' * 2)
    write("deep.cnn", 'include "deep0.inc"\n' + NET)
    refuse(cnnc, ["deep.cnn"], "error: files are included to a depth of more than 50")
    write("self.inc", 'include "./self.inc"\n')
    write("self.cnn", 'include "self.inc"\n' + NET)
    done = run([cnnc, "self.cnn"], status=1)
    expect("self.inc:1:9: error: './self.inc' includes itself" in done.stderr, done.stderr)
    print("includes without an end: 3 refused")


def pipes_that_end(cnnc):
    """A pipe that a program writes to is a file like others, be it slow or fast."""
    want = run([cnnc, "--mode", "infer", "--emit", "plan", "net.cnn"]).stdout
    for pause in (0, 0.3):
        writer = threading.Thread(target=lambda: (time.sleep(pause), write("pipe", NET)))
        writer.start()
        done = run([cnnc, "--mode", "infer", "--emit", "plan", "pipe"])
        writer.join()
        expect(done.stdout == want, "a pipe gives another plan")
    slow = subprocess.Popen([cnnc, "--mode", "infer", "--emit", "plan", "/dev/stdin"],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for line in NET.splitlines(keepends=True):
        time.sleep(0.1)
        slow.stdin.write(line)
        slow.stdin.flush()
    expect(slow.communicate()[0] == want and slow.returncode == 0, "standard input")
    took = refuse(cnnc, ["net.cnn", "--mode", "infer", "-o", "pipe"], "can't write 'pipe': No such device")
    expect(took > 3, "a pipe is not waited for")
    print("pipes that end are read")


def links_and_modes(cnnc):
    os.makedirs("there")
    for name in ("net.cu", "net.h"):
        write("there/" + name)
        os.chmod("there/" + name, 0o640)
        os.symlink("there/" + name, name)
    os.symlink("there/net.d", "net.d")
    run([cnnc, "net.cnn", "--mode", "infer", "-o", "net.cu", "--header", "net.h", "-MD", "-MF",
         "net.d"])
    for name in ("net.cu", "net.h", "net.d"):
        expect(os.path.islink(name) and bytes_of("there/" + name) != b"as it was\n",
               f"{name}: was not written through")
        mode = os.stat(name).st_mode & 0o777
        expect(name == "net.d" or mode == 0o640, f"{name}: mode {mode:o}")
    os.symlink("nothing", "link")
    for arguments in (["-o", "nothing", "--header", "link"], ["-o", "link", "--report", "nothing"]):
        run([cnnc, "net.cnn", "--mode", "infer", *arguments], status=2)
    for name in ("net.cu", "net.h", "net.d", "link"):
        os.remove(name)
    print("links are written through, and modes stay")


def plants_and_leftovers(cnnc):
    write("victim")
    for end in (".tmp", TAG + ".tmp", TAG + ".old"):
        os.symlink("victim", "net.cu" + end)
    process = subprocess.Popen(["sh", "-c", 'ln -s victim "net.cu.$$.tmp"; exec "$@"', "sh", cnnc,
                                "net.cnn", "--mode", "infer", "-o", "net.cu"])
    expect(process.wait() == 0 and bytes_of("victim") == b"as it was\n",
           "a planted link was written through")
    for name in os.listdir("."):
        if os.path.islink(name):
            os.remove(name)
    left = ["net.cu" + TAG + ".tmp", "net.cu" + TAG + ".old"]
    others = ["net.cu.1.tmp", "net.cux" + TAG + ".tmp", "net.cu.fedcba9876543210.tmp"]
    for name in left + others:
        write(name)
    with open(others[-1], "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        run([cnnc, "net.cnn", "--mode", "infer", "-o", "net.cu"])
    expect(not any(os.path.exists(name) for name in left), "leftovers stay")
    expect(all(os.path.exists(name) for name in others), "other files were removed")
    for name in others:
        os.remove(name)
    no_leftovers("cnnc")
    print("planted links do no harm, and leftovers go")


def main():
    cnnc = os.path.abspath(sys.argv[1])
    folder = enter_folder()
    endless_inputs(cnnc)
    endless_includes(cnnc)
    pipes_that_end(cnnc)
    links_and_modes(cnnc)
    plants_and_leftovers(cnnc)
    leave_folder(folder)


if __name__ == "__main__":
    main()
