#!/usr/bin/env python3
"""Random images, packed at their own size, compared with Pillow.

usage: check_pillow.py PACK [COUNT [SEED]]

Draws COUNT (200) PNG and JPEG files of every mode, depth and orientation, with odd sizes.  Pillow
writes a part of the PNG files; an encoder below writes those that Pillow can't: 16-bit colours,
interlacing, filters, gAMA, sRGB, tRNS and EXIF in any place.  Each pixel of images.npy is within
one level of Pillow's: EXIF orientation applied, alpha over white.  Pillow keeps the high byte of
16-bit colours and does not scale tRNS of gray below 8 bits; for these files the expected pixels
come from the samples that were written.
"""
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

from pillow import Image, ImageOps

SIZES = [(1, 1), (1, 9), (5, 3), (16, 16), (17, 33), (40, 8)]
GRAY, COLOUR, PALETTE, GRAY_ALPHA, COLOUR_ALPHA = 0, 2, 3, 4, 6
CHANNELS = {GRAY: 1, COLOUR: 3, PALETTE: 1, GRAY_ALPHA: 2, COLOUR_ALPHA: 4}
DEPTHS = {GRAY: (1, 2, 4, 8, 16), COLOUR: (8, 16), PALETTE: (1, 2, 4, 8), GRAY_ALPHA: (8, 16),
          COLOUR_ALPHA: (8, 16)}
TURNS = {2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180,
         4: Image.Transpose.FLIP_TOP_BOTTOM, 5: Image.Transpose.TRANSPOSE,
         6: Image.Transpose.ROTATE_270, 7: Image.Transpose.TRANSVERSE,
         8: Image.Transpose.ROTATE_90}
# Row and column where a pass of Adam7 starts, and its steps.
ADAM7 = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2),
         (1, 0, 2, 1)]


def exif(draw, orientation):
    """A TIFF structure of either byte order, with a tag before the orientation."""
    order = draw.choice("<>")
    wide = draw.random() < 0.3
    value = struct.pack(order + ("L" if wide else "Hxx"), orientation)
    return (struct.pack(order + "2sHL", b"II" if order == "<" else b"MM", 42, 8) +
            struct.pack(order + "HHHLHxx", 2, 0x0103, 3, 1, 6) +
            struct.pack(order + "HHL", 0x0112, 4 if wide else 3, 1) + value + bytes(4))


# ---- PNG as Pillow can't write it --------------------------------------------------

def chunk(kind, data):
    return (struct.pack(">L", len(data)) + kind + data +
            struct.pack(">L", zlib.crc32(kind + data)))


def pack_row(row, depth):
    """Bytes of a row's samples, the first one in the high bits."""
    if depth == 16:
        return b"".join(struct.pack(">H", v) for v in row)
    bits = "".join(format(v, f"0{depth}b") for v in row)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))


def paeth(a, b, c):
    p = a + b - c
    return min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]


def filtered(draw, row, above, step):
    kind = draw.randrange(5)
    out = bytearray([kind])
    for i, value in enumerate(row):
        a = row[i - step] if i >= step else 0
        b = above[i]
        c = above[i - step] if i >= step else 0
        out.append((value - (0, a, b, (a + b) // 2, paeth(a, b, c))[kind]) & 255)
    return bytes(out)


def image_data(draw, samples, depth, channels, interlaced):
    out = b""
    for top, left, down, right in ADAM7 if interlaced else [(0, 0, 1, 1)]:
        above = None
        for line in samples[top::down]:
            pixels = line[left::right]
            if not pixels:
                continue
            row = pack_row([v for pixel in pixels for v in pixel], depth)
            out += filtered(draw, row, above or bytes(len(row)), max(1, channels * depth // 8))
            above = row
    return zlib.compress(out, draw.randrange(10))


class Drawn:
    """A PNG of random samples: its bytes, and its pixels by the PNG standard."""

    def __init__(self, draw, height, width, orientation):
        self.kind = draw.choice(list(CHANNELS))
        self.depth = draw.choice(DEPTHS[self.kind])
        most = (1 << self.depth) - 1
        self.palette = [tuple(draw.randrange(256) for _ in range(3)) for _ in range(most + 1)] \
            if self.kind == PALETTE else None
        self.samples = [[tuple(draw.choice((0, most, draw.randrange(most + 1)))
                               for _ in range(CHANNELS[self.kind])) for _ in range(width)]
                        for _ in range(height)]
        self.clear = None
        if self.kind in (GRAY, COLOUR, PALETTE) and draw.random() < 0.4:
            pixel = draw.choice(draw.choice(self.samples))
            self.clear = [draw.randrange(256) for _ in range(draw.randint(1, most + 1))] \
                if self.kind == PALETTE else pixel
        self.bytes = self.file(draw, height, width, orientation)

    def by_standard(self):
        """True if Pillow gives other pixels than the standard and 16-bit rounding."""
        return self.depth == 16 or self.depth < 8 and self.kind == GRAY and self.clear is not None

    def file(self, draw, height, width, orientation):
        interlaced = draw.random() < 0.4
        before = []
        if draw.random() < 0.3:
            before.append(chunk(b"gAMA", struct.pack(">L", draw.choice((45455, 100000, 20000)))))
        if draw.random() < 0.3:
            before.append(chunk(b"sRGB", b"\0"))
        if self.palette:
            before.append(chunk(b"PLTE", b"".join(map(bytes, self.palette))))
        if self.clear is not None:
            before.append(chunk(b"tRNS", bytes(self.clear) if self.palette else
                                struct.pack(f">{len(self.clear)}H", *self.clear)))
        data = image_data(draw, self.samples, self.depth, CHANNELS[self.kind], interlaced)
        cut = draw.randrange(len(data))
        after = []
        if orientation:
            tag = exif(draw, orientation)
            chunks = draw.choice((before, after))
            if draw.random() < 0.7:
                chunks.append(chunk(b"eXIf", tag))
            else:
                digits = (b"Exif\0\0" + tag).hex()
                lines = "\n".join(digits[i:i + 72] for i in range(0, len(digits), 72))
                text = f"\nexif\n{len(digits) // 2:8}\n{lines}\n".encode()
                chunks.append(chunk(b"zTXt", b"Raw profile type exif\0\0" + zlib.compress(text)))
        return b"".join([b"\x89PNG\r\n\x1a\n",
                         chunk(b"IHDR", struct.pack(">LLBBBBB", width, height, self.depth,
                                                    self.kind, 0, 0, interlaced)),
                         *before, chunk(b"IDAT", data[:cut]), chunk(b"IDAT", data[cut:]), *after,
                         chunk(b"IEND", b"")])

    def level(self, value):
        """A sample in 8 bits, to the nearest."""
        most = (1 << self.depth) - 1
        return (2 * 255 * value + most) // (2 * most)

    def rgba(self, pixel):
        if self.palette:
            clear = self.clear or []
            return *self.palette[pixel[0]], clear[pixel[0]] if pixel[0] < len(clear) else 255
        alpha = 255
        if self.kind in (GRAY_ALPHA, COLOUR_ALPHA):
            alpha = self.level(pixel[-1])
        elif pixel == self.clear:
            alpha = 0
        colours = [self.level(v) for v in pixel[:1 if self.kind in (GRAY, GRAY_ALPHA) else 3]]
        return *(colours * 3)[:3], alpha

    def image(self):
        image = Image.new("RGBA", (len(self.samples[0]), len(self.samples)))
        image.putdata([self.rgba(pixel) for line in self.samples for pixel in line])
        return image


# ---- files by Pillow ----------------------------------------------------------------

def noise(draw, mode, height, width):
    """A smooth image under noise: JPEG's colours are subsampled."""
    image = Image.new(mode, (width, height))
    bands = len(image.getbands())
    base = [draw.randrange(256) for _ in range(bands)]
    pixels = [tuple(max(0, min(255, b + 5 * x - 3 * y + draw.randint(-60, 60))) for b in base)
              for y in range(height) for x in range(width)]
    image.putdata(pixels if bands > 1 else [p[0] for p in pixels])
    return image


def write_jpeg(draw, path, height, width, orientation):
    mode = draw.choice(("L", "RGB", "RGB", "CMYK"))
    extra = {"exif": b"Exif\0\0" + exif(draw, orientation)} if orientation else {}
    if mode == "RGB":
        extra["subsampling"] = draw.randrange(3)
    noise(draw, mode, height, width).save(path, "JPEG", quality=draw.randint(20, 100),
                                          progressive=draw.random() < 0.4, **extra)


def write_png(draw, path, height, width, orientation):
    mode = draw.choice(("1", "L", "LA", "P", "RGB", "RGBA"))
    image = noise(draw, "RGB" if mode in ("1", "P") else mode, height, width)
    if mode in ("1", "P"):
        image = image.convert(mode, palette=Image.Palette.ADAPTIVE)
    extra = {"exif": exif(draw, orientation)} if orientation else {}
    if mode in ("L", "RGB", "P") and draw.random() < 0.5:
        extra["transparency"] = image.getpixel((0, 0))
    image.save(path, "PNG", **extra)


def write(draw, path, height, width):
    """Writes one image, `height` x `width` once it is turned.  Returns it drawn, or None."""
    orientation = draw.choice((None, None, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9))
    if orientation and 5 <= orientation <= 8:
        height, width = width, height
    if path.suffix == ".png":
        if draw.random() < 0.35:
            return write_png(draw, path, height, width, orientation)
        drawn = Drawn(draw, height, width, orientation)
        path.write_bytes(drawn.bytes)
        return drawn, orientation
    return write_jpeg(draw, path, height, width, orientation)


def expected(path, drawn, ignored):
    """The image over white: in Pillow's pixels, or those of the samples."""
    if drawn and drawn[0].by_standard():
        image, turn = drawn[0].image(), TURNS.get(drawn[1])
        if turn is not None and not ignored:
            image = image.transpose(turn)
    else:
        image = Image.open(path)
        image = image if ignored else ImageOps.exif_transpose(image)
    if image.mode in ("LA", "RGBA") or "transparency" in image.info:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return image.convert("RGB")


# ---- the check ----------------------------------------------------------------------

def check(pack, folder, files, size, options):
    """Returns the largest difference in levels, and prints each file above 1."""
    out = folder.parent / "packed"
    subprocess.run([pack, folder, out, "--size", f"{size[0]}x{size[1]}", *options], check=True,
                   stdout=subprocess.DEVNULL)
    channels = 1 if "--gray" in options else 3
    packed = (out / "images.npy").read_bytes()
    packed = packed[len(packed) - len(files) * size[0] * size[1] * channels:]
    shutil.rmtree(out)
    bytes_each = size[0] * size[1] * channels
    most = 0
    for i, (path, drawn) in enumerate(files):
        image = expected(path, drawn, "--ignore-orientation" in options)
        want = image.convert("L" if channels == 1 else "RGB").tobytes()
        have = packed[i * bytes_each:(i + 1) * bytes_each]
        off = max(abs(a - b) for a, b in zip(want, have, strict=True))
        if off > 1:
            made = f"type {drawn[0].kind}, depth {drawn[0].depth}" if drawn else "Pillow"
            print(f"{path.name} ({made}) {' '.join(options)}: {off} levels from Pillow")
        most = max(most, off)
    return most


def main():
    pack = Path(sys.argv[1]).resolve()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    draw = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    most, compared = 0, 0
    with tempfile.TemporaryDirectory() as work:
        for k, size in enumerate(SIZES):
            folder = Path(work) / str(k) / "images"
            (folder / "class").mkdir(parents=True)
            files = []
            for i in range(k * count // len(SIZES), (k + 1) * count // len(SIZES)):
                ending = draw.choice(("png", "png", "png", "jpg", "jfif"))
                path = folder / "class" / f"{i:04}.{ending}"
                files.append((path, write(draw, path, *size)))
            for options in ((), ("--gray",), ("--ignore-orientation",)):
                # Images that are not turned have one size here if it is square.
                if options != ("--ignore-orientation",) or size[0] == size[1]:
                    most = max(most, check(pack, folder, files, size, options))
                    compared += len(files)
    print(f"{count} files, {compared} images compared: at most {most} levels from Pillow")
    return most > 1


if __name__ == "__main__":
    sys.exit(main())
