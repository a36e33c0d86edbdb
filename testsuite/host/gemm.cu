// cublasSgemm and cublasDgemm against three loops: every transposition, sizes
// around the blocks' edges, leading dimensions larger than needed, alpha and
// beta; then calls that they must refuse.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include "expect.h"

static cublasStatus_t multiply(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m,
                               int n, int k, const float *alpha, const float *a, int lda,
                               const float *b, int ldb, const float *beta, float *c, int ldc)
{
    return cublasSgemm(h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

static cublasStatus_t multiply(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m,
                               int n, int k, const double *alpha, const double *a, int lda,
                               const double *b, int ldb, const double *beta, double *c, int ldc)
{
    return cublasDgemm(h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

// Whole numbers, so that every sum is exact in any order.
template <class T>
static T *matrix(long long count, int seed)
{
    T *at;
    EXPECT_SUCCESS(cudaMalloc(&at, (size_t)count * sizeof(T)));
    for (long long i = 0; i < count; i++) at[i] = (T)((i * 7919 + seed) % 17 - 8);
    return at;
}

template <class T>
static void compare(cublasHandle_t handle, int m, int n, int k, bool ta, bool tb, T alpha, T beta)
{
    int lda = (ta ? k : m) + 3, ldb = (tb ? n : k) + 1, ldc = m + 2;
    T *a = matrix<T>((long long)lda * (ta ? m : k), 1);
    T *b = matrix<T>((long long)ldb * (tb ? k : n), 2);
    T *c = matrix<T>((long long)ldc * n, 3), *old = matrix<T>((long long)ldc * n, 3);
    if (beta == 0)
        for (int i = 0; i < m; i++) c[i] = NAN;
    EXPECT(multiply(handle, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_C : CUBLAS_OP_N, m, n, k,
                    &alpha, a, lda, b, ldb, &beta, c, ldc) == CUBLAS_STATUS_SUCCESS);
    long long wrong = 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < ldc; i++) {
            T sum = 0, was = old[(long long)j * ldc + i];
            for (int p = 0; p < k && i < m; p++)
                sum += (ta ? a[(long long)i * lda + p] : a[(long long)p * lda + i]) *
                       (tb ? b[(long long)p * ldb + j] : b[(long long)j * ldb + p]);
            wrong += c[(long long)j * ldc + i] != (i < m ? alpha * sum + beta * was : was);
        }
    EXPECT(wrong == 0);
    cudaFree(a), cudaFree(b), cudaFree(c), cudaFree(old);
}

template <class T>
static void compare_all(cublasHandle_t handle)
{
    static const int sizes[][3] = {{1, 1, 1},    {16, 6, 8},   {17, 7, 257}, {96, 192, 256},
                                   {97, 193, 1}, {130, 5, 64}, {10, 64, 600}, {250, 200, 31}};
    for (const int *s : sizes)
        for (int t = 0; t < 4; t++) {
            compare<T>(handle, s[0], s[1], s[2], t & 1, t & 2, 1, 0);
            compare<T>(handle, s[0], s[1], s[2], t & 1, t & 2, 2, -1);
        }
    compare<T>(handle, 20, 20, 0, false, false, 1, 2);
    compare<T>(handle, 20, 20, 20, false, true, 0, 0);
}

static void test_refusals(cublasHandle_t handle)
{
    const cublasStatus_t bad = CUBLAS_STATUS_INVALID_VALUE;
    const cublasOperation_t N = CUBLAS_OP_N, T = CUBLAS_OP_T, conjugate = (cublasOperation_t)3;
    float one = 1, *a = matrix<float>(256, 1);
    EXPECT(cublasSgemm(nullptr, N, N, 4, 4, 4, &one, a, 4, a, 4, &one, a, 4) ==
           CUBLAS_STATUS_NOT_INITIALIZED);
    EXPECT(cublasSgemm(handle, N, N, -1, 4, 4, &one, a, 4, a, 4, &one, a, 4) == bad);
    EXPECT(cublasSgemm(handle, N, N, 4, 4, 8, &one, a, 3, a, 8, &one, a, 4) == bad);
    EXPECT(cublasSgemm(handle, N, N, 4, 4, 8, &one, a, 4, a, 7, &one, a, 4) == bad);
    EXPECT(cublasSgemm(handle, T, N, 4, 4, 8, &one, a, 7, a, 8, &one, a, 4) == bad);
    EXPECT(cublasSgemm(handle, N, T, 4, 4, 8, &one, a, 4, a, 3, &one, a, 4) == bad);
    EXPECT(cublasSgemm(handle, N, N, 4, 4, 4, &one, a, 4, a, 4, &one, a, 3) == bad);
    EXPECT(cublasSgemm(handle, N, N, 4, 4, 4, nullptr, a, 4, a, 4, &one, a, 4) == bad);
    EXPECT(cublasSgemm(handle, conjugate, N, 4, 4, 4, &one, a, 4, a, 4, &one, a, 4) == bad);
    EXPECT(cublasSgemm(handle, N, N, 0, 4, 4, &one, a, 1, a, 4, &one, a, 1) ==
           CUBLAS_STATUS_SUCCESS);
    EXPECT(cublasSetWorkspace(handle, (char *)a + 16, 16) == bad);
    EXPECT(cublasSetWorkspace(handle, a, 1024) == CUBLAS_STATUS_SUCCESS);
    EXPECT(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH) == CUBLAS_STATUS_SUCCESS);
    cudaFree(a);
}

int main()
{
    cublasHandle_t handle;
    EXPECT(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    EXPECT(cublasSetStream(handle, nullptr) == CUBLAS_STATUS_SUCCESS);
    compare_all<float>(handle);
    compare_all<double>(handle);
    test_refusals(handle);
    EXPECT(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS);
    EXPECT(cublasDestroy(handle) == CUBLAS_STATUS_NOT_INITIALIZED);
    EXPECT(cublasSetStream(handle, nullptr) == CUBLAS_STATUS_NOT_INITIALIZED);
    return expect_failures != 0;
}
