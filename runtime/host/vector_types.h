// Replaces CUDA's vector_types.h: index triples and small vectors with CUDA's
// alignment.  C and C++ may include it; only C++ gets dim3's defaults and the
// make_ functions.
#ifndef CNNC_HOST_VECTOR_TYPES_H
#define CNNC_HOST_VECTOR_TYPES_H

struct uint3 {
    unsigned x, y, z;
};

struct dim3 {
    unsigned x, y, z;
#ifdef __cplusplus
    constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1)
        : x(vx), y(vy), z(vz)
    {
    }
#endif
};

#ifdef __cplusplus

// One row for each type: name, element, alignments of two and of four.
#define HOST_VECTORS(name, T, align2, align4)                                  \
    struct alignas(align2) name##2 {                                           \
        T x, y;                                                                \
    };                                                                         \
    struct alignas(align4) name##4 {                                           \
        T x, y, z, w;                                                          \
    };                                                                         \
    static inline name##2 make_##name##2(T x, T y)                             \
    {                                                                          \
        return {x, y};                                                         \
    }                                                                          \
    static inline name##4 make_##name##4(T x, T y, T z, T w)                   \
    {                                                                          \
        return {x, y, z, w};                                                   \
    }
HOST_VECTORS(float, float, 8, 16)
HOST_VECTORS(double, double, 16, 16)
HOST_VECTORS(int, int, 8, 16)
HOST_VECTORS(uint, unsigned, 8, 16)
HOST_VECTORS(uchar, unsigned char, 2, 4)
HOST_VECTORS(longlong, long long, 16, 16)
#undef HOST_VECTORS

static inline uint3 make_uint3(unsigned x, unsigned y, unsigned z)
{
    return {x, y, z};
}

#else
typedef struct uint3 uint3;
typedef struct dim3 dim3;
#endif

#endif
