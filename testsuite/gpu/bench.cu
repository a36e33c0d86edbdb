// An emitted file with its trainer program, timed:
//
//     nvcc -DNET=unet -DNET_FILE='"unet.cu"' gpu/bench.cu -lcublas -o bench
//     BENCH_BEGAN=$(date +%s.%N) bench SECONDS STEPS
//
// takes one training step, ten more, and then steps for about the given seconds, at least the given
// number. All but the first are replayed from a CUDA graph, on random data in device memory. Times
// are between events: around each step, or around ten where one takes less than a millisecond. It
// prints one JSON object:
//
//     ms, ms_p10, ms_p90, steps   median and tenths of the times; how many steps were timed
//     first_step_s                from BENCH_BEGAN to the end of the first training step
//     arena_bytes, batch          of the net
//     used_first, used_end        bytes of the device in use: with a context alone, in the end
//     loss_first, loss_last       mean loss of the first step, of all after it
#define main net_program
#include NET_FILE
#undef main

#include <cublas_v2.h>

#define JOINED(a, b) a##_##b
#define JOIN(a, b) JOINED(a, b)
#define CALL(name) JOIN(NET, name)

enum { WARM = 10, MOST_INPUTS = 16 };

typedef CALL(context) BenchContext;
typedef CALL(figures) BenchFigures;

static BenchContext bench;
static void *bench_data[MOST_INPUTS];
static cudaStream_t bench_stream;

static void need(int failed, const char *what)
{
    if (!failed) return;
    const cudaError_t error = cudaGetLastError();
    fprintf(stderr, "%s: %s\n", what,
            bench.error.text ? bench.error.text : cudaGetErrorString(error));
    exit(1);
}

static long long used_bytes()
{
    size_t available = 0, total = 0;
    need(cudaMemGetInfo(&available, &total), "cudaMemGetInfo");
    return (long long)(total - available);
}

static double seconds_since_epoch()
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Numbers from -1 to 1, bytes, or classes.
static void fill_input(unsigned char *at, const NetTensor *t)
{
    const bool bytes = !strcmp(t->dtype, "u8"), real32 = !strcmp(t->dtype, "f32");
    const size_t size = bytes ? 1 : !strcmp(t->dtype, "f64") ? 8 : 4;
    uint32_t x = 1;
    for (size_t i = 0; i < t->bytes / size; i++) {
        x = 1664525u * x + 1013904223u;
        const float number = (float)(x >> 8) / 8388608.0f - 1.0f;
        const double wide = number;
        const int32_t label = t->classes ? (int32_t)((x >> 8) % (uint32_t)t->classes) : 0;
        const unsigned char byte = (unsigned char)(x >> 24);
        const void *const from = bytes ? (const void *)&byte : real32 ? (const void *)&number
                                 : size == 8 ? (const void *)&wide : (const void *)&label;
        memcpy(at + i * size, from, size);
    }
}

static void fill_inputs()
{
    for (int i = 0; i < main_net.input_count; i++) {
        const NetTensor *const t = &main_net.inputs[i];
        unsigned char *const host = (unsigned char *)malloc(t->bytes);
        need(!host, "malloc");
        fill_input(host, t);
        need(cudaMalloc(&bench_data[i], t->bytes), "cudaMalloc");
        need(cudaMemcpy(bench_data[i], host, t->bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
        free(host);
    }
}

// The nets of this bench have an image and a label.
template <class Image, class Label>
static int train_by(int (*train)(BenchContext *, const Image *, size_t, const Label *, size_t))
{
    const NetTensor *const in = main_net.inputs;
    return train(&bench, (const Image *)bench_data[0], in[0].bytes,
                 (const Label *)bench_data[1], in[1].bytes);
}

static void train_once()
{
    need(train_by(CALL(train)), "train");
}

static double mean_loss()
{
    BenchFigures figures;
    need(CALL(metrics)(&bench, &figures, 1), "metrics");
    return figures.loss;
}

static cudaGraphExec_t capture()
{
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    need(cudaStreamBeginCapture(bench_stream, cudaStreamCaptureModeThreadLocal), "capture");
    train_once();
    need(cudaStreamEndCapture(bench_stream, &graph), "capture");
    need(cudaGraphInstantiate(&ready, graph, 0), "cudaGraphInstantiate");
    need(cudaGraphUpload(ready, bench_stream), "cudaGraphUpload");
    need(cudaGraphDestroy(graph), "cudaGraphDestroy");
    return ready;
}

static void wait()
{
    need(cudaStreamSynchronize(bench_stream), "cudaStreamSynchronize");
}

// Milliseconds a step, of `group` steps between two events.
static double time_steps(cudaGraphExec_t step, cudaEvent_t *pair, int group)
{
    float ms = 0;
    need(cudaEventRecord(pair[0], bench_stream), "cudaEventRecord");
    for (int i = 0; i < group; i++) need(cudaGraphLaunch(step, bench_stream), "cudaGraphLaunch");
    need(cudaEventRecord(pair[1], bench_stream), "cudaEventRecord");
    need(cudaEventSynchronize(pair[1]), "cudaEventSynchronize");
    need(cudaEventElapsedTime(&ms, pair[0], pair[1]), "cudaEventElapsedTime");
    return (double)ms / group;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void begin()
{
    void *arena;
    cublasHandle_t cublas;
    need(cudaStreamCreate(&bench_stream), "cudaStreamCreate");
    need(cublasCreate(&cublas) != CUBLAS_STATUS_SUCCESS, "cublasCreate");
    need(cudaMalloc(&arena, main_net.arena_bytes), "cudaMalloc");
    fill_inputs();
    need(CALL(init)(&bench, arena, main_net.arena_bytes, bench_stream, cublas, 1), "init");
}

int main(int argc, char **argv)
{
    const char *const began = getenv("BENCH_BEGAN");
    const double start = began ? atof(began) : seconds_since_epoch();
    if (argc != 3) return net_program(argc, argv);
    const double seconds = atof(argv[1]);
    const int least = atoi(argv[2]);
    need(cudaFree(0), "cudaFree");
    const long long used_first = used_bytes();
    begin();
    train_once();
    wait();
    const double first_step = seconds_since_epoch() - start, loss_first = mean_loss();
    const cudaGraphExec_t step = capture();
    cudaEvent_t pair[2];
    for (int i = 0; i < 2; i++) need(cudaEventCreate(&pair[i]), "cudaEventCreate");
    for (int i = 0; i < WARM && least >= WARM; i++) time_steps(step, pair, 1);
    const double one = time_steps(step, pair, 1);
    const int group = one < 1 && least >= WARM ? 10 : 1;
    long long rounds = (long long)(1000 * seconds / (one * group));
    if (rounds * group < least) rounds = (least + group - 1) / group;
    double *const ms = (double *)malloc((size_t)rounds * sizeof *ms);
    need(!ms, "malloc");
    for (long long i = 0; i < rounds; i++) ms[i] = time_steps(step, pair, group);
    qsort(ms, (size_t)rounds, sizeof *ms, compare);
    printf("{\"ms\": %.6g, \"ms_p10\": %.6g, \"ms_p90\": %.6g, \"steps\": %lld, "
           "\"first_step_s\": %.3f, \"arena_bytes\": %zu, \"batch\": %d, "
           "\"used_first\": %lld, \"used_end\": %lld, ",
           ms[rounds / 2], ms[rounds / 10], ms[rounds * 9 / 10], rounds * group, first_step,
           main_net.arena_bytes, main_net.batch, used_first, used_bytes());
    printf("\"loss_first\": %.9g, \"loss_last\": %.9g}\n", loss_first, mean_loss());
    free(ms);
    need(cudaGraphExecDestroy(step), "cudaGraphExecDestroy");
    return 0;
}
