// Steps that are library calls: a net with dense layers calls cuBLAS.
#pragma once
#include <cublas_v2.h>
#include "interface.cuh"

// LIBRARY_STEP: announces a library call that is a step of the plan.
#ifndef LIBRARY_STEP
#define LIBRARY_STEP(step) ((void)0)
#endif

static int net_check_product(net_context *c, cublasStatus_t error, int step, const char *call)
{
    if (error == CUBLAS_STATUS_SUCCESS) return NET_OK;
    cudaGetLastError();                 // clears the error that cuBLAS may leave in CUDA
    return net_fail(c, NET_CUBLAS_FAILED, error, cublasGetStatusString(error), step, call);
}

// PRODUCT: a cuBLAS product that is checked.
#define PRODUCT(step, call, ...)                                                            \
    do {                                                                                    \
        LIBRARY_STEP(step);                                                                 \
        TRY(net_check_product(c, call(c->cublas, stream, __VA_ARGS__), step, #call));       \
    } while (0)
