#!/usr/bin/env python3
"""Holds the machine code of convolutions: a main loop with other instructions is a failure.

    check_sass.py BUILD sass.txt [PATTERN] [--update]

The file has nvcc's version and, for each precision and architecture, the kernels of net.cnn. The
main loop is the innermost one with the most products: HMMA, or FFMA where there is none. PATTERN
chooses among lines such as `f16 sm_90`. With --update the file is written anew. Another nvcc makes
other code, so the test is skipped then, as it is without nvcc or a disassembler. No GPU is needed.

A kernel may use no local memory: nothing spills.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "ptx"))
from counted import SKIPPED, nvcc_version  # noqa: E402

HEAD = """# Main loops of the convolutions of net.cnn in machine code, held by the test nvcc.sass. To write
# them anew:
#
#     testsuite/sass/check_sass.py build testsuite/sass/sass.txt --update
#
# loop: instructions of the main loop; math: products among them; moves: copies of registers; regs:
# registers of a thread; blocks: that an SM has room for; memory: loads and stores of the loop.
"""
COLUMNS = ["loop", "math", "moves", "regs", "blocks"]
OPTIONS = ["--batch", "64", "--gpu", "h200"]
SETS = [(precision, arch) for precision in ("f16", "tf32", "f32") for arch in ("sm_90", "sm_80")]
# An SM's registers, threads, and bytes of shared memory; each block takes 1 KiB more of these.
REGISTERS, THREADS = 65536, 2048
SHARED = {"sm_90": 233472, "sm_80": 167936}


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout


def opcode(text):
    """LDG.E.128 of `@P0 LDG.E.128 R4, [R2]`."""
    words = text.split()
    return words[1] if words[0].startswith("@") else words[0]


def is_math(text, names):
    return opcode(text).split(".")[0] in names


def main_loop(body, names):
    """The instructions of the innermost loop with the most of these; none: []."""
    heads = {}
    for address, text in body:
        target = re.search(r"BRA.* 0x([0-9a-f]+)", text)
        if target and int(target[1], 16) < address:
            heads[int(target[1], 16)] = address
    best = []
    for head, last in heads.items():
        inside = [text for address, text in body if head <= address <= last]
        count = sum(is_math(text, names) for text in inside)
        within = [sum(is_math(text, names) for address, text in body if low <= address <= high)
                  for low, high in heads.items() if (low, high) != (head, last) and
                  head <= low and high <= last]
        if count > max(within, default=0) and count > sum(is_math(t, names) for t in best):
            best = inside
    return best


def memory_of(loop):
    """LDG.128=4 LDSM=12: loads and stores by their widths."""
    found = collections.Counter()
    for text in loop:
        name, *parts = opcode(text).split(".")
        if re.match(r"(LDG|LDS|LDSM|LDGSTS|STS|STG|LDL|STL)$", name):
            width = next((part for part in parts if re.fullmatch(r"U8|U16|64|128", part)), "")
            found[f"{name}.{width}" if width and name != "LDSM" else name] += 1
    return " ".join(f"{name}={count}" for name, count in sorted(found.items()))


def threads_of(kernel):
    """The threads of a block, by the tile."""
    tensor = re.search(r"TensorTile<\w+, (\d+), (\d+), (\d+), (\d+)", kernel)
    plain = re.search(r"GemmTile<(\d+), (\d+), (\d+), (\d+)>", kernel)
    rows, columns, own_rows, own_columns = map(int, (tensor or plain).groups()) \
        if tensor or plain else (256, 1, 1, 1)
    return (32 if tensor else 1) * rows // own_rows * (columns // own_columns)


def short(kernel):
    """`conv_forward three_normalized, normalized` of a demangled name."""
    name, shape = re.search(r"(\w+)<(\w+)_shape", kernel).groups()
    loads = re.search(r"Normalized|Centred|UnpoolLoad", kernel)
    return f"{name} {shape}" + (f", {loads[0].lower()} on load" if loads else "")


def kernels_of(folder, cubin):
    """Names, bodies and resources of the kernels of a cubin."""
    bodies, used, name = {}, {}, None
    for line in run(f"{folder}/cuobjdump", "-sass", cubin).splitlines():
        head = re.match(r"\s*Function : (\S+)", line)
        row = re.match(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;", line)
        if head:
            name = head[1]
            bodies[name] = []
        elif row and name:
            bodies[name].append((int(row[1], 16), row[2]))
    for line in run(f"{folder}/cuobjdump", "-res-usage", cubin).splitlines():
        head = re.match(r"\s*Function (\S+):", line)
        if head:
            name = head[1]
        elif "REG:" in line:
            used[name] = {key: int(value) for key, value in re.findall(r"(\w+):(\d+)", line)}
    plain = subprocess.run(["c++filt"], input="\n".join(bodies), stdout=subprocess.PIPE,
                           check=True, text=True).stdout.splitlines()
    for mangled, demangled in zip(list(bodies), plain):
        yield demangled.replace("sass_program::", ""), bodies[mangled], used[mangled]


def count(build, folder, precision, arch):
    rows = {}
    with tempfile.TemporaryDirectory() as work:
        run(f"{build}/cnnc", f"{HERE}/net.cnn", *OPTIONS, "--precision", precision, "-o",
            f"{work}/net.cu")
        run("nvcc", "-O3", "-fmad=false", "-std=c++17", f"-arch={arch}", "-cubin",
            f"{work}/net.cu", "-o", f"{work}/net.cubin")
        for kernel, body, used in kernels_of(folder, f"{work}/net.cubin"):
            if not re.search(r"(conv|depthwise)_\w+<(?!logits)", kernel):
                continue
            loop = main_loop(body, ("HMMA",)) or main_loop(body, ("FFMA",))
            math = "HMMA" if any(is_math(text, ("HMMA",)) for text in loop) else "FFMA"
            threads, registers = threads_of(kernel), (used["REG"] + 7) // 8 * 8
            blocks = min(REGISTERS // (registers * threads), THREADS // threads,
                         SHARED[arch] // (used["SHARED"] + 1024))
            if used["STACK"] or used["LOCAL"]:
                raise SystemExit(f"{precision} {arch}: {kernel} uses local memory")
            name = short(kernel)
            while name in rows:
                name += " again"
            rows[name] = [str(len(loop)), str(sum(is_math(text, (math,)) for text in loop)),
                          str(sum(bool(re.match(r"MOV|IMAD\.MOV", opcode(text)))
                                  for text in loop)), str(used["REG"]), str(blocks),
                          memory_of(loop)]
    return rows


def read(path):
    version, sets = None, {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            first, _, rest = line.rstrip("\n").partition(" ")
            if first == "nvcc":
                version = rest
            elif first == "set":
                own = sets[rest] = {}
            elif "|" in line:
                name, numbers, memory = line.split("|")
                if name.strip() != "kernel":
                    own[name.strip()] = [*numbers.split(), memory.strip()]
    return version, sets


def write(path, version, sets):
    lines = [HEAD, f"nvcc {version}"]
    for name, rows in sets.items():
        lines += ["", f"set {name}", f"{'kernel':<52}|" + "".join(f"{c:>7}" for c in COLUMNS) +
                  " | memory"]
        lines += [f"{kernel:<52}|" + "".join(f"{n:>7}" for n in row[:-1]) + f" | {row[-1]}".rstrip()
                  for kernel, row in sorted(rows.items())]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([*lines, ""]))


def differences(old, new):
    for kernel in sorted({*old, *new}):
        if kernel not in new or kernel not in old:
            yield f"{kernel}: {'gone' if kernel in old else 'new'}"
            continue
        for column, was, now in zip([*COLUMNS, "memory"], old[kernel], new[kernel]):
            if was != now:
                yield f"{kernel}: {column} {was} -> {now}"


def main():
    words = [word for word in sys.argv[1:] if word != "--update"]
    build, path, pattern = [*words, ""][:3]
    update = "--update" in sys.argv
    if nvcc_version() is None:
        print("nvcc is missing")
        return SKIPPED
    version, sets = (None, {}) if update and not os.path.exists(path) else read(path)
    if version != nvcc_version() and not update:
        print(f"the code is of nvcc {version}, and this is nvcc {nvcc_version()}")
        return SKIPPED
    found = subprocess.run([f"{HERE}/disassembler", build], stdout=subprocess.PIPE, check=False,
                           text=True)
    if found.returncode:
        return found.returncode
    changed = 0
    for precision, arch in SETS:
        name = f"{precision} {arch}"
        if not re.search(pattern, name):
            continue
        rows = count(build, found.stdout.strip(), precision, arch)
        lines = [] if update else list(differences(sets.get(name, {}), rows))
        print(f"{name}: {len(rows)} kernels, {len(lines)} differences")
        print(*(f"    {line}\n" for line in lines), sep="", end="", flush=True)
        sets[name] = rows
        changed += len(lines)
    if update:
        write(path, nvcc_version(), sets)
    elif changed:
        print("If the change is intended: testsuite/sass/check_sass.py build "
              "testsuite/sass/sass.txt --update")
    return int(changed > 0)


sys.exit(main())
