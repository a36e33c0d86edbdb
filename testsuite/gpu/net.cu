// An emitted file with its trainer program, and one command more:
//
//     nvcc -DNET_FILE='"net.cu"' gpu/net.cu -lcublas -o net
//     net memory
//
// takes training steps, evaluations and inferences, of whole and of smaller
// batches, and tells by how many bytes the device's free memory shrank since
// init.  Other programs on the device are in that number; where it is not 0
// the test tries again.
#define main net_program
#include NET_FILE
#undef main

static bool net_ok(int status)
{
    return call_ok(&main_net, status);
}

// One call of each kind on this many samples, of zeros.
static bool call_all(void **data, size_t *bytes, void **outputs,
                     size_t *output_bytes, int samples)
{
    const Net *net = &main_net;
    size_t batch = (size_t)net->batch, count = (size_t)samples;
    NetFigures figures;
    for (int i = 0; i < net->input_count; i++)
        bytes[i] = net->inputs[i].bytes / batch * count;
    for (int i = 0; i < net->output_count; i++)
        output_bytes[i] = net->outputs[i].bytes / batch * count;
    return net_ok(net->train(data, bytes)) && net_ok(net->eval(data, bytes)) &&
           net_ok(net->infer(data, bytes, outputs, output_bytes)) &&
           net_ok(net->figures(&figures, 1));
}

static size_t free_memory()
{
    size_t available = 0, total;
    cudaDeviceSynchronize();
    cudaMemGetInfo(&available, &total);
    return available;
}

static bool measure()
{
    const Net *net = &main_net;
    void *arena, *data[64], *outputs[64];
    size_t bytes[64], output_bytes[64];
    for (int i = 0; i < net->input_count; i++)
        data[i] = take_memory(net->inputs[i].bytes);
    for (int i = 0; i < net->output_count; i++)
        outputs[i] = take_memory(net->outputs[i].bytes);
    if (cudaMalloc(&arena, net->arena_bytes) != cudaSuccess ||
        !net_ok(net->init(arena, net->arena_bytes, 1)))
        return false;
    size_t before = free_memory();
    for (int i = 0; i < 10; i++)
        if (!call_all(data, bytes, outputs, output_bytes,
                      i % 2 ? net->batch : (net->batch + 1) / 2))
            return false;
    printf("%lld\n", (long long)before - (long long)free_memory());
    return true;
}

int main(int argc, char **argv)
{
    if (argc != 2 || strcmp(argv[1], "memory"))
        return net_program(argc, argv);
    bool good = measure();
    release_memory();
    return good ? 0 : 1;
}
