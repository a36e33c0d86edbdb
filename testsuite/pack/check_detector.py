#!/usr/bin/env python3
"""A detector learns from packed boxes and masks.

usage: check_detector.py CNNC PACK LIBHOST

Each image has a square of one of two colours, with an object of COCO's and a mask; the border of the
mask is ignored. The trainer finds images, boxes, kinds and masks under the names of
cnnc-pack-images. Both losses fall, and pixels have their classes.
"""
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from pillow import Image, ImageDraw

HERE = Path(__file__).resolve().parent
CNNC, PACK, LIBHOST = (str(Path(p).resolve()) for p in sys.argv[1:4])
COUNT, SIDE, COLOURS = 48, 32, ("red", "blue")
LOSSES = ["multibox", "softmax_cross_entropy"]


def run(*command):
    subprocess.run([str(word) for word in command], check=True)


def draw_set(draw):
    data = {"images": [], "annotations": [],
            "categories": [{"id": k + 1, "name": name} for k, name in enumerate(COLOURS)]}
    for i in range(COUNT):
        image, mask = Image.new("RGB", (SIDE, SIDE), "gray"), Image.new("L", (SIDE, SIDE), 0)
        kind, side = draw.randrange(2), draw.randint(8, 16)
        left, top = draw.randint(0, SIDE - side), draw.randint(0, SIDE - side)
        corners = (left, top, left + side - 1, top + side - 1)
        ImageDraw.Draw(image).rectangle(corners, fill=COLOURS[kind])
        ImageDraw.Draw(mask).rectangle(corners, fill=kind + 1, outline=255)
        image.save(f"images/{i:03}.png")
        mask.save(f"masks/{i:03}.png")
        data["images"].append({"id": i, "file_name": f"{i:03}.png", "height": SIDE, "width": SIDE})
        data["annotations"].append({"image_id": i, "category_id": kind + 1,
                                    "bbox": [left, top, side, side]})
    Path("objects.json").write_text(json.dumps(data))


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for folder in ("images", "masks", "data"):
            os.mkdir(folder)
        draw_set(random.Random(1))
        run(PACK, "images", "data/train", "--size", "16x16", "--boxes", "objects.json",
            "--objects", "3", "--masks", "masks")
        run(CNNC, "--main", HERE / "detector.cnn", "-o", "detector.cu")
        run(os.environ.get("CXX", "g++"), *os.environ.get("CXXFLAGS", "").split(), "-std=c++17",
            "-O1", "-I", HERE.parent.parent / "runtime/host", "-x", "c++", "detector.cu", "-x",
            "none", LIBHOST, "-lpthread", "-o", "detector")
        run("./detector", "train", "--data", "data", "--log", "log.csv")
        with open("log.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        os.chdir("/")
    print(rows[0], rows[-1], sep="\n")
    falls = [name for name in LOSSES if float(rows[0][name]) > 2 * float(rows[-1][name])]
    right = float(rows[-1]["accuracy"])
    if falls != LOSSES or right < 0.92:
        sys.exit(f"losses that halve: {falls}; accuracy of pixels: {right}")


main()
