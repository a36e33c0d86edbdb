// Ranks as processes: runs a function in each, with the unique id of rank 0.
#ifndef CNNC_RANKS_RANKS_H
#define CNNC_RANKS_RANKS_H

#include <atomic>
#include <cuda_runtime.h>
#include <initializer_list>
#include <nccl.h>
#include <new>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../host/expect.h"

enum { MOST_RANKS = 16, MOST_SECONDS = 30 };

// Memory that all processes of a test share.
struct Meeting {
    ncclUniqueId id;
    std::atomic<int> has_id, ready;
    std::atomic<double> when;
    pid_t processes[MOST_RANKS];
};

static Meeting *meeting;

static inline double seconds()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline void sleep_seconds(double time)
{
    usleep((useconds_t)(1e6 * time));
}

// The id of rank 0, in each rank.
static inline ncclUniqueId meet(int rank)
{
    if (rank == 0) {
        EXPECT(ncclGetUniqueId(&meeting->id) == ncclSuccess);
        meeting->has_id = 1;
    }
    while (!meeting->has_id) usleep(200);
    return meeting->id;
}

static inline ncclComm_t join_ranks(int rank, int ranks)
{
    ncclComm_t comm = nullptr;
    EXPECT(ncclCommInitRank(&comm, ranks, meet(rank), rank) == ncclSuccess);
    if (!comm) _exit(1);
    return comm;
}

// True if the last report has these words.
static inline bool said(const char *words)
{
    if (strstr(ncclGetLastError(nullptr), words)) return true;
    printf("wanted \"%s\", found \"%s\"\n", words, ncclGetLastError(nullptr));
    return false;
}

// Runs f(rank) in `ranks` processes; `meanwhile` runs in this one, and may kill some.  A process
// that does not end is killed.  Each must exit with 0, except those of the bits `killed`.
template <class F, class G>
static void run_ranks(int ranks, F f, G meanwhile, unsigned killed = 0)
{
    void *at = mmap(nullptr, sizeof *meeting, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                    -1, 0);
    meeting = new (at) Meeting{};
    fflush(stdout);
    for (int rank = 0; rank < ranks; rank++) {
        pid_t process = fork();
        if (process == 0) {
            alarm(MOST_SECONDS);
            expect_failures = 0;
            f(rank);
            fflush(stdout);
            _exit(expect_failures != 0);
        }
        meeting->processes[rank] = process;
    }
    meanwhile();
    for (int rank = 0; rank < ranks; rank++) {
        int status = -1;
        waitpid(meeting->processes[rank], &status, 0);
        bool dies = killed >> rank & 1;
        bool good = dies ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL : status == 0;
        if (!good) printf("rank %d of %d ends with status %#x\n", rank, ranks, status);
        EXPECT(good);
    }
    munmap(at, sizeof *meeting);
}

template <class F>
static void run_ranks(int ranks, F f)
{
    run_ranks(ranks, f, [] {});
}

// Memory of the device that holds these bytes.
static inline void *device_bytes(const void *bytes, size_t size)
{
    char *x = nullptr;
    EXPECT_SUCCESS(cudaMalloc(&x, size));
    if (bytes) EXPECT_SUCCESS(cudaMemcpy(x, bytes, size, cudaMemcpyHostToDevice));
    return x;
}

static inline float *device_floats(int count, float value)
{
    float *list = new float[(size_t)count];
    for (int i = 0; i < count; i++) list[i] = value;
    void *x = device_bytes(list, (size_t)count * sizeof *list);
    delete[] list;
    return (float *)x;
}

static inline float float_of(const float *x)
{
    float value = -1;
    EXPECT_SUCCESS(cudaMemcpy(&value, x, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

#endif
