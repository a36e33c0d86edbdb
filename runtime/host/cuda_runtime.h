// Replaces CUDA's cuda_runtime.h, so that a C++ compiler builds an unchanged
// emitted file.  C sees only the runtime's calls.
#ifndef CNNC_HOST_CUDA_RUNTIME_H
#define CNNC_HOST_CUDA_RUNTIME_H

#include "cuda_runtime_api.h"
#ifdef __cplusplus
#include "device_language.h"
#include "launch.h"

// The host has one address space.
static inline size_t __cvta_generic_to_global(const void *p)
{
    return (size_t)p;
}
static inline void *__cvta_global_to_generic(size_t p)
{
    return (void *)p;
}
#endif

#endif
