// A recursive-descent parser, one function for each rule of RFC 8259.  It
// accepts nothing else: no comments, trailing commas, control characters in
// strings, or duplicate keys.  Each function returns false once a fault is
// noted.
#include "json.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const Json &Json::operator[](const char *key) const
{
    static const Json none;
    auto member = object.find(key);
    return member == object.end() ? none : member->second;
}

namespace {

enum { MAX_DEPTH = 64 };

struct Reader {
    const char *start, *at;     // the text ends with a zero byte
    std::string fault;
    int         depth;

    bool fail(const char *expected)
    {
        if (fault.empty())
            fault = "byte " + std::to_string(at - start) + ": " + expected;
        return false;
    }
    void skip() { at += strspn(at, " \t\r\n"); }
    bool take(char c)
    {
        skip();
        if (*at != c) return false;
        at++;
        return true;
    }

    bool value(Json *out);
    bool word(const char *text);
    bool number(Json *out);
    bool string(std::string *out);
    bool escape(std::string *out);
    bool array(Json *out);
    bool object(Json *out);
};

bool Reader::word(const char *text)
{
    if (strncmp(at, text, strlen(text))) return fail("a value is expected");
    at += strlen(text);
    return true;
}

bool Reader::number(Json *out)
{
    const char *digits = "0123456789", *p = at + (*at == '-');
    size_t whole = strspn(p, digits), rest;
    if (whole == 0 || (whole > 1 && *p == '0')) return fail("a bad number");
    p += whole;
    if (*p == '.') {
        if (!(rest = strspn(++p, digits))) return fail("a bad fraction");
        p += rest;
    }
    if (*p == 'e' || *p == 'E') {
        p++;
        if (*p == '+' || *p == '-') p++;
        if (!(rest = strspn(p, digits))) return fail("a bad exponent");
        p += rest;
    }
    out->kind = Json::NUMBER;
    out->number = strtod(at, nullptr);
    at = p;
    return true;
}

// Reads an escape after its backslash.  Code points beyond ASCII become '?',
// since no name contains them.
bool Reader::escape(std::string *out)
{
    static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    if (*at == 'u') {
        unsigned code = 0;
        for (int i = 0; i < 4; i++) {
            int c = tolower((unsigned char)*++at);
            if (!isxdigit(c)) return fail("four hexadecimal digits expected");
            code = code * 16 + (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
        }
        at++;
        out->push_back(code < 128 ? (char)code : '?');
        return true;
    }
    const char *name = *at ? strchr(names, *at) : nullptr;
    if (!name) return fail("an unknown escape");
    out->push_back(bytes[name - names]);
    at++;
    return true;
}

bool Reader::string(std::string *out)
{
    if (!take('"')) return fail("a string is expected");
    while (*at != '"') {
        if ((unsigned char)*at < 32) return fail("a string that does not end");
        if (*at != '\\') out->push_back(*at++);
        else if (at++, !escape(out)) return false;
    }
    at++;
    return true;
}

bool Reader::array(Json *out)
{
    out->kind = Json::ARRAY;
    at++;
    if (take(']')) return true;
    do {
        out->array.emplace_back();
        if (!value(&out->array.back())) return false;
    } while (take(','));
    return take(']') || fail("',' or ']' is expected");
}

bool Reader::object(Json *out)
{
    out->kind = Json::OBJECT;
    at++;
    if (take('}')) return true;
    do {
        std::string key;
        if (!string(&key)) return false;
        if (out->object.count(key)) return fail("a key for the second time");
        if (!take(':')) return fail("':' is expected");
        if (!value(&out->object[key])) return false;
    } while (take(','));
    return take('}') || fail("',' or '}' is expected");
}

bool Reader::value(Json *out)
{
    skip();
    if (depth == MAX_DEPTH) return fail("nested too deep");
    depth++;
    bool sound;
    switch (*at) {
    case '{': sound = object(out); break;
    case '[': sound = array(out); break;
    case '"':
        out->kind = Json::STRING;
        sound = string(&out->string);
        break;
    case 't':
    case 'f':
        out->kind = Json::BOOLEAN;
        out->boolean = *at == 't';
        sound = word(out->boolean ? "true" : "false");
        break;
    case 'n': sound = word("null"); break;
    default: sound = number(out);
    }
    depth--;
    return sound;
}

}

bool json_read(const std::string &text, Json *value, std::string *fault)
{
    Reader reader = {text.c_str(), text.c_str(), "", 0};
    bool sound = reader.value(value);
    if (sound) {
        reader.skip();
        if (reader.at != text.c_str() + text.size())
            sound = reader.fail("the end is expected");
    }
    *fault = reader.fault;
    return sound;
}
