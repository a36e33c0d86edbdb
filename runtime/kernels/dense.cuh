// The products of a dense layer, by cuBLAS.  Rows are samples; cuBLAS sees every row-major
// matrix [a, b] as a column-major [b, a], so the operands of each product change places.
#pragma once
#include <cublas_v2.h>
#include "../support/real.cuh"

// dense_gemm: c = op(a) op(b), column-major [rows, depth] [depth, columns], at T's precision.
template <class T>
static inline cublasStatus_t dense_gemm(cublasHandle_t handle, cublasOperation_t op_a,
                                        cublasOperation_t op_b, int rows, int columns, int depth,
                                        const T *a, int stride_a, const T *b, int stride_b, T *c,
                                        int stride_c)
{
    const T one = 1, zero = 0;
    if constexpr (sizeof(T) == sizeof(double))
        return cublasDgemm(handle, op_a, op_b, rows, columns, depth, &one, a, stride_a, b, stride_b,
                           &zero, c, stride_c);
    else
        return cublasSgemm(handle, op_a, op_b, rows, columns, depth, &one, a, stride_a, b, stride_b,
                           &zero, c, stride_c);
}

// dense_prepare: the next product runs on stream, in workspace [bytes].  The order matters:
// cublasSetStream goes back to a workspace of cuBLAS's own.
static inline cublasStatus_t dense_prepare(cublasHandle_t handle, cudaStream_t stream,
                                           void *workspace, size_t bytes)
{
    const cublasStatus_t status = cublasSetStream(handle, stream);
    return status ? status : cublasSetWorkspace(handle, workspace, bytes);
}

// dense_forward: y = x w^T; x [batch, inputs], w [units, inputs], y [batch, units].
static inline cublasStatus_t dense_forward(cublasHandle_t handle, cudaStream_t stream, real *y,
                                           const real *x, const real *w, void *workspace,
                                           size_t bytes, int batch, int inputs, int units)
{
    const cublasStatus_t status = dense_prepare(handle, stream, workspace, bytes);
    if (status) return status;
    return dense_gemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, units, batch, inputs, w, inputs, x, inputs,
                      y, units);
}

// dense_dgrad: dx = dy w; dy [batch, units], w [units, inputs], dx [batch, inputs].
static inline cublasStatus_t dense_dgrad(cublasHandle_t handle, cudaStream_t stream, real *dx,
                                         const real *dy, const real *w, void *workspace,
                                         size_t bytes, int batch, int inputs, int units)
{
    const cublasStatus_t status = dense_prepare(handle, stream, workspace, bytes);
    if (status) return status;
    return dense_gemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, inputs, batch, units, w, inputs, dy, units,
                      dx, inputs);
}

// dense_wgrad: dw = dy^T x; dy [batch, units], x [batch, inputs], dw [units, inputs].
static inline cublasStatus_t dense_wgrad(cublasHandle_t handle, cudaStream_t stream, real *dw,
                                         const real *dy, const real *x, void *workspace,
                                         size_t bytes, int batch, int inputs, int units)
{
    const cublasStatus_t status = dense_prepare(handle, stream, workspace, bytes);
    if (status) return status;
    return dense_gemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, inputs, units, batch, x, inputs, dy, units,
                      dw, inputs);
}
