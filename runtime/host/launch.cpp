// A launch, from its checks to its error.  It fails as CUDA documents: for
// limits of grid and block, addresses outside device memory, and diverged
// threads.  Unless the stream defers or captures, the kernel has run when
// host_launch returns.
#include <algorithm>
#include <atomic>
#include <stdio.h>
#include <string.h>
#include <string>
#include <time.h>
#include <vector>
#include "host.h"
#include "order.h"

namespace {

// The part of a launch that the pool runs: its blocks from `first` on.
struct Run {
    const HostLaunch  *launch;
    const int64_t     *order;   // the order of blocks; null: ascending
    int64_t            first;
    std::atomic<bool> *failed;
};

// The kernel's name for messages: without the parentheses that the macro needs
// around commas.
struct PlainName {
    char text[256];
    explicit PlainName(const char *kernel)
    {
        size_t length = strlen(kernel);
        bool wrapped = length > 1 && kernel[0] == '(' &&
                       kernel[length - 1] == ')';
        snprintf(text, sizeof text, "%.*s", (int)(length - 2 * wrapped),
                 kernel + wrapped);
    }
};

bool is_within(const HostExtent &extent, long long x, long long y, long long z)
{
    return extent.x >= 1 && extent.x <= x && extent.y >= 1 && extent.y <= y &&
           extent.z >= 1 && extent.z <= z;
}

cudaError_t check_extents(const HostLaunch &launch)
{
    const HostExtent &grid = launch.grid, &block = launch.block;
    if (!is_within(grid, 0x7fffffff, 65535, 65535) ||
        !is_within(block, MAX_THREADS, MAX_THREADS, 64) ||
        block.x * block.y * block.z > MAX_THREADS) {
        report("kernel %s, step %d: a grid of (%lld, %lld, %lld) blocks of "
               "(%lld, %lld, %lld) threads is beyond the limits",
               launch.kernel, launch.step, grid.x, grid.y, grid.z, block.x,
               block.y, block.z);
        return cudaErrorInvalidConfiguration;
    }
    long long threads = block.x * block.y * block.z;
    if (threads % WARP && is_first_mention(launch.kernel))
        report("note: kernel %s, step %d: blocks of %lld threads, no multiple "
               "of %d", launch.kernel, launch.step, threads, WARP);
    return cudaSuccess;
}

cudaError_t check_pointers(const HostLaunch &launch)
{
    for (int i = 0; i < launch.pointer_count; i++)
        if (launch.pointers[i] &&
            !is_device_memory(launch.pointers[i], 1, true)) {
            report("kernel %s, step %d: its pointer argument %d is %p, which "
                   "is not in device memory", launch.kernel, launch.step, i,
                   (const void *)launch.pointers[i]);
            return cudaErrorIllegalAddress;
        }
    return cudaSuccess;
}

void run_piece(const void *context, int64_t begin, int64_t end)
{
    const Run &run = *static_cast<const Run *>(context);
    if (*run.failed) return;
    if (!run_blocks(*run.launch, run.order, run.first + begin, run.first + end,
                    1))
        *run.failed = true;
}

// Runs every second block, from `half` on.
void run_half(const void *context, int64_t half, int64_t)
{
    const Run &run = *static_cast<const Run *>(context);
    const HostExtent &grid = run.launch->grid;
    if (!run_blocks(*run.launch, run.order, half, grid.x * grid.y * grid.z, 2))
        *run.failed = true;
    if (half) blocks_are_over();
}

cudaError_t run_for_races(const HostLaunch &launch, Run all)
{
    race_release((void *)&launch);
    if (launch.grid.x * launch.grid.y * launch.grid.z > 1)
        pool_halves(run_half, &all);
    else run_half(&all, 0, 2);
    blocks_are_over();
    return *all.failed ? cudaErrorLaunchFailure : cudaSuccess;
}

double seconds()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Runs 1, 1, 2, 4, ... blocks on this thread, and wakes the pool once the rest
// seems to take longer than waking it.  When looking for races, two OS threads
// alternate: blocks of one thread are ordered, blocks of different threads are
// not.
cudaError_t run_twin(const HostLaunch &asked)
{
    static std::atomic<uint64_t> launches(0);
    HostLaunch launch = asked;
    launch.number = ++launches;
    const double worth_waking = 40e-6;
    const HostExtent &grid = launch.grid;
    int64_t blocks = grid.x * grid.y * grid.z, done = 0;
    std::atomic<bool> failed(false);
    std::vector<int64_t> shuffled = order_blocks(blocks, launch.step);
    const int64_t *order = shuffled.empty() ? nullptr : shuffled.data();
    double start = seconds();
    if (SEES_RACES) return run_for_races(launch, {&launch, order, 0, &failed});
    while (done < blocks && !failed) {
        int64_t left = blocks - done, piece = done ? std::min(done, left) : 1;
        Run rest = {&launch, order, done, &failed};
        double each = done ? (seconds() - start) / (double)done : 0;
        if (each * (double)left > worth_waking) {
            pool_run(left, run_piece, &rest);
            break;
        }
        run_piece(&rest, 0, piece);
        done += piece;
    }
    return failed ? cudaErrorLaunchFailure : cudaSuccess;
}

// Runs the kernel as this program was compiled, or, with CNNC_HOST_PTX, as nvcc
// compiled it.  A launch without code for the host is nvcc's.
cudaError_t run(const HostLaunch &launch)
{
    static const bool has_ptx = is_asked("CNNC_HOST_PTX");
    if (!has_ptx && launch.threads) return run_twin(launch);
    if (host_run_ptx) return host_run_ptx(launch, run_twin);
    report("CNNC_HOST_PTX wants runtime/ptx/*.cpp in the program");
    return cudaErrorLaunchFailure;
}

// Runs a launch that passed its checks, when its stream reaches it.
cudaError_t do_launch(const HostLaunch &launch)
{
    cudaError_t error = check_pointers(launch);
    if (error || !has_plan()) return error ? error : run(launch);
    std::string call = std::string("kernel ") + launch.kernel;
    HostStep step = {launch.step, call.c_str(), launch.kernel, launch.pointers,
                     launch.pointer_count};
    if (!step_begins(step)) return cudaErrorLaunchFailure;
    error = run(launch);
    return step_ends(step) || error ? error : cudaErrorLaunchFailure;
}

// A launch that outlives its call, with copies of the data that it points to.
struct KeptLaunch {
    HostLaunch                         launch;
    std::string                        kernel;
    std::vector<const volatile void *> pointers;
    std::unique_ptr<char[]>            arguments;
    explicit KeptLaunch(const HostLaunch &l)
        : launch(l), kernel(l.kernel),
          pointers(l.pointers, l.pointers + l.pointer_count),
          arguments(new char[l.argument_bytes])
    {
        memcpy(arguments.get(), l.arguments, l.argument_bytes);
        launch.kernel = kernel.c_str();
        launch.pointers = pointers.data();
        launch.arguments = arguments.get();
    }
};

cudaError_t check_launch(const HostLaunch &launch)
{
    cudaError_t error = check_extents(launch);
    if (!error && !is_stream(launch.stream))
        error = cudaErrorInvalidResourceHandle;
    return error;
}

}

cudaError_t host_launch(const HostLaunch &asked)
{
    Call call(asked.kernel, asked.step);
    if (call.error) return call.error;
    if (cudaError_t error = finish(cudaSuccess)) return error;
    note_step(asked.step);
    PlainName name(asked.kernel);
    HostLaunch launch = asked;
    launch.kernel = name.text;
    cudaError_t error = check_launch(launch);
    if (!error && works_at_once(launch.stream)) {
        error = do_launch(launch);
    } else if (!error) {
        auto kept = std::make_shared<const KeptLaunch>(launch);
        error = give_work(launch.stream,
                          [kept] { return do_launch(kept->launch); });
    }
    return error ? fail(error) : cudaSuccess;
}
