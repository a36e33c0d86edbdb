#!/usr/bin/env python3
"""Words of the runtime's files that pull in more than they mean.

usage: chunks.py EMBED FILE.cuh ...

The emitter copies every chunk whose name occurs in copied text.  So a local variable, a
parameter, a member or a type inside another that bears a chunk's name brings that chunk with it.
EMBED is the build's tool; it refuses names that are defined twice.  Prints a line a fault.
"""
import re
import subprocess
import sys

BLANKED = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
WORD = re.compile(r"[A-Za-z_]\w*")
# Words before a name that do not declare it.
NO_TYPES = {"return", "else", "case", "goto", "delete", "new", "throw", "using", "namespace",
            "operator", "sizeof"}


def strings(table, kind):
    """Parses names_3, lines_3 and so on from embed's output: a list a chunk."""
    pattern = rf"static const char \*const {kind}_\d+\[\] = \{{\n(.*?)\n?    0\}};"
    return [[re.sub(r"\\(.)", r"\1", text)
             for text in re.findall(r'^    "(.*)",$', match, re.MULTILINE)]
            for match in re.findall(pattern, table, re.DOTALL)]


def declares(code, word):
    """The text that declares word in this code, or takes a member of that name."""
    before = rf"\b([A-Za-z_]\w*)(?:<[^<>]*>)?(?:\s+[*&]?|[*&] ){word}\b\s*(?=[=;,)\[{{:>])"
    for match in re.finditer(before, code):
        if match[1] not in NO_TYPES:
            return match[0]
    member = re.search(rf"(?:\.|->){word}\b", code)
    return member[0] if member else None


def main(embed, files):
    done = subprocess.run([embed, *files], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    if done.returncode:
        print(done.stdout)
        return 1
    names, lines = strings(done.stdout, "names"), strings(done.stdout, "lines")
    owner = {name: i for i, all_names in enumerate(names) for name in all_names}
    faults = 0
    for i, text in enumerate(lines):
        code = BLANKED.sub(" ", "\n".join(text))
        for word in sorted(set(WORD.findall(code))):
            if owner.get(word, i) == i:
                continue
            found = declares(code, word)
            if found:
                faults += 1
                print(f"{names[i][0]}: \"{found}\" pulls in the chunk {word}")
    print(f"{len(lines)} chunks, {faults} faults")
    return 1 if faults or not lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
