// CNNC_HOST_PLAN: bytes that a plan calls unwritten or dead read as NaN, live bytes are left alone;
// launches that are not the plan's next, and pointers outside the buffers of their step, fail.  The
// first two plans are of small nets over one arena of four places of 256 bytes; the second one's
// steps are numbered on.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <string>
#include "expect.h"

enum { COUNT = 64, IMAGE = COUNT, HIDDEN = 2 * COUNT, LAST = 3 * COUNT };

static const char train[] =
    "{\"schema\": 1, \"arena_bytes\": 1024, \"steps\": [\n"
    " {\"name\": \"one\", \"kernel\": \"step\", \"reads\": [1], \"writes\": [2]},\n"
    " {\"name\": \"two\", \"kernel\": \"step\", \"reads\": [2], \"writes\": [4]},\n"
    " {\"name\": \"three\", \"kernel\": \"step\", \"reads\": [4], \"writes\": [3]}],\n"
    " \"buffers\": [\n"
    " {\"offset\": 0, \"bytes\": 256, \"kind\": \"param\", \"persistent\": true,"
    "  \"first\": 0, \"last\": 2, \"alias_of\": null},\n"
    " {\"name\": \"image\", \"offset\": 256, \"bytes\": 256, \"kind\": \"input\","
    "  \"persistent\": false, \"first\": 0, \"last\": 0, \"alias_of\": null},\n"
    " {\"name\": \"hidden\", \"offset\": 512, \"bytes\": 256, \"kind\": \"activation\","
    "  \"persistent\": false, \"first\": 0, \"last\": 1, \"alias_of\": null},\n"
    " {\"offset\": 512, \"bytes\": 256, \"kind\": \"gradient\", \"persistent\": false,"
    "  \"first\": 1, \"last\": 2, \"alias_of\": 2},\n"
    " {\"offset\": 768, \"bytes\": 256, \"kind\": \"scalar\", \"persistent\": false,"
    "  \"first\": 1, \"last\": 2, \"alias_of\": null, \"output\": true}\n]}\n";

static const char eval[] =
    "{\"schema\": 1, \"arena_bytes\": 768, \"mode\": \"eval\", \"steps\": [\n"
    " {\"name\": \"product\", \"reads\": [1], \"writes\": [0]},\n"
    " {\"name\": \"loss\", \"kernel\": \"step\", \"reads\": [1], \"writes\": [2]}],\n"
    " \"buffers\": [\n"
    " {\"offset\": 512, \"bytes\": 256, \"kind\": \"activation\", \"persistent\": false,"
    "  \"first\": 0, \"last\": 0, \"alias_of\": null},\n"
    " {\"name\": \"weights\", \"offset\": 0, \"bytes\": 256, \"kind\": \"param\","
    "  \"persistent\": true, \"first\": 0, \"last\": 1, \"alias_of\": null},\n"
    " {\"offset\": 256, \"bytes\": 256, \"kind\": \"scalar\", \"persistent\": false,"
    "  \"first\": 1, \"last\": 1, \"alias_of\": null, \"output\": true}]}\n";

static const char first_scored[] =
    "{\"schema\": 1, \"arena_bytes\": 768, \"mode\": \"eval\", \"steps\": [\n"
    " {\"name\": \"loss\", \"kernel\": \"step\", \"reads\": [1], \"writes\": [2]},\n"
    " {\"name\": \"map\", \"kernel\": \"step\", \"reads\": [1], \"writes\": [0]}],\n"
    " \"buffers\": [\n"
    " {\"offset\": 512, \"bytes\": 256, \"kind\": \"activation\", \"persistent\": false,"
    "  \"first\": 1, \"last\": 1, \"alias_of\": null, \"output\": true},\n"
    " {\"name\": \"weights\", \"offset\": 0, \"bytes\": 256, \"kind\": \"param\","
    "  \"persistent\": true, \"first\": 0, \"last\": 1, \"alias_of\": null},\n"
    " {\"name\": \"figures\", \"offset\": 256, \"bytes\": 256, \"kind\": \"scalar\","
    "  \"persistent\": false, \"first\": 0, \"last\": 0, \"alias_of\": null, \"output\": true}]}\n";

// A tensor comes from host memory and is waited for, then a step without buffers.
static const char copied[] =
    "{\"schema\": 1, \"arena_bytes\": 256, \"steps\": [\n"
    " {\"name\": \"fetch\", \"kernel\": \"copy_in\", \"reads\": [], \"writes\": [0]},\n"
    " {\"name\": \"wait\", \"kernel\": \"await_copy\", \"reads\": [], \"writes\": [0]},\n"
    " {\"name\": \"idle\", \"kernel\": \"step\", \"reads\": [], \"writes\": []}],\n"
    " \"buffers\": [\n"
    " {\"name\": \"weights\", \"offset\": 0, \"bytes\": 256, \"kind\": \"param\","
    "  \"persistent\": true, \"first\": 0, \"last\": 2, \"alias_of\": null}]}\n";

static const char never_begun[] =
    "{\"schema\": 1, \"arena_bytes\": 256, \"steps\": [\n"
    " {\"name\": \"wait\", \"kernel\": \"await_copy\", \"reads\": [], \"writes\": [0]}],\n"
    " \"buffers\": [\n"
    " {\"name\": \"weights\", \"offset\": 0, \"bytes\": 256, \"kind\": \"param\","
    "  \"persistent\": true, \"first\": 0, \"last\": 0, \"alias_of\": null}]}\n";

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

// beta is 1, so the product adds to unwritten bytes.
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

// Does nothing: another kernel than the plan's, and one that writes its operand.
__global__ void other(int *, float *, const float *)
{
}

__global__ void stray(int *, float *, float *x)
{
    x[3] = 7;
}

static float *arena_of_test;

// A fresh arena whose steps up to `due` have run.
static float *start(int due)
{
    cudaStream_t stream = nullptr;
    int *seen = (int *)(arena_of_test + 4 * COUNT);
    float *arena = arena_of_test;
    EXPECT_SUCCESS(cudaDeviceReset());
    EXPECT_SUCCESS(cudaMalloc(&arena_of_test, 1024 + 256));
    arena = arena_of_test;
    seen = (int *)(arena + 4 * COUNT);
    for (int i = 0; i < 4 * COUNT; i++) arena[i] = 2;
    ARENA_AT(arena, 1024);
    float *image = arena + IMAGE, *hidden = arena + HIDDEN, *last = arena + LAST;
    if (due > 0) LAUNCH(0, step, 1, COUNT, seen, hidden, image);
    if (due > 1) LAUNCH(1, step, 1, COUNT, seen, last, hidden);
    if (due > 2) LAUNCH(2, step, 1, COUNT, seen, hidden, last);
    EXPECT_SUCCESS(cudaGetLastError());
    return arena;
}

// A launch of a step while another is due, with two places: it fails, saying so.
#define FAILS(due, number, kernel, y, x, said)                                                     \
    do {                                                                                           \
        float *at = start(due);                                                                    \
        LAUNCH(number, kernel, 1, COUNT, (int *)(at + 4 * COUNT), at + (y), at + (x));             \
        EXPECT(cudaGetLastError() == cudaErrorLaunchFailure);                                      \
        EXPECT(strstr(cuda_host_report(), said) != nullptr);                                       \
    } while (0)

static void test_order(cudaStream_t stream)
{
    FAILS(3, 11, step, 0, 0, "kernel step, step 11: the plans of CNNC_HOST_PLAN have 11 steps");
    FAILS(0, 1, step, LAST, HIDDEN, "kernel step, step 1: the first step of a plan is due");
    FAILS(1, 2, step, HIDDEN, LAST, "kernel step, step 2: step 1 (two) is due");
    FAILS(1, 0, step, HIDDEN, IMAGE, "kernel step, step 0: step 1 (two) is due");
    FAILS(2, 3, step, HIDDEN, IMAGE, "kernel step, step 3: step 2 (three) is due");
    FAILS(1, -1, step, HIDDEN, IMAGE, "kernel step: launched outside the plan, while step 1");
    FAILS(1, 1, other, LAST, HIDDEN, "kernel other, step 1 (two): the plan has step here");
    FAILS(3, 3, step, HIDDEN, 0, "step 3 (product): the plan has a library call here");
    float *arena = start(1), host[4] = {};
    EXPECT(cudaMemcpy(arena, host, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    EXPECT(strstr(cuda_host_report(), "while step 1 of the plan is due") != nullptr);
    arena = start(3);
    EXPECT_SUCCESS(cudaMemcpy(arena, host, 4, cudaMemcpyHostToDevice));
    EXPECT_SUCCESS(cudaMemset(arena, 0, 4));
}

// Losses and metrics of an evaluation are all left out, or none.
static void test_optional(cudaStream_t stream)
{
    float one = 1, *arena = start(3);
    int *seen = (int *)(arena + 4 * COUNT);
    cublasHandle_t handle;
    cublasCreate(&handle);
    for (int scored = 0; scored < 2; scored++) {
        LIBRARY_STEP(3);
        EXPECT(!cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, arena, 8, arena, 8,
                            &one, arena + HIDDEN, 8));
        if (scored) LAUNCH(4, step, 1, COUNT, seen, arena + IMAGE, arena);
        EXPECT_SUCCESS(cudaGetLastError());
    }
    LAUNCH(0, step, 1, COUNT, seen, arena + HIDDEN, arena + IMAGE);
    EXPECT_SUCCESS(cudaGetLastError());
    // The last plan begins with optional parts.
    for (int scored = 0; scored < 2; scored++) {
        arena = start(3);
        seen = (int *)(arena + 4 * COUNT);
        if (scored) LAUNCH(5, step, 1, COUNT, seen, arena + IMAGE, arena);
        LAUNCH(6, step, 1, COUNT, seen, arena + HIDDEN, arena);
        EXPECT_SUCCESS(cudaGetLastError());
    }
    FAILS(1, 6, step, HIDDEN, 0, "step 6: step 1 (two) is due");
    arena = start(3);
    LIBRARY_STEP(3);
    EXPECT(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, arena + LAST, 8, arena, 8,
                       &one, arena + HIDDEN, 8) == CUBLAS_STATUS_EXECUTION_FAILED);
    EXPECT(strstr(cuda_host_report(), "a product, step 3 (product): its pointer argument 0") !=
           nullptr);
    cublasDestroy(handle);
}

static void test_pointers(cudaStream_t stream)
{
    FAILS(0, 0, step, LAST, IMAGE,
          "kernel step, step 0 (one): its pointer argument 1 is offset 768 of the arena, in no "
          "buffer of the step; the nearest is hidden, at 512 to 768");
    FAILS(0, 0, step, HIDDEN, 0, "its pointer argument 2 is offset 0 of the arena, in no buffer");
}

static void test_copies(cudaStream_t stream)
{
    float *arena = start(3);
    EXPECT(COPY_STEP(7, "copy_in", arena, cudaSuccess) == cudaSuccess);
    EXPECT(COPY_STEP(8, "await_copy", arena, cudaSuccess) == cudaSuccess);
    EXPECT_SUCCESS(cudaGetLastError());
    LAUNCH(9, step, 1, COUNT, (int *)(arena + 4 * COUNT), arena + HIDDEN, arena);
    EXPECT(cudaGetLastError() == cudaErrorLaunchFailure);
    EXPECT(strstr(cuda_host_report(), "step 9 (idle): its pointer argument 1 is offset 512 of the "
                                      "arena, and the step has no buffers") != nullptr);
    arena = start(3);
    COPY_STEP(10, "await_copy", arena, cudaSuccess);
    EXPECT(cudaGetLastError() == cudaErrorLaunchFailure);
    EXPECT(strstr(cuda_host_report(), "a copy, await_copy, step 10 (wait): no copy of that is "
                                      "under way") != nullptr);
}

// The arguments of a launch of step 0 as a struct: pointers, in an array of structs
// too; a number and, after the last one, padding.
struct Part {
    const float *x;
    int          count;
};

struct Told {
    float    *y;
    long long number;
    Part      parts[2];
};

// One that has a constructor.
struct Built {
    const float *x;
    Built(const float *x) : x(x) {}
};

__global__ void told(Told, Built)
{
}

// A number and bytes of padding that are an address bit for bit are no pointer.
static Told tell(float *arena, const float *x)
{
    const float *stray = arena + LAST;
    Told all = {arena + HIDDEN, 0, {{arena + IMAGE, 1}, {x, 2}}};
    memcpy(&all.number, &stray, sizeof stray);
    memcpy((char *)&all + offsetof(Told, parts) + sizeof(float *), &stray, sizeof stray);
    return all;
}

static void test_structs(cudaStream_t stream)
{
    float host, *at;
#define step told
#define TELLS(status, x, built, text)                                                            \
    at = start(0);                                                                               \
    LAUNCH(0, step, 1, 1, tell(at, x), built);                                                   \
    EXPECT(cudaGetLastError() == status);                                                        \
    if (status != cudaSuccess) EXPECT(strstr(cuda_host_report(), text) != nullptr)
    TELLS(cudaSuccess, at + IMAGE, at + IMAGE, "");
    TELLS(cudaErrorLaunchFailure, at + LAST, at + IMAGE, "pointer argument 2 is offset 768");
    TELLS(cudaErrorLaunchFailure, at + IMAGE, at + LAST, "pointer argument 3 is offset 768");
    TELLS(cudaErrorIllegalAddress, &host, at + IMAGE, "which is not in device memory");
#undef TELLS
#undef step
}

// A launch with no pointer into an arena, one into two, and one into an arena that is too small.
static void test_arenas(cudaStream_t stream)
{
    float *arena = start(0), *second;
#define FAILS_IN(y, x, text)                                                                     \
    LAUNCH(0, step, 1, COUNT, nullptr, y, x);                                                    \
    EXPECT(cudaGetLastError() == cudaErrorLaunchFailure);                                        \
    EXPECT(strstr(cuda_host_report(), text) != nullptr);                                         \
    arena = start(0);                                                                            \
    EXPECT_SUCCESS(cudaMalloc(&second, 1024))
    EXPECT_SUCCESS(cudaMalloc(&second, 1024));
    FAILS_IN(second, second, "step 0: it has no pointer into an arena");
    ARENA_AT(second, 1024);
    FAILS_IN(arena + HIDDEN, second + IMAGE, "pointer argument 2 points into another arena");
    ARENA_AT(second, 768);
    FAILS_IN(second + HIDDEN, second + IMAGE, "needs an arena of 1024 bytes, here are 768");
#undef FAILS_IN
}

// Text that is no plan stops the first launch; in a process of its own, for plans are read once.
static void test_no_plan(const char *path, const char *said)
{
    pid_t child = fork();
    if (child == 0) {
        cudaStream_t stream = nullptr;
        float *arena;
        setenv("CNNC_HOST_PLAN", path, 1);
        cudaMalloc(&arena, 1024);
        ARENA_AT(arena, 1024);
        LAUNCH(0, step, 1, COUNT, (int *)arena, arena + HIDDEN, arena + IMAGE);
        _exit(cudaGetLastError() == cudaSuccess || strstr(cuda_host_report(), said) == nullptr);
    }
    int status = 1;
    EXPECT(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

// Under the planned kernel's name, one that writes its operand, and one that writes
// outside its buffers.
static void test_writes(cudaStream_t stream)
{
#define step stray
    float *arena = start(0);
    LAUNCH(0, step, 1, 1, nullptr, arena + HIDDEN, arena + IMAGE);
    EXPECT(cudaGetLastError() == cudaErrorLaunchFailure);
    EXPECT(strstr(cuda_host_report(), "kernel step, step 0 (one): it has changed byte 270 of the "
                                      "arena, which it only reads: image") != nullptr);
    arena = start(0);
    LAUNCH(0, step, 1, 1, nullptr, arena + HIDDEN, arena + HIDDEN + COUNT - 1);
    EXPECT(cudaGetLastError() == cudaErrorLaunchFailure);
    EXPECT(strstr(cuda_host_report(), "byte 778 of the arena, which it does not touch") != nullptr);
#undef step
}

int main()
{
    std::string first = write_file(train), second = write_file(eval);
    std::string third = write_file(first_scored), old = write_file("{\"schema\": 0, \"steps\": []}");
    std::string fourth = write_file(copied), fifth = write_file(never_begun);
    std::string cut = write_file("{\"schema\": 1, ");
    test_no_plan("/nowhere/train.json", "/nowhere/train.json can't be read");
    test_no_plan(old.c_str(), "is no plan of schema 1");
    test_no_plan(cut.c_str(), cut.c_str());
    setenv("CNNC_HOST_PLAN",
           (first + ":" + second + ":" + third + ":" + fourth + ":" + fifth).c_str(), 1);
    setenv("CNNC_HOST_CHECK", "writes", 1);
    cudaStream_t stream = nullptr;
    float *arena;
    int *seen;
    EXPECT_SUCCESS(cudaMalloc(&arena, 1024));
    EXPECT_SUCCESS(cudaMalloc(&seen, COUNT * sizeof *seen));
    ARENA_AT(arena, 1024);
    for (int i = 0; i < 4 * COUNT; i++) arena[i] = 2;
    test_train(arena, seen, stream);
    test_library(arena);
    test_order(stream);
    test_optional(stream);
    test_pointers(stream);
    test_copies(stream);
    test_structs(stream);
    test_writes(stream);
    test_arenas(stream);
    unlink(old.c_str()), unlink(cut.c_str());
    unlink(first.c_str()), unlink(second.c_str()), unlink(third.c_str());
    unlink(fourth.c_str()), unlink(fifth.c_str());
    return expect_failures != 0;
}
