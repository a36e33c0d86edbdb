#!/usr/bin/env python3
"""Faults planted in the solver of chains, each found by its unit test.

    planted.py BUILD ROOT CC
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tools"))
from plant_faults import plant  # noqa: E402

# The planted faults: a file, a text in it, and the replacement.
FAULTS = {
    "the first gradient takes no bytes":
        ("chain.c", "w.alive = w.peak = c->stages[c->count - 1].gradient;", ""),
    "a way's runs forward are free":
        ("chain.c", "case CHAIN_WAY:  cost += stage->ways[way].forward; break;",
         "case CHAIN_WAY: break;"),
    "a map that is lent ends":
        ("chain.c", "return i == 0 || (w->way[i - 1] != NULL && w->way[i - 1]->reads_output);",
         "return i == 0;"),
    "what a way keeps takes no bytes":
        ("chain.c", ".held = (ends ? 0 : input) + way->kept +",
         ".held = (ends ? 0 : input) +"),
    "an input that nobody reads stays":
        ("chain.c", ".held = (ends ? 0 : input) + way->kept +", ".held = input + way->kept +"),
    "no gradient while a way runs":
        ("chain.c", "int64_t forward = c->stages[t].gradient +", "int64_t forward ="),
    "no gradient while maps are made":
        ("chain.c", "input + c->stages[t].gradient + peak", "input + peak"),
    "an input ends before it is read again":
        ("chain.c", "int64_t peak = at - 1 == s ? stage->peak.held : stage->peak.last;",
         "int64_t peak = stage->peak.last - input;"),
    "backward runs have no peak":
        ("chain.c", ".need = larger(forward, backward),", ".need = forward,"),
    "outputs that are read are not held":
        ("chain.c", "(way->reads_output ? stage->output : 0),\n        .owns", "0,\n        .owns"),
    "outputs that are read end early":
        ("chain.c", ".owns = !way->reads_output,", ".owns = true,"),
    "a turn's input always stays":
        ("chain.c", ".need = owns ? turn->peak.last : turn->peak.held,",
         ".need = turn->peak.held,"),
    "the last way is not tried":
        ("chain_table.c", "s < e && i < stage->way_count", "s < e && i + 1 < stage->way_count"),
    "splits at the end are not tried":
        ("chain_table.c", "for (int32_t at = tile->low; at <= e; at++)",
         "for (int32_t at = tile->low; at < e; at++)"),
    "splits within a tile are not tried":
        ("chain_table.c", "at < tile->high && at <= e; at++",
         "at + 1 < tile->high && at <= e; at++"),
    "sizes are rounded down":
        ("chain_table.c", "t->rounding == CHAIN_UP && ", "false && "),
    "sizes are always rounded up":
        ("chain_table.c", "t->rounding == CHAIN_UP && ", ""),
    "the rest has all bytes":
        ("chain_table.c", "sum_rows(f->best + at, a->cost + (at - held - a->low),",
         "sum_rows(f->best + at, a->cost + (at - a->low),"),
    "rows end a capacity early":
        ("chain_table.c", "row.high = first_as_cheap(f, top);",
         "row.high = first_as_cheap(f, top) - 1;\n    if (row.high < row.low) row.high = row.low;"),
    "a row is not cleared":
        ("chain_table.c", "    clear(f);\n    return row;", "    return row;"),
    "a row is given up too early":
        ("chain_table.c", "int32_t to = first_as_cheap(f, cheapest);",
         "int32_t to = first_as_cheap(f, cheapest + 1);"),
    "the least bytes are those of the first part":
        ("chain_table.c", "t->least[owns][again]));", "0));"),
    "cheapest is without splits":
        ("chain_table.c", "lower(&b, (double)split.cost + t->cheapest[rest] + t->cheapest[again],",
         "lower(&b, INFINITY,"),
    "the capacity is a column short":
        ("chain_table.c", "t->columns = (int32_t)(largest / t->unit) + 1;",
         "t->columns = (int32_t)(largest / t->unit) + (largest == 0);"),
    "what is held is not missed":
        ("chain_find.c", "bytes - p.choice.held);\n        e = p.at - 1;",
         "bytes);\n        e = p.at - 1;"),
    "what does not fit is taken":
        ("chain_find.c", "if (a->need > bytes) return false;", ""),
    "the dearer of two is taken":
        ("chain_find.c", "return b->need > bytes || a->cost < b->cost;",
         "return b->need > bytes || a->cost > b->cost;"),
    "the checkpoint is dropped":
        ("chain_find.c", "i == s ? CHAIN_KEEP : CHAIN_DROP", "CHAIN_DROP"),
    "a table that rounds is read once":
        ("chain_find.c", "chain_cost(t->chain, &other) < chain_cost(t->chain, p)",
         "chain_cost(t->chain, &other) > chain_cost(t->chain, p)"),
}

sys.exit(plant("test_chain", FAULTS, words=["1000"]))
