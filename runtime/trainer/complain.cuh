// Complaints: one line on the error stream, `program: ` and then the value that was wanted and the
// one that was found.  They return false, so that a function can return it.  After a warning, which
// is such a line too, the program goes on.
#pragma once
#include <stdarg.h>
#include <stdio.h>

static const char *program_name = "trainer";

// Prints a complaint.  Returns false.
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

// Prints a warning.
__attribute__((format(printf, 1, 2))) static inline void give_warning(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fflush(stdout);
    fprintf(stderr, "%s: warning: ", program_name);
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    va_end(list);
}
