#!/usr/bin/env python3
"""Counts the words of comments and documents against the house's rules.

usage: prose.py ROOT

The text consists of all comments of sources, tests and build files, and of documents. Strings,
code, dumps, formulas, tables and quotations are left out. A sentence does not open with a word of
OPENINGS, has at most LONGEST words, and avoids TERMS, each with the term to use instead. A folder
has the word "what" at most WHAT times in 1000 words.
"""
import re
import statistics
import sys
from pathlib import Path

OPENINGS = ("What ", "Whether ", "Those ", "That of ", "Of ", "As ")
LONGEST = 25
WHAT = 0.5      # in 1000 words
# Not used in comments: the term of the field.
TERMS = {
    r"behind": "after", r"lies? in": "is stored in, aliases", r"r[ua]ns? again": "recompute",
    r"what is dropped": "dropout's input", r"so many": "N", r"beside": "compared with",
    r"but for": "except", r"or else": "otherwise",
}
FOLDERS = ("frontend", "ir", "passes", "codegen", "runtime", "testsuite", "examples", "README.md")
SLASHES = (".c", ".h", ".cpp", ".cuh", ".cu", ".l", ".y", ".def")
HASHES = (".py", ".cmake", ".txt", ".cnn", ".inc", "")


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
        yield f"opens with '{sentence.split()[0]}'"
    if len(sentence.split()) > LONGEST:
        yield f"has {len(sentence.split())} words"
    for term, better in TERMS.items():
        if re.search(rf"\b{term}\b", sentence, re.IGNORECASE):
            yield f"'{term}'; use: {better}"


def main():
    root = Path(sys.argv[1])
    lengths, faults = [], 0
    for folder in FOLDERS:
        words = what = 0
        for path in files_of(root, folder):
            for sentence in (s for block in blocks_of(path) for s in sentences(block)):
                lengths.append(len(sentence.split()))
                words += lengths[-1]
                what += len(re.findall(r"\bwhat\b", sentence, re.IGNORECASE))
                for text in faults_of(sentence):
                    faults += 1
                    print(f"{path.relative_to(root)}: {text}: {sentence[:100]}")
        share = 1000 * what / max(words, 1)
        faults += share > WHAT
        print(f"{folder}: {words} words, what {share:.1f} in 1000, at most {WHAT}")
    print(f"{len(lengths)} sentences, median {statistics.median(lengths)}, longest {max(lengths)} "
          f"words; {faults} faults")
    return 1 if faults else 0


sys.exit(main())
