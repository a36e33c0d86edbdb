"""The neutral graph: what a front end hands to the writer.

A value is one sample in channels-first order: [channels, height, width] of a map, [elements] of a
vector. A node makes one value, which has the node's name. A node's operator and attributes have
cnnc's words where the language has the operator. The exceptions are:

    dense           on a map: along its last axis, as torch.nn.Linear
    layernorm       along the last axis
    softmax, concat, slice    with axis, an axis of the sample: 0 is channels of a map
    permute         with axes: axis i of the result is axis axes[i] of the operand
    reshape         with shape, of the result
    channel_scale   multiplies each channel by its weight
    input           a value that the user gives

Padding is [top, bottom, left, right], or the word same of conv and pools; other dimensions are
[height, width]. Weights have PyTorch's layouts: [out, in, h, w] of conv, [in, out, h, w] of
conv_transpose, [out, in] of dense. A node names its weights by role; the arrays are in `arrays`,
under the names that the framework has. Nodes with the same arrays in the same roles share them.

With `channels_last` an input or an output of three axes is [height, width, channels], as in Keras.
The classes of a loss are last then. A map between is the permutation [2, 0, 1] of such a value.

The graph without its arrays is JSON, so that the writer's tests need no framework.
"""
import json
from dataclasses import asdict, dataclass, field


@dataclass
class Node:
    name: str                   # the module's path, or one that ends in the operator
    op: str
    inputs: list                # names of nodes
    shape: list                 # of the result
    attrs: dict = field(default_factory=dict)
    params: dict = field(default_factory=dict)      # the name of an array, by role
    source: str = ""            # how messages name the node: "layer1.0.conv1: torch.nn.Conv2d"


@dataclass
class Graph:
    name: str
    nodes: list
    outputs: list               # names of nodes
    arrays: dict = field(default_factory=dict)
    frozen: set = field(default_factory=set)        # names of arrays that are not trained
    loss: dict = None       # op, attrs, scores (an output), label (an input that is no node)
    channels_last: bool = False
    scores: str = None      # the node that a loss reads, if it is not the first output
    tied: dict = field(default_factory=dict)    # other names of arrays, and the name above
    copies: bool = False    # an array of layers that can't share it becomes one of each

    def to_json(self):
        """The graph without the values of its arrays: their shapes alone."""
        return json.dumps({
            "name": self.name, "outputs": self.outputs, "frozen": sorted(self.frozen),
            **{word: value for word, value in (("loss", self.loss), ("scores", self.scores),
                                               ("channels_last", self.channels_last)) if value},
            **({"tied": self.tied} if self.tied else {}),
            **({"copies": True} if self.copies else {}),
            "arrays": {name: list(array.shape) for name, array in self.arrays.items()},
            "nodes": [asdict(node) for node in self.nodes]}, separators=(",", ":"))

    @classmethod
    def from_json(cls, text, draw):
        """The graph of to_json. Calls draw(name, shape) for each array."""
        parts = json.loads(text)
        return cls(parts["name"], [Node(**node) for node in parts["nodes"]], parts["outputs"],
                   {name: draw(name, shape) for name, shape in parts["arrays"].items()},
                   set(parts["frozen"]),
                   **{word: parts[word] for word in ("loss", "channels_last", "scores", "tied",
                                                     "copies") if word in parts})


def unique_name(names, path):
    """The path, or the path with a number: a name that is new to the set of names."""
    name, number = path, 0
    while name in names:
        number += 1
        name = f"{path}_{number}"
    names.add(name)
    return name
