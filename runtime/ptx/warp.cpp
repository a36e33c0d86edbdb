// Faults of the program that runs.
#include "warp.h"

#include <cstdio>

namespace ptx {

void fault(const Instruction &of, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    throw Fault{"line " + std::to_string(of.line) + ": " + of.name + ": " +
                text};
}

}
