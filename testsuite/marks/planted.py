#!/usr/bin/env python3
"""Plants faults in the treatment of marks, each found by check_marks.py.

    planted.py BUILD ROOT CC

FAULT in the environment chooses those with that text in their names.
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from plant_faults import look, looks, with_fault  # noqa: E402

build, root, compiler = (os.path.abspath(a) if i < 2 else a for i, a in enumerate(sys.argv[1:]))
here = os.path.join(root, "testsuite", "marks")
only = os.environ.get("FAULT", "")

# The planted faults: a file, a text in it, and the replacement.
FAULTS = {
    "nothing": None,
    "a mark is lost with the launch that takes in the next":
        ("passes/fuse_epilogue.c", "graph_mark_too(g, g->nodes[n].results[0], result);", ""),
    "a mark is lost with an activation that moves behind a pool":
        ("passes/fuse_pool.c", "graph_mark_too(g, n->operands[0], m->operands[0]);", ""),
    "a mark is lost in a pool":
        ("passes/fuse_pool.c", "graph_mark_too(g, m->results[0], n->results[0]);", ""),
    "what goes into a pool is kept":
        ("passes/fuse_pool.c", "g->values[m->results[0]].marked = false;", ""),
    "a mark is lost in folding":
        ("passes/simplify.c", "hand_marks_on(g, n, readers);", ""),
    "what nobody reads hands its mark on":
        ("passes/simplify.c", "readers[n->results[j]] > 0 &&", ""),
    "a name has no launch to keep":
        ("passes/remat/user_checkpoints.c", "if (kept && !is_launch(n)) set_operands(n, m->kept);", ""),
    "what leads to no mark runs again":
        ("passes/remat/user_checkpoints.c", "is_launch(n) && leads && !kept", "is_launch(n) && !kept"),
    "what is marked runs again":
        ("passes/remat/user_checkpoints.c", "is_launch(n) && leads && !kept", "is_launch(n) && leads"),
    "a mark ends what leads to the next":
        ("passes/remat/user_checkpoints.c", "leads = kept || has_any", "leads = !kept && has_any"),
    "statistics are taken again":
        ("passes/remat/user_checkpoints.c", "if (def != NONE) m->recomputed[def] = false;", ""),
    "products run again all the same":
        ("passes/remat/user_checkpoints.c", "== CHECKPOINT_ELEMENTWISE", "== CHECKPOINT_COUNT"),
    "products are no arithmetic":
        ("passes/remat/remat_problem.c", "cost.products == 0", "cost.flops == 0"),
    "off is on":
        ("passes/decide/decide_remat.c", "kind == CHECKPOINT_OFF && !(", "kind == CHECKPOINT_COUNT && !("),
    "a budget turns marks off":
        ("passes/runner.c", "(kind == CHECKPOINT_AUTO || kind == CHECKPOINT_ELEMENTWISE)",
         "kind != CHECKPOINT_OFF"),
    "a budget does not turn marks off":
        ("passes/decide/decide_remat.c", "if (!searches(o)) return", "if (true) return"),
    "the first cut is kept, whatever N is":
        ("passes/remat/user_checkpoints.c", "int64_t k = every - 1;", "int64_t k = 0;"),
    "every cut is kept":
        ("passes/remat/user_checkpoints.c", "k += every)", "k++)"),
    "one cut is kept":
        ("passes/remat/user_checkpoints.c", "k += every)", "k += count)"),
    "a map that crosses several places is several cuts":
        ("passes/remat/stages.c", "if (v == NO_VALUE || is_cut[v]) continue;",
         "if (v == NO_VALUE) continue;"),
    "the cut of another value":
        ("passes/remat/remat_problem.c", "values[v] = p.value_of[p.lives.class_of[v]];",
         "values[v] = p.value_of[p.lives.class_of[v]] - 1;"),
    "the program's marks for cuts":
        ("passes/remat/user_checkpoints.c", "how->kind == CHECKPOINT_EVERY && !mark_cuts", "false && !mark_cuts"),
    "marks in every mode":
        ("frontend/checkpoint_marks.c", "else if (r->g->mode == TRAIN)", "else"),
}


def compiler_with(folder, fault):
    """cnnc with the fault, linked before the library that has the right file."""
    files = [os.path.join(root, "frontend/driver/main.c")]
    if fault:
        name, old, new = fault
        files.append(os.path.join(folder, "planted.c"))
        with open(files[-1], "w") as file:
            file.write(with_fault(os.path.join(root, name), old, new))
    cnnc = os.path.join(folder, "cnnc")
    subprocess.run([compiler, "-std=c17", "-O1", "-w", *files,
                    os.path.join(build, "libcore.a"), "-lm", "-o", cnnc], check=True)
    return cnnc


def main():
    nets = sorted(os.path.join(here, n) for n in os.listdir(here) if n.endswith(".cnn"))
    failed = 0
    if looks:
        return look(root, FAULTS)
    for name, fault in FAULTS.items():
        if only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, os.path.join(here, "check_marks.py"),
                                   compiler_with(folder, fault), *nets],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        caught = done.returncode != 0
        failed += caught != (fault is not None)
        print(f"{name}: {'caught' if caught else 'not caught'}", flush=True)
        if caught and not fault:
            print(done.stdout)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
