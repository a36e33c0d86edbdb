// Tensors by place: an arena is one allocation, a place is a typed offset.
#pragma once
#include <stddef.h>

// Place: the offset of a tensor of T in the arena, in bytes.
template <class T>
struct Place {
    size_t offset;
};

// Arena: a[conv1] is a pointer to the tensor at place conv1.
struct Arena {
    unsigned char *base;
    template <class T>
    T *operator[](Place<T> place) const { return (T *)(base + place.offset); }
};
