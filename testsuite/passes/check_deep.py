#!/usr/bin/env python3
"""Deep nets: cnnc's time for them is in proportion to their length, not to its square.

    check_deep.py CNNC

Nets of joins side by side, of joins that hold the one before, and of one activation after the
other; each is planned, and then one of four times the layers. The memory may grow six times, and
the processor's time is bounded. A growth of one and a half must be too little. Otherwise the memory
that is measured is not that of the net, and this test could not fail.
"""
import os
import subprocess
import sys
import tempfile

cnnc = sys.argv[1]
MOST_GROWTH, CERTAIN_GROWTH, MOST_SECONDS = 6, 1.5, 4


def side_by_side(i):
    return f"a{i} = c{i} -> conv(4, 1)\nb{i} = c{i} -> conv(4, 1)\nc{i + 1} = concat(a{i}, b{i})"


def nested(i):
    return f"y{i} = c{i} -> conv(4, 1) -> relu\nc{i + 1} = concat(c{i}, y{i})"


def unary(i):
    return f"c{i + 1} = swish(c{i})"


def program(line, count):
    body = "\n".join(line(i) for i in range(count))
    return f"""net deep {{
input image : f32[8, 8, 3]
input label : class[4]
c0 = image -> conv(8, 3)
{body}
logits = c{count} -> global_avgpool -> flatten -> dense(4)
output logits
loss softmax_cross_entropy(logits, label)
}}
train {{ batch = 4  optimizer = sgd(lr = 0.1, momentum = 0.9) }}
"""


def measure(folder, line, count):
    """Bytes and seconds that a plan takes."""
    net = os.path.join(folder, "deep.cnn")
    with open(net, "w") as file:
        file.write(program(line, count))
    child = subprocess.Popen([cnnc, net, "--emit", "plan-csv", "-o", "-"],
                             stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    assert status == 0, f"status {status} of {line.__name__} {count}"
    return usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for line, count in (side_by_side, 600), (nested, 250), (unary, 1200):
            small, _ = measure(folder, line, count)
            large, seconds = measure(folder, line, 4 * count)
            right = large <= MOST_GROWTH * small and seconds <= MOST_SECONDS
            can_fail = large > CERTAIN_GROWTH * small
            failed += not right or not can_fail
            print(f"{'ok   ' if right and can_fail else 'WRONG'} {line.__name__}: {small >> 20} MiB, of four "
                  f"times the layers {large >> 20} MiB, {seconds:.2f} s", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
