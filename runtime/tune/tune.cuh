// The program of --tune: measures every launch in every tile and prints the GPU's file.  It prints
// at the end, so that an incomplete file never appears.
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure.cuh"

// ---- the printed file --------------------------------------------------------

// Returns microseconds of a training step in a GEMM with these tiles, or -1 if they do not fit.
static inline double product_microseconds(const TuneRun *r, const TuneProduct *p, int tile)
{
    double sum = 0;
    for (int i = p->first; i < p->first + p->count; i++) {
        if (r->found[i][tile] < 0) return -1;
        sum += r->of->launches[i].count * r->found[i][tile];
    }
    return sum;
}

// Prints the fastest tile, the first of equal ones.  At least two tiles fit every GEMM.
static inline void print_product(const TuneRun *r, const TuneProduct *p)
{
    const Tuning *const t = r->of;
    int best = -1;
    double least = 0;
    printf("\n#");
    for (int i = p->first; i < p->first + p->count; i++)
        printf("%s %d %s", i > p->first ? "," : "", t->launches[i].count, t->launches[i].name);
    printf("\n#");
    for (int i = 0; i < t->tile_count; i++) {
        const double microseconds = product_microseconds(r, p, i);
        if (microseconds < 0) continue;
        printf("%s %s%s %.2f", best >= 0 ? "," : "", t->tiles[i],
               i == p->modelled ? " (model)" : "", microseconds);
        if (best >= 0 && microseconds >= least) continue;
        best = i;
        least = microseconds;
    }
    printf("\ntile %s = %s\n", p->key, t->tiles[best]);
}

// Compares the device with the one of the file's lines, and warns if they differ.
static inline void compare_device(const Tuning *t, const cudaDeviceProp *device)
{
    const int sm = 10 * device->major + device->minor;
    const long long shared = (long long)device->sharedMemPerMultiprocessor;
    if (sm == t->sm && device->multiProcessorCount == t->multiprocessors && shared == t->shared)
        return;
    complain("the lines of %s say sm_%d, %d multiprocessors, %lld bytes of shared memory in each; "
             "%s has sm_%d, %d, %lld", t->gpu, t->sm, t->multiprocessors, t->shared, device->name,
             sm, device->multiProcessorCount, shared);
}

static inline bool print_file(const TuneRun *r, const cudaDeviceProp *device)
{
    const Tuning *const t = r->of;
    printf("# %s, with the fastest tiles for the GEMMs of `%s` in %s on\n# %s.\n%s",
           t->gpu, t->net, t->precision, device->name, t->lines);
    printf("\n# The comment above each line: the launches of a training step with this GEMM, and\n"
           "# their total microseconds with tiles of each size; (model): the size that the\n"
           "# model of the GPU chooses.\n");
    for (int i = 0; i < t->product_count; i++) print_product(r, &t->products[i]);
    return (!fflush(stdout) && !ferror(stdout)) || complain("standard output can't be written");
}

// ---- the run ----------------------------------------------------------------

// Allocates all resources of a run.
static inline bool begin_tuning(TuneRun *r, cudaDeviceProp *device)
{
    const Tuning *const t = r->of;
    int number = 0;
    cudaError_t error = cudaGetDevice(&number);
    if (error == cudaSuccess) error = cudaGetDeviceProperties(device, number);
    if (error == cudaSuccess) error = cudaStreamCreate(&r->stream);
    if (error == cudaSuccess) error = cudaEventCreate(&r->begin);
    if (error == cudaSuccess) error = cudaEventCreate(&r->end);
    if (error != cudaSuccess) return complain("no device: %s", cudaGetErrorString(error));
    r->found = (double (*)[TUNE_TILES])calloc((size_t)t->launch_count + 1, sizeof *r->found);
    if (!r->found) return complain("no memory for %d launches' times", t->launch_count);
    error = cudaMalloc(&r->arena.base, t->arena_bytes);
    return error == cudaSuccess || complain("%zu bytes of device memory, for the largest product: "
                                            "%s", t->arena_bytes, cudaGetErrorString(error));
}

static inline bool measure_all(const TuneRun *r, double seconds)
{
    const int count = r->of->launch_count;
    const bool terminal = isatty(fileno(stderr)) != 0;
    const double until = clock_seconds() + seconds;
    for (int i = 0; i < count; i++) {
        if (terminal) fprintf(stderr, "\r%d of %d launches", i + 1, count);
        if (!measure_launch(r, i, (until - clock_seconds()) / (count - i))) return false;
    }
    if (terminal) fprintf(stderr, "\n");
    return true;
}

static inline void end_tuning(const TuneRun *r)
{
    cudaFree(r->arena.base);
    if (r->end) cudaEventDestroy(r->end);
    if (r->begin) cudaEventDestroy(r->begin);
    if (r->stream) cudaStreamDestroy(r->stream);
    free(r->found);
}

// ---- the command line -------------------------------------------------------

static inline void print_tune_usage(FILE *out)
{
    fprintf(out, "%s [--seconds S] > FILE.gpu\n\n"
            "Times the products of a training step in tiles of every size, for about S seconds in\n"
            "all (60), each launch %d times at least, and prints a GPU's file for cnnc --gpu.\n",
            program_name, TUNE_LEAST);
}

// Parses a number above 0; false, with a message, if it is not.
static inline bool parse_seconds(int argc, char **argv, double *seconds)
{
    char *end = nullptr;
    *seconds = 60;
    if (argc == 1) return true;
    if (argc != 3 || strcmp(argv[1], "--seconds")) return complain("wanted --seconds S or nothing");
    *seconds = strtod(argv[2], &end);
    return (end != argv[2] && !*end && *seconds > 0 && *seconds <= 1e6) ||
           complain("--seconds is a number above 0, up to 1000000, not '%s'", argv[2]);
}

// Runs the program; main() calls it with its net.
static inline int tune_main(const Tuning *t, int argc, char **argv)
{
    TuneRun r = {};
    cudaDeviceProp device;
    double seconds = 0;
    const char *const slash = strrchr(argv[0], '/');
    program_name = slash ? slash + 1 : argv[0];
    if (argc == 2 && !strcmp(argv[1], "--help")) return print_tune_usage(stdout), 0;
    if (!parse_seconds(argc, argv, &seconds)) return print_tune_usage(stderr), 2;
    r.of = t;
    const bool measured = begin_tuning(&r, &device) && measure_all(&r, seconds);
    if (measured) compare_device(t, &device);
    const bool good = measured && print_file(&r, &device);
    end_tuning(&r);
    return !good;
}
