"""Views that together are one operator: reshape, permute, reshape.

A value of a front end has a node, operands and a shape, as in torch_graph.py.
"""
import math
from dataclasses import dataclass

CHANNELS, BLOCKS = ((0, 1), (2,), (3,)), ((0, 1, 2), (3,), (4,))
SPREAD = ((0,), (1, 2), (3, 4))


@dataclass
class Shuffle:
    op: str
    argument: str
    split: tuple        # by axis of the operand, the axes that the first view makes of it
    sides: tuple        # those of them whose size is the argument
    joined: tuple       # by axis of the result, the permuted axes that it is made of


# By the axes of the permutation.
SHUFFLES = {
    (1, 0, 2, 3): Shuffle("channel_shuffle", "groups", CHANNELS, (0,), CHANNELS),
    (0, 3, 1, 4, 2): Shuffle("pixel_shuffle", "factor", BLOCKS, (1, 2), SPREAD),
    (2, 3, 0, 4, 1): Shuffle("depth_to_space", "factor", BLOCKS, (0, 1), SPREAD),
    (0, 2, 4, 1, 3): Shuffle("pixel_unshuffle", "factor", SPREAD, (2, 4), BLOCKS),
    (2, 4, 0, 1, 3): Shuffle("space_to_depth", "factor", SPREAD, (2, 4), BLOCKS),
}


def merged(shape, groups):
    return [math.prod(shape[axis] for axis in axes) for axes in groups]


def shuffle_of(x, shape):
    """(operator, arguments, operand) if a view of x with this shape is a shuffle, or None."""
    found = SHUFFLES.get(tuple(x.node.attrs["axes"])) if x.node.op == "permute" else None
    if found is None or x.operands[0].node.op != "reshape":
        return None
    grouped = x.operands[0]
    source, sizes = grouped.operands[0], {grouped.shape[side] for side in found.sides}
    if list(source.shape) != merged(grouped.shape, found.split) or \
            list(shape) != merged(x.shape, found.joined) or len(sizes) != 1:
        return None
    return found.op, {found.argument: sizes.pop()}, source
