// The log of a training run: CSV, a line an epoch.
#pragma once
#include "progress.cuh"
#include "state.cuh"

// Begins a log, or, where epochs are over already (a run that goes on), keeps their lines of the
// one that is there.
static inline bool open_log(const Net *net, const char *path, bool validates, uint64_t epochs,
                            FILE **log)
{
    FileBytes old = {};
    struct stat status;
    size_t kept = 0, lines = 0;
    if (epochs && !stat(path, &status) && !map_file(path, &old)) return false;
    for (size_t i = 0; i < old.size && lines <= epochs; i++)
        if (old.bytes[i] == '\n') kept = i + 1, lines++;
    BesideFile file;
    if (!open_beside(path, &file)) return false;
    if (kept) fwrite(old.bytes, 1, kept, file.out);
    if (!kept) {
        fprintf(file.out, "step,epoch,loss");
        for (int i = 0; i < net->metric_count; i++) fprintf(file.out, ",%s", net->metrics[i]);
        if (validates) fprintf(file.out, ",validation_loss");
        for (int i = 0; validates && i < net->metric_count; i++)
            fprintf(file.out, ",validation_%s", net->metrics[i]);
        fprintf(file.out, ",rate,images_per_second\n");
    }
    if (!close_beside(&file, true)) return false;
    *log = fopen(path, "ab");
    return *log || complain("%s: can't be written: %s", path, strerror(errno));
}

static inline void log_means(FILE *log, const Net *net, const NetFigures *f)
{
    fprintf(log, ",%.9g", f->loss_mean);
    for (int i = 0; i < net->metric_count; i++) fprintf(log, ",%.9g", f->metric_mean[i]);
}

// Adds an epoch's line.
static inline bool log_epoch(FILE *log, const char *path, const Net *net, const NetFigures *f,
                             int epoch, double speed, const NetFigures *validation)
{
    fprintf(log, "%llu,%d", f->step, epoch + 1);
    log_means(log, net, f);
    if (validation) log_means(log, net, validation);
    fprintf(log, ",%.9g,%.1f\n", f->rate, speed);
    return (!fflush(log) && !ferror(log)) ||
           complain("%s: can't be written: %s", path, strerror(errno));
}
