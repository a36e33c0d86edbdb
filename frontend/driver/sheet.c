// Prints sheets as text, CSV and JSON; see sheet.h.
#include "sheet.h"

#include <inttypes.h>
#include <string.h>

#include "../../ir/base/format.h"
#include "../../ir/base/json.h"

// ---- filling ----------------------------------------------------------------

Sheet *sheet_new(Arena *arena, const char *name, const SheetColumn *columns,
                 int width)
{
    Sheet *s = NEW(arena, Sheet);
    *s = (Sheet){ .arena = arena, .name = name, .columns = columns,
                  .width = width };
    return s;
}

static void grow(Sheet *s)
{
    int capacity = s->capacity > 0 ? 2 * s->capacity : 16;
    SheetCell *cells = NEW_ARRAY(s->arena, (size_t)capacity * (size_t)s->width,
                            SheetCell);
    bool *is_sum = NEW_ARRAY(s->arena, (size_t)capacity, bool);
    for (int i = 0; i < s->rows; i++) is_sum[i] = s->is_sum[i];
    for (int i = 0; i < s->rows * s->width; i++) cells[i] = s->cells[i];
    s->cells = cells;
    s->is_sum = is_sum;
    s->capacity = capacity;
}

void sheet_row(Sheet *s)
{
    if (s->rows == s->capacity) grow(s);
    SheetCell *row = s->cells + (size_t)s->rows * (size_t)s->width;
    for (int k = 0; k < s->width; k++) row[k] = (SheetCell){ .is_empty = true };
    s->is_sum[s->rows++] = false;
    s->next = 0;
}

void sheet_sum(Sheet *s)
{
    sheet_row(s);
    s->is_sum[s->rows - 1] = true;
}

static bool is_derived(const SheetColumn *column)
{
    return column->key == NULL && column->kind != AS_TEXT;
}

static bool is_words(const SheetColumn *column)
{
    return column->kind <= AS_SHAPE;
}

// Stores a cell, and copies it to the derived columns after it.
static void put(Sheet *s, SheetCell cell)
{
    SheetCell *row = s->cells + (size_t)(s->rows - 1) * (size_t)s->width;
    row[s->next++] = cell;
    while (s->next < s->width && is_derived(&s->columns[s->next]))
        row[s->next++] = cell;
}

void put_text(Sheet *s, const char *text)
{
    put(s, (SheetCell){ .text = text });
}

void put_count(Sheet *s, int64_t count)
{
    put(s, (SheetCell){ .count = count });
}

void put_number(Sheet *s, double number)
{
    put(s, (SheetCell){ .number = number });
}

void put_truth(Sheet *s, bool truth)
{
    put(s, (SheetCell){ .count = truth });
}

void put_nothing(Sheet *s)
{
    put(s, (SheetCell){ .is_empty = true });
}

static const SheetCell *cell_at(const Sheet *s, int row, int column)
{
    return &s->cells[(size_t)row * (size_t)s->width + (size_t)column];
}

// ---- text -------------------------------------------------------------------

static const char *cell_text(const Sheet *s, const SheetCell *cell,
                             SheetKind kind)
{
    Arena *arena = s->arena;
    if (cell->is_empty) return "";
    switch (kind) {
    case AS_TEXT:
    case AS_SHAPE:
        return cell->text;
    case AS_TRUTH:
        return cell->count ? "yes" : "no";
    case AS_NUMBER:
        return arena_print(arena, "%g", cell->number);
    case AS_SHARE:
        return arena_print(arena, "%.1f%%", 100 * cell->number);
    case AS_CHANGE:
        return arena_print(arena, "%+.2f%%", 100 * cell->number);
    case AS_RATE:
        return arena_print(arena, "%g", (double)cell->count);
    case AS_MIB:
        return arena_print(arena, "%.2f", (double)cell->count / (1 << 20));
    case AS_BYTES:
        return bytes_text(arena, cell->count);
    case AS_FLOPS:
        return flops_text(arena, cell->count);
    case AS_TIME:
        return time_text(arena, cell->count);
    case AS_COUNT:
        break;
    }
    return arena_print(arena, "%" PRId64, cell->count);
}

// Prints words left-aligned and numbers right-aligned.  Blanks are printed
// before a cell, never at the end of a line.  Returns the blanks pending.
static int print_padded(const char *text, int width, bool at_left, int blanks,
                        FILE *out)
{
    int length = (int)strlen(text);
    if (length == 0) return blanks + width;
    if (!at_left) blanks += width - length;
    fprintf(out, "%*s%s", blanks, "", text);
    return at_left ? width - length : 0;
}

static void print_text_row(const Sheet *s, const char *const *texts,
                           const int *widths, FILE *out)
{
    int blanks = 0;
    bool is_first = true;
    for (int k = 0; k < s->width; k++) {
        if (s->columns[k].title == NULL) continue;
        if (!is_first) blanks += 2;
        is_first = false;
        blanks = print_padded(texts[k], widths[k],
                              is_words(&s->columns[k]), blanks, out);
    }
    fputc('\n', out);
}

static void print_text_table(const Sheet *s, FILE *out)
{
    size_t width = (size_t)s->width;
    const char **texts = NEW_ARRAY(s->arena, (size_t)(s->rows + 1) * width,
                                   const char *);
    int *widths = NEW_ARRAY(s->arena, width, int);
    for (int k = 0; k < s->width; k++) {
        texts[k] = s->columns[k].title != NULL ? s->columns[k].title : "";
        widths[k] = (int)strlen(texts[k]);
        for (int i = 0; i < s->rows; i++) {
            const char *text = cell_text(s, cell_at(s, i, k),
                                         s->columns[k].kind);
            texts[(size_t)(i + 1) * width + (size_t)k] = text;
            if ((int)strlen(text) > widths[k]) widths[k] = (int)strlen(text);
        }
    }
    for (int i = 0; i <= s->rows; i++)
        print_text_row(s, texts + (size_t)i * width, widths, out);
}

// Prints one cell a line, with its derived cells in the same line.
static void print_text_record(const Sheet *s, FILE *out)
{
    for (int k = 0; k < s->width; k++) {
        const SheetColumn *column = &s->columns[k];
        const SheetCell *cell = cell_at(s, 0, k);
        if (column->title == NULL || cell->is_empty || is_derived(column))
            continue;
        fprintf(out, "%-22s%*s", column->title, is_words(column) ? 0 : 16,
                cell_text(s, cell, column->kind));
        for (; k + 1 < s->width && is_derived(&s->columns[k + 1]); k++)
            fprintf(out, "  %s", cell_text(s, cell, s->columns[k + 1].kind));
        fputc('\n', out);
    }
}

static void print_text(const Sheet *s, FILE *out)
{
    if (s->heading != NULL) fprintf(out, "%s\n", s->heading);
    else if (s->use & IS_RECORD) print_text_record(s, out);
    else print_text_table(s, out);
}

// ---- CSV --------------------------------------------------------------------

// Prints text with the quotes of RFC 4180, if necessary.
static void print_csv_text(const char *text, FILE *out)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

// Prints a number that CSV and JSON write alike.
static void print_figure(const SheetCell *cell, SheetKind kind, FILE *out)
{
    if (kind == AS_TRUTH) fputs(cell->count ? "true" : "false", out);
    else if (kind >= AS_COUNT) fprintf(out, "%" PRId64, cell->count);
    else json_number(cell->number, out);
}

static void print_csv(const Sheet *s, FILE *out)
{
    for (int i = -1; i < s->rows; i++) {
        const char *comma = "";
        if (i >= 0 && s->is_sum[i]) continue;
        for (int k = 0; k < s->width; k++) {
            const SheetColumn *column = &s->columns[k];
            if (column->key == NULL) continue;
            fputs(comma, out);
            comma = ",";
            const SheetCell *cell = i < 0 ? NULL : cell_at(s, i, k);
            if (cell == NULL) fputs(column->key, out);
            else if (cell->is_empty) continue;
            else if (is_words(column)) print_csv_text(cell->text, out);
            else print_figure(cell, column->kind, out);
        }
        fputc('\n', out);
    }
}

// ---- JSON -------------------------------------------------------------------

static void print_members(const Sheet *s, int row, const char *separator,
                          FILE *out)
{
    const char *before = "";
    for (int k = 0; k < s->width; k++) {
        const SheetColumn *column = &s->columns[k];
        const SheetCell *cell = cell_at(s, row, k);
        if (column->key == NULL) continue;
        fprintf(out, "%s\"%s\": ", before, column->key);
        before = separator;
        if (cell->is_empty) fputs("null", out);
        else if (column->kind == AS_TEXT) json_string(cell->text, out);
        else if (column->kind == AS_SHAPE) fputs(cell->text, out);
        else print_figure(cell, column->kind, out);
    }
}

static void print_json_rows(const Sheet *s, FILE *out)
{
    const char *before = "";
    fprintf(out, "\"%s\": [", s->name);
    for (int i = 0; i < s->rows; i++) {
        if (s->is_sum[i]) continue;
        fprintf(out, "%s\n    {", before);
        before = ",";
        print_members(s, i, ", ", out);
        fputc('}', out);
    }
    fputs("\n  ]", out);
}

static void print_json(Sheet *const *sheets, int count, FILE *out)
{
    fputs("{\n  \"schema\": 1", out);
    for (int i = 0; i < count; i++) {
        fputs(",\n  ", out);
        if (sheets[i]->use & IS_RECORD)
            print_members(sheets[i], 0, ",\n  ", out);
        else
            print_json_rows(sheets[i], out);
    }
    fputs("\n}\n", out);
}

// ---- all sheets -------------------------------------------------------------

void sheets_print(Sheet *const *sheets, int count, Format format, FILE *out)
{
    unsigned left_out = format == FORMAT_CSV ? NOT_IN_CSV : NOT_IN_TEXT;
    bool any = false;
    if (format == FORMAT_JSON) {
        print_json(sheets, count, out);
        return;
    }
    for (int i = 0; i < count; i++) {
        if (sheets[i]->use & left_out) continue;
        if (any) fputc('\n', out);
        any = true;
        if (format == FORMAT_CSV) print_csv(sheets[i], out);
        else print_text(sheets[i], out);
    }
}
