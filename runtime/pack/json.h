// A reader of JSON (RFC 8259) that holds no more than one value in memory, so
// that a file of any length can be read.  Each function ends the program, with
// the file and the line, if the text is another one.
#ifndef CNNC_PACK_JSON_H
#define CNNC_PACK_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_TEXT = 4096 };      // bytes of the longest string that is kept

typedef struct Json {
    FILE       *in;
    const char *name;           // of the file, for messages
    long        line;
} Json;

// Ends the program with the file, the line and the thing wanted there.
_Noreturn void json_fault(const Json *json, const char *wanted);

// The first character of the next value, which stays; EOF at the end.
int json_peek(Json *json);

// These go through an object or an array.  *first is true before the first
// member.  They return false after the last one.  A member's key goes to `key`,
// and its value must be read next.
bool json_member(Json *json, bool *first, char key[JSON_TEXT]);
bool json_element(Json *json, bool *first);

double json_number(Json *json);
int64_t json_integer(Json *json);
void json_string(Json *json, char text[JSON_TEXT]);
// Reads a value of any type and drops it.
void json_skip(Json *json);
// Wants the end of the file.
void json_end(Json *json);

#endif
