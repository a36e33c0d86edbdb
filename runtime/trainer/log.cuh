// The logs of a training run: CSV with a line per epoch or per some training steps, and files for
// TensorBoard.
#pragma once
#include "events.cuh"
#include "progress.cuh"
#include "state.cuh"

// RunLogs: those that the command line asks for; the others are NULL.
struct RunLogs {
    FILE *epochs, *steps;
    EventFile training, validation;
    double row_begun;           // of the time that the next row of a step counts
    long long row_samples;      // samples since then
};

// Writes the names of the columns of log_means.
static inline void name_means(FILE *log, const Net *net, const char *prefix)
{
    fprintf(log, ",%sloss", prefix);
    for (int i = 0; net->loss_count > 1 && i < net->loss_count; i++)
        fprintf(log, ",%s%s", prefix, net->losses[i].name);
    for (int i = 0; i < net->metric_count; i++)
        fprintf(log, ",%s%s", prefix, net->metrics[i].name);
}

// Writes the names of a log's columns.
static inline void name_columns(FILE *log, const Net *net, bool of_steps, bool validates)
{
    fprintf(log, of_steps ? "step,epoch,samples,loss" : "step,epoch");
    for (int i = 0; of_steps && i < net->metric_count; i++)
        fprintf(log, ",%s", net->metrics[i].name);
    if (!of_steps) name_means(log, net, "");
    if (!of_steps && validates) name_means(log, net, "validation_");
    fprintf(log, ",skipped_steps,rate,images_per_second\n");
}

// Writes the loss, each of several losses, and the metrics; nan if no label counts.
static inline void log_means(FILE *log, const Net *net, const NetFigures *f)
{
    fprintf(log, ",%.9g", mean_loss(net, f));
    for (int i = 0; net->loss_count > 1 && i < net->loss_count; i++)
        fprintf(log, ",%.9g", mean_of(f->losses[i]));
    for (int i = 0; i < net->metric_count; i++) fprintf(log, ",%.9g", mean_of(f->metrics[i]));
}

// Returns the bytes of the lines before the first whose number in a column is above `last`.
static inline size_t kept_bytes(const FileBytes *old, int column, uint64_t last)
{
    size_t kept = 0;
    uint64_t number = 0;
    for (size_t i = 0, field = 0; i < old->size; i++) {
        const unsigned char c = old->bytes[i];
        if (c >= '0' && c <= '9' && field == (size_t)column) number = 10 * number + (c - '0');
        if (c == '\n' && number > last) break;
        field = c == '\n' ? 0 : field + (c == ',');
        if (c == '\n') kept = i + 1, number = 0;
    }
    return kept;
}

// Opens a log.  A resumed run keeps the lines of `last` steps or epochs, which are over.
static inline bool open_log(const Net *net, const char *path, bool of_steps, bool validates,
                            uint64_t last, FILE **log)
{
    FileBytes old = {};
    struct stat status;
    BesideFile file;
    if (!path) return true;
    if (last && !stat(path, &status) && status.st_size && !map_file(path, &old)) return false;
    const size_t kept = kept_bytes(&old, of_steps ? 0 : 1, last);
    if (!open_beside(path, &file)) return false;
    if (kept) fwrite(old.bytes, 1, kept, file.out);
    else name_columns(file.out, net, of_steps, validates);
    if (!close_beside(&file, true)) return false;
    *log = fopen(path, "ab");
    return *log || complain("%s: can't be written: %s", path, strerror(errno));
}

// Opens the logs of a run that has taken `steps` training steps in the epochs that are over.
static inline bool open_logs(const Trainer *t, bool validates, uint64_t epochs, uint64_t steps,
                             RunLogs *logs)
{
    const Net *net = t->net;
    const char *folder = t->option[OPTION_TENSORBOARD];
    return open_log(net, t->option[OPTION_LOG], false, validates, epochs, &logs->epochs) &&
           open_log(net, t->option[OPTION_LOG_STEPS], true, false, steps, &logs->steps) &&
           (!folder || open_events(net, folder, "train", steps, &logs->training)) &&
           (!folder || !validates ||
            open_events(net, folder, "validation", steps, &logs->validation));
}

// Closes a file after a run.  Returns false after a complaint: bytes of it were lost.
static inline bool close_log(FILE *log, const char *path)
{
    return !log || !fclose(log) || complain("%s: can't be written: %s", path, strerror(errno));
}

static inline bool close_logs(const Trainer *t, RunLogs *logs)
{
    const bool csv = close_log(logs->epochs, t->option[OPTION_LOG]);
    const bool steps = close_log(logs->steps, t->option[OPTION_LOG_STEPS]);
    const bool training = close_log(logs->training.out, logs->training.path);
    return close_log(logs->validation.out, logs->validation.path) && csv && steps && training;
}

static inline bool flush_log(FILE *log, const char *path)
{
    return (!fflush(log) && !ferror(log)) ||
           complain("%s: can't be written: %s", path, strerror(errno));
}

// Appends an epoch to the logs; tags and step are those of Keras.  validation: NULL without it.
static inline bool log_epoch(const Trainer *t, RunLogs *logs, const NetFigures *f, uint64_t epoch,
                             double speed, const NetFigures *validation,
                             unsigned long long skipped)
{
    const Net *net = t->net;
    if (FILE *log = logs->epochs) {
        fprintf(log, "%llu,%llu", f->step, (unsigned long long)epoch + 1);
        log_means(log, net, f);
        if (validation) log_means(log, net, validation);
        fprintf(log, ",%llu,%.9g,%.1f\n", skipped, f->rate, speed);
        if (!flush_log(log, t->option[OPTION_LOG])) return false;
    }
    if (!logs->training.out) return true;
    write_means(&logs->training, "epoch_", net, f, epoch);
    write_scalar(&logs->training, "epoch_", "learning_rate", epoch, f->rate);
    if (validation) write_means(&logs->validation, "epoch_", net, validation, epoch);
    return flush_events(&logs->training, true) &&
           (!validation || flush_events(&logs->validation, true));
}

// Appends the batch of the last training step, which ended at sample `done` of an epoch.
static inline bool log_step(const Trainer *t, RunLogs *logs, const NetFigures *f, uint64_t epoch,
                            long long done, unsigned long long skipped)
{
    const Net *net = t->net;
    const double now = clock_seconds();
    const double speed = (double)logs->row_samples / (now - logs->row_begun + 1e-9);
    logs->row_begun = now;
    logs->row_samples = 0;
    if (FILE *log = logs->steps) {
        fprintf(log, "%llu,%llu,%lld,%.9g", f->step, (unsigned long long)epoch + 1, done, f->loss);
        for (int i = 0; i < net->metric_count; i++) fprintf(log, ",%.9g", f->metric[i]);
        fprintf(log, ",%llu,%.9g,%.1f\n", skipped, f->rate, speed);
        if (!flush_log(log, t->option[OPTION_LOG_STEPS])) return false;
    }
    if (!logs->training.out) return true;
    write_scalar(&logs->training, "batch_", "loss", f->step, f->loss);
    for (int i = 0; i < net->metric_count; i++)
        write_scalar(&logs->training, "batch_", net->metrics[i].name, f->step, f->metric[i]);
    write_scalar(&logs->training, "batch_", "learning_rate", f->step, f->rate);
    return flush_events(&logs->training, false);
}
