// Arithmetic on sizes: numbers that are not negative.
#ifndef CNNC_SIZES_H
#define CNNC_SIZES_H

#include <stdint.h>

static inline int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

// Saturating: the result is at most INT64_MAX.
static inline int64_t capped_product(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static inline int64_t capped_sum(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static inline int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

// Returns the greatest common divisor.  0 is divisible by every number.
static inline int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
