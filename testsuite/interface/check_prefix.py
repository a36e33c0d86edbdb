#!/usr/bin/env python3
"""--prefix renames everything: no symbol of the emitted files bears the net's name.

usage: check_prefix.py CNNC NET RUNTIME_HOST LIBHOST

Emits a trainer and an inference of NET with prefixes of their own. Neither the files nor their
external symbols have a name that begins with the net's. Without the prefixes the texts are those of
the net. Objects of both then link into one program.
"""
import os
import re
import subprocess
import sys
import tempfile
from itertools import zip_longest
from pathlib import Path

CXX = os.environ.get("CXX", "clang++")

BUILDS = {"learn": ("--mode", "train"), "serve": ("--mode", "infer", "--batch", "1")}


def words_of(text):
    """The words of a file, without its comments."""
    return re.findall(r"\w+", re.sub(r"//.*", "", text))


def main():
    cnnc, net, host, library = (Path(path).resolve() for path in sys.argv[1:])
    cxx = [CXX, *os.environ.get("CXXFLAGS", "").split(), "-std=c++17"]
    name = net.stem
    faults = []

    def emit(folder, prefix, options):
        stem = prefix or name
        prefixed = ("--prefix", prefix) if prefix else ()
        subprocess.run([cnnc, net, *options, *prefixed, "-o", f"{stem}.cu", "--header",
                        f"{stem}.h"], check=True, cwd=folder)
        return "".join((folder / f"{stem}.{kind}").read_text() for kind in ("cu", "h"))

    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        (work / "main.c").write_text("".join(
            f'#include "{prefix}.h"\n' for prefix in BUILDS) + "int main(void)\n{\n" + "".join(
            f"    if (!{prefix}_strerror({prefix.upper()}_OK)) return 1;\n"
            for prefix in BUILDS) + "    return 0;\n}\n")
        for prefix, options in BUILDS.items():
            own = emit(work, "", options)
            other = emit(work, prefix, options)
            for word in set(re.findall(rf"\b(?:{name}|{name.upper()})_\w*", other)):
                faults.append(f"{prefix}.cu or {prefix}.h: {word}")
            # Names are all that differs; lines break elsewhere.  Other words are left alone.
            pairs = list(zip_longest(words_of(own), words_of(other), fillvalue=""))
            for old, new in pairs:
                renamed = re.sub(rf"^{name.upper()}(?=_|$)", prefix.upper(),
                                 re.sub(rf"^{name}(?=_|$)", prefix, old))
                if new not in (old, renamed):
                    faults.append(f"--prefix {prefix} makes {new} of {old}")
                    break
            subprocess.run([*cxx, "-O0", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                            "-I", host, "-c", "-x", "c++", f"{prefix}.cu", "-o", f"{prefix}.o"],
                           check=True, cwd=work)
            table = subprocess.run(["nm", "-g", "-P", "--defined-only", "-C", f"{prefix}.o"],
                                   check=True, cwd=work, stdout=subprocess.PIPE, text=True).stdout
            symbols = [line.rsplit(" ", 3)[0] for line in table.splitlines()]
            strong = [line for line in table.splitlines() if re.search(r" [TDBR] \S+ \S+$", line)]
            for line in strong:
                if not line.startswith(f"{prefix}_"):
                    faults.append(f"{prefix}.o: {line}")
            if len(strong) < 8:
                faults.append(f"{prefix}.o has {len(strong)} functions and no more: {symbols[:9]}")
        if not faults:
            subprocess.run(["gcc", "-std=c99", "-Wall", "-Werror", "-c", "main.c"], check=True,
                           cwd=work)
            objects = [f"{prefix}.o" for prefix in ("main", *BUILDS)]
            subprocess.run([*cxx, *objects, library, "-lpthread", "-o", "both"], check=True,
                           cwd=work)
            subprocess.run(["./both"], check=True, cwd=work)
    print("\n".join(faults) or f"{name} has two builds in one program")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
