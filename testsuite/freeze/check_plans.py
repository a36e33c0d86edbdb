#!/usr/bin/env python3
"""A frozen prefix is inference: what a training step then does and takes.

    check_plans.py CNNC EXAMPLES

For each row of ROWS the arena has the bytes of the row at most. No launch of the backward pass reads
a map of the prefix, other than the one that the trained rest begins with. Under a budget the prefix
is computed in slices.
"""
import fnmatch
import json
import subprocess
import sys

# A net, its options, the frozen parameters, the prefix of their layers, and bytes; a budget.
BACKBONE = ["stem*", "batchnorm*", "layer*"]
ROWS = [
    ("resnet50", BACKBONE, 1035481600, None),
    ("resnet50", BACKBONE, 314572800, "300MiB"),
    ("resnet50", ["stem*", "batchnorm*", "layer[123].*"], 1095340544, None),
    ("resnet50", ["stem*", "batchnorm*", "layer[12].*"], 2614173952, None),
    ("mobilenet_v2", ["[!l]*", "last*"], 789996800, None),
]


def plan_of(cnnc, path, *options):
    words = [cnnc, "--prefer", "memory", "--batch", "128", "--emit", "plan", *options, path]
    return json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)


def main(cnnc, examples):
    faults = 0
    for name, globs, most, budget in ROWS:
        options = [word for glob in globs for word in ("--freeze", glob)]
        options += ["--budget", budget] if budget else []
        plan = plan_of(cnnc, f"{examples}/{name}/{name}.cnn", *options)
        buffers = {b["id"]: b for b in plan["buffers"]}
        read = {v for s in plan["steps"] if s["phase"] == "backward" for v in s["reads"]}
        maps = [b for b in buffers.values() if b["kind"] in ("activation", "mask")
                and any(fnmatch.fnmatch(b["name"] + ".weight", glob) for glob in globs)]
        kept = [b["name"] for b in maps if b["id"] in read]
        # The trained part begins with a map of the prefix.
        good = plan["arena_bytes"] <= most and len(kept) <= 1 and maps
        print(f"{name}, {' '.join(options)}: {plan['arena_bytes']} bytes, at most {most}; "
              f"{len(maps)} maps of the prefix, read backward: {' '.join(kept) or 'none'}"
              f"{'' if good else ': WRONG'}")
        faults += not good
    return faults > 0


sys.exit(main(*sys.argv[1:]))
