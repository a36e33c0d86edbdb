// Replaces CUDA's cuda_runtime.h, so that a C++ compiler builds an unchanged
// emitted file.  C sees only the runtime's calls.
#ifndef CNNC_HOST_CUDA_RUNTIME_H
#define CNNC_HOST_CUDA_RUNTIME_H

#include "cuda_runtime_api.h"
#ifdef __cplusplus
#include "device_language.h"
#include "launch.h"
#endif

#endif
