// The calls of cuBLAS.  Arguments are checked as in cuBLAS and addresses as on
// a GPU; gemm.cpp computes the products.
//
// While a plan is watched, a product fills the handle's workspace with NaN,
// since the real one may write anything there.
#include <algorithm>
#include <mutex>
#include <set>
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

std::mutex &handle_lock = lasting<std::mutex>();
std::set<cublasHandle_t> &handles = lasting<std::set<cublasHandle_t>>();

bool is_handle(cublasHandle_t handle)
{
    std::lock_guard<std::mutex> hold(handle_lock);
    return handles.count(handle) > 0;
}

thread_local int announced_step = -1;   // of the next product

int take_step()
{
    int step = announced_step;
    announced_step = -1;
    return step;
}

// Returns cuBLAS's status after this error of one of its own CUDA calls.
cublasStatus_t status_of(cudaError_t error)
{
    if (is_sticky(error)) return CUBLAS_STATUS_EXECUTION_FAILED;
    return error == cudaErrorMemoryAllocation ? CUBLAS_STATUS_ALLOC_FAILED
                                              : CUBLAS_STATUS_INTERNAL_ERROR;
}

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

// True if device memory contains the whole matrix.
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

// The arguments of a product, for when its stream reaches it.  In the handle's
// device pointer mode, alpha and beta are read only then.
template <class T>
struct Task {
    Product<T> product;
    const T   *alpha, *beta;
    void      *workspace;
    size_t     workspace_bytes;
    int        step;
};

template <class T>
cudaError_t run(const Task<T> &task)
{
    Product<T> g = task.product;
    if (task.alpha) g.alpha = *task.alpha, g.beta = *task.beta;
    // The pointers of a planned step include the workspace.
    const volatile void *pointers[] = {g.a, g.b, g.c, task.workspace};
    HostStep step = {task.step, "a product", nullptr, pointers,
                     task.step < 0 ? 3 : 4};
    if (!are_there(g)) return cudaErrorIllegalAddress;
    if (!step_begins(step)) return cudaErrorLaunchFailure;
    if (has_plan() && task.workspace)
        memset(task.workspace, FILL, task.workspace_bytes);
    gemm(g);
    return step_ends(step) ? cudaSuccess : cudaErrorLaunchFailure;
}

template <class T>
cublasStatus_t product(const char *name, cublasHandle_t handle,
                       cublasOperation_t transa,
                       cublasOperation_t transb, int m, int n, int k,
                       const T *alpha, const T *a, int lda, const T *b, int ldb,
                       const T *beta, T *c, int ldc)
{
    int step = take_step();
    Call call(name, step);
    if (call.error) return status_of(call.error);
    note_step(step);
    if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!is_operation(transa) || !is_operation(transb) || !alpha || !beta)
        return CUBLAS_STATUS_INVALID_VALUE;
    Product<T> g = {transa != CUBLAS_OP_N, transb != CUBLAS_OP_N, m, n, k,
                    0, a, lda, b, ldb, 0, c, ldc,
                    handle->math == CUBLAS_TF32_TENSOR_OP_MATH};
    cublasStatus_t status = check_shape(g);
    if (status || m == 0 || n == 0) return status;
    bool on_device = handle->pointers == CUBLAS_POINTER_MODE_DEVICE;
    if (is_device_memory(alpha, sizeof(T), false) != on_device ||
        is_device_memory(beta, sizeof(T), false) != on_device) {
        report("a product's alpha and beta do not lie where the handle's "
               "pointer mode says");
        return CUBLAS_STATUS_EXECUTION_FAILED;
    }
    if (!on_device) g.alpha = *alpha, g.beta = *beta;
    Task<T> task = {g, on_device ? alpha : nullptr, beta, handle->workspace,
                    handle->workspace_bytes, step};
    cudaError_t error = finish(cudaSuccess);
    if (!error) error = give_work(handle->stream, [=] { return run(task); });
    if (error) fail(error);
    return error ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}

struct StatusText {
    cublasStatus_t status;
    const char    *name, *text;
};

const StatusText status_texts[] = {
    {CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
    {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED",
     "the library was not initialized"},
    {CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED",
     "the resource allocation failed"},
    {CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR",
     "an internal operation failed"},
    {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE",
     "an unsupported value or parameter was passed to the function"},
    {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED",
     "the GPU program failed to execute"},
};

const StatusText &text_of(cublasStatus_t status)
{
    static const StatusText unknown = {CUBLAS_STATUS_NOT_SUPPORTED,
                                       "CUBLAS_STATUS_unknown", "unknown"};
    for (const StatusText &row : status_texts)
        if (row.status == status) return row;
    return unknown;
}

// Returns the status of a setter or getter for its arguments.
cublasStatus_t about(cublasHandle_t handle, bool sound)
{
    if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    return sound ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

}

void host_library_step(int step)
{
    announced_step = step;
}

cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
    Call call("cublasCreate");
    if (call.error) return status_of(call.error);
    if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
    if (cudaError_t error = check_capture()) return status_of(error);
    take_resource("cublasCreate");
    *handle = new cublasContext{nullptr, nullptr, 0, CUBLAS_DEFAULT_MATH,
                                CUBLAS_POINTER_MODE_HOST};
    std::lock_guard<std::mutex> hold(handle_lock);
    handles.insert(*handle);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle)
{
    Call call("cublasDestroy");
    if (call.error) return status_of(call.error);
    {
        std::lock_guard<std::mutex> hold(handle_lock);
        if (!handles.erase(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    }
    delete handle;
    give_resource();
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion(cublasHandle_t, int *version)
{
    Call call("cublasGetVersion");
    if (call.error) return status_of(call.error);
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
    Call call("cublasSetStream", announced_step);
    if (call.error) return status_of(call.error);
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
    Call call("cublasGetStream");
    if (call.error) return status_of(call.error);
    cublasStatus_t status = about(handle, stream != nullptr);
    if (!status) *stream = handle->stream;
    return status;
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace,
                                  size_t bytes)
{
    Call call("cublasSetWorkspace", announced_step);
    if (call.error) return status_of(call.error);
    bool sound = (uintptr_t)workspace % 256 == 0 &&
                 (bytes == 0 || is_device_memory(workspace, bytes, true));
    cublasStatus_t status = about(handle, sound);
    if (!status) {
        handle->workspace = workspace;
        handle->workspace_bytes = bytes;
    }
    return status;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode)
{
    Call call("cublasSetMathMode", announced_step);
    if (call.error) return status_of(call.error);
    cublasStatus_t status = about(handle, ((unsigned)mode & ~31u) == 0);
    if (!status) handle->math = mode;
    return status;
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode)
{
    Call call("cublasGetMathMode");
    if (call.error) return status_of(call.error);
    cublasStatus_t status = about(handle, mode != nullptr);
    if (!status) *mode = handle->math;
    return status;
}

cublasStatus_t cublasSetPointerMode(cublasHandle_t handle,
                                    cublasPointerMode_t mode)
{
    Call call("cublasSetPointerMode", announced_step);
    if (call.error) return status_of(call.error);
    bool sound = mode == CUBLAS_POINTER_MODE_HOST ||
                 mode == CUBLAS_POINTER_MODE_DEVICE;
    cublasStatus_t status = about(handle, sound);
    if (!status) handle->pointers = mode;
    return status;
}

cublasStatus_t cublasGetPointerMode(cublasHandle_t handle,
                                    cublasPointerMode_t *mode)
{
    Call call("cublasGetPointerMode");
    if (call.error) return status_of(call.error);
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
    return product("cublasSgemm", handle, transa, transb, m, n, k, alpha, A,
                   lda, B, ldb, beta, C, ldc);
}

cublasStatus_t cublasDgemm(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, int k,
                           const double *alpha, const double *A, int lda,
                           const double *B, int ldb, const double *beta,
                           double *C, int ldc)
{
    return product("cublasDgemm", handle, transa, transb, m, n, k, alpha, A,
                   lda, B, ldb, beta, C, ldc);
}
