// CNNC_HOST_PLAN: what a plan says is unwritten or dead reads as NaN, what it
// says is alive is left alone.  Two plans of small nets over one arena of four
// places of 256 bytes; the second one's steps are numbered on.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <string>
#include "expect.h"

enum { COUNT = 64, IMAGE = COUNT, HIDDEN = 2 * COUNT, LAST = 3 * COUNT };

static const char train[] =
    "{\"schema\": 1, \"arena_bytes\": 1024, \"steps\": [{}, {}, {}], \"buffers\": [\n"
    " {\"offset\": 0, \"bytes\": 256, \"kind\": \"param\", \"persistent\": true,"
    "  \"first\": 0, \"last\": 2, \"alias_of\": null},\n"
    " {\"offset\": 256, \"bytes\": 256, \"kind\": \"input\", \"persistent\": false,"
    "  \"first\": 0, \"last\": 0, \"alias_of\": null},\n"
    " {\"offset\": 512, \"bytes\": 256, \"kind\": \"activation\", \"persistent\": false,"
    "  \"first\": 0, \"last\": 1, \"alias_of\": null},\n"
    " {\"offset\": 512, \"bytes\": 256, \"kind\": \"gradient\", \"persistent\": false,"
    "  \"first\": 1, \"last\": 2, \"alias_of\": 2},\n"
    " {\"offset\": 768, \"bytes\": 256, \"kind\": \"scalar\", \"persistent\": false,"
    "  \"first\": 1, \"last\": 2, \"alias_of\": null, \"output\": true}\n]}\n";

static const char eval[] =
    "{\"schema\": 1, \"arena_bytes\": 768, \"steps\": [{}], \"buffers\": [\n"
    " {\"offset\": 512, \"bytes\": 256, \"kind\": \"activation\", \"persistent\": false,"
    "  \"first\": 0, \"last\": 0, \"alias_of\": null}]}\n";

static std::string write_file(const char *text)
{
    char path[] = "/tmp/host_plan_XXXXXX";
    int file = mkstemp(path);
    EXPECT(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    return path;
}

// seen[i] = whether y[i] was NaN before it became x[i] + 1.
__global__ void step(int *seen, float *y, const float *x)
{
    unsigned i = threadIdx.x;
    seen[i] = isnan(y[i]);
    y[i] = x[i] + 1;
}

static int sum(const int *seen)
{
    int count = 0;
    for (int i = 0; i < COUNT; i++) count += seen[i];
    return count;
}

static bool is_all(const float *x, float value)
{
    for (int i = 0; i < COUNT; i++)
        if (value == value ? x[i] != value : !isnan(x[i])) return false;
    return true;
}

static void test_train(float *arena, int *seen, cudaStream_t stream)
{
    float *image = arena + IMAGE, *hidden = arena + HIDDEN, *last = arena + LAST;
    LAUNCH(0, step, 1, COUNT, seen, hidden, image);
    EXPECT(sum(seen) == COUNT);
    EXPECT(is_all(hidden, 3) && is_all(image, NAN) && is_all(last, 2) && is_all(arena, 2));
    LAUNCH(1, step, 1, COUNT, seen, last, hidden);
    EXPECT(sum(seen) == COUNT);
    EXPECT(is_all(last, 4) && is_all(hidden, 3));
    LAUNCH(2, step, 1, COUNT, seen, hidden, last);
    EXPECT(sum(seen) == 0);
    EXPECT(is_all(last, 4) && is_all(hidden, NAN) && is_all(arena, 2));
    LAUNCH(-1, step, 1, COUNT, seen, hidden, last);
    EXPECT(sum(seen) == COUNT && is_all(hidden, 5));
}

// beta is 1, so what the product adds to is the unwritten place.
static void test_library(float *arena)
{
    cublasHandle_t handle;
    float one = 1;
    cublasCreate(&handle);
    for (int i = 0; i < COUNT; i++) arena[HIDDEN + i] = 0;
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, arena, 8, arena, 8, &one,
                arena + HIDDEN, 8);
    EXPECT(is_all(arena + HIDDEN, 32));
    LIBRARY_STEP(3);
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, arena, 8, arena, 8, &one,
                arena + HIDDEN, 8);
    EXPECT(is_all(arena + HIDDEN, NAN));
    cublasDestroy(handle);
}

int main()
{
    std::string first = write_file(train), second = write_file(eval);
    setenv("CNNC_HOST_PLAN", (first + ":" + second).c_str(), 1);
    cudaStream_t stream = nullptr;
    float *arena;
    int *seen;
    EXPECT_SUCCESS(cudaMalloc(&arena, 1024));
    EXPECT_SUCCESS(cudaMalloc(&seen, COUNT * sizeof *seen));
    ARENA_AT(arena, 1024);
    for (int i = 0; i < 4 * COUNT; i++) arena[i] = 2;
    test_train(arena, seen, stream);
    test_library(arena);
    LAUNCH(4, step, 1, COUNT, seen, arena, arena);
    EXPECT(cudaGetLastError() == cudaErrorLaunchFailure);
    EXPECT(strstr(cuda_host_report(), "4 steps") != nullptr);
    unlink(first.c_str()), unlink(second.c_str());
    return expect_failures != 0;
}
