#!/usr/bin/env python3
"""Nets learn from changed samples, and `show` writes these samples as images:

    check_changed.py CNNC LIBHOST DETECTOR.cnn MIXED.cnn

The detector's images of 28x36 pixels have one to three rectangles of a colour for each class. With
crops, flips, rotations and colours its loss falls, on changed samples and on the validation set,
and its mean average precision rises. The weights of the epoch with the best precision are kept. The other net learns from labels that are mixed, and any
number of workers ends in the same bytes.
Pixels of `show` are those of the file's centre, and boxes are drawn around them.
"""
import os
import random
import re
import struct
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "saving"))
from saving import build, bytes_of, enter_folder, expect, leave_folder, run, write_npy

HEIGHT, WIDTH, SIZE, OBJECTS = 28, 36, 24, 3
COLOURS = {1: (230, 40, 30), 2: (30, 220, 60), 3: (50, 60, 240)}


def scene(draw):
    """Returns pixels, boxes and kinds of an image in which shapes do not overlap."""
    pixels, boxes, kinds = bytearray(b"\x60" * (HEIGHT * WIDTH * 3)), [], []
    for place in range(draw.randint(1, OBJECTS)):
        kind, high, wide = draw.randint(1, 3), draw.randint(6, 10), draw.randint(6, 9)
        left = 1 + place * 11 + draw.randint(0, 11 - wide)
        top = draw.randint(0, HEIGHT - high)
        for y in range(top, top + high):
            for x in range(left, left + wide):
                at = 3 * (y * WIDTH + x)
                pixels[at:at + 3] = bytes(COLOURS[kind])
        boxes += [left / WIDTH, top / HEIGHT, (left + wide) / WIDTH, (top + high) / HEIGHT]
        kinds.append(kind)
    missing = OBJECTS - len(kinds)
    return pixels, boxes + [0.0] * (4 * missing), kinds + [0] * missing


def write_scenes(part, count, seed):
    draw = random.Random(seed)
    scenes = [scene(draw) for _ in range(count)]
    os.makedirs(f"data/{part}")
    write_npy(f"data/{part}/images.npy", "|u1", [count, HEIGHT, WIDTH, 3],
              b"".join(s[0] for s in scenes))
    write_npy(f"data/{part}/boxes.npy", "<f4", [count, OBJECTS, 4],
              b"".join(struct.pack(f"<{4 * OBJECTS}f", *s[1]) for s in scenes))
    write_npy(f"data/{part}/kinds.npy", "<i4", [count, OBJECTS],
              b"".join(struct.pack(f"<{OBJECTS}i", *s[2]) for s in scenes))
    os.rename(f"data/{part}/images.npy", f"data/{part}/image.npy")
    return scenes


def read_png(path):
    """Returns height, width and rows of a PNG file without filters, whose checksums must hold."""
    data, at, parts = bytes_of(path), 8, {}
    expect(data[:8] == b"\x89PNG\r\n\x1a\n", f"{path} is no PNG file")
    while at < len(data):
        size, = struct.unpack_from(">I", data, at)
        name, content = data[at + 4:at + 8], data[at + 8:at + 8 + size]
        crc, = struct.unpack_from(">I", data, at + 8 + size)
        expect(crc == zlib.crc32(name + content), f"{path}: checksum of {name}")
        parts[name] = content
        at += 12 + size
    width, height, depth, kind = struct.unpack_from(">IIBB", parts[b"IHDR"])
    expect((depth, kind) == (8, 2) and b"IEND" in parts, f"{path}: {parts[b'IHDR']}")
    rows = zlib.decompress(parts[b"IDAT"])
    expect(len(rows) == height * (3 * width + 1), f"{path}: {len(rows)} bytes")
    rows = [rows[y * (3 * width + 1):(y + 1) * (3 * width + 1)] for y in range(height)]
    expect(all(row[0] == 0 for row in rows), f"{path} has filters")
    return height, width, [row[1:] for row in rows]


def check_learns(program, epochs, falls, *options):
    """The last epoch's losses are below `falls` times the first one's."""
    done = run([f"./{program}", "train", *options, "--epochs", epochs, "--log", "log.csv"])
    with open("log.csv", encoding="utf-8") as file:
        rows = [line.split(",") for line in file.read().split()]
    for column in [i for i, field in enumerate(rows[0]) if field.endswith("loss")]:
        losses = [float(row[column]) for row in rows[1:]]
        print(program, rows[0][column], losses)
        expect(losses[-1] < falls * losses[0], f"losses of {program}: {losses}")
    return done.stdout


def precision_of(said):
    return float(re.search(r"^average precision ([\d.]+),", said, re.M)[1])


def check_detector(scenes):
    options = ["--data", "data", "--flip", "--resized-crop", "0.5:1", "--jitter",
               "0.2,0.2,0.2,0.02", "--rotate", "5", "--mean", "0.4", "--std", "0.3"]
    before = precision_of(run(["./detector", "train", *options, "--epochs", "1"]).stdout)
    said = check_learns("detector", "8", 0.6, *options, "--best", "best.safetensors", "--monitor",
                        "val_average_precision")
    found = [float(n) for n in re.findall(r"^validation average precision ([\d.]+),", said, re.M)]
    print("validation average precision", found)
    expect(len(found) == 8 and f"epoch {1 + found.index(max(found))}" in said.split("test ")[-1],
           f"the best epoch is not that of the best precision: {found}: {said}")
    after = precision_of(said)
    print(f"average precision {before} after one epoch, {after} after eight")
    expect(before < 0.1 < 0.2 < after, "the average precision does not rise")
    expect("samples are cropped to 24x24: training takes a random place" in said, said)
    # The box of a shape is drawn over its outer pixels alone; the others are the file's.
    count = 6
    said = run(["./detector", "show", "--data", "data", "--augment", "seen/plain", "--count",
                str(count), "--mean", "0.4", "--std", "0.3"]).stdout
    drawn, numbers = 0, [int(n) for n in re.findall(r"sample (\d+)", said)]
    expect(len(numbers) == count, said)
    for n, number in enumerate(numbers):
        height, width, rows = read_png(f"seen/plain/{n:05}.png")
        expect((height, width) == (SIZE, SIZE), f"{height}x{width}")
        pixels, found = scenes[number][0], set()
        # Without options the place alone is random: one place fits all pixels.
        for down in range(HEIGHT - SIZE + 1):
            for right in range(WIDTH - SIZE + 1):
                same = 0
                for y in range(SIZE):
                    at = 3 * ((y + down) * WIDTH + right)
                    line = pixels[at:at + 3 * SIZE]
                    same += sum(line[3 * x:3 * x + 3] == rows[y][3 * x:3 * x + 3]
                                for x in range(SIZE))
                found.add((same, down, right))
        same, down, right = max(found)
        # A box has at most 2 x (10 + 9) pixels on its sides.
        print(f"sample {number}: {same} of {SIZE * SIZE} pixels are those from ({down}, {right})")
        expect(SIZE * SIZE - 38 * OBJECTS <= same, f"{same} pixels")
        drawn += SIZE * SIZE - same
    expect(drawn > 50, f"boxes have {drawn} pixels")


def check_mixed():
    draw = random.Random(5)
    for part, count in ("train", 96), ("val", 32):
        kinds = [draw.randint(0, 2) for _ in range(count)]
        os.makedirs(f"mixed-data/{part}")
        write_npy(f"mixed-data/{part}/images.npy", "|u1", [count, 14, 12, 3], b"".join(
            bytes(c // 2 + draw.randint(0, 20) for _ in range(14 * 12) for c in COLOURS[kind + 1])
            for kind in kinds))
        write_npy(f"mixed-data/{part}/labels.npy", "|u1", [count], bytes(kinds))
    check_learns("mixed", "6", 0.95, "--data", "mixed-data", "--mixup", "0.3", "--cutmix", "1",
                 "--erase", "0.2", "--randaugment", "1,3")
    options = ["--data", "mixed-data", "--mixup", "0.3", "--jitter", "0.2,0.2,0.2,0.1", "--rotate",
               "9", "--epochs", "1", "--save"]
    for workers in "1", "3":
        run(["./mixed", "train", *options, workers, "--workers", workers])
    expect(bytes_of("1") == bytes_of("3"), "workers change bits")
    run(["./mixed", "train", "--data", "mixed-data", "--epochs", "1", "--save", "plain"])
    expect(bytes_of("1") != bytes_of("plain"), "samples are not changed")
    said = run(["./mixed", "show", "--data", "mixed-data", "--augment", "seen", "--mixup", "1",
                "--count", "30"]).stdout
    shares = [sum(float(s) for s in re.findall(r" \d:([\d.]+)", line))
              for line in said.splitlines() if line.startswith("seen/")]
    expect(len(shares) == 30 and all(abs(s - 1) < 0.02 for s in shares), f"{shares}")
    expect(" 0:" in said and re.search(r"target \d:0\.\d+ \d:0\.\d+", said), said)


def main():
    cnnc, libhost, detector, mixed = map(os.path.abspath, sys.argv[1:])
    folder = enter_folder()
    try:
        build(cnnc, libhost, detector, [], "detector")
        build(cnnc, libhost, mixed, [], "mixed")
        scenes = write_scenes("train", 96, 1)
        write_scenes("val", 16, 2)
        write_scenes("test", 32, 3)
        check_detector(scenes)
        check_mixed()
    finally:
        leave_folder(folder)


if __name__ == "__main__":
    main()
