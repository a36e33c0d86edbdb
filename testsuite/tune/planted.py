#!/usr/bin/env python3
"""Faults planted in the program of --tune, each of which check_tune.py must find, and in the compiler
after it, which check_tune.py or the texts must.

    planted.py BUILD ROOT LIBHOST CC LIT
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from plant_faults import choose, link_with_fault, look, looks

# Name: an edit of the emitted program, for sed -E.
PROGRAM = {
    "the slowest wins": r"s/microseconds >= least/microseconds <= least/",
    "the first wins": r"s/microseconds >= least/microseconds >= 0/",
    "alike launches count once": r"s/sum \+= r->of->launches\[i\]\.count \* /sum += /",
    "launches of the next product count": r"s/(for \(int i = p->first; i < p->first \+ p->count);/\1 + 1;/",
    "the next tile's name": r"s/t->tiles\[best\]\)/t->tiles[(best + 1) % 5])/",
    "failed launches are not told":
        r"s/return error == cudaSuccess \|\|/return true ||/",
    "the table comes in pieces":
        r"s/^( *)const bool measured = begin/\1printf(\"# tiles\\n\");\n&/",
    "a failure is a success": r"s/return !good;/return 0;/",
    "numbers are lost": r"/^ *\"sm = 80/d",
    "what was known is lost": r"/^ *\"tile bf16 forward 77/d",
    "the model's tile is the last":
        r"s/(\{\"bf16 forward 320 8 72 1\", TILE_)[0-9x]+/\1128x128/",
    "a product is left out": r"s/print_product\(r, &t->products\[i\]\);/if (i) &/",
    "roles are mixed up": r"s/\"bf16 dgrad /\"bf16 pooled /",
    "seconds may be anything": r"s/\*seconds > 0 &&//",
    "a full disk is no fault": r"s/\(!fflush\(stdout\) && !ferror\(stdout\)\)/true/",
}

# Name: a file of the compiler, a text, the replacement, and the test that must find it.
COMPILER = {
    "what adds up partial sums is left out":
        ("codegen/tune/tune_trials.c", "trial->sums[k] = reading_step(e, program, s);", "", "texts"),
    "alike launches are none":
        ("codegen/tune/tune_trials.c", "p->trials[i].count++;", "p->trials[i].count += 0;", "program"),
    "all sizes are the first":
        ("frontend/driver/tune.c", "{ keys[i], tile->rows, tile->columns }", "{ keys[i], 128, 128 }", "program"),
    "what is known comes first":
        ("codegen/tune/tune.c", "if (!measured) emit_line", "emit_line", "program"),
    "a line is for any type": ("ir/gpu/tensor_core_tile.c", "a->type == b->type && ", "", "texts"),
    "a line is for any role": ("ir/gpu/tensor_core_tile.c", "a->role == b->role && ", "", "texts"),
    "a line is for any number of products":
        ("ir/gpu/tensor_core_tile.c", "a->depth == b->depth &&\n           a->times == b->times;",
         "a->depth == b->depth;", "texts"),
    "tensors overlap": ("codegen/tune/tune.c", "capped_sum(trial->bytes, padded(buffer->bytes))",
                        "capped_sum(trial->bytes, 256)", "program"),
}


def build(folder, build_folder, root, compiler, fault):
    """The compiler with the fault, linked before the library that has the right file."""
    return link_with_fault(os.path.join(folder, "cnnc"), fault[:3],
                           [os.path.join(root, "frontend/driver/main.c")], build_folder, root,
                           compiler)


def found_by_texts(cnnc, root, lit):
    texts = [os.path.join(root, "testsuite", "text", name) for name in ("tune.test", "tf32.test")]
    done = subprocess.run([sys.executable, lit, "-q", "-Dcnnc=" + cnnc, *texts], capture_output=True,
                          text=True)
    return done.returncode != 0, "the texts"


def found(cnnc, root, libhost, edit):
    check = os.path.join(root, "testsuite", "tune", "check_tune.py")
    done = subprocess.run([sys.executable, check, cnnc, root, libhost, *([edit] if edit else [])],
                          capture_output=True, text=True)
    said = (done.stdout.strip().split("\n") or [""])[-1]
    if done.returncode and (done.stderr.strip() or said.startswith("nothing to edit")):
        sys.exit(f"not as it was planned: {said} {done.stderr}")
    return done.returncode != 0, said


def main():
    build_folder, root, libhost, compiler, lit = (
        os.path.abspath(word) if os.path.exists(word) else word for word in sys.argv[1:6])
    if looks:
        return look(root, COMPILER)
    cnnc = os.path.join(build_folder, "cnnc")
    # An edit of the program concerns its source.
    chosen = choose(root, {"none": None, "none, in texts": None,
                           **{name: ("runtime/tune",) for name in PROGRAM}, **COMPILER},
                    "testsuite/tune", "codegen/tune")
    missed = count = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            fault = COMPILER.get(name)
            clean = name.startswith("none")
            program = build(folder, build_folder, root, compiler, fault) if fault else cnnc
            if name == "none, in texts" or (fault and fault[3] == "texts"):
                caught, said = found_by_texts(program, root, lit)
            else:
                caught, said = found(program, root, libhost, PROGRAM.get(name, ""))
            count += not clean
            missed += caught == clean
            print(f"{'MISSED: ' if caught == clean else ''}{name}: {said}", flush=True)
    print(f"{count} faults, {missed} not as they should be")
    return missed != 0


if __name__ == "__main__":
    sys.exit(main())
