"""A net's own graph as a program again, without blocks, loops and expressions.

Each call is a statement. Layers, values, parameters, inputs and outputs keep their names, and the
section train is copied from the program.
"""
import re
from pathlib import Path

from . import language

TYPES = {"f64": "f32"}
STDIN = "/dev/stdin"        # the name that the compiler gives the text of a program


class Variables:
    """The variables of values. Inputs and outputs have their own names."""

    def __init__(self, graph):
        self.taken = set(graph.constants)
        self.names = {}
        for name in [*graph.inputs, *graph.results, *(call.result for call in graph.calls)]:
            if name not in self.names:
                self.names[name] = language.identifier(name, self.taken)

    def of(self, name):
        return self.names[name]


def type_of(value):
    sizes = [*value.shape[1:], *([value.classes] if value.classes else [])]
    kind = "class" if value.classes else TYPES.get(value.dtype, value.dtype)
    return f"{kind}[{', '.join(map(str, sizes or [1]))}]"


class Statements:
    """The statements of a graph. `changes` has arguments of calls, by their results."""

    def __init__(self, graph, changes):
        self.graph, self.changes, self.variables = graph, changes, Variables(graph)

    def call(self, call, own_name):
        """A call whose layer has its name; `own_name` is the one that it has without an
        argument."""
        words = {**call.arguments, **self.changes.get(call.result, {})}
        words |= {word: text for word, text in (("train", call.train), ("weights", call.weights))
                  if text is not None}
        if call.name != own_name:
            words["name"] = call.name
        operands = [self.variables.of(name) for name in call.operands]
        if len(operands) == 1:
            return f"{operands[0]} -> {language.call(call.op, words)}"
        return language.call(call.op, words, operands)

    def inputs(self):
        for name in self.graph.inputs:
            yield f"input {self.variables.of(name)} : {type_of(self.graph.values[name])}"

    def body(self):
        graph = self.graph
        figures = {**dict.fromkeys(graph.losses, "loss"), **dict.fromkeys(graph.metrics, "metric")}
        for call in graph.calls:
            if call.result in figures:
                yield f"{figures[call.result]:<6} {self.call(call, call.op)}"
                continue
            variable = self.variables.of(call.result)
            yield f"{variable} = {self.call(call, variable)}"
            value = graph.values.get(call.result)
            for mark in value.marks if value else ():
                yield f"{mark} {variable}"
        if graph.results:
            yield f"output {', '.join(map(self.variables.of, graph.results))}"


def section_train(graph, text):
    """The section train as the program has it, and the constants that it reads."""
    if graph.train is None:
        return ""
    if text is None or graph.train["file"] != STDIN:
        text = Path(graph.train["file"]).read_text(encoding="utf-8")
    lines = text.split("\n")[graph.train["line"] - 1:]
    rest = "\n".join(lines)[graph.train["column"] - 1:]
    words = list(re.finditer(r'#[^\n]*|"[^"\n]*"|\w+|[{}]', rest))
    end = next((word.end() for word in words if word[0] == "}"), None)
    if end is None:
        raise ValueError(f"{graph.train['file']}: the section train has no end; it has changed")
    read = {word[0] for word in words if word.end() <= end}
    constants = [f"{name} = {value}\n" for name, value in graph.constants.items() if name in read]
    return "\n" + "".join([*constants, "\n" * bool(constants)]) + rest[:end] + "\n"


def program(graph, text, origin, changes):
    """The text of a program.

    graph     a CompiledGraph of the program
    text      its text, or None if the compiler read a file
    origin    a sentence for the first line
    changes   by result of a call, arguments that replace its own"""
    made = Statements(graph, changes)
    lines = [language.wrapped(f"    {line}", "    ") for line in [*made.inputs(), *made.body()]]
    return "\n".join([f"# {origin}", f"net {graph.name} {{", *lines, "}", ""]) + \
        section_train(graph, text)
