#!/usr/bin/env python3
"""Faults planted in the cost model, each found by check_costs.py.

    planted.py BUILD ROOT CC

A file with the fault is linked before the library that has the right one.  Without a fault
nothing is found.
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from plant_faults import choose, link_with_fault, look, looks  # noqa: E402

build, root, compiler = sys.argv[1:4]
here = os.path.join(root, "testsuite", "costs")

FAULTS = {
    "nothing": ("ir/op/cost.c", "", ""),
    "results are not written":
        ("ir/op/cost.c", "if (n->results[r] != NONE) bytes += moved(g, n->results[r]);", ";"),
    "what is updated is not written":
        ("ir/op/cost.c", "if (slots[k].updated && n->operands[k] != NONE)", "if (0)"),
    "a library's scratch counts":
        ("ir/op/cost.c", "return scratch ? 0 : value_bytes(value);", "return value_bytes(value);"),
    "an activation is for nothing": ("ir/op/cost.c", "if (n->act != NULL)", "if (0)"),
    "what is computed on load is for nothing":
        ("ir/op/cost.c", "if (v != NONE && !is_stored(g, v))\n            add_node",
         "if (0)\n            add_node"),
    "what is computed on load is stored": ("ir/op/cost.c", "if (n->fused_load) own.bytes = 0;", ""),
    "a view costs": ("ir/op/cost.c", "if (is_launch(n)) add_node", "add_node"),
    "no products":
        ("ir/op/cost.c", "cost->products = capped_sum(cost->products, flops);", ""),
    "half of a product":
        ("ir/families/conv_gemm.c", "capped_product(2 * d.pixels", "capped_product(d.pixels"),
    "depthwise as a product":
        ("ir/families/conv_gemm.c", "if (convolution_is_depthwise(&d)) cost->flops = flops;\n    else ",
         ""),
    "a bias is for nothing":
        ("ir/families/conv_gemm.c", "if (is_biased(n)) cost->flops", "if (0) cost->flops"),
    "half of a dense product":
        ("ir/ops/dense.c", "capped_product(2 * s.batch", "capped_product(s.batch"),
    "moments read all":
        ("ir/ops/batchnorm.c", "if (n->kernel == MOMENTS)\n        cost", "if (0)\n        cost"),
    "all of a box's operand is read": ("ir/families/box_copy.c", "cost->bytes -= (x - y)", "cost->bytes -= 0"),
    "a match reads scores": ("ir/ops/multibox.c", "if (n->kernel == MATCH) unread = 2;", ""),
    "f64 as f32": ("ir/gpu/gpu_model.c", "g->real == F64 ? gpu->fp64 : gpu->fp32", "gpu->fp32"),
    "tf32 as f32": ("ir/gpu/gpu_model.c", "g->tf32 ? gpu->tf32", "g->tf32 ? rate"),
    "all as tf32":
        ("ir/gpu/gpu_model.c", "time_at(others, rate, gpu->elementwise)",
         "time_at(others, products, gpu->elementwise)"),
    "rounded down": ("ir/gpu/gpu_model.c", "return capped_sum(time, rest > 0);", "return time;"),
    "memory behind arithmetic":
        ("ir/gpu/gpu_model.c", "arithmetic > memory ? arithmetic : memory", "arithmetic + memory"),
    "launches for nothing": ("ir/gpu/gpu_model.c", "capped_sum(gpu->launch, longer)", "longer"),
    "everything as a product":
        ("ir/gpu/gpu_model.c", "time_at(others, rate, gpu->elementwise)",
         "time_at(others, rate, gpu->product)"),
    "peaks": ("ir/gpu/gpu_model.c", "rate / MILLION * millionths", "rate / MILLION * MILLION"),
    "a phase's launches in another":
        ("ir/gpu/gpu_model.c", "&sums[n->phase]", "&sums[n->phase ? BACKWARD : FORWARD]"),
    "recomputed launches cost nothing":
        ("ir/gpu/gpu_model.c", "if (!is_launch(n) || is_copy(n)) continue;",
         "if (!is_launch(n) || n->phase == RECOMPUTE) continue;"),
    "a phase's times are not added up":
        ("ir/gpu/gpu_model.c", "sum->time = capped_sum(sum->time, ", "sum->time = (0, "),
    "shares in percent":
        ("frontend/driver/gpu_file.c", "KEY(product), 1e6", "KEY(product), 1e5"),
    "launches in nanoseconds":
        ("frontend/driver/gpu_file.c", "KEY(launch), 1e12", "KEY(launch), 1e9"),
}


def is_found(fault, folder):
    programs = [link_with_fault(os.path.join(folder, os.path.basename(source)[:-2]), fault,
                                [os.path.join(root, source)], build, root, compiler)
                for source in ("frontend/driver/main.c", "testsuite/costs/costs.c")]
    done = subprocess.run([sys.executable, os.path.join(here, "check_costs.py"), *programs, root,
                           "few"], stdout=subprocess.PIPE, text=True)
    said = done.stdout.splitlines()
    assert said and said[-1].endswith(" faults"), "the check itself has failed"
    print("   ", said[0])
    return done.returncode != 0


def main():
    failed = 0
    if looks:
        return look(root, FAULTS)
    for name, fault in choose(root, FAULTS, "testsuite/costs").items():
        print(name, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            if is_found(fault, folder) != (name != "nothing"):
                print("    NOT FOUND" if name != "nothing" else "    a fault where there is none")
                failed += 1
    print(f"{len(FAULTS) - 1} faults, {failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
