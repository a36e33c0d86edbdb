"""Pillow. Debian's package is for Debian's Python, which replaces one that has no Pillow."""
import os
import sys

try:
    from PIL import Image, ImageDraw, ImageOps  # noqa: F401
except ImportError:
    if sys.executable == "/usr/bin/python3":
        raise
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
