#!/usr/bin/env python3
"""Counts the words of comments and documents against the house's rules.

usage: prose.py ROOT [--list FOLDER]

The text is that of all comments of sources, tests and build files, of messages and help lines (strings
of five words and more), and of documents. Code, dumps, formulas, tables and quotations are left
out. A sentence does not open with a word of OPENINGS, has at most LONGEST words, and avoids
TERMS, each with the term to use instead. LIMITS has the number of faults that a folder may have
still; none may grow, and 0 is the aim. A limit that is not needed any more is a fault too.
"""
import re
import statistics
import sys
from pathlib import Path

OPENINGS = ("What ", "Whether ", "Those ", "That of ", "Of ", "As ")
LONGEST = 40
WHAT = 3.0      # in 1000 words
# Not used in comments: the term of the field.
TERMS = {
    r"behind": "after", r"lies? in": "is stored in, aliases", r"r[ua]ns? again": "recompute",
    r"what is dropped": "dropout's input", r"so many": "N", r"beside": "compared with",
    r"but for": "except", r"or else": "otherwise",
}
FOLDERS = ("frontend", "ir", "passes", "codegen", "runtime", "testsuite", "examples", "README.md")
SLASHES = (".c", ".h", ".cpp", ".cuh", ".cu", ".l", ".y", ".def")
HASHES = (".py", ".cmake", ".txt", ".cnn", ".inc", "")
# Faults that are left: openings, terms, long sentences, and the word "what" in 1000 words.
LIMITS = {
    "frontend": (0, 0, 0, 3.0),
    "ir": (0, 0, 0, 3.0),
    "passes": (0, 0, 0, 3.0),
    "codegen": (0, 0, 0, 3.0),
    "runtime": (2, 5, 2, 3.0),
    "testsuite": (0, 0, 0, 3.0),
    "examples": (0, 0, 0, 3.0),
}


def slash_comments(text):
    """Comments of C, as blocks of neighbouring lines."""
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)
    block = []
    for line in text.splitlines():
        found = re.search(r"//(.*)|/\*(.*?)\*/", line)
        if found and not line[:found.start()].strip():
            block.append(found[1] or found[2] or "")
            continue
        if block:
            yield block
        block = []
        if found:
            yield [found[1] or found[2] or ""]
    if block:
        yield block


def hash_comments(text):
    """Comments and docstrings of Python, CMake, shells and nets."""
    for found in re.finditer(r'(?:^|\n)\s*"""(.*?)"""', text, re.DOTALL):
        yield found[1].splitlines()
    block = []
    for line in re.sub(r'"""(.*?)"""', "", text, flags=re.DOTALL).splitlines():
        found = re.match(r"\s*#(?!!|\s*(?:[A-Z][A-Z0-9_-]+|run|check)[\w-]*:)(.*)", line)
        if found:
            block.append(found[1])
            continue
        if block:
            yield block
        block = []
    if block:
        yield block


def document(text):
    text = re.sub(r"(?ms)^```.*?^```", "", text)
    for paragraph in re.split(r"\n\s*\n", text):
        lines = [line for line in paragraph.splitlines()
                 if not re.match(r"    |\t|\||#|!", line)]
        item = []
        for line in lines:
            if re.match(r"\s*[*-] |\s*\d+\. ", line) and item:
                yield item
                item = []
            item.append(re.sub(r"^\s*[*-] ", "", line))
        if item:
            yield item


def is_text(line):
    """No line of a table, a dump, a formula or a rule."""
    line = line.strip()
    if not line or re.match(r"[-=]{4}", line):
        return True
    words = re.findall(r"[A-Za-z]{2,}", line)
    signs = re.findall(r"[=<>\[\](){}%*+|_]", line)
    return len(words) >= 2 and len(signs) <= len(words) / 2 and not re.search(r"\S {3,}\S", line)


def sentences(block):
    """A block's sentences, without code in quotes and quotations."""
    lines = []
    for line in block:
        if re.match(r"\s*-{4,}", line):
            line = re.sub(r"-{3,}", "", line)
        indented = re.match(r" {4,}\S", line)
        lines.append("" if indented or not is_text(line) else line.strip())
    for part in re.split(r"\n\n+", "\n".join(lines)):
        text = re.sub(r"`[^`]*`", "it", " ".join(part.split()))
        text = re.sub(r'"[^"]*"', "it", text)
        for sentence in re.split(r"(?<=[.:;!?])\s+(?=[A-Z`*])|;\s+", text):
            if len(sentence.split()) > 1:
                yield sentence.strip("* ")


def blocks_of(path):
    text = path.read_text(errors="replace")
    if path.suffix == ".md":
        return document(text)
    if path.suffix in SLASHES:
        return slash_comments(text)
    return hash_comments(text)


def files_of(root, folder):
    if folder.endswith(".md"):
        return [root / folder]
    return [p for p in sorted((root / folder).rglob("*")) if p.is_file()
            and (p.suffix in SLASHES or p.suffix in HASHES or p.suffix == ".md")
            and "__pycache__" not in p.parts and "data" not in p.parts]


def faults_of(sentence):
    if sentence.startswith(OPENINGS):
        yield "opening", f"opens with '{sentence.split()[0]}'"
    if len(sentence.split()) > LONGEST:
        yield "long", f"has {len(sentence.split())} words"
    for term, better in TERMS.items():
        if re.search(rf"\b{term}\b", sentence, re.IGNORECASE):
            yield "term", f"'{term}'; use: {better}"


def main():
    root = Path(sys.argv[1])
    listed = sys.argv[3] if len(sys.argv) > 3 else None
    wrong, lengths, total = [], [], 0
    for folder in FOLDERS:
        count = {"opening": 0, "term": 0, "long": 0}
        words = what = 0
        for path in files_of(root, folder):
            if listed and not str(path.relative_to(root)).startswith(listed):
                continue
            for sentence in (s for block in blocks_of(path) for s in sentences(block)):
                lengths.append(len(sentence.split()))
                words += lengths[-1]
                what += len(re.findall(r"\bwhat\b", sentence, re.IGNORECASE))
                for kind, text in faults_of(sentence):
                    count[kind] += 1
                    if listed:
                        print(f"{path.relative_to(root)}: {text}: {sentence[:100]}")
        share = 1000 * what / max(words, 1)
        limits = LIMITS.get(folder, (0, 0, 0, WHAT))
        found = (count["opening"], count["term"], count["long"], share)
        print(f"{folder}: {words} words, what {share:.1f} in 1000, {count['opening']} openings, "
              f"{count['term']} terms, {count['long']} long sentences")
        total += words
        if listed:
            continue
        for name, have, limit in zip(("openings", "terms", "long sentences", "what in 1000 words"),
                                     found, limits):
            if have > limit + 0.05:
                wrong.append(f"{folder}: {have:.1f} {name}, at most {limit}")
            elif limit > 0 and name != "what in 1000 words" and have < limit * 0.9:
                wrong.append(f"{folder}: {have} {name}: the limit of {limit} can fall")
    print(f"{total} words, {len(lengths)} sentences, median {statistics.median(lengths)}, "
          f"longest {max(lengths)}")
    print(*wrong, sep="\n")
    return 1 if wrong else 0


sys.exit(main())
