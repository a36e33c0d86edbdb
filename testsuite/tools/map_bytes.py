"""Selects the maps of a plan: activations and their gradients."""
import json
import os
import subprocess


def plan(cnnc, examples, net, *options):
    path = os.path.join(examples, net, net + ".cnn")
    done = subprocess.run([cnnc, "--emit", "plan", *options, path], text=True, check=True,
                          stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def kept_bytes(of):
    """Returns the bytes of the maps of a training step's plan that are alive when backward
    begins."""
    turn = next(i for i, step in enumerate(of["steps"]) if step["phase"] == "backward")
    return sum(b["bytes"] for b in of["buffers"]
               if b["kind"] in ("activation", "gradient") and not b["persistent"] and
               b["alias_of"] is None and b["first"] < turn <= b["last"])
