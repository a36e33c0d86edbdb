// --diagnostics: the messages of a compilation as data, printed at its end.
//
// json is an array like that of gcc's -fdiagnostics-format=json.  Each message
// has its kind, place, notes (children) and fix-its.  sarif is a log of SARIF
// 2.1.0.  Columns count characters from 1, and byte-column counts bytes.
#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include "../../ir/base/json.h"
#include "../../ir/base/version.h"
#include "options.h"

static const char *const severities[] = {
    [MESSAGE_ERROR] = "error", [MESSAGE_WARNING] = "warning",
    [MESSAGE_NOTE] = "note",
};

// Returns the bytes of the line of pos that precede its character `column`.
static int32_t bytes_before(const Source *source, Pos pos, int32_t column)
{
    int32_t length, at = 0;
    const char *text = source_line(source, pos.line, &length);
    for (; at < length; at++) {
        bool begins = ((unsigned char)text[at] & 0xC0) != 0x80;
        if (begins && column-- == 1) break;
    }
    return at;
}

// ---- JSON -------------------------------------------------------------------

static void print_point(const Source *source, Pos pos, int32_t column,
                        FILE *out)
{
    fputs("{\"file\": ", out);
    json_string(source->name, out);
    if (pos.line > 0)
        fprintf(out, ", \"line\": %" PRId32 ", \"column\": %" PRId32
                ", \"byte-column\": %" PRId32, pos.line, column,
                bytes_before(source, pos, column) + 1);
    fputc('}', out);
}

static void print_locations(const Message *m, FILE *out)
{
    fputs(", \"locations\": [", out);
    if (m->source != NULL) {
        fputs("{\"caret\": ", out);
        print_point(m->source, m->pos, m->pos.column, out);
        if (m->pos.line > 0) {
            fputs(", \"finish\": ", out);
            print_point(m->source, m->pos, m->pos.column + m->pos.length - 1,
                        out);
        }
        fputc('}', out);
    }
    fputc(']', out);
}

static void print_fixits(const Message *m, FILE *out)
{
    Pos pos = m->fixit_pos;
    if (m->fixit == NULL) return;
    fputs(", \"fixits\": [{\"start\": ", out);
    print_point(m->fixit_source, pos, pos.column, out);
    fputs(", \"next\": ", out);
    print_point(m->fixit_source, pos, pos.column + pos.length, out);
    fputs(", \"string\": ", out);
    json_string(m->fixit, out);
    fputs("}]", out);
}

static void print_json_message(const Message *m, FILE *out)
{
    fprintf(out, "{\"kind\": \"%s\", \"message\": ", severities[m->kind]);
    json_string(m->text, out);
    print_locations(m, out);
    print_fixits(m, out);
    fputs(", \"column-origin\": 1", out);
}

static void print_json(const Messages *kept, FILE *out)
{
    fputc('[', out);
    for (const Message *m = kept->first; m != NULL; m = m->next) {
        print_json_message(m, out);
        fputs(", \"children\": [", out);
        for (const Message *note = m->notes; note != NULL; note = note->next) {
            print_json_message(note, out);
            fputs(note->next != NULL ? "},\n  " : "}", out);
        }
        fputs(m->next != NULL ? "]},\n " : "]}", out);
    }
    fputs("]\n", out);
}

// ---- SARIF ------------------------------------------------------------------

// Prints a path as a URI reference: bytes that may not stand in one are %XX.
static void print_uri(const char *path, FILE *out)
{
    fputs(path[0] == '/' ? "\"file://" : "\"", out);
    for (; *path != '\0'; path++) {
        unsigned char c = (unsigned char)*path;
        if (c < 0x80 && (isalnum(c) || strchr("/-._~", c) != NULL))
            fputc(c, out);
        else
            fprintf(out, "%%%02X", c);
    }
    fputc('"', out);
}

static void print_region(const char *name, Pos pos, FILE *out)
{
    fprintf(out, "\"%s\": {\"startLine\": %" PRId32 ", \"startColumn\": %"
            PRId32 ", \"endColumn\": %" PRId32 "}", name, pos.line, pos.column,
            pos.column + pos.length);
}

// Prints the place of a message, as a member of a location.
static void print_place(const Message *m, FILE *out)
{
    fputs("\"physicalLocation\": {\"artifactLocation\": {\"uri\": ", out);
    print_uri(m->source->name, out);
    fputc('}', out);
    if (m->pos.line > 0) {
        fputs(", ", out);
        print_region("region", m->pos, out);
    }
    fputc('}', out);
}

static void print_text(const Message *m, FILE *out)
{
    fputs("\"message\": {\"text\": ", out);
    json_string(m->text, out);
    fputc('}', out);
}

static void print_related(const Message *notes, FILE *out)
{
    if (notes == NULL) return;
    fputs(", \"relatedLocations\": [", out);
    for (const Message *note = notes; note != NULL; note = note->next) {
        fputc('{', out);
        print_text(note, out);
        if (note->source != NULL) {
            fputs(", ", out);
            print_place(note, out);
        }
        fputs(note->next != NULL ? "}, " : "}", out);
    }
    fputc(']', out);
}

static void print_fixes(const Message *m, FILE *out)
{
    if (m->fixit == NULL) return;
    fputs(", \"fixes\": [{\"artifactChanges\": [{\"artifactLocation\": {"
          "\"uri\": ", out);
    print_uri(m->fixit_source->name, out);
    fputs("}, \"replacements\": [{", out);
    print_region("deletedRegion", m->fixit_pos, out);
    fputs(", \"insertedContent\": {\"text\": ", out);
    json_string(m->fixit, out);
    fputs("}}]}]}]", out);
}

static void print_result(const Message *m, FILE *out)
{
    fprintf(out, "{\"level\": \"%s\", ", severities[m->kind]);
    print_text(m, out);
    fputs(", \"locations\": [", out);
    if (m->source != NULL) {
        fputc('{', out);
        print_place(m, out);
        fputc('}', out);
    }
    fputc(']', out);
    print_related(m->notes, out);
    print_fixes(m, out);
    fputs(m->next != NULL ? "},\n " : "}", out);
}

static void print_sarif(const Messages *kept, int status, FILE *out)
{
    fprintf(out, "{\"$schema\": \"https://docs.oasis-open.org/sarif/sarif/"
            "v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json\",\n"
            " \"version\": \"2.1.0\",\n"
            " \"runs\": [{\"tool\": {\"driver\": {\"name\": \"cnnc\", "
            "\"version\": \"%s\"}},\n"
            " \"columnKind\": \"unicodeCodePoints\",\n"
            " \"invocations\": [{\"executionSuccessful\": %s, "
            "\"exitCode\": %d}],\n"
            " \"results\": [", CNNC_VERSION, status == EXIT_DONE ? "true"
                                                                 : "false",
            status);
    for (const Message *m = kept->first; m != NULL; m = m->next)
        print_result(m, out);
    fputs("]}]}\n", out);
}

void print_diagnostics(const Options *o, int status)
{
    FILE *out = o->diag->stream;
    if (o->diagnostics == DIAGNOSTICS_TEXT) return;
    // Nothing was written before, and a byte at a time is slow.
    setvbuf(out, NULL, _IOFBF, BUFSIZ);
    if (o->diagnostics == DIAGNOSTICS_JSON) print_json(o->diag->kept, out);
    if (o->diagnostics == DIAGNOSTICS_SARIF)
        print_sarif(o->diag->kept, status, out);
}
