// Graphs: a capture does nothing, a launch does it as often as asked; calls that CUDA forbids while
// a stream captures fail, and spoil the capture.
#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>
#include "expect.h"
#include "testing.h"

static const cudaStreamCaptureMode GLOBAL = cudaStreamCaptureModeGlobal;
static const cudaMemcpyKind TO = cudaMemcpyHostToDevice, FROM = cudaMemcpyDeviceToHost;

__global__ void add(int *x, int what)
{
    *x += what;
}

struct Buffers {
    int *x, *in, *out;          // device, pinned, pinned
};

static void step(Buffers b, cudaStream_t stream)
{
    EXPECT_SUCCESS(cudaMemcpyAsync(b.x, b.in, sizeof *b.x, TO, stream));
    for (int i = 0; i < 3; i++) LAUNCH(-1, add, 1, 1, b.x, i);
    EXPECT_SUCCESS(cudaMemcpyAsync(b.out, b.x, sizeof *b.x, FROM, stream));
}

static cudaStreamCaptureStatus status_of(cudaStream_t stream)
{
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusInvalidated;
    EXPECT_SUCCESS(cudaStreamIsCapturing(stream, &status));
    return status;
}

// Inputs change through the pinned buffer; arguments stay those of the capture.
static void test_replay(Buffers b, cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t run;
    *b.in = 100, *b.out = -1;
    EXPECT(status_of(stream) == cudaStreamCaptureStatusNone);
    EXPECT_SUCCESS(cudaStreamBeginCapture(stream, GLOBAL));
    EXPECT(status_of(stream) == cudaStreamCaptureStatusActive);
    EXPECT(cudaStreamBeginCapture(stream, GLOBAL) == cudaErrorIllegalState);
    step(b, stream);
    EXPECT_SUCCESS(cudaStreamEndCapture(stream, &graph));
    EXPECT_SUCCESS(cudaGraphInstantiate(&run, graph, 0));
    EXPECT_SUCCESS(cudaGraphDestroy(graph));
    EXPECT_SUCCESS(cudaStreamSynchronize(stream));
    EXPECT(*b.out == -1);
    for (int i = 0; i < 4; i++) {
        *b.in = 10 * i;
        EXPECT_SUCCESS(cudaGraphLaunch(run, stream));
        EXPECT_SUCCESS(cudaStreamSynchronize(stream));
        EXPECT(*b.out == 10 * i + 3);
    }
    EXPECT_SUCCESS(cudaGraphExecDestroy(run));
    EXPECT(cudaGraphLaunch(run, stream) == cudaErrorInvalidValue);
    EXPECT(cudaGraphDestroy(graph) == cudaErrorInvalidValue);
    cudaGetLastError();
}

// One call in the middle of a capture, and its expected result.
template <class F>
static void forbidden(int line, cudaError_t expected, cudaStream_t stream, F f)
{
    cudaGraph_t graph;
    EXPECT_SUCCESS(cudaStreamBeginCapture(stream, GLOBAL));
    cudaError_t error = f();
    if (error != expected)
        printf("line %d: %s, not %s\n", line, cudaGetErrorName(error),
               cudaGetErrorName(expected)), expect_failures++;
    EXPECT(cudaGetLastError() == expected);
    EXPECT(status_of(stream) == cudaStreamCaptureStatusInvalidated);
    EXPECT(cudaMemsetAsync(nullptr, 0, 0, stream) == cudaSuccess);
    EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
    EXPECT(!graph && status_of(stream) == cudaStreamCaptureStatusNone);
    cudaGetLastError();
}
#define FORBIDDEN(error, ...) forbidden(__LINE__, error, stream, [&] { return __VA_ARGS__; })

static cudaError_t launch_legacy(int *x)
{
    cudaStream_t stream = nullptr;
    LAUNCH(-1, add, 1, 1, x, 1);
    return cudaPeekAtLastError();
}

static cudaError_t wait_for_outside(cudaStream_t stream, cudaEvent_t event)
{
    return cudaStreamWaitEvent(stream, event);
}

static void test_forbidden(Buffers b, cudaStream_t stream)
{
    const cudaError_t bad = cudaErrorStreamCaptureUnsupported;
    int local = 0;
    void *more;
    cudaEvent_t event;
    EXPECT_SUCCESS(cudaEventCreate(&event));
    EXPECT_SUCCESS(cudaEventRecord(event, stream));
    FORBIDDEN(bad, cudaStreamSynchronize(stream));
    FORBIDDEN(bad, cudaStreamQuery(stream));
    FORBIDDEN(bad, cudaDeviceSynchronize());
    FORBIDDEN(bad, cudaEventSynchronize(event));
    FORBIDDEN(bad, cudaMalloc(&more, 16));
    FORBIDDEN(bad, cudaMallocHost(&more, 16));
    FORBIDDEN(bad, cudaFree(b.x));
    FORBIDDEN(bad, cudaMemcpy(b.x, &local, sizeof local, TO));
    FORBIDDEN(bad, cudaMemcpyAsync(b.x, &local, sizeof local, TO, stream));
    FORBIDDEN(bad, cudaMemcpyAsync(&local, b.x, sizeof local, FROM, stream));
    FORBIDDEN(cudaErrorStreamCaptureImplicit, launch_legacy(b.x));
    FORBIDDEN(cudaErrorStreamCaptureImplicit, cudaMemsetAsync(b.x, 0, 4));
    FORBIDDEN(cudaErrorStreamCaptureIsolation, wait_for_outside(stream, event));
    EXPECT_SUCCESS(cudaEventDestroy(event));
    cudaGraph_t graph;
    EXPECT(cudaStreamBeginCapture(nullptr, GLOBAL) == bad);
    EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorIllegalState);
    cudaGetLastError();
}

// Work in a spoilt capture is refused, not done.
static void test_spoilt(Buffers b, cudaStream_t stream)
{
    cudaGraph_t graph;
    *b.in = 55, *b.out = -1;
    EXPECT_SUCCESS(cudaStreamBeginCapture(stream, GLOBAL));
    EXPECT(cudaStreamSynchronize(stream) != cudaSuccess);
    cudaGetLastError();
    EXPECT(cudaMemcpyAsync(b.x, b.in, sizeof *b.x, TO, stream) ==
           cudaErrorStreamCaptureInvalidated);
    cudaGetLastError();
    LAUNCH(-1, add, 1, 1, b.x, 1);
    EXPECT(cudaGetLastError() == cudaErrorStreamCaptureInvalidated);
    EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
    cudaGetLastError();
}

// An event that was captured is no place in a stream; in its own capture it orders.
static void test_events(cudaStream_t stream)
{
    cudaEvent_t event;
    cudaGraph_t graph;
    EXPECT_SUCCESS(cudaEventCreate(&event));
    EXPECT_SUCCESS(cudaStreamBeginCapture(stream, GLOBAL));
    EXPECT_SUCCESS(cudaEventRecord(event, stream));
    EXPECT_SUCCESS(cudaStreamWaitEvent(stream, event));
    EXPECT_SUCCESS(cudaStreamEndCapture(stream, &graph));
    EXPECT_SUCCESS(cudaGraphDestroy(graph));
    EXPECT(cudaEventSynchronize(event) == cudaErrorCapturedEvent);
    cudaGetLastError();
    EXPECT_SUCCESS(cudaEventRecord(event, stream));
    EXPECT_SUCCESS(cudaEventSynchronize(event));
    EXPECT_SUCCESS(cudaEventDestroy(event));
}

// Work of a second stream after an event of the capture, for which the first waits, is part of the
// graph; the order of calls is that of the work.
static void fork(Buffers b, cudaStream_t stream, cudaStream_t other, cudaEvent_t event,
                 bool joins)
{
    EXPECT_SUCCESS(cudaMemcpyAsync(b.x, b.in, sizeof *b.x, TO, stream));
    EXPECT_SUCCESS(cudaEventRecord(event, stream));
    EXPECT_SUCCESS(cudaStreamWaitEvent(other, event));
    EXPECT(status_of(other) == cudaStreamCaptureStatusActive);
    {
        cudaStream_t stream = other;
        LAUNCH(-1, add, 1, 1, b.x, 20);
    }
    EXPECT_SUCCESS(cudaMemcpyAsync(b.out, b.x, sizeof *b.x, FROM, other));
    EXPECT_SUCCESS(cudaEventRecord(event, other));
    if (joins) EXPECT_SUCCESS(cudaStreamWaitEvent(stream, event));
    LAUNCH(-1, add, 1, 1, b.x, 300);
}

static void test_fork(Buffers b, cudaStream_t stream)
{
    cudaStream_t other;
    cudaEvent_t event;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    EXPECT_SUCCESS(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    EXPECT_SUCCESS(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    EXPECT_SUCCESS(cudaStreamBeginCapture(stream, GLOBAL));
    fork(b, stream, other, event, true);
    EXPECT(cudaStreamEndCapture(other, &graph) == cudaErrorStreamCaptureUnmatched);
    EXPECT_SUCCESS(cudaStreamEndCapture(stream, &graph));
    EXPECT(status_of(other) == cudaStreamCaptureStatusNone);
    EXPECT_SUCCESS(cudaGraphInstantiate(&run, graph, 0));
    EXPECT_SUCCESS(cudaGraphDestroy(graph));
    *b.in = 1, *b.out = -1;
    EXPECT_SUCCESS(cudaGraphLaunch(run, stream));
    EXPECT_SUCCESS(cudaStreamSynchronize(stream));
    EXPECT(*b.out == 21);
    EXPECT_SUCCESS(cudaGraphExecDestroy(run));
    // Nobody waits for it.
    EXPECT_SUCCESS(cudaStreamBeginCapture(stream, GLOBAL));
    fork(b, stream, other, event, false);
    EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureUnjoined);
    EXPECT(!graph && status_of(other) == cudaStreamCaptureStatusNone);
    cudaGetLastError();
    // The event is of a capture that is over; then of one that is another's.
    EXPECT(cudaStreamWaitEvent(other, event) == cudaErrorCapturedEvent);
    cudaGetLastError();
    EXPECT_SUCCESS(cudaStreamBeginCapture(stream, GLOBAL));
    EXPECT_SUCCESS(cudaEventRecord(event, stream));
    EXPECT_SUCCESS(cudaStreamBeginCapture(other, GLOBAL));
    EXPECT(cudaStreamWaitEvent(other, event) == cudaErrorStreamCaptureMerge);
    cudaGetLastError();
    EXPECT(cudaStreamEndCapture(other, &graph) == cudaErrorStreamCaptureInvalidated);
    cudaGetLastError();
    EXPECT_SUCCESS(cudaStreamEndCapture(stream, &graph));
    EXPECT_SUCCESS(cudaGraphDestroy(graph));
    // An error in one of its streams spoils the capture.
    EXPECT_SUCCESS(cudaStreamBeginCapture(stream, GLOBAL));
    EXPECT_SUCCESS(cudaEventRecord(event, stream));
    EXPECT_SUCCESS(cudaStreamWaitEvent(other, event));
    EXPECT(cudaStreamSynchronize(other) == cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
    cudaGetLastError();
    EXPECT_SUCCESS(cudaEventDestroy(event));
    EXPECT_SUCCESS(cudaStreamDestroy(other));
}

// A graph whose memory was freed fails when it is launched; the device is lost then.
static void test_freed()
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    char *gone;
    EXPECT_SUCCESS(cudaStreamCreate(&stream));
    EXPECT_SUCCESS(cudaMalloc(&gone, 64));
    EXPECT_SUCCESS(cudaStreamBeginCapture(stream, GLOBAL));
    EXPECT_SUCCESS(cudaMemsetAsync(gone, 0, 64, stream));
    EXPECT_SUCCESS(cudaStreamEndCapture(stream, &graph));
    EXPECT_SUCCESS(cudaGraphInstantiate(&run, graph, 0));
    EXPECT_SUCCESS(cudaFree(gone));
    const cudaError_t launched = cudaGraphLaunch(run, stream);
    EXPECT(launched == cudaErrorIllegalAddress || launched == cudaSuccess);
    EXPECT(cudaStreamSynchronize(stream) == cudaErrorIllegalAddress);
    EXPECT(strstr(cuda_host_report(), "in memory that was freed"));
    EXPECT_SUCCESS(cudaDeviceReset());
}

static void run_all()
{
    cudaStream_t stream;
    Buffers b;
    size_t before = cuda_host_in_use();
    EXPECT_SUCCESS(cudaStreamCreate(&stream));
    EXPECT_SUCCESS(cudaMalloc(&b.x, sizeof *b.x));
    EXPECT_SUCCESS(cudaMallocHost(&b.in, sizeof *b.in));
    EXPECT_SUCCESS(cudaMallocHost(&b.out, sizeof *b.out));
    test_replay(b, stream);
    test_forbidden(b, stream);
    test_spoilt(b, stream);
    test_events(stream);
    test_fork(b, stream);
    test_replay(b, stream);
    EXPECT_SUCCESS(cudaFree(b.x));
    EXPECT_SUCCESS(cudaFreeHost(b.in));
    EXPECT_SUCCESS(cudaFreeHost(b.out));
    EXPECT_SUCCESS(cudaStreamDestroy(stream));
    EXPECT(cuda_host_in_use() == before);
    test_freed();
}

// With an argument streams defer; the results are the same.
int main(int argc, char **)
{
    setenv("CNNC_HOST_DEFER", argc > 1 ? "1" : "0", 1);
    run_all();
    return expect_failures != 0;
}
