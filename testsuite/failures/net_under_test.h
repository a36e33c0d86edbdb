// A program around any training net, for tests that look at the host runtime's
// side of it: NET_FILE is the net, emitted with --main, whose own main stands
// aside; NET is its name, HOSTED says that it offloads.  Batches use pinned
// memory; numbers make them.
#ifndef NET_UNDER_TEST_H
#define NET_UNDER_TEST_H

#define main trainer_program
#include NET_FILE
#undef main
#include <cublas_v2.h>
#include <testing.h>
#include <utility>
#include <vector>

#define JOIN_NAMES(a, b) a##_##b
#define JOIN(a, b) JOIN_NAMES(a, b)
#define NET_CALL(name) JOIN(NET, name)

typedef NET_CALL(context) Context;
enum { BATCHES = 3, REFUSED = 6 };  // REFUSED: the status NET_NOT_READY

static int expect_failures;

// Reports a failed condition, once a place and as often as it may be read.
#define EXPECT(condition, ...)                                                 \
    do {                                                                       \
        if (condition) break;                                                  \
        if (expect_failures++ < 20) {                                          \
            printf("not so: %s: ", #condition);                                \
            printf(__VA_ARGS__);                                               \
            printf("\n");                                                      \
        }                                                                      \
    } while (0)

// The buffers of one call: inputs, for infer those it reads and then outputs.
struct Buffers {
    std::vector<void *> data;
    std::vector<size_t> bytes;
    std::vector<const NetTensor *> tensors;
};

static void must(cudaError_t error)
{
    if (error == cudaSuccess) return;
    printf("the test itself: %s\n", cudaGetErrorString(error));
    exit(1);
}

#ifdef HOSTED
static NET_CALL(host) host_memory;
#define HOST_ARGUMENT , &host_memory

// Streams and events outlive a device that is reset, memory does not.
static void take_host_streams()
{
    must(cudaStreamCreateWithFlags(&host_memory.stream, cudaStreamNonBlocking));
    for (CUevent_st *&event : host_memory.events)
        must(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
}

static void take_host_memory(size_t bytes)
{
    must(cudaMallocHost(&host_memory.memory, host_memory.bytes = bytes));
}

static void give_host_back()
{
    must(cudaFreeHost(host_memory.memory));
    must(cudaStreamDestroy(host_memory.stream));
    for (CUevent_st *event : host_memory.events) must(cudaEventDestroy(event));
}
#else
#define HOST_ARGUMENT
static inline void take_host_streams() {}
static inline void take_host_memory(size_t) {}
static inline void give_host_back() {}
#endif

struct Program {
    Context c;
    void *arena;
    cudaStream_t stream;
    cublasHandle_t cublas;
    Buffers batch[BATCHES], inferred[BATCHES];
    std::vector<unsigned char> state;
};

static void add_buffer(Buffers *b, const NetTensor *t, void *data)
{
    if (!data) must(cudaMallocHost(&data, t->bytes));
    b->data.push_back(data);
    b->bytes.push_back(t->bytes);
    b->tensors.push_back(t);
}

// Input i of a batch, from random numbers: bytes, labels, or -1 to 1.
static void fill_input(void *to, const NetTensor *t, unsigned number)
{
    long long count = tensor_elements(t, 0);
    unsigned x = 2654435761u * (number + 1);
    for (long long i = 0; i < count; i++) {
        x = 1664525u * x + 1013904223u;
        double u = (x >> 8) / 16777216.0;
        if (!strcmp(t->dtype, "u8")) ((uint8_t *)to)[i] = (uint8_t)(x >> 24);
        else if (!strcmp(t->dtype, "i32")) ((int32_t *)to)[i] = (int32_t)(u * t->classes);
        else if (!strcmp(t->dtype, "f32")) ((float *)to)[i] = (float)(2 * u - 1);
        else ((double *)to)[i] = 2 * u - 1;
    }
}

static void fill_batch(Buffers *b, unsigned number)
{
    for (size_t i = 0; i < b->data.size(); i++)
        fill_input(b->data[i], b->tensors[i], 97 * number + (unsigned)i);
}

// Takes all memory that CUDA gives; the stream is one that captures may use.
static void take_buffers(Program *p)
{
    const Net *net = &main_net;
    must(cudaMalloc(&p->arena, net->arena_bytes));
    take_host_memory(HOST_BYTES + 0);
    for (int k = 0; k < BATCHES; k++) {
        p->batch[k] = p->inferred[k] = Buffers();
        for (int i = 0; i < net->input_count; i++) {
            add_buffer(&p->batch[k], &net->inputs[i], nullptr);
            if (net->inputs[i].infers)
                add_buffer(&p->inferred[k], &net->inputs[i], p->batch[k].data.back());
        }
        fill_batch(&p->batch[k], (unsigned)k);
        for (int i = 0; i < net->output_count; i++)
            add_buffer(&p->inferred[k], &net->outputs[i], nullptr);
    }
}

static inline Program *begin_program()
{
    Program *p = new Program();
    must(cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking));
    if (cublasCreate(&p->cublas)) exit(1);
    take_host_streams();
    p->state.resize(main_net.state_bytes);
    take_buffers(p);
    return p;
}

// Gives all back; then nothing may be in use.
static inline void end_program(Program *p)
{
    must(cudaFree(p->arena));
    for (int k = 0; k < BATCHES; k++) {
        for (void *data : p->batch[k].data) must(cudaFreeHost(data));
        size_t inputs = p->inferred[k].data.size() - (size_t)main_net.output_count;
        for (size_t i = inputs; i < p->inferred[k].data.size(); i++)
            must(cudaFreeHost(p->inferred[k].data[i]));
    }
    must(cudaStreamDestroy(p->stream));
    give_host_back();
    if (cublasDestroy(p->cublas)) exit(1);
    delete p;
    EXPECT(cuda_host_in_use() == 0, "%zu are in use at the end", cuda_host_in_use());
}

template <class T>
static T argument(const Buffers &b, size_t i)
{
    if constexpr (std::is_pointer_v<T>) return (T)b.data[i / 2];
    else return b.bytes[i / 2];
}

template <class... P, size_t... I>
static inline int call_on(int (*f)(Context *, P...), Context *c, const Buffers &b,
                   std::index_sequence<I...>)
{
    return f(c, argument<P>(b, I)...);
}

// f(c, data 0, bytes 0, data 1, bytes 1, ...)
template <class... P>
static inline int call_with(int (*f)(Context *, P...), Context *c, const Buffers &b)
{
    return call_on(f, c, b, std::index_sequence_for<P...>());
}

static inline int call_train(Program *p, int k)
{
    return call_with(NET_CALL(train), &p->c, p->batch[k]);
}

static inline int call_evaluate(Program *p, int k)
{
    return call_with(NET_CALL(evaluate), &p->c, p->batch[k]);
}

static inline int call_infer(Program *p, int k)
{
    return call_with(NET_CALL(infer), &p->c, p->inferred[k]);
}

static inline int call_init(Program *p)
{
    return NET_CALL(init)(&p->c, p->arena, main_net.arena_bytes, p->stream, p->cublas HOST_ARGUMENT,
                          7);
}

static inline int call_attach(Program *p)
{
    return NET_CALL(attach)(&p->c, p->arena, main_net.arena_bytes, p->stream, p->cublas HOST_ARGUMENT);
}

static inline int call_metrics(Program *p)
{
    NET_CALL(figures) figures;
    return NET_CALL(metrics)(&p->c, &figures, 1);
}

static inline int call_export(Program *p)
{
    return NET_CALL(export)(&p->c, p->state.data(), p->state.size());
}

static inline int call_import(Program *p)
{
    return NET_CALL(import)(&p->c, p->state.data(), p->state.size());
}

static inline int call_set_rate(Program *p)
{
    return NET_CALL(set)(&p->c, (NET_CALL(setting))0, 0.0078125);
}

#endif
