#!/usr/bin/env python3
"""JPEG files in one file: packed by cnnc-pack-images --keep-jpeg, decoded by the trainer's threads.

usage: check_jpegs.py CNNC PACK LIBHOST

The net's outputs are its inputs. They are within two levels of Pillow's pixels, turned, cut to the
centre and resized: colours and gray, progressive files, inks, and each orientation. Where libjpeg
reduces a large image first, pixels are near Pillow's. Any number of threads gives the same bytes.
Resized crops
and moved images are those of the same pixels in NPY files. A damaged
file is refused with its number, as is a damaged index; --resume refuses other files.
"""
import os
import random
import shutil
import struct
import sys
import tempfile
from pathlib import Path

from checks import expect, faults, run
from npy import read_npy
from pillow import Image, ImageOps

HERE = Path(__file__).resolve().parent
CNNC, PACK, LIBHOST = (str(Path(p).resolve()) for p in sys.argv[1:4])
CLASSES = ("a", "b", "c")
# Height and width, once turned.
SIDES = [(24, 30), (25, 31), (33, 40), (24, 90), (47, 30), (11, 17), (90, 35), (40, 59)]
LARGE = [(400, 500), (500, 400), (97, 123), (1000, 200)]


def draw_image(draw, height, width, mode):
    """A smooth image with some noise."""
    bands = []
    for _ in Image.new(mode, (1, 1)).getbands():
        small = Image.new("L", (4, 4))
        small.putdata([draw.randrange(256) for _ in range(16)])
        bands.append(small.resize((width, height), Image.Resampling.BICUBIC))
    return Image.merge(mode, bands) if len(bands) > 1 else bands[0]


def draw_set(draw, folder, sides):
    for name in CLASSES:
        (folder / name).mkdir(parents=True)
    for i, (height, width) in enumerate(sides):
        turn = i % 8 + 1
        if turn > 4:
            height, width = width, height
        mode = ("RGB", "L", "RGB", "CMYK")[i % 4]
        exif = Image.Exif()
        exif[0x0112] = turn
        draw_image(draw, height, width, mode).save(
            folder / CLASSES[i * len(CLASSES) // len(sides)] / f"{i:03}.jpg", quality=90,
            subsampling=i // 3 % 3, progressive=i % 5 == 0, exif=exif)


def covered(path, height, width, mode, turned=True):
    image = Image.open(path)
    image = (ImageOps.exif_transpose(image) if turned else image).convert("RGB").convert(mode)
    w, h = image.size
    if h * width > w * height:
        part = w * height / width
        box = (0, (h - part) / 2, w, (h + part) / 2)
    else:
        part = h * width / height
        box = ((w - part) / 2, 0, (w + part) / 2, h)
    return image.resize((width, height), Image.Resampling.BILINEAR, box=box).tobytes()


def predicted(data):
    shutil.rmtree("seen", ignore_errors=True)
    Path("seen").mkdir()
    run("./jpegs", "predict", "--load", "weights", "--output", "seen", "--test",
        f"image={data}/images.jpegs", "--test", f"gray={data}/images.jpegs", "--workers", 3)
    return [read_npy(Path(f"seen/{name}.npy"))[2] for name in ("seen", "level")]


def differences(folder, data, turned=True):
    """The largest and the mean difference from Pillow, of colours and of gray."""
    want = [[], []]
    for path in sorted(folder.glob("*/*.jpg")):
        want[0] += covered(path, 24, 30, "RGB", turned)
        want[1] += covered(path, 24, 30, "L", turned)
    result = []
    for have, wanted in zip(predicted(data), want, strict=True):
        off = [abs(a - b) for a, b in zip(have, wanted, strict=True)]
        result.append((max(off), sum(off) / len(off)))
    return result


def build(name, level, *flags):
    run(os.environ.get("CXX", "g++"), *os.environ.get("CXXFLAGS", "").split(), "-std=c++17",
        "-I", HERE.parent.parent / "runtime/host", level, *flags[:1], "-x", "c++", "jpegs.cu", "-x", "none",
        LIBHOST, "-lpthread", *flags[1:], "-o", name)


def train(name, *options, status=0, image="data/train/images.jpegs", gray=None, data="data"):
    images = ["--train", f"image={image}", "--train", f"gray={gray or image}"]
    words = ["./jpegs", "train", "--data", data, *images, "--epochs", 2, "--save", name, *options]
    return run(*words, status=status)


def refused(words, data, change, offset):
    """A file with other bytes at an offset is refused, by any number of threads."""
    path = Path("broken/images.jpegs")
    content = bytearray(Path(f"{data}/images.jpegs").read_bytes())
    content[offset:offset + len(change)] = change
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    for workers in (1, 3):
        said = run("./jpegs", "predict", "--load", "weights", "--output", "seen", "--test",
                   f"image={path}", "--test", f"gray={path}", "--workers", workers, status=1)
        expect(words in said, f"not told: {words}: {said}")


def check_pack():
    said = run(PACK, "small", "data/train", "--keep-jpeg")
    expect("8 images of 3 classes, JPEG files as they are; 0 other" in said, said)
    run(PACK, "small", "again", "--keep-jpeg", "--workers", 3)
    expect(Path("again/images.jpegs").read_bytes() == Path("data/train/images.jpegs").read_bytes(),
           "three workers make other bytes")
    content = Path("again/images.jpegs").read_bytes()
    kept = [path.read_bytes() for path in sorted(Path("small").glob("*/*.jpg"))]
    expect(content.endswith(b"".join(kept)) and len(content) == 64 + 32 * len(kept) +
           sum(map(len, kept)), "files are not kept as they are")
    expect(read_npy(Path("again/labels.npy"))[2] == (0, 0, 0, 1, 1, 1, 2, 2), "other labels")
    expect(not Path("again/images.npy").exists(), "there are pixels too")
    for option in ("--size", "8x8"), ("--gray",), ("--depth", "16"), ("--masks", "small"):
        said = run(PACK, "small", "refused", "--keep-jpeg", *option, status=2)
        expect(f"{option[0]}: can't be used with --keep-jpeg" in said, said)
    shutil.copytree("small", "faulty")
    Image.new("RGB", (9, 9)).save("faulty/a/png.png")
    path = Path("faulty/b/003.jpg")
    path.write_bytes(path.read_bytes()[:-200])
    said = run(PACK, "faulty", "refused", "--keep-jpeg", status=1)
    expect("faulty/a/png.png: is not JPEG" in said and "faulty/b/003.jpg: Premature end" in said,
           said)
    expect(not any(Path().glob("refused*")), "a folder is left")


def check_pixels():
    for (most, _), name in zip(differences(Path("small"), "data/train"), ("colours", "gray")):
        expect(most <= 2.01, f"{name}: {most} levels from Pillow")
    run(PACK, "large", "wide", "--keep-jpeg")
    near = differences(Path("large"), "wide")
    print(f"reduced: at most {near[0][0]} levels, {near[0][1]:.3f} in the mean; gray {near[1]}")
    for most, mean in near:
        expect(most < 6 and mean < 0.8, f"reduced: {most} levels, {mean} in the mean")
    run(PACK, "small", "stored", "--keep-jpeg", "--ignore-orientation")
    for most, _ in differences(Path("small"), "stored", turned=False):
        expect(most <= 2.01, f"as stored: {most} levels from Pillow")


def check_refusals():
    content = Path("data/train/images.jpegs").read_bytes()
    head = "broken/images.jpegs: "
    refused(head + "wanted version 1 of a file of JPEG files, found 2", "data/train", b"\2", 8)
    refused(head + "wanted 7", "data/train", b"\7\0\0\0\0\0\0\0", 24)
    refused(head + "its index is damaged", "data/train", b"\xff", 64 + 3 * 32 + 16)
    refused(head + "its index is damaged", "data/train", b"\xff\xff\xff\xff\xff", 16)
    offsets = [struct.unpack_from("<Q", content, 64 + 32 * i)[0] for i in range(8)]
    middle = (offsets[5] + offsets[6]) // 2
    refused(head + "sample 5: ", "data/train", bytes(300), middle)
    refused(head + "sample 2: Not a JPEG file", "data/train", b"\0", offsets[2])
    # The first of two damaged files in a batch is named.
    refused(head + "sample 5: ", "data/train", bytes(300) + content[middle + 300:offsets[6]] + b"\0",
            middle)
    said = train("w", "--train", "label=data/train/images.jpegs", status=1)
    expect("holds JPEG files; wanted an image of 1 or 3 channels, and input label is none" in said,
           said)
    said = run("./plain", "predict", "--load", "weights", "--output", "seen", "--test",
               "image=data/train/images.jpegs", "--test", "gray=data/train/images.jpegs", status=1)
    expect("which this program can't decode: compile it with -DCNNC_JPEG, and link it with -ljpeg"
           in said, said)


def check_training():
    train("weights", "--save-state", "state", "--flip")
    train("three", "--workers", 3, "--flip")
    expect(Path("weights").read_bytes() == Path("three").read_bytes(),
           "three threads make other weights")
    train("resumed", "--resume", "state", "--epochs", 3, "--flip")
    path = Path("data/train/images.jpegs")
    content = path.read_bytes()
    path.write_bytes(content[:-40] + bytes(38) + content[-2:])
    said = train("resumed", "--resume", "state", "--epochs", 3, "--flip", status=1)
    expect("the training set's image" in said and "fingerprint" in said, said)
    path.write_bytes(content)


def check_crops():
    """Resized crops of JPEG files are those of the same pixels in NPY files."""
    draw = random.Random(3)
    draw_set(draw, Path("equal"), [(60, 75)] * 24)
    Path("equal_data").mkdir()
    run(PACK, "equal", "equal_data/train", "--keep-jpeg")
    run(PACK, "equal", "pixels", "--size", "60x75")
    run(PACK, "equal", "levels", "--size", "60x75", "--gray")
    crops = ("--resized-crop", "0.2:0.6", "--flip")
    train("of_jpegs", *crops, data="equal_data", image="equal_data/train/images.jpegs")
    train("of_pixels", *crops, data="equal_data", image="pixels/images.npy", gray="levels/images.npy")
    expect(Path("of_jpegs").read_bytes() == Path("of_pixels").read_bytes(),
           "crops of JPEG files differ from those of their pixels")
    draw_set(draw, Path("other"), [(60, 74)] * 24)
    run(PACK, "other", "other_kept", "--keep-jpeg")
    said = train("of_both", *crops, data="equal_data", image="equal_data/train/images.jpegs",
                 gray="other_kept/images.jpegs", status=1)
    expect("--resized-crop: sample 0 of other_kept/images.jpegs is 60x74 pixels; wanted 60x75" in said,
           said)
    train("uncropped", "--flip", data="equal_data", image="equal_data/train/images.jpegs")
    expect(Path("of_jpegs").read_bytes() != Path("uncropped").read_bytes(), "nothing is cropped")
    draw_set(draw, Path("mixed"), [*LARGE, *LARGE[::-1]])
    run(PACK, "mixed", "mixed_kept", "--keep-jpeg")
    for workers in 1, 3:
        train(f"mixed_{workers}", *crops, "--workers", workers, image="mixed_kept/images.jpegs")
    expect(Path("mixed_1").read_bytes() == Path("mixed_3").read_bytes(),
           "three threads make other weights of crops")


def check_moves():
    """Images of JPEG files move by --crop as the same pixels in NPY files do."""
    draw_set(random.Random(4), Path("moved"), [(24, 30)] * 8)
    run(PACK, "moved", "moved_kept", "--keep-jpeg")
    run(PACK, "moved", "moved_pixels", "--size", "24x30")
    run(PACK, "moved", "moved_levels", "--size", "24x30", "--gray")
    moves = ("--crop", "5", "--flip", "--jitter", "0.2,0.2,0.2,0.1", "--rotate", "9")
    train("of_jpegs", *moves, image="moved_kept/images.jpegs")
    train("of_pixels", *moves, image="moved_pixels/images.npy", gray="moved_levels/images.npy")
    train("unmoved", *moves[2:], image="moved_kept/images.jpegs")
    same, still = (Path(name).read_bytes() for name in ("of_pixels", "unmoved"))
    expect(Path("of_jpegs").read_bytes() == same, "JPEG files move as no pixels do")
    expect(Path("of_jpegs").read_bytes() != still, "nothing moves")


def main():
    draw = random.Random(2)
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        draw_set(draw, Path("small"), SIDES)
        draw_set(draw, Path("large"), LARGE)
        Path("data").mkdir()
        check_pack()
        run(CNNC, "--main", HERE / "jpegs.cnn", "-o", "jpegs.cu")
        build("jpegs", "-O1", "-DCNNC_JPEG", "-ljpeg")
        build("plain", "-O0")
        check_training()
        check_crops()
        check_moves()
        check_pixels()
        check_refusals()
        os.chdir("/")
    print(f"{len(faults)} faults")
    return 1 if faults else 0


sys.exit(main())
