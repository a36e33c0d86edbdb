#!/usr/bin/env python3
"""Maps of every example take half as many bytes in f16, and of some in bf16, within 2 %, and its
arena is smaller. So do the weights of two dimensions and more in a file that only infers, all of
them.

    check_bytes.py CNNC EXAMPLES

Only maps that the forward pass leaves to the backward pass count. Copies of weights are none. The
arenas of FITS are those of one sample.
"""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from map_bytes import kept_bytes, plan

MOST = 0.51
BOTH = ("lenet", "resnet9", "unet")      # a map of bf16 has the bytes of one of f16
FITS = {"resnet50": 55e6, "mobilenet_v2": 10.3e6, "ssd_mobilenet_v1": 18.5e6, "vgg16": 286e6}


def weights_are_half(of):
    return all(b["dtype"] == ("f32" if len(b["shape"]) == 1 else "f16")
               for b in of["buffers"] if b["kind"] == "param")


def fits(cnnc, examples, net):
    infer = plan(cnnc, examples, net, "--precision", "f16", "--mode", "infer", "--batch", "1")
    good = weights_are_half(infer) and infer["arena_bytes"] <= FITS.get(net, infer["arena_bytes"])
    print(f"{net:<21} infer f16, {infer['arena_bytes']}{'' if good else '  FAULT'}")
    return good


def main():
    cnnc, examples = sys.argv[1:]
    faults = 0
    for net in sorted(os.listdir(examples)):
        if not os.path.exists(os.path.join(examples, net, net + ".cnn")) or net == "embed":
            continue
        faults += not fits(cnnc, examples, net)
        full = plan(cnnc, examples, net)
        for precision in ("f16", "bf16") if net in BOTH else ("f16",):
            half = plan(cnnc, examples, net, "--precision", precision, "-fno-round-weights")
            part = kept_bytes(half) / kept_bytes(full)
            good = part <= MOST and half["arena_bytes"] < full["arena_bytes"] and \
                half["state_bytes"] == full["state_bytes"]
            faults += not good
            print(f"{net:<21} {precision:<5} maps {part:.4f}, arena "
                  f"{half['arena_bytes'] / full['arena_bytes']:.4f}{'' if good else '  FAULT'}")
    return 1 if faults else 0


sys.exit(main())
