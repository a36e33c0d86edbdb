// Functions of the reader of graphs.  All report errors by read_fail, and then
// return any value.
#ifndef CNNC_READ_H
#define CNNC_READ_H

#include "../op/op.h"
#include "text.h"

// ---- read.c -----------------------------------------------------------------

// Stores the place of this line as that of the value or node id.
void note_place(Reader *r, Pos **places, int32_t *capacity, int32_t id);

// ---- read_value.c -----------------------------------------------------------

// Reads %id, which may be declared later, or the name of a declared value.
ValueId read_reference(Reader *r);
// Reads a declaration; the header, which exists already, may be declared again.
ValueId read_value(Reader *r);

// ---- read_node.c ------------------------------------------------------------

// Reads name: results = op.part(operands) attributes @position
void read_node(Reader *r, Phase phase);
// Reads an operator of the train section with its attributes.
void read_called(Reader *r, const Op **op, Attr *attr, Pos *pos);

#endif
