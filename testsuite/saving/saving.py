"""Shared by the checks of saving: nets built as users do, data for any net, runs
under the shim, and the state file as bytes.
"""
import array
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
HOST = os.path.join(HERE, "..", "..", "runtime", "host")
COMPILER = os.environ.get("CXX", "g++")


def fail(text):
    print(text)
    sys.exit(1)


def expect(condition, text):
    if not condition:
        fail(text)


def enter_folder():
    """A new folder, in memory where there is any: a kill tells nothing of the disk."""
    memory = "/dev/shm"
    folder = tempfile.mkdtemp(dir=memory if os.access(memory, os.W_OK) else None)
    os.chdir(folder)
    return folder


def leave_folder(folder):
    os.chdir("/")
    shutil.rmtree(folder)


def build(cnnc, libhost, net, options, program, faults=()):
    """faults: pairs of a pattern that the emitted file contains once, and its replacement."""
    subprocess.run([cnnc, "--main", *options, net, "-o", program + ".cu"], check=True)
    with open(program + ".cu", encoding="utf-8") as file:
        text = file.read()
    for old, new in faults:
        text, count = re.subn(old, new, text)
        expect(count == 1, f"{count} places for a fault, not one: {old}")
    with open(program + ".cu", "w", encoding="utf-8") as out:
        out.write(text)
    subprocess.run([COMPILER, "-std=c++17", "-O0", "-I", HOST, "-x", "c++", program + ".cu",
                    "-x", "none", libhost, "-lpthread", "-o", program], check=True)


def build_shim():
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror",
                    os.path.join(HERE, "shim.c"), "-ldl", "-o", "shim.so"], check=True)
    return os.path.abspath("shim.so")


# ---- data ------------------------------------------------------------------------

def write_npy(path, dtype, shape, values):
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode())
        out.write(values)


def encoded(kind, numbers):
    if kind == "BF16":      # numbers of eight bits are exact
        return b"".join(struct.pack("<f", number)[2:] for number in numbers)
    letter = {"F16": "e", "F32": "f", "I32": "i", "I64": "q"}[kind]
    return struct.pack(f"<{len(numbers)}{letter}", *numbers)


def write_tensors(path, tensors):
    """A file of safetensors; by name, (type, shape, numbers)."""
    head, data = {}, b""
    for name, (kind, shape, numbers) in tensors.items():
        part = encoded(kind, numbers)
        head[name] = {"dtype": kind, "shape": shape,
                      "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(head).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def read_tensors(path):
    """By name, the numbers of a file's tensors of F32."""
    raw = bytes_of(path)
    size = struct.unpack_from("<Q", raw)[0]
    head = json.loads(raw[8:8 + size])
    return {name: list(array.array("f", raw[8 + size + at["data_offsets"][0]:
                                            8 + size + at["data_offsets"][1]]))
            for name, at in head.items() if at.get("dtype") == "F32"}


def inputs_of(program):
    listing = subprocess.run(["./" + program, "info", "--tensors"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    for line in listing.splitlines():
        role, name, dtype, shape, classes = line.split()[:5]
        if role == "input":
            yield name, dtype, [int(n) for n in shape.split("x")], int(classes)


def make_data(program, batches, folder, seed=1):
    """Files for every input, of the given batches and one sample; the options that name
    them.  A third as many validate, in the middle of which a batch ends.  Labels are
    drawn from all classes, other numbers from -1 to 1 or 0 to 255."""
    draw = random.Random(seed)
    options = []
    os.makedirs(folder)
    for name, dtype, shape, classes in inputs_of(program):
        for part in ["train", "val"]:
            whole = batches * shape[0] + 1
            count = whole if part == "train" else whole // 3 + 1
            elements = count
            for n in shape[1:]:
                elements *= n
            if classes:
                values, kind = array.array("i", (draw.randrange(classes)
                                                 for _ in range(elements))), "<i4"
            elif dtype == "u8":
                values, kind = draw.randbytes(elements), "|u1"
            else:
                values, kind = array.array("f", (draw.uniform(-1, 1)
                                                 for _ in range(elements))), "<f4"
            path = f"{folder}/{part}.{name}.npy"
            write_npy(path, kind, [count, *shape[1:]], bytes(values))
            options += ["--" + part, f"{name}={path}"]
    return options


# ---- runs --------------------------------------------------------------------------

def run(arguments, status=0, **shim):
    """Runs it, with SHIM_... as given; the result, whose status must be this, if any."""
    environment = dict(os.environ, CNNC_HOST_THREADS="1")
    if shim:
        environment["LD_PRELOAD"] = os.path.abspath("shim.so")
        environment.update(("SHIM_" + key.upper(), str(value)) for key, value in shim.items())
    done = subprocess.run(arguments, env=environment, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    if status is not None and done.returncode != status:
        fail(f"{' '.join(arguments)} {shim}: wanted status {status}, found {done.returncode}\n"
             f"{done.stdout}{done.stderr}")
    return done


def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()


def kept(folder, name):
    """The shim's copies of a file, in the order of its renames: (number, bytes)."""
    found = [(int(file.split(".")[0]), bytes_of(os.path.join(folder, file)))
             for file in os.listdir(folder) if file.split(".", 1)[1] == name]
    return sorted(found)


def without_speed(text):
    """A log without its last column, which is a speed."""
    return b"\n".join(line.rsplit(b",", 1)[0] for line in text.split(b"\n"))


def no_leftovers(what):
    left = [file for file in os.listdir(".") if file.endswith((".tmp", ".lock"))]
    expect(not left, f"{what}: left {left}")


# ---- the state file, as runtime/trainer/state.cuh says it is ---------------------------

MASK = (1 << 64) - 1


def mix(z):
    z = (z + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def checksum(data, skip=None):
    total = len(data)
    for at in range(0, len(data), 8):
        if at != skip:
            total = mix(total ^ int.from_bytes(data[at:at + 8], "little"))
    return total


def sections(state):
    """Name, offset and bytes of each."""
    count = struct.unpack_from("<Q", state, 40)[0]
    for i in range(count):
        name, offset, size, _ = struct.unpack_from("<16sQQQ", state, 48 + 40 * i)
        yield name.rstrip(b"\0").decode(), offset, size


def forged(state):
    """The same with checksums that hold, whatever was done to it."""
    new = bytearray(state)
    found = list(sections(state))
    for i, (_, offset, size) in enumerate(found):
        struct.pack_into("<Q", new, 48 + 40 * i + 32, checksum(new[offset:offset + size]))
    struct.pack_into("<Q", new, 16, checksum(new[:48 + 40 * len(found)], 16))
    return bytes(new)
