// The slots of an operator's operands and results, from the text of its row to
// the values of a node.  op.h includes this.
#ifndef CNNC_SLOTS_H
#define CNNC_SLOTS_H

// Returns the text of a part's operands (for part 0, the row's, no brackets).
const char *kernel_operands(const Op *op, int kernel);
// Returns the length of a slot's name; marks follow.
int slot_name_length(const char *slot);
// A slot's name in an operand or result list, and its marks.
typedef struct Slot {
    const char *name;
    int         length;
    bool        optional, updated, loads, variadic, sliced, scaled, typed;
    bool        integers;
} Slot;
// Splits a list into at most limit slots; returns their number.
int kernel_slots(const char *list, Slot *slots, int limit);
// Returns the slot of operand or result k among count slots: the last slot also
// stands for all later ones.
const Slot *slot_at(const Slot *slots, int count, int k);
bool slot_is(const Slot *slot, const char *name);
// Returns the index of the operand of n in the slot of this name, or NONE.
int operand_called(const Node *n, const char *name);
// Returns the operand or result of n in the slot of this name, or NONE.
ValueId operand_named(const Node *n, const char *name);
ValueId result_named(const Node *n, const char *name);
// True if result r of n may overwrite operand k.
bool may_write_over(const Node *n, int r, int k);
// True if all attributes are bitwise equal; lists must be the same list.
bool same_attributes(const Node *a, const Node *b);
// Returns the part that recomputes n, whose operands are n's first.  Sets
// *results to the number of results that it makes: sums (Kernel.reducing) are
// made once.
int kernel_again(const Node *n, int *results);
// True if v is a result of n that a recomputation of n does not make.
bool made_once(const Node *n, ValueId v);
// True if n has an update (Op.update).
bool has_update(const Node *n);
// True if n reads v directly, not only on load.
bool is_operand(const Node *n, ValueId v);
// True if n is the part that applies a batch norm (Kernel.normalizing).
bool is_normalized(const Node *n);
// True if n makes a map in a way that Op.pooling knows.
bool may_be_pooled(const Node *n);
// True if n is done by the last block of the launch that it is grouped with.
bool is_last(const Node *n);
// True if every slot of n that has value v accepts a slice.
bool takes_slice(const Node *n, ValueId v);
// True if every slot of n that has value v accepts integers with a scale.
bool takes_scaled(const Node *n, ValueId v);

#endif
