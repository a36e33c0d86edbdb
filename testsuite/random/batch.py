"""Compiles many nets as one translation unit, runs it, and reports failures.

Used by random_nets.py.  A net is a file NET.cnn with a line "# run: OPTIONS" for each setting."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# The part that is specific to an emitted file and comes with each program.
NOT_SHARED = re.compile(r"interface.*\.cuh|forget\.cuh|launch\.cuh|library\.cuh|offload.*\.cuh|"
                        r"replay\.cuh|half_weights\.cuh|caller_inputs\.cuh|.*mark.*\.cuh")
SYSTEM = ["cublas_v2.h", "cuda_runtime.h", "float.h", "math.h", "stddef.h", "stdint.h", "string.h"]
SECONDS = 1200      # for a whole batch, on a machine that has other work


def runtime_header():
    """All kernels and their shared code, of which section 2 of an emitted file has a part."""
    files = sorted(ROOT.glob("runtime/kernels/*.cuh")) + \
        sorted(ROOT.glob("runtime/support/*/*.cuh"), key=lambda path: path.name)
    lines = [f"#include <{name}>" for name in SYSTEM]
    lines += [f'#include "{path}"' for path in files if not NOT_SHARED.fullmatch(path.name)]
    return "\n".join(lines + ['#include "program.h"', ""])


class Failure(Exception):
    pass


class Tools:
    """The tools of one build, with the runtime precompiled in a folder of work.  CXX and CXXFLAGS
    may say what compiles it."""

    def __init__(self, build, work, exact=False):
        self.build, self.work = Path(build).resolve(), Path(work)
        self.programs = self.build / "testsuite" / "random"
        self.cxx = os.environ.get("CXX") or shutil.which("clang++") or "g++"
        self.flags = ["-std=c++17", "-O0", "-w", "-fno-exceptions",
                      "-fno-asynchronous-unwind-tables", "-I",
                      str(ROOT / "runtime/host"), "-I", str(HERE), *os.environ.get("CXXFLAGS", "").split()]
        if not exact:
            self.flags.append("-DCNNC_F64")
        self.work.mkdir(parents=True, exist_ok=True)
        self.header = self.work / ("exact.h" if exact else "double.h")
        self.header.write_text(runtime_header())
        self.is_clang = "clang" in os.path.basename(self.cxx)
        built = f"{self.header}.pch" if self.is_clang else f"{self.header}.gch"
        self.compile(["-x", "c++-header", str(self.header), "-o", built])

    def compile(self, arguments):
        got = subprocess.run([self.cxx, *self.flags, *arguments], capture_output=True, text=True,
                             timeout=SECONDS)
        if got.returncode:
            raise Failure(got.stderr[:2000])

    def draw(self, seed, exact, settings, path):
        command = [self.programs / "random_net", str(seed), "--settings", str(settings), "-o", path]
        subprocess.run(command + (["--exact"] if exact else []), check=True, timeout=SECONDS)

    def build_batch(self, nets, folder):
        """Returns the program, and the failures of programs that are not in it."""
        source, built, program = folder / "batch.cu", folder / "batch.o", folder / "batch"
        got = subprocess.run([self.programs / "emit_batch", source, *nets], capture_output=True,
                             text=True, timeout=SECONDS)
        if got.returncode:
            raise Failure(got.stdout + got.stderr)
        include = ["-include-pch", f"{self.header}.pch"] if self.is_clang else \
            ["-include", str(self.header)]
        self.compile([*include, "-x", "c++", "-c", str(source), "-o", str(built)])
        libraries = [self.programs / "librandom_run.a", self.programs / "librandom_case.a",
                     self.build / "libcore.a", self.build / "libcnnc_host.a"]
        self.compile([str(built), *map(str, libraries), "-lpthread", "-lm", "-o", str(program)])
        return program, self.check_plans(nets, folder) + got.stdout

    def check_plans(self, nets, folder):
        """Returns plan_check.py's faults of the plans of a batch, as failures of its nets."""
        plans = sorted(folder.glob("batch.cu.*.json"))
        got = subprocess.run([sys.executable, ROOT / "testsuite/plan_check.py", *plans],
                             capture_output=True, text=True, timeout=SECONDS)
        said = got.stdout.splitlines() + got.stderr.splitlines()
        sound = [line for line in said if re.match(r"\S+: sound ", line)]
        text = ""
        for line in said:
            place = re.match(r".*/batch\.cu\.(\d+)\.(\d+)\.\d\.json: (FAULT|UNSOUND|can't)", line)
            if place:
                text += f"FAILED {nets[int(place[1])]} {place[2]}: plan_check: {line}\n"
        if len(sound) != len(plans) and not text:
            raise Failure(got.stdout + got.stderr)
        return text

    def run(self, nets, name):
        """{(net, line): text} of all programs of these nets: "ok ..." or the failure."""
        folder = self.work / name
        folder.mkdir(parents=True, exist_ok=True)
        nets = [str(net) for net in nets]
        try:
            program, text = self.build_batch(nets, folder)
            got = subprocess.run([program, folder], capture_output=True, text=True,
                                 timeout=SECONDS)
            text += got.stdout
            if got.returncode:
                raise Failure(f"the runner ends with {got.returncode}: {got.stderr[:500]}")
        except (Failure, subprocess.TimeoutExpired) as failure:
            return self.run_apart(nets, name, failure)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return complete(parse(text), nets)

    def run_apart(self, nets, name, failure):
        """After a batch that can't be built or run: each net alone says whose fault it was."""
        if len(nets) == 1:
            return complete({}, nets, failure)
        results = {}
        for net in nets:
            results.update(self.run([net], name))
        return results


def parse(text):
    results = {}
    for line in text.splitlines():
        match = re.match(r"(ok|dropped|FAILED) (\S+) (\d+)", line)
        if not match:
            continue
        key = (match.group(2), int(match.group(3)))
        if not results.get(key, "").startswith("FAILED"):
            results[key] = line
    return results


def complete(results, nets, why="no result"):
    """With a failure for each setting of which nothing was heard."""
    for net in nets:
        settings = re.findall(r"^# run:", Path(net).read_text(), re.M)
        for line in range(max(len(settings), 1)):
            results.setdefault((net, line), f"FAILED {net} {line}: {why}")
    return results


def is_failure(text):
    """A net that the front end refuses is no failure."""
    return text.startswith("FAILED") and not text.endswith(("cnnc ends with 1", "no reference"))
