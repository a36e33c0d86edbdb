#!/usr/bin/env python3
"""Runs static analysers on the sources; generated files are not ours to mend.

    analyse.py TOOL ROOT GENERATED              prints every complaint; 1 if any
    analyse.py TOOL ROOT GENERATED --planted    the same for the files of planted/

TOOL is gcc, which sees C alone, clang-tidy or cppcheck. Since they take minutes, they are given
the files that differ from the last landing, or include a file that does (tools/changed.py); with
MUTANTS=all they are given all. GENERATED contains the files of flex and
bison. Each file of planted/ has one fault, named in FAULTS with the words that TOOL must say; it is
analysed by the same commands as the sources, as C and as C++.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from changed import changed_files, has_changed  # noqa: E402

FAULTS = {
    "leak.c": {"gcc": "analyzer-malloc-leak", "cppcheck": "memleak",
               "clang-tidy": "clang-analyzer-unix.Malloc"},
    "null.c": {"gcc": "analyzer-null-dereference", "cppcheck": "nullPointer",
               "clang-tidy": "clang-analyzer-core.NullDereference"},
    "double_free.c": {"gcc": "analyzer-double-free", "cppcheck": "doubleFree",
                      "clang-tidy": "clang-analyzer-unix.Malloc"},
    "uninitialised.c": {"gcc": "uninit", "cppcheck": "uninit",
                        "clang-tidy": "clang-analyzer-core"},
    "branches.c": {"clang-tidy": "bugprone-branch-clone"},
}
COMPILER = ("ir", "passes", "codegen", "frontend", "runtime/pack")


def sources(root):
    """The compiler, the packer, and in C++ the host runtime and the trainer."""
    files = [f for folder in COMPILER for f in sorted((root / folder).rglob("*.c"))]
    return files, [*(f for folder in ("runtime/host", "runtime/ptx", "runtime/ptx/cudart")
                     for f in sorted((root / folder).glob("*.cpp"))),
                   root / "testsuite/static/trainer.cpp"]


def flags_of(file, root, generated):
    folders = ["runtime/host"] if file.suffix == ".cpp" else ["codegen", "frontend"]
    return ["-std=c++17" if file.suffix == ".cpp" else "-std=c17",
            *(f"-I{root / folder}" for folder in folders), f"-I{generated}"]


def is_of_gcc(file):
    """The compiler alone: in pack it follows a path on which realloc fails and goes on."""
    return file.suffix == ".c" and "pack" not in file.parts


def gcc(root, generated, files):
    return [["gcc", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fanalyzer", "-fno-diagnostics-"
             "show-caret", *flags_of(f, root, generated), "-c", "-o", "/dev/null", str(f)]
            for f in files if is_of_gcc(f)]


def is_stale(file, root):
    """True if the file, or one that it includes by name, differs from the last landing."""
    if has_changed(str(root), str(file.relative_to(root)), ".clang-tidy",
                   "testsuite/static/analyse.py", "testsuite/static/cppcheck.txt"):
        return True
    names = {Path(name).name for name in changed_files(os.path.realpath(root))}
    return any(Path(name).name in names for name in re.findall(r'#include "([^"]+)"',
                                                               file.read_text()))


def clang_tidy(root, generated, files):
    """One file a process: two in one confuse its checker of variadic functions. The paths through
    the compiler's functions are gcc's to follow; those through a template of runtime/ptx take a
    minute and a half."""
    return [["clang-tidy", "--quiet", f"--config-file={root / '.clang-tidy'}",
             *(["--checks=-clang-analyzer-*"] if is_of_gcc(f) or "ptx" in f.parts else []), str(f),
             "--", "-Wall", "-Wextra", "-DHAVE_JPEG", "-DHAVE_PNG",
             '-DCNNC_VERSION="0"', '-DCNNC_RELEASED="0"', *flags_of(f, root, generated)]
            for f in files]


def cppcheck(root, generated, files):
    here = root / "testsuite/static"
    commands = []
    for suffix, language, enabled in ((".c", "c", "warning,style,performance,portability"),
                                      (".cpp", "c++", "warning,performance,portability")):
        chosen = [f for f in files if f.suffix == suffix]
        if chosen:
            commands.append(["cppcheck", "--quiet", "--error-exitcode=1", f"--enable={enabled}",
                             f"--language={language}", "--inline-suppr",
                             f"--suppressions-list={here / 'cppcheck.txt'}",
                             "--template={file}:{line}: {message} [{id}]",
                             f"--std={'c++17' if language == 'c++' else 'c11'}",
                             *flags_of(chosen[0], root, generated)[1:], *map(str, chosen)])
    return commands


TOOLS = {"gcc": gcc, "clang-tidy": clang_tidy, "cppcheck": cppcheck}


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    text = "\n".join(line for line in done.stdout.splitlines()
                     if not re.match(r"\d+ warnings? (generated|treated)", line))
    return done.returncode, text


def analyse(tool, root, generated, files):
    """How many commands complain, and how many there were."""
    commands = TOOLS[tool](root, generated, files)
    with ThreadPoolExecutor(int(os.environ.get("JOBS", "1"))) as pool:
        results = list(pool.map(run, commands))
    for status, text in results:
        if status:
            print(text)
    return sum(1 for status, _ in results if status), len(commands)


def planted(tool, root, generated):
    """Plants each fault in C and in C++, which other commands analyse. Only gcc's follow paths in C,
    and only in C."""
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, words in ((n, w[tool]) for n, w in FAULTS.items() if tool in w):
            source = root / "testsuite/static/planted" / name
            as_cpp = Path(folder, name).with_suffix(".cpp")
            shutil.copy(source, as_cpp)
            files = [source] if tool == "gcc" else [source, as_cpp]
            for file in files[1:] if words.startswith("clang-analyzer") else files:
                command, = TOOLS[tool](root, generated, [file])
                status, text = run(command)
                found = status != 0 and words in text
                missed += not found
                print(f"{file.name}: {'found' if found else 'NOT FOUND'}: {words}")
                if not found:
                    print(text)
    return missed


def main(tool, root, generated, *rest):
    if not shutil.which(tool):
        print(f"no {tool} here")
        return 77
    root = Path(root).resolve()
    if rest:
        return 1 if planted(tool, root, generated) else 0
    c_files, cpp_files = sources(root)
    files = [file for file in c_files + cpp_files if is_stale(file, root)]
    faults, count = analyse(tool, root, generated, files)
    print(f"{tool}: {count} commands, {faults} with complaints")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
