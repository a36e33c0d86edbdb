// Checks the numbers of 16 bits in emitted files (runtime/support), in the compiler (ir/dtype.c) and
// in the trainer (runtime/trainer). Each survives a conversion to float and back. Every float rounds to the nearest,
// and ties to the even word. Between two neighbours the middle and the floats on its either side
// are tried.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../../runtime/trainer/safetensors.cuh"
#include "../../runtime/support/vec/bf16.cuh"
#include "../../runtime/support/vec/f16.cuh"

extern "C" double rounded(int dtype, double x);
extern "C" uint16_t half_bits(int dtype, double x);
extern "C" const char *const dtype_names[];

static int faults = 0;

static int dtype_called(const char *name)
{
    int dtype = 0;
    while (strcmp(dtype_names[dtype], name)) dtype++;
    return dtype;
}

// A word's value by its fields: sign, exponent, and digits of 1.digits.
static double value_of(unsigned word, int digits)
{
    const int most = (1 << (15 - digits)) - 1, bias = most / 2;
    const int exponent = (int)(word >> digits) & most;
    const int fraction = (int)(word & ((1u << digits) - 1));
    const double sign = word >> 15 ? -1 : 1;
    if (exponent == most) return fraction ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * ldexp(fraction, 1 - bias - digits);
    return sign * ldexp(fraction + (1 << digits), exponent - bias - digits);
}

template <class T>
static unsigned word_of(float x)
{
    T stored;
    stored = x;
    uint16_t word;
    memcpy(&word, &stored, sizeof word);
    return word;
}

template <class T>
static float float_of(unsigned word)
{
    const uint16_t bits = (uint16_t)word;
    T stored;
    memcpy(&stored, &bits, sizeof stored);
    return (float)stored;
}

template <class T>
static void expect(const char *name, int digits, float x, unsigned word)
{
    const double wanted = value_of(word, digits);
    const double interpreted = rounded(dtype_called(name), x);
    const unsigned compiled = half_bits(dtype_called(name), x);
    const unsigned loaded = half_word(x, digits == 7);
    if (word_of<T>(x) == word && interpreted == wanted && compiled == word && loaded == word)
        return;
    if (faults++ < 10)
        printf("%s: %a is %04x, interpreted %a, compiled %04x, loaded %04x, and should be %04x, "
               "%a\n", name, x, word_of<T>(x), interpreted, compiled, loaded, word, wanted);
}

template <class T>
static void check(const char *name, int digits)
{
    const unsigned infinite = ((1u << (15 - digits)) - 1) << digits;
    for (unsigned word = 0; word < 0x10000; word++) {
        const double value = value_of(word, digits);
        const float x = float_of<T>(word);
        if (isnan(value) ? !isnan(x) || !isnan(float_of<T>(word_of<T>(x)))
                         : (double)x != value || word_of<T>(x) != word)
            if (faults++ < 10) printf("%s: %04x is %a, not %a\n", name, word, x, value);
    }
    for (unsigned sign = 0; sign < 0x10000; sign += 0x8000)
        for (unsigned word = 0; word < infinite; word++) {
            const double low = value_of(word, digits);
            const double step = low - (word ? value_of(word - 1, digits) : -value_of(1, digits));
            const double high = word + 1 < infinite ? value_of(word + 1, digits) : low + step;
            const float middle = (float)((low + high) / 2);
            const unsigned even = word % 2 ? word + 1 : word;
            const float s = sign ? -1.0f : 1.0f;
            expect<T>(name, digits, s * middle, sign | even);
            expect<T>(name, digits, s * nextafterf(middle, 0), sign | word);
            expect<T>(name, digits, s * nextafterf(middle, INFINITY), sign | (word + 1));
        }
    expect<T>(name, digits, INFINITY, infinite);
    expect<T>(name, digits, -INFINITY, 0x8000 | infinite);
}

int main()
{
    check<f16>("f16", 10);
    check<bf16>("bf16", 7);
    printf("%d faults\n", faults);
    return faults ? 1 : 0;
}
