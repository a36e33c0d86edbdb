// A net's calls as CUDA graphs:
//
//     net_graphs [SAMPLES]
//
// The calls train, evaluate and infer are captured once on one stream. Inputs
// and outputs are in pinned memory that stays where it is. Graphs are launched
// for batch after batch that is put there. The capture itself changes nothing.
// Losses, outputs and the state at the end are, in bits, those of as many
// calls; so they are when inputs come from device memory. SAMPLES: of each
// batch, as many (the number is captured with the rest).
//
// The calls init, attach, metrics, set, export and import wait, so they fail in
// a capture and spoil it; init then makes the context work again.
#include <functional>
#include "net_under_test.h"

enum { STEPS = 6 };

typedef std::vector<unsigned char> Bits;
typedef std::function<int()> Step;

static Program *p;
static Buffers inputs, whole;   // the operands of one call; and writes, if it infers

static void add_bits(Bits *bits, const void *from, size_t bytes)
{
    const unsigned char *first = (const unsigned char *)from;
    bits->insert(bits->end(), first, first + bytes);
}

static cudaGraphExec_t capture(const Step &step)
{
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t run = nullptr;
    must(cudaStreamBeginCapture(p->stream, cudaStreamCaptureModeGlobal));
    int status = step();
    cudaError_t error = cudaStreamEndCapture(p->stream, &graph);
    EXPECT(status == 0 && !error, "captured with status %d, %s", status,
           cudaGetErrorName(error));
    if (status || error) return nullptr;
    must(cudaGraphInstantiate(&run, graph, 0));
    must(cudaGraphDestroy(graph));
    return run;
}

// One run: STEPS training steps, each followed by an evaluation and an inference,
// of batches put where the first one was; called, or launched as graphs.
struct Runs {
    Step train, evaluate, infer;
};

static Bits run_all(const Runs &runs, bool graphs, const Step &give)
{
    const Step steps[] = {runs.train, runs.evaluate, runs.infer};
    cudaGraphExec_t executable[3] = {};
    Bits bits;
    EXPECT(call_init(p) == 0, "init");
    for (int i = 0; graphs && i < 3; i++)
        if (!(executable[i] = capture(steps[i]))) return bits;
    for (unsigned number = 0; number < STEPS; number++) {
        fill_batch(&inputs, number);
        EXPECT(give() == 0, "batch %u", number);
        for (int i = 0; i < 3; i++) {
            if (graphs) must(cudaGraphLaunch(executable[i], p->stream));
            else EXPECT(steps[i]() == 0, "call %d", i);
        }
        NET_CALL(figures) figures = {};
        EXPECT(NET_CALL(metrics)(&p->c, &figures, number % 2) == 0, "metrics");
        EXPECT(figures.step == number + 1, "after %u steps it is step %llu", number + 1,
               (unsigned long long)figures.step);
        add_bits(&bits, &figures.loss, sizeof figures.loss);
        for (size_t i = 0; i < whole.data.size(); i++)
            if (whole.tensors[i] >= main_net.outputs &&
                whole.tensors[i] < main_net.outputs + main_net.output_count)
                add_bits(&bits, whole.data[i], whole.bytes[i]);
    }
    for (cudaGraphExec_t run : executable)
        if (run) must(cudaGraphExecDestroy(run));
    EXPECT(call_export(p) == 0, "export");
    add_bits(&bits, p->state.data(), p->state.size());
    return bits;
}

static int count_of(const Buffers &b)
{
    return (int)b.data.size();
}

// The same buffers, inputs in device memory.
static Buffers on_device(const Buffers &b, Buffers *known)
{
    Buffers d = b;
    for (int i = 0; i < count_of(b); i++)
        for (int k = 0; k < count_of(inputs); k++)
            if (b.data[i] == inputs.data[k]) {
                if ((int)known->data.size() <= k) known->data.resize(inputs.data.size());
                if (!known->data[k]) must(cudaMalloc(&known->data[k], inputs.bytes[k]));
                d.data[i] = known->data[k];
            }
    return d;
}

static int copy_inputs(const Buffers &device)
{
    for (int k = 0; k < count_of(inputs); k++)
        must(cudaMemcpyAsync(device.data[k], inputs.data[k], inputs.bytes[k],
                             cudaMemcpyHostToDevice, p->stream));
    return 0;
}

static Runs runs_of(const Buffers &batch, const Buffers &inferred)
{
    return {[=] { return call_with(NET_CALL(train), &p->c, batch); },
            [=] { return call_with(NET_CALL(evaluate), &p->c, batch); },
            [=] { return call_with(NET_CALL(infer), &p->c, inferred); }};
}

static void test_bits()
{
    const Step nothing = [] { return 0; };
    Runs pinned = runs_of(inputs, whole);
    Bits called = run_all(pinned, false, nothing);
    Bits again = run_all(pinned, false, nothing);
    Bits launched = run_all(pinned, true, nothing);
    EXPECT(called == again, "calls twice");
    EXPECT(called == launched, "calls, and launches of graphs");
    Buffers device;
    Buffers batch = on_device(inputs, &device), inferred = on_device(whole, &device);
    Bits from_device =
        run_all(runs_of(batch, inferred), true, [=] { return copy_inputs(device); });
    EXPECT(called == from_device, "pinned inputs, and inputs on the device");
    for (void *data : device.data) must(cudaFree(data));
}

// A capture leaves the state as it is.
static void test_capture_alone()
{
    EXPECT(call_init(p) == 0 && call_export(p) == 0, "init");
    Bits before = p->state;
    cudaGraphExec_t run = capture([] { return call_with(NET_CALL(train), &p->c, inputs); });
    EXPECT(call_export(p) == 0 && p->state == before, "a capture does something");
    if (run) must(cudaGraphExecDestroy(run));
}

static void test_refused()
{
    int (*const waits[])(Program *) = {call_metrics, call_set_rate, call_export,
                                       call_import,  call_attach,   call_init};
    for (auto call : waits) {
        cudaGraph_t graph = nullptr;
        EXPECT(call_init(p) == 0, "init");
        must(cudaStreamBeginCapture(p->stream, cudaStreamCaptureModeGlobal));
        int status = call(p);
        EXPECT(status != 0, "what waits is captured");
        EXPECT(cudaStreamEndCapture(p->stream, &graph) == cudaErrorStreamCaptureInvalidated,
               "the capture is not spoilt");
        EXPECT(cudaGetLastError() == cudaErrorStreamCaptureInvalidated, "no error is kept");
        EXPECT(call_with(NET_CALL(train), &p->c, inputs) == REFUSED, "train goes on");
    }
    EXPECT(call_init(p) == 0, "init");
}

int main(int argc, char **argv)
{
    p = begin_program();
    inputs = p->batch[0];
    whole = p->inferred[0];
    size_t samples = argc > 1 ? (size_t)atol(argv[1]) : (size_t)main_net.batch;
    for (Buffers *b : {&inputs, &whole})
        for (size_t &bytes : b->bytes) bytes = bytes / (size_t)main_net.batch * samples;
    test_bits();
    test_capture_alone();
    test_refused();
    end_program(p);
    printf("%s: %d batches of %zu samples\n", main_net.name, STEPS, samples);
    return expect_failures != 0;
}
