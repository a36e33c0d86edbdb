// Random numbers: a counter that a key begins, so that equal seeds draw alike
// on every machine.
#ifndef TESTSUITE_RANDOM_DRAW_H
#define TESTSUITE_RANDOM_DRAW_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Draw {
    uint64_t key, count;
} Draw;

// The generator that a seed and a name start.
Draw draw_named(uint64_t seed, const char *name);
uint64_t draw_bits(Draw *d);
double draw_unit(Draw *d);                              // in [0, 1)
// In low .. high, both among them.
int64_t draw_int(Draw *d, int64_t low, int64_t high);
// Likewise; small numbers are as likely as all the larger ones together.
int64_t draw_small(Draw *d, int64_t low, int64_t high);
double draw_real(Draw *d, double low, double high);
bool draw_chance(Draw *d, double chance);

#endif
