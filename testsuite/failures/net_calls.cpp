// Every CUDA and cuBLAS call of a net's life fails once:
//
//     net_calls LINES [EACH]
//
// Arena, init, three training steps, evaluation, inference, metrics and all
// about the state make n calls.  Call k fails, for each k up to n (EACH: every EACHth), with a
// transient error and with one that ruins the device. The call of the interface in which it
// happened returns a status, last_error has call, step and line; the context refuses all but init
// and attach, without a call to CUDA; nothing more is in use than before; and after init, or attach
// to a state that was saved, the net trains to the same bits as if nothing had been. To fail call n
// + 1 fails nothing.
//
// From init's end on no memory may be taken, and the net's own code never takes
// any from the heap.  LINES is a file with the source line of each step.
#include "net_under_test.h"

// ---- the heap ----------------------------------------------------------------------
static bool watching;           // only the emitted code runs
static long taken;              // from the heap by that

#ifndef __SANITIZE_ADDRESS__
extern "C" void *__libc_malloc(size_t bytes);
extern "C" void *__libc_calloc(size_t count, size_t bytes);
extern "C" void *__libc_realloc(void *old, size_t bytes);

static void note_heap()
{
    if (watching && !cuda_host_inside()) taken++;
}

extern "C" void *malloc(size_t bytes)
{
    note_heap();
    return __libc_malloc(bytes);
}

extern "C" void *calloc(size_t count, size_t bytes)
{
    note_heap();
    return __libc_calloc(count, bytes);
}

extern "C" void *realloc(void *old, size_t bytes)
{
    note_heap();
    return __libc_realloc(old, bytes);
}
#endif

// ---- a net's life --------------------------------------------------------------------
struct LifeCall {
    const char *name;
    int (*run)(Program *);
};

static const LifeCall life[] = {
    {"init", call_init},
    {"train", [](Program *p) { return call_train(p, 0); }},
    {"train", [](Program *p) { return call_train(p, 1); }},
    {"train", [](Program *p) { return call_train(p, 2); }},
    {"evaluate", [](Program *p) { return call_evaluate(p, 0); }},
    {"infer", [](Program *p) { return call_infer(p, 1); }},
    {"metrics", call_metrics},
    {"export", call_export},
    {"set", call_set_rate},
    {"import", call_import},
    {"attach", call_attach},
    {"export", call_export},
};

static int run_call(Program *p, const LifeCall &call)
{
    watching = true;
    int status = call.run(p);
    watching = false;
    return status;
}

static std::vector<int> lines;
static std::vector<unsigned char> begun, ended; // states after init, and after three steps

// The state after three more steps.
static bool trains_alike(Program *p)
{
    for (int k = 0; k < BATCHES; k++)
        if (call_train(p, k)) return false;
    return !call_export(p) && p->state == ended;
}

// Runs the whole life; the calls it made.
static long live_once(Program *p)
{
    cuda_host_fail(0, cudaSuccess);
    for (const LifeCall &call : life) {
        int status = run_call(p, call);
        EXPECT(status == 0, "%s gives %d", call.name, status);
        if (&call == &life[0]) cuda_host_forbid_memory(1);
    }
    cuda_host_forbid_memory(0);
    long calls = cuda_host_calls();
    if (call_init(p) || call_export(p)) exit(1);
    begun = p->state;
    for (int k = 0; k < BATCHES; k++)
        if (call_train(p, k)) exit(1);
    if (call_export(p)) exit(1);
    ended = p->state;
    EXPECT(trains_alike(p) == false, "training changes nothing");
    return calls;
}

static bool begins_with(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

// True if last_error may call `call` so: a launch by its kernel, a product by its maker, others by
// their work or their own names.
static bool may_be_called(const char *call, const char *said)
{
    if (begins_with(call, "cublas")) return strstr(said, "_product") != nullptr;
    if (begins_with(call, "cudaMem")) return begins_with(said, "copy ") || !strcmp(said, call);
    if (!strcmp(call, "cudaStreamSynchronize")) return !strcmp(said, "wait for the stream");
    return !strcmp(said, call);
}

// The text of last_error after a call that was made to fail.
static void check_error(Program *p, long k, const LifeCall &call, int status, cudaError_t error)
{
    const NET_CALL(error) *said = NET_CALL(last_error)(&p->c);
    const cuda_host_failure *failed = cuda_host_failed();
    bool blas = begins_with(failed->call, "cublas");
    EXPECT(status != 0, "call %ld, %s, failed, and %s returns success", k, failed->call,
           call.name);
    if (!status) return;
    EXPECT((int)said->status == status, "call %ld", k);
    EXPECT(said->text && *said->text, "call %ld, %s", k, failed->call);
    EXPECT(blas || said->code == (int)error, "call %ld: code %d", k, said->code);
    EXPECT(said->step == failed->step, "call %ld, %s of step %d, and the step is %d", k,
           failed->call, failed->step, said->step);
    EXPECT(said->call && may_be_called(failed->call, said->call), "call %ld, %s, is called %s", k,
           failed->call, said->call);
    int line = failed->step < 0 ? 0 : lines.at((size_t)failed->step);
    EXPECT(said->line == line, "step %d is of line %d, and the line is %d", failed->step, line,
           said->line);
}

static void check_refusals(Program *p, long k)
{
    cuda_host_fail(0, cudaSuccess);
    for (const LifeCall &call : life)
        if (call.run != call_init && call.run != call_attach) {
            int status = run_call(p, call);
            EXPECT(status == REFUSED, "after call %ld %s gives %d", k, call.name, status);
        }
    EXPECT(cuda_host_calls() == 0, "after call %ld what is refused makes %ld calls", k,
           cuda_host_calls());
}

// By init and by attach in turn, each for either error.
static void recover(Program *p, long k, bool ruined)
{
    static int turn;
    if (ruined) {
        must(cudaDeviceReset());
        take_buffers(p);
    }
    int status;
    if (turn++ % 4 < 2) {
        status = call_init(p);
    } else {
        must(cudaMemcpy(p->arena, begun.data(), begun.size(), cudaMemcpyHostToDevice));
        status = call_attach(p);
    }
    EXPECT(status == 0, "after call %ld init or attach gives %d", k, status);
    EXPECT(!status && trains_alike(p), "after call %ld training ends in other bits", k);
}

// One life with call k failing.
static void fail_once(Program *p, long k, cudaError_t error)
{
    size_t in_use = cuda_host_in_use();
    bool failed = false;
    cuda_host_fail(k, error);
    for (const LifeCall &call : life) {
        int status = run_call(p, call);
        if (!cuda_host_failed()) {
            EXPECT(status == 0, "before call %ld %s gives %d", k, call.name, status);
            continue;
        }
        failed = true;
        check_error(p, k, call, status, error);
        check_refusals(p, k);
        break;
    }
    EXPECT(failed, "call %ld did not fail", k);
    EXPECT(cuda_host_in_use() == in_use, "call %ld leaves something behind", k);
    recover(p, k, error == cudaErrorIllegalAddress);
}

// One life with the call after the last to fail: there is none, so all were tried.
static void fail_none(Program *p, long calls)
{
    cuda_host_fail(calls + 1, cudaErrorUnknown);
    for (const LifeCall &call : life)
        if (run_call(p, call) && !cuda_host_failed())
            EXPECT(false, "%s fails, and no call was to", call.name);
    EXPECT(!cuda_host_failed() && cuda_host_calls() == calls,
           "%ld calls were tried, and there is one more", calls);
    cuda_host_fail(0, cudaSuccess);
}

static void read_lines(const char *path)
{
    FILE *file = fopen(path, "r");
    int line;
    while (file && fscanf(file, "%d", &line) == 1) lines.push_back(line);
    if (file) fclose(file);
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    read_lines(argv[1]);
    long each = argc > 2 ? atol(argv[2]) : 1, failures = 0;
    Program *p = begin_program();
    long calls = live_once(p);
    for (long k = 1; k <= calls && expect_failures == 0; k += each) {
        fail_once(p, k, cudaErrorUnknown);
        fail_once(p, k, cudaErrorIllegalAddress);
        failures += 2;
    }
    if (expect_failures == 0) fail_none(p, calls);
    EXPECT(taken == 0, "the emitted code takes memory %ld times", taken);
    end_program(p);
    printf("%s: %ld calls, %ld failures\n", main_net.name, calls, failures);
    return expect_failures != 0;
}
