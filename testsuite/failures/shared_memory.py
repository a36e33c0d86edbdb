#!/usr/bin/env python3
"""Shared memory of the kernels of an emitted file, as a GPU would count it.

usage: shared_memory.py OBJECT [LIMIT]

OBJECT is the file built for the host runtime with -ffunction-sections and
-fdata-sections, without inlining (-O0): a function and a __shared__ variable
(thread-local there) have a section each, and relocations tell which function
reaches which. A kernel holds all that it and the functions it calls name, each
once, at its alignment. Prints a line a kernel that has any; fails if one has
more than LIMIT bytes (49152, sm_75's default), or if the file
has no kernel.
"""
import re
import subprocess
import sys
from collections import defaultdict

LAUNCHED = re.compile(r"^HostKernel<&?\(?(.*?)\)?>::threads\(void const\*\)$")


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def demangle(names):
    text = subprocess.run(["c++filt"], input="\n".join(names), check=True,
                          capture_output=True, text=True).stdout
    return dict(zip(names, text.splitlines()))


def section_sizes(path):
    """Bytes and alignment of each section that holds one thread-local variable."""
    sizes = {}
    for line in run("objdump", "-h", "-w", path).splitlines():
        words = line.split()
        if len(words) > 6 and re.match(r"\.t(bss|data)\._Z", words[1]):
            sizes[words[1]] = (int(words[2], 16), 1 << int(words[6].split("**")[1]))
    return sizes


def symbol_sections(path):
    """The section in which each symbol is defined."""
    sections = {}
    for line in run("objdump", "-t", path).splitlines():
        match = re.match(r"[0-9a-f]+ .{7} (\S+)\s+[0-9a-f]+\s+(?:\.hidden )?(\S+)$", line)
        if match:
            sections[match.group(2)] = match.group(1)
    return sections


def references(path, sections):
    """The sections that each section's relocations name."""
    found = defaultdict(set)
    at = None
    for line in run("objdump", "-r", path).splitlines():
        match = re.match(r"RELOCATION RECORDS FOR \[(.*)\]:", line)
        if match:
            at = match.group(1)
            continue
        words = line.split()
        if at and len(words) == 3 and words[1].startswith("R_"):
            name = re.sub(r"[+-]0x[0-9a-f]+$", "", words[2])
            found[at].add(sections.get(name, name))
    return found


def reach(start, refers):
    seen, todo = set(), [start]
    while todo:
        at = todo.pop()
        if at not in seen:
            seen.add(at)
            todo += [to for to in refers[at] if to.startswith((".text", ".tbss", ".tdata"))]
    return seen


def main(path, limit=49152):
    sections = symbol_sections(path)
    sizes = section_sizes(path)
    refers = references(path, sections)
    names = demangle([s for s in sections if "HostKernel" in s])
    kernels, faults = 0, 0
    for symbol, name in sorted(names.items()):
        if not LAUNCHED.match(name):
            continue
        kernels += 1
        end = 0
        held = [sizes[section] for section in reach(sections[symbol], refers) & set(sizes)]
        for size, align in sorted(held, key=lambda one: one[1]):  # in ptxas's order
            end = (end + align - 1) // align * align + size
        if end:
            kernel = LAUNCHED.match(name).group(1)
            print(f"{end:6} {kernel[:120]}")
        if end > int(limit):
            faults += 1
            print(f"more than {limit} bytes of shared memory")
    print(f"{kernels} kernels")
    return 1 if faults or not kernels else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
