#!/usr/bin/env python3
"""Plants faults in the search for recomputation, each found by a unit test.

    planted.py BUILD ROOT CC
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tools"))
from plant_faults import plant  # noqa: E402

# By test, the planted faults: a file, a text in it, and the replacement.
FAULTS = {
    "test_remat": {
        "a step costs once":
            ("remat_schedule.c", "cost += r->cost[p->step[at]]", "cost += r->cost[at % r->step_count]"),
        "the first of equal peaks is not the first":
            ("remat_schedule.c", "bytes[i] > bytes[most]", "bytes[i] >= bytes[most]"),
        "a kept value dies":
            ("remat_schedule.c", "y->life[life].last = y->p->count - 1;", ";"),
        "a kept value is replaced":
            ("remat_schedule.c", "if (y->r->kept[v] && y->whole[v] != NO_LIFE) return;", ""),
        "a value is whole after one of its makers":
            ("remat_schedule.c", "== r->makers[v + 1] - r->makers[v]", "== 1"),
        "a part that is made twice counts twice":
            ("remat_schedule.c", "life == NO_LIFE || y->part_of[k] == life", "life == NO_LIFE"),
        "what nobody reads lives on":
            ("remat_schedule.c", "life->last < 0 ? life->first : life->last",
             "life->last < 0 ? y->p->count - 1 : life->last"),
        "later parts of what nobody reads have no bytes":
            ("remat_schedule.c", "life->last < 0 && life->first < at", "false"),
        "what dies has no bytes while it is read":
            ("remat_schedule.c", "y->change[last + 1] -=", "y->change[last > first ? last : last + 1] -="),
        "an input is not there for the first step":
            ("remat_schedule.c", "begin_life(y, v, 0)", "begin_life(y, v, 1)"),
        "a value is given over twice":
            ("remat_schedule.c", "given[under] == at ||", ""),
        "what is kept is written over":
            ("remat_schedule.c", "r->kept[under] || ", ""),
        "what is read later is written over":
            ("remat_schedule.c", "y->life[reading[under]].last != at)", "false)"),
        "a life that goes on is written over something":
            ("remat_schedule.c", "if (y->life[y->made[y->made_count++]].first == at)",
             "if (y->made[y->made_count++] >= 0)"),
        "all of a smaller value is saved":
            ("remat_schedule.c", "r->bytes[v] < r->bytes[under] ? r->bytes[v] : r->bytes[under]",
             "r->bytes[v]"),
    },
    "test_flow": {
        "heights are not distances":
            ("min_cut.c", "f->height[arc->to] = f->height[i] + 1;", "f->height[arc->to] = i + 1;"),
        "the lowest is lifted too far":
            ("min_cut.c", "f->height[i] = lowest + 1 < f->node_count ? lowest + 1 :",
             "f->height[i] = lowest + 3 < f->node_count ? lowest + 3 :"),
        "too much is cut off":
            ("min_cut.c", "if (f->at[old] == NOBODY) {", "if (f->at[old] != i) {"),
        "arcs do not lead back":
            ("min_cut.c", "f->arc[arc->twin].room += much;", ""),
        "an excess is forgotten":
            ("min_cut.c", "if (!was_full && arc->to", "if (was_full && arc->to"),
        "the second cut begins with the first one's flow":
            ("min_cut.c", "arc->room = f->ends[k].capacity;\n        f->arc[arc->twin].room = 0;",
             "arc->room = f->ends[k].capacity;"),
        "the cut is not the largest":
            ("min_cut.c", "near[i] = f->height[i] == f->node_count;",
             "near[i] = f->height[i] == f->node_count && (i == source || f->excess[i] > 0);"),
    },
    "test_remat_chain": {
        "a value that is read far behind crosses nothing there":
            ("stages.c", "if (c->read[v] < last) last = c->read[v];",
             "if (c->first[v] + 1 < last) last = c->first[v] + 1;"),
        "a value has several cuts":
            ("stages.c", "if (v == NO_VALUE || is_cut[v]) continue;", "if (v == NO_VALUE) continue;"),
        "small values count":
            ("stages.c", "once |= r->bytes[v] <= small;", ""),
        "what may not repeat does":
            ("stages.c", "!r->may_repeat[r->maker[k]]", "false"),
        "backward steps may read from behind the cut":
            ("stages.c", "int32_t low = c->behind[cut[j].forward] + 1,", "int32_t low = 0,"),
        "the largest neighbours are merged":
            ("stages.c", "if (bytes[j] + bytes[j + 1] < bytes", "if (bytes[j] + bytes[j + 1] > bytes"),
        "a turn makes no output that it reads":
            ("stage_steps.c", "(kept && g->keep[v]))\n            want",
             "(kept && g->keep[v] && v != g->output))\n            want"),
        "gradients that pass a stage have no bytes":
            ("stage_steps.c", "left.gradient && k < g->passing_count", "left.gradient && k < 0"),
        "what is kept has no bytes":
            ("stage_variants.c", "bytes += g->s->counted.bytes[g->value[k]];", ";"),
        "the first run is not whole":
            ("remat_chain.c", "if (is_first) return &stage->first;", ""),
        "a step is lost in a run again":
            ("stage_steps.c", "want(g, r->read[k], &span);", ";"),
        "a run looks at its whole stage":
            ("stage_steps.c", "if (span.last >= high) span.last = high - 1;",
             "span.first = low; span.last = high - 1;"),
        "a long stage tries as many values":
            ("stage_variants.c", "g->looks < MOST_LOOKS ? MOST_TRIED : FEW_TRIED;", "MOST_TRIED;"),
        "a run leaves out the steps before":
            ("stage_steps.c", "if (first < span->first) span->first = first;",
             "if (span->first == INT32_MAX) span->first = first;"),
        "few stages are a chain":
            ("remat_chain.c", "FEWEST_STAGES = 3", "FEWEST_STAGES = 1"),
    },
    "test_remat_bound": {
        "a value that no one makes is made again":
            ("remat_cut.c", "bool can = r->makers[v] < r->makers[v + 1];", "bool can = true;"),
        "steps that may not run again do":
            ("remat_cut.c", "(s < r->backward_start && r->may_repeat[s])", "s < r->backward_start"),
        "steps behind backward_start run again":
            ("remat_cut.c", "(s < r->backward_start && r->may_repeat[s])", "r->may_repeat[s]"),
        "what t reads is needed behind it":
            ("remat_cut.c", "for (int32_t k = r->reads[c->t + 1]; k < r->reads[r->step_count]",
             "for (int32_t k = r->reads[c->t]; k < r->reads[r->step_count]"),
        "what is not there is needed":
            ("remat_cut.c", "c->needed[r->read[k]] = is_there(r, r->read[k], c->t);",
             "c->needed[r->read[k]] = true;"),
        "what is kept may die":
            ("remat_cut.c", "if (r->kept[v] && is_whole) c->stays[v] = true;", ""),
        "what is kept need not become whole":
            ("remat_cut.c", "if (r->kept[v] && before > 0) c->needed[v] = true;", ""),
        "forward steps read what runs again":
            ("remat_cut.c", "c->t < r->backward_start ? r->backward_start - 1 : c->t;", "c->t;"),
        "what t makes has no bytes":
            ("remat_cut.c", "c->free[r->make[k]] = true;", ""),
        "what t reads has no bytes":
            ("remat_cut.c", "c->free[r->read[k]] = true;", ""),
        "what lives on is written over":
            ("remat_cut.c", "if (c->lent[v] > 0) c->free[v] = false;", ""),
        "what stays is written over":
            ("remat_cut.c", "|| c->stays[below]) continue;", ") continue;"),
        "all of a smaller value is saved":
            ("remat_cut.c", "int64_t bytes = r->bytes[below] < r->bytes[v] ? r->bytes[below]\n",
             "int64_t bytes = r->bytes[below] < r->bytes[v] ? r->bytes[v]\n"),
        "results are written over all they read":
            ("remat_cut.c", "r->over[k].result != v || c->stays[below]", "c->stays[below]"),
        "steps that run again cost what they make":
            ("remat_cut.c", "*cost += c->r->cost[c->costs[i].of];", "*cost += 99;"),
        "one maker of several runs again":
            ("remat_cut.c", "if (count == 1) return", "if (count >= 1) return"),
        "a step that runs again reads nothing":
            ("remat_cut.c", "add_whole(c, node, node_of_needed(c, v));", ""),
        "units are too large":
            ("remat_cut.c", "if (c->unit == 0) c->unit = 1;", "c->unit *= 2;"),
        "prices are for half the bytes":
            ("remat_cut.c", "price * (c->charge[c->bytes[i].of] / c->unit)",
             "price * ((c->charge[c->bytes[i].of] / c->unit + 1) / 2)"),
        "large costs are not made smaller":
            ("remat_bound.c", "shift++;", "break;"),
        "large prices are not made smaller":
            ("remat_bound.c", "price > FLOW_WHOLE / 2 / b->cut.all_units ||", ""),
        "the hull is left too early":
            ("remat_bound.c", "double most = -1;", "double most = 200;"),
        "the bound is rounded down":
            ("remat_bound.c", "(rest - 1) / line->scale + 1", "rest / line->scale"),
        "bytes that are no unit count as one":
            ("remat_bound.c", "(capacity - c->fixed) / c->unit",
             "(capacity - c->fixed + c->unit - 1) / c->unit"),
        "the fewest bytes do not fit":
            ("remat_bound.c", "if (capacity < c->point", "if (capacity <= c->point"),
        "the steps of a point are another's":
            ("remat_bound.c", "memcpy(recomputed, b.c.point[i].recomputed", "memcpy(recomputed, b.c.point[0].recomputed"),
    },
    "test_remat_schedules": {
        "the fullest are the emptiest":
            ("remat_bound.c", "x->bytes < y->bytes ? 1 : -1", "x->bytes > y->bytes ? 1 : -1"),
        "the search for the least ends too early":
            ("remat_bound.c", "if (full[i].bytes <= most) break;",
             "if (full[i].bytes <= 2 * most) break;"),
        "a result saves nothing":
            ("remat_cut.c", "c->lent[under] = bytes;", "c->lent[under] = 0;"),
        "costs have twice the weight":
            ("remat_cut.c", "c->r->cost[c->costs[i].of] * scale >> shift",
             "c->r->cost[c->costs[i].of] * scale * 2 >> shift"),
        "a bound that is less than what it was is taken":
            ("remat_bound.c", "if (bound >= 0 && bound <= most) continue;", ""),
    },
}

sys.exit(sum(plant(test, faults) for test, faults in FAULTS.items()))
