// The zeros of a pruned net.
#pragma once
#include "tensors.cuh"

// Zeros: of the kernels that a net prunes.
struct Zeros {
    int kernels;
    long long weights, zeros;
    size_t whole_bytes;         // of all parameters and statistics
    size_t packed_bytes;        // of these, if each weight of the kernels has a bit, and only those
                                // that are not 0 follow
};

// Returns the number of bits that the net has for the weights of this name, or 0.
static inline long long mask_bits(const Net *net, const char *name)
{
    const size_t length = strlen(name);
    for (int i = 0; i < net->state_count; i++) {
        const NetTensor *state = &net->state[i];
        if (!strncmp(state->name, name, length) && !strcmp(state->name + length, ".pruned"))
            return 8 * (long long)state->bytes;
    }
    return 0;
}

static inline long long zeros_of(const SafeTensor *t, long long count)
{
    const size_t bytes = t->bytes / (size_t)count;
    long long zeros = 0;
    for (long long i = 0; i < count; i++) {
        const void *const number = t->data + (size_t)i * bytes;
        zeros += (bytes == 4 ? (double)*(const float *)number : *(const double *)number) == 0;
    }
    return zeros;
}

// Counts the zeros of weights that were fetched.
static inline Zeros count_zeros(const Net *net, const SafeTensor *weights, int count)
{
    Zeros sum = {};
    for (int i = 0; i < count; i++) {
        const SafeTensor *const t = &weights[i];
        const long long bits = mask_bits(net, t->name);
        sum.whole_bytes += t->bytes;
        sum.packed_bytes += t->bytes;
        if (!bits) continue;
        long long numbers = 1;
        for (int d = 0; d < t->rank; d++) numbers *= t->shape[d];
        const long long zeros = zeros_of(t, numbers);
        sum.kernels++;
        sum.weights += numbers;
        sum.zeros += zeros;
        sum.packed_bytes += (size_t)(bits / 8) - t->bytes / (size_t)numbers * (size_t)zeros;
    }
    return sum;
}

// Prints `sparsity: 120781 of the 150976 weights of 3 kernels are 0 (80.00 %) ...`.
static inline void print_zeros(const Net *net, const SafeTensor *weights, int count)
{
    const Zeros z = count_zeros(net, weights, count);
    printf("sparsity: %lld of the %lld weights of %d kernels are 0 (%.2f %%), which saves neither "
           "memory nor time; with a bit for each of these weights and without the zeros, the %zu "
           "bytes of all weights would be %zu\n", z.zeros, z.weights, z.kernels,
           100 * (double)z.zeros / (double)z.weights, z.whole_bytes, z.packed_bytes);
}
