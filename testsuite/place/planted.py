#!/usr/bin/env python3
"""Faults planted in the search for addresses, each found by the unit test.

    planted.py BUILD ROOT CC
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tools"))
from plant_faults import plant  # noqa: E402

# The planted faults: a file, a text in it, and the replacement.
FAULTS = {
    "a section keeps a byte free":
        ("place_blocks.c", "s->capacity - section->need;", "s->capacity - section->need - 1;"),
    "all twins are tried":
        ("place_tree.c", "fits = !twin_failed(s, block) &&", "fits = "),
    "a section ends only where something begins":
        ("place_blocks.c", "(begun && ends[step])", "(begun && ends[step] && begins[step])"),
    "the ground is not put back":
        ("place_blocks.c", "set(s, &other->ground, top);", "other->ground = top;"),
    "what a section needs is not put back":
        ("place_blocks.c", "s->sections[t].need += b->size;\n        s->sections[t].across += t",
         "s->sections[t].across += t"),
    "a support lies higher than it is":
        ("place_tree.c", "support = low + other->size;", "support = low + other->size + 1;"),
    "what is in the way must be lower":
        ("place_tree.c", "return in_way < top &&", "return in_way + 1 < top &&"),
    "the roof is a byte lower":
        ("place_tree.c", "return lowest < roof ||", "return lowest + 1 < roof ||"),
    "parts come apart too early":
        ("place_tree.c", "sections[t].across > 0) continue;", "sections[t].across > 1) continue;"),
    "work that is spent is a proof":
        ("place_search.c", "if (verdict != IMPOSSIBLE) return false;", ""),
    "joined blocks lie in the same bytes":
        ("place_search.c", " + s->within[i];", ";"),
    "work is not counted":
        ("place_search.c", "s->p->work -= work - s->work;", ""),
    "the clock is not looked at":
        ("place.c", "if (!p->is_late()) return false;", "return false;"),
    "time that is up is worth a placement":
        ("place_gaps.c", "return INT64_MAX;", "return top;"),
}


sys.exit(plant("test_place", FAULTS))
