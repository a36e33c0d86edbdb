"""Runs the compiler: its emitted file, its arena, its names."""
import html
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .errors import CompileError

INSTALLED = Path(__file__).parent / "installed"


def executable():
    """The compiler: of the variable CNNC, of this package, or in PATH."""
    own = INSTALLED / "bin" / "cnnc"
    found = os.environ.get("CNNC") or (str(own) if own.exists() else shutil.which("cnnc"))
    if not found:
        raise FileNotFoundError("no compiler: install this package, or set CNNC to its path")
    return found


def text_of(net):
    """(path, text) of a net: a file's path, the text of a program, or a converted module. The path
    of a text is -."""
    text = getattr(net, "text", net)
    if isinstance(text, str) and "\n" in text:
        return "-", text
    if not isinstance(text, (str, os.PathLike)):
        raise TypeError(f"wanted the path or the text of a net, not {type(net).__name__}")
    return os.fspath(text), None


def arguments_of(options):
    """Options of the command line: budget="4GiB" is --budget 4GiB, main=True is --main, and
    define={"width": 8} is -D width=8."""
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if name == "define":
            for constant, number in value.items():
                yield from ("-D", f"{constant}={number}")
        elif value is True:
            yield option
        elif isinstance(value, (list, tuple)):
            for item in value:
                yield from (option, str(item))
        elif value is not None and value is not False:
            yield from (option, str(value))


def run(arguments, text=None):
    """Returns the output of the compiler. Raises CompileError with its complaints."""
    done = subprocess.run([executable(), *arguments], input=text, text=True, capture_output=True,
                          check=False)
    if done.returncode != 0:
        raise CompileError(done.stderr.strip(), done.returncode)
    return done.stdout


class Compiled:
    """The result of compile(): the emitted file's path, its text if no file was asked for, and the
    arena. A notebook shows the compiler's report."""

    def __init__(self, net, output, options):
        path, text = text_of(net)
        self._source, self._options = (path, text), options
        arguments = [*arguments_of(options), path]
        self.path = None if output is None else Path(output)
        printed = run([*arguments, *(() if output is None else ("-o", str(output)))], text)
        self.text = printed if output is None else None
        self.arena = Memory(net, **options)

    def _repr_html_(self):
        return self.arena._repr_html_()


class Memory(int):
    """The bytes of an arena. A notebook shows the compiler's report."""

    def __new__(cls, net, **options):
        path, text = text_of(net)
        arguments = list(arguments_of({key: value for key, value in options.items()
                                       if key not in ("main", "header")}))
        plan = json.loads(run([*arguments, "--emit", "plan", path], text))
        self = super().__new__(cls, plan["arena_bytes"])
        self._report = arguments, path, text
        return self

    def _repr_html_(self):
        arguments, path, text = self._report
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder, "report.html")
            run([*arguments, "--report", str(page), "-o", os.devnull, path], text)
            quoted = html.escape(page.read_text(encoding="utf-8"))
        return f'<iframe srcdoc="{quoted}" width="100%" height="640"></iframe>'


def compile(net, output=None, **options):
    """Compiles a net: the path of a .cnn file, the text of one, or the result of from_torch.

    Writes the file `output`, or returns the text as the result's .text. Options are those of the
    command line, as in compile(net, "net.cu", main=True, budget="4GiB", define={"width": 8})."""
    return Compiled(net, output, options)


def parameters(net, **options):
    """The parameters of a net: the objects of cnnc --emit names, in the program's order."""
    path, text = text_of(net)
    return json.loads(run(["--emit", "names", *arguments_of(options), path], text))


def memory(net, batch=None, example_input=None, loss=None, **options):
    """The arena in bytes: of a .cnn file, of a program's text, or of a torch.nn.Module with an
    example of its input. Of a module without a loss it is the arena of inference."""
    if example_input is not None:
        from .convert import from_torch
        net = from_torch(net, example_input, loss=loss)
        options = options if loss else {"mode": "infer", **options}
    return Memory(net, **({} if batch is None else {"batch": batch}), **options)


def main():
    """The command cnnc of the installed package."""
    os.execv(executable(), ["cnnc", *sys.argv[1:]])
