// The slots of an operator's operands and results: from the text of its row to
// what a node has in them.  op.h includes this.
#ifndef CNNC_SLOTS_H
#define CNNC_SLOTS_H

// The text of a kernel's operand list (the row's, brackets removed, for kernel
// 0).
const char *kernel_operands(const Op *op, int kernel);
// How many of a slot's characters are its name; marks follow.
int slot_name_length(const char *slot);
// Slot k's name in an operand or result list, and its marks.
typedef struct Slot {
    const char *name;
    int         length;
    bool        optional, updated, loads, variadic, sliced, typed, integers;
} Slot;
// Splits a list, up to its first limit slots; returns how many these are.
int kernel_slots(const char *list, Slot *slots, int limit);
// Of a list's slots, count of them, that of operand or result k: the last also
// stands for all that come after it.
const Slot *slot_at(const Slot *slots, int count, int k);
bool slot_is(const Slot *slot, const char *name);
// Which operand of n is in the slot of this name; NONE: there is no such slot.
int operand_called(const Node *n, const char *name);
// The operand or result of n that is in such a slot; NONE: there is none.
ValueId operand_named(const Node *n, const char *name);
ValueId result_named(const Node *n, const char *name);
// Whether result r of n may be written over operand k.
bool may_write_over(const Node *n, int r, int k);
// Whether all attributes have the same bits; lists must be the same list.
bool same_attributes(const Node *a, const Node *b);
// Whether n is done by the block that ends last of the launch it is grouped
// with.
bool is_last(const Node *n);
// Whether every slot of n that has value v may have a slice.
bool takes_slice(const Node *n, ValueId v);

#endif
