// Measures the trainer's reader on a file of JPEG files, without a net:
//
//     reader FILE WORKERS SIDE
//
// Prints images a second of a processor's time, so that other programs count
// for little.  The first lines are of libjpeg alone, at full size and at the
// scale that the reader takes; then of resizing, too.  The reader also converts
// to f32.  Its memory is that of this process without mapped files.
#include <atomic>
#include <thread>
#include <vector>

#include <cuda_runtime.h>

#include "../../../runtime/trainer/main.cuh"

// Returns seconds of processors that this process has had.
static double processor_seconds()
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Decodes all files by some threads; 0 eighths: the reader's scale.
static double decode_all(const DataArray *a, int workers, int eighths,
                         bool resizes)
{
    std::vector<std::thread> threads;
    std::atomic<long long> next(0);
    std::vector<JpegWorker> worker((size_t)workers);
    for (JpegWorker &w : worker) {
        w = *take_jpeg_room(true);
    }
    const double begin = processor_seconds();
    for (JpegWorker &w : worker)
        threads.emplace_back([&, a, eighths] {
            for (long long at; (at = next++) < a->dims[0];) {
                DataArray out = {};
                const int scale =
                    eighths ? eighths
                            : jpeg_eighths(&a->jpegs->rows[at], a->dims[1],
                                           a->dims[2]);
                if (!decode_jpeg(a, at, scale, &w, &out))
                    complain("%s", w.fault), exit(1);
                if (resizes) cover_size(&out, a->dims[1], a->dims[2], &w);
            }
        });
    for (std::thread &thread : threads) thread.join();
    return (double)a->dims[0] / (processor_seconds() - begin);
}

static double read_all(DataSet *set, int workers, int batch)
{
    BatchReader reader = {};
    bool failed = false;
    if (!start_reader(&reader, set, batch, workers)) exit(1);
    const double begin = processor_seconds();
    begin_pass(&reader, set, NULL, 0, set->count, NULL);
    while (Staging *s = take_batch(&reader, &failed))
        if (!give_batch(&reader, s, 0)) exit(1);
    const double rate = (double)set->count / (processor_seconds() - begin);
    stop_reader(&reader);
    if (failed) exit(1);
    return rate;
}

// Returns the bytes of memory that is no file, now (RssAnon) or at most (VmHWM
// counts mapped files too).
static double anonymous_bytes()
{
    char line[256];
    double bytes = 0;
    FILE *in = fopen("/proc/self/status", "r");
    while (in && fgets(line, sizeof line, in))
        if (!strncmp(line, "RssAnon:", 8)) bytes = 1024 * atof(line + 8);
    if (in) fclose(in);
    return bytes;
}

int main(int argc, char **argv)
{
    if (argc != 4) return 2;
    const int workers = atoi(argv[2]), side = atoi(argv[3]), batch = 64;
    NetTensor image = {"image", "f32", 4, {batch, side, side, 3}, 0, 0, 0, 1,
                       NO_LABEL};
    image.bytes = (size_t)tensor_elements(&image, 0) * sizeof(float);
    DataColumn column = describe_column(&image);
    if (!read_column(argv[1], &column)) return 1;
    DataSet set = {&column, 1, column.count};
    const DataArray *a = &column.parts[0].array;
    read_all(&set, workers, batch);     // brings the file into memory
    const double rate = read_all(&set, workers, batch);
    printf("%lld images, %d threads, %dx%d\n", set.count, workers, side, side);
    printf("memory of the reader %7.2f MiB\n", anonymous_bytes() / (1 << 20));
    printf("libjpeg, full size   %7.0f images/s\n",
           decode_all(a, workers, 8, false));
    printf("libjpeg, its scale   %7.0f images/s\n",
           decode_all(a, workers, 0, false));
    printf("and resized          %7.0f images/s\n",
           decode_all(a, workers, 0, true));
    printf("reader               %7.0f images/s\n", rate);
    release_memory();
    return 0;
}
