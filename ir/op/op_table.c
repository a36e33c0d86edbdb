// The table of operators, from ops.def and ops/<name>.c.  Also the parser of
// slot lists, "x weight bias?", which name the operands and results of rows and
// parts:
//
//     weight      required
//     bias?       optional (NONE)
//     momentum!   persistent, and updated in place
//     x~          may be computed on load: Node.inlined
//     rows*       the last one: any number, also zero
//     x/          may be a slice of a larger value, as may x~: the kernel takes
//                 any array that it can index
//     x^          may have 16 bits, as may x~ and x/: the kernel has a type
//                 for it
//     x%          may have 8 bits with a scale, as may x~ and x/
//     [weight]    made by the operator, not passed to the call
#include <string.h>
#include "op_row.h"

#define OP(name, operands, flags, meaning)                                     \
    const char operands_of_##name[] = operands;                                \
    const char meaning_of_##name[] = meaning;
#include "../ops.def"
#undef OP

const Op *const ops[OP_COUNT] = {
#define OP(name, operands, flags, meaning) &op_##name,
#include "../ops.def"
#undef OP
};

// A linear search; no caller is performance-critical.
const Op *find_op(const char *name, size_t length)
{
    for (int i = 0; i < OP_COUNT; i++)
        if (strncmp(ops[i]->name, name, length) == 0 &&
            ops[i]->name[length] == '\0')
            return ops[i];
    return NULL;
}

bool takes_words(const ArgSpec *spec)
{
    return spec->type == ARG_WORD || spec->type == ARG_INIT ||
           spec->type == ARG_LABEL;
}

const Op *find_alias(const char *name)
{
    for (int i = 0; i < OP_COUNT; i++)
        if (ops[i]->alias != NULL && strcmp(ops[i]->alias, name) == 0)
            return ops[i];
    return NULL;
}

// Returns a row's operands without those in brackets.  The text is made on
// first use, once for each operator.
static const char *row_operands(const Op *op)
{
    enum { LIMIT = 100 };
    static char plain[OP_COUNT][LIMIT];
    int row = 0, length = 0;

    while (ops[row] != op) row++;
    if (plain[row][0] != '\0') return plain[row];
    if (strlen(op->operands) >= LIMIT)
        bug("%s: its row of operands is too long", op->name);
    for (const char *c = op->operands; *c != '\0'; c++)
        if (*c != '[' && *c != ']') plain[row][length++] = *c;
    return plain[row];
}

const char *kernel_operands(const Op *op, int kernel)
{
    const char *own = op->kernels[kernel].operands;
    return own != NULL ? own : row_operands(op);
}

// isalnum depends on the locale and is slow; every pass parses every slot.
static bool is_of_name(char c)
{
    return (c >= 'a' && c <= 'z') || c == '_' || (c >= '0' && c <= '9') ||
           (c >= 'A' && c <= 'Z');
}

int slot_name_length(const char *slot)
{
    int length = 0;
    while (is_of_name(slot[length])) length++;
    return length;
}

int kernel_slots(const char *list, Slot *slots, int limit)
{
    int count = 0;

    // A name, then its marks, then blanks.  row_operands has removed brackets.
    for (const char *c = list; *c != '\0' && count < limit;) {
        Slot slot = { .name = c, .length = slot_name_length(c) };
        for (c += slot.length; *c != '\0' && *c != ' '; c++) {
            slot.optional |= *c == '?';
            slot.updated |= *c == '!';
            slot.loads |= *c == '~';
            slot.variadic |= *c == '*';
            slot.sliced |= *c == '/' || *c == '~';
            slot.typed |= *c == '/' || *c == '~' || *c == '^';
            slot.scaled |= *c == '/' || *c == '~' || *c == '%';
            slot.integers |= *c == '#';
        }
        while (*c == ' ') c++;
        slots[count++] = slot;
    }
    return count;
}

const Slot *slot_at(const Slot *slots, int count, int k)
{
    return &slots[k < count ? k : count - 1];
}

bool slot_is(const Slot *slot, const char *name)
{
    size_t length = (size_t)slot->length;
    return length == strlen(name) && memcmp(slot->name, name, length) == 0;
}

static int slot_called(const char *list, const char *name, int most)
{
    Slot slots[MAX_SLOTS];
    int count = kernel_slots(list, slots, MAX_SLOTS);
    for (int k = 0; k < count && k < most; k++)
        if (slot_is(&slots[k], name)) return k;
    return NONE;
}

int operand_called(const Node *n, const char *name)
{
    return slot_called(kernel_operands(n->op, n->kernel), name,
                       n->operand_count);
}

ValueId operand_named(const Node *n, const char *name)
{
    int k = operand_called(n, name);
    return k != NONE ? n->operands[k] : NONE;
}

ValueId result_named(const Node *n, const char *name)
{
    int k =
        slot_called(n->op->kernels[n->kernel].results, name, n->result_count);
    return k != NONE ? n->results[k] : NONE;
}

// Sets *slot to slot k; false if the list is shorter.
static bool slot_of(const char *list, int k, Slot *slot)
{
    Slot slots[MAX_SLOTS];
    if (k >= kernel_slots(list, slots, MAX_SLOTS)) return false;
    *slot = slots[k];
    return true;
}

bool may_write_over(const Node *n, int r, int k)
{
    const Kernel *kernel = &n->op->kernels[n->kernel];
    Slot result, operand;

    if (kernel->in_place == NULL || !slot_of(kernel->results, r, &result) ||
        !slot_of(kernel_operands(n->op, n->kernel), k, &operand))
        return false;
    // Pairs are compared as text, "dx/dy" with "dx" and "dy", since both come
    // from the same row of names.
    for (const char *pair = kernel->in_place; *pair != '\0';) {
        int length = (int)strcspn(pair, " ");
        if (length == result.length + 1 + operand.length &&
            memcmp(pair, result.name, (size_t)result.length) == 0 &&
            pair[result.length] == '/' &&
            memcmp(pair + result.length + 1, operand.name,
                   (size_t)operand.length) == 0)
            return true;
        pair += length;
        pair += strspn(pair, " ");
    }
    return false;
}

// True if each operand or result that is v has the mark for slices, or for
// integers with a scale.
static bool all_marked(const char *list, int count, const ValueId *ids,
                       ValueId v, bool scaled)
{
    Slot slots[MAX_SLOTS] = {{0}};
    int slot_count = kernel_slots(list, slots, MAX_SLOTS);
    for (int k = 0; k < count; k++)
        if (ids[k] == v && !(scaled ? slot_at(slots, slot_count, k)->scaled
                                    : slot_at(slots, slot_count, k)->sliced))
            return false;
    return true;
}

bool same_attributes(const Node *a, const Node *b)
{
    for (int k = 0; k < MAX_ATTRS; k++)
        if (a->attr[k].i != b->attr[k].i) return false;
    return true;
}

int kernel_again(const Node *n, int *results)
{
    const Kernel *kernels = n->op->kernels;
    bool sums = kernels[n->kernel].partials != NULL && n->phase == FORWARD;
    *results = sums ? 1 : n->result_count;
    for (int k = 0; sums && kernels[k].results != NULL; k++)
        if (kernels[k].reducing == n->kernel) return k;
    return n->kernel;
}

bool has_update(const Node *n)
{
    int moments = n->op->moments;
    return n->op->update != NULL && n->kernel == 0 &&
           moments < n->operand_count && n->operands[moments] != NONE;
}

bool is_operand(const Node *n, ValueId v)
{
    for (int k = 0; k < n->operand_count; k++)
        if (n->operands[k] == v) return true;
    return false;
}

bool is_normalized(const Node *n)
{
    return n->kernel != 0 && n->op->kernels[0].normalizing == n->kernel;
}

bool may_be_pooled(const Node *n)
{
    return n->op->pooling != NULL && (n->kernel == 0 || is_normalized(n));
}

bool made_once(const Node *n, ValueId v)
{
    int results;
    kernel_again(n, &results);
    for (int k = results; k < n->result_count; k++)
        if (n->results[k] == v) return true;
    return false;
}

bool is_last(const Node *n)
{
    return n->grouped && n->op->kernels[n->kernel].last != NULL;
}

static bool takes(const Node *n, ValueId v, bool scaled)
{
    return all_marked(kernel_operands(n->op, n->kernel), n->operand_count,
                      n->operands, v, scaled) &&
           all_marked(n->op->kernels[n->kernel].results, n->result_count,
                      n->results, v, scaled);
}

bool takes_slice(const Node *n, ValueId v)
{
    return takes(n, v, false);
}

bool takes_scaled(const Node *n, ValueId v)
{
    return takes(n, v, true);
}
