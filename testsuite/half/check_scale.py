#!/usr/bin/env python3
"""A loss that is scaled: the same weights, and steps that overflow are skipped whole.

    check_scale.py CNNC LIBHOST [--long | --look]

scale.c over the emitted file of a net with several losses. Without over- and underflow its state
is, bit for bit, that of a run whose loss is not scaled, whatever the scale. A training step with a
gradient that is not finite changes nothing that training reads. It halves a dynamic scale, which
doubles after loss_scale_interval good steps. A state goes on under any setting. With --long for
every optimizer and every other part of a step; then each fault of mutants.txt is planted in the
emitted file, and seen. With --look the file must have their texts.
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from mutants import mutants_of, with_all  # noqa: E402

CXX = os.environ.get("CXX", "clang++")

HERE = os.path.dirname(os.path.abspath(__file__))
HOST = os.path.join(HERE, "..", "..", "runtime", "host")
# The header has 120 bytes, then a sum and a weight for each of 12 figures. The parameters follow
# at a multiple of 256.
HEADER = 512

NET = """net probe {
    input image : f32[4, 4, 2]
    input label : class[4, 4, 3]
    input gain  : f32[1, 1, 2]
    x = image -> conv(3, 3, bias = false) -> batchnorm -> relu
    logits = x -> conv(3, 1)
    side = gain -> conv(2, 1, groups = 2, init = 0.5)
    output logits
    loss   softmax_cross_entropy(logits, label, weight = 0.5)
    loss   mse(side, gain)
    loss   smooth_l1(side, gain, beta = 0.5)
    loss   nll(logits -> log_softmax, label, ignore = -100, weight = 0.1)
    loss   softmax_cross_entropy(logits, x, weight = 0.1)
    loss   focal(logits, x -> clamp(0, 1))
    metric %s(logits, label)
}
train { batch = 4  optimizer = %s  %s }
"""
DYNAMIC = "loss_scale = dynamic  loss_scale_interval = 3"
SCALES = ["16777216", "1024", "1/4096"]     # of the variants in turn
# The metric, the optimizer, other settings, options.
VARIANTS = [
    ("mean_iou", "sgd(lr = 0.05, momentum = 0.9)", "clip_norm = 1  average = 0.9", []),
    ("accuracy", "adam(lr = 0.01)", "clip_value = 0.1", ["-fno-schedule"]),
    ("accuracy", "sgd(lr = 0.05)", "clip_value = 0.1  clip_norm = 0.5", ["-O0"]),
    ("accuracy", "sgd(lr = 0.05, momentum = 0.9, weight_decay = 0.01)", "", []),
    ("mean_iou", "sgd(lr = 0.05, momentum = 0.9, nesterov = true)", "average = 0.5", []),
    ("accuracy", "adamw(lr = 0.01, weight_decay = 0.1)", "clip_norm = 1", ["-fno-share-buffers"]),
    ("accuracy", "rmsprop(lr = 0.01, momentum = 0.5)", "average = 0.9", ["--checkpoint", "every 1"]),
]

def emit(cnnc, path, variant, setting, edits=()):
    metric, optimizer, settings, options = variant
    with open(path + ".cnn", "w", encoding="ascii") as out:
        text = NET % (metric, optimizer, f"{settings}  {setting}")
        for old, new in edits:
            text = text.replace(old, new)
        out.write(text)
    subprocess.run([cnnc, *options, path + ".cnn", "-o", path + ".cu", "--header", path + ".h"],
                   check=True)


def faults_of(variant):
    return [mutant for mutant in mutants_of("half.scale.all") if mutant.words in variant[2]]


def look(cnnc):
    """Each text that a fault replaces is in the file that it is planted in."""
    for variant in VARIANTS:
        emit(cnnc, "probe", variant, DYNAMIC)
        with open("probe.cu", encoding="utf-8") as file:
            with_all(file.read(), faults_of(variant))


class Probe:
    """A build of the net, in a folder of its own."""

    def __init__(self, tools, variant, setting, faults=(), accumulates=False, edits=(),
                 scaled=False):
        self.folder = tempfile.mkdtemp(dir=".")
        path = os.path.join(self.folder, "probe")
        emit(tools[0], path, variant, setting, edits)
        self.guards = 0
        self.plant(path, faults)
        defines = ["-DSCALED"] * (scaled or ("loss_scale =" in setting and setting[-2:] != " 1"))
        defines += ["-DACCUM"] * accumulates
        warnings = ["-Wall", "-Wextra", "-Wno-parentheses-equality", "-Werror"]
        for command in [[CXX, "-std=c++17", "-O0", *warnings, "-I", HOST, "-c", path + ".cpp",
                         "-o", path + ".o"],
                        ["gcc", "-std=c99", "-O0", *warnings, *defines, "-I", HOST, "-I",
                         self.folder, "-c", os.path.join(HERE, "scale.c"), "-o", path + "_main.o"],
                        [CXX, path + ".o", path + "_main.o", tools[1], "-lpthread", "-o", path]]:
            subprocess.run(command, check=True)

    def plant(self, path, faults):
        """The faults, and after them each guard `header->skip`, wait for their number."""
        with open(path + ".cu", encoding="utf-8") as file:
            text = file.read()
        text = with_all(text, faults, "(planted == {})")

        def guard(match):
            self.guards += 1
            return f"if ((planted != {len(faults) + self.guards - 1} && {match[1]}){match[2]}"
        if faults:
            # With PartialMetricSums, MetricSums is of evaluation, which the probe does not call.
            if "PartialMetricSums<" in text:
                text = text.replace("if (header->skip) return;\n        header->samples +=",
                                    "if (header->skip ) return;\n        header->samples +=")
            text = re.sub(r"if \(((?:to\.)?header->skip)(\)| \|\|)", guard, text)
        with open(path + ".cpp", "w", encoding="utf-8") as out:
            out.write('extern "C" int planted;\n' + text)

    def run(self, steps, begin=None, planted=-1):
        """The lines that it prints, and the state at the end."""
        out = os.path.join(self.folder, "state")
        done = subprocess.run([os.path.join(self.folder, "probe"), steps, out,
                               *([begin] if begin else [])], text=True, capture_output=True,
                              check=False, env=dict(os.environ, PLANTED=str(planted)))
        if done.returncode:
            raise Wrong(f"{steps}: {done.stderr}")
        with open(out, "rb") as file:
            return [line.split() for line in done.stdout.splitlines()], file.read()


class Wrong(Exception):
    """The results of a check."""


def check(holds, what):
    if not holds:
        raise Wrong(what)


def scales(lines):
    return [float(line[3]) for line in lines]


def same_run(probe, steps, other, others, what, planted=-1):
    """Both end in the same state except the header, and the same updates and samples."""
    got, state = probe.run(steps, planted=planted)
    want, wanted = other.run(others)
    check(state[HEADER:] == wanted[HEADER:], f"{steps}: {what}")
    check(got[-1][1:3] == want[-1][1:3], f"{steps}: updates or samples {got[-1]}, not {want[-1]}")
    check(sums_of(state) == sums_of(wanted), f"{steps}: sums of losses and metrics")
    return got


def sums_of(state):
    """Reads from the header: samples since the reset, the sum and weight of each loss and
    metric."""
    return state[112:120 + 12 * 16]


def check_dynamic(probe, plain, planted=-1):
    """Two overflows in a row halve the scale twice; three good steps double it."""
    lines = same_run(probe, "googggog", plain, "ggggg", "an overflow changed something", planted)
    check(scales(lines) == [65536, 32768, 16384, 16384, 16384, 32768, 16384, 16384],
          f"the scale was {scales(lines)}")
    check([line[1] for line in lines] == list("11123445"), "updates of skipped steps are counted")
    # A step that says nothing of the scale counts neither as good nor as bad.
    lines = same_run(probe, "ggng", plain, "ggg", "a loss that is not finite", planted)
    check(scales(lines) == [65536, 65536, 65536, 131072], f"the scale was {scales(lines)}")
    # Overflow after overflow ends where the gradients fit.
    lines, _ = probe.run("o" * 8, planted=planted)
    check(scales(lines) == [2.0 ** k for k in (15, 14, 13, 12, 11, 10, 10, 10)],
          f"the scale was {scales(lines)}")


def check_states(probe, plain, planted=-1):
    """A state goes on where it was, and under other settings."""
    _, want = probe.run("gogggg", planted=planted)
    for steps in ["gosgggg", "gogsggg", "sgoggsgg"]:
        _, got = probe.run(steps, planted=planted)
        check(got == want, f"{steps}: a state that was imported goes on differently")
    plain.run("gg")
    lines, state = probe.run("ggg", os.path.join(plain.folder, "state"), planted)
    check(scales(lines)[0] == 65536, "a state without a scale does not begin with the first one")
    _, wanted = plain.run("ggg", os.path.join(plain.folder, "state"))
    check(state[HEADER:] == wanted[HEADER:], "a state of a loss that is not scaled")
    _, state = probe.run("oog", planted=planted)
    path = os.path.join(probe.folder, "state")
    lines, _ = probe.run("g", path, planted)
    check(scales(lines) == [16384], "the scale is not in the state")
    plain.run("g", path)
    lines, _ = probe.run("g", os.path.join(plain.folder, "state"), planted)
    check(scales(lines) == [32768], "a run without a scale lost that of the state")


def check_accum(tools, variant):
    """An overflow in one of several batches skips the training step that they make."""
    ghost = (*variant[:3], [*variant[3], "--ghost"])
    plain = Probe(tools, ghost, "accumulate = 2", accumulates=True)
    probe = Probe(tools, ghost, f"accumulate = 2  {DYNAMIC}", accumulates=True)
    for steps, others in [("gg|gg|g|", "gg|gg|g|"), ("|gg|", "|gg|")]:
        same_run(probe, steps, plain, others, "sums over batches")
    lines = same_run(probe, "gg|ho|oh|gggg|", plain, "gg|gggg|", "a batch that overflows")
    check(scales(lines) == [65536, 32768, 16384, 16384], f"the scale was {scales(lines)}")
    lines, _ = probe.run("|n|gn|")
    check(scales(lines) == [65536] * 3, "a step without gradients moved the scale")


def check_slices(tools, variant):
    """Slices of the batch, as one batch."""
    sliced = (*variant[:3], [*variant[3], "--microbatch", "2", "--ghost"])
    plain, probe = Probe(tools, sliced, ""), Probe(tools, sliced, DYNAMIC)
    lines = same_run(probe, "googg", plain, "ggg", "slices of a batch")
    check(scales(lines) == [65536, 32768, 16384, 16384, 16384], f"the scale was {scales(lines)}")


def check_f16(tools):
    """Maps in f16: values that overflow there and nowhere else; and values that are too small for
    them."""
    variant = ("accuracy", "sgd(lr = 0.05, momentum = 0.9)", "clip_norm = 1",
               ["--precision", "f16"])
    probe = Probe(tools, variant, "loss_scale_interval = 2", scaled=True)
    lines, state = probe.run("gffgg")
    check(scales(lines) == [65536, 32768, 16384, 16384, 32768], f"the scale was {scales(lines)}")
    _, skipped = probe.run("gff")
    _, wanted = probe.run("g")
    check(skipped[HEADER:] == wanted[HEADER:], "an overflow in f16 does not skip the step")
    check(state[HEADER:] != wanted[HEADER:], "nothing trains after an overflow")
    # Losses so small that no gradient of a map is a number of f16.
    small = [("weight = 0.5", "weight = 1e-8"),
             ("mse(side, gain)", "mse(side, gain, weight = 1e-9)"),
             ("beta = 0.5", "beta = 0.5, weight = 1e-9"),
             ("weight = 0.1", "weight = 1e-9"), ("clamp(0, 1)", "clamp(0, 1), weight = 1e-9")]
    variant = ("accuracy", "sgd(lr = 1e7)", "", variant[3])
    weights = []
    for setting in ["loss_scale = 1", "loss_scale = dynamic"]:
        probe = Probe(tools, variant, setting, edits=small)
        weights.append([probe.run(steps)[1][HEADER:HEADER + 216] for steps in ["", "g"]])
    check(weights[0][0] == weights[0][1], "the gradients do not underflow without a scale")
    check(weights[1][0] != weights[1][1], "the gradients underflow with a scale")


def check_all(probe, plain, planted=-1):
    check_dynamic(probe, plain, planted)
    check_states(probe, plain, planted)


def check_faults(probe, plain, faults):
    for planted in range(len(faults) + probe.guards):
        name = faults[planted].name if planted < len(faults) else f"guard {planted - len(faults)}"
        try:
            check_all(probe, plain, planted)
        except Wrong as wrong:
            print(f"    {name}: {wrong}")
        else:
            sys.exit(f"nothing shows the fault: {name}")


def main():
    tools = [os.path.abspath(path) for path in sys.argv[1:3]]
    thorough = "--long" in sys.argv
    os.environ["CNNC_HOST_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        if "--look" in sys.argv:
            return look(tools[0])
        for number, variant in enumerate(VARIANTS[:None if thorough else 1]):
            plain = Probe(tools, variant, "")
            faults = faults_of(variant) if thorough else []
            probe = Probe(tools, variant, DYNAMIC, faults)
            check_all(probe, plain)
            for scale in [SCALES[number % len(SCALES)]]:
                fixed = Probe(tools, variant, f"loss_scale = {scale}")
                same_run(fixed, "ggggg", plain, "ggggg", f"a scale of {scale}")
                if scale == "16777216":
                    same_run(fixed, "googg", plain, "ggg", "an overflow changed something")
            print(f"{' '.join(variant[1:3])}: the same bits, skipped whole")
            if thorough:
                check_faults(probe, plain, faults)
        if thorough:
            for variant in VARIANTS[:3]:
                check_accum(tools, variant)
                check_slices(tools, variant)
            check_f16(tools)
        os.chdir("/")


if __name__ == "__main__":
    main()
