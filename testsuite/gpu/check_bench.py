#!/usr/bin/env python3
"""The bench of a GPU, on the CPU: its commands work, and faults show.

    check_bench.py BUILD [--long]

`correct` and `ours` --host make rows, a second call makes none again, and `table` has them. With
--long for more runs and three nets; then: a kernel that is wrong, a precision that the
compiler does not know, a peer's row, and no time; and nvcc on the programs that run emitted files.
"""
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LONG = ["digits", "conv-1", "loss_scale-1"]


def bench(*words, status=0):
    """The output of the bench; it must end with this status."""
    done = subprocess.run([os.path.join(HERE, "run"), *words, "--out", "rows"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != status:
        sys.exit(f"{' '.join(words)}: status {done.returncode}, not {status}:\n{done.stdout}")
    return done.stdout


def rows(kind):
    """The rows of a kind."""
    with open(f"rows/{kind}.jsonl", encoding="ascii") as file:
        return [json.loads(line) for line in file]


def check(holds, what):
    if not holds:
        sys.exit(what)


def check_correct(names, precisions):
    """Each run has a row in each precision, once."""
    words = ["correct", *names, "--host", "--precisions", precisions]
    bench(*words)
    made = rows("correct")
    check(len(made) == len(names) * len(precisions.split(",")), f"{len(made)} rows of {names}")
    check(not any("error" in row for row in made), "a row is an error")
    check(all(row["distance"]["1"] < 1e-9 and row["grown"] <= 0
              for row in made if row["precision"] == "f64"), "f64 is far from PyTorch's")
    bench(*words)
    check(rows("correct") == made, "rows were made again")


def check_tensor():
    """The tests of products on tensor cores have a row each."""
    bench("correct", "tensor.layouts", "tensor.tiles", "--host")
    made = rows("correct")[-2:]
    check([row["net"] for row in made] == ["tensor.layouts", "tensor.tiles"] and
          not any("error" in row for row in made), f"tests of tensor cores: {made}")


def check_ours(nets, precision):
    """Each net has a row with all that the table wants."""
    words = ["ours", "--host", "--nets", ",".join(nets), "--precisions", precision]
    bench(*words)
    made = rows("ours")
    check([row["net"] for row in made] == nets, f"{len(made)} rows of {nets}")
    for row in made:
        check("error" not in row, f"{row['net']}: {row.get('error')}")
        check(row["ms"] > 0 and row["launches"] > 9 and row["arena_bytes"] > 1000 and
              row["first_step_s"] > 0, f"{row['net']}: {row}")
    text = bench("table")
    check(all(f"| {net} |" in text for net in nets), f"the table has not all nets:\n{text}")


def check_wrong(build):
    """A kernel that is wrong fails; sound again, its row is made again, and counts."""
    os.makedirs("wrong")
    for name in ["libcnnc_host.a", "testsuite"]:
        os.symlink(os.path.join(build, name), os.path.join("wrong", name))
    with open("wrong/cnnc", "w", encoding="ascii") as out:
        out.write(f'#!/bin/bash\n{build}/cnnc "$@" || exit\nfor file; do case $file in *.cu)\n'
                  "    sed -i 's/ - rate \\* direction;/ - 2 * rate * direction;/' \"$file\" ;; "
                  "esac; done\n")
    os.chmod("wrong/cnnc", os.stat("wrong/cnnc").st_mode | stat.S_IXUSR)
    words = ["correct", "sgd-1", "--host", "--precisions", "f64"]
    os.environ["CNNC_BUILD"] = os.path.abspath("wrong")
    text = bench(*words, status=1)
    check("differs" in text and "error" in rows("correct")[-1], f"a wrong kernel passes:\n{text}")
    check("* sgd-1:" in bench("table"), "the table does not have the run that is wrong")
    os.environ["CNNC_BUILD"] = build
    bench(*words)
    check("error" not in rows("correct")[-1], "a row that was wrong is not made again")
    check("* sgd-1:" not in bench("table"), "the table has a fault that is no more")


def check_unknown(build):
    """A compiler that does not know a precision; no time; a peer and our row."""
    os.makedirs("old")
    for name in ["libcnnc_host.a", "testsuite"]:
        os.symlink(os.path.join(build, name), os.path.join("old", name))
    with open("old/cnnc", "w", encoding="ascii") as out:
        out.write(f'#!/bin/bash\n[[ $* != *bf16* ]] || {{ echo "no bf16" >&2; exit 2; }}\n'
                  f'exec {build}/cnnc "$@"\n')
    os.chmod("old/cnnc", os.stat("old/cnnc").st_mode | stat.S_IXUSR)
    os.environ["CNNC_BUILD"] = os.path.abspath("old")
    bench("ours", "--host", "--nets", "vgg16", "--precisions", "bf16", status=1)
    check("no bf16" in rows("ours")[-1]["error"], "a precision that is not known makes no row")
    check("no bf16" in bench("table"), "the table does not say what is not known")
    os.environ["CNNC_BUILD"] = build
    before = rows("correct")
    text = bench("correct", "add-2", "--host", "--precisions", "f64", "--budget-s", "0")
    check("1 had no time" in text and rows("correct") == before, "a run was begun without time")
    batch = next(row["batch"] for row in rows("ours") if row["net"] == "mnist_cnn")
    with open("rows/peers.jsonl", "w", encoding="ascii") as out:
        out.write(json.dumps({"net": "mnist_cnn", "mode": "eager_fp32", "batch": batch,
                              "ms_med": 1e-3}) + "\n")
    ms = next(row["ms"] for row in rows("ours") if row["net"] == "mnist_cnn")
    check(f"| 0.001 | {ms / 1e-3:.2f} |" in bench("table"), "the table has no ratio to a peer")


def check_nvcc(build):
    """The programs around the emitted files build for a GPU without a warning."""
    os.environ["PATH"] += ":/usr/local/cuda/bin"
    if not shutil.which("nvcc"):
        return
    net = os.path.join(HERE, "..", "..", "examples", "mnist_cnn", "mnist_cnn.cnn")
    subprocess.run([os.path.join(build, "cnnc"), "--main", net, "-o", "timed.cu"], check=True)
    for source in ["bench.cu", "net.cu"]:
        subprocess.run(["nvcc", "-std=c++17", "-fmad=false", "-arch=sm_90", "-Werror",
                        "all-warnings", "-Xcompiler", "-Wall,-Wextra,-Werror", "-DNET=mnist_cnn",
                        f'-DNET_FILE="{os.path.abspath("timed.cu")}"', "-c",
                        os.path.join(HERE, source), "-o", "timed.o"], check=True)


def main():
    build = os.path.abspath(sys.argv[1])
    os.environ["CNNC_BUILD"], os.environ["CNNC_COMMIT"] = build, "tested"
    sys.path.insert(0, HERE)
    import floors
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        if "--long" in sys.argv:
            check_correct(LONG, "f64,fp32")
            check_tensor()
            check_ours(list(floors.NETS)[:3], "fp32")
            check_wrong(build)
            check_unknown(build)
            check_nvcc(build)
        else:
            check_correct(["flatten-1"], "f64")
            check_ours(["mnist_cnn"], "fp32")
        os.chdir("/")


if __name__ == "__main__":
    main()
