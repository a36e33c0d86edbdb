// What a training run tells while it runs: on a terminal one line that is
// written over a few times a second, with the time left for the whole run;
// elsewhere one plain line an epoch.
#pragma once
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.cuh"
#include "net.cuh"

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

// The means since the last reset: ` loss 0.1234 accuracy 0.981`.
static inline void print_means(const Net *net, const NetFigures *f)
{
    printf(" loss %.4f", f->loss_mean);
    for (int i = 0; i < net->metric_count; i++)
        printf(" %s %.3f", net->metrics[i], f->metric_mean[i]);
}

// Whether the line is due: figures wait for the device, so not after every training step.
static inline bool progress_is_due(const Progress *p)
{
    return p->terminal && clock_seconds() - p->shown >= 0.2;
}

// Writes the line over itself; `done` samples of the epoch (from 0) are through.
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
    printf("\repoch %d/%d [%s] eta %lld:%02lld", epoch + 1, p->epochs, bar, left / 60, left % 60);
    print_means(net, f);
    printf(" %.0f images/s\033[K",
           (double)(done - p->epoch_passed) / (now - p->epoch_begun + 1e-9));
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
    if (skipped && f->loss_scale == 1)
        printf("epoch %d: the loss of %llu training steps was not finite: they changed nothing\n",
               epoch + 1, skipped);
    else if (skipped)
        printf("epoch %d: a loss or gradient of %llu training steps was not finite: they changed "
               "nothing; the loss is now scaled by %g\n", epoch + 1, skipped, f->loss_scale);
    if (validation) tell_dropped(validation, count);
    fflush(stdout);
    p->epoch_begun = clock_seconds();
    p->epoch_passed = 0;
}
