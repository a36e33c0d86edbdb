// The interface serves C++ as it serves C: the same program, in the other language.
#include "refusals.c"
