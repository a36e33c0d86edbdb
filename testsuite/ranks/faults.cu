// Ranks that disagree, die, abort or never come.  All others end with an error and a message, at
// once.  The argument seeds the moments of the kills.
#include <pthread.h>
#include <stdlib.h>
#include "ranks.h"

// The time within which others end: runtime/host/README.md.
static const double AT_ONCE = 1;

static ncclResult_t sum(float *x, ncclComm_t comm, size_t count = 1)
{
    return ncclAllReduce(x, x, count, ncclFloat, ncclSum, comm, nullptr);
}

// ---- ranks that disagree --------------------------------------------------------------------

// The call of rank 2 and that of the others, for memory x.
struct Row {
    ncclResult_t (*usual)(float *x, ncclComm_t comm);
    ncclResult_t (*wrong)(float *x, ncclComm_t comm);
    const char *words;
};

static const Row disagreements[] = {
    {[](float *x, ncclComm_t c) { return sum(x, c, 1200); },
     [](float *x, ncclComm_t c) { return sum(x, c, 1201); },
     "calls ncclAllReduce of 1200 float (sum), rank 2 calls ncclAllReduce of 1201 float (sum)"},
    {[](float *x, ncclComm_t c) { return sum(x, c); },
     [](float *x, ncclComm_t c) {
         return ncclAllReduce(x, x, 1, ncclFloat, ncclMax, c, nullptr);
     },
     "calls ncclAllReduce of 1 float (sum), rank 2 calls ncclAllReduce of 1 float (max)"},
    {[](float *x, ncclComm_t c) { return sum(x, c); },
     [](float *x, ncclComm_t c) {
         return ncclAllReduce(x, x, 1, ncclInt32, ncclSum, c, nullptr);
     },
     "calls ncclAllReduce of 1 float (sum), rank 2 calls ncclAllReduce of 1 int32 (sum)"},
    {[](float *x, ncclComm_t c) {
         return ncclReduce(x, x, 3, ncclFloat, ncclMin, 1, c, nullptr);
     },
     [](float *x, ncclComm_t c) {
         return ncclReduce(x, x, 3, ncclFloat, ncclMin, 2, c, nullptr);
     },
     "ncclReduce of 3 float (min, root 1), rank 2 calls ncclReduce of 3 float (min, root 2)"},
    {[](float *x, ncclComm_t c) {
         ncclResult_t result = sum(x, c);
         return result ? result : ncclBroadcast(x, x, 1, ncclFloat, 0, c, nullptr);
     },
     [](float *x, ncclComm_t c) {
         ncclResult_t result = ncclBroadcast(x, x, 1, ncclFloat, 0, c, nullptr);
         return result ? result : sum(x, c);
     },
     "calls ncclAllReduce of 1 float (sum), rank 2 calls ncclBroadcast of 1 float (root 0)"},
    {[](float *x, ncclComm_t c) { return sum(x, c, 0); },
     [](float *, ncclComm_t c) { return ncclCommFinalize(c); },
     "calls ncclAllReduce of 0 float (sum), rank 2 calls ncclCommDestroy"},
};

static void test_disagreement(int rank, const Row &row)
{
    ncclComm_t comm = join_ranks(rank, 3);
    ncclResult_t error = ncclSuccess;
    float *x = device_floats(1300, 1);
    for (int i = 0; i < 6; i++) EXPECT(sum(x, comm) == ncclSuccess);
    double begin = seconds();
    ncclResult_t result = (rank == 2 ? row.wrong : row.usual)(x, comm);
    // A rank that leaves may have gone before the others came.
    bool leaves = rank == 2 && strstr(row.words, "Destroy");
    EXPECT(result == ncclInvalidUsage || (leaves && result == ncclSuccess));
    EXPECT(seconds() - begin < AT_ONCE);
    if (!leaves) {
        EXPECT(said("collective 7: rank ") && said(row.words));
        EXPECT(ncclCommGetAsyncError(comm, &error) == ncclSuccess && error == ncclInvalidUsage);
        EXPECT(sum(x, comm) == ncclInvalidUsage);
    }
    EXPECT(ncclCommDestroy(comm) == ncclSuccess);
    EXPECT(float_of(x) >= 729);
    // The hub must outlive the ranks that have not read its message.
    meeting->ready++;
    while (rank == 0 && meeting->ready < 3) usleep(200);
}

// ---- ranks that die -------------------------------------------------------------------------

// Sums until a rank is killed.  Rank 1 idles and asks, if it should.
static void test_killed(int rank, bool idles, bool defers)
{
    if (defers) setenv("CNNC_HOST_DEFER", "1", 1);
    ncclComm_t comm = join_ranks(rank, 4);
    ncclResult_t result = ncclSuccess;
    const size_t count = 300000;
    float *x = device_floats((int)count, 0);
    cudaError_t error = cudaSuccess;
    meeting->ready++;
    while (idles && rank == 1 && !result) {
        EXPECT(ncclCommGetAsyncError(comm, &result) == ncclSuccess);
        usleep(1000);
    }
    while (!result && !error) {
        result = sum(x, comm, count);
        if (defers) error = cudaDeviceSynchronize();
    }
    double now = seconds();
    while (meeting->when == 0) usleep(200);
    EXPECT(now - meeting->when < AT_ONCE);
    EXPECT(error == (defers ? cudaErrorUnknown : cudaSuccess));
    EXPECT(ncclCommGetAsyncError(comm, &result) == ncclSuccess && result == ncclRemoteError);
    // The device is sound, so that a program can save its state.
    cudaGetLastError();
    EXPECT(float_of(x) == 0);
    EXPECT(sum(x, comm) == ncclRemoteError && ncclCommAbort(comm) == ncclSuccess);
    EXPECT_SUCCESS(cudaDeviceSynchronize());
}

// Kills a rank some time after `ranks` ranks are there.
static void kill_rank(int rank, int ranks, double after)
{
    while (meeting->ready < ranks) usleep(200);
    sleep_seconds(after);
    double now = seconds();
    kill(meeting->processes[rank], SIGKILL);
    meeting->when = now;
}

static void test_kills()
{
    for (int round = 0; round < 8; round++) {
        int rank = round % 4;
        bool idles = round > 3 && rank != 1;
        double after = 1e-6 * (rand() % 50000);
        run_ranks(4, [=](int own) { test_killed(own, idles, round % 3 == 2); },
                  [=] { kill_rank(rank, 4, after); }, 1u << rank);
    }
}

// A rank that dies while it waits for the last one, and the process of the id.
static void test_early_death(int rank)
{
    ncclUniqueId id = meet(rank);
    ncclComm_t comm;
    meeting->ready++;
    EXPECT(ncclCommInitRank(&comm, 3, id, rank) == ncclRemoteError);
    double now = seconds();
    while (meeting->when == 0) usleep(200);
    EXPECT(now - meeting->when < AT_ONCE);
}

// ---- abort ----------------------------------------------------------------------------------

static ncclComm_t waiting;

static void *abort_soon(void *)
{
    usleep(50000);
    EXPECT(ncclCommAbort(waiting) == ncclSuccess);
    return nullptr;
}

// A thread aborts while this rank waits for the other, which then fails too.
static void test_abort(int rank, bool defers)
{
    if (defers) setenv("CNNC_HOST_DEFER", "1", 1);
    ncclComm_t comm = join_ranks(rank, 2);
    float *x = device_floats(1, 1);
    pthread_t thread;
    if (rank == 1) {
        waiting = comm;
        EXPECT(pthread_create(&thread, nullptr, abort_soon, nullptr) == 0);
        double begin = seconds();
        ncclResult_t result = sum(x, comm);
        cudaError_t error = cudaDeviceSynchronize();
        EXPECT(result == (defers ? ncclSuccess : ncclInvalidUsage));
        EXPECT(error == (defers ? cudaErrorUnknown : cudaSuccess));
        EXPECT(said("this process has called ncclCommAbort") && seconds() - begin < AT_ONCE);
        pthread_join(thread, nullptr);
        EXPECT(sum(x, comm) == ncclInvalidArgument);
        meeting->ready = 1;
        return;
    }
    while (!meeting->ready) usleep(200);
    ncclResult_t error = ncclSuccess;
    double begin = seconds();
    while (!error && seconds() - begin < AT_ONCE) ncclCommGetAsyncError(comm, &error);
    EXPECT(error == ncclRemoteError && said("rank 1 has ended without ncclCommDestroy, has called"));
    EXPECT(ncclCommDestroy(comm) == ncclSuccess);
}

// ---- ranks that do not come together --------------------------------------------------------

static void test_missing(int rank)
{
    setenv("CNNC_HOST_JOIN", "0.3", 1);
    ncclComm_t comm;
    EXPECT(ncclCommInitRank(&comm, 4, meet(rank), rank) == ncclSystemError);
    EXPECT(said("ranks 2 and 3 of 4 did not join within 0.3 seconds"));
    meeting->ready++;
    while (meeting->ready < 2) usleep(200);
}

// Two processes with one rank, or with other numbers of ranks.
static void test_twice(int rank, int as, int ranks, const char *words)
{
    ncclComm_t comm;
    ncclUniqueId id = meet(rank);
    ncclResult_t result = rank ? ncclCommInitRank(&comm, ranks, id, as)
                               : ncclCommInitRank(&comm, 3, id, 0);
    EXPECT(result == ncclInvalidUsage && said(words));
    meeting->ready++;
    while (meeting->ready < 2) usleep(200);
}

static void *join_second(void *id)
{
    ncclComm_t comm;
    EXPECT(ncclCommInitRank(&comm, 2, *(ncclUniqueId *)id, 1) == ncclInvalidUsage);
    return nullptr;
}

// Two threads as ranks of one communicator would share a device.
static void test_threads(int)
{
    ncclUniqueId id = meet(0);
    ncclComm_t comm;
    pthread_t thread;
    EXPECT(pthread_create(&thread, nullptr, join_second, &id) == 0);
    EXPECT(ncclCommInitRank(&comm, 2, id, 0) == ncclInvalidUsage);
    pthread_join(thread, nullptr);
    EXPECT(said("ranks 0 and 1 are one process: this runtime has one device for each process"));
}

static void test_arguments(int)
{
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclUniqueId id = meet(0), none = {};
    ncclComm_t comm = nullptr;
    int version = 0;
    EXPECT(ncclGetVersion(&version) == ncclSuccess && version == NCCL_VERSION_CODE);
    EXPECT(ncclCommInitRank(&comm, 0, id, 0) == ncclInvalidArgument);
    EXPECT(ncclCommInitRank(&comm, 2, id, 2) == ncclInvalidArgument && said("rank 2 of 2 ranks"));
    EXPECT(ncclCommInitRank(&comm, 1, none, 0) == ncclInvalidArgument);
    config.blocking = 2;
    EXPECT(ncclCommInitRankConfig(&comm, 1, id, 0, &config) == ncclInvalidArgument);
    config.blocking = 0;
    EXPECT(ncclCommInitRankConfig(&comm, 1, id, 0, &config) == ncclSuccess);
    EXPECT(ncclCommFinalize(comm) == ncclSuccess);
    float *x = device_floats(1, 1);
    EXPECT(sum(x, comm) == ncclInvalidUsage && said("ncclAllReduce after ncclCommFinalize"));
    EXPECT(ncclCommDestroy(comm) == ncclSuccess);
    EXPECT(!strcmp(ncclGetErrorString(ncclInvalidUsage), "invalid usage"));
}

// Where the id's address comes from.
static void test_interfaces(int)
{
    ncclUniqueId id;
    setenv("NCCL_SOCKET_IFNAME", "=lo", 1);
    EXPECT(ncclGetUniqueId(&id) == ncclSuccess);
    setenv("NCCL_SOCKET_IFNAME", "nowhere", 1);
    EXPECT(ncclGetUniqueId(&id) == ncclSystemError);
    EXPECT(said("NCCL_SOCKET_IFNAME=nowhere: no network interface"));
    setenv("NCCL_COMM_ID", "here", 1);
    EXPECT(ncclGetUniqueId(&id) == ncclInvalidArgument);
    EXPECT(said("NCCL_COMM_ID=here: wanted HOST:PORT"));
}

// NCCL_COMM_ID: rank 0 listens there, and other ranks may come earlier.
static void test_fixed_address(int rank)
{
    char text[32];
    snprintf(text, sizeof text, "127.0.0.1:%d", 20000 + (int)getppid() % 10000);
    setenv("NCCL_COMM_ID", text, 1);
    ncclUniqueId id;
    ncclComm_t comm = nullptr;
    if (rank == 0) usleep(100000);
    EXPECT(ncclGetUniqueId(&id) == ncclSuccess);
    EXPECT(ncclCommInitRank(&comm, 2, id, rank) == ncclSuccess);
    float *x = device_floats(1, 1);
    EXPECT(sum(x, comm) == ncclSuccess && float_of(x) == 2);
    EXPECT(ncclCommDestroy(comm) == ncclSuccess);
}

int main(int argc, char **argv)
{
    srand(argc > 1 ? (unsigned)atoi(argv[1]) : 1);
    for (const Row &row : disagreements)
        run_ranks(3, [&](int rank) { test_disagreement(rank, row); });
    test_kills();
    for (int dead : {0, 1})
        run_ranks(2, test_early_death, [=] { kill_rank(dead, 2, 0.1); }, 1u << dead);
    run_ranks(2, [](int rank) { test_abort(rank, false); });
    run_ranks(2, [](int rank) { test_abort(rank, true); });
    run_ranks(2, test_missing);
    run_ranks(2, [](int rank) {
        test_twice(rank, 0, 3, "two processes call ncclCommInitRank as rank 0");
    });
    run_ranks(2, [](int rank) { test_twice(rank, 1, 2, "calls ncclCommInitRank for"); });
    run_ranks(1, test_threads);
    run_ranks(1, test_arguments);
    run_ranks(1, test_interfaces);
    run_ranks(2, test_fixed_address);
    return expect_failures != 0;
}
