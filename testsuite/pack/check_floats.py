#!/usr/bin/env python3
"""Float images of NPY, PFM and TIFF against NumPy and Pillow, and a trainer that reads them.

usage: check_floats.py PACK [CNNC LIBHOST]

NumPy writes the NPY files, Pillow a TIFF file; PFM and the other TIFF files are written here by their
definitions. Pillow reads those of one channel. Packed numbers are the same; resized ones differ from
Pillow's by rounding only. With CNNC, a program of floats.cnn predicts the numbers of its files, and
those of 16-bit PNG files in 0 .. 1.
"""
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from checks import expect, faults
from pillow import Image
import numpy as np

HERE = Path(__file__).resolve().parent
PACK, *OTHERS = (str(Path(p).resolve()) for p in sys.argv[1:])
HEIGHT, WIDTH = 12, 20


def run(*command):
    result = subprocess.run([str(word) for word in command], text=True, check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return result.returncode, result.stdout


def pack(folder, *options):
    out = Path(f"packed{len(list(Path().glob('packed*')))}")
    status, said = run(PACK, folder, out, *options)
    expect(status == 0, f"{folder} {options}: status {status}: {said}")
    return np.load(out / "images.npy") if status == 0 else np.zeros(0)


# ---- files by their definitions -------------------------------------------------------------

def as_pfm(array, order):
    height, width = array.shape[:2]
    head = f"{'PF' if array.ndim == 3 else 'Pf'}\n{width} {height}\n{-1.0 if order == '<' else 2}\n"
    return head.encode() + array[::-1].astype(order + "f4").tobytes()


def as_tiff(array, order="<", rows=5, changes=(), after=0):
    """Strips of `rows` rows, then a directory, then values that are larger than four bytes.  `changes`
    replaces the type and values of tags."""
    height, width = array.shape[:2]
    channels = array.shape[2] if array.ndim == 3 else 1
    strips = [array[y:y + rows].astype(order + "f4").tobytes() for y in range(0, height, rows)]
    offsets = [8 + sum(map(len, strips[:i])) for i in range(len(strips))]
    fields = {256: ("H", [width]), 257: ("L", [height]), 258: ("H", [32] * channels),
              259: ("H", [1]), 262: ("H", [1]), 273: ("L", offsets), 277: ("H", [channels]),
              278: ("H", [rows]), 279: ("L", list(map(len, strips))), 284: ("H", [1]),
              339: ("H", [3] * channels), **dict(changes)}
    fields = {tag: field for tag, field in sorted(fields.items()) if field}
    start = 8 + sum(map(len, strips))
    end = start + 2 + 12 * len(fields) + 4
    out, values = struct.pack(order + "H", len(fields)), b""
    for tag, (kind, numbers) in fields.items():
        data = struct.pack(f"{order}{len(numbers)}{kind}", *numbers)
        out += struct.pack(order + "HHL", tag, {"B": 1, "H": 3, "L": 4}[kind], len(numbers))
        out += data.ljust(4, b"\0") if len(data) <= 4 else struct.pack(order + "L",
                                                                      end + len(values))
        values += data if len(data) > 4 else b""
    out += struct.pack(order + "L", after) + values
    head = struct.pack(order + "2sHL", b"II" if order == "<" else b"MM", 42, start)
    return head + b"".join(strips) + out


def npy_head(text, numbers=b"", version=1):
    text = text.encode() + b"\n"
    length = struct.pack("<H" if version == 1 else "<L", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + numbers


def numbers_of(draw, *shape):
    """Numbers of any size and sign, and zeros of both signs."""
    array = (draw.normal(size=shape) * 10.0 ** draw.integers(-30, 31, shape)).astype("f4")
    array.flat[:3] = 0.0, -0.0, 3.4e38
    return array


# ---- the same numbers -----------------------------------------------------------------------

def check_formats(draw):
    folder = Path("one/class")
    folder.mkdir(parents=True)
    arrays = [numbers_of(draw, HEIGHT, WIDTH) for _ in range(8)]
    np.save(folder / "0.npy", arrays[0])
    np.save(folder / "1.npy", arrays[1][:, :, None])
    (folder / "2.pfm").write_bytes(as_pfm(arrays[2], "<"))
    (folder / "3.pfm").write_bytes(as_pfm(arrays[3], ">"))
    Image.fromarray(arrays[4], "F").save(folder / "4.tif")
    (folder / "5.TIFF").write_bytes(as_tiff(arrays[5], ">"))
    (folder / "6.npy").write_bytes(npy_head(
        f'{{"shape": ({HEIGHT},{WIDTH}) , "fortran_order":False,"descr": "<f4"}}',
        arrays[6].tobytes(), 2))
    # Orientation 6: the first row as stored is the right column.
    (folder / "7.tif").write_bytes(as_tiff(np.rot90(arrays[7]), "<", 100,
                                           [(274, ("H", [6]))]))
    for name, array in (("5.TIFF", arrays[5]), ("7.tif", arrays[7])):
        with Image.open(folder / name) as image:
            image.load()        # turns it
            expect(np.array_equal(np.asarray(image), array), f"Pillow reads another {name}")
    for options in ((), ("--size", f"{HEIGHT}x{WIDTH}", "--workers", "3")):
        have = pack("one", *options)
        expect(have.dtype == "<f4" and np.array_equal(have[..., 0], arrays),
               f"{options}: other numbers of one channel")
    folder = Path("three/class")
    folder.mkdir(parents=True)
    arrays = [numbers_of(draw, HEIGHT, WIDTH, 3) for _ in range(4)]
    np.save(folder / "0.npy", arrays[0])
    (folder / "1.pfm").write_bytes(as_pfm(arrays[1], ">"))
    (folder / "2.tif").write_bytes(as_tiff(arrays[2], "<", 7, [(262, ("H", [2]))]))
    (folder / "3.tif").write_bytes(as_tiff(arrays[3], ">", 12))
    expect(np.array_equal(pack("three"), arrays), "other numbers of three channels")


def check_sizes(draw):
    """Without --size, images of 8 bits keep their size too."""
    folder = Path("bytes/class")
    folder.mkdir(parents=True)
    images = draw.integers(0, 256, (2, 5, 9, 3)).astype("u1")
    for i, image in enumerate(images):
        Image.fromarray(image).save(folder / f"{i}.png")
    have = pack("bytes")
    expect(have.dtype == "u1" and np.array_equal(have, images), "bytes without --size differ")
    Image.new("RGB", (8, 5)).save(folder / "2.png")
    refuses(1, "class/2.png: is 5 x 8 pixels: wanted 5 x 9, as the first image", "bytes")


# ---- resizing -------------------------------------------------------------------------------

def shown(height, width, size):
    """The part of an image that is packed: left, top, right, bottom."""
    if height * size[1] > width * size[0]:
        part = width * size[0] / size[1]
        return 0, (height - part) / 2, width, (height + part) / 2
    part = height * size[1] / size[0]
    return (width - part) / 2, 0, (width + part) / 2, height


def check_resizing(draw):
    sides = [(12, 20), (13, 40), (50, 31), (7, 9), (24, 40)]
    arrays = [(draw.normal(size=(*side, 2)) * 1000 - 300).astype("f4") for side in sides]
    Path("sides/class").mkdir(parents=True)
    for i, array in enumerate(arrays):
        np.save(f"sides/class/{i}.npy", array)
    size = (HEIGHT, WIDTH)
    for options in ((), ("--stretch",)):
        have = pack("sides", "--size", f"{HEIGHT}x{WIDTH}", *options)
        far = 0
        for i, array in enumerate(arrays):
            box = (0, 0, *array.shape[1::-1]) if options else shown(*array.shape[:2], size)
            for c in range(2):
                want = np.asarray(Image.fromarray(array[..., c].copy(), "F").resize(
                    size[::-1], Image.Resampling.BILINEAR, box=box))
                far = max(far, np.abs(have[i, ..., c] - want).max())
        # Pillow rounds the sides of the box to f32.
        expect(far <= 1e-2, f"{options}: resized numbers are {far} off")


# ---- refusals -------------------------------------------------------------------------------

def refuses(status, words, folder, *options):
    have, said = run(PACK, folder, "refused", *options)
    expect(have == status and words in said, f"{words}: status {have}: {said}")
    expect(not any(Path().glob("refused*")), f"{words}: a folder is left")


def check_broken(draw):
    """Each of these files is refused by name, as the first of a set and as the second."""
    good = draw.normal(size=(HEIGHT, WIDTH)).astype("f4")
    rgb = draw.normal(size=(HEIGHT, WIDTH, 3)).astype("f4")
    spoiled = good.copy()
    spoiled[3, 7] = np.nan
    endless = rgb.copy()
    endless[11, 19, 2] = -np.inf
    npy = npy_head("{'descr': '<f4', 'fortran_order': False, 'shape': (12, 20)}", good.tobytes())
    pfm, tiff = as_pfm(good, "<"), as_tiff(good)
    files = [
        ("npy", npy.replace(b"<f4", b">f4"), "is NPY of >f4: wanted <f4"),
        ("npy", npy.replace(b"<f4", b"<f8"), "is NPY of <f8: wanted <f4"),
        ("npy", npy.replace(b"False", b" True"), "is NPY in Fortran's order: wanted C's"),
        ("npy", npy_head("{'descr': '<f4', 'fortran_order': False, 'shape': (12, 20, 1, 1)}",
                         good.tobytes()), "is NPY of 4 dimensions: wanted [height, width]"),
        ("npy", npy.replace(b"(12, 20)", b"(12, 19)"),
         "has 960 bytes of numbers: wanted 912, for 12 x 19 pixels of 1 channels"),
        ("npy", npy[:-1], "has 959 bytes of numbers: wanted 960"),
        ("npy", npy.replace(b"(12, 20)", b"(0 , 20)"), "states a size of 0 x 20 pixels"),
        ("npy", npy.replace(b"(12, 20)", b"(1<<9,2)"), "wanted , or ) at byte 52 of its header"),
        ("npy", npy_head("{'descr': '<f4', 'fortran_order': False, 'shape': (999999999, 9)}"),
         "states a size of 999999999 x 9 pixels"),
        ("npy", npy.replace(b"(12, 20)", b"(12, -2)"), "wanted a number of 1 to 9 digits at byte"),
        ("npy", npy.replace(b"'descr'", b"'shape'"), "wanted ( at byte 10 of its header"),
        ("npy", npy[:40], "ends in its header"), ("npy", npy[:9], "ends in its header"),
        ("npy", npy.replace(b"Y\1", b"Y\4"), "is NPY of version 4: wanted 1 to 3"),
        ("npy", np_bytes(spoiled), "has NaN in row 3, column 7, channel 0 (all from 0)"),
        ("npy", np_bytes(endless), "has infinity in row 11, column 19, channel 2"),
        ("pfm", as_pfm(endless, ">"), "has infinity in row 11, column 19, channel 2"),
        ("pfm", pfm[:-1], "has 959 bytes after its head: wanted 960, for 12 x 20 pixels"),
        ("pfm", pfm + b"\n", "has 961 bytes after its head"),
        ("pfm", pfm.replace(b"20 12", b"20 x2"), "byte 9 of its head ends no width or height"),
        ("pfm", pfm.replace(b"-1.0", b"-0.0"), "ends no scale: wanted a number other than 0"),
        ("pfm", pfm[:12], "byte 12 of its head ends no scale"),
        ("tif", as_tiff(good, changes=[(259, ("H", [5]))]),
         "value 5 of tag 259: wanted 1, no compression"),
        ("tif", as_tiff(good, changes=[(339, None)]), "value 1 of tag 339: wanted 3"),
        ("tif", as_tiff(good, changes=[(258, ("H", [64]))]), "value 64 of tag 258: wanted 32"),
        ("tif", as_tiff(rgb, changes=[(258, ("H", [32, 32, 16]))]), "value 16 of tag 258"),
        ("tif", as_tiff(rgb, changes=[(284, ("H", [2]))]), "value 2 of tag 284: wanted 1"),
        ("tif", as_tiff(good, changes=[(262, ("H", [0]))]), "value 0 of tag 262: wanted 1 or 2"),
        ("tif", as_tiff(good, changes=[(322, ("H", [16]))]), "is TIFF of tiles: wanted strips"),
        ("tif", as_tiff(good, after=8), "is TIFF of several images: wanted one"),
        ("tif", as_tiff(good, changes=[(256, ("H", [200]))]), "bytes: wanted 9600 and more"),
        ("tif", as_tiff(good, changes=[(278, ("H", [4]))]), "strip 0 has 400 bytes: wanted 320"),
        ("tif", as_tiff(good, changes=[(278, ("H", [0]))]), "is TIFF with strips of 0 rows"),
        ("tif", as_tiff(good, changes=[(278, ("H", [3]))]), "offsets and 3 sizes of strips: wanted 4"),
        ("tif", as_tiff(good, changes=[(273, ("L", [8, 408, 1000]))]), "end before strip 2 does"),
        ("tif", as_tiff(good, changes=[(256, ("B", [20]))]), "type 1 of tag 256: wanted 3 or 4"),
        ("tif", tiff[:-4], "of tag 279 at byte"),
        ("tif", tiff[:980], "its directory at byte 968 of 980 is not complete"),
        ("tif", tiff.replace(b"II*", b"II+"), "is BigTIFF"),
        ("tif", b"II*", "is neither NPY, PFM nor TIFF"),
    ]
    Path("broken/class").mkdir(parents=True)
    np.save("broken/class/000.npy", good)
    for i, (ending, data, _) in enumerate(files[:20]):
        Path(f"broken/class/{i + 1:03}.{ending}").write_bytes(data)
    _, said = run(PACK, "broken", "refused", "--size", "4x4", "--workers", "2")
    for i, (ending, _, words) in enumerate(files[:20]):
        expect(any(f"{i + 1:03}.{ending}: " in line and words in line for line in
                   said.splitlines()), f"{i + 1:03}.{ending}: not told: {words}\n{said}")
    for ending, data, words in files[20:]:
        for path in Path("broken/class").glob("*"):
            path.unlink()
        Path(f"broken/class/first.{ending}").write_bytes(data)
        # A file that does not begin as a float image begins a set of other images.
        words = words if len(data) > 4 else "is neither JPEG nor PNG"
        refuses(1, f"broken/class/first.{ending}: ", "broken")
        refuses(1, words, "broken")


def np_bytes(array):
    np.save("bytes.npy", array)
    data = Path("bytes.npy").read_bytes()
    Path("bytes.npy").unlink()
    return data


def check_mixtures(draw):
    folder = Path("mixed/class")
    folder.mkdir(parents=True)
    np.save(folder / "1.npy", draw.normal(size=(6, 8, 3)).astype("f4"))
    np.save(folder / "2.npy", draw.normal(size=(6, 7, 3)).astype("f4"))
    refuses(1, "mixed/class/2.npy: is 6 x 7 pixels: wanted 6 x 8, as the first image of the set "
            "is; --size HxW resizes", "mixed")
    np.save(folder / "2.npy", draw.normal(size=(6, 8)).astype("f4"))
    refuses(1, "mixed/class/2.npy: has 1 channels: wanted 3", "mixed", "--size", "4x4")
    Image.new("RGB", (8, 6)).save(folder / "2.png")
    (folder / "2.npy").unlink()
    refuses(1, "mixed/class/2.png: is JPEG or PNG: wanted NPY, PFM or TIFF", "mixed")
    Image.new("RGB", (8, 6)).save(folder / "0.png")
    refuses(1, "mixed/class/1.npy: is a float image: wanted JPEG or PNG", "mixed")
    for path in folder.glob("*.png"):
        path.unlink()
    refuses(2, "--gray: can't be used with float images", "mixed", "--gray")
    refuses(2, "--depth: can't be used with float images", "mixed", "--depth", "16")
    np.save("mixed/mean.npy", np.zeros(3))
    expect(pack("mixed").shape == (1, 6, 8, 3), "an array outside of the classes is an image")
    (folder / "deep").mkdir()
    np.save(folder / "deep/3.npy", np.zeros((6, 8, 3), "f4"))
    refuses(3, "mixed/class/deep/3.npy: is an image in a subfolder of a class", "mixed")


# ---- the trainer ----------------------------------------------------------------------------

def predictions(data, *options):
    status, said = run("./floats", "predict", "--data", data, "--load", "weights.safetensors",
                       "--output", "given", *options)
    expect(status == 0, said)
    return np.load("given/values.npy"), np.load("given/shares.npy")


def check_trainer(draw, cnnc, libhost):
    for name in ("reals", "words"):
        for kind in "ab":
            Path(f"{name}/{kind}").mkdir(parents=True)
    reals = (draw.normal(size=(8, HEIGHT, WIDTH, 1)) * 1000).astype("f4")
    words = draw.integers(0, 65536, (8, HEIGHT, WIDTH, 1))
    for i in range(8):
        place = f"{'ab'[i // 4]}/{i}"
        np.save(f"reals/{place}.npy", reals[i])
        Image.fromarray(words[i, ..., 0].astype("i4"), "I").save(f"words/{place}.png")
    for data, *options in (("reals",), ("words", "--depth", "16", "--gray")):
        for part in ("train", "test"):
            Path("data", data).mkdir(parents=True, exist_ok=True)
            status, said = run(PACK, data, f"data/{data}/{part}", *options)
            expect(status == 0, said)
    run(cnnc, "--main", HERE / "floats.cnn", "-o", "floats.cu")
    status, said = run(os.environ.get("CXX", "g++"), *os.environ.get("CXXFLAGS", "").split(),
                       "-std=c++17", "-O1", "-I", HERE.parent.parent / "runtime/host", "-x", "c++",
                       "floats.cu", "-x", "none", libhost, "-lpthread", "-o", "floats")
    expect(status == 0, said)
    status, said = run("./floats", "train", "--data", "data/reals", "--save",
                       "weights.safetensors")
    expect(status == 0, said)
    values, _ = predictions("data/reals")
    expect(np.array_equal(values, reals), "the trainer changes float numbers")
    values, shares = predictions("data/words")
    expect(np.array_equal(values, words), "the trainer divides numbers of 16 bits")
    expect(np.abs(shares - words / 65535).max() < 1e-6, "scale(1/65535) makes other numbers")
    values, _ = predictions("data/words", "--std", "65535")
    expect(np.abs(values - words / 65535).max() < 1e-6, "--std 65535 makes other numbers")


def main():
    draw = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for check in (check_formats, check_sizes, check_resizing, check_broken, check_mixtures):
            check(draw)
        if OTHERS:
            check_trainer(draw, *OTHERS)
        os.chdir("/")
    return len(faults) > 0


if __name__ == "__main__":
    sys.exit(main())
