"""Shared by the bench's commands: the rows that they write, and the tools they run.

A row is a line of JSON in FOLDER/KIND.jsonl, written as soon as it is there. A row without an error
that is there already, in FOLDER or committed in results/, is not made again. So a command that was
cut goes on where it was.
"""
import json
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
ROOT = os.path.dirname(TESTS)
RESULTS = os.path.join(HERE, "results")
HOST = os.path.join(ROOT, "runtime", "host")
SKIPPED = 77
# Names of the options --precision of cnnc in the bench and in PyTorch.
PRECISIONS = {"fp32": "f32", "tf32": "tf32", "fp16": "f16", "bf16": "bf16"}


class Failed(Exception):
    """The output of a tool."""


def say(text):
    print(text, flush=True)


def run(command, **more):
    """The output of the command; Failed with its message if it fails."""
    try:
        done = subprocess.run([str(word) for word in command], text=True, capture_output=True,
                              check=False, **more)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failed(f"{command[0]}: {error}") from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip()
        raise Failed(f"{os.path.basename(str(command[0]))}: status {done.returncode}: {said[:600]}")
    return done.stdout


def skip(why):
    say(f"{why}: nothing was run")
    sys.exit(SKIPPED)


class Tools:
    """The compilers, the programs that run emitted files, and their commit."""

    def __init__(self, host):
        os.environ["PATH"] += ":/usr/local/cuda/bin"
        self.host = host
        self.device = "host" if host else self.find_device()
        self.capability = None if host else self.find_capability()
        self.build = os.path.abspath(os.environ.get("CNNC_BUILD") or self.make_build())
        self.cnnc = os.path.join(self.build, "cnnc")
        self.library = os.path.join(self.build, "libcnnc_host.a")
        self.commit = self.find_commit()

    @staticmethod
    def find_device():
        """The name of the first GPU."""
        try:
            names = run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"])
        except Failed:
            names = ""
        if not names.strip():
            skip("there is no GPU here")
        if not shutil.which("nvcc"):
            skip("there is no nvcc here")
        return names.splitlines()[0].strip()

    @staticmethod
    def find_capability():
        """The compute capability of the first GPU, such as 9.0."""
        said = run(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"])
        return float(said.split()[0])

    def has_tensor_tiles(self):
        """True if emitted files may use tensor cores: their instructions are of 8.0 and later."""
        return self.host or self.capability >= 8

    def emit_options(self, precision):
        """For the compiler: the precision, and that the GPU is older than its tensor tiles."""
        return ["--precision", PRECISIONS.get(precision, precision),
                *([] if self.has_tensor_tiles() else ["--gpu", "t4"])]

    @staticmethod
    def make_build():
        """A build of the compiler and the tools, where none is named."""
        build = os.path.join(ROOT, "build", "gpu")
        subprocess.run([os.path.join(TESTS, "install"), "cmake", "ninja-build", "gcc", "g++", "flex",
                        "bison", "libcmocka-dev"], check=True)
        run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja"])
        run(["cmake", "--build", build, "--target", "cnnc", "cnnc_host", "compare_tensors",
             "random_tensors"])
        return build

    def find_commit(self):
        """CNNC_COMMIT; the file of `prepare` next to the compiler; or git's answer."""
        beside = os.path.join(self.build, "commit")
        if "CNNC_COMMIT" in os.environ:
            return os.environ["CNNC_COMMIT"]
        if os.path.exists(beside):
            with open(beside, encoding="ascii") as file:
                return file.read().strip()
        return commit_of_tree()

    def test(self, name):
        """A tool that the tests have built."""
        return os.path.join(self.build, "testsuite", name)

    def compile(self, source, program, defines=(), host=None, optimize="-O3"):
        """Builds an emitted file, by nvcc or for the CPU."""
        if self.host if host is None else host:
            cxx = [os.environ.get("CXX", "clang++"), "-O0"] if self.host else ["g++", "-O1"]
            run([*cxx, "-std=c++17", "-I", HOST, *defines, "-x", "c++", source, "-x", "none",
                 self.library, "-lpthread", "-o", program])
        else:
            run(["nvcc", "-std=c++17", optimize, "-fmad=false",
                 "-arch=" + os.environ.get("CNNC_ARCH", "native"), *defines, source, "-lcublas",
                 "-o", program])


def commit_of_tree():
    """The commit, with a sign where files differ from it."""
    try:
        commit = run(["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"]).strip()
        changed = run(["git", "-C", ROOT, "status", "--porcelain", "--untracked-files=no"])
    except Failed:
        return "unknown"
    return commit + ("+" if changed.strip() else "")


def prepare(folder):
    """The files that a machine without CMake, flex and bison needs besides the tree, as its
    CNNC_BUILD."""
    tools = Tools(host=True)
    os.makedirs(os.path.join(folder, "testsuite"), exist_ok=True)
    for path in [tools.cnnc, tools.library]:
        shutil.copy2(path, folder)
    for name in ["compare_tensors", "random_tensors"]:
        shutil.copy2(tools.test(name), os.path.join(folder, "testsuite"))
    with open(os.path.join(folder, "commit"), "w", encoding="ascii") as out:
        out.write(tools.commit + "\n")
    say(f"{folder}: CNNC_BUILD for {tools.commit}")


class Rows:
    """The rows of a kind, and whether there is time for more of them."""

    def __init__(self, kind, options, identity):
        self.identity = identity
        self.path = os.path.join(options.out, kind + ".jsonl")
        self.end = time.monotonic() + options.budget_s
        os.makedirs(options.out, exist_ok=True)
        self.done = set()
        for folder in {RESULTS, os.path.abspath(options.out)}:
            for row in read_rows(os.path.join(folder, kind + ".jsonl")):
                if "error" not in row:
                    self.done.add(self.key(row))

    def key(self, row):
        """The key of a row."""
        return tuple(row.get(name) for name in self.identity)

    def has(self, row):
        """True if the row need not be made again."""
        return self.key(row) in self.done

    def late(self):
        """True if nothing more may begin."""
        return time.monotonic() > self.end

    def add(self, row):
        """Writes a row."""
        with open(self.path, "a", encoding="ascii") as out:
            out.write(json.dumps(row) + "\n")
        if "error" not in row:
            self.done.add(self.key(row))


def read_rows(path):
    """The rows of a file; none where there is no file."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="ascii") as file:
        return [json.loads(line) for line in file if line.strip()]
