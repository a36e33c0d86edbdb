#!/usr/bin/env python3
"""examples/airbench94: the whitening layer is computed from images, taken, and never trained.

    check_whiten.py CNNC EXAMPLES HOST LIBHOST

The images are drawn, with neighbours that are alike. On the patches of them the outputs of the first
half of the filters have the covariance 1, and the second half are the negatives. A trainer takes the
file by --init, and has the same bits in it after an epoch.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
except ImportError:             # Debian's package is for Debian's Python
    if sys.executable == "/usr/bin/python3":
        raise
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from distance import read_safetensors  # noqa: E402

IMAGES, CLASSES = 320, 10
MEAN, STD = np.array([0.4914, 0.4822, 0.4465]), np.array([0.2470, 0.2435, 0.2616])


def tensor(path):
    """The filters of a file of weights."""
    return np.array(read_safetensors(path)["whiten.weight"]).reshape(24, 2, 2, 3)


def draw(path, seed):
    """A file of CIFAR-10's records; the images as [n, h, w, 3]."""
    random = np.random.default_rng(seed)
    coarse = random.uniform(0, 255, (IMAGES, 8, 8, 3)).repeat(4, 1).repeat(4, 2)
    mixed = coarse @ np.array([[0.6, 0.3, 0.1], [0.3, 0.5, 0.2], [0.2, 0.2, 0.6]])
    pixels = np.clip(mixed + random.normal(0, 9, mixed.shape), 0, 255).astype(np.uint8)
    labels = random.integers(0, CLASSES, IMAGES).astype(np.uint8)
    path.write_bytes(b"".join(bytes([label]) + image.transpose(2, 0, 1).tobytes()
                              for label, image in zip(labels, pixels)))
    return pixels


def check_filters(filters, pixels):
    half = len(filters) // 2
    assert (filters[half:] == -filters[:half]).all(), "the second half are no negatives"
    x = (pixels / 255 - MEAN) / STD
    outputs = sum(np.einsum("nhwc,kc->nhwk", x[:, i:31 + i, j:31 + j], filters[:half, i, j])
                  for i in (0, 1) for j in (0, 1)).reshape(-1, half)
    covariance = outputs.T @ outputs / len(outputs)
    assert np.abs(covariance - np.diag(np.diag(covariance))).max() < 1e-4, "outputs depend"
    # The denominators have 5e-4 in addition.
    assert (np.diag(covariance) > 0.9).all() and (np.diag(covariance) < 1).all(), \
        f"variances {np.diag(covariance)}"


def main(cnnc, examples, host, library):
    example = Path(examples, "airbench94")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        pixels = draw(work / "data_batch_1.bin", 1)
        draw(work / "test_batch.bin", 2)
        command = [sys.executable, example / "whiten.py", work]
        subprocess.run([*command, work / "whiten"], check=True)
        filters = tensor(work / "whiten")
        check_filters(filters, pixels)
        subprocess.run([cnnc, "--main", "-D", "width=4", "--batch", "64", "-o", work / "net.cu",
                        example / "airbench94.cnn"], check=True)
        subprocess.run([os.environ.get("CXX", "clang++"), "-std=c++17", "-O0", "-I", host, "-x", "c++",
                        work / "net.cu", "-x", "none", library, "-lpthread", "-o", work / "net"],
                       check=True)
        said = subprocess.run([work / "net", "train", "--train-images", work / "data_batch_1.bin", "--test-images",
                               work / "test_batch.bin", "--epochs", "1", "--init",
                               work / "whiten", "--save", work / "after"], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        assert "taken 1 of 33" in said, said
        assert (tensor(work / "after") == filters).all(), "the filters moved"
        (work / "data_batch_1.bin").write_bytes(b"123")
        failed = subprocess.run([*command, work / "no"], stderr=subprocess.PIPE, text=True)
        assert failed.returncode and "wanted records of 3073 bytes, found 3 bytes" in failed.stderr
        assert not (work / "no").exists()
    print("whitening: 12 filters and their negatives, frozen")


main(*sys.argv[1:])
