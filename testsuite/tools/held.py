"""Tables of counts that a file holds for one version of nvcc: another makes other code.

A file has a head, the version, and sections of rows. A test counts the sections anew and prints
each difference, or with --update writes the file. A section also has the digest of the texts that
its counts follow from. Counts of the same texts are the same, so they are not counted again.
"""
import hashlib
import os
import re
import subprocess
import sys

SKIPPED = 77


class Failed(Exception):
    """A command failed; its output, and the status for the caller to end with."""

    def __init__(self, said, status=1):
        super().__init__(said)
        self.status = status


def run(command, **environment):
    """The output of a command, with its errors."""
    done = subprocess.run(command, env={**os.environ, **environment}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise Failed(done.stdout.strip(), done.returncode)
    return done.stdout


def nvcc_version():
    """The version of nvcc, or None without one."""
    try:
        said = run(["nvcc", "--version"])
    except (FileNotFoundError, Failed):
        return None
    found = re.search(r"V([\d.]+)", said)
    return found[1] if found else None


def digest(*texts):
    """A short digest of these texts and files."""
    of = hashlib.sha256()
    for text in texts:
        of.update(text.encode())
    return of.hexdigest()[:16]


def emitted(build, first, *arguments):
    """The file that cnnc emits for these arguments, from a section on to its interface."""
    text = run([f"{build}/cnnc", *arguments, "-o", "-"])
    return text[text.index(f"// ---- {first}"):text.index("// ---- 4 interface")]


class Table:
    """How a file is written: its head, the word before a section's name, the columns, the width
    of names, and whether a bar follows them. The last column may be text after another bar."""

    def __init__(self, head, word, columns, names, width, text=None):
        self.head, self.word, self.columns, self.text = head, word, columns, text
        self.names, self.width = names, width

    def read(self, path):
        """nvcc's version, and by section its rows with their counts, and its digest."""
        version, sections, digests, section = None, {}, {}, None
        with open(path, encoding="utf-8") as file:
            for line in file:
                first, _, rest = line.strip().partition(" ")
                if first == "nvcc":
                    version = rest
                elif first == self.word:
                    own, section = sections.setdefault(rest, {}), rest
                elif first == "digest":
                    digests[section] = rest
                elif first and first not in ("#", "kernel"):
                    name, numbers, text = line.split("|") if self.text else (first, rest, "")
                    own[name.strip()] = dict(zip(self.columns, map(int, numbers.split())))
                    if self.text:
                        own[name.strip()][self.text] = text.strip()
        return version, sections, digests

    def line(self, name, cells, text):
        bar = "|" if self.text else ""
        line = f"{name:<{self.names}}{bar}" + "".join(f"{cell:>{self.width}}" for cell in cells)
        return f"{line} | {text}".rstrip() if self.text else line

    def write(self, path, version, sections, digests):
        lines = [self.head, f"nvcc {version}"]
        for section, rows in sections.items():
            lines += ["", f"{self.word} {section}", f"digest {digests[section]}",
                      self.line("kernel", self.columns, self.text)]
            for name, row in rows.items():
                lines.append(self.line(name, [row[column] for column in self.columns],
                                       row.get(self.text, "")))
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join([*lines, ""]))

    def differences(self, old, new):
        """A line for each count that differs."""
        for name in dict.fromkeys([*old, *new]):
            if name not in new or name not in old:
                yield f"{name}: {'gone' if name in old else 'new'}"
                continue
            for column in [*self.columns, *([self.text] if self.text else [])]:
                was, now = old[name][column], new[name][column]
                if was != now:
                    change = f" ({100 * (now / was - 1):+.2f} %)" \
                        if column != self.text and was else ""
                    yield f"{name}: {column} {was} -> {now}{change}"

    def check(self, path, sections, pattern, count, source):
        """Counts the sections anew whose texts have changed; the status of the test."""
        version, held, digests = self.read(path)
        if version != nvcc_version():
            print(f"the counts are of nvcc {version}, and this is nvcc {nvcc_version()}")
            return SKIPPED
        changed = 0
        for name in sections or held:
            if not re.search(pattern, name):
                continue
            if source(name) == digests.get(name):
                print(f"{name}: counted before from the same texts", flush=True)
                continue
            rows = count(name)
            lines = list(self.differences(held.get(name, {}), rows))
            print(f"{name}: {len(rows)} kernels, {len(lines)} differences", flush=True)
            print(*(f"    {line}\n" for line in lines), sep="", end="", flush=True)
            changed += len(lines)
        if changed:
            print("If the change is intended, the file's head has the command that writes it anew.")
        return int(changed > 0)

    def main(self, count, source, sections=()):
        """The program `BUILD FILE [PATTERN] [--update]`: count(build, section) returns rows, and
        source(build, section) the digest. The sections are these, or those of the file."""
        words = [word for word in sys.argv[1:] if word != "--update"]
        build, path, pattern = [*words, ""][:3]
        if nvcc_version() is None:
            print("nvcc is missing")
            return SKIPPED
        try:
            if "--update" not in sys.argv:
                return self.check(path, sections, pattern, lambda name: count(build, name),
                                  lambda name: source(build, name))
            _, held, digests = self.read(path) if os.path.exists(path) else (None, {}, {})
            anew = [name for name in sections or held if re.search(pattern, name)]
            digests.update((name, source(build, name)) for name in anew)
            held.update((name, count(build, name)) for name in anew)
            self.write(path, nvcc_version(), {name: held[name] for name in sections or held},
                       digests)
        except Failed as error:
            print(error)
            return error.status
        return 0
