"""Makes a net that fails smaller, as long as it fails."""
import itertools
import re
import subprocess

from batch import is_failure

AT_ONCE = 8         # candidates that are compiled together


class Program:
    """The lines of a .cnn: its settings, inputs, statements, ends and train settings."""

    def __init__(self, text, line=None):
        runs = re.findall(r"^# run:(.*)$", text, re.M)
        self.runs = [runs[line]] if line is not None and runs else runs
        body = re.search(r"^net \w+ \{\n(.*?)^\}", text, re.S | re.M).group(1)
        train = re.search(r"^train \{\n(.*?)^\}", text, re.S | re.M)
        self.lines = [each.strip() for each in body.splitlines() if each.strip()]
        self.train = [each.strip() for each in train.group(1).splitlines()] if train else []

    def copy(self):
        other = Program.__new__(Program)
        other.runs, other.lines, other.train = self.runs[:], self.lines[:], self.train[:]
        return other

    def text(self):
        parts = [f"# run:{run}" for run in self.runs] + ["net random {"]
        parts += [f"    {line}" for line in self.lines] + ["}"]
        if self.train:
            parts += ["", "train {"] + [f"    {line}" for line in self.train] + ["}"]
        return "\n".join(parts) + "\n"

    def clean(self):
        """Without statements and inputs that nothing reads."""
        while True:
            kept = [line for i, line in enumerate(self.lines)
                    if not defines(line) or
                    any(mentions(other, defines(line)) for other in self.lines[i + 1:])]
            if kept == self.lines:
                return self
            self.lines = kept

    def statements(self):
        return [line for line in self.lines if not line.startswith("input")]


def defines(line):
    match = re.match(r"input (\w+)|(\w+) =", line)
    return match and (match.group(1) or match.group(2))


def mentions(line, name):
    return re.search(rf"\b{name}\b", line) is not None


def without_line(program):
    for i, line in enumerate(program.lines):
        name = defines(line)
        if not name:
            other = program.copy()
            del other.lines[i]
            yield other.clean()
            continue
        # Its readers read one of its operands instead.
        for operand in re.findall(r"\b[vx]\d+\b", line.partition("=")[2]):
            other = program.copy()
            del other.lines[i]
            other.lines = [re.sub(rf"\b{name}\b", operand, each) for each in other.lines]
            yield other.clean()
    for i, line in enumerate(program.train):
        if not line.startswith("optimizer"):
            other = program.copy()
            del other.train[i]
            yield other


def only_one_end(program):
    """One loss and one output alone, or one loss with all of the rest."""
    ends = [line for line in program.lines if not defines(line)]
    losses = [line for line in ends if line.startswith("loss")]
    outputs = [line for line in ends if line.startswith("output")]
    for loss in losses:
        for kept in [[loss, output] for output in outputs] + [[loss] + outputs]:
            other = program.copy()
            other.lines = [line for line in program.lines if defines(line) or line in kept]
            yield other.clean()


def cut_before(program, shapes):
    """All statements before one become inputs of the shapes of their results."""
    body = [i for i, line in enumerate(program.lines)
            if defines(line) and not line.startswith("input")]
    for at in body[len(body) // 2::-1] + body[len(body) // 2 + 1:]:
        other = program.copy()
        for i in body:
            name = defines(program.lines[i])
            if i < at and name in shapes:
                other.lines[i] = f"input {name} : f32[{shapes[name]}]"
        other.lines.sort(key=lambda line: not line.startswith("input"))
        yield other.clean()


def as_input(program, shapes):
    """A statement becomes an input of the shape of its result."""
    for i, line in enumerate(program.lines):
        name = defines(line)
        if name in shapes and not line.startswith("input"):
            other = program.copy()
            del other.lines[i]
            other.lines.insert(0, f"input {name} : f32[{shapes[name]}]")
            yield other.clean()


def without_option(program):
    words = program.runs[0].split()
    pairs, i = [], 0
    while i < len(words):
        takes = words[i] in ("--seed", "--samples", "--squeeze", "--batch", "--mode")
        pairs.append(words[i:i + 1 + takes])
        i += 1 + takes
    for k, pair in enumerate(pairs):
        if pair[0] not in ("--seed", "--exact"):
            other = program.copy()
            left = [word for j, each in enumerate(pairs) if j != k for word in each]
            other.runs = [" " + " ".join(left)]
            yield other


def without_argument(program):
    for lines in ("lines", "train"):
        for i, line in enumerate(getattr(program, lines)):
            for match in re.finditer(r",? ?(\w+ = )?(\[[^\]]*\]|[-\w.]+)(?=[,)])", line):
                if re.fullmatch(r"[vx]\d+", match.group(2)):
                    continue
                other = program.copy()
                text = line[:match.start()] + line[match.end():]
                getattr(other, lines)[i] = text.replace("(, ", "(")
                yield other


def smaller_number(program):
    def tries(lines, i, line, match):
        number = int(match.group(2))
        for less in sorted({1, number // 2, number - 1} - {number, 0}):
            other = program.copy()
            getattr(other, lines)[i] = line[:match.start(2)] + str(less) + line[match.end(2):]
            yield other
    for lines in ("lines", "train"):
        for i, line in enumerate(getattr(program, lines)):
            for match in re.finditer(r"(^|[ x(\[])(\d+)(?![\d.]|e-)", line):
                yield from tries(lines, i, line, match)


def smaller_dimension(program):
    """The same number everywhere: dimensions of inputs go together."""
    numbers = set(map(int, re.findall(r"\b\d+\b", " ".join(
        line for line in program.lines if line.startswith("input")))))
    for number in sorted(numbers, reverse=True):
        for less in sorted({1, number // 2, number - 1} - {number, 0}):
            other = program.copy()
            other.lines = [re.sub(rf"(?<![\w.]){number}(?![\w.])", str(less), line)
                           if line.startswith("input") else line for line in other.lines]
            yield other


def shapes_of(tools, path):
    """{name: dimensions of a sample}, as the front end has them."""
    got = subprocess.run([tools.build / "cnnc", "--mode", "eval", "--emit", "ir", "--stop-after",
                          "frontend", path], capture_output=True, text=True, check=False)
    shapes = {}
    for name, dims in re.findall(r"(\w+) f32\[([\d, ]+)\]", got.stdout):
        shapes[name] = ", ".join(dims.split(", ")[1:])
    return {name: dims for name, dims in shapes.items() if dims}


def candidates(tools, program, path):
    path.write_text(program.text())
    seen = {program.text()}
    shapes = shapes_of(tools, path)
    for kind in (only_one_end(program), cut_before(program, shapes), without_line(program),
                 as_input(program, shapes), without_option(program), without_argument(program),
                 smaller_dimension(program), smaller_number(program)):
        for other in kind:
            if other.text() not in seen:
                seen.add(other.text())
                yield other


def size_of(program):
    numbers = sum(map(float, re.findall(r"\b\d+\b", " ".join(program.lines))))
    return (len(program.statements()), len(program.lines) + len(program.train),
            len(" ".join(program.runs).split()), len(program.text()) + numbers / 1000, numbers)


def failing(tools, group, folder):
    """Returns the programs of a group that fail."""
    paths = []
    for k, program in enumerate(group):
        paths.append(folder / f"try{k}.cnn")
        paths[-1].write_text(program.text())
    results = tools.run(paths, f"{folder.name}.batch")
    return [program for program, path in zip(group, paths)
            if is_failure(results.get((str(path), 0), ""))]


def next_smaller(tools, program, folder, tries):
    """The smallest of the first AT_ONCE candidates, or fewer, of which one fails, or None; and how
    many tries are left."""
    size = size_of(program)
    smaller = (other for other in candidates(tools, program, folder / "now.cnn")
               if size_of(other) < size)
    while group := list(itertools.islice(smaller, min(AT_ONCE, tries))):
        tries -= len(group)
        found = failing(tools, group, folder)
        if found:
            return min(found, key=size_of), tries
    return None, tries


def shrink(tools, text, line, folder, tries):
    """The smallest program that fails like text with setting `line`, and how many were run to find
    it: so many tries at most, not seconds, so that it is the same on any machine."""
    folder.mkdir(parents=True, exist_ok=True)
    program = smaller = Program(text, line)
    left = tries
    while smaller:
        program = smaller
        smaller, left = next_smaller(tools, program, folder, left)
    return program, tries - left
