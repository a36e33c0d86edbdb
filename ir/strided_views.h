// Values that lie in larger ones because copies between them are in place.
#ifndef CNNC_STRIDED_VIEWS_H
#define CNNC_STRIDED_VIEWS_H

#include "op/op.h"

// What a value is a name for: all or, of a slice, part of another one.
typedef struct Within {
    ValueId whole;              // NONE: it is a name for nothing
    int64_t start, rows;        // bytes from where that begins, and the rows of
                                // the slice; 0, 0: it is the whole
} Within;

// Of each value of g, as these nodes say, which are g's in some order: a view
// is its operand, what a copy in place makes is part of that, and what one
// joins is part of what it makes.
Within *values_within(const Graph *g, const Node *nodes, int32_t count);

// What a value may be a slice of.  Of one row it is dense, so any kernel takes
// it that is no worse for where it begins.
typedef enum Sliceable {
    NO_SLICE,
    OF_ONE_ROW,                 // it is stored, no state and no output
    OF_ROWS                     // a real number's and made in the program, too,
                                // and each kernel that reads or makes it, or
                                // computes on load from it, takes any array
                                // that it can index
} Sliceable;
Sliceable *values_sliceable(const Graph *g, const Node *nodes, int32_t count);
static inline bool may_have_rows(Sliceable may, int64_t rows)
{
    return may == OF_ROWS || (may == OF_ONE_ROW && rows == 1);
}

// Bytes that a slice of one row begins at a multiple of, for kernels that read
// as many at once.
enum { ROW_ALIGNMENT = 32 };

// Where a value lies in the root of its class, which it leads to by alias_of,
// by columns: bytes begin .. end of each row.  What is no slice covers all.
typedef struct Columns {
    int64_t begin, end;
} Columns;
Columns value_columns(const Graph *g, ValueId v);
static inline bool columns_meet(Columns a, Columns b)
{
    return a.begin < b.end && b.begin < a.end;
}

#endif
