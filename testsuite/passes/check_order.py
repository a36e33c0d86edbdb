#!/usr/bin/env python3
"""Orders of launches, of every example in every mode:

    check_order.py CNNC EXAMPLES

The peak that schedule says its order has (--time) is the plan's largest sum of live bytes, less the
state. So schedule minimises the peak of the plan. Its bound is no more than that, and for these
nets it is as much: no order of them needs less. ABOVE has where that is not so, because the layers
after the net's waist take more than it does, whichever comes first. Where a net has slices, which
it counts as whole, the plan may have less, and there is no bound.

Without share nothing is written over anything, so there the two must differ somewhere, or this
test could not fail; and so must the bound and the peak of the order as written, without
schedule.
"""
import json
import os
import re
import subprocess
import sys

cnnc, examples = sys.argv[1:]
# A gradient is spread over a joined map, and each of its parts is more than the bytes that end.
# A convolution has partial sums of its map, which a few bytes of other launches meet.
# In inference of a resnet, the input of a bottleneck with a stride waits for its shortcut. Meanwhile
# the second convolution reads half as many bytes, and writes an eighth: 13/12 of the bound.
ABOVE = {("googlenet", "train"): 1.0011, ("resnet1001", "train"): 1.00001,
         ("segnet", "train"): 1.000001,
         ("resnet50", "eval"): 1.0834, ("resnet50", "infer"): 1.0834,
         ("resnet152", "eval"): 1.0834, ("resnet152", "infer"): 1.0834}
ORDER = re.compile(r"^order +peak (\d+), (?:bound (\d+)|slices)", re.M)


def look(net, mode, *options):
    """Peak and bound, as schedule says, and the plan's live bytes without the state."""
    done = subprocess.run([cnnc, "--mode", mode, "--emit", "plan", "--time", *options, net,
                           "-o", "-"], check=True, text=True, capture_output=True)
    plan = json.loads(done.stdout)
    said = ORDER.search(done.stderr)
    live = plan["max_live_bytes"] - plan["state_bytes"]
    if not said:
        return None, None, live
    return int(said[1]), int(said[2]) if said[2] else None, live


def main():
    failed = unshared = unordered = bounded = 0
    for name in sorted(os.listdir(examples)):
        net = os.path.join(examples, name, name + ".cnn")
        if not os.path.exists(net):
            continue
        for mode in "train", "eval", "infer":
            peak, bound, live = look(net, mode)
            most = ABOVE.get((name, mode), 1)
            right = peak == live and (peak == bound) == (most == 1) and peak <= most * bound \
                if bound else live <= peak
            bounded += bound is not None
            if not right:
                print(f"{name} {mode}: peak {peak}, bound {bound}, in the plan {live}")
                failed += 1
        peak, bound, live = look(net, "train", "-fno-share-buffers")
        unshared += live > peak
        unordered += bool(bound) and look(net, "train", "-fno-schedule")[2] > bound
    print(f"{bounded} orders with a bound; without share the plans of {unshared} nets need more, "
          f"without schedule of {unordered}")
    return 1 if failed or not bounded or not unshared or not unordered else 0


if __name__ == "__main__":
    sys.exit(main())
