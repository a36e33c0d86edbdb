// JSON values that are not plain integers.
#ifndef CNNC_JSON_H
#define CNNC_JSON_H

#include <stdio.h>

// Prints text as a JSON string, in quotes.  Bytes that are not UTF-8 are
// replaced by U+FFFD, since JSON has no other encoding.
void json_string(const char *text, FILE *out);
// Prints the shortest decimal that reads back as number; null where it is not
// finite, since JSON has no such number.
void json_number(double number, FILE *out);

#endif
