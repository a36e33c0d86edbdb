// Kernels that keep to the buffers of their step and that do not, for AddressSanitizer: bounds
// CASE.  The plan has an arena of two rows of 24 bytes for a and b, 12 each, next to one another.
// The buffer c of 20 bytes comes after them. The rows of b begin at no multiple of 8 bytes, where
// no trap can.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string>

static const char plan[] =
    "{\"schema\": 1, \"mode\": \"train\", \"arena_bytes\": 512, \"steps\": [\n"
    " {\"name\": \"fill\", \"kernel\": \"fill\", \"reads\": [], \"writes\": [1]},\n"
    " {\"name\": \"beside\", \"kernel\": \"look\", \"reads\": [2], \"writes\": [2]},\n"
    " {\"name\": \"read\", \"kernel\": \"add\", \"reads\": [1], \"writes\": [3]},\n"
    " {\"name\": \"product\", \"reads\": [4], \"writes\": [3]}], \"buffers\": [\n"
    " {\"name\": \"ab\", \"offset\": 0, \"bytes\": 48, \"kind\": \"activation\","
    "  \"persistent\": true, \"first\": 0, \"last\": 3, \"alias_of\": null},\n"
    " {\"name\": \"a\", \"offset\": 0, \"bytes\": 24, \"rows\": 2, \"stride\": 24,"
    "  \"first\": 0, \"last\": 3, \"alias_of\": 0},\n"
    " {\"name\": \"b\", \"offset\": 12, \"bytes\": 24, \"rows\": 2, \"stride\": 24,"
    "  \"first\": 0, \"last\": 3, \"alias_of\": 0},\n"
    " {\"name\": \"c\", \"offset\": 256, \"bytes\": 20, \"kind\": \"param\","
    "  \"persistent\": true, \"first\": 0, \"last\": 3, \"alias_of\": null},\n"
    " {\"name\": \"d\", \"offset\": 288, \"bytes\": 16, \"kind\": \"param\","
    "  \"persistent\": true, \"first\": 0, \"last\": 3, \"alias_of\": null}]}\n";

enum { ROW = 6 };

// a's two rows of 3, `reach` elements further than they go.
__global__ void fill(float *a, int reach)
{
    const int row = (int)threadIdx.x;
    if (row < 2)
        for (int i = 0; i < 3 + reach; i++) a[row * ROW + i] = 1; // the write
}

// Reads the element `before` places before each of b's rows; or writes it.
__global__ void look(float *b, float *seen, int before, bool writes)
{
    const int row = (int)threadIdx.x;
    if (row < 2 && writes) b[row * ROW - before] = 5;
    else if (row < 2) seen[row] = b[row * ROW - before];
}

__global__ void add(float *c, const float *a, int reach, int before)
{
    const int i = (int)threadIdx.x - before;
    if (i < 5 + reach) c[i] = a[0] + a[ROW + 2]; // the sum
}

// One step after the other; each case goes wrong in one.
int main(int count, char **arguments)
{
    const std::string wanted = count > 1 ? arguments[1] : "";
    // A file without a name, so that none is left however this ends.
    FILE *file = tmpfile();
    if (!file || fputs(plan, file) < 0 || fflush(file)) return 2;
    setenv("CNNC_HOST_PLAN", ("/proc/self/fd/" + std::to_string(fileno(file))).c_str(), 1);
    cudaStream_t stream = nullptr;
    cublasHandle_t handle;
    unsigned char *arena;
    float *seen, host[5] = {}, one = 1, zero = 0;
    if (cublasCreate(&handle) || cudaMalloc(&arena, 512) || cudaMalloc(&seen, 8)) return 2;
    ARENA_AT(arena, 512);
    float *a = (float *)arena, *c = (float *)(arena + 256), *d = (float *)(arena + 288);
    cudaMemset(arena, 0, 512);
    LAUNCH(0, fill, 1, 32, a, wanted == "row" ? 1 : 0);
    const bool reads = wanted == "before-row", writes = wanted == "write-before-row";
    LAUNCH(1, look, 1, 32, a + 3, seen, reads || writes ? 1 : 0, writes);
    LAUNCH(2, add, 1, 32, c, a, wanted == "end" ? 1 : 0, wanted == "before" ? 1 : 0);
    LIBRARY_STEP(3);
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, wanted == "product" ? 6 : 4, 1, &one, d, 1, d,
                1, &zero, c, 1);
    const size_t bytes = wanted == "copy" ? sizeof host + 1 : sizeof host;
    if (cudaMemcpy(host, c, bytes, cudaMemcpyDeviceToHost)) return 3;
    if (wanted == "host") host[0] = c[1]; // the host's
    printf("%g %g, before b's rows %g %g\n", host[0], host[4], seen[0], seen[1]);
    cublasDestroy(handle);
    // Bytes that were hidden from a step are back.
    if (host[4] != 2 || !(seen[0] == seen[1])) return 4;
    return cudaGetLastError() || cudaFree(arena) || cudaFree(seen);
}
