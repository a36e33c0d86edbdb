// Numbers as people read them, in an arena.
#ifndef CNNC_FORMAT_H
#define CNNC_FORMAT_H

#include <stdint.h>
#include "arena.h"

// 1234567 as "1 234 567".
const char *grouped_text(Arena *arena, int64_t number);
// 1234567 as "1.18 MiB"; below 1024 "17 B".
const char *bytes_text(Arena *arena, int64_t bytes);
// The same, rounded up: so much is enough.
const char *enough_text(Arena *arena, int64_t bytes);

// 1234567 as "1.2 Mflop"; below 1000 "17 flop".
const char *flops_text(Arena *arena, int64_t flops);
// Picoseconds of a model, to two digits: 1234567 as "1.2 us", 17064321 as
// "17 us".  From 1000 s on in seconds.
const char *time_text(Arena *arena, int64_t picoseconds);

#endif
