#!/usr/bin/env python3
"""Compares runtime/host/nccl.h with NVIDIA's header.

usage: check_header.py ROOT CXX KEPT

The package nvidia-nccl-cu12 of PyPI has NVIDIA's header of VERSION. The folder KEPT keeps the header
for the next time. Each function, enumerator, macro with a number, size and offset of a member in this
runtime's header must be equal in NVIDIA's. The program faults.cu must compile with both. Exits 77 if the package can't be had.
"""
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

VERSION = "2.32.3"
HEADER = "nvidia/nccl/include/nccl.h"
PACKAGE = f"nvidia-nccl-cu12=={VERSION}"
PROGRAM = """#include <nccl.h>
#include <stddef.h>
#include <stdio.h>
#include <typeinfo>
int main()
{{
{}
}}
"""


def fetch(kept):
    """The folder with NVIDIA's header, None if there is none."""
    folder = Path(kept) / VERSION
    if (folder / "nccl.h").exists():
        return folder
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                               "--only-binary=:all:", "--dest", place, PACKAGE])
        wheels = list(Path(place).glob("*.whl"))
        if done.returncode or not wheels:
            return None
        text = zipfile.ZipFile(wheels[0]).read(HEADER)
    folder.mkdir(parents=True, exist_ok=True)
    # It includes this header of CUDA for types that no call of this runtime takes.
    (folder / "cuda_fp8.h").write_text("")
    (folder / "nccl.h").write_bytes(text)
    return folder


def lines_of(text):
    """Statements that print each fact of a header."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    for name in sorted(set(re.findall(r"\b(nccl\w+)\(", code))):
        yield f'printf("{name} %s\\n", typeid(decltype(&{name})).name());'
    names = {name for body in re.findall(r"typedef enum \{(.*?)\}", code, re.DOTALL)
             for name in re.findall(r"\b(nccl[A-Z]\w*)", body)}
    names |= set(re.findall(r"X\((nccl\w+), \d+,", code))
    names |= set(re.findall(r"#define (NCCL_(?!HOST|CONFIG_INIT|CONFIG_UNDEF_PTR|COMM_NULL|SUFFIX|H_)\w+) ",
                            code))
    for name in sorted(names):
        yield f'printf("{name} %lld\\n", (long long){name});'
    for name in "ncclUniqueId", "ncclResult_t", "ncclRedOp_t", "ncclDataType_t", "ncclConfig_t":
        yield f'printf("{name} %zu\\n", sizeof({name}));'
    body = re.search(r"typedef struct ncclConfig_v\d+ \{(.*?)\}", code, re.DOTALL)[1]
    for name in re.findall(r"(\w+)\s*[,;]", body):
        yield f'printf("{name} %zu\\n", offsetof(ncclConfig_t, {name}));'
    yield "ncclConfig_t config = NCCL_CONFIG_INITIALIZER;"
    yield 'for (size_t i = 0; i < sizeof config; i++) printf("%d ", ((char *)&config)[i]);'


def facts(root, cxx, header, program, folder):
    source, binary = Path(folder, "facts.cpp"), Path(folder, "facts")
    source.write_text(program)
    subprocess.run([cxx, "-std=c++17", "-w", "-I", header, "-I", root / "runtime/host", source, "-o",
                    binary], check=True)
    return subprocess.run([binary], stdout=subprocess.PIPE, text=True, check=True).stdout


def compiles(root, cxx, header):
    return subprocess.run([cxx, "-std=c++17", "-w", "-fsyntax-only", "-I", header, "-I",
                           root / "runtime/host", "-x", "c++",
                           root / "testsuite/ranks/faults.cu"]).returncode == 0


def main(root, cxx, kept):
    root, theirs = Path(root), fetch(kept)
    if not theirs:
        print(f"no {PACKAGE} here")
        return 77
    ours = root / "runtime/host"
    program = PROGRAM.format("\n".join(lines_of((ours / "nccl.h").read_text())))
    with tempfile.TemporaryDirectory() as folder:
        found, wanted = (facts(root, cxx, header, program, folder).splitlines()
                         for header in (ours, theirs))
        good = all(compiles(root, cxx, header) for header in (ours, theirs))
    differences = [f"found {a}, wanted {b}" for a, b in zip(found, wanted) if a != b]
    print(*differences, f"{len(found)} facts, {len(differences)} differences", sep="\n")
    return 0 if good and not differences and len(found) == len(wanted) > 80 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
