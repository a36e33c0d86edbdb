#!/usr/bin/env python3
"""A budget may not change one bit of a net's results.

    check_bits.py BUILD HOST TESTS CNNC NET.cnn COUNT [OPTIONS...]

OPTIONS are a line of golden/examples.txt. The budgets are the smallest arena of the net and random
ones up to the arena without a budget. COUNT - 1 random ones are drawn by the net's name. For each,
same_bits.py compares figures, weights and optimizer state after three training steps with those
without a budget, in bytes; dead bytes are NaN, and plan_check.py looks at each plan. Below the
arena of --prefer memory, launches are recomputed. A net of which nothing can be recomputed to a
gain at this batch gets twice as many samples, up to 64; then it must be refused any byte less than
that arena has.
"""
import os
import subprocess
import sys

from budgets import OVER_BUDGET, Compiler, again, draw

MOST_SAMPLES = 64


def with_batch(words, batch):
    """The options with another batch, which is then full."""
    words = list(words)
    if "--samples" in words:
        del words[words.index("--samples"):words.index("--samples") + 2]
    if "--batch" not in words:
        words += ["--batch", ""]
    words[words.index("--batch") + 1] = str(batch)
    return words


def main():
    build, host, tests, cnnc, net, count, *words = sys.argv[1:]
    # Sums over slices of the batch are other bits.
    words += ["--with", "-fno-batch-split"]
    compiler = Compiler(cnnc, net, words)
    smallest, stored = compiler.smallest(), compiler.stored()
    batch = compiler.plan()["batch"]
    while smallest == stored and 2 * batch <= MOST_SAMPLES:
        batch *= 2
        words = with_batch(words, batch)
        compiler = Compiler(cnnc, net, words)
        smallest, stored = compiler.smallest(), compiler.stored()
    if "--batch" not in words:
        words = with_batch(words, batch)
    whole = compiler.whole()
    print(f"batch {batch}: from {smallest} to {stored} and {whole} bytes", flush=True)
    if smallest == stored:
        refused = compiler.run("--budget", str(stored - 1)).returncode == OVER_BUDGET
        print("nothing that runs again saves anything", "" if refused else ": FAILED")
        return 0 if refused else 1
    budgets = draw(os.path.basename(net), smallest, whole, int(count))
    for budget in budgets:
        names = again(compiler.plan("--budget", str(budget)))
        print(f"budget {budget}: {len(names)} launches recomputed", flush=True)
        if not names and budget < stored:
            print("it is less than the arena that stores all, and nothing runs again: FAILED")
            return 1
    against = [x for budget in budgets for x in ("--against", f"--budget={budget}")]
    return subprocess.run([sys.executable, os.path.join(tests, "passes", "same_bits.py"), build,
                           host, tests, cnnc, net, *words, *against]).returncode


if __name__ == "__main__":
    sys.exit(main())
