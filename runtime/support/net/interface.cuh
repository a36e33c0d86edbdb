// The part of the C interface that is the same for every net.  The emitter
// replaces `net_` and `NET_` by the net's own name.
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

// Records the failure of a step or a copy.  The context needs init or attach again.
static int net_fail(net_context *c, net_status status, int code, const char *text, int step,
                    const char *call)
{
    c->error = {status, code, step, step < 0 ? 0 : step_line[step], call, text, 0, 0};
    c->ready = 0;
    return status;
}

static int net_check(net_context *c, cudaError_t error, int step, const char *call)
{
    if (error == cudaSuccess) return NET_OK;
    cudaGetLastError();                 // clears the reported error
    return net_fail(c, NET_CUDA_FAILED, error, cudaGetErrorString(error), step, call);
}

// Records a refused call, which has done nothing.  Except for init and attach, the context stays
// ready.
static int net_refuse(net_context *c, net_status status, const char *call, const char *text,
                      size_t wanted = 0, size_t given = 0)
{
    if (c) c->error = {status, 0, -1, 0, call, text, wanted, given};
    return status;
}

// Refuses to run after an error of the program's own calls, and does not clear it.
static int net_is_clean(net_context *c, const char *call)
{
    const cudaError_t error = cudaPeekAtLastError();
    if (error == cudaSuccess) return NET_OK;
    c->error = {NET_CUDA_FAILED, error, -1, 0, call, "an earlier call of the program failed", 0, 0};
    return NET_CUDA_FAILED;
}

// Copies `given` bytes of the caller to the arena, and repeats them in the remaining rows.  The
// results of these rows do not count, but must not be NaN.  Without bytes, fills with zeros.
static int net_stage(net_context *c, size_t offset, size_t bytes, const void *from, size_t given)
{
    unsigned char *const to = c->arena + offset;
    cudaError_t error = given ? cudaMemcpyAsync(to, from, given, cudaMemcpyDefault, c->stream)
                              : cudaMemsetAsync(to, 0, bytes, c->stream);
    for (size_t have = given, more; !error && have && have < bytes; have += more) {
        more = have < bytes - have ? have : bytes - have;
        error = cudaMemcpyAsync(to + have, to, more, cudaMemcpyDeviceToDevice, c->stream);
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

// Copies to a place in the arena, and waits; net_get copies from there.
static int net_put(net_context *c, size_t offset, const void *from, size_t bytes)
{
    TRY(net_stage(c, offset, bytes, from, bytes));
    return net_wait(c);
}

static int net_get(net_context *c, void *to, size_t offset, size_t bytes)
{
    TRY(net_fetch(c, to, offset, bytes));
    return net_wait(c);
}

static double net_mean(const FigureSum &of) { return of.weight > 0 ? of.sum / of.weight : 0; }

// Refuses memory unless its first and last byte belong to CUDA: device, managed or pinned memory.
static int net_find(net_context *c, net_status refusal, const void *memory, size_t bytes)
{
    const uintptr_t ends[] = {(uintptr_t)memory, (uintptr_t)memory + bytes - 1};
    for (int i = 0; i < 2; i++) {
        cudaPointerAttributes found = {};
        if (ends[i] >= ends[0])
            TRY(net_check(c, cudaPointerGetAttributes(&found, (const void *)ends[i]), -1,
                          "cudaPointerGetAttributes"));
        if (found.type == cudaMemoryTypeUnregistered)
            return net_refuse(c, refusal, "init or attach",
                              i ? "the memory there has fewer bytes"
                                : "it is not memory that CUDA allocated, or was freed", bytes);
    }
    return NET_OK;
}

static int net_bind(net_context *c, void *arena, size_t arena_bytes, struct CUstream_st *stream,
                    struct cublasContext *cublas)
{
    const size_t off = (size_t)((uintptr_t)arena % NET_ARENA_ALIGN);
    if (!c) return NET_BAD_ARGUMENT;
    c->ready = 0;
    if (!arena || (NET_USES_CUBLAS && !cublas))
        return net_refuse(c, NET_BAD_ARGUMENT, "init or attach", "arena or handle is null");
    if (arena_bytes < NET_ARENA_BYTES || off)
        return net_refuse(c, NET_BAD_ARENA, "init or attach",
                          off ? "the arena is not aligned" : "the arena is too small",
                          off ? NET_ARENA_ALIGN : NET_ARENA_BYTES, off ? off : arena_bytes);
    TRY(net_is_clean(c, "init or attach"));
    TRY(net_find(c, NET_BAD_ARENA, arena, arena_bytes));
    if (!ARENA_AT(arena, NET_ARENA_BYTES))
        return net_refuse(c, NET_BAD_ARENA, "init or attach", "the memory there has fewer bytes");
    *c = {(unsigned char *)arena, stream, cublas, 0, {NET_OK, 0, -1, 0, 0, 0, 0, 0}};
    return NET_OK;
}

// Draws the parameters from the seed.
static int net_draw_parameters(net_context *c, uint64_t seed)
{
    const cudaStream_t stream = c->stream;
    for (int i = 0; i < NET_PARAM_COUNT + NET_STATISTIC_COUNT; i++) {
        const long long count = (long long)(net_params[i].bytes / sizeof(real));
        real *const weight = (real *)(c->arena + net_params[i].offset);
        STEP(-1, init_parameter<real>, (count + 1023) / 1024, 256, weight, count, inits[i], seed);
    }
    return NET_OK;
}

// Makes parameters of kind 3 orthogonal, after their first values were drawn.
static int net_make_orthogonal(net_context *c)
{
    const cudaStream_t stream = c->stream;
    for (int i = 0; i < NET_PARAM_COUNT + NET_STATISTIC_COUNT; i++) {
        const long long count = (long long)(net_params[i].bytes / sizeof(real));
        const long long rows = net_params[i].shape[0];
        real *const weight = (real *)(c->arena + net_params[i].offset);
        if (inits[i].kind != 3) continue;
        STEP(-1, orthogonalize<real>, 1, 1024, weight, rows, count / rows, inits[i].scale);
    }
    return NET_OK;
}

// Average: the addresses of a parameter's average and of the parameter.
struct Average {
    size_t offset, weight, bytes;
};

// Sets each average to its parameter.
static int net_start_averages(net_context *c)
{
    for (const Average &a : averages)
        TRY(net_check(c, cudaMemcpyAsync(c->arena + a.offset, c->arena + a.weight, a.bytes,
                                         cudaMemcpyDeviceToDevice, c->stream), -1,
                      "copy averages"));
    return NET_OK;
}

// Runs every kernel and GEMM once on no samples, so that CUDA and cuBLAS allocate nothing later.
// This overwrites the header.
int net_init(net_context *c, void *arena, size_t arena_bytes, struct CUstream_st *stream,
             struct cublasContext *cublas, uint64_t seed)
{
    const StateHeader header = {NET_MAGIC, NET_STATE_HASH, NET_PARAMS_HASH, NET_PLAN_HASH, seed, 0,
                                0, NET_LEARNING_RATE, NET_LEARNING_RATE, 1, 0, 0, 0, 0, 0, {}};
    TRY(net_bind(c, arena, arena_bytes, stream, cublas));
    TRY(net_stage(c, 0, NET_STATE_BYTES, 0, 0));
    TRY(net_every_step(c));
    TRY(net_stage(c, 0, NET_STATE_BYTES, 0, 0));
    TRY(net_put(c, 0, &header, sizeof header));
    TRY(net_begin(c, seed));
    TRY(net_wait(c));
    c->ready = 1;
    return NET_OK;
}

// The first bytes of every state: "cnnc" and the version of its layout.
static constexpr uint64_t NET_MAGIC = 0x00000004636e6e63ull;

// Refuses the state of another net, and a header with values that no run can produce; NaN is in no
// range.  Inference accepts any state that begins with its parameters, training only its own.
static int net_accept(net_context *c, const StateHeader &h, const char *call)
{
    const bool known =
        NET_TRAINS ? h.state_hash == NET_STATE_HASH : h.params_hash == NET_PARAMS_HASH;
    const struct { const char *fault; double value, least, most; } ranges[] = {
        {"the state is another net's, or none", (double)(h.magic == NET_MAGIC && known), 1, 1},
        {"step is above 2^53", (double)h.step, 0, 0x1p53},
        {"updates are more than the steps", (double)h.updates, 0, (double)h.step},
        {"rate is negative or not a finite float", h.rate, 0, FLT_MAX},
        {"base_rate is negative or not a finite float", h.base_rate, 0, FLT_MAX},
        {"skip is neither 0 nor 1", (double)h.skip, 0, 1},
        // A skipped step may leave any value.
        {"gradient_scale is negative or not finite", h.skip ? 1 : h.gradient_scale, 0, DBL_MAX},
        {"good is more than the steps", (double)h.good, 0, (double)h.step},
        {"loss_scale is neither 0 nor within 2^-24 and 2^24", h.loss_scale,
         h.loss_scale == 0 ? 0 : 0x1p-24, 0x1p24},
        {"samples are above 2^53", (double)h.samples, 0, 0x1p53},
    };
    for (const auto &r : ranges)
        if (!(r.value >= r.least && r.value <= r.most))
            return net_refuse(c, NET_BAD_STATE, call, r.fault);
    for (const FigureSum &of : h.figures)
        if (!(fabs(of.sum) <= DBL_MAX && of.weight >= 0 && of.weight <= DBL_MAX))
            return net_refuse(c, NET_BAD_STATE, call, "sums are not finite");
    return NET_OK;
}

int net_attach(net_context *c, void *arena, size_t arena_bytes, struct CUstream_st *stream,
               struct cublasContext *cublas)
{
    StateHeader header;
    TRY(net_bind(c, arena, arena_bytes, stream, cublas));
    TRY(net_get(c, &header, 0, sizeof header));
    TRY(net_accept(c, header, "attach"));
    header.arrivals = 0;                // a failed launch may have left a count
    TRY(net_put(c, 0, &header, sizeof header));
    TRY(net_every_step(c));
    TRY(net_put(c, 0, &header, sizeof header));
    c->ready = 1;
    return NET_OK;
}

static int net_is_ready(net_context *c, const char *call)
{
    if (!c) return NET_BAD_ARGUMENT;
    if (c->ready) return net_is_clean(c, call);
    if (c->error.status == NET_OK) net_refuse(c, NET_NOT_READY, call, "init or attach first");
    return NET_NOT_READY;
}

// Refuses a tensor that is not 1 to BATCH whole samples, as many as the tensors before it have.
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
    const double rates[] = {value, value};      // rate and base_rate
    TRY(net_is_ready(c, "set"));
    if (setting != NET_RATE) return net_refuse(c, NET_BAD_ARGUMENT, "set", "no such setting");
    if (!(value >= 0 && value <= FLT_MAX))
        return net_refuse(c, NET_BAD_ARGUMENT, "set", "the rate is negative or not a finite float");
    return net_put(c, offsetof(StateHeader, rate), rates, sizeof rates);
}

static int net_check_state(net_context *c, const void *state, size_t bytes, const char *call)
{
    TRY(net_is_ready(c, call));
    if (state && bytes == NET_STATE_BYTES) return NET_OK;
    return net_refuse(c, NET_BAD_ARGUMENT, call, "the size of the state is wrong", NET_STATE_BYTES,
                      bytes);
}

int net_export(net_context *c, void *state, size_t bytes)
{
    TRY(net_check_state(c, state, bytes, "export"));
    return net_get(c, state, 0, bytes);
}

int net_import(net_context *c, const void *state, size_t bytes)
{
    StateHeader header;
    TRY(net_check_state(c, state, bytes, "import"));
    memcpy(&header, state, sizeof header);
    TRY(net_accept(c, header, "import"));
    TRY(net_stage(c, 0, bytes, state, bytes));
    TRY(net_stage(c, offsetof(StateHeader, arrivals), sizeof header.arrivals, 0, 0));
    return net_wait(c);
}

// Copies the weights that the file contains, in the order of the table and without gaps.
static int net_take_trained(net_context *c)
{
    TRY(net_is_ready(c, "init_trained"));
    const unsigned char *from = trained;
    for (int i = 0; i < NET_PARAM_COUNT + NET_STATISTIC_COUNT; i++) {
        TRY(net_stage(c, net_params[i].offset, net_params[i].bytes, from, net_params[i].bytes));
        from += net_params[i].bytes;
    }
    return NET_OK;
}

const net_tensor *net_param(int index)
{
    return index >= 0 && index < NET_PARAM_COUNT ? &net_params[index] : 0;
}

const net_tensor *net_statistic(int index)
{
    return index >= 0 && index < NET_STATISTIC_COUNT ? &net_params[NET_PARAM_COUNT + index] : 0;
}

const net_error *net_last_error(const net_context *c) { return &c->error; }

const char *net_strerror(int status)
{
    static const char *const text[] = {"success", "a null pointer, a wrong size or a wrong value",
                                       "the arena is too small, not aligned or not CUDA's",
                                       "not a state of this net", "a CUDA call failed",
                                       "a cuBLAS call failed", "init or attach must come first"};
    return status >= 0 && status <= NET_NOT_READY ? text[status] : "an unknown status";
}
