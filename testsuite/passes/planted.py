#!/usr/bin/env python3
"""Faults planted in the passes that move bytes, each found by same_bits.py.

    planted.py BUILD HOST ROOT CC

A compiler is built from a patched copy of passes/ and frontend/, in which nothing is verified,
neither graphs nor plans. Nor does same_bits.py ask plan_check.py. So only different bits show the
fault. The copy without a fault must pass.
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from plant_faults import looks, missing, source_of

only = os.environ.get("FAULT", "")
build, host, root, compiler = (os.path.abspath(a) if i < 3 else a
                               for i, a in enumerate(sys.argv[1:]))

# The planted faults. Each has the example where it shows, or a net of this folder with the passes
# that are left out. Each has files of passes/ with texts and replacements.
FAULTS = {
    "nothing": ("lenet",),
    "share: over what is read later":
        ("digits", ("share_buffers.c", "classes->kept[class] || classes->last[class] != i",
                    "classes->kept[class]")),
    "share: over what the kernel has still to read":
        ("skip", ("live_model.c", "may_lie_over(g, n, r, v);", "true;"),
         ("share_buffers.c", "!may_lie_over(g, n, r, reads[j]))", "false)")),
    "schedule: an update that waits for no reader":
        ("autoencoder", ("dependences.c", "add_edge(d, touched->cells[k].to, i);", "(void)d;")),
    "accumulate: what decays is the momentum":
        ("fuse_momentum_bits --passes fuse_momentum",
         ("fuse_momentum.c", "update ? update->operands[UPDATED_WEIGHT] : NONE",
          "update ? update->operands[FIRST_STATE] : NONE")),
    "fuse_activation_grad: a gradient stopped by what was dropped from":
        ("gated_bits --passes fuse_activation_grad",
         ("fuse_activation_grad.c", "operands[1] = made;", "operands[1] = y;")),
    "liveness: what is read on load alone ends before that":
        ("biased_bits --passes fuse_prologue",
         ("liveness.c", "Value *value = &g->values[reads[k]];",
          "Value *value = &g->values[reads[k]]; int j = 0;"
          "while (j < n->operand_count && n->operands[j] != reads[k]) j++;"
          "if (j == n->operand_count) continue;")),
    "simplify: readers of an operand change the order of its gradient's sum":
        ("unfused_bits --passes simplify",
         ("simplify.c", "(f->readers[x] == 2 && f->readers[y] == 1);", "true;")),
    "fuse_pool: an activation that rounds moves behind a pool":
        ("unfused_bits --passes fuse_pool",
         ("fuse_pool.c", "if (act == NULL || !(act->flags & GATES)) return;",
          "if (act == NULL) return;")),
    "ends: what is left out is left out of the sum's end too":
        ("fuse_last_block_bits --passes fuse_last_block",
         ("fuse_last_block.c", "if (!own) operands[k] = others;",
          "if (!own && !slots[k].optional) operands[k] = others;")),
    "together: what needs an update does not wait for it":
        ("fuse_horizontal_bits --passes fuse_horizontal",
         ("fuse_horizontal.c", "bool needs = s->left[i] > 0;", "bool needs = false;")),
    "together: what is done last does not wait for what it needs":
        ("fuse_horizontal_bits --passes fuse_horizontal",
         ("fuse_horizontal.c", "!can_be_last(s, i) || s->left[i] > 0", "!can_be_last(s, i)")),
    "plan: buffers that end a step early":
        ("digits", ("passes/assign_offsets.c", ".last = value->last,",
                    ".last = value->last - (value->last > value->first),"),
         ("passes/assign_offsets.c", "if (g->values[v].last > item->last) item->last = g->values[v].last;",
          "")),
}
UNVERIFIED = [
    ("passes/runner.c", "if (ran && (!o->measured || k == PASS_COUNT - 1))\n"
     "            verify(g, pass->name);\n", ""),
    ("frontend/driver/run_pipeline.c", "verify_program(arena, g, plan)", "NULL"),
]


def patch(path, old, new):
    with open(path) as file:
        text = file.read()
    assert text.count(old) == 1, f"no such text in {path}: {old}"
    with open(path, "w") as file:
        file.write(text.replace(old, new))


def compiler_with(folder, fault):
    """cnnc with the fault, linked before the library that has the right ones."""
    for name in "passes", "frontend":
        shutil.copytree(os.path.join(root, name), os.path.join(folder, name))
    for name in "ir", "codegen":
        os.symlink(os.path.join(root, name), os.path.join(folder, name))
    planted = [(source_of(root, name), old, new) for name, old, new in fault[1:]]
    for path, old, new in UNVERIFIED + planted:
        patch(os.path.join(folder, path), old, new)
    files = ["frontend/driver/main.c", *sorted({path for path, _, _ in UNVERIFIED + planted})]
    cnnc = os.path.join(folder, "cnnc")
    subprocess.run([compiler, "-std=c17", "-O1", "-w", *(os.path.join(folder, f) for f in files),
                    os.path.join(build, "libcore.a"), "-lm", "-o", cnnc], check=True)
    return cnnc


def main():
    failed = 0
    if looks:
        texts = [(name, source_of(root, file), old)
                 for name, fault in FAULTS.items() for file, old, _ in fault[1:]]
        texts += [("unverified", file, old) for file, old, _ in UNVERIFIED]
        return sum(missing(name, os.path.join(root, file), old) for name, file, old in texts)
    for name, fault in FAULTS.items():
        if only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            cnnc = compiler_with(folder, fault)
            net, *passes = fault[0].split()
            here = os.path.join(root, "testsuite", "passes")
            at = here if passes else os.path.join(root, "examples", net)
            done = subprocess.run(
                [sys.executable, os.path.join(here, "same_bits.py"), build, host,
                 os.path.join(root, "testsuite"), cnnc, os.path.join(at, net + ".cnn"),
                 "--batch", "2", "--bits-only", *passes],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        other = [line.split()[0] for line in done.stdout.splitlines() if "OTHER BITS" in line]
        planted = len(fault) > 1
        right = bool(other) == planted and done.returncode == planted
        failed += not right
        print("ok    " if right else "WRONG ", name, "|", *other, flush=True)
        if not right:
            print(done.stdout)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
