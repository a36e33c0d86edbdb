"""Faults planted in files of the compiler, each of which a test must find.

A script has a table of them.  Where they are in passes/ and ir/ and a unit test must find them it
calls plant(); its arguments are BUILD ROOT CC, and FAULT in the environment chooses those with that
text in their names.  Without it those are planted whose file, test or script differs from the last
landing (changed.py); MUTANTS=all plants all.  With LOOK in the environment nothing is planted: the
texts that faults replace are looked for, by plant() or look().
"""
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from changed import has_changed  # noqa: E402

looks = "LOOK" in os.environ


def source_of(root, name):
    """The path of a source from root.  A name without a folder is that of one file of passes/ and
    ir/, in whatever room of theirs."""
    if "/" in name:
        return name
    found = [path for folder in ("passes", "ir") for path in Path(root, folder).rglob(name)]
    if len(found) != 1:
        return name
    return str(found[0].relative_to(root))


def is_chosen(root, name, *files):
    """True if this fault is to be planted, where these files are the ones that it is about."""
    if "FAULT" in os.environ:
        return os.environ["FAULT"] in name
    script = os.path.relpath(os.path.abspath(sys.argv[0]), os.path.realpath(root))
    return has_changed(root, script, "testsuite/tools/plant_faults.py",
                       *(source_of(root, file) for file in files))


def choose(root, faults, *files):
    """Returns the faults (name: a file from ROOT, ...; or None) to be planted, with those that are
    None: they show that nothing is found where nothing is planted."""
    chosen = {name: fault for name, fault in faults.items()
              if fault and is_chosen(root, name, fault[0], *files)}
    return {name: fault for name, fault in faults.items()
            if name in chosen or (chosen and not fault)}


def missing(name, path, old):
    """True if the fault's old text is not once in the file."""
    count = 0
    if os.path.exists(path):
        with open(path) as file:
            count = file.read().count(old)
    if count != 1:
        print(f"{name}: {count} times in {path}: {old}", flush=True)
    return count != 1


def is_absent(path):
    """True, with a word of it, if there is no such file."""
    if not os.path.exists(path):
        print(f"no file {path}, which the faults are for", flush=True)
    return not os.path.exists(path)


def look(root, faults):
    """Returns the number of faults (name: a file from ROOT, a text, ...) that can't be planted."""
    return sum(missing(name, os.path.join(root, source_of(root, fault[0])), fault[1])
               for name, fault in faults.items() if fault and fault[1])


def text_with_fault(path, old, new):
    """The file's text with the fault; without a text, as it is."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    assert not old or text.count(old) == 1, f"not one such text in {path}: {old}"
    return text.replace(old, new) if old else text


def with_fault(path, old, new):
    """The same, to be compiled elsewhere."""
    return with_paths(path, text_with_fault(path, old, new))


def with_paths(path, text):
    """The text of the file at path with whole paths in the includes that are found next to it."""
    folder = os.path.dirname(os.path.abspath(path))

    def whole(match):
        target = os.path.normpath(os.path.join(folder, match[1]))
        return f'#include "{target}"' if os.path.exists(target) else match[0]
    return re.sub(r'#include "([^"]+)"', whole, text)


def compile_files(files, compiler, root, standard="c17"):
    quoted = [word for name in ("codegen", "frontend")
              for word in ("-iquote", os.path.join(root, name))]
    # Flags of a build that is sanitized.
    flags = os.environ.get("CXXFLAGS", "").split()
    subprocess.run([compiler, f"-std={standard}", "-O1", "-w", *flags, *quoted, *files], check=True)


def link_with_fault(program, fault, sources, build, root, compiler):
    """A program of these sources with the fault (a file from ROOT, a text, its replacement; None:
    none), linked before the library that has the right file."""
    files = list(sources)
    if fault:
        name, old, new = fault
        files.append(program + ".planted.c")
        with open(files[-1], "w", encoding="utf-8") as file:
            file.write(with_fault(os.path.join(root, source_of(root, name)), old, new))
    compile_files([*files, os.path.join(build, "libcore.a"), "-lm", "-o", program], compiler, root)
    return program


def unit_test(folder, fault, objects, arguments):
    """The test with the fault, linked before the library that has the right file."""
    build, root, compiler = arguments
    files = list(objects)
    if fault:
        name, old, new = fault
        files.append(os.path.join(folder, "planted.c"))
        with open(files[-1], "w", encoding="utf-8") as file:
            file.write(with_fault(os.path.join(root, source_of(root, name)), old, new))
    program = os.path.join(folder, "test")
    compile_files([*files, os.path.join(build, "testsuite", "libunit_helpers.a"),
                   os.path.join(build, "libcore.a"), "-lcmocka", "-lm", "-o", program],
                  compiler, root)
    return program


def is_caught(command, seconds):
    """A test that takes a processor far longer than it should has failed as well."""
    done = subprocess.run(command, capture_output=True, check=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU,
                                                                (seconds, seconds)))
    return done.returncode != 0


def plant(test, faults, seconds=60, words=()):
    """Plants each of the faults (name: file, text, replacement), and none.

    words: what the test is called with.
    Returns how many of them the test testsuite/unit/TEST.c did not find.
    """
    arguments = [os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]]
    source = os.path.join(arguments[1], "testsuite", "unit", test + ".c")
    if looks:
        return look(arguments[1], faults) + is_absent(source)
    chosen = choose(arguments[1], {"nothing": None, **faults}, f"testsuite/unit/{test}.c")
    print(f"{test}: {len(chosen)} of {len(faults) + 1}", flush=True)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        objects = [os.path.join(folder, test + ".o")]
        if chosen:
            compile_files(["-c", source, "-o", objects[0]], arguments[2], arguments[1])
        for name, fault in chosen.items():
            program = unit_test(folder, fault, objects, arguments)
            caught = is_caught([program, *words], seconds)
            failed += caught != (fault is not None)
            print(f"{test}: {name}: {'caught' if caught else 'not caught'}", flush=True)
    return failed
