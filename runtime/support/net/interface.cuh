// The part of the C interface that is the same for every net.  `net_` and
// `NET_` become the net's own name.
#pragma once
#include <cuda_runtime.h>
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include "header.cuh"
#include "init.cuh"
#include "interface_types.cuh"
#include "launch.cuh"

static int net_fail(net_context *c, net_status status, int code, const char *text, int step,
                    const char *call)
{
    const net_error error = {status, code, step, step < 0 ? 0 : step_line[step], call, text, 0, 0};
    c->error = error;
    c->ready = 0;
    return status;
}

// An error that is reported is no longer CUDA's last.
static int net_check(net_context *c, cudaError_t error, int step, const char *call)
{
    if (error == cudaSuccess) return NET_OK;
    cudaGetLastError();
    return net_fail(c, NET_CUDA_FAILED, error, cudaGetErrorString(error), step, call);
}

// A call that was refused does nothing: but for init and attach, the context stays as ready as it
// was.
static int net_refuse(net_context *c, net_status status, const char *call, const char *text,
                      size_t wanted, size_t given)
{
    const net_error error = {status, 0, -1, 0, call, text, wanted, given};
    if (c) c->error = error;
    return status;
}

// An error that CUDA still keeps is not ours to report as a launch's, nor to forget.
static int net_is_clean(net_context *c, const char *call)
{
    const cudaError_t error = cudaPeekAtLastError();
    if (error == cudaSuccess) return NET_OK;
    net_refuse(c, NET_CUDA_FAILED, call, "an earlier call of the program failed", 0, 0);
    c->error.code = error;
    return NET_CUDA_FAILED;
}

// Copies what the caller has given to its place in the arena; without anything, zeroes that. Rows
// of a batch that are not given are those that are, again: they count for nothing, but 0 times what
// a net makes of a sample of zeros need not be 0.
static int net_stage(net_context *c, size_t offset, size_t bytes, const void *from, size_t given)
{
    unsigned char *const to = c->arena + offset;
    cudaError_t error = given ? cudaMemcpyAsync(to, from, given, cudaMemcpyDefault, c->stream)
                              : cudaMemsetAsync(to, 0, bytes, c->stream);
    for (size_t have = given; !error && have && have < bytes;) {
        const size_t more = have < bytes - have ? have : bytes - have;
        error = cudaMemcpyAsync(to + have, to, more, cudaMemcpyDeviceToDevice, c->stream);
        have += more;
    }
    return net_check(c, error, -1, "copy to the arena");
}

static int net_fetch(net_context *c, void *to, size_t offset, size_t bytes)
{
    const cudaError_t error =
        cudaMemcpyAsync(to, c->arena + offset, bytes, cudaMemcpyDefault, c->stream);
    return net_check(c, error, -1, "copy from the arena");
}

static int net_wait(net_context *c)
{
    return net_check(c, cudaStreamSynchronize(c->stream), -1, "wait for the stream");
}

static double net_mean(const FigureSum &of)
{
    return of.weight > 0 ? of.sum / of.weight : 0;
}

static int net_read_header(net_context *c, StateHeader *header)
{
    return net_fetch(c, header, 0, sizeof *header) || net_wait(c) ? c->error.status : NET_OK;
}

static int net_write_header(net_context *c, const StateHeader *header)
{
    return net_stage(c, 0, sizeof *header, header, sizeof *header) || net_wait(c) ? c->error.status
                                                                                  : NET_OK;
}

// Runs every launch once, on no samples, so that all kernels are loaded and every product has
// chosen its algorithm: no later call allocates inside the driver.  Spoils the header.
static int net_warm(net_context *c)
{
    return net_every_step(c) || net_wait(c) ? c->error.status : NET_OK;
}

// True if memory is known to CUDA from the first to the last of its bytes: device memory, managed
// or pinned.  Sets *known, or returns the status of a call that failed.
static int net_find(net_context *c, const void *memory, size_t bytes, bool *known)
{
    const uintptr_t start = (uintptr_t)memory, ends[] = {start, start + bytes - 1};
    *known = ends[1] >= start;
    for (int i = 0; i < 2 && *known; i++) {
        cudaPointerAttributes attributes;
        if (net_check(c, cudaPointerGetAttributes(&attributes, (const void *)ends[i]), -1,
                      "cudaPointerGetAttributes"))
            return c->error.status;
        *known = attributes.type != cudaMemoryTypeUnregistered;
    }
    return NET_OK;
}

// Refuses an arena in memory that is not CUDA's, or was freed, or ends before arena_bytes do.  The
// host runtime knows whether all bytes are of one allocation.
static int net_find_arena(net_context *c, void *arena, size_t arena_bytes)
{
    bool starts, known;
    if (net_find(c, arena, 1, &starts) || net_find(c, arena, arena_bytes, &known))
        return c->error.status;
    if (known && ARENA_AT(arena, NET_ARENA_BYTES)) return NET_OK;
    return net_refuse(c, NET_BAD_ARENA, "init or attach",
                      starts ? "the memory there has fewer bytes than the arena"
                             : "the arena is not memory that CUDA allocated, or was freed",
                      starts ? arena_bytes : 0, 0);
}

static int net_bind(net_context *c, void *arena, size_t arena_bytes, struct CUstream_st *stream,
                    struct cublasContext *cublas)
{
    const size_t off = (size_t)((uintptr_t)arena % NET_ARENA_ALIGN);
    if (!c) return NET_BAD_ARGUMENT;
    c->ready = 0;
    if (!arena || (NET_USES_CUBLAS && !cublas))
        return net_refuse(c, NET_BAD_ARGUMENT, "init or attach", "arena or handle is null", 0, 0);
    if (arena_bytes < NET_ARENA_BYTES || off)
        return net_refuse(c, NET_BAD_ARENA, "init or attach",
                          off ? "the arena is not aligned" : "the arena is too small",
                          off ? NET_ARENA_ALIGN : NET_ARENA_BYTES, off ? off : arena_bytes);
    if (const int status = net_is_clean(c, "init or attach")) return status;
    if (const int status = net_find_arena(c, arena, arena_bytes)) return status;
    *c = {(unsigned char *)arena, stream, cublas, 0, {NET_OK, 0, -1, 0, 0, 0, 0, 0}};
    return NET_OK;
}

// Fresh weights, drawn from the seed, each parameter as its Init says.
static int net_draw_parameters(net_context *c, uint64_t seed)
{
    const cudaStream_t stream = c->stream;
    for (int i = 0; i < NET_PARAM_COUNT + NET_STATISTIC_COUNT; i++) {
        const long long count = (long long)(net_params[i].bytes / sizeof(real));
        real *const weight = (real *)(c->arena + net_params[i].offset);
        LAUNCH(-1, init_parameter, (unsigned)((count + 1023) / 1024), 256, weight, count,
               inits[i], seed, (uint32_t)i);
        if (net_check(c, cudaGetLastError(), -1, "init_parameter")) return c->error.status;
    }
    return NET_OK;
}

// Parameters of kind 3, after their start.
static int net_make_orthogonal(net_context *c)
{
    const cudaStream_t stream = c->stream;
    for (int i = 0; i < NET_PARAM_COUNT + NET_STATISTIC_COUNT; i++) {
        const long long count = (long long)(net_params[i].bytes / sizeof(real));
        const long long rows = net_params[i].shape[0];
        real *const weight = (real *)(c->arena + net_params[i].offset);
        if (inits[i].kind != 3) continue;
        LAUNCH(-1, orthogonalize, 1, 1024, weight, rows, count / rows, inits[i].scale);
        if (net_check(c, cudaGetLastError(), -1, "orthogonalize")) return c->error.status;
    }
    return NET_OK;
}

// Average: where the average of a parameter lies, and where the parameter.
struct Average {
    size_t offset, weight, bytes;
};

// Averages begin as their parameters.
static int net_start_averages(net_context *c)
{
    for (const Average &a : averages)
        if (net_check(c, cudaMemcpyAsync(c->arena + a.offset, c->arena + a.weight, a.bytes,
                                         cudaMemcpyDeviceToDevice, c->stream), -1, "copy averages"))
            return c->error.status;
    return NET_OK;
}

int net_init(net_context *c, void *arena, size_t arena_bytes, struct CUstream_st *stream,
             struct cublasContext *cublas, uint64_t seed)
{
    if (const int status = net_bind(c, arena, arena_bytes, stream, cublas)) return status;
    const StateHeader header = {NET_MAGIC, NET_STATE_HASH, NET_PARAMS_HASH, NET_PLAN_HASH, seed, 0,
                                0, NET_LEARNING_RATE, NET_LEARNING_RATE, 1, 0, 0, 0, 0, 0, 0, {}};
    if (net_stage(c, 0, NET_STATE_BYTES, 0, 0) || net_warm(c) ||
        net_stage(c, 0, NET_STATE_BYTES, 0, 0) || net_write_header(c, &header) ||
        net_begin(c, seed) || net_wait(c))
        return c->error.status;
    c->ready = 1;
    return NET_OK;
}

// The first bytes of every state: "cnnc" and the version of its layout.
static constexpr uint64_t NET_MAGIC = 0x00000004636e6e63ull;

// Inference takes the beginning of any state with its parameters, training only its own.
static int net_accept(net_context *c, const StateHeader *header, const char *call)
{
    const bool known = NET_TRAINS ? header->state_hash == NET_STATE_HASH
                                  : header->params_hash == NET_PARAMS_HASH;
    if (header->magic == NET_MAGIC && known) return net_check_header(c, *header, call);
    return net_refuse(c, NET_BAD_STATE, call, "this is the state of another net, or none", 0, 0);
}

// HeaderRange: a field of a header that arithmetic reads, and the values that it can have.
struct HeaderRange {
    double value, least, most;
    const char *fault;
};

// Refuses a header with values that no run of a net leaves there; NaN is in no range.
static int net_check_header(net_context *c, const StateHeader &h, const char *call)
{
    const HeaderRange ranges[] = {
        {(double)h.step, 0, 0x1p53, "step in the state is above 2^53"},
        {(double)h.updates, 0, (double)h.step, "updates in the state are more than its steps"},
        {h.rate, 0, FLT_MAX, "rate in the state is negative or not a finite float"},
        {h.base_rate, 0, FLT_MAX, "base_rate in the state is negative or not a finite float"},
        {(double)h.skip, 0, 1, "skip in the state is neither 0 nor 1"},
        // Gradients of a step that was skipped may be anything.
        {h.skip ? 1 : h.gradient_scale, 0, DBL_MAX,
         "gradient_scale in the state is negative or not finite"},
        {(double)h.good, 0, (double)h.step, "good in the state is more than its steps"},
        {h.loss_scale, h.loss_scale == 0 ? 0 : 0x1p-24, 0x1p24,
         "loss_scale in the state is neither 0 nor within 2^-24 and 2^24"},
        {(double)h.samples, 0, 0x1p53, "samples in the state are above 2^53"},
    };
    for (const HeaderRange &r : ranges)
        if (!(r.value >= r.least && r.value <= r.most))
            return net_refuse(c, NET_BAD_STATE, call, r.fault, 0, 0);
    for (const FigureSum &of : h.figures)
        if (!(fabs(of.sum) <= DBL_MAX && of.weight >= 0 && of.weight <= DBL_MAX))
            return net_refuse(c, NET_BAD_STATE, call, "sums in the state are not finite", 0, 0);
    return NET_OK;
}

int net_attach(net_context *c, void *arena, size_t arena_bytes, struct CUstream_st *stream,
               struct cublasContext *cublas)
{
    StateHeader header;
    if (const int status = net_bind(c, arena, arena_bytes, stream, cublas)) return status;
    if (net_read_header(c, &header) || net_accept(c, &header, "attach")) return c->error.status;
    header.arrivals = 0;                // a launch may have failed halfway
    if (net_write_header(c, &header) || net_warm(c) || net_write_header(c, &header))
        return c->error.status;
    c->ready = 1;
    return NET_OK;
}

static int net_is_ready(net_context *c, const char *call)
{
    if (!c) return NET_BAD_ARGUMENT;
    if (c->ready) return net_is_clean(c, call);
    // The first failure stays: it says why.
    if (c->error.status == NET_OK) net_refuse(c, NET_NOT_READY, call, "init or attach first", 0, 0);
    return NET_NOT_READY;
}

// That a tensor is given whole samples, 1 to BATCH of them and as many as those before it.
static int net_samples(net_context *c, const char *call, const void *tensor, size_t bytes,
                       size_t sample_bytes, size_t *given)
{
    if (!*given) *given = bytes / sample_bytes;
    if (tensor && *given && *given <= NET_BATCH && bytes == *given * sample_bytes) return NET_OK;
    return net_refuse(c, NET_BAD_ARGUMENT, call,
                      tensor ? "not 1 to BATCH whole samples, as many as the others" : "null",
                      *given * sample_bytes, bytes);
}

int net_set(net_context *c, net_setting setting, double value)
{
    if (const int status = net_is_ready(c, "set")) return status;
    if (setting != NET_RATE) return net_refuse(c, NET_BAD_ARGUMENT, "set", "no such setting", 0, 0);
    if (!(value >= 0 && value <= FLT_MAX))
        return net_refuse(c, NET_BAD_ARGUMENT, "set", "the rate is negative or not a finite float",
                          0, 0);
    const double rates[] = {value, value}; // rate and base_rate, which follows it
    return net_stage(c, offsetof(StateHeader, rate), sizeof rates, rates, sizeof rates) ||
                   net_wait(c)
               ? c->error.status
               : NET_OK;
}

int net_export(net_context *c, void *state, size_t bytes)
{
    if (const int status = net_is_ready(c, "export")) return status;
    if (!state || bytes != NET_STATE_BYTES)
        return net_refuse(c, NET_BAD_ARGUMENT, "export", "the size of the state is wrong",
                          NET_STATE_BYTES, bytes);
    return net_fetch(c, state, 0, bytes) || net_wait(c) ? c->error.status : NET_OK;
}

int net_import(net_context *c, const void *state, size_t bytes)
{
    StateHeader header;
    if (const int status = net_is_ready(c, "import")) return status;
    if (!state || bytes != NET_STATE_BYTES)
        return net_refuse(c, NET_BAD_ARGUMENT, "import", "the size of the state is wrong",
                          NET_STATE_BYTES, bytes);
    memcpy(&header, state, sizeof header);
    if (const int status = net_accept(c, &header, "import")) return status;
    return net_stage(c, 0, bytes, state, bytes) ||
                   net_stage(c, offsetof(StateHeader, arrivals), sizeof header.arrivals, 0, 0) ||
                   net_wait(c)
               ? c->error.status
               : NET_OK;
}

// The index-th tensor whose offset in the state is from begin to before end, or NULL.
static const net_tensor *net_tensor_between(int index, size_t begin, size_t end)
{
    for (int i = 0; i < NET_PARAM_COUNT + NET_STATISTIC_COUNT; i++) {
        const net_tensor *const tensor = &net_params[i];
        if (tensor->offset >= begin && tensor->offset < end && index-- == 0) return tensor;
    }
    return 0;
}

const net_tensor *net_param(int index)
{
    return net_tensor_between(index, 0, NET_STATISTICS_OFFSET);
}

const net_tensor *net_statistic(int index)
{
    return net_tensor_between(index, NET_STATISTICS_OFFSET, NET_STATE_BYTES);
}

const net_error *net_last_error(const net_context *c)
{
    return &c->error;
}

const char *net_strerror(int status)
{
    static const char *const text[] = {"success", "a null pointer, a wrong size or a wrong value",
                                       "the arena is too small, not aligned or not CUDA's",
                                       "not a state of this net", "a CUDA call failed",
                                       "a cuBLAS call failed", "init or attach must come first"};
    return status >= 0 && status <= NET_NOT_READY ? text[status] : "an unknown status";
}
