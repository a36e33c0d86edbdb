// Progress of a run.  A terminal shows one line that is overwritten a few times
// a second, with the time left for the whole run.  Otherwise there is one line
// per epoch, and one every 30 seconds in between.
#pragma once
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.cuh"
#include "net.cuh"

// Seconds between two updates, on a terminal and otherwise.
static double terminal_seconds = 0.2, plain_seconds = 30;

// Progress: the state of a run of `epochs` times `samples`.
struct Progress {
    bool terminal;
    int epochs;
    long long samples;
    long long passed;           // samples of all epochs that were done when it began
    long long epoch_passed;     // the same for the current epoch
    double begun, epoch_begun, shown;
};

static inline Progress begin_progress(int epochs, long long samples, long long passed)
{
    double now = clock_seconds();
    return {isatty(fileno(stdout)) != 0, epochs, samples, passed, passed % samples, now, now, now};
}

// Prints the means since the last reset: ` loss 0.1234 accuracy 0.981`; nan if no label counts.
static inline void print_means(const Net *net, const NetFigures *f)
{
    printf(" loss %.4f", mean_loss(net, f));
    for (int i = 0; i < net->metric_count; i++)
        printf(" %s %.3f", net->metrics[i].name, mean_of(f->metrics[i]));
}

// True if the line is due.  Figures wait for the device, so they are not read after every step.
static inline bool progress_is_due(const Progress *p)
{
    return clock_seconds() - p->shown >= (p->terminal ? terminal_seconds : plain_seconds);
}

// Prints the progress line.  done: samples of the epoch (from 0) that were trained on.
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

// Returns samples per second of the epoch that ends, without validation.
static inline double epoch_speed(const Progress *p)
{
    return (double)(p->samples - p->epoch_passed) / (clock_seconds() - p->epoch_begun + 1e-9);
}

// Means exclude batches whose loss was not finite.  Prints how many of `count` samples those had.
static inline void tell_dropped(const NetFigures *f, long long count)
{
    long long dropped = count - (long long)f->samples;
    if (dropped)
        printf("%lld samples of %lld are not in these means: the loss of their batches was not "
               "finite\n", dropped, count);
}

// Prints a line for each of several losses.  epoch -1: of the test set.
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

// Prints the final line of an epoch, with validation on `count` samples (NULL: none).  Further
// lines report skipped updates, and samples without a finite loss.
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

// PassProgress: progress of one pass over a set without training, called `word`.
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

// Prints `validation 1280/50000 samples` if a line is due.
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
