"""The command cnnc-prune-channels: pruning.prune_channels for files."""
import argparse
import sys

from .compiler import Memory
from .errors import CompileError, Unsupported, WeightError
from .pruning import prune_channels
from .weights import load


def table(pruned):
    """A line for each layer: its channels before and after, and why it keeps all."""
    width = max((len(row.layer) for row in pruned.layers), default=0)
    return "\n".join(f"{row.layer:{width}} {row.before:6} -> {row.after:<6} {row.reason or ''}"
                     .rstrip() for row in pruned.layers)


def compared(what, before, after):
    return f"{what:22} {before:14} -> {after:<14} {100 * (after / before - 1):+.1f} %"


def figures(net, pruned, before, options):
    """Lines of the numbers of parameters and of the arenas."""
    numbers = (sum(array.size for array in arrays.values()) for arrays in (before, pruned.weights))
    yield compared("parameters", *numbers)
    own = {name: value for name, value in options.items() if name != "define"}
    modes = {"train": "bytes of training", "infer": "bytes of inference"}
    for mode in modes if pruned.trains else ("infer",):
        yield compared(modes[mode], Memory(net, mode=mode, **options),
                       Memory(pruned, mode=mode, **own))


def parsed(arguments):
    parser = argparse.ArgumentParser(
        prog="cnnc-prune-channels", description="Cuts the channels of a net whose filters are "
        "small, and writes a smaller program with smaller weights.")
    parser.add_argument("net", help="a program, FILE.cnn")
    parser.add_argument("--load", metavar="FILE", required=True,
                        help="its weights, as its trainer saves them (safetensors)")
    parser.add_argument("--save", metavar="FILE", required=True, help="the smaller program, .cnn")
    parser.add_argument("--save-weights", metavar="FILE", required=True, help="its weights")
    parser.add_argument("--keep", metavar="SHARE", type=float, default=0.7,
                        help="what stays of each group of channels: above 0, at most 1; default 0.7")
    parser.add_argument("--round", metavar="N", type=int, default=1,
                        help="round what stays up to a multiple, as 8 for tensor cores")
    parser.add_argument("--skip", metavar="GLOB", action="append", default=[],
                        help="layers with such names keep their channels; may be repeated")
    parser.add_argument("-D", metavar="NAME=V", action="append", default=[], dest="define",
                        help="the value of a constant, instead of the program's")
    return parser.parse_args(arguments)


def main(arguments=None):
    """The command cnnc-prune-channels. Returns the exit status."""
    given = parsed(arguments)
    options = {"define": dict(word.partition("=")[::2] for word in given.define)}
    try:
        before = load(given.load)
        pruned = prune_channels(given.net, before, given.keep, None, given.round, given.skip,
                                **options)
        lines = list(figures(given.net, pruned, before, options))
        pruned.save_as(given.save, given.save_weights)
    except (CompileError, Unsupported, WeightError, ValueError, OSError) as error:
        print(f"cnnc-prune-channels: error: {error}", file=sys.stderr)
        return 1
    print(table(pruned), "", *lines, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
