// Collectives as work of streams: groups, deferred streams, captures, calls that fail, memory that
// is forbidden, addresses.
#include <stdlib.h>
#include "../host/child.h"
#include "ranks.h"
#include "testing.h"

__global__ void add(float *x, float by)
{
    *x += by;
}

static ncclResult_t sum(float *x, ncclComm_t comm, cudaStream_t stream, size_t count = 1)
{
    return ncclAllReduce(x, x, count, ncclFloat, ncclSum, comm, stream);
}

static void defer()
{
    setenv("CNNC_HOST_DEFER", "1", 1);
}

// Nothing happens before the end of the outer group.  A group with a refused call does nothing.
static void test_groups(int rank)
{
    ncclComm_t comm = join_ranks(rank, 2);
    float *x = device_floats(1, 1), *y = device_floats(1, (float)rank + 5);
    EXPECT(ncclGroupStart() == ncclSuccess && ncclGroupStart() == ncclSuccess);
    EXPECT(sum(x, comm, nullptr) == ncclSuccess);
    EXPECT(ncclGroupEnd() == ncclSuccess && float_of(x) == 1);
    EXPECT(sum(x, comm, nullptr) == ncclSuccess);
    EXPECT(ncclBroadcast(y, y, 1, ncclFloat, 1, comm, nullptr) == ncclSuccess);
    EXPECT(ncclGroupEnd() == ncclSuccess && float_of(x) == 4 && float_of(y) == 6);
    EXPECT(ncclGroupStart() == ncclSuccess);
    EXPECT(sum(x, comm, nullptr) == ncclSuccess);
    EXPECT(sum(nullptr, comm, nullptr) == ncclInvalidArgument);
    EXPECT(ncclGroupEnd() == ncclInvalidArgument && float_of(x) == 4);
    EXPECT(ncclGroupStart() == ncclSuccess && ncclGroupEnd() == ncclSuccess);
    EXPECT(ncclGroupEnd() == ncclInvalidUsage);
    EXPECT(sum(x, comm, nullptr) == ncclSuccess && float_of(x) == 8);
    EXPECT(ncclCommDestroy(comm) == ncclSuccess);
}

// A deferred collective reads its buffer when its stream reaches it.  Collectives of two streams
// have the order of the calls, even if the ranks wait for the streams in different orders.
static void test_deferred(int rank)
{
    defer();
    ncclComm_t comm = join_ranks(rank, 2);
    cudaStream_t stream, other;
    EXPECT_SUCCESS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    EXPECT_SUCCESS(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    float *x = device_floats(1, 1), *y = device_floats(3, 2);
    LAUNCH(-1, add, 1, 1, x, (float)rank);
    EXPECT(sum(x, comm, stream) == ncclSuccess);
    LAUNCH(-1, add, 1, 1, x, 10);
    EXPECT(cudaStreamQuery(stream) == cudaErrorNotReady);
    EXPECT(float_of(x) == (float)rank + 1);
    EXPECT_SUCCESS(cudaStreamSynchronize(stream));
    EXPECT(float_of(x) == 13);
    EXPECT(sum(x, comm, stream) == ncclSuccess && sum(y, comm, other, 3) == ncclSuccess);
    EXPECT_SUCCESS(cudaStreamSynchronize(rank ? other : stream));
    EXPECT_SUCCESS(cudaStreamSynchronize(rank ? stream : other));
    EXPECT(float_of(x) == 26 && float_of(y + 2) == 4);
    EXPECT(sum(x, comm, other) == ncclSuccess);
    EXPECT(ncclCommDestroy(comm) == ncclSuccess && float_of(x) == 52);
    EXPECT_SUCCESS(cudaDeviceSynchronize());
}

// A captured collective happens at each launch of the graph, in its place among kernels, and never
// during the capture.
static void test_capture(int rank, bool deferred)
{
    if (deferred) defer();
    ncclComm_t comm = join_ranks(rank, 2);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    EXPECT_SUCCESS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    float *x = device_floats(1, 0);
    EXPECT_SUCCESS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    LAUNCH(-1, add, 1, 1, x, (float)rank + 1);
    EXPECT(sum(x, comm, stream) == ncclSuccess);
    LAUNCH(-1, add, 1, 1, x, 1);
    EXPECT_SUCCESS(cudaStreamEndCapture(stream, &graph));
    EXPECT(float_of(x) == 0);
    EXPECT_SUCCESS(cudaGraphInstantiate(&executable, graph, 0));
    for (float wanted : {4.f, 12.f, 28.f}) {
        EXPECT_SUCCESS(cudaGraphLaunch(executable, stream));
        EXPECT_SUCCESS(cudaStreamSynchronize(stream));
        EXPECT(float_of(x) == wanted);
    }
    EXPECT(sum(x, comm, stream) == ncclSuccess);
    EXPECT(ncclCommDestroy(comm) == ncclSuccess && float_of(x) == 56);
    EXPECT(cudaGraphLaunch(executable, stream) == (deferred ? cudaSuccess : cudaErrorUnknown));
    EXPECT(cudaStreamSynchronize(stream) == (deferred ? cudaErrorUnknown : cudaSuccess));
    EXPECT(said("ncclAllReduce of 1 float (sum) on a communicator that has ended"));
}

// A call that is made to fail does nothing; NCCL's calls count like others.
static void test_failing(int rank)
{
    ncclComm_t comm = join_ranks(rank, 1);
    ncclResult_t error = ncclSuccess;
    float *x = device_floats(1, 7);
    int number;
    cuda_host_fail(0, cudaErrorUnknown);
    EXPECT(sum(x, comm, nullptr) == ncclSuccess && cuda_host_calls() == 1);
    EXPECT(ncclCommCount(comm, &number) == ncclSuccess && cuda_host_calls() == 2);
    EXPECT(ncclCommGetAsyncError(comm, &error) == ncclSuccess && cuda_host_calls() == 2);
    cuda_host_fail(2, cudaErrorMemoryAllocation);
    EXPECT(ncclGroupStart() == ncclSuccess);
    EXPECT(sum(x, comm, nullptr) == ncclSystemError);
    EXPECT(!strcmp(cuda_host_failed()->call, "ncclAllReduce"));
    EXPECT(ncclGroupEnd() == ncclSuccess);
    cuda_host_fail(3, cudaErrorUnknown);
    EXPECT(ncclGroupStart() == ncclSuccess && sum(x, comm, nullptr) == ncclSuccess);
    EXPECT(ncclGroupEnd() == ncclUnhandledCudaError && ncclGroupEnd() == ncclInvalidUsage);
    cuda_host_fail(1, cudaErrorLaunchFailure);
    EXPECT(sum(x, comm, nullptr) == ncclUnhandledCudaError);
    EXPECT(sum(x, comm, nullptr) == ncclUnhandledCudaError);
}

// Like CUDA's streams, a communicator takes memory; so does its first collective of each kind.
static void test_memory(int rank)
{
    size_t before = cuda_host_in_use();
    ncclComm_t comm = join_ranks(rank, 1);
    EXPECT(cuda_host_in_use() > before);
    float *x = device_floats(1, 7);
    EXPECT(sum(x, comm, nullptr) == ncclSuccess);
    cuda_host_forbid_memory(1);
    EXPECT(sum(x, comm, nullptr) == ncclSuccess);
    ChildEnd end = run_child([=] { ncclBroadcast(x, x, 1, ncclFloat, 0, comm, nullptr); });
    EXPECT(end.signal == SIGABRT && end.said.find("ncclBroadcast, and the") != std::string::npos);
    cuda_host_forbid_memory(0);
    EXPECT_SUCCESS(cudaFree(x));
    EXPECT(ncclCommDestroy(comm) == ncclSuccess && cuda_host_in_use() == before);
    EXPECT(ncclCommDestroy(comm) == ncclInvalidArgument);
}

// Buffers are in device memory, apart or in place.
static void test_addresses(int rank)
{
    ncclComm_t comm = join_ranks(rank, 1);
    cudaStream_t stream, none = (cudaStream_t)&comm;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    float *x = device_floats(8, 1), local = 1;
    EXPECT(sum(&local, comm, nullptr) == ncclInvalidArgument);
    EXPECT(said("ncclAllReduce of 1 float (sum): its send buffer of 4 bytes"));
    EXPECT(sum(x, comm, nullptr, 9) == ncclInvalidArgument && said("of 36 bytes"));
    EXPECT(sum(x, comm, nullptr, 8) == ncclSuccess && sum(x, comm, nullptr, 0) == ncclSuccess);
    EXPECT(sum(x, comm, nullptr, SIZE_MAX / 4) == ncclInvalidArgument);
    EXPECT(sum(x, nullptr, nullptr) == ncclInvalidArgument);
    EXPECT(sum(x, comm, none) == ncclInvalidArgument);
    EXPECT(ncclAllReduce(x, x + 1, 4, ncclFloat, ncclSum, comm, nullptr) == ncclInvalidArgument);
    EXPECT(said("overlap") &&
           ncclAllReduce(x, x + 4, 4, ncclFloat, ncclSum, comm, nullptr) == ncclSuccess);
    EXPECT(ncclBroadcast(x, x, 1, ncclFloat, 1, comm, nullptr) == ncclInvalidArgument);
    EXPECT(ncclAllGather(x, x, 1, ncclFloat8e4m3, comm, nullptr) == ncclInvalidArgument);
    EXPECT(ncclAllReduce(x, x, 1, ncclFloat, ncclNumOps, comm, nullptr) == ncclInvalidArgument);
    EXPECT_SUCCESS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    EXPECT_SUCCESS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    EXPECT(sum(x, comm, stream) == ncclSuccess);
    EXPECT_SUCCESS(cudaStreamEndCapture(stream, &graph));
    EXPECT_SUCCESS(cudaGraphInstantiate(&executable, graph, 0));
    EXPECT_SUCCESS(cudaFree(x));
    EXPECT(cudaGraphLaunch(executable, stream) == cudaErrorIllegalAddress && said("was freed"));
}

int main()
{
    run_ranks(2, test_groups);
    run_ranks(2, test_deferred);
    run_ranks(2, [](int rank) { test_capture(rank, false); });
    run_ranks(2, [](int rank) { test_capture(rank, true); });
    run_ranks(1, test_failing);
    run_ranks(1, test_memory);
    run_ranks(1, test_addresses);
    return expect_failures != 0;
}
