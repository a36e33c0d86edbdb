// Reads a CSV file of buffers: cells between commas, with blanks around them
// and without quotes.  Empty lines are skipped.
#include "instance.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "../read_file.h"

typedef enum Column {
    ID, LOWER, UPPER, SIZE, NEEDED, ALIGN = NEEDED, GAPS, OFFSET, HINT,
    COLUMNS, END
} Column;

// Column names of MiniMalloc's converter, and one of cnnc's.  END is the last
// time at which a buffer is alive; UPPER is the first at which it is not.
static const struct {
    const char *name;
    Column      column;
} known[] = {
    {"id", ID}, {"lower", LOWER}, {"upper", UPPER}, {"size", SIZE},
    {"alignment", ALIGN}, {"gaps", GAPS}, {"offset", OFFSET},
    {"hint", HINT}, {"buffer", ID}, {"buffer_id", ID}, {"start", LOWER},
    {"begin", LOWER}, {"end", END},
};
enum { NAMES = sizeof known / sizeof *known, MOST_COLUMNS = 64 };

// The limit of alignments; sizes are checked with it.
static const int64_t most_alignment = 1LL << 30;

typedef struct Cell {
    const char *text;
    int         length;
    Pos         pos;
} Cell;

typedef struct Reader {
    Arena  *arena;
    Diag   *diag;
    int32_t file;
    Column  columns[MOST_COLUMNS];
    int     column_count;
    int32_t capacity;           // of the rows
} Reader;

// ---- cells ------------------------------------------------------------------

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

// Returns the number of characters, which columns count, not bytes.
static int characters(const char *text, int length)
{
    int count = 0;
    for (int i = 0; i < length; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

// Splits a line into at most MOST_COLUMNS cells; returns the number of all.
static int split(const Reader *r, int32_t line, Cell *cells)
{
    int32_t length;
    const char *text = source_line(&r->diag->sources[r->file], line, &length);
    int count = 0;
    for (int at = 0; at <= length; count++) {
        int end = at;
        while (end < length && text[end] != ',') end++;
        int from = at, to = end;
        while (from < to && is_blank(text[from])) from++;
        while (from < to && is_blank(text[to - 1])) to--;
        int wide = characters(text + from, to - from);
        if (count < MOST_COLUMNS)
            cells[count] = (Cell){
                text + from, to - from,
                {r->file, line, characters(text, from) + 1, wide ? wide : 1}};
        at = end + 1;
    }
    return count;
}

static bool is_empty(const Cell *cells, int count)
{
    return count == 1 && cells[0].length == 0;
}

static const char *name_of(Column column)
{
    int k = 0;
    while (known[k].column != column) k++;
    return known[k].name;
}

// Reads a number that is not negative.
static int64_t read_number(const Reader *r, const Cell *cell, Column column)
{
    const char *name = name_of(column);
    const char *digits = cell->text;
    int64_t value = 0;
    int i = cell->length > 0 && (*digits == '-' || *digits == '+');
    bool negative = i > 0 && *digits == '-', large = false;
    bool wrong = i == cell->length;
    for (; i < cell->length; i++) {
        int digit = digits[i] - '0';
        wrong = digit < 0 || digit > 9;
        if (wrong) break;
        large |= value > (INT64_MAX - digit) / 10;
        if (!large) value = 10 * value + digit;
    }
    if (wrong)
        error(r->diag, cell->pos, "%s is a number, not '%.*s'", name,
              cell->length, cell->text);
    else if (large)
        error(r->diag, cell->pos, "%s does not fit in 64 bits", name);
    else if (negative && value > 0)
        error(r->diag, cell->pos, "%s is negative", name);
    return wrong || large ? 0 : value;
}

// ---- the line of names ------------------------------------------------------

static void read_name(Reader *r, const Cell *cell, unsigned *seen)
{
    const char *word = arena_copy(r->arena, cell->text, (size_t)cell->length);
    const char *names[NAMES];
    int k = 0;
    while (k < NAMES && strcmp(word, known[k].name) != 0) k++;
    if (k < NAMES) {
        Column column = known[k].column;
        int bit = column == END ? UPPER : (int)column;
        if (*seen >> bit & 1)
            error(r->diag, cell->pos, "there is a column '%s' already",
                  name_of((Column)bit));
        *seen |= 1u << bit;
        r->columns[r->column_count++] = column;
        return;
    }
    for (int i = 0; i < NAMES; i++) names[i] = known[i].name;
    const char *near = nearest_name(word, names, NAMES);
    error(r->diag, cell->pos, "no column '%s' is known; a buffer has an id, "
          "lower, upper and size", word);
    if (near != NULL) fixit(r->diag, cell->pos, near);
}

static bool read_names(Reader *r, int32_t line)
{
    Cell cells[MOST_COLUMNS] = {{0}};
    int count = split(r, line, cells), errors = r->diag->error_count;
    unsigned seen = 0;
    if (count > MOST_COLUMNS) {
        error(r->diag, cells[0].pos, "these are more than %d columns",
              MOST_COLUMNS);
        return false;
    }
    for (int i = 0; i < count; i++) read_name(r, &cells[i], &seen);
    for (int k = 0; k < NEEDED && r->diag->error_count == errors; k++)
        if (!(seen >> k & 1))
            error(r->diag, cells[0].pos, "there is no column '%s'",
                  name_of((Column)k));
    return r->diag->error_count == errors;
}

// ---- buffers ----------------------------------------------------------------

static void read_id(const Reader *r, const Cell *cell, Row *row)
{
    row->pos = cell->pos;
    row->id = arena_copy(r->arena, cell->text, (size_t)cell->length);
    if (cell->length == 0)
        error(r->diag, cell->pos, "the id is missing");
    else if (strlen(row->id) != (size_t)cell->length)
        error(r->diag, cell->pos, "an id has no byte 0");
}

static void read_cell(const Reader *r, const Cell *cell, Column column,
                      Row *row)
{
    switch (column) {
    case ID: read_id(r, cell, row); break;
    case LOWER: row->lower = read_number(r, cell, column); break;
    case UPPER: row->upper = read_number(r, cell, column); break;
    case END:
        row->upper = read_number(r, cell, column);
        if (row->upper < INT64_MAX) row->upper++;
        else error(r->diag, cell->pos, "end does not fit in 64 bits");
        break;
    case SIZE: row->size = read_number(r, cell, column); break;
    case ALIGN:
        row->alignment = read_number(r, cell, column);
        if (row->alignment < 1 || row->alignment > most_alignment)
            error(r->diag, cell->pos, "alignment is from 1 to 2^30");
        break;
    case GAPS:
        if (cell->length > 0)
            error(r->diag, cell->pos, "a buffer with gaps can't be placed: "
                  "without them it keeps its bytes from lower to upper");
        break;
    default: break;
    }
}

static void read_row(Reader *r, Instance *in, int32_t line)
{
    Cell cells[MOST_COLUMNS] = {{0}};
    int count = split(r, line, cells), errors = r->diag->error_count;
    Row row = {.pos = cells[0].pos, .alignment = 1};
    if (is_empty(cells, count)) return;
    if (count != r->column_count) {
        error(r->diag, cells[0].pos, "%d cells under %d names", count,
              r->column_count);
        return;
    }
    for (int i = 0; i < count; i++)
        read_cell(r, &cells[i], r->columns[i], &row);
    if (r->diag->error_count == errors && row.lower >= row.upper)
        error(r->diag, row.pos, "lower is below upper, which is exclusive");
    in->rows = arena_grow(r->arena, in->rows, &r->capacity,
                          (int64_t)in->count + 1, sizeof(Row));
    in->rows[in->count++] = row;
}

static int compare_ids(const void *left, const void *right)
{
    const Row *a = *(const Row *const *)left, *b = *(const Row *const *)right;
    int order = strcmp(a->id, b->id);
    return order != 0 ? order : a->pos.line - b->pos.line;
}

// Checks that the sum of sizes does not overflow and that ids are unique.
static bool fits_in_all(const Reader *r, const Instance *in)
{
    const Row **sorted = NEW_ARRAY(r->arena, in->count, const Row *);
    int64_t sum = 0;
    for (int32_t i = 0; i < in->count; i++) {
        sorted[i] = &in->rows[i];
        if (in->rows[i].size <= INT64_MAX / 2 - sum) {
            sum += in->rows[i].size;
            continue;
        }
        error(r->diag, in->rows[i].pos, "from here on the sizes together do "
              "not fit in 62 bits");
        break;
    }
    if (r->diag->error_count > 0) return false;
    // An array of pointers.
    // NOLINTNEXTLINE(bugprone-sizeof-expression)
    qsort(sorted, (size_t)in->count, sizeof *sorted, compare_ids);
    for (int32_t i = 1; i < in->count; i++) {
        if (strcmp(sorted[i]->id, sorted[i - 1]->id) != 0) continue;
        error(r->diag, sorted[i]->pos, "there is a buffer '%s' already",
              sorted[i]->id);
        note(r->diag, sorted[i - 1]->pos, "here");
    }
    return r->diag->error_count == 0;
}

// Sets the unit to the largest alignment.  All others must divide it, so that
// multiples of it are aligned for every buffer.  Rounded sizes must not
// overflow either.
static bool fits_aligned(const Reader *r, Instance *in)
{
    in->unit = 1;
    for (int32_t i = 0; i < in->count; i++)
        if (in->rows[i].alignment > in->unit) in->unit = in->rows[i].alignment;
    for (int32_t i = 0; i < in->count; i++)
        if (in->unit % in->rows[i].alignment != 0)
            error(r->diag, in->rows[i].pos, "the alignment %" PRId64 " does "
                  "not divide the largest, %" PRId64, in->rows[i].alignment,
                  in->unit);
    return r->diag->error_count == 0;
}

// ---- times ------------------------------------------------------------------

static int compare_times(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

// Returns the number of times below this one.
static int32_t rank_of(const int64_t *times, int32_t count, int64_t time)
{
    int32_t low = 0, high = count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (times[middle] < time) low = middle + 1;
        else high = middle;
    }
    return low;
}

// Makes items.  A step is a time at which a buffer begins or ends.
static void make_items(Arena *arena, Instance *in)
{
    int64_t *times = NEW_ARRAY(arena, 2 * (size_t)in->count, int64_t);
    int32_t count = 0;
    for (int32_t i = 0; i < in->count; i++) {
        times[2 * i] = in->rows[i].lower;
        times[2 * i + 1] = in->rows[i].upper;
    }
    qsort(times, 2 * (size_t)in->count, sizeof *times, compare_times);
    for (int32_t i = 0; i < 2 * in->count; i++)
        if (i == 0 || times[i] != times[count - 1]) times[count++] = times[i];
    in->items = NEW_ARRAY(arena, in->count, Item);
    for (int32_t i = 0; i < in->count; i++) {
        const Row *row = &in->rows[i];
        in->items[i] = (Item){.first = rank_of(times, count, row->lower),
                              .last = rank_of(times, count, row->upper) - 1,
                              .lifetime = row->upper - row->lower,
                              .size = row->size / in->unit +
                                      (row->size % in->unit > 0)};
    }
}

bool instance_read(Instance *in, Arena *arena, Diag *diag, const char *path)
{
    size_t length;
    const char *text = read_named_text(diag, arena, path, &length);
    *in = (Instance){.rows = NULL};
    if (text == NULL) return false;
    Reader r = {.arena = arena, .diag = diag,
                .file = diag_add_source(diag, path, text, length)};
    if (!read_names(&r, 1)) return true;
    for (int32_t i = 2; i <= diag->sources[r.file].line_count; i++)
        read_row(&r, in, i);
    if (diag->error_count == 0 && fits_in_all(&r, in) && fits_aligned(&r, in))
        make_items(arena, in);
    return true;
}
