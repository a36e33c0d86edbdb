// Prints JSON strings and floating-point numbers.
#ifndef CNNC_JSON_H
#define CNNC_JSON_H

#include <stdio.h>

// Prints text as a JSON string, in quotes.  Bytes that are not UTF-8 are
// replaced by U+FFFD, since JSON has no other encoding.
void json_string(const char *text, FILE *out);
// Prints the shortest decimal that reads back as number, or null if it is not
// finite: JSON has no such numbers.
void json_number(double number, FILE *out);

#endif
