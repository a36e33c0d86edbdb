// Values that alias parts of larger values because copies are elided.
#ifndef CNNC_STRIDED_VIEWS_H
#define CNNC_STRIDED_VIEWS_H

#include "op/op.h"

// The value that a value aliases: all of it or, for a slice, a part.
typedef struct Within {
    ValueId whole;              // NONE: it aliases no value
    int64_t start, rows;        // the offset there in bytes, and the rows of
                                // the slice; 0, 0: all of it
} Within;

// Returns the aliases of all values of g by these nodes, which are g's in some
// order.  A view aliases its operand.  The result of an elided copy aliases a
// part of the operand, or, if it joins, the operands alias parts of the result.
Within *values_within(const Graph *g, const Node *nodes, int32_t count);

// The slices that a value may be.  A slice of one row is dense, so any kernel
// accepts it that does not depend on the alignment of its start.
typedef enum Sliceable {
    NO_SLICE,
    OF_ONE_ROW,                 // stored, neither state nor output
    OF_ROWS                     // real and made in the program, too; each
                                // kernel that reads or writes it, or computes
                                // on load from it, takes any array that it can
                                // index
} Sliceable;
Sliceable *values_sliceable(const Graph *g, const Node *nodes, int32_t count);
static inline bool may_have_rows(Sliceable may, int64_t rows)
{
    return may == OF_ROWS || (may == OF_ONE_ROW && rows == 1);
}

// Alignment in bytes of slices of one row, for kernels that read 32 bytes at
// once.
enum { ROW_ALIGNMENT = 32 };

// The columns of a value in its root (the end of alias_of): bytes begin to end
// of each row.  A value that is no slice covers all columns.
typedef struct Columns {
    int64_t begin, end;
} Columns;
Columns value_columns(const Graph *g, ValueId v);
static inline bool columns_meet(Columns a, Columns b)
{
    return a.begin < b.end && b.begin < a.end;
}

#endif
