#!/usr/bin/env python3
"""A loss that is not finite skips the training step whole:

    check_skips.py CNNC LIBHOST STRIDE

For every optimizer, with and without the other parts of a step, or one variant of every STRIDE:
skips.c, over the emitted file.  Each guard in the emitted kernels is then taken out, one after the
other: skips.c must see every one.
"""
import os
import re
import subprocess
import sys
import tempfile

CXX = os.environ.get("CXX", "clang++")

HERE = os.path.dirname(os.path.abspath(__file__))
HOST = os.path.join(HERE, "..", "..", "runtime", "host")

NET = """net probe {
    input image : f32[4, 4, 2]
    input label : class[4, 4, 3]
    x = image -> conv(3, 3, bias = false) -> batchnorm -> relu%s
    logits = x -> conv(3, 1)
    output logits
    loss   softmax_cross_entropy(logits, label)
    metric %s(logits, label)
}
train { batch = 4  optimizer = %s  %s }
"""
# The columns: dropout or not, the metric, the optimizer, other settings, options.
VARIANTS = [
    (False, "mean_iou", "sgd(lr = 0.05)", "clip_value = 0.1", []),
    (False, "mean_iou", "sgd(lr = 0.05, momentum = 0.9)", "clip_norm = 1  average = 0.9", []),
    (False, "accuracy", "sgd(lr = 0.05, momentum = 0.9, weight_decay = 0.01)", "", []),
    (True, "accuracy", "sgd(lr = 0.05, momentum = 0.9, nesterov = true)",
     "schedule = cosine(steps = 9, warmup = 2)", ["-O0"]),
    (False, "accuracy", "adam(lr = 0.01)", "average = 0.5", []),
    (True, "mean_iou", "adam(lr = 0.01)", "clip_norm = 0.5", ["-fno-schedule"]),
    (False, "accuracy", "adamw(lr = 0.01, weight_decay = 0.1)", "clip_norm = 1", []),
    (False, "mean_iou", "rmsprop(lr = 0.01)", "", ["-fno-share-buffers"]),
    (True, "accuracy", "rmsprop(lr = 0.01, momentum = 0.5)", "average = 0.9  clip_norm = 1", []),
]


def run(*command):
    return subprocess.run(command, text=True, check=False, stderr=subprocess.PIPE)


def plant(text):
    """Every guard can be taken out by its number; the text, and how many there are."""
    count = 0

    def guard(match):
        nonlocal count
        count += 1
        return f"(planted != {count - 1} && {match[0]})"
    text = re.sub(r"\b(to\.)?header->skip\b(?! = )", guard, text)
    return 'extern "C" int planted;\n' + text, count


def build(cnnc, libhost, variant):
    drop, metric, optimizer, settings, options = variant
    with open("probe.cnn", "w", encoding="ascii") as out:
        out.write(NET % (" -> dropout(0.25)" if drop else "", metric, optimizer, settings))
    subprocess.run([cnnc, *options, "probe.cnn", "-o", "probe.cu", "--header", "probe.h"],
                   check=True)
    with open("probe.cu", encoding="utf-8") as file:
        text, guards = plant(file.read())
    with open("probe.cpp", "w", encoding="utf-8") as out:
        out.write(text)
    comparable = not drop and "schedule" not in settings
    defines = [f"-DMETRIC_BYTES={256 if metric == 'mean_iou' else 0}",
               f"-DCOMPARABLE={int(comparable)}"]
    warnings = ["-Wall", "-Wextra", "-Werror"]
    for command in [[CXX, "-std=c++17", "-O0", *warnings, "-I", HOST, "-c", "probe.cpp",
                     "-o", "probe.o"],
                    ["gcc", "-std=c99", "-O0", *warnings, *defines, "-I", HOST, "-I", ".", "-xc",
                     "-c", os.path.join(HERE, "skips.c"), "-o", "skips.o"],
                    [CXX, "probe.o", "skips.o", libhost, "-lpthread", "-o", "skips"]]:
        subprocess.run(command, check=True)
    return guards, comparable


def main():
    cnnc, libhost = [os.path.abspath(path) for path in sys.argv[1:3]]
    os.environ["CNNC_HOST_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for variant in VARIANTS[::int(sys.argv[3])]:
            guards, comparable = build(cnnc, libhost, variant)
            name = " ".join([*variant[1:4], *variant[4]]) + (" dropout" if variant[0] else "")
            done = run("./skips")
            if done.returncode:
                sys.exit(f"{name}: {done.stderr}")
            for planted in range(guards):
                done = run("./skips", str(planted))
                # The dropout of the next step shows only where runs can be compared.
                if done.returncode != 1 and (comparable or variant[1] != "mean_iou"):
                    sys.exit(f"{name}: guard {planted} of {guards} is out, and nothing shows it")
            print(f"{name}: skipped whole, {guards} guards")
        os.chdir("/")


if __name__ == "__main__":
    main()
