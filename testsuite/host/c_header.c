// The stand-in headers are C as well: a C program calls the runtime.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <nccl.h>

int main(void)
{
    void *pointer;
    int version;
    float one = 1, back = 0;
    cublasHandle_t handle;
    if (cudaMalloc(&pointer, 4)) return 1;
    if (cudaMemcpy(pointer, &one, 4, cudaMemcpyHostToDevice)) return 2;
    if (cublasCreate(&handle)) return 3;
    if (cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, pointer, 1,
                    pointer, 1, &one, pointer, 1))
        return 4;
    if (cudaMemcpy(&back, pointer, 4, cudaMemcpyDeviceToHost)) return 5;
    if (ncclGetVersion(&version)) return 7;
    if (cublasDestroy(handle) || cudaFree(pointer)) return 6;
    return back != 2;
}
