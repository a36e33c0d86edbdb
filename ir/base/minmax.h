// The larger and the smaller of two sizes.
#ifndef CNNC_MINMAX_H
#define CNNC_MINMAX_H

#include <stdint.h>

static inline int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#endif
