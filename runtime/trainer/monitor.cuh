// The figure that decides on the best weights, on the end of patience and on the learning rate.
#pragma once
#include "options.cuh"

// Monitor: the total loss, one loss or one metric of the net.
struct Monitor {
    bool validation;            // of the validation set; otherwise of the training set
    int loss, metric;           // the number of the loss or metric, or -1; both -1: the total loss
    bool precision;             // the average precision of a detector, of the validation set
    bool rises;                 // more is better
    char text[128];             // `validation loss`
};

// BestFigure: the best figure so far, and its epoch from 1; 0: none yet.
struct BestFigure {
    double value;
    uint64_t epoch;
};

// True if an option of this run compares a figure of its epochs.
static inline bool is_monitored(const Trainer *t)
{
    return t->option[OPTION_BEST] || t->option[OPTION_PATIENCE] || t->option[OPTION_REDUCE];
}

// Complains of a name of --monitor that the net doesn't have.
static inline bool complain_of_monitor(const Trainer *t, const char *name)
{
    char names[512] = "loss";
    const Net *net = t->net;
    for (int i = 0; i < (net->loss_count > 1 ? net->loss_count : 0) + net->metric_count; i++) {
        const int metric = i - (net->loss_count > 1 ? net->loss_count : 0);
        const size_t length = strlen(names);
        snprintf(names + length, sizeof names - length, ", %s",
                 metric < 0 ? net->losses[i].name : net->metrics[metric].name);
    }
    return complain("--monitor %s: wanted one of %s, or val_ and one of them; or "
                    "val_average_precision, of a detector", name, names);
}

// Finds the figure of --monitor, by default the validation loss, and its better direction.  The
// names are those of Keras; `validation_`, as in the log, means `val_`.  Losses and errors fall,
// other metrics rise, unless --mode says otherwise.
static inline bool find_monitor(const Trainer *t, bool validates, Monitor *m)
{
    const Net *net = t->net;
    const char *given = t->option[OPTION_MONITOR], *name = given ? given : "val_loss";
    const char *mode = t->option[OPTION_MODE];
    *m = {false, -1, -1, false, false, {}};
    static const char *const prefixes[] = {"val_", "validation_"};
    for (const char *prefix : prefixes)
        if (!m->validation && !strncmp(name, prefix, strlen(prefix)))
            m->validation = true, name += strlen(prefix);
    for (int i = 0; net->loss_count > 1 && i < net->loss_count; i++)
        if (!strcmp(name, net->losses[i].name)) m->loss = i;
    for (int i = 0; i < net->metric_count; i++)
        if (!strcmp(name, net->metrics[i].name)) m->metric = i;
    m->precision = m->validation && m->metric < 0 && m->loss < 0 &&
                   !strcmp(name, "average_precision");
    if (strcmp(name, "loss") && m->loss < 0 && m->metric < 0 && !m->precision)
        return complain_of_monitor(t, given);
    if (mode && strcmp(mode, "min") && strcmp(mode, "max"))
        return complain("--mode %s: wanted min or max", mode);
    m->rises = mode ? !strcmp(mode, "max")
                    : m->precision || (m->metric >= 0 && net->metrics[m->metric].rises);
    snprintf(m->text, sizeof m->text, "%s %s", m->validation ? "validation" : "training",
             m->precision ? "average precision" : name);
    if (given && !is_monitored(t))
        give_warning("--monitor %s has no effect without --best, --patience or "
                     "--reduce-on-plateau", given);
    if (validates || !m->validation || !(given || is_monitored(t))) return true;
    return complain("--best, --patience and --reduce-on-plateau want a validation set: --val-split "
                    "SHARE, or --val-images and --val-labels; or --monitor loss, of training");
}

static inline const char *best_word(const Monitor *m)
{
    return m->rises ? "greatest" : "least";
}

// Returns the figure of an epoch.
static inline double monitored_figure(const Net *net, const Monitor *m, const NetFigures *f)
{
    if (m->loss >= 0) return mean_of(f->losses[m->loss]);
    return m->metric >= 0 ? mean_of(f->metrics[m->metric]) : mean_loss(net, f);
}

// True if a figure is better than the best one by more than `delta`.  One that is not finite never
// is.
static inline bool is_better(const Monitor *m, double value, double delta, const BestFigure *best)
{
    if (!isfinite(value) || !best->epoch) return isfinite(value);
    return m->rises ? value > best->value + delta : value < best->value - delta;
}
