// Complaints: one line on the error stream, `program: what was wanted and what was there`, and the
// value false, so that a function can return it.
#pragma once
#include <stdarg.h>
#include <stdio.h>

static const char *program_name = "trainer";

// Prints a complaint; false, always.
__attribute__((format(printf, 1, 2))) static inline bool complain(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fflush(stdout);
    fprintf(stderr, "%s: ", program_name);
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    va_end(list);
    return false;
}
