// The products of a dense layer, by cuBLAS.
#pragma once
#include <cublas_v2.h>
#include "../support/vec/real.cuh"

// dense_product: c [m, n] = a [m, k] b [k, n]; a (1) or b (2) may be transposed.  cuBLAS stores by
// columns, so it makes c' = b' a'.  The stream is set first: that resets the workspace.
template <class T>
static cublasStatus_t dense_product(cublasHandle_t handle, cudaStream_t stream, T *c, const T *a,
                                    const T *b, void *workspace, size_t bytes, int transpose,
                                    int m, int n, int k, bool tf32 = false)
{
    const T one = 1, zero = 0;
    const cublasOperation_t op_a = transpose == 1 ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t op_b = transpose == 2 ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasMath_t math = tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH;
    const int row_a = transpose == 1 ? m : k, row_b = transpose == 2 ? k : n;
    cublasStatus_t error = cublasSetStream(handle, stream);
    if (!error) error = cublasSetWorkspace(handle, workspace, bytes);
    if (!error) error = cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST);
    if (!error) error = cublasSetMathMode(handle, math);
    if (error) return error;
    if constexpr (sizeof(T) == sizeof(double))
        return cublasDgemm(handle, op_b, op_a, n, m, k, &one, b, row_b, a, row_a, &zero, c, n);
    else
        return cublasSgemm(handle, op_b, op_a, n, m, k, &one, b, row_b, a, row_a, &zero, c, n);
}
