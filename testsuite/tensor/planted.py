#!/usr/bin/env python3
"""Faults planted in the primitives of tensor-core products and in their tiles, each of which a test
that is named with it tells.

    planted.py CXX ROOT LIBRARY

LIBRARY is the host runtime's.  The tests are compiled against a copy of runtime/support.
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from plant_faults import is_chosen, look, looks, text_with_fault  # noqa: E402

# The planted faults: the test, a file of runtime/support/gemm, a text in it, and the replacement.
FAULTS = {
    "none, in layouts": ("layouts", "mma.cuh", "", ""),
    "none, in tiles": ("tiles", "tensor.cuh", "", ""),
    "the lower rows are the upper": ("layouts", "mma.cuh", "lane / 4 + i / 2 * 8", "lane / 4"),
    "columns are not neighbours":
        ("layouts", "mma.cuh", "lane % 4 * 2 + i % 2;", "lane % 4 + i % 2 * 4;"),
    "the second half of the steps is the first":
        ("layouts", "mma.cuh", ".b[part], k % PER)", ".b[0], k % PER)"),
    "a's registers are in another order":
        ("layouts", "mma.cuh", ".a[row / 8 + 2 * part]", ".a[row / 8 * 2 + part]"),
    "the upper half of a word keeps the lower":
        ("layouts", "mma_bf16.cuh", "word & 0xffff0000u", "word"),
    "f16 has another bias": ("layouts", "mma_f16.cuh", "exponent + 112", "exponent + 111"),
    "all matrices are the first": ("layouts", "mma.cuh", "rows[8 * m + lane / 4]", "rows[lane / 4]"),
    "turned matrices are not turned":
        ("layouts", "mma.cuh", "rows[8 * m + 2 * (lane % 4) + half] + 2 * (lane / 4)",
         "rows[8 * m + lane / 4] + 2 * (2 * (lane % 4) + half)"),
    "TF32 is cut off": ("layouts", "mma_tf32.cuh", "(bits + 0x1000u)", "bits"),
    "ties are rounded down": ("layouts", "mma_tf32.cuh", "(bits + 0x1000u)", "(bits + 0x0fffu)"),
    "infinity is rounded": ("layouts", "mma_tf32.cuh", "return finite ?", "return true ?"),
    "what is outside is copied":
        ("layouts", "mma.cuh", "host_copy_later(to, from, BYTES, inside)",
         "host_copy_later(to, from, BYTES, true)"),
    "a wait is for all": ("layouts", "mma.cuh", "host_wait_for_copies(PENDING)",
                          "host_wait_for_copies(0)"),
    "the tile outside is not zero":
        ("tiles", "tensor.cuh", "inside ? from : 0], inside)", "inside ? from : 0], true)"),
    "a tile is not waited for":
        ("tiles", "tensor.cuh", "wait_for_copies<AHEAD - 1>()", "wait_for_copies<AHEAD>()"),
    "no barrier": ("tiles", "tensor.cuh", "            __syncthreads();\n", ""),
    "a tile is overwritten while it is read":
        ("tiles", "tensor.cuh", "const int next = now > 0 ? now - 1 : AHEAD;", "const int next = now;"),
    "the next tile but one is read": ("tiles", "tensor.cuh", "begin + AHEAD * DEPTH;",
                                      "begin + (AHEAD + 1) * DEPTH;"),
    "the columns of a warp lie together":
        ("tiles", "tensor.cuh", "(j * WARPS_WIDE + warp() % WARPS_WIDE) * 16",
         "warp() % WARPS_WIDE * 16 + j * 8"),
    "rows are those of the first warp":
        ("tiles", "tensor.cuh", "warp() / WARPS_WIDE * WARP_R", "0"),
    "a's halves change places":
        ("tiles", "tensor.cuh", "{left[i][0][0], left[i][1][0], left[i][0][1],",
         "{left[i][0][0], left[i][0][1], left[i][1][0],"),
    "what is computed is not stored":
        ("tiles", "tensor.cuh", "                LoadA::end(a, shared.rows[next]);\n", ""),
    "rows are not exchanged":
        ("tiles", "tensor.cuh", "row / (8 / CHUNKS) % CHUNKS", "0"),
    "rows of lanes are not exchanged": ("tiles", "mma_tf32.cuh", "return 2 * (row % 4);", "return 0;"),
    "matrices of 16 bits meet in banks":
        ("tiles", "mma_16.cuh", "CHUNKS >= 8 ? row % 8 : row / 2 % 4", "row % 4"),
    "steps of a turned matrix are lanes":
        ("tiles", "mma_16.cuh", "step + matrix % 2 * 8", "step + matrix / 2 * 8"),
    "a bias is of every other step":
        ("tiles", "tensor.cuh", "for (int k = 0; k < DEPTH; k++)\n                    row_sum",
         "for (int k = 0; k < DEPTH; k += 2)\n                    row_sum"),
}


def planted(folder, root, fault):
    """True if the test that is named fails where the fault is."""
    compiler, library = sys.argv[1], os.path.abspath(sys.argv[3])
    test, name, old, new = fault
    place = os.path.join(folder, "runtime/support/gemm", name)
    original = os.path.join(root, "runtime/support/gemm", name)
    with open(place, "w", encoding="utf-8") as file:
        file.write(text_with_fault(original, old, new))
    program = os.path.join(folder, "program")
    subprocess.run([compiler, "-std=c++17", "-O1", "-w", "-I", os.path.join(root, "runtime", "host"),
                    "-x", "c++", os.path.join(folder, "testsuite", "tensor", test + ".cu"),
                    "-x", "none", library, "-lpthread", "-o", program], check=True)
    shutil.copy(original, place)
    try:
        done = subprocess.run([program], check=False, capture_output=True, timeout=120)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def main():
    root = os.path.abspath(sys.argv[2])
    failed = 0
    if looks:
        return look(root, {name: ("runtime/support/gemm/" + file, old)
                           for name, (_, file, old, _) in FAULTS.items()})
    with tempfile.TemporaryDirectory() as folder:
        for name in "runtime/support", "testsuite/tensor", "testsuite/host":
            shutil.copytree(os.path.join(root, name), os.path.join(folder, name))
        for name, fault in FAULTS.items():
            chosen = is_chosen(root, name, "runtime/support/gemm/" + fault[1], "testsuite/tensor")
            if chosen and planted(folder, root, fault) == name.startswith("none"):
                print(f"not as it should be: {name}")
                failed += 1
    print(f"{len(FAULTS)} faults, {failed} not as they should be")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
