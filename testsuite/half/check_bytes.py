#!/usr/bin/env python3
"""Maps of every example take half as many bytes in 16 bits, within 2 %, and its arena is smaller.

    check_bytes.py CNNC EXAMPLES

Only maps that the forward pass leaves to the backward pass count. Copies of weights are none.
"""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from map_bytes import kept_bytes, plan

MOST = 0.51


def main():
    cnnc, examples = sys.argv[1:]
    faults = 0
    for net in sorted(os.listdir(examples)):
        if not os.path.exists(os.path.join(examples, net, net + ".cnn")) or net == "embed":
            continue
        full = plan(cnnc, examples, net)
        for precision in ("f16", "bf16"):
            half = plan(cnnc, examples, net, "--precision", precision, "-fno-round-weights")
            part = kept_bytes(half) / kept_bytes(full)
            good = part <= MOST and half["arena_bytes"] < full["arena_bytes"] and \
                half["state_bytes"] == full["state_bytes"]
            faults += not good
            print(f"{net:<21} {precision:<5} maps {part:.4f}, arena "
                  f"{half['arena_bytes'] / full['arena_bytes']:.4f}{'' if good else '  FAULT'}")
    return 1 if faults else 0


sys.exit(main())
