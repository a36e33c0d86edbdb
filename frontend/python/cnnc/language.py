"""The operators of cnnc and how their calls are written, from the compiler's own reference."""
import functools
import re
from dataclasses import dataclass

from .compiler import run

# Words that can't be variables.
RESERVED = set("net block train include input output loss metric checkpoint float32 return if else "
               "repeat as and or not true false".split())
WIDTH = 100


@dataclass
class Argument:
    type: str
    default: str        # None: it must be given


@functools.cache
def operators():
    """By name, the arguments of each layer, loss and metric that a program can call."""
    text = run(["--reference"]).split("\n## Internal operators")[0]
    sections = re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
    return {name: {**dict(arguments(section)), "train": Argument("word", "all"),
                   "weights": Argument("string", '""'), "name": Argument("string", '""')}
            for name, section in sections}


def arguments(section):
    for name, kind, default in re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|", section,
                                          re.MULTILINE):
        found = re.fullmatch(r"`(.*)`", default)
        yield name, Argument(kind, found[1] if found else None)


def number(value):
    text = repr(int(value) if float(value).is_integer() and abs(value) < 1e15 else float(value))
    return re.sub(r"e([+-]?)\+?0*", r"e\1", text.replace("e+", "e"))


def dimensions(sizes):
    """[height, width], or the sides of a padding, [top, bottom, left, right]."""
    if len(sizes) == 4 and sizes[0] == sizes[1] and sizes[2] == sizes[3]:
        sizes = sizes[1:3]
    if len(sizes) == 2 and sizes[0] == sizes[1]:
        sizes = sizes[:1]
    return "x".join(str(size) for size in sizes)


def written(kind, value):
    """A value as the text of an argument of this type."""
    if isinstance(value, str):
        return f'"{value}"' if kind == "string" else value
    if isinstance(value, bool):
        return "true" if value else "false"
    if kind in ("dimensions", "padding"):
        return dimensions(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(number(item) for item in value) + "]"
    return number(value)


def is_default(default, text):
    try:
        return default is not None and float(default) == float(text)
    except ValueError:
        return default == text


def call(op, values, operands=()):
    """The text of a call. Arguments that have their default value are left out."""
    words = list(operands)
    for name, argument in operators()[op].items():
        text = written(argument.type, values[name]) if name in values else None
        default = argument.default
        if default in values:                       # stride = kernel
            default = written(argument.type, values[default])
        if text is None or is_default(default, text):
            continue
        words.append(text if argument.default is None else f"{name} = {text}")
    return f"{op}({', '.join(words)})" if words else op


def identifier(path, taken, word="net"):
    """A variable for a module's path that is not taken yet. It begins with the word if the path
    begins with a number."""
    path = f"{word}_{path}" if path[:1].isdigit() else path
    name = re.sub(r"\W", "_", path.replace(".", "_"), flags=re.ASCII)
    if name in RESERVED:
        name += "_"
    count, free = 0, name
    while free in taken:
        count += 1
        free = f"{name}_{count}"
    taken.add(free)
    return free


def wrapped(line, indent):
    """A statement in lines of at most WIDTH columns. It continues before -> and inside ( )."""
    lines, rest = [], line
    while len(rest) > WIDTH:
        cut = rest.rfind(" -> ", len(indent) + 8, WIDTH)
        cut = cut if cut > 0 else rest.rfind(", ", 0, WIDTH) + 1
        if cut <= 0:
            break
        lines.append(rest[:cut])
        rest = indent + "      " + rest[cut:].lstrip()
    return "\n".join([*lines, rest])
