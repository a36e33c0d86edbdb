#!/usr/bin/env python3
"""Images and labels of tar files and of TFRecord files have the pixels of plain files.

usage: check_archives.py PACK

Python's tarfile writes the formats ustar, GNU and pax, with long names. Records and their sums are
written here by their definitions. Damaged, incomplete and compressed files are refused by name.
"""
import gzip
import io
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from checks import expect, faults
from npy import read_npy
from pillow import Image

PACK = str(Path(sys.argv[1]).resolve())
COUNT = 7
LABELS = [3, 0, 2, 2, 999, 1, 0]


def pack(*arguments, status=0):
    result = subprocess.run([PACK, *map(str, arguments)], text=True, check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    expect(result.returncode == status, f"{arguments}: {result.returncode}: {result.stdout}")
    return result.stdout


def refuses(words, *arguments, status=1):
    said = pack(*arguments, "refused", "--size", "6x6", status=status)
    expect(words in said, f"{arguments}: not told: {words}: {said}")
    expect(not any(Path().glob("refused*")), "a folder is left")


def draw_images():
    """Encoded images, and the pixels that the packer makes of them as files."""
    draw, images = random.Random(4), []
    Path("plain/class").mkdir(parents=True)
    for i in range(COUNT):
        image = Image.frombytes("RGB", (9, 8), draw.randbytes(3 * 72))
        out = io.BytesIO()
        image.save(out, "PNG" if i == 2 else "JPEG")
        images.append(out.getvalue())
        Path(f"plain/class/{i}.{'png' if i == 2 else 'jpg'}").write_bytes(images[-1])
    pack("plain", "whole", "--size", "6x6")
    return images, Path("whole/images.npy").read_bytes()


def same(out, pixels, labels):
    expect((out / "images.npy").read_bytes() == pixels, f"{out}: other pixels")
    have = read_npy(out / "labels.npy")
    expect(list(have[2]) == labels, f"{out}: labels are {have[2]}")
    shutil.rmtree(out)


# ---- tar -----------------------------------------------------------------------------------

def add(tar, name, content):
    info = tarfile.TarInfo(name)
    info.size = len(content)
    tar.addfile(info, io.BytesIO(content))


def write_tar(path, images, style, first=0, as_json=False, folder="set/"):
    with tarfile.open(path, "w", format=style) as tar:
        info = tarfile.TarInfo("set")
        info.type = tarfile.DIRTYPE
        tar.addfile(info)
        for i, image in enumerate(images, first):
            ending = "PNG" if image[:4] == b"\x89PNG" else "jpg"
            label = json.dumps({"x": [1], "label": LABELS[i], "id": "\u00fc"}).encode() \
                if as_json else f"{LABELS[i]}\n".encode()
            name = f"{folder}{i:04}"
            files = [(f"{name}.{ending}", image), (f"{name}.{'json' if as_json else 'cls'}", label),
                     (f"{name}.txt", b"words" * 300)]
            for file in files if i % 2 else files[::-1]:
                add(tar, *file)


def check_tar(images, pixels):
    deep = "a_folder_with_a_name/" * 12     # 252 bytes
    for style, folder in ((tarfile.USTAR_FORMAT, "f/" * 60), (tarfile.GNU_FORMAT, deep),
                          (tarfile.PAX_FORMAT, deep)):
        write_tar("one.tar", images[:3], style, folder=folder)
        write_tar("two.tar", images[3:], style, 3, as_json=True, folder=folder)
        said = pack("--from", "one.tar,two.tar", "out", "--size", "6x6", "--workers", "2")
        expect(f"{COUNT} images, 6 x 6 x 3; {COUNT} other files" in said, said)
        same(Path("out"), pixels, LABELS)
    expect(not Path("out/classes.txt").exists(), "there are names of classes")
    Path("names.txt").write_text("".join(f"n{i}\n" for i in range(1000)))
    pack("--from", "one.tar,two.tar", "out", "--size", "6x6", "--classes", "names.txt")
    expect(Path("out/classes.txt").read_bytes() == Path("names.txt").read_bytes(), "other names")
    same(Path("out"), pixels, LABELS)
    write_tar("jpegs.tar", images[3:], tarfile.PAX_FORMAT, 3)
    pack("--from", "jpegs.tar", "kept", "--keep-jpeg")
    expect(Path("kept/images.jpegs").read_bytes().endswith(b"".join(images[3:])),
           "JPEG files of an archive are not kept")
    content = Path("one.tar").read_bytes()
    Path("names.txt").write_text("a\nb\n")
    refuses("0000.jpg: has a label that is no line of --classes", "--from", "one.tar", "--classes",
            "names.txt")
    refuses("has a label outside of 0", "--from", "one.tar", "--first-label", 1)
    refuses('wanted an object with the number "kind"', "--from", "two.tar", "--label-key", "kind")
    Path("cut.tar").write_bytes(content[:3000])
    refuses("cut.tar: ", "--from", "cut.tar")
    position = content.index(b"ustar", 2048)
    Path("cut.tar").write_bytes(content[:position] + b"U" + content[position + 1:])
    refuses("cut.tar: has a damaged header", "--from", "cut.tar")
    Path("cut.tar").write_bytes(gzip.compress(content))
    refuses("cut.tar: is compressed", "--from", "cut.tar")
    Path("cut.tar").write_bytes(b"words" * 200)
    refuses("cut.tar: is neither a tar file nor TFRecord", "--from", "cut.tar")
    for files, words in (
            ([("a.jpg", images[0])], "a.jpg: has no .cls or .json file"),
            ([("a.cls", b"1")], "a: has a label and no image"),
            ([("a.jpg", images[0]), ("a.cls", b"x")], "a.cls: is no whole number"),
            ([("a.jpg", images[0]), ("a.json", b'{"label": 1')], "a.json: line 1: wanted , or }"),
            ([("a.jpg", images[0]), ("a.json", b"")], "a.json: line 1: wanted an object {"),
            ([("a.jpg", images[0]), ("a.png", images[2])], "a.png: is another image"),
            ([("a.jpg", b""), ("a.cls", b"1")], "a.jpg: is empty"),
            ([("a.jpg", images[0][:-30]), ("a.cls", b"1")], "bad.tar: a.jpg: Premature end"),
            ([("a.txt", b"x")], "bad.tar: has no images")):
        with tarfile.open("bad.tar", "w") as tar:
            for file in files:
                add(tar, *file)
        refuses(words, "--from", "bad.tar", status=3 if "no images" in words else 1)
    refuses("--from takes the place of FOLDER", "--from", "one.tar", "plain", status=2)
    refuses("has no effect without --from", "plain", "--label-key", "x", status=2)


# ---- TFRecord ------------------------------------------------------------------------------

def varint(value):
    out = bytearray()
    value &= 2 ** 64 - 1
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def example(features):
    entries = b""
    for name, value in features.items():
        if isinstance(value, bytes):
            feature = field(1, field(1, value))
        elif isinstance(value, float):
            feature = field(2, field(1, struct.pack("<f", value)))
        elif isinstance(value, tuple):          # integers one by one
            feature = field(3, b"".join(varint(1 << 3) + varint(v) for v in value))
        else:
            feature = field(3, field(1, b"".join(varint(v) for v in value)))
        entries += field(1, field(1, name.encode()) + field(2, feature))
    return field(1, entries)


def masked_crc(data):
    """CRC-32C by the polynomial, bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record(data):
    head = struct.pack("<Q", len(data))
    return (head + struct.pack("<I", masked_crc(head)) + data +
            struct.pack("<I", masked_crc(data)))


def check_tfrecord(images, pixels):
    # The check value of CRC-32C (RFC 3720, B.4): 32 bytes of zero have 8A9136AA.
    value = 0x8A9136AA
    expect(masked_crc(bytes(32)) == ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF,
           "the sum of this test is wrong")
    records = []
    for i, image in enumerate(images):
        label = LABELS[i] + 1
        records.append(record(example({
            "image/height": [8], "image/class/text": b"name", "image/encoded": image, "x": 1.5,
            "image/class/label": (label,) if i % 2 else [label], "empty": b""})))
    Path("a.tfrecord").write_bytes(b"".join(records[:4]))
    Path("b-00001-of-2").write_bytes(b"".join(records[4:]))
    pack("--from", "a.tfrecord,b-00001-of-2", "out", "--size", "6x6", "--first-label", 1)
    same(Path("out"), pixels, LABELS)
    Path("c").write_bytes(b"".join(record(example({"i": image, "l": [LABELS[i]], "m": [1, 2]}))
                                   for i, image in enumerate(images)))
    names = ("--from", "c", "--image-key", "i", "--label-key")
    pack(*names, "l", "out", "--size", "6x6")
    same(Path("out"), pixels, LABELS)
    refuses('c: record 0: has not one integer under "m"', *names, "m")
    refuses('c: record 0: has not one integer under "none"', *names, "none")
    refuses('c: record 0: has no bytes under "image/encoded"', "--from", "c")
    content = b"".join(records)
    second = len(records[0])
    for at, words in ((second + 2, "c: record 1: its length is damaged"),
                      (second + 30, "c: record 1: its data are damaged"),
                      (2 * second // 2 - 2, "c: record 0: its data are damaged")):
        Path("c").write_bytes(content[:at] + bytes([content[at] ^ 64]) + content[at + 1:])
        refuses(words, "--from", "c", "--first-label", 1)
    Path("c").write_bytes(content[:-9])
    refuses(f"c: record {COUNT - 1}: ends too early", "--from", "c", "--first-label", 1)
    Path("c").write_bytes(record(b"\x0a\xff\xff"))
    refuses("c: record 0: is no tf.Example", "--from", "c")
    Path("c").write_bytes(record(example({"image/encoded": images[0][:-30],
                                          "image/class/label": [1]})))
    refuses("c: record 0: Premature end", "--from", "c")


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        images, pixels = draw_images()
        check_tar(images, pixels)
        check_tfrecord(images, pixels)
        os.chdir("/")
    print(f"{len(faults)} faults")
    return 1 if faults else 0


sys.exit(main())
