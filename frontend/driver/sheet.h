// A table for people and programs: its columns are described once, and it is
// printed as text, CSV or JSON.
//
//     static const SheetColumn columns[] = {
//         { "pass", "passes", AS_TEXT },
//         { "arena_bytes", "arena bytes", AS_COUNT },
//         { NULL, "MiB", AS_MIB },
//     };
//     Sheet *s = sheet_new(arena, "compare", columns, 3);
//     sheet_row(s);
//     put_text(s, "simplify");
//     put_count(s, 12345678);
//
//     text   passes    arena bytes    MiB
//            simplify     12345678  11.77
//     CSV    pass,arena_bytes
//            simplify,12345678
//     JSON   {"schema": 1, "compare": [{"pass": "simplify",
//                                       "arena_bytes": 12345678}]}
#ifndef CNNC_SHEET_H
#define CNNC_SHEET_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../../ir/base/arena.h"

typedef enum Format { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON } Format;

// The type of a column's cells, and how text shows them.
typedef enum SheetKind {
    AS_TEXT,
    AS_SHAPE,                   // text: list of integers, as [8, 8, 1]; an
                                // array in JSON
    AS_TRUTH,                   // "yes" or "no"
    AS_NUMBER,                  // a double: %g
    AS_SHARE,                   // a double: 0.257 is 25.7%
    AS_CHANGE,                  // a double: 0.0031 is +0.31%
    AS_COUNT,                   // from here on integers: the digits
    AS_RATE,                    // %g
    AS_MIB,                     // bytes: 11.77
    AS_BYTES,                   // bytes: 11.77 MiB
    AS_FLOPS,                   // operations: 4.1 kflop
    AS_TIME                     // picoseconds: 12 us
} SheetKind;

// A column's key in CSV and JSON ends in its unit; title is its heading in
// text.  NULL leaves the column out of that format.  A column without a key,
// other than AS_TEXT, is derived.  It shows the cell before it in another form
// and has no cell of its own.
typedef struct SheetColumn {
    const char *key, *title;
    SheetKind  kind;
} SheetColumn;

typedef struct SheetCell {
    bool        is_empty;       // null in JSON
    const char *text;
    int64_t     count;          // or a truth value
    double      number;
} SheetCell;

enum SheetUse {
    NOT_IN_CSV  = 1 << 0,
    NOT_IN_TEXT = 1 << 1,
    IS_RECORD   = 1 << 2,       // one row: one cell a line in text, members of
                                // the document in JSON
};

typedef struct Sheet {
    Arena        *arena;
    const char   *name;         // of the member in JSON
    const char   *heading;      // a line above it in text; or NULL
    const SheetColumn *columns;
    int           width;        // columns
    unsigned      use;          // SheetUse
    SheetCell         *cells;        // width a row
    bool         *is_sum;       // for each row: only in text
    int           rows, capacity, next;
} Sheet;

Sheet *sheet_new(Arena *arena, const char *name, const SheetColumn *columns,
                 int width);
// Begins a row, or a row of sums, which CSV and JSON leave out.
void sheet_row(Sheet *s);
void sheet_sum(Sheet *s);
// Each fills the row's next cell that is not derived.  Cells that are not
// filled are empty.
void put_text(Sheet *s, const char *text);
void put_count(Sheet *s, int64_t count);
void put_number(Sheet *s, double number);
void put_truth(Sheet *s, bool truth);
void put_nothing(Sheet *s);

// Prints count sheets as one document: separated by empty lines in text and
// CSV, one object in JSON.
void sheets_print(Sheet *const *sheets, int count, Format format, FILE *out);

#endif
