#!/usr/bin/env python3
"""Boxes of JPEG files that cnnc-pack-images --keep-jpeg packs as they are follow their pixels.

usage: check_kept_boxes.py CNNC PACK LIBHOST

Each image has its own size, and a white rectangle with an object of COCO's. The packed boxes are sides
of whole images. The net's outputs are its inputs: boxes are those of the middle part, and an object
whose centre is cut off is none. In images of `show`, pixels are white inside of the drawn box and
black outside, after crops, flips and moves. Any number of threads gives the same bytes.
"""
import json
import os
import random
import sys
import tempfile
from pathlib import Path

from checks import expect, faults, run
from npy import read_npy
from pillow import Image, ImageDraw

HERE = Path(__file__).resolve().parent
CNNC, PACK, LIBHOST = (str(Path(p).resolve()) for p in sys.argv[1:4])
COUNT, HEIGHT, WIDTH = 40, 32, 40


def draw_set(draw):
    """Draws the images, and returns size and rectangle of each."""
    data = {"images": [], "annotations": [], "categories": [{"id": k, "name": str(k)} for k in (1, 2)]}
    scenes = []
    for i in range(COUNT):
        height, width = draw.randint(60, 400), draw.randint(60, 400)
        high, wide = (draw.randint(side // 3, side // 2) for side in (height, width))
        left, top = draw.randint(0, width - wide), draw.randint(0, height - high)
        image = Image.new("RGB", (width, height))
        ImageDraw.Draw(image).rectangle((left, top, left + wide - 1, top + high - 1), fill="white")
        image.save(f"images/{i:03}.jpg", quality=95, subsampling=0)
        data["images"].append({"id": i, "file_name": f"{i:03}.jpg", "height": height,
                               "width": width})
        data["annotations"].append({"image_id": i, "category_id": 1 + i % 2,
                                    "bbox": [left, top, wide, high]})
        scenes.append((height, width, (left, top, left + wide, top + high)))
    Path("objects.json").write_text(json.dumps(data))
    return scenes


def middle_box(height, width, box):
    """Returns the box in the largest part in the middle, or none."""
    part_height, part_width = min(height, width * HEIGHT / WIDTH), min(width, height * WIDTH / HEIGHT)
    down, right = (height - part_height) / 2, (width - part_width) / 2
    sides = [(box[0] - right) / part_width, (box[1] - down) / part_height,
             (box[2] - right) / part_width, (box[3] - down) / part_height]
    inside = 0 <= sides[0] + sides[2] <= 2 and 0 <= sides[1] + sides[3] <= 2
    return [min(max(side, 0), 1) for side in sides] if inside else [0] * 4


def check_packed(scenes):
    said = run(PACK, "images", "data/train", "--keep-jpeg", "--boxes", "objects.json", "--objects",
               2)
    expect("40 images of 3 classes, JPEG files as they are" in said, said)
    boxes = read_npy(Path("data/train/boxes.npy"))[2]
    for i, (height, width, box) in enumerate(scenes):
        wanted = [box[0] / width, box[1] / height, box[2] / width, box[3] / height]
        off = max(abs(a - b) for a, b in zip(boxes[8 * i:8 * i + 4], wanted, strict=True))
        expect(off < 1e-6 and not any(boxes[8 * i + 4:8 * i + 8]), f"packed box {i} is off by {off}")
    said = run(PACK, "images", "refused", "--keep-jpeg", "--masks", "images", status=2)
    expect("--masks: can't be used with --keep-jpeg: a mask has the size of its image" in said, said)


def check_middle(scenes):
    run("./boxes", "predict", "--load", "weights", "--output", "seen", "--test",
        "image=data/train/images.jpegs", "--test", "boxes=data/train/boxes.npy")
    found = read_npy(Path("seen/sides.npy"))[2]
    gone = 0
    for i, scene in enumerate(scenes):
        wanted = middle_box(*scene)
        gone += not any(wanted)
        off = max(abs(a - b) for a, b in zip(found[8 * i:8 * i + 4], wanted, strict=True))
        expect(off < 1e-5, f"box {i} of the middle is off by {off}")
    print(f"{gone} of {COUNT} objects are cut off")
    expect(0 < gone < COUNT / 2, "no object is cut off, or most are")


def check_shown(name, *options, least, slack=1):
    """Boxes that `show` draws are around the white pixels."""
    run("./boxes", "show", "--data", "data", "--augment", name, "--count", COUNT, *options)
    drawn = 0
    for path in sorted(Path(name).glob("*.png")):
        image = Image.open(path).convert("RGB")
        pixels = {(x, y): image.getpixel((x, y)) for x in range(WIDTH) for y in range(HEIGHT)}
        edge = [at for at, colour in pixels.items() if max(colour) - min(colour) > 8]
        if not edge:
            continue
        drawn += 1
        low, high = ([pick(at[k] for at in edge) for k in (0, 1)] for pick in (min, max))
        for (x, y), colour in pixels.items():
            inside = min(x - low[0], high[0] - x, y - low[1], high[1] - y)
            wrong = colour[1] < 128 if inside > slack else colour[1] > 128 and inside < -slack
            expect((x, y) in edge or not wrong, f"{path}: {colour} at {x}, {y}; box {low} {high}")
    print(f"{name}: {drawn} of {COUNT} boxes")
    expect(drawn >= least, f"{name}: {drawn} boxes")


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for folder in ("images", "data", "seen"):
            os.mkdir(folder)
        scenes = draw_set(random.Random(1))
        check_packed(scenes)
        run(CNNC, "--main", HERE / "boxes.cnn", "-o", "boxes.cu")
        run(os.environ.get("CXX", "g++"), *os.environ.get("CXXFLAGS", "").split(), "-std=c++17", "-O1",
            "-DCNNC_JPEG", "-I", HERE.parent.parent / "runtime/host", "-x", "c++", "boxes.cu", "-x",
            "none", LIBHOST, "-lpthread", "-ljpeg", "-o", "boxes")
        crops = ("--resized-crop", "0.3:1", "--flip", "--rotate", "5")
        for name, workers in ("weights", 1), ("three", 3):
            run("./boxes", "train", "--data", "data", "--epochs", 2, "--save", name, "--workers",
                workers, *crops)
        expect(Path("weights").read_bytes() == Path("three").read_bytes(),
               "three threads make other weights")
        check_middle(scenes)
        check_shown("middle", least=30)
        check_shown("moved", "--crop", "6", "--flip", least=25)
        check_shown("crops", "--resized-crop", "0.3:1", "--flip", least=25)
        os.chdir("/")
    print(f"{len(faults)} faults")
    return 1 if faults else 0


sys.exit(main())
