// Counter-based random numbers, equal to those of emitted files.
#ifndef CNNC_PHILOX_H
#define CNNC_PHILOX_H

#include <stdint.h>

// Philox4x32-10 (Salmon et al., SC'11): equal counters and keys give equal
// words.
void philox(const uint32_t counter[4], uint64_t key, uint32_t word[4]);

#endif
