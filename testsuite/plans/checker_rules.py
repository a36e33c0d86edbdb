"""The rules of the plan's checker, each with the message that it refuses a plan with.

The rules that planted_rules.py takes out of a copy of the checker, by file and message: their texts
and replacements; and words: WHOLE where only the emitted file shows the harm, or nets that alone
can have it.
"""
import os
import re

WHOLE = "with verify_program.c"
SLICES, ACCUMULATED, HOSTED = ("slices",), ("accumulate_grad",), ("hosted",)

FILES = ["verify_plan.c", "verify_replay.c", "verify_program.c", "verify_buffers.c"]

RULES = [
    ("verify_plan.c", "step %d %s names no buffer", [
        ("reads name buffers", "!all_there(step->reads, step->read_count, plan)", "false"),
        ("writes name buffers", "!all_there(step->writes, step->write_count, plan)", "false"),
        ("steps and aliases name what has bytes", "plan->buffers[list[i]].fused_load", "false"),
    ]),
    ("verify_plan.c", "%s aliases no buffer", [
        ("aliases name buffers", "!all_there(&other, 1, plan)", "false"),
        ("what has no bytes lies in nothing",
         " ||\n"
         "                              plan->buffers[k].fused_load)", ")"),
    ]),
    ("verify_plan.c", "%s has no bytes", [
        ("what has no bytes is not kept", "buffer->persistent || buffer->output\n", "false\n"),
    ]),
    ("verify_plan.c", "aliases lead in a circle", [
        ("no circles", "if (ends[at] == on_path) return false;", ""),
    ]),
    ("verify_plan.c", "%s has no type", [
        ("types", "buffer->dtype >= DTYPE_COUNT ||", "false ||"),
        ("kinds", "buffer->kind >= KIND_COUNT ||", "false ||"),
        ("ranks", "buffer->shape.rank < 0 || buffer->shape.rank > MAX_RANK)", "false)"),
    ]),
    ("verify_plan.c", "%s does not hold its shape", [
        ("holds its shape", "needed < 0 || buffer->bytes <= 0 || buffer->bytes < needed", "false"),
    ]),
    ("verify_plan.c", "%s is larger than its shape", [
        ("not larger than its shape",
         "buffer->kind != WORKSPACE && buffer->bytes - needed > ALIGNMENT", "false"),
    ]),
    ("verify_plan.c", "%s is outside the arena", [
        ("inside the arena",
         "buffer->offset < 0 || buffer->offset > c->plan->arena_bytes ||\n"
         "        buffer->bytes > c->plan->arena_bytes - buffer->offset", "false"),
    ]),
    ("verify_plan.c", "%s is not persistent", [
        ("state is persistent", "is_persistent(buffer->kind) && !root->persistent", "false"),
    ]),
    ("verify_plan.c", "%s is an output, and its value is not", [
        ("what an output is a name for is one",
         "buffer->output && !c->plan->buffers[c->value[k]].output", "false", WHOLE, HOSTED),
    ]),
    ("verify_plan.c", "%s is no slice of %s", [
        ("what is no slice covers its root",
         "rows == 0 || buffer->bytes == root->bytes", "true", SLICES),
        ("as many rows as the root's", "buffer->rows == rows &&\n", "\n", SLICES),
        ("the root is whole rows", "root->bytes % rows == 0 && ", "", SLICES),
        ("a slice is whole rows", "buffer->bytes % rows == 0 &&\n", "\n", SLICES),
        ("the stride is a row of the root",
         "root->bytes / rows == buffer->stride &&\n", "\n", SLICES),
        ("no column before the root's", "column >= 0 && ", "", SLICES),
        ("no column behind the root's",
         "column >= 0 && column <= buffer->stride - buffer->bytes / rows", "column >= 0", SLICES),
    ]),
    ("verify_plan.c", "%s is not aligned", [
        ("alignment", "buffer->offset % ALIGNMENT != 0", "false"),
    ]),
    ("verify_plan.c", "%s is not inside %s", [
        ("an alias lies in its parent",
         "own.begin < parent.begin || own.end > parent.end", "false"),
    ]),
    ("verify_plan.c", "%s states a life of", [
        ("lives are stated",
         "first == NONE || buffer->first != first || buffer->last != last", "first == NONE"),
    ]),
    ("verify_plan.c", "%s is not where a batch ends", [
        ("batches end where updates begin", "(step->phase == UPDATE) != updates", "false",
         ACCUMULATED),
    ]),
    ("verify_plan.c", "%s reads %s of the last batch alone", [
        ("updates read what persists",
         "!plan->buffers[k].persistent &&\n"
         "                c->first[k] < plan->batch_steps", "false", ACCUMULATED),
    ]),
    ("verify_plan.c", "%s and %s share bytes", [
        ("no overlap",
         "byte_map_differs(alive, begin, end, NONE, &other)", "(void)(other = 0), false"),
    ]),
    ("verify_plan.c", "at most %lld bytes are alive", [
        ("the bound", "most != c->plan->max_live_bytes", "false"),
    ]),
    ("verify_plan.c", "the buffers end at", [
        ("the arena's end", "round_up(top) != round_up(c->plan->arena_bytes)", "false"),
    ]),
    ("verify_replay.c", "%s: a declared overwrite", [
        ("what is said of in place",
         "const char *wrong = check_said(c, step);",
         "const char *wrong = step->in_place_count < 0 ? check_said(c, step) : NULL;"),
    ]),
    ("verify_replay.c", "%s writes %s and %s to the same", [
        ("writes of a step apart", "if (overlap(c, k, step->writes[j]))", "if (false)"),
    ]),
    ("verify_replay.c", "%s writes %s over %s", [
        ("writing over what is read is said",
         "!is_said(step, k, read)", "step->in_place_count < 0 && !is_said(step, k, read)"),
    ]),
    ("verify_replay.c", "%s writes %s again", [
        ("written again", "!reads_it && was_written(c, k)", "false && reads_it"),
        ("what is written over a part is written",
         "while (part != NONE && part != k) part = c->before[part];\n"
         "    if (part == k) return;", "if (was_written(c, k)) return;", SLICES),
    ]),
    ("verify_replay.c", "%s needs %s", [
        ("reads find their value",
         "wrong = check_held(c, memory, step->name, step->reads[j]);", "wrong = NULL;"),
        ("the end finds what is kept",
         "wrong = check_held(c, memory, \"the end\", k);", "wrong = NULL;"),
    ]),
    ("verify_buffers.c", "%d buffers for %d values", [
        ("as many buffers as values", "a->plan->buffer_count != a->g->value_count", "false"),
    ]),
    ("verify_buffers.c", "%s differs from the program", [
        ("buffers are as the program says",
         "!is_value(a, v, &a->plan->buffers[v])", "v < 0 && !is_value(a, v, NULL)"),
    ]),
    ("verify_buffers.c", "%s does not alias %s as", [
        ("names lie where the program says",
         "buffers[v].offset - within.start != whole->offset ||\n", "\n", SLICES),
        ("names have the rows that the program says",
         "buffers[v].rows != (within.rows > 0 ? within.rows : whole->rows)", "false", SLICES),
    ]),
    ("verify_buffers.c", "%s is a slice, which not all", [
        ("slices where launches take them",
         "!may_have_rows(may[v], a->plan->buffers[v].rows)", "v < 0", SLICES),
    ]),
    ("verify_buffers.c", "the state is not laid out", [
        ("the layout of the state",
         "in_order && end == a->plan->state_bytes", "end >= 0 || in_order"),
    ]),
    ("verify_program.c", "step %s differs from the reads", [
        ("reads and writes of the launch",
         "if (i == NONE && reads == step->read_count && writes == step->write_count)\n"
         "        return NULL;", "if (reads >= 0) return NULL;"),
        ("copies lie where the program says",
         "step->host == (begins_copy(n) ? n->attr[COPY_PLACE].i : -1)", "true", HOSTED),
    ]),
    ("verify_program.c", "%s may not overwrite as it", [
        ("in place where the operator may", "may_lie_over(a->g, &a->nodes[i], r, read)", "true",
         ("skip",)),
    ]),
    ("verify_program.c", "no step launches %s", [
        ("a step for each launch", "is_launch(&a->nodes[i]) && !found[i]", "i < 0"),
    ]),
    ("verify_program.c", "step %s launches %s", [
        ("a launch for each step",
         "if (i == NONE || found[i])\n",
         "if (i == NONE || found[i]) continue;\n"
         "        if (i == NONE)\n"),
    ]),
    ("verify_program.c", "%s comes too late", [
        ("updates in order", "if (late)", "if (late && i < 0)"),
    ]),
    ("verify_program.c", "%s is launched with others", [
        ("updates apart from who touches what they change",
         "if ((updates ? o->touched_at[v] : o->updated_at[v]) == at &&\n",
         "if (at < 0 &&\n", ACCUMULATED),
    ]),
    ("verify_program.c", "copies end at", [
        ("the end of host memory", "end != a->plan->host_bytes", "end < 0", HOSTED),
    ]),
    ("verify_program.c", "batches end where the program has no end", [
        ("no batch ends where none are added up", "if (!any || count < 1 ||",
         "if (!any) return NULL;\n    if (count < 1 ||"),
        ("a batch ends somewhere", "    if (!any || count < 1 ||",
         "    if (count == 0) return NULL;\n    if (!any || count < 1 ||", ACCUMULATED),
    ]),
]

# Messages that a stricter rule of verify_program.c gives instead: planted_rules.py needs them.
SHADOWED = {
    "step %d %s names no buffer", "%s has no type", "%s is not where a batch ends",
    "%s reads %s of the last batch alone", "%s writes %s again",
}


def rules_said():
    """The messages that corruptions can be refused with."""
    return [says for _, says, _ in RULES if says not in SHADOWED]


def is_said(text, says, before=""):
    """True if the text has this message, after a match of `before`."""
    message = ".*".join(map(re.escape, re.split(r"%\w+", says)))
    return bool(re.search(before + message, text))


# Messages that no rule here gives, and why.
EXCEPTIONS = {
    ("verify_program.c", "a batch ends with %s"):
        "verify_plan.c has the end where updates begin, and the order of who touches the header "
        "has what ends a batch behind all that count its samples: any other end does no harm",
}

# The return of a checker's function: a text, or one that is printed.
LITERALS = r'((?:"(?:[^"\\]|\\.)*"|PRId64|\s)+)'
MESSAGE = re.compile(r"arena_print\(\w+->arena,\s*" + LITERALS + r"|return\s+(?=\")" + LITERALS)


def messages(text):
    """Returns the messages that a checker's file can return."""
    return ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', match[1] or match[2]))
            for match in MESSAGE.finditer(text)]


def unclaimed(root, groups=None, exceptions=None):
    """Returns the mismatches of messages and rules, a line each."""
    groups = RULES if groups is None else groups
    claims = [(file, says) for file, says, rules in groups if rules]
    claims += EXCEPTIONS if exceptions is None else exceptions
    faults, used = [], set()
    for name in FILES:
        with open(os.path.join(root, "ir/verify", name), encoding="utf-8") as file:
            found = messages(file.read())
        for message in found:
            by = [claim for claim in claims if claim[0] == name and message.startswith(claim[1])]
            used.update(by)
            if len(by) != 1:
                faults.append(f"{name}: {len(by)} rows for the message {message}")
    faults += [f"{file}: no message is {says}" for file, says in claims
               if (file, says) not in used]
    return faults
