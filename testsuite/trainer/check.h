// Shared by all tests of the trainer: checks, the words of complaints, files,
// data sets, runs of the program.
#pragma once
#include <cuda_runtime.h>
#include <stdlib.h>
#include <unistd.h>

#include "linear_net.h"

// The trainer's events are the net's: it copies its inputs no sooner than it
// must.
#define cudaEventRecord linear_record
#define cudaEventSynchronize linear_synchronize
#define cudaStreamSynchronize linear_stream_wait
#include "../../runtime/trainer/main.cuh"

static int failures;
static FILE *report; // the error stream as it was

#define CHECK(condition) check((condition), #condition, __FILE__, __LINE__)

static void check(bool good, const char *text, const char *file, int line)
{
    if (good) return;
    failures++;
    fprintf(report, "%s:%d: %s\n", file, line, text);
}

// True if the error stream has these words since the last call; empties it.
static bool complained(const char *words)
{
    char text[8192] = "";
    fflush(stderr);
    FILE *in = fopen("complaints", "r");
    size_t length = in ? fread(text, 1, sizeof text - 1, in) : 0;
    text[length] = 0;
    if (in) fclose(in);
    if (!freopen("complaints", "w", stderr)) exit(1);
    if (strstr(text, words)) return true;
    fprintf(report, "wanted \"%s\", found \"%s\"\n", words, text);
    return false;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(bytes, 1, size, out) != size || fclose(out)) exit(1);
}

// A file's text, in memory that the next call takes.
static const char *text_of(const char *path)
{
    static char text[1 << 14];
    FILE *in = fopen(path, "r");
    size_t length = in ? fread(text, 1, sizeof text - 1, in) : 0;
    text[length] = 0;
    if (in) fclose(in);
    return text;
}

// Field `number` of line `line` of a CSV file, as a number.
static double field_of(const char *path, int line, int number)
{
    const char *at = text_of(path);
    while (line-- && at) at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
    while (at && number--) at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL;
    CHECK(at && *at);
    return at ? atof(at) : NAN;
}

static int lines_of(const char *path)
{
    int lines = 0;
    for (const char *at = text_of(path); *at; at++) lines += *at == '\n';
    return lines;
}

// True if the program has printed these words since the last call; forgets
// them.
static bool told(const char *words)
{
    static char text[1 << 16];
    fflush(stdout);
    FILE *in = fopen("output", "r");
    size_t length = in ? fread(text, 1, sizeof text - 1, in) : 0;
    text[length] = 0;
    if (in) fclose(in);
    if (!freopen("output", "w", stdout)) exit(1);
    if (strstr(text, words)) return true;
    fprintf(report, "wanted \"%s\", found \"%s\"\n", words, text);
    return false;
}

// True if the folder has neither a temporary file nor a lock.
static bool nothing_is_left()
{
    bool clean = true;
    DIR *list = opendir(".");
    while (struct dirent *entry = list ? readdir(list) : NULL) {
        const char *end = strrchr(entry->d_name, '.');
        clean = clean && !(end && (!strcmp(end, ".tmp") || !strcmp(end, ".lock")));
    }
    if (list) closedir(list);
    return list && clean;
}

// True if two files have the same bytes.
static bool same_files(const char *path, const char *other)
{
    FileBytes a = {}, b = {};
    return map_file(path, &a) && map_file(other, &b) && a.size == b.size &&
           !memcmp(a.bytes, b.bytes, a.size);
}

// `count` images of two bars, whose place is the label, with some noise.
static void write_set(const char *kind, int count, int height, int classes)
{
    char path[64];
    static unsigned char images[16 + 200 * PIXELS], labels[8 + 200];
    const unsigned char head[] = {0, 0, 8, 3,
                                  0, 0, 0, (unsigned char)count,
                                  0, 0, 0, (unsigned char)height,
                                  0, 0, 0, 8};
    memcpy(images, head, 16);
    memcpy(labels, head, 8);
    labels[3] = 1;
    for (int n = 0; n < count; n++) {
        labels[8 + n] = (unsigned char)(n * 7 % classes);
        for (int i = 0; i < 8 * height; i++)
            images[16 + n * 8 * height + i] =
                (unsigned char)(splitmix64(n * 64 + i) % 64 +
                                128 * (i % 10 == labels[8 + n]));
    }
    snprintf(path, sizeof path, "%s-images-idx3-ubyte", kind);
    write_file(path, images, 16 + (size_t)(count * 8 * height));
    snprintf(path, sizeof path, "%s-labels-idx1-ubyte", kind);
    write_file(path, labels, 8 + (size_t)count);
}

// Runs the program with the words of a line; its exit status.
static int run(const char *line, bool trains = true)
{
    char text[512], *argv[32] = {};
    int argc = 1;
    Net net = linear_net(trains);
    static char name[] = "linear"; // complaints begin with it, later too
    argv[0] = name;
    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    return trainer_main(&net, argc, argv);
}
