// Between the files of the reader of graphs.  All of these report what is wrong
// by read_fail, and return anything then.
#ifndef CNNC_READ_H
#define CNNC_READ_H

#include "../op/op.h"
#include "text.h"

// ---- read.c -----------------------------------------------------------------

// Keeps the place of this line as that of value or node id.
void note_place(Reader *r, Pos **places, int32_t *capacity, int32_t id);

// ---- read_value.c -----------------------------------------------------------

// %id, which may be of a value to come, or the name of one declared before.
ValueId read_reference(Reader *r);
// A declaration; the header, which every graph has, may be declared again.
ValueId read_value(Reader *r);

// ---- read_node.c ------------------------------------------------------------

// name: results = op.kernel(operands) attributes @position
void read_node(Reader *r, Phase phase);
// What the train section calls: an operator with attributes.
void read_called(Reader *r, const Op **op, Attr *attr, Pos *pos);

#endif
