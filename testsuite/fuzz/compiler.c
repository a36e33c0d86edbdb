// The compiler's main, as a function for fuzz.c.
#define main cnnc_main
#include "../../frontend/driver/main.c"
