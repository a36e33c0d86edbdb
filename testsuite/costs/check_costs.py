#!/usr/bin/env python3
"""Checks the cost of launches in the model against formulas made by hand.

    check_costs.py CNNC COSTS ROOT [few]

Products of four networks are counted from their papers' tables, forward, data gradients and
weight gradients, and must be the same whichever passes are on.  In a small net every launch that
fuses something is known.  Every launch of every example moves the bytes that its step of the plan
touches, and takes the time that exact fractions give.  Prints a line a fault; exits 1 if there is
one.  few: of a few examples, for planted faults.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile
from fractions import Fraction

cnnc, costs, root = sys.argv[1:4]
few = sys.argv[4:] == ["few"]
faults = []
# Launches that read only a part of their operands, always or where an earlier launch computes the
# sums.
PARTIAL = {"concat.grad", "batchnorm.moments", "multibox", "multibox.match"}
SOMETIMES = {"softmax_cross_entropy", "accuracy", "mean_iou", "dice"}


def optional_passes():
    done = subprocess.run([cnnc, "--passes", "--format", "json"], stdout=subprocess.PIPE,
                          text=True, check=True)
    return [row["pass"] for row in json.loads(done.stdout)["passes"] if row["optional"]]


def expect(good, text):
    if not good:
        faults.append(text)


def example(name):
    """The file of an example; any other is its own."""
    if name.endswith(".cnn"):
        return name
    return os.path.join(root, "examples", name, name + ".cnn")


class Launches:
    def __init__(self, *args):
        done = subprocess.run([costs, *args], stdout=subprocess.PIPE, text=True, check=True)
        rows = [line.split() for line in done.stdout.splitlines()]
        self.rates = self.fields(rows.pop()[1:])
        self.rows = [(r[0], r[1], r[2], self.fields(r[3:])) for r in rows]

    @staticmethod
    def fields(words):
        return {k: int(v) for k, v in (w.split("=") for w in words)}

    def sum(self, what, phase=None):
        return sum(f[what] for p, _, _, f in self.rows if phase in (None, p))

    def of(self, name):
        found = [(op, f) for _, op, n, f in self.rows if n == name]
        return found[0] if found else (None, {"flops": -1, "products": -1, "bytes": -1})


# ---- products, by hand ------------------------------------------------------------------------

class Hand:
    """Multiplications and additions of a batch: forward, and the data gradients."""

    def __init__(self, batch, size):
        self.batch, self.h, self.c = batch, size, 3
        self.forward = self.dgrad = self.depthwise = 0

    def conv(self, c, k, stride=1, up=1, wide=None):
        """wide: channels that it reads where they are not the last one's."""
        first = self.forward == 0
        self.h //= stride
        macs = self.batch * self.h * self.h * (wide or self.c) * c * k * k
        self.h *= up
        self.c = c
        self.forward += 2 * macs
        self.dgrad += 0 if first else 2 * macs

    def each(self, k, stride=1):
        self.h //= stride
        self.depthwise += 2 * self.batch * self.h * self.h * self.c * k * k

    def dense(self, inputs, units):
        self.forward += 2 * self.batch * inputs * units
        self.dgrad += 2 * self.batch * inputs * units


def vgg16():
    n = Hand(64, 224)
    for c, times in (64, 2), (128, 2), (256, 3), (512, 3), (512, 3):
        for _ in range(times):
            n.conv(c, 3)
        n.h //= 2
    for inputs, units in (512 * 7 * 7, 4096), (4096, 4096), (4096, 1000):
        n.dense(inputs, units)
    return n


def resnet50():
    n = Hand(128, 224)
    n.conv(64, 7, 2)
    n.h //= 2
    for c, times in (64, 3), (128, 4), (256, 6), (512, 3):
        for i in range(times):
            wide, stride = n.c, 2 if i == 0 and c > 64 else 1
            n.conv(c, 1)
            n.conv(c, 3, stride)
            n.conv(4 * c, 1)
            if i == 0:
                n.conv(4 * c, 1, wide=wide)
    n.dense(2048, 1000)
    return n


def mobilenet_v2():
    n = Hand(128, 224)
    n.conv(32, 3, 2)
    for t, c, times, s in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                           (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(times):
            if t > 1:
                n.conv(t * n.c, 1)
            n.each(3, s if i == 0 else 1)
            n.conv(c, 1)
    n.conv(1280, 1)
    n.dense(1280, 1000)
    return n


def unet():
    n = Hand(8, 256)
    for c in 64, 128, 256, 512, 1024:
        n.conv(c, 3)
        n.conv(c, 3)
        n.h //= 2 if c < 1024 else 1
    for c in 512, 256, 128, 64:
        n.conv(c, 2, up=2)
        n.conv(c, 3, wide=2 * c)
        n.conv(c, 3)
    n.conv(2, 1)
    return n


def check_products(*nets):
    for make in nets:
        hand, name = make(), make.__name__
        each = optional_passes() if make is resnet50 and not few else []
        for options in [[], ["-O0"]] + [["-fno-" + p] for p in each]:
            got = Launches(*options, example(name))
            what = " ".join([name, *options])
            pair = got.sum("products", "forward"), got.sum("products", "backward")
            want = hand.forward, hand.dgrad + hand.forward
            expect(pair == want, f"{what}: products {pair}, by hand {want}")
            # All other launches are elementwise: a few operations for each element.
            rest = got.sum("flops") - sum(want) - 3 * hand.depthwise
            expect(0 < rest < 0.15 * sum(want), f"{what}: {rest} operations beside products")
        expect(got.sum("products", "update") == 0, f"{name}: products in updates")


# ---- launches that fuse something -------------------------------------------------------------

SMALL = """net small {
    input image : f32[8, 8, 3]
    input label : class[5]
    a = image -> conv(4, 3, bias = false, name = "first") -> batchnorm(name = "norm") -> relu
    b = a -> conv(6, 3, bias = false, name = "second") -> maxpool(2, name = "pool") -> relu
    c = b -> conv(4, 1, name = "left")
    d = b -> conv(4, 1, name = "right")
    e = concat(c, d) -> relu -> flatten(name = "flat")
    logits = e -> dense(5, name = "last")
    output logits
    loss softmax_cross_entropy(logits, label)
}
train { batch = 2  optimizer = sgd(lr = 0.1, momentum = 0.9) }
"""


def check_small():
    with tempfile.TemporaryDirectory() as folder:
        net = os.path.join(folder, "small.cnn")
        with open(net, "w") as file:
            file.write(SMALL)
        got, plain = Launches("-fno-fuse-column-sums", net), Launches("-O0", net)
    wide, half, f = 2 * 8 * 8, 2 * 4 * 4, 4      # pixels of the maps; bytes of a number
    second = 2 * wide * 9 * 4 * 6
    known = {
        # Forward: products, other operations, bytes.
        "first": (2 * wide * 27 * 4, 0, f * (wide * 3 + 108 + wide * 4)),
        # The pool's launch makes the map: normalisation (4) and relu of its operand, the
        # product, a comparison an element of a window, relu; mean, factor, bias and those of its
        # other operands that the reference wants; the index has 2 bits each, in bytes.
        "pool": (second, wide * 4 * 5 + half * 6 * 4 + half * 6,
                 f * (wide * 4 + 7 * 4 + 216 + half * 6) + half * 2),
        # A bias: its gradient is as many additions, of the same launch.
        "left": (2 * half * 6 * 4, half * 4, f * (half * 6 + 24 + 4 + half * 4)),
        "left.wgrad": (2 * half * 6 * 4, half * 4 + 4 * (24 + 4),
                       f * (half * (4 + 6) + 3 * (24 + 4)) + 256),
        "second.wgrad": (second, None, None),
        # The map, weight, header; partial sums of one split and three results.
        "norm.moments": (0, 3 * wide * 4, f * (wide * 4 + 4 + 2 * 4 + 3 * 4) + 256),
    }
    for name, (products, others, moved) in known.items():
        row = got.of(name)[1]
        expect(row["products"] == products, f"{name}: products {row}, by hand {products}")
        if others is not None:
            have = row["flops"] - row["products"]
            expect(have == others, f"{name}: other operations {have}, by hand {others}")
        expect(moved in (None, row["bytes"]), f"{name}: bytes {row['bytes']}, by hand {moved}")
    for name in "norm", "second", "flat", "concat_1":
        expect(got.of(name)[0] is None, f"{name} is a launch")
    for name, moved in ("concat_1", 2 * f * half * 8), ("concat_1.grad", 2 * f * half * 4):
        row = plain.of(name)[1]
        expect(row["bytes"] == moved, f"{name} without passes: {row}, by hand {moved}")
    update = f * 5 * (128 + 1)
    for row in plain.of("last.weight.sgd"), plain.of("last.bias.sgd"):
        expect(row[0] == "sgd", "no update of the last layer")
    moved = sum(plain.of(f"last.{p}.sgd")[1]["bytes"] for p in ("weight", "bias"))
    # Weight and momentum are read and written, the gradient read, and the header twice.
    expect(moved == 5 * update + 2 * 256, f"updates move {moved}, by hand {5 * update + 512}")


# ---- all launches of all examples -------------------------------------------------------------

def touched(plan, step):
    """Bytes of what a step reads and writes, but for a library's scratch."""
    buffers = [plan["buffers"][b] for k in ("reads", "writes") for b in step[k]]
    return sum(b["bytes"] for b in buffers if (b["kind"], b["dtype"]) != ("workspace", "u8"))


def exact_time(fields, rates):
    """Rounded up, of each of the three parts."""
    def part(amount, rate, share):
        return -(-Fraction(amount * 10**12, rates[rate] // 10**6 * rates[share]) // 1)
    others = fields["flops"] - fields["products"]
    work = max(part(fields["products"], "tensor", "product"), fields["tiles"]) + \
        part(others, "rate", "elementwise")
    return max(1, rates["launch"] +
               max(work, part(fields["bytes"], "memory", "elementwise")))


def check_launches(name, *options):
    got = Launches(*options, example(name))
    done = subprocess.run([cnnc, "--emit", "plan", *options, example(name)],
                          stdout=subprocess.PIPE, check=True)
    plan = json.loads(done.stdout)
    expect(len(plan["steps"]) == len(got.rows), f"{name}: {len(got.rows)} launches")
    for step, (_, op, launch, fields) in zip(plan["steps"], got.rows):
        what, moved = f"{name} {launch} ({op}) {fields}", touched(plan, step)
        if op in PARTIAL or (op in SOMETIMES and fields["bytes"] != moved):
            expect(0 < fields["bytes"] < moved, f"{what}: its step touches {moved}")
        else:
            expect(fields["bytes"] == moved, f"{what}: its step touches {moved}")
        expect(0 <= fields["products"] <= fields["flops"], f"{what}: work")
        expect(step["flops"] == fields["flops"], f"{what}: the plan says {step['flops']}")
        want = exact_time(fields, got.rates)
        expect(fields["time"] == want, f"{what}: exactly {want}")


def check_summary(name, *options):
    """The sums of --summary are those of the launches."""
    got = Launches(*options, example(name))
    done = subprocess.run([cnnc, "--summary", "--format", "json", *options, example(name)],
                          stdout=subprocess.PIPE, text=True, check=True)
    rows = {row["phase"]: row for row in json.loads(done.stdout)["phases"]
            if row["mode"] == "train"}
    for phase in {p for p, *_ in got.rows}:
        row = rows.get(phase)
        if not row:
            faults.append(f"{name}: no row {phase}")
            continue
        count = sum(p == phase for p, *_ in got.rows)
        expect(row["launches"] == count and row["moved_bytes"] == got.sum("bytes", phase) and
               row["flops"] == got.sum("flops", phase) and
               row["model_time_ps"] == got.sum("time", phase), f"{name}: {row}")
    expect(rows["all"]["moved_bytes"] == got.sum("bytes"), f"{name}: {rows['all']}")


def check_budget(net):
    """A recomputed launch costs as much as the first run of the same step."""
    budget = ["--budget", "26000", "-fno-fuse-column-sums", "-fno-fuse-grad-add"]
    check_launches(net, *budget)
    check_summary(net, *budget)
    plain, got = Launches(*budget[2:], net), Launches(*budget, net)
    for what in "flops", "products", "bytes", "time":
        first = {(op, f[what]) for p, op, _, f in got.rows if p == "forward"}
        again = {(op, f[what]) for p, op, _, f in got.rows if p == "recompute"}
        expect(again and again <= first, f"{what} again {again}, at first {first}")
        rest = got.sum(what) - got.sum(what, "recompute")
        expect(rest == plain.sum(what), f"{what} {rest}, without a budget {plain.sum(what)}")


# ---- times ------------------------------------------------------------------------------------

RATES = """fp64 = 1e6
fp32 = 99999999999999999
tf32 = 1e12
bf16 = 1e12
fp16 = 1e12
memory = {}
launch = {}
product = {}
elementwise = 0.123457
clock = {}
"""


def check_files():
    """Rates at both ends of what they may be, and none that is round."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "own.gpu")
        for memory, launch, product, clock in ("1e17", "0", "1", "0"), \
                                              ("1e6", "1", "0.001", "1e9"), \
                                              ("777777777777", "1.5e-6", "0.333333", "1e6"):
            with open(path, "w") as file:
                file.write(RATES.format(memory, launch, product, clock))
            for precision in "f32", "tf32", "f64":
                check_launches("lenet", "--gpu", path, "--precision", precision)
            rates = Launches("--gpu", path, example("lenet")).rates
            want = {"memory": int(float(memory)), "launch": round(float(launch) * 10**12),
                    "product": round(float(product) * 10**6), "elementwise": 123457,
                    "rate": 10**17, "tensor": 10**17}
            expect(rates == want, f"the file says {want}, read was {rates}")


def check_all():
    check_products(vgg16, resnet50, mobilenet_v2, unet)
    for path in sorted(glob.glob(os.path.join(root, "examples", "*", "*.cnn"))):
        name = os.path.splitext(os.path.basename(path))[0]
        if path == example(name):
            check_launches(name)
    for name in "unet", "densenet121", "ssd_mobilenet_v1":
        check_launches(name, "-O0")


def main():
    check_small()
    check_budget(os.path.join(root, "testsuite", "text", "summary_recompute.cnn"))
    check_files()
    for name in "resnet50", "lenet":
        check_summary(name)
    if few:
        check_products(resnet50, mobilenet_v2)
        check_launches("densenet121", "-O0", "--batch", "1")
        check_launches("ssd_mobilenet_v1")
    else:
        check_all()
    for text in faults[:20]:
        print(text)
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
