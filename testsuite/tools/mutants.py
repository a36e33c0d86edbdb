#!/usr/bin/env python3
"""Plants the faults of testsuite/mutants.txt: each must be found by its test.

    mutants.py BUILD CC CXX LIT TEST    plants those of a test
    mutants.py BUILD CC CXX LIT         checks that all of the table can be planted

The head of mutants.txt explains the table. A test's command must succeed without any fault and fail
with each. The test plants MOST_NEW of the faults that are new since the last landing (changed.py).
It plants SAMPLE of those whose files or command have changed since then; the commit draws them.
After SECONDS it plants no more of them, but always one.  MUTANTS=all plants all.
FAULT in the environment chooses those with that text in their names, and TABLE another table.

Faults are planted in a copy of the tree. A program is linked with the faulty file before the
library that has the right one. The compiler contains the files of the runtime.
"""
import functools
import glob
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import astuple, dataclass, field
from pathlib import Path

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from changed import compared_with, drawn, git, has_changed  # noqa: E402

ROOT = str(Path(__file__).resolve().parents[2])
TABLE = "testsuite/mutants.txt"
LIMIT = 900     # seconds of a processor
SAMPLE = 1      # of a test's old faults
MOST_NEW = 6    # of a test's new faults
SECONDS = 20
SKIPPED = 77    # the status of a command that needs a missing tool


# ---- the table ----------------------------------------------------------------------------------

@dataclass
class Edit:
    path: str
    old: str
    new: str


@dataclass
class Mutant:
    name: str
    path: str
    words: str = ""         # of `with`
    edits: list = field(default_factory=list)
    sed: list = field(default_factory=list)


@dataclass
class Test:
    name: str
    run: str = ""
    by: str = ""            # a script that plants the faults itself
    says: str = ""
    sound: str = ""         # the test that shows that nothing is found without a fault
    limit: int = LIMIT
    also: list = field(default_factory=list)    # edits of each
    mutants: list = field(default_factory=list)

    def key(self, mutant):
        return astuple(self)[:-1], astuple(mutant)


def parse(text):
    """The tests of a table; one may come several times."""
    tests, words, path, edits, last = [], "", "", None, ""
    for number, line in enumerate(text.splitlines(), 1):
        key, _, rest = line.partition(" ")
        if not line or line.startswith("#"):
            continue
        if line[0] in "-+" and line[1:2] in ("", " ") and edits is not None:
            if line[0] == "-" and last != "-":
                edits.append(Edit(path, line[2:], None))
            elif line[0] == "-":
                edits[-1].old += "\n" + line[2:]
            else:
                new = edits[-1].new
                edits[-1].new = line[2:] if new is None else new + "\n" + line[2:]
        elif key == "~":
            tests[-1].mutants[-1].sed.append(rest)
        elif key == "test":
            tests.append(Test(rest))
            words, edits = "", None
        elif key in ("run", "by", "says", "sound"):
            setattr(tests[-1], key, rest)
        elif key == "limit":
            tests[-1].limit = int(rest)
        elif key == "also":
            path, edits = rest, tests[-1].also
        elif key == "with":
            words, edits = rest, None
        elif key.endswith(":"):
            path = key[:-1]
            if rest:
                tests[-1].mutants.append(Mutant(rest, path, words))
            edits = tests[-1].mutants[-1].edits
        else:
            sys.exit(f"{TABLE}:{number}: no such line: {line}")
        last = line[0]
    return tests


@functools.cache
def table():
    return parse(Path(os.environ.get("TABLE", os.path.join(ROOT, TABLE))).read_text())


def mutants_of(name):
    """All of a test, for a script that plants them itself."""
    return [mutant for test in table() if test.name == name for mutant in test.mutants]


def with_all(text, mutants, planted="(planted_fault == {})"):
    """The emitted text with all of them, of which a number chooses one: that is @ in a new text."""
    for number, mutant in enumerate(mutants):
        for edit in mutant.edits:
            if edit.old not in text:
                sys.exit(f"no place for a fault: {mutant.name}: {edit.old}")
            new = edit.new.replace("@", planted.format(number))
            text = text.replace(edit.old, new, 1)
    return text


PLANTED_FAULT = """#include <stdlib.h>
static const int planted_fault = getenv("PLANTED") ? atoi(getenv("PLANTED")) : -1;
"""


@functools.cache
def source_of(name):
    """The path of a source. A name without a folder is that of one file of passes/ and ir/, in
    whatever room of theirs."""
    if "/" in name:
        return name
    found = [path for folder in ("passes", "ir") for path in Path(ROOT, folder).rglob(name)]
    return str(found[0].relative_to(ROOT)) if len(found) == 1 else name


def texts_with(edits):
    """By path, the texts of the files with these edits."""
    texts = {}
    for edit in edits:
        path = source_of(edit.path)
        text = texts.get(path) or Path(ROOT, path).read_text(encoding="utf-8")
        if text.count(edit.old) != 1:
            sys.exit(f"{text.count(edit.old)} times in {path}: {edit.old}")
        texts[path] = text.replace(edit.old, edit.new)
    return texts


# ---- what is built ------------------------------------------------------------------------------

@dataclass
class Program:
    sources: list
    flags: tuple = ()
    libraries: tuple = ()
    cached: bool = True     # its objects: the fault is in no file that they include


HOST = ("libcnnc_host.a", "-lpthread")
FUZZ = [f"testsuite/fuzz/{name}.c" for name in ("corpus", "mutate", "random")]
PTX = [f"runtime/ptx/{path.name}" for path in sorted(Path(ROOT, "runtime/ptx").glob("*.cpp"))
       if path.name != "host.cpp"]
RANKS = [f"runtime/host/{name}.cpp"
         for name in ("collective", "hub", "link", "nccl", "reduce", "stream")]
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
PROGRAMS = {
    "augment_tool": Program(["testsuite/trainer/augment_tool.cpp"], (), HOST, False),
    "cnnc": Program(["frontend/driver/main.c"]),
    "costs": Program(["testsuite/costs/costs.c"]),
    "fuzz": Program([*FUZZ, "testsuite/fuzz/compiler.c", "testsuite/fuzz/fuzz.c",
                     "testsuite/fuzz/target.c"]),
    "fuzz_images": Program([*FUZZ, "testsuite/fuzz/images.c",
                            *(f"runtime/pack/{name}.c" for name in
                              ("decode", "floats", "npy", "orientation", "pfm", "tiff"))],
                           SANITIZED, ("-lm",), False),
    "fuzz_data": Program([*FUZZ, "testsuite/fuzz/data.cpp"], SANITIZED, HOST, False),
    "half_numbers": Program(["testsuite/half/numbers.cpp"], (), HOST),
    "host_twins": Program(["testsuite/host/twins.cu",
                           *(f"runtime/host/{name}.cpp"
                             for name in ("block", "gemm", "tile", "tile_operand"))], (), HOST),
    "interpret": Program(["testsuite/interpret/interpret.c", "testsuite/interpret/differences.c",
                          "testsuite/tools/write_tensors.c"]),
    "pack": Program([f"runtime/pack/{path.name}"
                     for path in sorted(Path(ROOT, "runtime/pack").glob("*.c"))],
                    ("-DHAVE_JPEG", "-DHAVE_PNG", '-DCNNC_VERSION="0"', '-DCNNC_RELEASED="0"'),
                    ("-ljpeg", "-lpng", "-lpthread")),
    "ptx_counts": Program(["testsuite/ptx/counts.cpp", *PTX], ("-fno-strict-aliasing",)),
    "ptx_memory_models": Program(["testsuite/ptx/memory_models.cpp", *PTX],
                                 ("-fno-strict-aliasing",)),
    "ranks_faults": Program(["testsuite/ranks/faults.cu", *RANKS], (), HOST),
    "ranks_start": Program(["testsuite/ranks/start.cpp"], (), (), False),
    "ranks_streams": Program(["testsuite/ranks/streams.cu", *RANKS], (), HOST),
    "ranks_values": Program(["testsuite/ranks/values.cu", *RANKS], (), HOST),
    "tensor_layouts": Program(["testsuite/tensor/layouts.cu"], (), HOST, False),
    "tensor_tiles": Program(["testsuite/tensor/tiles.cu"], (), HOST, False),
    "trainer_test": Program(["testsuite/trainer/trainer_test.cpp"], (), HOST, False),
}
FOLDERS = ["codegen", "frontend", "ir", "passes", "runtime", "testsuite"]
# The files of a build that check_net needs.
OF_BUILD = ["libcnnc_host.a", "libcnnc_ptx.a", "testsuite/libtrainer.a", "testsuite/compare_tensors",
            "testsuite/random_tensors", "testsuite/random/random_net", "testsuite/sanitize"]


def program_of(name):
    if name.startswith("test_"):
        return Program([f"testsuite/unit/{name}.c"], (),
                       ("testsuite/libunit_helpers.a", "-lcmocka"))
    return PROGRAMS.get(name)


class Builder:
    """Builds programs in a folder, from a copy of the tree that has the fault."""

    def __init__(self, folder, build, cc, cxx):
        self.folder, self.build, self.cc, self.cxx = Path(folder), build, cc, cxx
        self.tree = self.folder / "tree"
        for name in FOLDERS:
            shutil.copytree(Path(ROOT, name), self.tree / name,
                            ignore=shutil.ignore_patterns("golden", "__pycache__"))
        for name in "CMakeLists.txt", "LICENSE":
            shutil.copy(Path(ROOT, name), self.tree / name)
        self.texts, self.objects, self.programs = {}, {}, {}

    def plant(self, edits):
        texts = texts_with(edits)
        for path in self.texts:
            shutil.copy(Path(ROOT, path), self.tree / path)
        for path, text in texts.items():
            (self.tree / path).write_text(text, encoding="utf-8")
        changed = {*self.texts, *texts}
        self.texts, self.programs = texts, {}
        self.objects = {key: value for key, value in self.objects.items() if key[0] not in changed}

    def compile(self, source, flags=()):
        """An object, which is kept; of a source from the tree, or of a whole path."""
        if (source, flags) not in self.objects:
            is_c = source.endswith(".c")
            target = Path(tempfile.mkstemp(".o", dir=self.folder)[1])
            quoted = [word for name in ("codegen", "frontend")
                      for word in ("-iquote", self.tree / name)]
            subprocess.run([self.cc if is_c else self.cxx, "-std=c17" if is_c else "-std=c++17",
                            "-O1", "-w", *quoted, "-I", self.tree / "runtime/host", *flags,
                            *os.environ.get("CXXFLAGS", "").split(), "-x", "c" if is_c else "c++",
                            "-c", self.tree / source, "-o", target], check=True)
            self.objects[source, flags] = target
        return self.objects[source, flags]

    def faulty_objects(self, own):
        """The objects that come before a library's: of sources of the compiler, its runtime too,
        except those that are the program's own."""
        yield from (self.compile(path) for path in self.texts
                    if path.endswith(".c") and not path.startswith("runtime/") and path not in own)
        if not any(path.startswith("runtime/") and path.endswith(".cuh") for path in self.texts):
            return
        files = [sorted(self.tree.glob(f"runtime/{name}.cuh"), key=lambda file: file.name)
                 for name in ("kernels/*", "support/*/*", "t*/*")]
        chunks = self.folder / "chunks.c"
        with open(chunks, "w", encoding="utf-8") as out:
            subprocess.run([os.path.join(self.build, "embed"),
                            *(file for part in files for file in part if file.stem != "real")],
                           stdout=out, check=True)
        self.objects.pop((str(chunks), ()), None)
        yield self.compile(str(chunks))

    def program(self, name):
        if name not in self.programs:
            program, path = program_of(name), self.folder / name
            if not program.cached:
                self.objects = {}
            objects = [self.compile(source, program.flags) for source in program.sources]
            if program.cached:
                objects += self.faulty_objects(program.sources)
            libraries = [os.path.join(self.build, word) if word.endswith(".a") else word
                         for word in (*program.libraries, "libcore.a")]
            flags = [*program.flags, *os.environ.get("CXXFLAGS", "").split()]
            subprocess.run([self.cxx, *flags, *objects, *libraries, "-lm", "-o", path], check=True)
            self.programs[name] = str(path)
        return self.programs[name]

    def faulty_build(self):
        """The build as check_net takes it; its compiler and interpreter have the fault."""
        folder = self.folder / "faulty"
        (folder / "testsuite/random").mkdir(parents=True, exist_ok=True)
        links = {name: os.path.join(self.build, name) for name in OF_BUILD}
        links |= {"cnnc": self.program("cnnc"), "testsuite/interpret": self.program("interpret")}
        for name, target in links.items():
            (folder / name).unlink(missing_ok=True)
            (folder / name).symlink_to(target)
        return str(folder)


# ---- commands -----------------------------------------------------------------------------------

PLACES = ["build", "cc", "faulty", "host", "libhost", "lit", "root", "sed", "tests", "tree", "work"]


def words_of(test, mutant):
    run = test.run.replace("{words}", mutant.words).replace("{name}", mutant.name)
    return shlex.split(run)


class Runner:
    def __init__(self, test, builder, lit):
        self.test, self.builder, self.sed = test, builder, builder.folder / "edits.sed"
        self.places = {"build": builder.build, "cc": builder.cc, "host": f"{ROOT}/runtime/host",
                       "libhost": f"{builder.build}/libcnnc_host.a", "lit": lit, "root": ROOT,
                       "sed": str(self.sed), "tests": f"{ROOT}/testsuite",
                       "tree": str(builder.tree), "work": str(builder.folder)}
        self.status = 0         # of the last command

    def value(self, match):
        name = match[1]
        if name == "faulty":
            return self.builder.faulty_build()
        return self.places[name] if name in self.places else self.builder.program(name)

    def command(self, mutant):
        command = []
        for word in words_of(self.test, mutant):
            word = re.sub(r"\{(\w+)\}", self.value, word)
            command += paths_of(word) or [word]
        return [sys.executable, *command] if command[0].endswith(".py") else command

    def run(self, mutant):
        """The status of the command, and its output. One that takes a processor far longer than
        it should has failed as well."""
        self.sed.write_text("\n".join([*mutant.sed, ""]), encoding="utf-8")
        limit = self.test.limit
        with subprocess.Popen(
                self.command(mutant), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                errors="replace", start_new_session=True, cwd=self.builder.folder,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
                ) as process:
            try:
                said = process.communicate(timeout=4 * limit)[0]
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return 1, f"more than {4 * limit} seconds"
        return process.returncode, said

    def is_found(self, mutant):
        """True if it is, None if the command fails otherwise; and the command's output."""
        try:
            self.builder.plant([*self.test.also, *mutant.edits])
            # Files of an earlier fault must not fail a test of lit.
            for name in "text-tests", "pass-tests":
                shutil.rmtree(self.builder.folder / name, ignore_errors=True)
            status, said = self.run(mutant)
            self.status = status
        except subprocess.CalledProcessError as error:
            return None, str(error)
        if status and not re.search(self.test.says, said, re.MULTILINE):
            return None, said
        return status != 0, said


def paths_of(word):
    """The files of the tree that a word of a command names, with any options that follow. A folder
    has a slash in its name; a net may be called like one of the tests' folders."""
    name, *options = word.split(" ", 1)
    for folder in os.path.join(ROOT, "testsuite"), ROOT:
        found = sorted(path for path in glob.glob(os.path.join(folder, name))
                       if "/" in name or os.path.isfile(path))
        if found and re.match(r"\w", name):
            return [" ".join([path, *options]) for path in found]
    return []


def watched(test, mutant):
    """The files that a mutant is about: its own, and those of its command. All of a family's folder
    counts."""
    for edit in (*test.also, *mutant.edits):
        yield source_of(edit.path)
    yield mutant.path
    for word in words_of(test, mutant):
        program = program_of(word.strip("{}"))
        for path in program.sources if program else paths_of(word):
            path = os.path.relpath(os.path.join(ROOT, path.split(" ")[0]), ROOT)
            family = re.match(r"testsuite/(?!unit|text|ops|golden|tools)\w+(?=/)", path)
            yield family[0] if family else path


def choose(tests, before):
    """By test, the faults to plant. The groups of a test have one name and one sample. before: the
    keys of the last landing's table, None: there was none."""
    pairs = [(test, mutant) for test in tests for mutant in test.mutants]
    if "FAULT" in os.environ:
        chosen = [pair for pair in pairs if os.environ["FAULT"] in pair[1].name]
    elif compared_with(ROOT) == "all":
        chosen = pairs
    else:
        known = before and [mutant for _, mutant in before]
        new = [pair for pair in pairs if before is not None and astuple(pair[1]) not in known]
        old = [(test, mutant) for test, mutant in pairs if (test, mutant) not in new and
               ((before is not None and test.key(mutant) not in before) or
                has_changed(ROOT, *watched(test, mutant)))]
        all_new = len(new)
        new = drawn(ROOT, new, MOST_NEW, lambda pair: pair[1].name)
        some = drawn(ROOT, old, SAMPLE, lambda pair: pair[1].name)
        print(f"{len(pairs)} faults; planted are {len(new)} of {all_new} new ones and {len(some)} "
              f"of {len(old)} in changed files", flush=True)
        chosen = new + some
    return [(test, [mutant for of, mutant in chosen if of is test]) for test in tests]


def plant(name, build, cc, cxx, lit):
    old = git(ROOT, "show", f"{compared_with(ROOT)}:{TABLE}")
    # A landing without a table had these rows elsewhere.
    before = old and [test.key(mutant) for test in parse(old) for mutant in test.mutants]
    is_sample = "FAULT" not in os.environ and compared_with(ROOT) != "all"
    until = time.monotonic() + SECONDS
    failed = planted = 0
    for test, chosen in choose([test for test in table() if test.name == name], before):
        if chosen and is_sample and planted and time.monotonic() > until:
            print(f"{SECONDS} s have passed: not planted: {', '.join(m.name for m in chosen)}")
            continue
        if not chosen:
            continue
        nothing = Mutant("nothing", "", chosen[0].words)
        with tempfile.TemporaryDirectory() as folder:
            runner = Runner(test, Builder(folder, build, cc, cxx), lit)
            for mutant in chosen if test.sound else [nothing, *chosen]:
                if is_sample and planted and time.monotonic() > until:
                    print(f"{SECONDS} s have passed: {mutant.name} and later ones are not planted")
                    break
                planted += mutant is not nothing
                found, said = runner.is_found(mutant)
                if mutant is nothing and runner.status == SKIPPED:
                    print(said)
                    sys.exit(SKIPPED)
                right = found is (mutant is not nothing)
                failed += not right
                print(f"{mutant.name}: {'caught' if found else 'not caught'}", flush=True)
                if not right:
                    print(f"WRONG: {said}", flush=True)
    return failed


# ---- the check of the table ---------------------------------------------------------------------

def faults_of(test, tests_of_ctest):
    for name in test.name, test.sound:
        if name and name not in tests_of_ctest:
            yield f"no test {name}"
    if test.by:
        if not paths_of(test.by):
            yield f"no script {test.by}"
        return
    for mutant in test.mutants:
        for edit in (*test.also, *mutant.edits):
            path = Path(ROOT, source_of(edit.path))
            count = path.read_text(encoding="utf-8").count(edit.old) if path.exists() else 0
            if count != 1 or edit.new in (None, edit.old):
                yield f"{mutant.name}: {count} times in {path}: {edit.old}"
        if not mutant.edits and not (mutant.sed and Path(ROOT, mutant.path).exists()):
            yield f"{mutant.name}: no edit"
        for word in words_of(test, mutant):
            for name in set(re.findall(r"\{(\w+)\}", word)).difference(PLACES):
                program = program_of(name)
                if not program or not all(map(paths_of, program.sources)):
                    yield f"{mutant.name}: no program {name}"
            if re.match(r"[\w/]+\.(py|cnn|test)", word) and not paths_of(word):
                yield f"{mutant.name}: no {word}"


def check_table(build):
    listed = subprocess.run(["ctest", "--test-dir", build, "-N"], stdout=subprocess.PIPE, text=True)
    names = re.findall(r"^ *Test +#\d+: (\S+)", listed.stdout, re.MULTILINE)
    faults = [fault for test in table() for fault in faults_of(test, names)]
    for test in table():
        names = [mutant.name for mutant in test.mutants]
        faults += [f"{test.name}: twice: {name}" for name in set(names) if names.count(name) > 1]
    count = sum(len(test.mutants) for test in table())
    print(*faults, f"{count} mutants, {len(faults)} faults", sep="\n")
    return len(faults)


def main():
    build, cc, cxx, lit, *names = sys.argv[1:]
    build = os.path.abspath(build)
    return sum(plant(name, build, cc, cxx, lit) for name in names) if names else check_table(build)


if __name__ == "__main__":
    sys.exit(main() > 0)
