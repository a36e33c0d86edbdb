#!/usr/bin/env python3
"""Faults planted in recomputation: unit tests find some, other bits show the rest.

    check_planted.py BUILD HOST ROOT CC

FAULT in the environment chooses those with that text in their names. The faults of BITS are planted
in a compiler that verifies neither graphs nor plans (passes/planted.py).
"""
import os
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "..", "passes"), os.path.join(here, "..", "tools")]
import plant_faults  # noqa: E402
import planted  # noqa: E402
from budgets import Compiler  # noqa: E402

# By test, the planted faults: a file, a text in it, and the replacement.
UNITS = {
    "test_remat_graph": {
        "the first backward launch is forward":
            ("remat_problem.c", "g->nodes[i].phase != FORWARD)\n            p->remat.backward_start",
             "g->nodes[i].phase == UPDATE)\n            p->remat.backward_start"),
        "backward launches may run again":
            ("remat_problem.c", "if (n->phase != FORWARD) return false;", ""),
        "a map that is read while it is made is made again":
            ("remat_problem.c", "p->remat.kept[made[k]] || p->early[made[k]]",
             "p->remat.kept[made[k]]"),
        "a map that is read while it is made is not noticed":
            ("remat_problem.c", "p->last_maker[v] >= i) p->early[v] = true;",
             "p->last_maker[v] > 99) p->early[v] = true;"),
        "a part of a join is all of it":
            ("remat_problem.c", "if (v != NONE && j == count) made[count++] = v;",
             "if (v != NONE && j == count && p->last_maker[v] == NONE) made[count++] = v;"),
        "a value that is kept dies":
            ("remat_problem.c", "r->kept[r->value_count] = p->lives.kept[v];", ""),
        "nothing is written over":
            ("remat_problem.c", "|| !makes_alone(r, i, v)) continue;", "|| true) continue;"),
        "a name is of what was made first":
            ("remat_apply.c", "if (w->last[i] && !memcmp(w->last[i], operands, bytes)) ",
             "if (w->last[i]) "),
        "a name is made each time":
            ("remat_apply.c", "if (w->last[i] && !memcmp(w->last[i], operands, bytes)) ",
             "if (w->last[i] && w->old_count == 0) "),
        "those behind read what was made first":
            ("remat_apply.c", "if (v != NONE) w->now[v] = results[k];", ""),
        "what is computed on load is stored in the copy":
            ("remat_apply.c", "made->fused_load = n->fused_load;", "made->fused_load = n->fused_load && !copy;"),
        "a copy is a forward node":
            ("remat_apply.c", "copy ? RECOMPUTE : n->phase", "n->phase"),
        "a copy has other attributes":
            ("remat_apply.c", "memcpy(made->attr, n->attr, sizeof n->attr);",
             "if (!copy) memcpy(made->attr, n->attr, sizeof n->attr);"),
        "updates wait for nobody":
            ("remat_apply.c", "return w->recomputed[v] > 0 && v != w->g->header;", "return false;"),
        "updates wait for one repeat of two":
            ("remat_apply.c", "count_repeats(&w, &old, i, -1);", "count_repeats(&w, &old, i, -2);"),
        "nobody waits for an update that waits":
            ("remat_apply.c", "if (w->changing[v] > 0) return true;", ""),
        "names that no launch reads are lost":
            ("remat_apply.c", "waits for ever\");\n    put_unread(&w);", "waits for ever\");"),
        "a repeat may read what an update has changed":
            ("verify_program.c", "if (late)", "if (late && n->phase != RECOMPUTE)"),
        "a repeat may read the header of the next training step":
            ("verify_program.c", "late = o->update[v] == o->end;", "late = false;"),
        "a repeat may not read the header at all":
            ("verify_program.c", "late = o->update[v] == o->end;", ""),
    },
    "test_remat_modes": {
        "one maker of a group is a group":
            ("keep_modes.c", "if (*a < *b) *b = *a;\n                else *a = *b;", "break;"),
        "what others are to read is dropped":
            ("keep_modes.c", "if (--value->waiting == 0 && ", "if (--value->waiting >= 0 && "),
        "what is computed once is dropped":
            ("keep_modes.c", "value->mode == EACH_TIME", "value->mode != KEPT"),
        "what is computed each time stays":
            ("keep_modes.c", "value->mode == EACH_TIME", "value->mode > EACH_TIME"),
        "one maker makes it all again":
            ("keep_modes.c", "for (int32_t k = r->makers[v]; k < r->makers[v + 1]; k++)\n"
             "        run_step(m, r->maker[k]);", "run_step(m, r->maker[r->makers[v]]);"),
        "steps cost nothing again":
            ("keep_modes.c", "m->cost += m->r->cost[step];",
             "if (m->schedule.count <= m->r->step_count) m->cost += m->r->cost[step];"),
        "a kept value dies":
            ("reverse_liveness.c", "if (s->value[v].kept) remat_scan_need(s, v);", ""),
        "a value dies with the first of its parts":
            ("reverse_liveness.c", "} else if (--value->parts <= 0) {", "} else {"),
        "what dies has no bytes while it is read":
            ("reverse_liveness.c", "if (!value->needed) bytes += value->bytes;", ";"),
        "what nobody reads has no bytes":
            ("reverse_liveness.c", "if (!value->needed) {\n            bytes += value->bytes;", "if (!value->needed) {"),
        "what lives on is written over":
            ("reverse_liveness.c", "over.result == taken || under->needed ||", "over.result == taken ||"),
        "a result is written over two":
            ("reverse_liveness.c", "taken = over.result;", ""),
        "two are written over one":
            ("reverse_liveness.c", "under->reader = 0;", ""),
        "all of a smaller value is saved":
            ("reverse_liveness.c", "smaller(under->bytes, s->value[over.result].bytes)",
             "under->bytes"),
        "what is read lies idle":
            ("keep_modes.c", "if (is_listed(r->reads, r->read, step, v) ||",
             "if ("),
        "what nobody reads again lies idle":
            ("keep_modes.c", "later[v] <= 0 ||", "later[v] < -1 ||"),
        "steps behind backward_start may run again":
            ("remat_search.c", "i < r->backward_start && r->may_repeat[i];", "r->may_repeat[i];"),
        "steps that may not run again do":
            ("remat_search.c", "s.may_repeat[group] &= i < r->backward_start && r->may_repeat[i];", ""),
        "a choice that another beats is added":
            ("pareto.c", "if (!is_news(all, peak, cost)) return;", ""),
        "choices that a new one beats stay":
            ("pareto.c", "drop_dearer(all, r->arena, peak, cost);", ""),
    },
    "test_recompute": {
        "operators are not compared":
            ("verify_recompute.c", "a->op != b->op ||", ""),
        "activations are not compared":
            ("verify_recompute.c", "a->act != b->act ||", ""),
        "attributes are not compared":
            ("verify_recompute.c", "!same_attributes(a, b)", "false"),
        "operands are not compared":
            ("verify_recompute.c", "first_of(g, a->operands[k]) != first_of(g, b->operands[k])",
             "false"),
        "results are not compared":
            ("verify_recompute.c", "first_of(g, a->results[k]) != first_of(g, b->results[k])",
             "false"),
        "a copy may read copies alone":
            ("verify_recompute.c", "return of == NONE ? v : of;", "return v;"),
        "a copy need be none":
            ("verify_recompute.c", 'if (first == NONE) value_fault(c, v, "it is no copy, but a copy'
             ' makes it");', "if (first == NONE) return;"),
        "a copy of a copy":
            ("verify_recompute.c", "g->values[first].recompute_of != NONE ||", ""),
        "a copy of what nothing makes":
            ("verify_recompute.c", "|| g->values[first].def == NONE", ""),
        "kinds are not compared":
            ("verify_recompute.c", "of->kind != value->kind ||", ""),
        "types are not compared":
            ("verify_recompute.c", "of->dtype != value->dtype ||", ""),
        "a copy is an output":
            ("verify_recompute.c", "|| value->output", ""),
        "what is no copy makes one":
            ("verify_recompute.c", "else if (g->values[v].recompute_of != NONE)", "else if (false)"),
        "what nothing makes is a copy":
            ("verify.c", "value->def == NONE && value->recompute_of != NONE", "false"),
        "backward launches run again":
            ("verify_recompute.c", "g->nodes[original].phase != FORWARD", "false"),
        "a copy has no place":
            ("verify_recompute.c", "place[count++] = place_of[original];", "place[count++] = count;"),
        "nodes may change":
            ("verify_recompute.c", "!does_the_same(g, &g->nodes[id], n)", "false"),
    },
}
# A net of this folder, and the faults that show as other bits.
BITS = {
    "nothing": ("masks",),
    "what is drawn again is other numbers":
        ("masks", ("remat_apply.c", "made->act = n->act;",
                   "made->act = n->act;\n"
                   "    if (copy && strstr(n->name, \"dropout\")) made->attr[1].i++;")),
    "a copy has no activation":
        ("joins", ("remat_apply.c", "made->act = n->act;", "if (!copy) made->act = n->act;")),
}


def show(name, fault):
    """True if bits differ just where there is a fault."""
    with tempfile.TemporaryDirectory() as folder:
        cnnc = planted.compiler_with(folder, fault)
        net = os.path.join(here, fault[0] + ".cnn")
        whole = ["--with", "-fno-batch-split"]
        budget = Compiler(cnnc, net, whole).smallest()
        done = subprocess.run(
            [sys.executable, os.path.join(here, "..", "passes", "same_bits.py"), planted.build,
             planted.host, os.path.join(planted.root, "testsuite"), cnnc, net, "--batch", "6",
             *whole, "--bits-only", "--against", f"--budget={budget}"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    right = ("OTHER BITS" in done.stdout) == (done.returncode != 0) == (len(fault) > 1)
    print(f"bits: {name}: {'shows' if done.returncode else 'does not show'}", flush=True)
    if not right:
        print(done.stdout)
    return right


def main():
    build, _, root, compiler = sys.argv[1:]
    if plant_faults.looks:
        failed = sum(plant_faults.missing(
            name, os.path.join(root, plant_faults.source_of(root, row[0])), row[1])
                     for name, fault in BITS.items() for row in fault[1:])
    else:
        rows = plant_faults.choose(root, {name: fault[1] if len(fault) > 1 else None
                                          for name, fault in BITS.items()})
        failed = sum(not show(name, BITS[name]) for name in rows)
    sys.argv = [sys.argv[0], build, root, compiler]
    return failed + sum(plant_faults.plant(test, faults) for test, faults in UNITS.items())


if __name__ == "__main__":
    sys.exit(main() > 0)
