#!/usr/bin/env python3
"""Prints the mean average precisions that detection_test.h wants, by pycocotools and
torchvision's non-maximum suppression, of the scenes that it draws.

Not run by the tests: it needs pycocotools and torchvision.
"""
import contextlib
import io

import numpy as np
import torch
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
from torchvision.ops import nms

IMAGES, ANCHORS, KINDS, OBJECTS = 40, 80, 4, 6
MASK = (1 << 64) - 1
drawn = 0


def draw():
    """A number from 0 to 1, of 24 bits: splitmix64 of a counter."""
    global drawn
    z = (drawn + 0x9E3779B97F4A7C15) & MASK
    drawn += 1
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return np.float32(((z ^ (z >> 31)) >> 40) / 2**24)


def draw_box():
    left, top = draw() * np.float32(.75), draw() * np.float32(.75)
    return np.array([left, top, left + np.float32(.0625) + draw() * np.float32(.1875),
                     top + np.float32(.0625) + draw() * np.float32(.1875)], np.float32)


images, objects, found = [], [], []
for image in range(IMAGES):
    kinds = [int(draw() * KINDS) for _ in range(OBJECTS)]
    boxes = [draw_box() for _ in range(OBJECTS)]
    places, chances = [], []
    for a in range(ANCHORS):
        near = draw() < np.float32(.5)
        box = draw_box()
        if near:
            moved = [(draw() - np.float32(.5)) * np.float32(.0625) for _ in range(4)]
            box = boxes[a % OBJECTS] + np.array(moved, np.float32)
        places.append(box.astype(np.float32))
        chances.append([number * number for number in (draw() for _ in range(KINDS))])
    images.append({"id": image + 1})
    objects += [(image + 1, kind, box) for kind, box in zip(kinds, boxes) if kind]
    of_image = []
    places, chances = np.array(places), np.array(chances, np.float32)
    for kind in range(1, KINDS):
        score = torch.tensor(chances[:, kind].astype(np.float64))
        keep = torch.nonzero(score > .01)[:, 0]
        keep = keep[torch.argsort(score[keep], descending=True, stable=True)][:400]
        kept = nms(torch.tensor(places[keep].astype(np.float64)), score[keep], .45)
        of_image += [(float(score[keep[k]]), kind, places[keep[k]]) for k in kept]
    found += [(image + 1, *row) for row in sorted(of_image, key=lambda row: -row[0])[:100]]


def corner_and_sides(box):
    box = box.astype(np.float64)
    return [box[0], box[1], box[2] - box[0], box[3] - box[1]]


with contextlib.redirect_stdout(io.StringIO()):
    coco = COCO()
    coco.dataset = {
        "info": {}, "images": images, "categories": [{"id": k} for k in range(1, KINDS)],
        "annotations": [{"id": n + 1, "image_id": i, "category_id": k, "iscrowd": 0,
                         "bbox": corner_and_sides(b), "area": 1.0}
                        for n, (i, k, b) in enumerate(objects)]}
    coco.createIndex()
    results = coco.loadRes([{"image_id": i, "category_id": k, "score": s,
                             "bbox": corner_and_sides(b)} for i, s, k, b in found])
    run = COCOeval(coco, results, "bbox")
    run.params.areaRng, run.params.areaRngLbl = [[-1, 1e10]], ["all"]
    run.evaluate()
    run.accumulate()
means = [p[p > -1].mean() for p in run.eval["precision"][:, :, :, 0, -1]]
print(len(objects), len(found), *(f"{mean:.15g}" for mean in means))
