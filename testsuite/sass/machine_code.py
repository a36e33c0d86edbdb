"""Machine code of kernels: their instructions, loops and registers, from a disassembler."""
import collections
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "tools"))
from held import Failed, run  # noqa: E402

# An SM's registers, threads, and bytes of shared memory; each block takes 1 KiB more of these.
REGISTERS, THREADS = 65536, 2048
SHARED = {"sm_90": 233472, "sm_80": 167936}


class Kernel:
    """A kernel of a cubin: its demangled name, instructions as (address, text), and resources."""

    def __init__(self, name, body, used):
        # After the last exit are divisions of rare operands and filling.
        end = max((address for address, text in body if opcode(text) == "EXIT"), default=0)
        self.name, self.used = name, used
        self.body = [(address, text) for address, text in body if address <= end]

    def texts(self, low, high):
        return [text for address, text in self.body if low <= address <= high]

    def loops(self):
        """The last address of each loop by its first."""
        heads = {}
        for address, text in self.body:
            target = re.search(r"BRA.* 0x([0-9a-f]+)", text)
            if target and int(target[1], 16) < address:
                heads[int(target[1], 16)] = address
        return heads

    def main_loop(self, names):
        """The first and last address of the innermost loop with the most of these, or None."""
        loops, best, most = self.loops(), None, 0
        for head, last in loops.items():
            count = sum(is_math(text, names) for text in self.texts(head, last))
            within = [sum(is_math(text, names) for text in self.texts(low, high))
                      for low, high in loops.items() if (low, high) != (head, last) and
                      head <= low and high <= last]
            if count > max([most, *within]):
                best, most = (head, last), count
        return best

    def around(self, loop):
        """The smallest loop around this one, or None."""
        outer = [(low, high) for low, high in self.loops().items()
                 if (low, high) != loop and low <= loop[0] and loop[1] <= high]
        return min(outer, key=lambda each: each[1] - each[0], default=None)

    def last_block(self):
        """The instructions after an atomic and the exit after it: only the last block runs them."""
        counted = False
        for number, (_, text) in enumerate(self.body):
            counted = counted or opcode(text).startswith("ATOM")
            if counted and text.startswith("@") and opcode(text) == "EXIT":
                return len(self.body) - number - 1
        return 0

    def blocks(self, threads, arch):
        """The blocks that an SM has room for."""
        registers = (self.used["REG"] + 7) // 8 * 8
        return min(REGISTERS // (registers * threads), THREADS // threads,
                   SHARED[arch] // (self.used["SHARED"] + 1024))


def opcode(text):
    """LDG.E.128 of `@P0 LDG.E.128 R4, [R2]`."""
    words = text.split()
    return words[1] if words[0].startswith("@") else words[0]


def is_math(text, names):
    return opcode(text).split(".")[0] in names


def count_math(texts, names):
    return sum(is_math(text, names) for text in texts)


def memory_of(texts):
    """LDG.128=4 LDSM=12: loads and stores by their widths."""
    found = collections.Counter()
    for text in texts:
        name, *parts = opcode(text).split(".")
        if re.match(r"(LDG|LDS|LDSM|LDGSTS|STS|STG|LDL|STL)$", name):
            width = next((part for part in parts if re.fullmatch(r"U8|U16|64|128", part)), "")
            found[f"{name}.{width}" if width and name != "LDSM" else name] += 1
    return " ".join(f"{name}={count}" for name, count in sorted(found.items()))


def tile_of(kernel):
    """The rows and columns of a block's tile, those of a warp or a thread, and threads of a block;
    without a tile 256 threads."""
    tensor = re.search(r"TensorTile<\w+, (\d+), (\d+), (\d+), (\d+)", kernel)
    plain = re.search(r"GemmTile<(\d+), (\d+), (\d+), (\d+)[,>]", kernel)
    if not (tensor or plain):
        return None, 256
    tile = tuple(map(int, (tensor or plain).groups()))
    return tile, (32 if tensor else 1) * (tile[0] // tile[2]) * (tile[1] // tile[3])


def disassembler(build):
    """The folder of cuobjdump."""
    found = subprocess.run([f"{HERE}/disassembler", build], stdout=subprocess.PIPE, check=False,
                           text=True)
    if found.returncode:
        raise Failed("no disassembler", found.returncode)
    return found.stdout.strip()


def compiled(build, source, arch):
    """The kernels of a .cu file, as nvcc compiles it for users."""
    folder, cubin = disassembler(build), os.path.splitext(source)[0] + ".cubin"
    run(["nvcc", "-O3", "-fmad=false", "-std=c++17", f"-arch={arch}", "-cubin", source, "-o",
         cubin])
    bodies, used, name = {}, {}, None
    for line in run([f"{folder}/cuobjdump", "-sass", cubin]).splitlines():
        head = re.match(r"\s*Function : (\S+)", line)
        row = re.match(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;", line)
        if head:
            name = head[1]
            bodies[name] = []
        elif row and name:
            bodies[name].append((int(row[1], 16), row[2]))
    for line in run([f"{folder}/cuobjdump", "-res-usage", cubin]).splitlines():
        head = re.match(r"\s*Function (\S+):", line)
        if head:
            name = head[1]
        elif "REG:" in line:
            used[name] = {key: int(value) for key, value in re.findall(r"(\w+):(\d+)", line)}
    plain = subprocess.run(["c++filt"], input="\n".join(bodies), stdout=subprocess.PIPE,
                           check=True, text=True).stdout.splitlines()
    return [Kernel(re.sub(r"\b\w+_program::", "", demangled), bodies[mangled], used[mangled])
            for mangled, demangled in zip(list(bodies), plain)]
