#!/usr/bin/env python3
"""Masks, boxes and samples of 16 bits, packed and compared with Pillow and with plain formulas.

usage: check_annotations.py PACK CASE...

masks   nearest pixels of Pillow, for palettes, gray of each depth, and ignored values
coco    objects of a COCO file against their definition; refused files
voc     objects of Pascal VOC's XML, likewise
depth   samples of 16 bits against Pillow's bilinear filter in floating point
"""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from checks import expect, faults
from npy import read_npy
from pillow import Image

PACK = str(Path(sys.argv[1]).resolve())


def pack(*arguments):
    result = subprocess.run([PACK, *map(str, arguments)], text=True, check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return result.returncode, result.stdout


def packs(out, *arguments):
    status, said = pack(*arguments, out, "--size", "{}x{}".format(*SIZE))
    expect(status == 0, f"{arguments}: status {status}: {said}")
    return said


def refuses(status, words, *arguments):
    have, said = pack(*arguments)
    expect(have == status and words in said, f"{arguments}: status {have}: {said}")
    expect(not any(Path().glob("refused*")), f"{arguments}: a folder is left")


SIZE = (12, 20)
SIDES = [(12, 20), (13, 40), (50, 31), (7, 9), (24, 40)]


def shown(height, width):
    """The part of an image that is packed: left, top, right, bottom."""
    if height * SIZE[1] > width * SIZE[0]:
        part = width * SIZE[0] / SIZE[1]
        return 0, (height - part) / 2, width, (height + part) / 2
    part = height * SIZE[1] / SIZE[0]
    return (width - part) / 2, 0, (width + part) / 2, height


def draw_images(draw, folder, orientation=None):
    folder.mkdir()
    for i, (height, width) in enumerate(SIDES):
        image = Image.new("RGB", (width, height), tuple(draw.randrange(256) for _ in range(3)))
        exif = Image.Exif()
        if orientation:
            exif[0x0112] = orientation
        image.save(folder / f"{i}.jpg", exif=exif)


# ---- masks ----------------------------------------------------------------------------------

def draw_mask(draw, i, height, width):
    """A mask in one of Pillow's modes."""
    mode = ("P", "L", "1", "P", "L")[i]
    most = {"P": 7 if i else 256, "L": 256, "1": 2}[mode]
    mask = Image.new(mode, (width, height))
    values = [draw.randrange(most) for _ in range(height * width)]
    values[0] = most - 1
    mask.putdata([255 * v for v in values] if mode == "1" else values)
    if mode == "P":
        mask.putpalette([draw.randrange(256) for _ in range(768)])
    return mask, values


def nearest(values, height, width):
    plain = Image.new("I", (width, height))
    plain.putdata(values)
    small = plain.resize((SIZE[1], SIZE[0]), Image.Resampling.NEAREST, box=shown(height, width))
    return list(small.getdata())


def check_masks():
    draw = random.Random(3)
    # An orientation does not turn an image that has a mask.
    draw_images(draw, Path("images"), 6)
    Path("masks").mkdir()
    want = []
    for i, sides in enumerate(SIDES):
        mask, values = draw_mask(draw, i, *sides)
        extra = {"bits": 4} if i == 3 else {}
        mask.save(f"masks/{i}.png", **extra)
        want += nearest(values, *sides)
    packs("plain", "images", "--masks", "masks", "--workers", "2")
    have = read_npy(Path("plain/masks.npy"))
    expect(have[0] == "|u1" and have[1] == (len(SIDES), *SIZE), f"masks are {have[:2]}")
    expect(list(have[2]) == want, "masks differ from Pillow's")
    expect(255 in want, "no pixel is ignored")
    expect(not Path("plain/labels.npy").exists(), "masks have labels")
    packs("ignored", "images", "--masks", "masks", "--ignore-value", "-100")
    have = read_npy(Path("ignored/masks.npy"))
    expect(have[0] == "<i4" and list(have[2]) == [-100 if v == 255 else v for v in want],
           "ignored pixels are not -100")
    packs("byte", "images", "--masks", "masks", "--ignore-value", "9")
    have = read_npy(Path("byte/masks.npy"))
    expect(have[0] == "|u1" and list(have[2]) == [9 if v == 255 else v for v in want],
           "ignored pixels are not 9")
    # A single file of 16 bits makes them all wide.
    height, width = SIDES[4]
    values = [(1000 * k) % 60001 for k in range(height * width)]
    wide = Image.new("I", (width, height))
    wide.putdata(values)
    wide.save("masks/4.png")
    packs("wide", "images", "--masks", "masks")
    have = read_npy(Path("wide/masks.npy"))
    one = SIZE[0] * SIZE[1]
    expect(have[0] == "<i4" and list(have[2]) == want[:4 * one] + nearest(values, height, width),
           "masks of 16 bits differ")
    size = ("refused", "--size", "8x8", "--masks", "masks")
    Image.new("L", (9, 8)).save("masks/3.png")
    refuses(1, "images/3.jpg: its mask masks/3.png is 8 x 9 pixels, and its image 7 x 9",
            "images", *size)
    Image.new("RGB", (9, 7)).save("masks/3.png")
    refuses(1, "its mask masks/3.png has colours", "images", *size)
    Image.new("L", (9, 7)).save("masks/3.png", "JPEG")
    refuses(1, "its mask masks/3.png is not PNG", "images", *size)
    Path("masks/3.png").unlink()
    refuses(1, "its mask masks/3.png No such file", "images", *size)
    refuses(2, "--ignore-value: has no effect", "images", "refused", "--size", "8x8",
            "--ignore-value", "3")


# ---- boxes ----------------------------------------------------------------------------------

def place(box, height, width):
    """A box in sides of the packed image, or None if its middle is cut off."""
    left, top, right, bottom = shown(height, width)
    side = [(box[0] - left) / (right - left), (box[1] - top) / (bottom - top),
            (box[2] - left) / (right - left), (box[3] - top) / (bottom - top)]
    middle = (side[0] + side[2]) / 2, (side[1] + side[3]) / 2
    side = [min(max(v, 0), 1) for v in side]
    inside = all(0 <= v < 1 for v in middle) and side[2] > side[0] and side[3] > side[1]
    return side if inside else None


def compare_objects(out, want, objects):
    """want: of each image, a list of (kind, box in sides)."""
    boxes, kinds = read_npy(out / "boxes.npy"), read_npy(out / "kinds.npy")
    count = len(want)
    expect(boxes[:2] == ("<f4", (count, objects, 4)), f"boxes are {boxes[:2]}")
    expect(kinds[:2] == ("<i4", (count, objects)), f"kinds are {kinds[:2]}")
    flat_kinds, flat_boxes = [], []
    for listed in want:
        for kind, box in listed + [(0, [0, 0, 0, 0])] * (objects - len(listed)):
            flat_kinds.append(kind)
            flat_boxes += struct.unpack("<4f", struct.pack("<4f", *box))
    expect(list(kinds[2]) == flat_kinds, f"kinds are {kinds[2]}, not {flat_kinds}")
    far = max(abs(a - b) for a, b in zip(boxes[2], flat_boxes, strict=True))
    expect(far < 1e-6, f"boxes are {far} off")


def draw_box(draw, height, width):
    left, top = draw.uniform(0, width - 2), draw.uniform(0, height - 2)
    return [left, top, draw.uniform(left + 1, width), draw.uniform(top + 1, height)]


def check_coco():
    draw = random.Random(5)
    draw_images(draw, Path("images"))
    # Ids have gaps, and images are listed in reverse.
    ids = [90, 7, 30]
    data = {"info": {"year": 2017, "x": [1, None, {"y": "\"}]"}]},
            "annotations": [], "licenses": [],
            "images": [{"id": 1000 - i, "file_name": f"{i}.jpg", "height": h, "width": w}
                       for i, (h, w) in reversed(list(enumerate(SIDES)))],
            "categories": [{"id": k, "name": f"k\u00fc{k}", "supercategory": "s"} for k in ids]}
    want, crowds, cut = [[] for _ in SIDES], 0, 0
    for i, (height, width) in enumerate(SIDES[:-1]):      # the last image has no object
        for _ in range(14):
            box, kind = draw_box(draw, height, width), draw.choice(ids)
            crowd = draw.random() < 0.2
            data["annotations"].append(
                {"id": 1, "image_id": 1000 - i, "category_id": kind, "iscrowd": int(crowd),
                 "segmentation": [[1.5, 2, -3e-2]],
                 "bbox": [box[0], box[1], box[2] - box[0], box[3] - box[1]]})
            side = place(box, height, width)
            crowds += crowd
            cut += not crowd and side is None
            if side and not crowd:
                want[i].append((1 + sorted(ids).index(kind), side))
    expect(crowds and cut, "the draw has neither crowds nor cut objects")
    file = Path("instances.json")
    file.write_text(json.dumps(data, indent=1))
    most = max(map(len, want))
    boxes = ("images", "--boxes", file)
    said = packs("out", *boxes, "--objects", most)
    expect(f"{crowds} objects that are crowds" in said and f"{cut} objects are left out" in said,
           f"not told: {crowds} crowds, {cut} cut: {said}")
    compare_objects(Path("out"), want, most)
    expect(Path("out/classes.txt").read_text() == "none\nk\u00fc7\nk\u00fc30\nk\u00fc90\n",
           "classes.txt has other names")
    # One line in place of many, and numbers of a file.
    file.write_text(json.dumps(data))
    Path("names.txt").write_text("none\nk\u00fc30\n-\nk\u00fc90\nk\u00fc7\n")
    packs("named", *boxes, "--objects", "30", "--classes", "names.txt")
    renamed = {1: 4, 2: 1, 3: 3}
    compare_objects(Path("named"), [[(renamed[k], b) for k, b in w] for w in want], 30)
    refuse = (*boxes, "refused", "--size", "12x20", "--objects")
    refuses(1, f"objects, and --objects allows {most - 1}", *refuse, most - 1)
    said = packs("all", *boxes, "--objects", "30", "--crowds")
    expect("crowds" not in said and sum(map(bool, read_npy(Path("all/kinds.npy"))[2])) >
           sum(map(len, want)), "--crowds adds no object")
    refuses(2, "--boxes: needs --objects N", *boxes, "refused", "--size", "8x8")

    def broken(words, change):
        other = json.loads(json.dumps(data))
        change(other)
        file.write_text(json.dumps(other))
        refuses(1, words, *refuse, 30)

    broken("0.jpg: is listed twice", lambda d: d["images"].append(d["images"][-1]))
    broken("has the id of another image",
           lambda d: d["images"].append({**d["images"][0], "file_name": "z.jpg"}))
    broken("annotation 2 is of image 5, which is not listed",
           lambda d: d["annotations"][1].update(image_id=5, iscrowd=0))
    broken("is of category 8, which is not listed",
           lambda d: d["annotations"][0].update(category_id=8, iscrowd=0))
    broken("line 1: wanted an annotation with image_id", lambda d: d["annotations"][0].pop("bbox"))
    broken("wanted [left, top, width, height]",
           lambda d: d["annotations"][0].update(bbox=[1, 2, 3]))
    broken("wanted a whole number", lambda d: d["images"][0].update(id=1.5))
    broken("images/0.jpg: is 12 x 20 pixels as stored, and its annotation states 20 x 12",
           lambda d: d["images"][-1].update(height=20, width=12))
    broken("images/none.jpg: No such file", lambda d: d["images"][0].update(file_name="none.jpg"))
    broken("wanted an object with images", lambda d: d.pop("categories"))
    broken("two categories of one id", lambda d: d["categories"].append({"id": 7, "name": "b"}))
    for text, words in (("[", "line 1: wanted an object {"), ('{"images": [', "line 1: wanted"),
                        ('{"a":\n\n tru }', "line 3: wanted a value"),
                        ('{"a": "x\\q"}', "wanted a character that may follow \\"),
                        ('{"a": ' + "[" * 70, "wanted fewer than 64 nested values")):
        file.write_text(text)
        refuses(1, words, *refuse, 30)


def check_voc():
    draw = random.Random(7)
    draw_images(draw, Path("images"))
    Path("boxes").mkdir()
    names = ["ox", "zebra", "a & b"]
    order = ["none", *sorted(names)]
    want = [[] for _ in SIDES]
    for i, (height, width) in enumerate(SIDES):
        text = ['<?xml version="1.0"?>', "<annotation verified='a /> b'>", "<!-- <object> -->",
                "<object2/>", f"<size><width>{width}</width>", f"<height> {height} </height></size>"]
        for k in range(3 if i else 0):
            box = [int(v) for v in draw_box(draw, height, width)]
            box[2:] = max(box[0] + 1, box[2]), max(box[1] + 1, box[3])
            name, difficult = names[(i + k) % 3], k == 2
            text += ["<object>", f"<name>{name.replace('&', '&#38;' if k else '&amp;')}</name>",
                     f"<difficult>{int(difficult)}</difficult><bndbox>",
                     f"<xmin>{box[0] + 1}</xmin><ymin>{box[1] + 1}</ymin>",
                     f"<xmax>{box[2]}</xmax><ymax>{box[3]}</ymax></bndbox>",
                     "<part><name>head</name><bndbox><xmin>1</xmin></bndbox></part></object>"]
            side = place(box, height, width)
            if side and not difficult:
                want[i].append((order.index(name), side))
        Path(f"boxes/{i}.xml").write_text("\n".join([*text, "</annotation>", ""]))
    options = ("images", "--boxes", "boxes")
    said = packs("out", *options, "--objects", "4")
    expect(f"{len(SIDES) - 1} objects that are crowds or difficult" in said, said)
    compare_objects(Path("out"), want, 4)
    expect(Path("out/classes.txt").read_text().split("\n") == [*order, ""], "other classes")
    refuse = (*options, "refused", "--size", "12x20", "--objects", "4")
    Path("names.txt").write_text("none\nox\nzebra\n")
    refuses(1, 'has an object "a & b", which is no class of --classes', *refuse, "--classes",
            "names.txt")
    whole = Path("boxes/1.xml").read_text()
    for old, new, words in (("</annotation>", "", f"line {whole.count(chr(10)) + 1}: wanted the end of <annotation>"),
                            ("</size>", "</sizes>", "wanted the end of the element"),
                            ("<xmin>", "<xmin>x", "wanted a number"),
                            ("<ymax>", "<y>", "wanted the end of the element"),
                            ("<width>40</width>", "", "wanted annotation/size"),
                            ("<!-- <object> -->", "<!DOCTYPE x>", "elements and comments only"),
                            ("&amp;", "&nope;", "one of the five entities"),
                            ("<width>40<", "<width>41<", "annotation states 13 x 41")):
        broken = whole.replace("a &#38; b", "a &amp; b").replace(old, new)
        expect(broken != whole, f"{old} is not there")
        Path("boxes/1.xml").write_text(broken)
        refuses(1, words, *refuse)
    Path("boxes/1.xml").unlink()
    refuses(3, "boxes/1.xml: No such file", *refuse)


# ---- 16 bits --------------------------------------------------------------------------------

def check_depth():
    draw = random.Random(9)
    folder = Path("images/class")
    folder.mkdir(parents=True)
    want = []
    for i, (height, width) in enumerate(SIDES):
        values = [draw.randrange(65536) for _ in range(height * width)]
        image = Image.new("I", (width, height))
        image.putdata(values)
        image.save(folder / f"{i}.png")
        real = Image.new("F", (width, height))
        real.putdata(values)
        want += real.resize((SIZE[1], SIZE[0]), Image.Resampling.BILINEAR,
                            box=shown(height, width)).getdata()
    eight = Image.new("RGB", (20, 12), (3, 200, 255))
    eight.save(folder / "8.png")
    packs("out", "images", "--depth", "16", "--gray")
    have = read_npy(Path("out/images.npy"))
    expect(have[:2] == ("<u2", (len(SIDES) + 1, *SIZE, 1)), f"images are {have[:2]}")
    far = max(abs(a - b) for a, b in zip(have[2][:len(want)], want))
    expect(far <= 1.01, f"gray samples are {far} off")
    packs("colours", "images", "--depth", "16")
    have = read_npy(Path("colours/images.npy"))
    expect(have[2][0] == have[2][1] and have[2][-3:] == (3 * 257, 200 * 257, 65535),
           "colours of 8 bits are not v * 257")
    refuses(2, "--depth needs 8 or 16", "images", "refused", "--size", "8x8", "--depth", "9")


CASES = {"masks": check_masks, "coco": check_coco, "voc": check_voc, "depth": check_depth}


def main():
    for case in sys.argv[2:]:
        with tempfile.TemporaryDirectory() as work:
            os.chdir(work)
            CASES[case]()
            os.chdir("/")
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
