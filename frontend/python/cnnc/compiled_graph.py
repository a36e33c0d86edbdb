"""The graph of a net, as cnnc --emit graph prints it."""
import json
from dataclasses import dataclass

from .compiler import arguments_of, run, text_of

WEIGHTS = ("param", "statistic")
MARKS = ("checkpoint", "float32")


def place_of(row):
    """Where the program makes it: net.cnn:3:5."""
    return f"{row['file']}:{row['line']}:{row['column']}" if "file" in row else "the net"


@dataclass(frozen=True)
class Value:
    name: str
    kind: str                   # input, activation, param, statistic, ...
    dtype: str
    shape: tuple                # of all but weights, the batch comes first
    classes: int = 0            # of a label
    marks: tuple = ()           # of the program: checkpoint, float32

    @property
    def is_weight(self):
        return self.kind in WEIGHTS


@dataclass(frozen=True)
class Operator:
    """A call of an operator. Operands are pairs of a role and the name of a value; those that the
    call has not are left out."""
    name: str
    op: str
    operands: tuple
    attributes: dict
    result: str
    place: str

    @property
    def values(self):
        return [value for _, value in self.operands]

    def operand(self, role):
        """The value in this role, or None."""
        return next((value for word, value in self.operands if word == role), None)


@dataclass(frozen=True)
class Call:
    """A call as the language has it, outside of blocks. Defaults are filled in.

    name        of the layer
    weights     the name of parameters that other calls share, or None
    train       the word of the argument, or None without parameters"""
    op: str
    name: str
    operands: tuple             # names of values
    result: str
    arguments: dict
    train: str
    weights: str

    @property
    def layer(self):
        """The name of its parameters, without their role."""
        return self.weights or self.name


class CompiledGraph:
    """A net before any pass.

    inputs, outputs     names of values, in the program's order
    values              by name
    operators           in the order of execution
    calls               those that they came from, with losses and metrics
    results             the outputs in any mode
    shapes              of a sample, by input and by result of a call
    losses, metrics     the values that they make
    constants           texts by name
    train               where the section begins: file, line, column; or None"""

    def __init__(self, net, mode, **options):
        path, text = text_of(net)
        given = ["--emit", "graph", "--mode", mode, *arguments_of(options), path]
        printed = json.loads(run(given, text))
        self.mode = mode
        self.name, self.precision = printed["net"], printed["precision"]
        self.inputs, self.outputs = printed["inputs"], printed["outputs"]
        self.results, self.constants = printed["results"], printed["constants"]
        self.train = printed.get("train")
        self.values = {row["name"]: Value(
            row["name"], row["kind"], row["dtype"], tuple(row["shape"]), row.get("classes", 0),
            tuple(word for word in MARKS if row.get(word))) for row in printed["values"]}
        self.operators = [Operator(
            row["name"], row["operator"],
            tuple((slot["role"], slot["value"]) for slot in row["operands"]), row["attributes"],
            row["results"][0]["value"] if row["results"] else None, place_of(row))
            for row in printed["operators"]]
        self.shapes = {name: self.values[name].shape[1:] for name in self.inputs}
        self.calls = list(self.calls_apart(printed["calls"]))
        self.losses, self.metrics = self.figures()

    def calls_apart(self, rows):
        """The calls, each of which makes a value. Inference has no dropout, whose result is its
        operand there; it gets the name of its layer."""
        made, names = set(self.inputs), {}
        for row in rows:
            operands = tuple(names.get(name, name) for name in row["operands"])
            result = row["result"]
            if result in made:
                names[result] = row["name"]
                self.results = [names.get(name, name) for name in self.results]
                result = row["name"]
            made.add(result)
            self.shapes[result] = tuple(row["shape"][1:])
            yield Call(row["operator"], row["name"], operands, result, row["arguments"],
                       row.get("train"), row.get("weights"))

    def figures(self):
        for at in self.operators:
            if at.op == "accumulate_metrics":
                rows = [value for role, value in at.operands if role == "rows"]
                return rows[:at.attributes["losses"]], rows[at.attributes["losses"]:]
        return [], []

    @property
    def weights(self):
        return [value for value in self.values.values() if value.is_weight]
