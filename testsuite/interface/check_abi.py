#!/usr/bin/env python3
"""The number INTERFACE_ABI of emitted headers changes with the interface.

usage: check_abi.py CNNC [--write]

The declarations of small nets with all parts of the interface are those of abi/N.h, where N is the
number in their headers. Comments and the values of a net's own sizes and hashes do not
count. Stored files of successive numbers differ. With --write, an interface with a new number is
stored. One with the same number is stored if it only has more declarations than before.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
NET = """net n {
    input image : u8[6, 6, 1]
    input label : class[4]
    x = image -> scale(1/255) -> conv(6, 3) -> batchnorm -> relu -> conv(6, 3) -> relu
    logits = x -> flatten -> dense(4)
    output logits%s
    loss   softmax_cross_entropy(logits, label)%s
}
train {
    batch = 8
    optimizer = adam(lr = 1e-2)%s
}
"""
METRIC = "\n    metric accuracy(logits, label)"
LOSS = "\n    loss softmax_cross_entropy(logits, label, weight = 0.5, name = \"half\")"
# A title, the parts of the net, and options.
CASES = (("training", ("", METRIC, ""), ()),
         ("two losses and two outputs, a schedule, averages", (
             ", x", LOSS, "\n    schedule = constant\n    average = 0.5"), ()),
         ("inference", ("", METRIC, ""), ("--mode", "infer")),
         ("accumulation", ("", METRIC, "\n    accumulate = 3"), ("--ghost",)),
         ("maps in f16, with a loss scale", ("", METRIC, ""), ("--precision", "f16")),
         ("all in f64", ("", METRIC, ""), ("--precision", "f64")),
         ("weights as constants", ("", METRIC, ""), ("--weights",)),
         ("maps in host memory", ("", METRIC, ""), ("--offload",)))


class Refused(Exception):
    """A message of cnnc."""


def emit(cnnc, folder, options):
    header = Path(folder, "n.h")
    result = subprocess.run([cnnc, f"{folder}/n.cnn", "-o", "/dev/null", "--header", header,
                             *options], stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        raise Refused(result.stderr)
    return header.read_text()


def weights_of(cnnc, folder):
    """A safetensors file of zeros for the net."""
    names = subprocess.run([cnnc, f"{folder}/n.cnn", "--emit", "names"], text=True, check=True,
                           stdout=subprocess.PIPE).stdout
    words = [f"{name}:F32:{shape.replace(', ', 'x')}=0" for name, shape in
             re.findall(r'"name": "(.*?)", "shape": \[(.*?)\]', names)]
    with open(f"{folder}/weights", "wb") as file:
        subprocess.run([sys.executable, HERE.parent / "text/Inputs/tensors.py", *words],
                       stdout=file, check=True)
    return f"{folder}/weights"


def offloaded(cnnc, folder):
    """The header under the largest budget with which a map goes to host memory."""
    net = (HERE.parent / "offload/offloaded.cnn").read_text()
    Path(folder, "n.cnn").write_text(net.replace("net offloaded", "net n"))
    plain = int(re.search(r"_ARENA_BYTES (\d+)", emit(cnnc, folder, ()))[1])
    for share in range(95, 30, -5):
        budget = str(plain * share // 100)
        header = emit(cnnc, folder, ("--budget", budget, "--offload", "-fno-batch-split"))
        if "HOST_BYTES" in header:
            return header
    return None


def declarations(header):
    """The interface's declarations, a line each: no comments, values and macros of tensors."""
    text = re.sub(r"//.*|#(?:include|ifndef) .*|#define \w+_H$", "", header, flags=re.MULTILINE)
    text = re.sub(r"#ifdef __cplusplus.*?#endif|#endif", "", text, flags=re.DOTALL)
    macros = re.findall(r"^#define (?!N_\w+_\d+_)(\w+)", text, re.MULTILINE)
    text = " ".join(re.sub(r"^#.*", "", text, flags=re.MULTILINE).split())
    # A struct ends at the brace and its name, anything else at its first semicolon.
    others = re.findall(r"\s*(typedef \w+ \w+ \{.*?\} \w+;|[^;]*;)", text)
    return [f"#define {name}" for name in macros] + others


def interface(cnnc):
    """The number, and the declarations of each case."""
    numbers, cases = set(), {}
    with tempfile.TemporaryDirectory() as folder:
        for title, parts, options in CASES:
            Path(folder, "n.cnn").write_text(NET % parts)
            if options == ("--offload",):
                header = offloaded(cnnc, folder)
            elif options == ("--weights",):
                header = emit(cnnc, folder, ("--weights", weights_of(cnnc, folder)))
            else:
                header = emit(cnnc, folder, options)
            numbers |= set(re.findall(r"^#define N_INTERFACE_ABI (\d+)$", header, re.MULTILINE))
            cases[title] = declarations(header)
    assert len(numbers) == 1, f"the headers have the numbers {numbers}"
    return int(numbers.pop()), cases


def text_of(cases):
    """The first case, and the differences of the others."""
    (title, first), *others = cases.items()
    lines = [f"// {title}", *first]
    for title, other in others:
        lines += ["", f"// {title}", *(f"- {d}" for d in first if d not in other),
                  *(f"+ {d}" for d in other if d not in first)]
    return "\n".join(lines) + "\n"


def all_of(text):
    """Pairs of a case and a declaration, from a stored text."""
    first, *others = (case.splitlines() for case in text.split("\n\n"))
    yield from ((first[0], line) for line in first[1:])
    for title, *lines in others:
        known = (set(first[1:]) - {line[2:] for line in lines if line[0] == "-"} |
                 {line[2:] for line in lines if line[0] == "+"})
        yield from ((title, line) for line in known)


def lost(old, new):
    """Declarations of the old interface that the new one lacks."""
    return sorted(set(all_of(old)) - set(all_of(new)))


def write(path, text):
    if path.exists() and lost(path.read_text(), text):
        sys.exit("a caller must be compiled again: raise INTERFACE_ABI in codegen/declare.c")
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def main():
    number, cases = interface(sys.argv[1])
    text = text_of(cases)
    path = HERE / "abi" / f"{number}.h"
    if "--write" in sys.argv[2:]:
        write(path, text)
    stored = {int(p.stem): p.read_text() for p in (HERE / "abi").glob("*.h")}
    if sorted(stored) != list(range(1, number + 1)):
        sys.exit(f"INTERFACE_ABI is {number}, and abi/ has {sorted(stored)}: check_abi.py --write "
                 "stores a new number")
    if any(stored[n] == stored[n + 1] for n in range(1, number)):
        sys.exit("two numbers have the same interface")
    missing = lost(stored[number], text)
    if missing:
        sys.exit(f"the interface differs from abi/{number}.h: raise INTERFACE_ABI in "
                 "codegen/declare.c, and store it by check_abi.py --write\n" +
                 "\n".join(f"{title}: {line}" for title, line in missing))
    if stored[number] != text:
        sys.exit(f"the interface has more than abi/{number}.h: check_abi.py --write stores it")
    print(f"interface {number}: {sum(map(len, cases.values()))} declarations in "
          f"{len(cases)} headers")


main()
