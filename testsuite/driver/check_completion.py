#!/usr/bin/env python3
"""The completions of cnnc, in real shells.

usage: check_completion.py CNNC bash|zsh|fish

Every option that --help lists is completed from its beginning, and so is each -fPASS and
-fno-PASS. The value of an option is completed by the words that the option takes, and by nothing
else. These words are known from error messages and from the tables of --passes and --gpus. An
option of a FILE completes all files, one of a DIR folders. The input is a file .cnn or .ir, or a
folder. cnnc accepts each word. An interactive bash completes --mode=tr too, where = splits words.
"""
import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FILES = ["a.cnn", "b.ir", "c.txt", "d e.cnn"]
PROGRAMS = {"a.cnn", "b.ir", "d e.cnn", "sub"}
END = "-- end --"

# Prints the completions of each query, a line of words that tabs separate.
BASH = r"""
source "$1"
while IFS=$'\t' read -r -a COMP_WORDS; do
    COMP_WORDS=("${COMP_WORDS[@]/#@/}")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMPREPLY=()
    _cnnc
    printf '%s\n' "${COMPREPLY[@]}" "-- end --"
done
complete -p cnnc >&2
"""

# A widget that completes each query and notes what the completion adds.
ZSH = r"""
fpath=($FOLDER $fpath)
autoload -Uz compinit && compinit -u -D
compadd() {
    local -a hits
    if [[ ${@[(I)-[OAD]]} -eq 0 ]]; then
        builtin compadd -O hits "$@"
        (( $#hits )) && print -rl -- "${hits[@]}" >> $RESULTS
    fi
    builtin compadd "$@"
}
zle -C answer .complete-word _main_complete
zle-line-init() {
    local query
    while IFS= read -r query; do
        BUFFER=$query CURSOR=$#query
        zle answer
        print -r -- "-- end --" >> $RESULTS
    done < $QUERIES
    exit
}
zle -N zle-line-init
"""

FISH = r"""
source $argv[1]
while read -l query
    complete -C "$query"
    echo "-- end --"
end
"""


def run(command, **options):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          **options)


def split(text):
    """The set of lines before each END."""
    parts = text.split(END + "\n")
    assert parts[-1].strip() == "", f"the shell printed more: {parts[-1]}"
    return [{line.rstrip("/ ").replace("\\ ", " ") for line in part.splitlines() if line}
            for part in parts[:-1]]


def ask_bash(script, queries, folder):
    lines = "".join("\t".join("@" + word for word in query) + "\n" for query in queries)
    result = run(["bash", "--norc", "-c", BASH, "bash", script], input=lines, cwd=folder)
    assert result.stderr == "complete -F _cnnc cnnc\n", f"bash: {result.stderr}"
    return split(result.stdout)


def ask_zsh(script, queries, folder):
    with tempfile.TemporaryDirectory() as home:
        shutil.copy(script, Path(home, "_cnnc"))
        results, asked = Path(home, "results"), Path(home, "queries")
        asked.write_text("".join(" ".join(q) + "\n" for q in queries))
        results.touch()
        Path(home, ".zshrc").write_text(ZSH)
        environment = {**os.environ, "ZDOTDIR": home, "FOLDER": home, "RESULTS": str(results),
                       "QUERIES": str(asked), "TERM": "dumb"}
        talk(["zsh", "-i"], folder, environment, [], 60)
        return split(results.read_text())


def ask_fish(script, queries, folder):
    lines = "".join(" ".join(q) + "\n" for q in queries)
    with tempfile.TemporaryDirectory() as home:
        result = run(["fish", "--no-config", "-c", FISH, script], input=lines, cwd=folder,
                     env={**os.environ, "HOME": home, "XDG_CONFIG_HOME": home,
                          "XDG_DATA_HOME": home})
    assert result.stderr == "", f"fish: {result.stderr}"
    return split(re.sub(r"\t.*", "", result.stdout))


def talk(command, folder, environment, keys, seconds):
    """Runs a command on a terminal of its own; returns what it prints."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execvpe(command[0], command, environment)
    shown, end, keys = b"", time.monotonic() + seconds, list(keys)
    while time.monotonic() < end:
        ready, _, _ = select.select([terminal], [], [], 0.3)
        if not ready:
            if keys:
                os.write(terminal, keys.pop(0))
            continue
        try:
            data = os.read(terminal, 1 << 16)
        except OSError:
            data = b""
        if not data:
            break
        shown += data
    else:
        sys.exit(f"{command[0]}: no answer in {seconds} s: {shown.decode()}")
    os.waitpid(child, 0)
    return shown.decode()


ASK = {"bash": ask_bash, "zsh": ask_zsh, "fish": ask_fish}


def options_of(cnnc):
    """Pairs of name and placeholder, those of passes without."""
    text = run([cnnc, "--help"]).stdout
    rows = re.findall(r"^  (-\S+)(?: (\S+))?(?: {2,}| )\S", text, re.MULTILINE)
    return [(name, value if re.match(r"[A-Z]", value) and not value.islower() else "")
            for name, value in rows if not name.startswith("-f")]


def words_of(cnnc):
    """The words of each option, from messages of errors and from other tables."""
    passes = json.loads(run([cnnc, "--passes", "--format", "json"]).stdout)["passes"]
    names = {row["pass"] for row in passes}
    gpus = json.loads(run([cnnc, "--gpus", "--format", "json"]).stdout)["gpus"]
    words = {"--dump": names | {"all"}, "--stop-after": names | {"frontend"},
             "--gpu": {row["gpu"] for row in gpus}, "--microbatch": {"auto"}}
    for name, value in options_of(cnnc):
        message = run([cnnc, name, "?", "x.cnn"]).stderr if value else ""
        found = re.search(r"it is one of (.*)\n", message)
        if found and name not in words:
            words[name] = set(found[1].split(", "))
    assert len(words) >= 11, f"only {sorted(words)} take words"
    optional = {row["pass"] for row in passes if row["optional"]} | {"keep-gradients"}
    return words, {f"-f{no}{name}" for name in optional for no in ("", "no-")}


def wanted_value(name, value, words):
    wanted = set(words.get(name, ()))
    if "FILE" in value:
        wanted |= {*FILES, "sub"}
    return wanted | ({"sub"} if value == "DIR" else set())


def check_values(ask, options, words, faults):
    """The value as a word of its own, and after = or the letter."""
    asked = [(name, value, ["cnnc", name, ""]) for name, value in options if value]
    if ask is ask_bash:
        asked += [(n, v, ["cnnc", n, "=", ""]) for n, v, _ in asked if n.startswith("--")]
        asked += [(n, v, ["cnnc", n, "="]) for n, v, _ in asked[:9] if n.startswith("--")]
    else:
        asked += [(n, v, ["cnnc", n + "="]) for n, v, _ in asked if n.startswith("--")]
    for (name, value, query), got in zip(asked, (yield [query for _, _, query in asked])):
        got = {hit.replace(name + "=", "") for hit in got}
        wanted = wanted_value(name, value, words)
        if got != wanted:
            faults.append(f"{' '.join(query)}: completes {sorted(got ^ wanted)} in error")


def check_names(options, passes, faults):
    names = sorted({name for name, _ in options} | passes)
    queries = [["cnnc", name[:-1]] for name in names]
    for name, got in zip(names, (yield queries)):
        if name not in got:
            faults.append(f"{name} is not completed")
        for other in got - set(names):
            faults.append(f"{other} is completed, and is no option")


def check_input(faults):
    """-o and its value do not stand for the input."""
    queries = [["cnnc", ""], ["cnnc", "--main", ""], ["cnnc", "-o", "out.cu", ""]]
    for query, got in zip(queries, (yield queries)):
        if got != PROGRAMS:
            faults.append(f"{' '.join(query)}: completes {sorted(got)}, not {sorted(PROGRAMS)}")


def check_all(ask, checks):
    """Asks a shell the queries of all checks at once."""
    queries = [next(check) for check in checks]
    answers = iter(ask([query for group in queries for query in group]))
    for check, group in zip(checks, queries):
        given = [next(answers) for _ in group]
        try:
            check.send(given)
        except StopIteration:
            pass
    return sum(len(group) for group in queries)


def check_accepted(cnnc, options, words, faults):
    for name, known in words.items():
        for word in known:
            message = run([cnnc, name, word, "/nowhere/x.cnn"]).stderr
            if "did you mean" in message or "it is one of" in message:
                faults.append(f"{name} {word}: {message}")


def check_terminal(script, folder, faults):
    keys = [f"source {script}\n".encode(), b"cnnc --mode=tr\t", b"\x01echo GOT:\x05\n", b"exit\n"]
    shown = talk(["bash", "--norc", "-i"], folder, {**os.environ, "PS1": "> "}, keys, 20)
    if "GOT:cnnc --mode=train" not in shown:
        faults.append(f"an interactive bash does not complete --mode=tr: {shown}")


def main():
    cnnc, shell = os.path.abspath(sys.argv[1]), sys.argv[2]
    if shutil.which(shell) is None:
        print(f"no {shell} here: skipped")
        sys.exit(77)
    faults = []
    options, (words, passes) = options_of(cnnc), words_of(cnnc)
    with tempfile.TemporaryDirectory() as folder:
        script, files = Path(folder, "script"), Path(folder, "files")
        script.write_text(run([cnnc, "--completion", shell]).stdout)
        Path(files, "sub").mkdir(parents=True)
        for name in FILES:
            Path(files, name).touch()
        checks = [check_names(options, passes, faults),
                  check_values(ASK[shell], options, words, faults), check_input(faults)]
        asked = check_all(lambda queries: ASK[shell](script, queries, files), checks)
        if shell == "bash":
            check_terminal(script, files, faults)
            check_accepted(cnnc, options, words, faults)
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{shell}: {len(options)} options, {len(passes)} of passes, {asked} queries, "
          f"{len(faults)} faults")
    return 1 if faults or len(options) < 40 else 0


sys.exit(main())
