#!/usr/bin/env python3
"""Plants faults in the check of copies to host memory and in the search for them.

    planted.py BUILD ROOT CC        FAULT in the environment: those with that text in their names

The unit test finds each.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import plant_faults  # noqa: E402

FAULTS = {
    # The verifier.
    "an event may be two copies' at once":
        ("verify_offload.c", "if (c->flying[event] != NONE)\n", "if (false)\n"),
    "a value may go twice":
        ("verify_offload.c", 'if (c->gone[v]) return wrong(c, n, "it has gone before");', ""),
    "what went is not noted":
        ("verify_offload.c", "byte_map_write(c->host, place, end, v);",
         "byte_map_write(c->host, place, end, NONE);"),
    "what comes back need not be what went":
        ("verify_offload.c", "if (byte_map_differs(c->host, place, end, of, &other))",
         "if (false && byte_map_differs(c->host, place, end, of, &other))"),
    "what comes back need not have gone":
        ("verify_offload.c", "if (of == NONE || !c->gone[of])", "if (of == NONE)"),
    "a wait may be for another event":
        ("verify_offload.c", "!begun || c->event[v] != event || c->flying[event] != v", "!begun"),
    "a wait may be for no copy":
        ("verify_offload.c", "if (!begun || c->event[v] != event || c->flying[event] != v)",
         "if (begun && (c->event[v] != event || c->flying[event] != v))"),
    "what is on its way may be read":
        ("verify_offload.c", "if (c->back[reads[k]] && c->event[reads[k]] != 0)", "if (false)"),
    "nothing need be waited for":
        ("verify_offload.c", "if (c.flying[i] != NONE)", "if (false)"),
    "an output may leave":
        ("verify_offload.c", "value->persistent || value->output ||", "value->persistent ||"),
    "a parameter may leave":
        ("verify_offload.c", "value->persistent || value->output ||", "value->output ||"),
    "there is an event 0":
        ("verify_offload.c", "|| event < 1 ||", "|| event < 0 ||"),
    "there are places before the first":
        ("verify_offload.c", "place < 0 || place", "place"),
    "a plan's copies may be in any order":
        ("verify_program.c", "return check_copies(a->arena, a->g, nodes, count);", "return NULL;"),
    "a plan may have other places":
        ("verify_program.c", "step->host == (begins_copy(n) ? n->attr[COPY_PLACE].i : -1)",
         "true"),
    "a plan may have more host memory":
        ("verify_program.c", "if (end != a->plan->host_bytes)", "if (false)"),
    "a copy is no value again":
        ("verify_recompute.c", "if (n->phase == RECOMPUTE || is_copy(n)) check_copied(c, v);",
         "if (n->phase == RECOMPUTE) check_copied(c, v);"),
    # The cost of copies.
    "copies are at once":
        ("ir/gpu/offload.c", "done[v] = link = capped_sum(link > now ? link : now, time);",
         "done[v] = capped_sum(now, time);"),
    "a wait takes no time":
        ("ir/gpu/offload.c", "now = done[v];", ""),
    "a launch of a copy takes time":
        ("gpu_model.c", "if (!is_launch(n) || is_copy(n)) return 0;", "if (!is_launch(n)) return 0;"),
    "a copy has no launch":
        ("gpu_model.c", "return capped_sum(gpu->launch, time_at(bytes, gpu->host, MILLION));",
         "return time_at(bytes, gpu->host, MILLION);"),
    # The values that stay, and when.
    "an output may stay":
        ("host_model.c", "value->persistent || value->output ||", "value->persistent ||"),
    "what was written over stays":
        ("host_model.c", "s->holds[s->root[n->results[k]]] = n->results[k];",
         "if (s->holds[s->root[n->results[k]]] == NONE) "
         "s->holds[s->root[n->results[k]]] = n->results[k];"),
    "an output dies":
        ("host_model.c", "int32_t last = s->kept[v] ? end : s->last[v];",
         "int32_t last = s->last[v]; (void)end;"),
    "an input is not there before it is read":
        ("host_model.c", "value->def == NONE ? 0 : s->first[v]", "s->first[v]"),
    "a copy out takes bytes above the level":
        ("host_model.c", "               m->alive[at] + s->bytes <= level)\n", "               true)\n"),
    "a copy in takes bytes above the level":
        ("host_model.c", "               m->alive[at - 1] + s->bytes <= level)\n",
         "               true)\n"),
    "a copy out takes no bytes":
        ("host_model.c", "m->alive[at++] += s->bytes;", "at++;"),
    "a copy in takes no bytes":
        ("host_model.c", "m->alive[--at] += s->bytes;", "--at;"),
    "what is not needed is offloaded":
        ("host_model.c", "    drop_unneeded(m, level);\n    host_layout", "    host_layout"),
    "values are named by their numbers":
        ("host_model.c", "m->stay[i].offloaded = true;\n    }\n    host_layout(m, offloading->level);",
         "m->stay[k].offloaded = true;\n    }\n    host_layout(m, offloading->level);"),
    # Steps.
    "no wait for a copy out":
        ("host_copies.c", "int8_t part = COPY_OUT; s->offloaded && part <= COPY_IN_WAIT;\n             part++)",
         "int8_t part = COPY_OUT; s->offloaded && part <= COPY_IN_WAIT;\n             part += part == COPY_OUT ? 2 : 1)"),
    "a copy in begins before that out is done":
        ("host_copies.c", "[COPY_IN] = s->due,", "[COPY_IN] = s->from,"),
    "places are free at once":
        ("host_copies.c", "if (steps[i].part == COPY_IN) items[item_of[stay]].last = i;", 
         "if (steps[i].part == COPY_IN) items[item_of[stay]].last = items[item_of[stay]].first;"),
    "events are free at once":
        ("host_copies.c", "taken[event[stay]] = begins;", ""),
    "who reads is not told of what came back":
        ("remat_apply.c", "if (makes) results[0] = w->now[v] = value_again",
         "if (makes) results[0] = value_again"),
}
if __name__ == "__main__":
    sys.exit(plant_faults.plant("test_offload", FAULTS) > 0)
