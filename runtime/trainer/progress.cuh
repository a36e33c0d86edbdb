// What a run tells while it runs: on a terminal one line that is written over a
// few times a second, with the time left for the whole run; elsewhere a plain
// line an epoch, and one every half a minute in between.
#pragma once
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.cuh"
#include "net.cuh"

// Seconds between two lines: of one that is written over, and of plain ones.
static double terminal_seconds = 0.2, plain_seconds = 30;

// Progress: of a run of `epochs` times `samples`.
struct Progress {
    bool terminal;
    int epochs;
    long long samples;
    long long passed;           // samples that were through when it began, of all epochs
    long long epoch_passed;     // likewise of the epoch
    double begun, epoch_begun, shown;
};

static inline Progress begin_progress(int epochs, long long samples, long long passed)
{
    double now = clock_seconds();
    return {isatty(fileno(stdout)) != 0, epochs, samples, passed, passed % samples, now, now, now};
}

// The means since the last reset: ` loss 0.1234 accuracy 0.981`; nan: nothing counts.
static inline void print_means(const Net *net, const NetFigures *f)
{
    printf(" loss %.4f", mean_loss(net, f));
    for (int i = 0; i < net->metric_count; i++)
        printf(" %s %.3f", net->metrics[i].name, mean_of(f->metrics[i]));
}

// Whether the line is due: figures wait for the device, so not after every training step.
static inline bool progress_is_due(const Progress *p)
{
    return clock_seconds() - p->shown >= (p->terminal ? terminal_seconds : plain_seconds);
}

// Writes the line, on a terminal over itself; `done` samples of the epoch (from 0) are through.
static inline void show_progress(Progress *p, const Net *net, const NetFigures *f, int epoch,
                                 long long done)
{
    enum { WIDTH = 20 };
    char bar[WIDTH + 1];
    int filled = (int)(WIDTH * done / p->samples);
    memset(bar, '=', WIDTH);
    if (filled < WIDTH) memset(bar + filled, ' ', (size_t)(WIDTH - filled)), bar[filled] = '>';
    bar[WIDTH] = 0;
    double now = clock_seconds(), all = (double)p->samples * p->epochs;
    double passed = (double)p->samples * epoch + (double)done;
    double here = passed - (double)p->passed;
    long long left = llround((now - p->begun) * (all - passed) / here);
    if (p->terminal) printf("\repoch %d/%d [%s]", epoch + 1, p->epochs, bar);
    else printf("epoch %d/%d %lld/%lld samples", epoch + 1, p->epochs, done, p->samples);
    printf(" eta %lld:%02lld", left / 60, left % 60);
    print_means(net, f);
    printf(" %.0f images/s%s", (double)(done - p->epoch_passed) / (now - p->epoch_begun + 1e-9),
           p->terminal ? "\033[K" : "\n");
    fflush(stdout);
    p->shown = now;
}

// Samples a second of the epoch that is ending; validation that follows is not in it.
static inline double epoch_speed(const Progress *p)
{
    return (double)(p->samples - p->epoch_passed) / (clock_seconds() - p->epoch_begun + 1e-9);
}

// Means leave out batches whose loss was not finite: says how many samples of count were in those.
static inline void tell_dropped(const NetFigures *f, long long count)
{
    long long dropped = count - (long long)f->samples;
    if (dropped)
        printf("%lld samples of %lld are not in these means: the loss of their batches was not "
               "finite\n", dropped, count);
}

// Of several losses a line for each; epoch -1: of the test set.
static inline void print_losses(const Net *net, const NetFigures *f, int epoch, int epochs,
                                const NetFigures *validation)
{
    for (int i = 0; net->loss_count > 1 && i < net->loss_count; i++) {
        if (epoch < 0) printf("test");
        else printf("epoch %d/%d", epoch + 1, epochs);
        printf(" loss %s %.4f", net->losses[i].name, mean_of(f->losses[i]));
        if (validation) printf(", validation %.4f", mean_of(validation->losses[i]));
        printf("\n");
    }
}

// The line that stays when an epoch is over, with what validation (NULL: none) of so many samples
// gave; steps without an update, and samples without a loss, are told below it.
static inline void end_epoch(Progress *p, const Net *net, const NetFigures *f, int epoch,
                             double speed, const NetFigures *validation, long long count,
                             unsigned long long skipped)
{
    if (p->terminal) printf("\r\033[K");
    printf("epoch %d/%d", epoch + 1, p->epochs);
    print_means(net, f);
    printf(" %.0f images/s", speed);
    if (validation) {
        printf(", validation");
        print_means(net, validation);
    }
    printf("\n");
    print_losses(net, f, epoch, p->epochs, validation);
    if (skipped && f->loss_scale == 1)
        printf("epoch %d: the loss of %llu training steps was not finite: they changed nothing\n",
               epoch + 1, skipped);
    else if (skipped)
        printf("epoch %d: a loss or gradient of %llu training steps was not finite: they changed "
               "nothing; the loss is now scaled by %g\n", epoch + 1, skipped, f->loss_scale);
    if (validation) tell_dropped(validation, count);
    fflush(stdout);
    p->epoch_begun = p->shown = clock_seconds();
    p->epoch_passed = 0;
}

// PassProgress: of one pass over a set without training: `word` says what it is for.
struct PassProgress {
    const char *word;
    bool terminal;
    long long samples;
    double shown;
};

static inline PassProgress begin_pass_progress(const char *word, long long samples)
{
    return {word, isatty(fileno(stdout)) != 0, samples, clock_seconds()};
}

// Writes `validation 1280/50000 samples` where such a line is due.
static inline void show_pass(PassProgress *p, long long done)
{
    double now = clock_seconds();
    if (now - p->shown < (p->terminal ? terminal_seconds : plain_seconds)) return;
    printf("%s%s %lld/%lld samples%s", p->terminal ? "\r" : "", p->word, done, p->samples,
           p->terminal ? "\033[K" : "\n");
    fflush(stdout);
    p->shown = now;
}

static inline void end_pass_progress(const PassProgress *p)
{
    if (p->terminal) printf("\r\033[K");
}
