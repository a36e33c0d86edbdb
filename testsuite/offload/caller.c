// A caller that embeds a net that offloads, in C99. It makes the objects that
// the header requires, and is refused without each. It trains in two contexts
// at once, each with its own.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "offloaded.h"

#define EXPECT(condition)                                                      \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__,        \
                    #condition);                                               \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

#define EXPECT_OK(call) EXPECT((call) == 0)

enum { PIXELS = 10 * 10 * 3 };

typedef struct Caller {
    offloaded_context c;
    offloaded_host host;
    void *arena;
    cudaStream_t stream;
    cublasHandle_t cublas;
} Caller;

static Caller *new_caller(void)
{
    Caller *caller = (Caller *)calloc(1, sizeof *caller);
    offloaded_host *host = &caller->host;
    EXPECT_OK(cudaMalloc(&caller->arena, OFFLOADED_ARENA_BYTES));
    EXPECT_OK(cudaStreamCreateWithFlags(&caller->stream, cudaStreamNonBlocking));
    EXPECT_OK(cublasCreate(&caller->cublas));
    EXPECT_OK(cudaMallocHost(&host->memory, OFFLOADED_HOST_BYTES));
    host->bytes = OFFLOADED_HOST_BYTES;
    EXPECT_OK(cudaStreamCreateWithFlags(&host->stream, cudaStreamNonBlocking));
    for (int i = 0; i < OFFLOADED_HOST_EVENTS; i++)
        EXPECT_OK(cudaEventCreateWithFlags(&host->events[i],
                                           cudaEventDisableTiming));
    return caller;
}

static void free_caller(Caller *caller)
{
    for (int i = 0; i < OFFLOADED_HOST_EVENTS; i++)
        EXPECT_OK(cudaEventDestroy(caller->host.events[i]));
    EXPECT_OK(cudaStreamDestroy(caller->host.stream));
    EXPECT_OK(cudaFreeHost(caller->host.memory));
    EXPECT_OK(cublasDestroy(caller->cublas));
    EXPECT_OK(cudaStreamDestroy(caller->stream));
    EXPECT_OK(cudaFree(caller->arena));
    free(caller);
}

static int init(Caller *caller, const offloaded_host *host)
{
    return offloaded_init(&caller->c, caller->arena, OFFLOADED_ARENA_BYTES,
                          caller->stream, caller->cublas, host, 11);
}

static void train(Caller *caller, unsigned number)
{
    static float image[OFFLOADED_BATCH][PIXELS];
    static int32_t label[OFFLOADED_BATCH];
    unsigned x = 2654435761u * (number + 1);
    for (int n = 0; n < OFFLOADED_BATCH; n++) {
        for (int i = 0; i < PIXELS; i++) {
            x = 1664525u * x + 1013904223u;
            image[n][i] = (float)(x >> 8) / 8388608.0f - 1.0f;
        }
        label[n] = (int32_t)(x >> 16) % 5;
    }
    EXPECT_OK(offloaded_train(&caller->c, image[0], sizeof image, label,
                              sizeof label));
}

typedef struct State {
    unsigned char bytes[OFFLOADED_STATE_BYTES];
} State;

static State state_of(Caller *caller)
{
    State s;
    EXPECT_OK(offloaded_export(&caller->c, s.bytes, sizeof s.bytes));
    return s;
}

// ---- tests ------------------------------------------------------------------

static void refused(Caller *caller, const offloaded_host *host, size_t given)
{
    EXPECT(init(caller, host) == OFFLOADED_BAD_ARGUMENT);
    EXPECT(!caller->c.ready);
    EXPECT(offloaded_last_error(&caller->c)->wanted == OFFLOADED_HOST_BYTES);
    EXPECT(offloaded_last_error(&caller->c)->given == given);
    EXPECT(offloaded_attach(&caller->c, caller->arena, OFFLOADED_ARENA_BYTES,
                            caller->stream, caller->cublas,
                            host) == OFFLOADED_BAD_ARGUMENT);
}

static void what_is_missing_is_refused(Caller *caller)
{
    const offloaded_host good = caller->host;
    offloaded_host host = good;
    refused(caller, NULL, 0);
    host.bytes = OFFLOADED_HOST_BYTES - 1;
    refused(caller, &host, host.bytes);
    host = good, host.memory = NULL;
    refused(caller, &host, 0);
    host = good, host.stream = NULL;
    refused(caller, &host, 0);
    host = good, host.stream = caller->stream;
    refused(caller, &host, 0);
    for (int i = 0; i < OFFLOADED_HOST_EVENTS; i++) {
        host = good, host.events[i] = NULL;
        refused(caller, &host, 0);
    }
    host = good;
    EXPECT_OK(init(caller, &host));
    // It is copied.
    memset(&host, 0, sizeof host);
    train(caller, 0);
    State s = state_of(caller);
    EXPECT_OK(offloaded_attach(&caller->c, caller->arena, OFFLOADED_ARENA_BYTES,
                               caller->stream, caller->cublas, &good));
    EXPECT(!memcmp(state_of(caller).bytes, s.bytes, sizeof s.bytes));
}

// Between calls host memory holds nothing that is needed; and two contexts, each
// with its own, do not meet.
static void contexts_are_apart(Caller *one, Caller *other)
{
    EXPECT_OK(init(one, &one->host));
    for (unsigned i = 0; i < 3; i++) train(one, i);
    State wanted = state_of(one);
    EXPECT_OK(init(one, &one->host));
    EXPECT_OK(init(other, &other->host));
    for (unsigned i = 0; i < 3; i++) {
        EXPECT_OK(cudaStreamSynchronize(one->stream));
        memset(one->host.memory, 0xff, one->host.bytes);
        train(one, i);
        train(other, i);
    }
    EXPECT(!memcmp(state_of(one).bytes, wanted.bytes, sizeof wanted.bytes));
    EXPECT(!memcmp(state_of(other).bytes, wanted.bytes, sizeof wanted.bytes));
}

int main(void)
{
    Caller *one = new_caller(), *other = new_caller();
    what_is_missing_is_refused(one);
    contexts_are_apart(one, other);
    free_caller(other);
    free_caller(one);
    return 0;
}
