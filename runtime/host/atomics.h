// Atomic operations of device code.
#ifndef CNNC_HOST_ATOMICS_H
#define CNNC_HOST_ATOMICS_H

// Adds to the sum; returns its old value.
static inline unsigned long long atomicAdd(unsigned long long *sum,
                                           unsigned long long more)
{
    return __atomic_fetch_add(sum, more, __ATOMIC_ACQ_REL);
}

// The same for counts of 32 bits.
static inline unsigned atomicAdd(unsigned *sum, unsigned more)
{
    return __atomic_fetch_add(sum, more, __ATOMIC_ACQ_REL);
}

// Raises the number to `other` if that is larger; returns its old value.
static inline int atomicMax(int *number, int other)
{
    int old = __atomic_load_n(number, __ATOMIC_ACQUIRE);
    while (old < other &&
           !__atomic_compare_exchange_n(number, &old, other, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        continue;
    return old;
}

// Increments the count, or sets it to 0 after `most`; returns its old value.
static inline unsigned atomicInc(unsigned *count, unsigned most)
{
    unsigned old = __atomic_load_n(count, __ATOMIC_ACQUIRE);
    while (!__atomic_compare_exchange_n(count, &old, old >= most ? 0 : old + 1,
                                        false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
        continue;
    return old;
}

#endif
