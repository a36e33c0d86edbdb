// Steps of a plan that begin a copy to or from host memory, or wait for one.
// Each is one call of the emitted file, which makes several CUDA calls.
//
// While plans are watched, the step is given to the stream too.  It precedes
// the CUDA calls if it begins a copy, and follows them if it waits.  Between
// the two steps the copy may touch its tensor, but no other part of the arena.
#include <string>
#include "host.h"

namespace {

struct CopyCall {
    int         step;
    const char *name;
    const void *tensor;

    bool begins() const { return strcmp(name, "await_copy") != 0; }
};

thread_local CopyCall current = {-1, "", nullptr};

cudaError_t do_step(const CopyCall &call)
{
    const volatile void *pointers[] = {call.tensor};
    std::string name = std::string("a copy, ") + call.name;
    HostStep step = {call.step, name.c_str(), call.name, pointers, 1};
    if (!step_begins(step)) return cudaErrorLaunchFailure;
    bool sound = note_copy(step, call.begins());
    return step_ends(step) && sound ? cudaSuccess : cudaErrorLaunchFailure;
}

void give_step(const CopyCall &call, cudaStream_t stream)
{
    if (!has_plan()) return;
    Inside inside;
    if (cudaError_t error = give_work(stream, [=] { return do_step(call); }))
        fail(error);
}

}

int copy_step()
{
    return current.step;
}

void host_copy_step(int step, const char *name, const void *tensor,
                    cudaStream_t stream)
{
    current = {step, name, tensor};
    note_step(step);
    if (current.begins()) give_step(current, stream);
}

int host_copy_done(int status, cudaStream_t stream)
{
    CopyCall done = current;
    current.step = -1;
    if (!status && !done.begins()) give_step(done, stream);
    return status;
}
