"""Emitted files that differ only in the places of tensors and the order in which they are made,
as one program.

Offsets, the arena's size and the order of launches are taken out of the file. The program reads
them from a file that PLACES names, so that many plans of a net cost one compilation. Lines of the
net, which errors name, are then wrong.
"""
import hashlib
import os
import re
import subprocess

CXX = os.environ.get("CXX", "clang++")

COMMENT = re.compile(r"(^|\s)//[^\n]*", re.M)     # no address of a page in a string
PLACE = re.compile(r"^constexpr (Place<\w+>|Parameter) +(\w+) += (\{[^;]*\});", re.M)
STEPS = re.compile(r"^(static int \w+_steps\([^;{]*\)\n\{\n(?:    [^\n]*;\n)*?)"
                   r"( +(?:[A-Z][A-Z_]+\(\d+,|if \(scored\)).*?)"
                   r"(^    return \w+_OK;\n\})", re.M | re.S)
STEP = re.compile(r" *([A-Z][A-Z_]+)\((\d+)(,.*?;\n)|( *if \(scored\) \{\n)|( *\}\n)|\s*\n", re.S)
LINES = re.compile(r"^(static const int step_line\[\] = \{)([^}]*)", re.M)
ARENA = re.compile(r"(define \w+_ARENA_BYTES) +(\d+)")
TABLE = """#include <stdio.h>
#include <stdlib.h>
static long long place_of(int i)
{
    static long long table[100000];
    static bool read = false;
    if (!read) {
        FILE *file = fopen(getenv("PLACES"), "r");
        for (int k = 0; fscanf(file, "%lld", &table[k]) == 1; k++) {}
        fclose(file);
        read = true;
    }
    return table[i];
}
"""


def steps_of(text):
    """The launches of a function's text, as (number, statement); None: there is something else."""
    steps, scored, at = [], "", 0
    while at < len(text):
        found = STEP.match(text, at)
        if not found:
            return None
        at = found.end()
        if found[1]:
            steps.append((int(found[2]), f"{scored}{found[1]}(step{found[3]}"))
        elif found[4] or found[5]:
            scored = "if (scored) " if found[4] else ""
    return steps


def take_out_order(text, places):
    """The file with its launches in an order that it reads."""
    def order(match):
        steps = steps_of(match[2])
        if not steps or [number for number, _ in steps] != list(
                range(steps[0][0], steps[0][0] + len(steps))):
            return match[0]
        cases = sorted(statement for _, statement in steps)
        first, at = steps[0][0], len(places)
        for _, statement in steps:
            places.append(str(cases.index(statement)))
        return (f"{match[1]}    for (int step = {first}; step < {first + len(steps)}; step++)\n"
                f"        switch (place_of({at - first} + step)) {{\n"
                + "".join(f"case {i}: {case}break;\n" for i, case in enumerate(cases))
                + "        }\n" + match[3])
    return STEPS.sub(order, text)


def take_out(text, arena_bytes=None):
    """The file without comments and read bytes, and these bytes. arena_bytes: its reserved bytes;
    None: what it says."""
    places = []

    def offset(match):
        places.append(match[0])
        return f"(size_t)place_of({len(places) - 1})"

    def place(match):
        return f"static const {match[1]} {match[2]} = {re.sub(r'[0-9]+', offset, match[3])};"

    def arena(match):
        places.append(str(arena_bytes or match[2]))
        return f"{match[1]} ((size_t)place_of({len(places) - 1}))"

    text = COMMENT.sub(r"\1", text)
    text = PLACE.sub(place, re.sub(r"\s*\n", "\n", text))
    text = LINES.sub(lambda m: m[1] + ",".join(sorted(m[2].split(","), key=int)), text)
    text = re.sub(r"(PLAN_HASH) +\w+", r"\1 0", text)
    return take_out_order(ARENA.sub(arena, text), places), places


class Programs:
    """The built programs, by text; host is runtime/host.  A program that runs often is worth
    level 1."""

    def __init__(self, folder, build, host, level=0):
        self.folder, self.build, self.host = folder, build, host
        self.level = os.environ.get("CNNC_HOST_O", str(level))
        self.built = {}

    def program(self, text, arena_bytes=None):
        """The program's path and the offsets that it is to read; None if the file can't be
        compiled, as it may be where its plan is corrupted."""
        text, places = take_out(text, arena_bytes)
        key = hashlib.sha256(text.encode()).hexdigest()
        if key not in self.built:
            source = os.path.join(self.folder, f"program{len(self.built)}")
            with open(source + ".cu", "w") as file:
                file.write(TABLE + text)
            failed = subprocess.run(
                [CXX, "-std=c++17", "-O" + self.level, "-w", "-I", self.host, "-x", "c++",
                 source + ".cu", "-x", "none", os.path.join(self.build, "libcnnc_host.a"),
                 "-lpthread", "-o", source]).returncode
            self.built[key] = None if failed else source
        return self.built[key], places

    def environment(self, places, *plans):
        """To run with these offsets, and dead bytes of these plans as NaN."""
        path = os.path.join(self.folder, "places")
        with open(path, "w") as file:
            file.write(" ".join(places))
        return dict(os.environ, PLACES=path, CNNC_HOST_PLAN=":".join(plans))
