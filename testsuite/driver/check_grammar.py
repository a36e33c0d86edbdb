#!/usr/bin/env python3
"""The syntax of the language for editors.

usage: check_grammar.py CNNC ROOT textmate|vim

Each token of the examples and of programs with all words of the tables has the scope that its
place demands. TextMate's grammar gets the nets of operators too. The expected scope is computed
from the scanner's rules, from ir/ops.def and from the reference. The grammar of TextMate is run
here, by Python's expressions; that of vim by vim. The files of VS Code name files that are
installed.
"""
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOKEN = re.compile(r"""(?P<comment>\#.*) | (?P<string>"[^"\n]*"?) | (?P<dims>\d+(?:x\d+)+\b)
    | (?P<float>\d*\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+) | (?P<number>\d+)
    | (?P<name>[A-Za-z_]\w*) | (?P<sign>->|[=!<>]=|[-+*/%<>=:]) | (?P<bracket>[][(){},])""",
                   re.VERBOSE)
# The beginning of a TextMate scope, and the group of vim.
SCOPES = {"comment": ("comment.line", "Comment"), "string": ("string.quoted", "String"),
          "dims": ("constant.numeric.dimensions", "Dims"), "sign": ("keyword.operator.cnn", "Sign"),
          "float": ("constant.numeric.float", "Float"),
          "number": ("constant.numeric.integer", "Number"),
          "setting": ("variable.other.setting", "Setting"),
          "update": ("support.function.update", "Update"),
          "argument": ("variable.parameter", "Argument"), "type": ("storage.type", "Type"),
          "operator": ("support.function.operator", "Operator"),
          "function": ("support.function.builtin", "Builtin"),
          "statement": ("keyword.control", "Statement"), "word": ("keyword.operator.word", "Word"),
          "truth": ("constant.language", "Boolean"), None: ("", "")}


class Tables:
    """The words of the language, from its sources and the reference."""

    def __init__(self, cnnc, root):
        scanner = (root / "frontend/scanner.l").read_text()
        words = set(re.findall(r'^"([a-z0-9]+)"', scanner, re.MULTILINE))
        self.truth = set(re.findall(r'"(true|false)"', scanner))
        self.word = {"as", "and", "or", "not"}
        self.statement = words - self.truth - self.word
        reference = run([cnnc, "--reference"])
        sections = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", reference, re.M | re.S))
        self.operator = self.names(sections, "Layers", "Losses", "Metrics")
        self.update = self.names(sections, "Optimizers", "Schedules")
        self.setting = set(re.findall(r"^\| `(\w+)`", sections["The train section"], re.M))
        self.function = set(re.findall(r"^\| `(\w+)`", sections["Functions"], re.M))
        rows = re.findall(r"^OP\((\w+),(?!.*INTERNAL)", (root / "ir/ops.def").read_text(), re.M)
        assert set(rows) <= self.operator | self.update, "the reference lacks an operator"
        types = re.search(r"inputs are (.*?)\"\n\s*\"(.*?)\"",
                          (root / "frontend/resolve.c").read_text())
        self.type = set(re.findall(r"\w+", types[1] + types[2])) - {"or"}
        assert len(self.statement) > 12 and len(self.setting) > 9 and len(self.type) == 4

    @staticmethod
    def names(sections, *titles):
        text = "".join(sections[title] for title in titles)
        return set(re.findall(r"^### (\w+)", text, re.M) + re.findall(r"called `(\w+)`", text))

    def programs(self):
        """Texts with every word in its place."""
        lines = [f"    x = x -> {n}\n    x = {n}(x) ->{n} (2)" for n in sorted(self.operator)]
        lines += [f"    y = {n}(x) + {n}" for n in sorted(self.function)]
        lines += [f"    input x : {n}[8, 8, 3]" for n in sorted(self.type)]
        lines += [f"    {n} x" for n in sorted(self.statement | self.word | self.truth)]
        yield "net all {\n" + "\n".join(lines) + "\n}\n"
        lines = [f"    {n} = 3  # {n}" for n in sorted(self.setting)]
        lines += [f"    optimizer = {n}(lr = .5, {n} = 2)" for n in sorted(self.update)]
        lines += [f"    schedule = {n}" for n in sorted(self.update)]
        yield "train {\n" + "\n".join(lines) + "\n}\nbatch = 3\n"
        yield ('a = 3x3 + 1.5e-3 - .25 * 12 % 0x1x2x3 # "no string" 3\nb = "# no comment, 3 net"\n'
               "c = (1 <= 2) == (3 != 4)\nnets = inputs2 -> reluu(train2 = 1)\n")


def run(command, **options):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, check=True, **options).stdout


def expected(tables, text):
    """Offset, text and kind of each token, by the rules of the language."""
    tokens = list(TOKEN.finditer(text))
    depth, in_train = 0, False
    for i, token in enumerate(tokens):
        kind, word = token.lastgroup, token[0]
        before = tokens[i - 1][0] if i else ""
        after = tokens[i + 1][0] if i + 1 < len(tokens) else ""
        if kind == "bracket":
            depth += (word == "(") - (word == ")")
            in_train = in_train and word != "}" or word == "{" and before == "train"
            continue
        if kind == "name":
            kind = kind_of(tables, word, before, after, depth, in_train)
        yield token.start(), word, kind


def kind_of(tables, word, before, after, depth, in_train):
    if depth and after == "=":
        return "argument"
    if in_train and not depth and word in tables.setting and after == "=":
        return "setting"
    if in_train and not depth and word in tables.update:
        return "update"
    if word in tables.type and after == "[":
        return "type"
    if word in tables.operator and (before == "->" or after == "("):
        return "operator"
    if word in tables.function and after == "(":
        return "function"
    for kind in ("statement", "word", "truth"):
        if word in getattr(tables, kind):
            return kind
    return None


class Textmate:
    """Runs a grammar of match, begin and end rules, line by line."""

    def __init__(self, grammar):
        self.grammar = grammar

    def flat(self, patterns):
        for pattern in patterns:
            include = pattern.get("include")
            if include is None:
                yield pattern
                continue
            rule = self.grammar["repository"][include[1:]]
            if "begin" in rule:
                yield rule
            else:
                yield from self.flat(rule["patterns"])

    def scopes(self, text):
        """The scope of each character."""
        scopes, stack, start = [""] * len(text), [self.grammar], 0
        for line in text.splitlines(keepends=True):
            at = 0
            while at < len(line):
                at = self.step(line, at, stack, scopes, start)
            start += len(line)
        return scopes

    def step(self, line, at, stack, scopes, start):
        """Takes the first match at the earliest place; returns its end."""
        rules = list(self.flat(stack[-1]["patterns"]))
        if "end" in stack[-1]:
            rules.insert(0, {"match": stack[-1]["end"], "ends": True})
        found = [(m.start(), i, m) for i, rule in enumerate(rules)
                 if (m := re.compile(rule.get("match") or rule["begin"]).search(line, at))]
        if not found:
            return len(line)
        _, i, match = min(found, key=lambda item: item[:2])
        rule = rules[i]
        name = rule.get("name") or rule.get("beginCaptures", {}).get("1", {}).get("name", "")
        group = 1 if "beginCaptures" in rule else 0
        for k in range(match.start(group), match.end(group)):
            scopes[start + k] = name
        if "begin" in rule:
            stack.append(rule)
        if "ends" in rule:
            stack.pop()
        return max(match.end(), at + (match.end() == match.start() and "begin" not in rule))


def ask_textmate(cnnc, texts, _folder):
    grammar = Textmate(json.loads(run([cnnc, "--grammar", "textmate"])))
    for text, tokens in texts:
        scopes = grammar.scopes(text)
        yield [sorted(set(scopes[at:at + len(word)])) for at, word, _ in tokens]


# Opens each file, and prints the group of the first and last character of each token.
VIM = """
let s:out = []
for s:file in range(COUNT)
    execute "edit " . s:file . ".cnn"
    if &filetype != "cnn" | call add(s:out, "no filetype") | endif
    syntax sync fromstart
    for s:line in readfile(s:file . ".tokens")
        let s:at = split(s:line)
        let s:names = map([s:at[1], s:at[2]], 'synIDattr(synID(s:at[0], v:val, 0), "name")')
        call add(s:out, join(s:names, " "))
    endfor
endfor
call writefile(s:out, "out")
qall!
"""


def ask_vim(cnnc, texts, folder):
    home = Path(folder, "home")
    shutil.copytree(Path(sys.argv[2], "frontend/editors/vim"), home)
    Path(home, "syntax").mkdir()
    Path(home, "syntax/cnn.vim").write_text(run([cnnc, "--grammar", "vim"]))
    for i, (text, tokens) in enumerate(texts):
        Path(folder, f"{i}.cnn").write_text(text)
        places = ((text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at), word)
                  for at, word, _ in tokens)
        Path(folder, f"{i}.tokens").write_text("".join(
            f"{line} {column} {column + len(word) - 1}\n" for line, column, word in places))
    Path(folder, "script.vim").write_text(VIM.replace("COUNT", str(len(texts))))
    run(["vim", "-N", "-u", "NONE", "-i", "NONE", "-es", "-c", f"set rtp^={home}", "-c",
         "filetype plugin on", "-c", "syntax on", "-S", "script.vim"], cwd=folder,
        stdin=subprocess.DEVNULL)
    lines = iter(Path(folder, "out").read_text().splitlines())
    for _, tokens in texts:
        # The two regions have no colour of their own.
        yield [sorted(set(re.sub("cnn(Call|Train)?", "", next(lines)).split(" ")))
               for _ in tokens]


def check_vscode(root, faults):
    folder = root / "frontend/editors/vscode"
    package = json.loads((folder / "package.json.in").read_text())["contributes"]
    json.loads((folder / "language-configuration.json").read_text())
    files = [package["languages"][0]["configuration"], package["grammars"][0]["path"]]
    installed = (root / "CMakeLists.txt").read_text()
    faults.extend(f"{file} is not installed" for file in files
                  if Path(file).name not in installed)


def main():
    cnnc, root, editor = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    if editor == "vim" and shutil.which("vim") is None:
        print("no vim here: skipped")
        sys.exit(77)
    tables, faults, count = Tables(cnnc, root), [], 0
    paths = sorted((root / "examples").rglob("*.cnn"))
    if editor == "textmate":
        paths += sorted((root / "testsuite/ops").glob("*.cnn"))
    texts = [*tables.programs(), *(path.read_text() for path in paths)]
    texts = [(text, list(expected(tables, text))) for text in texts]
    column = 0 if editor == "textmate" else 1
    with tempfile.TemporaryDirectory() as folder:
        answers = (ask_textmate if column == 0 else ask_vim)(cnnc, texts, folder)
        for (text, tokens), got in zip(texts, answers):
            for (at, word, kind), names in zip(tokens, got):
                count += 1
                wanted = SCOPES[kind][column]
                good = len(names) == 1 and (names[0] == wanted or wanted and column == 0
                                            and names[0].startswith(wanted))
                if not good:
                    line = text[text.rfind("\n", 0, at) + 1:].split("\n")[0]
                    faults.append(f"{word} is {names}, not {wanted}: {line.strip()}")
    check_vscode(root, faults)
    print(*faults[:20], sep="\n", end="\n" if faults else "")
    print(f"{len(texts)} programs, {count} tokens, {len(faults)} faults")
    return 1 if faults or count < 7000 else 0


sys.exit(main())
