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

// How much of the reader's work is done.
enum Work { DECODES_ALL, DECODES_AT_SCALE, RESIZES };

// Decodes all pixels of a sample without resizing them.
static bool decode_alone(const DataArray *a, long long at, Work work,
                         JpegWorker *w, char *why)
{
    const JpegRow *row = &a->jpegs->rows[at];
    const MapSize size = {a->dims[1], a->dims[2]};
    const ImagePart part = middle_part(jpeg_size(row, 8), size);
    const int scale = work == DECODES_ALL
                          ? 8
                          : jpeg_eighths(part.height, part.width, size);
    return w->decoder->decode(
        a->data + row->offset, row, a->dims[3], scale, why, [w](auto &decoder) {
            while (decoder.d.output_scanline < decoder.d.output_height)
                decoder.decode_line(3, w->row, w->line);
        });
}

// Decodes all files by some threads, and resizes them if told.
static double decode_all(const DataColumn *column, int workers, Work work)
{
    std::vector<std::thread> threads;
    std::atomic<long long> next(0);
    std::vector<PixelScratch> scratch;
    const DataArray *a = &column->parts[0].array;
    const MapSize size = {a->dims[1], a->dims[2]};
    for (int i = 0; i < workers; i++)
        scratch.push_back(take_scratch(column, 1, true));
    const double begin = processor_seconds();
    for (PixelScratch &s : scratch)
        threads.emplace_back([&, a, work] {
            for (long long at; (at = next++) < a->dims[0];) {
                char why[JPEG_MESSAGE];
                DataArray out = {};
                const MapSize all = jpeg_size(&a->jpegs->rows[at], 8);
                const JpegView view = {middle_part(all, size), false, false};
                if (work == RESIZES
                        ? !decode_jpeg(a, at, view, s.jpeg, s.resizer, &out)
                        : !decode_alone(a, at, work, s.jpeg, why))
                    complain("sample %lld is damaged", at), exit(1);
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
    read_all(&set, workers, batch);     // brings the file into memory
    const double rate = read_all(&set, workers, batch);
    printf("%lld images, %d threads, %dx%d\n", set.count, workers, side, side);
    printf("memory of the reader %7.2f MiB\n", anonymous_bytes() / (1 << 20));
    printf("libjpeg, full size   %7.0f images/s\n",
           decode_all(&column, workers, DECODES_ALL));
    printf("libjpeg, its scale   %7.0f images/s\n",
           decode_all(&column, workers, DECODES_AT_SCALE));
    printf("and resized          %7.0f images/s\n",
           decode_all(&column, workers, RESIZES));
    printf("reader               %7.0f images/s\n", rate);
    release_memory();
    return 0;
}
