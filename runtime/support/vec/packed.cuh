// Small numbers packed into bytes, such as the index of the largest element of a window.
#pragma once
#include <type_traits>
#include <cuda_runtime.h>

// Packed: numbers of BITS bits, 2, 4, 8 or 32, for maps with CHANNELS channels: EACH in a word, the
// first in its lowest bits.  A pixel begins a word, so that no two threads write one.
template <int BITS, long long CHANNELS>
struct Packed {
    typedef std::conditional_t<BITS == 32, int, unsigned char> Word;
    static constexpr int EACH = BITS < 8 ? 8 / BITS : 1, MASK = EACH > 1 ? (1 << BITS % 8) - 1 : -1;
    static constexpr long long WORDS = (CHANNELS + EACH - 1) / EACH;
    static __device__ int get(const Word *words, long long pixel, long long c)
    {
        return words[pixel * WORDS + c / EACH] >> (int)(c % EACH) * BITS & MASK;
    }
};
