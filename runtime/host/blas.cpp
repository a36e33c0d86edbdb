// cuBLAS's calls: arguments are checked as cuBLAS does, and addresses as a GPU
// would; the products themselves are gemm.cpp's.
//
// While a plan is watched, a product fills the handle's workspace with NaN, as
// the real one may write there whatever it likes.
#include <algorithm>
#include <string.h>
#include "cublas_v2.h"
#include "host.h"

struct cublasContext {
    cudaStream_t        stream;
    void               *workspace;
    size_t              workspace_bytes;
    cublasMath_t        math;
    cublasPointerMode_t pointers;
};

namespace {

bool is_operation(cublasOperation_t operation)
{
    return operation >= CUBLAS_OP_N && operation <= CUBLAS_OP_C;
}

template <class T>
cublasStatus_t check_shape(const Product<T> &g)
{
    int64_t rows_a = g.transpose_a ? g.k : g.m;
    int64_t rows_b = g.transpose_b ? g.n : g.k;
    if (g.m < 0 || g.n < 0 || g.k < 0 ||
        g.lda < std::max<int64_t>(1, rows_a) ||
        g.ldb < std::max<int64_t>(1, rows_b) ||
        g.ldc < std::max<int64_t>(1, g.m)) {
        report("a product of m %lld, n %lld, k %lld with leading dimensions "
               "%lld, %lld, %lld: invalid", (long long)g.m, (long long)g.n,
               (long long)g.k, (long long)g.lda, (long long)g.ldb,
               (long long)g.ldc);
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    return CUBLAS_STATUS_SUCCESS;
}

// Whether a matrix of that many columns lies in device memory.
template <class T>
bool is_there(const T *at, int64_t rows, int64_t columns, int64_t leading)
{
    if (rows == 0 || columns == 0) return true;
    int64_t count = leading * (columns - 1) + rows;
    size_t bytes = (size_t)count * sizeof(T);
    if (at && is_device_memory(at, bytes, true)) return true;
    report("a product's matrix of %lld x %lld at %p is not in device memory",
           (long long)rows, (long long)columns, (const void *)at);
    return false;
}

template <class T>
bool are_there(const Product<T> &g)
{
    bool reads = g.alpha != 0 && g.k != 0;
    int64_t columns_a = g.transpose_a ? g.m : g.k;
    int64_t columns_b = g.transpose_b ? g.k : g.n;
    return (!reads ||
            (is_there(g.a, g.m + g.k - columns_a, columns_a, g.lda) &&
             is_there(g.b, g.k + g.n - columns_b, columns_b, g.ldb))) &&
           is_there(g.c, g.m, g.n, g.ldc);
}

template <class T>
cublasStatus_t run(cublasHandle_t handle, const Product<T> &g, int step)
{
    // The workspace counts where the plan is asked: no other call has it.
    const volatile void *pointers[] = {g.a, g.b, g.c, handle->workspace};
    HostStep asked = {step, "a product", nullptr, pointers, step < 0 ? 3 : 4};
    if (finish(cudaSuccess)) return CUBLAS_STATUS_EXECUTION_FAILED;
    if (!are_there(g)) {
        fail(cudaErrorIllegalAddress);
        return CUBLAS_STATUS_EXECUTION_FAILED;
    }
    if (!step_begins(asked)) {
        fail(cudaErrorLaunchFailure);
        return CUBLAS_STATUS_EXECUTION_FAILED;
    }
    if (has_plan() && handle->workspace)
        memset(handle->workspace, FILL, handle->workspace_bytes);
    gemm(g);
    if (!step_ends(asked)) {
        fail(cudaErrorLaunchFailure);
        return CUBLAS_STATUS_EXECUTION_FAILED;
    }
    return CUBLAS_STATUS_SUCCESS;
}

template <class T>
cublasStatus_t product(cublasHandle_t handle, cublasOperation_t transa,
                       cublasOperation_t transb, int m, int n, int k,
                       const T *alpha, const T *a, int lda, const T *b, int ldb,
                       const T *beta, T *c, int ldc)
{
    int step = take_library_step();
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!is_operation(transa) || !is_operation(transb) || !alpha || !beta)
        return CUBLAS_STATUS_INVALID_VALUE;
    Product<T> g = {transa != CUBLAS_OP_N, transb != CUBLAS_OP_N, m, n, k,
                    0, a, lda, b, ldb, 0, c, ldc};
    cublasStatus_t status = check_shape(g);
    if (status || m == 0 || n == 0) return status;
    bool on_device = handle->pointers == CUBLAS_POINTER_MODE_DEVICE;
    if (is_device_memory(alpha, sizeof(T), false) != on_device ||
        is_device_memory(beta, sizeof(T), false) != on_device) {
        report("a product's alpha and beta do not lie where the handle's "
               "pointer mode says");
        return CUBLAS_STATUS_EXECUTION_FAILED;
    }
    g.alpha = *alpha;
    g.beta = *beta;
    return run(handle, g, step);
}

struct StatusText {
    cublasStatus_t status;
    const char    *name, *text;
};

const StatusText status_texts[] = {
    {CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
    {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED",
     "the library was not initialized"},
    {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE",
     "an unsupported value or parameter was passed to the function"},
    {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED",
     "the GPU program failed to execute"},
};

const StatusText &text_of(cublasStatus_t status)
{
    static const StatusText unknown = {CUBLAS_STATUS_INTERNAL_ERROR,
                                       "CUBLAS_STATUS_unknown", "unknown"};
    for (const StatusText &row : status_texts)
        if (row.status == status) return row;
    return unknown;
}

// What a setter or getter returns for its arguments.
cublasStatus_t about(cublasHandle_t handle, bool sound)
{
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    return sound ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

}

cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
    if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
    *handle = new cublasContext{nullptr, nullptr, 0, CUBLAS_DEFAULT_MATH,
                                CUBLAS_POINTER_MODE_HOST};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle)
{
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion(cublasHandle_t, int *version)
{
    if (!version) return CUBLAS_STATUS_INVALID_VALUE;
    *version = CUDART_VERSION * 10;
    return CUBLAS_STATUS_SUCCESS;
}

const char *cublasGetStatusName(cublasStatus_t status)
{
    return text_of(status).name;
}

const char *cublasGetStatusString(cublasStatus_t status)
{
    return text_of(status).text;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream)
{
    cublasStatus_t status = about(handle, is_stream(stream));
    if (!status) {
        handle->stream = stream;
        handle->workspace = nullptr;
        handle->workspace_bytes = 0;
    }
    return status;
}

cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t *stream)
{
    cublasStatus_t status = about(handle, stream != nullptr);
    if (!status) *stream = handle->stream;
    return status;
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace,
                                  size_t bytes)
{
    bool sound = (uintptr_t)workspace % 256 == 0 &&
                 (bytes == 0 || is_device_memory(workspace, bytes, false));
    cublasStatus_t status = about(handle, sound);
    if (!status) {
        handle->workspace = workspace;
        handle->workspace_bytes = bytes;
    }
    return status;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode)
{
    cublasStatus_t status = about(handle, ((unsigned)mode & ~31u) == 0);
    if (!status) handle->math = mode;
    return status;
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode)
{
    cublasStatus_t status = about(handle, mode != nullptr);
    if (!status) *mode = handle->math;
    return status;
}

cublasStatus_t cublasSetPointerMode(cublasHandle_t handle,
                                    cublasPointerMode_t mode)
{
    bool sound = mode == CUBLAS_POINTER_MODE_HOST ||
                 mode == CUBLAS_POINTER_MODE_DEVICE;
    cublasStatus_t status = about(handle, sound);
    if (!status) handle->pointers = mode;
    return status;
}

cublasStatus_t cublasGetPointerMode(cublasHandle_t handle,
                                    cublasPointerMode_t *mode)
{
    cublasStatus_t status = about(handle, mode != nullptr);
    if (!status) *mode = handle->pointers;
    return status;
}

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, int k,
                           const float *alpha, const float *A, int lda,
                           const float *B, int ldb, const float *beta,
                           float *C, int ldc)
{
    return product(handle, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta,
                   C, ldc);
}

cublasStatus_t cublasDgemm(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, int k,
                           const double *alpha, const double *A, int lda,
                           const double *B, int ldb, const double *beta,
                           double *C, int ldc)
{
    return product(handle, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta,
                   C, ldc);
}
