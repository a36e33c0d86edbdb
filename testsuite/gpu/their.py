"""The nine nets in PyTorch: peers.py, by its own rows.

Committed rows count as done: they are copied to where peers.py looks for them.
"""
import os
import shutil
import subprocess
import sys

from rows import HERE, RESULTS, Tools


def main(options):
    """peers.py's status."""
    Tools.find_device()
    out = os.path.join(os.path.abspath(options.out), "peers.jsonl")
    committed = os.path.join(RESULTS, "peers.jsonl")
    os.makedirs(options.out, exist_ok=True)
    if not os.path.exists(out) and os.path.exists(committed):
        shutil.copy(committed, out)
    nets = ["--nets", ",".join(options.nets)] if options.nets else []
    return subprocess.run([sys.executable, os.path.join(HERE, "peers.py"), "--out", out, *nets,
                           "--modes", options.modes, "--budget-s", str(options.budget_s)],
                          check=False).returncode
