#!/usr/bin/env python3
"""Faults planted in slices of the batch, each of which shows in the interpreter's training steps.

    planted.py BUILD ROOT CC

Two steps of stem.cnn, in slices of 3 of its samples, and of between.cnn must equal those of the
whole nets. With a fault they differ, or the compiler refuses its own graph.
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from check_split import Net, run  # noqa: E402
from plant_faults import link_with_fault, look, looks  # noqa: E402

CXX = os.environ.get("CXX", "clang++")

# The planted faults: a file, a text in it, and the replacement.
FAULTS = {
    "none": None,
    "every slice has the rows of the first":
        ("passes/batch_split.c", "g->nodes[id].attr[0].i = first_sample(s, k);",
         "g->nodes[id].attr[0].i = 0;"),
    "random numbers are those of the first slice":
        ("passes/batch_split.c", "if (first > 0 && n->op->rebase_samples != NULL)", "if (false)"),
    "the first sample is lost backward":
        ("ir/families/random_drop.c", "gradient_node(c, op, 0, 2, operands, 1, &dx);",
         "NodeId id = gradient_node(c, op, 0, 2, operands, 1, &dx);\n"
         "    c->g->nodes[id].attr[DROP_FIRST].i = 0;"),
    "slices are joined in the wrong order":
        ("passes/batch_split.c", "n->pos, s->slices, s->slice[v], 1, &v);",
         "n->pos, s->slices, (s->slice[v][0] ^= s->slice[v][1], s->slice[v][1] ^= s->slice[v][0],"
         " s->slice[v][0] ^= s->slice[v][1], s->slice[v]), 1, &v);"),
    "all gradients of rows are the first slice's":
        ("ir/ops/slice_batch.c", "part[k] = c->d[c->g->nodes[first + k].results[0]];",
         "part[k] = c->d[c->g->nodes[first + (k + 1 < count ? 0 : k)].results[0]];"),
    "the gradient of rows is counted once for each":
        ("ir/ops/slice_batch.c", "if (first != c->node) return;", ""),
    "a join's gradient is its first rows":
        ("ir/ops/concat.c", "g->nodes[id].attr[START].i = start;",
         "g->nodes[id].attr[START].i = n.attr[AXIS].i == 0 ? 0 : start;"),
    "an activation is lost":
        ("passes/batch_split.c", "copy->act = n->act;", ""),
    "attributes are lost":
        ("passes/batch_split.c", "memcpy(copy->attr, n->attr, sizeof n->attr);", ""),
    "what needs the whole batch is split":
        ("passes/batch_split.c", "(g->mode == TRAIN && n->op->needs_whole_batch &&\n         n->op->needs_whole_batch(g, n))", "false"),
    "what leaves a round comes back in the same":
        ("passes/batch_split.c", "(s->inside[def] && !s->inside[i]);", "0;"),
    "what another launch reads is not joined":
        ("passes/batch_split.c", "if (v == NONE || !s->read_whole[v]) continue;",
         "if (v == NONE || !s->g->values[v].output) continue;"),
}


def interpreter(folder, fault, build, root, compiler):
    """The interpreter with the fault, linked before the library that has the right file."""
    files = [os.path.join(root, "testsuite", "interpret", name)
             for name in ("interpret.c", "differences.c")]
    files.append(os.path.join(root, "testsuite", "tools", "tensors.c"))
    return link_with_fault(os.path.join(folder, "interpret"), fault, files, build, root, compiler)


def steps(program, net, out, *options):
    done = subprocess.run([program, "--batch", net.batch, *options, net.net, "--load", "weights",
                           "--batch-file", "drawn", "--seed", "3", "--steps", "2", "--save", out],
                          check=False, capture_output=True)
    return done.returncode == 0


def main():
    build, root, compiler = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
    only, failed = os.environ.get("FAULT", ""), 0
    if looks:
        return look(root, FAULTS)
    nets = {name: Net(build, os.path.join(root, "testsuite", "split", name + ".cnn"), "8")
            for name in ("stem", "between")}
    right = os.path.join(build, "testsuite", "interpret")
    with tempfile.TemporaryDirectory() as folder:
        for name, net in nets.items():
            os.mkdir(os.path.join(folder, name))
            os.chdir(os.path.join(folder, name))
            run(os.path.join(build, "cnnc"), "--precision", "f64", "--batch", "8", "--main", "-o",
                "whole.cu", net.net)
            run(CXX, "-std=c++17", "-O0", "-w", "-I", os.path.join(root, "runtime", "host"), "-x",
                "c++", "whole.cu", "-x", "none", os.path.join(build, "libcnnc_host.a"),
                "-lpthread", "-o", "whole")
            net.draw("8")
            assert steps(right, net, "whole.out")
        for fault, place in FAULTS.items():
            if only not in fault:
                continue
            program, shows = interpreter(folder, place, build, root, compiler), False
            for name, net in nets.items():
                os.chdir(os.path.join(folder, name))
                shows |= not steps(program, net, "split.out", "--split", "3") or \
                    net.compare("whole.out", "split.out").returncode != 0
            print(f"{fault}: {'shows' if shows else 'does not show'}", flush=True)
            failed += shows != (place is not None)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
