// The log of a training run: CSV, one line per epoch.
#pragma once
#include "progress.cuh"
#include "state.cuh"

// Writes the names of the columns of log_means.
static inline void name_means(FILE *log, const Net *net, const char *prefix)
{
    fprintf(log, ",%sloss", prefix);
    for (int i = 0; net->loss_count > 1 && i < net->loss_count; i++)
        fprintf(log, ",%s%s", prefix, net->losses[i].name);
    for (int i = 0; i < net->metric_count; i++)
        fprintf(log, ",%s%s", prefix, net->metrics[i].name);
}

// Writes the loss, each of several losses, and the metrics; nan if no label counts.
static inline void log_means(FILE *log, const Net *net, const NetFigures *f)
{
    fprintf(log, ",%.9g", mean_loss(net, f));
    for (int i = 0; net->loss_count > 1 && i < net->loss_count; i++)
        fprintf(log, ",%.9g", mean_of(f->losses[i]));
    for (int i = 0; i < net->metric_count; i++) fprintf(log, ",%.9g", mean_of(f->metrics[i]));
}

// Opens a log.  A resumed run keeps the lines of the `epochs` epochs that are over.
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
    else {
        fprintf(file.out, "step,epoch");
        name_means(file.out, net, "");
        if (validates) name_means(file.out, net, "validation_");
        fprintf(file.out, ",skipped_steps,rate,images_per_second\n");
    }
    if (!close_beside(&file, true)) return false;
    *log = fopen(path, "ab");
    return *log || complain("%s: can't be written: %s", path, strerror(errno));
}

// Appends the line of an epoch.
static inline bool log_epoch(FILE *log, const char *path, const Net *net, const NetFigures *f,
                             int epoch, double speed, const NetFigures *validation,
                             unsigned long long skipped)
{
    fprintf(log, "%llu,%d", f->step, epoch + 1);
    log_means(log, net, f);
    if (validation) log_means(log, net, validation);
    fprintf(log, ",%llu,%.9g,%.1f\n", skipped, f->rate, speed);
    return (!fflush(log) && !ferror(log)) ||
           complain("%s: can't be written: %s", path, strerror(errno));
}
