// Formats numbers for people, in an arena.
#ifndef CNNC_FORMAT_H
#define CNNC_FORMAT_H

#include <stdint.h>
#include "arena.h"

// Formats 1234567 as "1 234 567".
const char *grouped_text(Arena *arena, int64_t number);
// Formats 1234567 as "1.18 MiB"; below 1024 "17 B".
const char *bytes_text(Arena *arena, int64_t bytes);
// Formats bytes rounded up, for sizes that must be enough.
const char *enough_text(Arena *arena, int64_t bytes);

// Formats 1234567 as "1.2 Mflop"; below 1000 "17 flop".
const char *flops_text(Arena *arena, int64_t flops);
// Formats picoseconds of the model to two digits: 1234567 as "1.2 us", 17064321
// as "17 us".  The largest unit is seconds.
const char *time_text(Arena *arena, int64_t picoseconds);

#endif
