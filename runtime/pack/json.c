// Reads JSON, character by character.
#include "json.h"

#include <stdlib.h>
#include <string.h>
#include "pack.h"

enum { DEEPEST = 64, LONGEST_NUMBER = 64, REPLACEMENT = 0xFFFD };

void json_fault(const Json *json, const char *wanted)
{
    char why[MESSAGE_SIZE];
    snprintf(why, sizeof why, "line %ld: wanted %s", json->line, wanted);
    die(EXIT_BROKEN, json->name, why);
}

static int next_char(Json *json)
{
    int c = getc(json->in);
    json->line += c == '\n';
    return c;
}

int json_peek(Json *json)
{
    int c;
    do c = next_char(json);
    while (c == ' ' || c == '\n' || c == '\r' || c == '\t');
    if (c != EOF) ungetc(c, json->in);
    return c;
}

// Takes a character if it is next, after blanks.
static bool takes(Json *json, int c)
{
    return json_peek(json) == c && next_char(json) == c;
}

// Begins, goes on with or ends a list in brackets.
static bool has_next(Json *json, bool *first, int open, int close)
{
    bool begins = *first;
    *first = false;
    if (begins && !takes(json, open))
        json_fault(json, open == '{' ? "an object {" : "an array [");
    if (takes(json, close)) return false;
    if (!begins && !takes(json, ','))
        json_fault(json, close == '}' ? ", or }" : ", or ]");
    return true;
}

bool json_member(Json *json, bool *first, char key[JSON_TEXT])
{
    if (!has_next(json, first, '{', '}')) return false;
    json_string(json, key);
    if (!takes(json, ':')) json_fault(json, ":");
    return true;
}

bool json_element(Json *json, bool *first)
{
    return has_next(json, first, '[', ']');
}

double json_number(Json *json)
{
    char text[LONGEST_NUMBER], *end;
    size_t length = 0;
    int c = json_peek(json);
    if (c != '-' && (c < '0' || c > '9')) json_fault(json, "a number");
    while (length < sizeof text - 1 && (c = next_char(json)) != EOF &&
           strchr("+-.0123456789Ee", c) != NULL)
        text[length++] = (char)c;
    if (length == sizeof text - 1) json_fault(json, "a shorter number");
    if (c != EOF) ungetc(c, json->in);
    if (c == '\n') json->line--;
    text[length] = '\0';
    double value = strtod(text, &end);
    if (*end != '\0') json_fault(json, "a number");
    return value;
}

int64_t json_integer(Json *json)
{
    double value = json_number(json), most = 9007199254740992;
    if (!(value >= -most && value <= most) || value != (double)(int64_t)value)
        json_fault(json, "a whole number up to 2^53");
    return (int64_t)value;
}

// Reads the four digits of \uXXXX.
static uint32_t read_unit(Json *json)
{
    uint32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        int c = next_char(json);
        int digit = c >= '0' && c <= '9' ? c - '0'
                  : c >= 'a' && c <= 'f' ? c - 'a' + 10
                  : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (digit < 0) json_fault(json, "four hexadecimal digits");
        unit = unit << 4 | (uint32_t)digit;
    }
    return unit;
}

// Reads a code point after \u; two units may follow each other.
static uint32_t read_code(Json *json)
{
    uint32_t unit = read_unit(json);
    if (unit < 0xD800 || unit > 0xDFFF) return unit;
    if (unit > 0xDBFF) return REPLACEMENT;
    bool escaped = next_char(json) == '\\';
    if (!escaped || next_char(json) != 'u')
        json_fault(json, "the second half of a code point");
    uint32_t low = read_unit(json);
    if (low < 0xDC00 || low > 0xDFFF) return REPLACEMENT;
    return 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
}

size_t utf8(uint32_t code, char to[4])
{
    int tail = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t lead[] = { 0, 0xC0, 0xE0, 0xF0 };
    to[0] = (char)(lead[tail] | code >> 6 * tail);
    for (int i = 1; i <= tail; i++)
        to[i] = (char)(0x80 | (code >> 6 * (tail - i) & 63));
    return (size_t)tail + 1;
}

// Reads the characters after a backslash; returns its bytes.
static size_t read_escape(Json *json, char to[4])
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    int c = next_char(json);
    const char *found = c > 0 ? strchr(names, c) : NULL;
    if (c == 'u') return utf8(read_code(json), to);
    if (found == NULL) {
        json_fault(json, "a character that may follow \\");
        return 0;
    }
    to[0] = values[found - names];
    return 1;
}

// Reads a string, and keeps it unless text is NULL.
static void read_string(Json *json, char *text)
{
    size_t length = 0;
    if (!takes(json, '"')) json_fault(json, "a string");
    for (int c; (c = next_char(json)) != '"';) {
        char bytes[4] = { (char)c };
        if (c == EOF || (c >= 0 && c < ' '))
            json_fault(json, "the end of a string");
        size_t count = c == '\\' ? read_escape(json, bytes) : 1;
        if (text == NULL) continue;
        if (length + count >= JSON_TEXT)
            json_fault(json, "a string of fewer than 4096 bytes");
        memcpy(text + length, bytes, count);
        length += count;
    }
    if (text == NULL) return;
    text[length] = '\0';
    if (strlen(text) != length) json_fault(json, "a string without zero bytes");
}

void json_string(Json *json, char text[JSON_TEXT])
{
    read_string(json, text);
}

static void skip_word(Json *json, const char *word)
{
    for (const char *c = word; *c != '\0'; c++)
        if (next_char(json) != *c) json_fault(json, "a value");
}

static void skip(Json *json, int depth)
{
    bool first = true;
    int c = json_peek(json);
    if (depth == DEEPEST) json_fault(json, "fewer than 64 nested values");
    if (c == '"') read_string(json, NULL);
    else if (c == 't') skip_word(json, "true");
    else if (c == 'f') skip_word(json, "false");
    else if (c == 'n') skip_word(json, "null");
    else if (c != '{' && c != '[') json_number(json);
    else if (c == '[')
        while (json_element(json, &first)) skip(json, depth + 1);
    else
        while (has_next(json, &first, '{', '}')) {
            read_string(json, NULL);
            if (!takes(json, ':')) json_fault(json, ":");
            skip(json, depth + 1);
        }
}

void json_skip(Json *json)
{
    skip(json, 0);
}

void json_end(Json *json)
{
    if (json_peek(json) != EOF) json_fault(json, "the end of the file");
}
