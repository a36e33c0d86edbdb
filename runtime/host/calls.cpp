// Counts every call of the program.  One call can be made to fail, and calls
// that allocate memory can be forbidden.
//
// CNNC_HOST_FAIL=K, or K:ERROR with the number of a cudaError_t, makes call K
// of the program fail.  CNNC_HOST_STRICT=1 forbids memory from the second run
// of step 0 of the plan on.  The first run is the warm-up in init, so the
// second is the first training step.
#include <atomic>
#include <mutex>
#include <stdio.h>
#include <stdlib.h>
#include "host.h"
#include "stream.h"
#include "testing.h"

namespace {

struct Calls {
    std::atomic<long>   made{0}, failing{0};
    std::atomic<bool>   failed{false}, forbidden{false};
    std::atomic<int>    first_steps{0};
    std::atomic<size_t> in_use{0};
    cudaError_t         error = cudaErrorUnknown;
    cuda_host_failure   failure = {nullptr, -1};
    bool                asked = false;  // by the environment
    bool                strict = false;
    Calls();
};

Calls::Calls()
{
    if (const char *text = getenv("CNNC_HOST_FAIL")) {
        char *rest;
        failing = strtol(text, &rest, 10);
        if (*rest == ':') error = (cudaError_t)strtol(rest + 1, &rest, 10);
        if (failing < 1 || *rest || error == cudaSuccess) {
            fprintf(stderr, "host: CNNC_HOST_FAIL=%s: wanted K or K:ERROR\n",
                    text);
            exit(70);
        }
        asked = true;
    }
    strict = is_asked("CNNC_HOST_STRICT");
}

Calls &calls()
{
    static Calls all;
    return all;
}

__thread int depth;

}

Call::Call(const char *name, int step) : error(cudaSuccess)
{
    if (depth++) return;
    Calls &c = calls();
    long number = c.made.fetch_add(1) + 1;
    if (__builtin_expect(number != c.failing, 1)) return;
    c.failure = {name, step < 0 ? copy_step() : step};
    c.failed = true;
    error = fail(c.error);
    if (c.asked)
        report("call %ld, %s, step %d, was made to fail: %s", number, name,
               c.failure.step, cudaGetErrorName(error));
}

Call::~Call()
{
    depth--;
}

Inside::Inside()
{
    depth++;
}

Inside::~Inside()
{
    depth--;
}

void take_resource(const char *call)
{
    if (calls().forbidden) {
        report("%s, and the program was to take no more memory", call);
        abort();
    }
    calls().in_use++;
}

void give_resource()
{
    calls().in_use--;
}

void note_step(int step)
{
    if (step == 0 && calls().strict && !captures && ++calls().first_steps == 2)
        calls().forbidden = true;
}

void cuda_host_fail(long call, cudaError_t error)
{
    Calls &c = calls();
    c.error = error;
    c.failed = c.asked = false;
    c.made = 0;
    c.failing = call;
}

long cuda_host_calls(void)
{
    return calls().made;
}

const cuda_host_failure *cuda_host_failed(void)
{
    return calls().failed ? &calls().failure : nullptr;
}

void cuda_host_forbid_memory(int forbid)
{
    calls().forbidden = forbid != 0;
}

size_t cuda_host_in_use(void)
{
    return calls().in_use;
}

int cuda_host_inside(void)
{
    return depth > 0;
}
