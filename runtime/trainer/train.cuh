// A training run: epochs over the training set, each in its own order.  After
// each epoch come the requested validation, log line, best weights and state.
// All memory is allocated before the first batch.
#pragma once
#include <math.h>
#include "augmentation_options.cuh"
#include "evaluate.cuh"
#include "log.cuh"
#include "sparsity.cuh"
#include "stop.cuh"
#include "trace.cuh"

// TrainingRun: sets, orders, the position, and output files.
struct TrainingRun {
    Trainer *trainer;
    DataSet set, val, test;
    bool validates, tests;
    long long *members;             // samples to train on; NULL: all
    long long *held_out;            // samples to validate on; NULL: the set val
    long long member_count, val_count;
    long long *order;               // of the current epoch
    RunPosition position;
    RunSettings settings;
    Monitor monitor;                // the figure that decides on the best epoch
    DetectionCounts detection;      // if that is the average precision
    double precision;               // of the last validation
    Progress progress;
    RunLogs logs;
    RunTrace trace;
    SafeTensor *weights;
    int weight_count;           // without scales of maps, which follow
    int saved_count;            // with them
    SafeTensor *best;               // weights of the best epoch, or NULL
    bool has_best;                  // found since the run began or was resumed
    RunState state;
};

// Splits the training set: the seed draws the share for validation.  Both parts keep their order.
static inline bool split_set(TrainingRun *run)
{
    const Trainer *t = run->trainer;
    long long count = run->set.count, held = llround((double)count * t->val_split);
    if (held < 1 || held >= count)
        return complain("--val-split %s: wanted at least one sample of %lld on either side",
                        t->option[OPTION_VAL_SPLIT], count);
    long long *drawn = (long long *)take_memory((size_t)count * sizeof *drawn);
    bool *out = (bool *)take_memory((size_t)count);
    // This number is not that of an epoch, so no epoch uses the same order.
    shuffle_order(drawn, count, (uint64_t)t->seed, UINT64_MAX);
    for (long long i = 0; i < held; i++) out[drawn[i]] = true;
    run->members = (long long *)take_memory((size_t)count * sizeof *run->members);
    run->held_out = (long long *)take_memory((size_t)held * sizeof *run->held_out);
    for (long long i = 0; i < count; i++)
        if (out[i]) run->held_out[run->val_count++] = i;
        else run->members[run->member_count++] = i;
    return true;
}

// True if all sets that name their classes have the same names.  The net's labels limit their
// number.
static inline bool classes_agree(const Trainer *t, const DataSet *const *sets, int set_count)
{
    ClassNames first = {};
    int classes = 0;
    for (int i = 0; i < t->net->input_count; i++)
        if (t->net->inputs[i].rank == 1 && t->net->inputs[i].classes > classes)
            classes = t->net->inputs[i].classes;
    for (int i = 0; i < set_count && classes; i++) {
        ClassNames names = {};
        if (!name_classes(t, sets[i], classes, &names) || !names_agree(&first, &names))
            return false;
        if (!first.path) first = names;
    }
    return true;
}

// Reads the sets.  Validation and test sets are optional.
static inline bool read_sets(TrainingRun *run)
{
    const Trainer *t = run->trainer;
    DataSet *const sets[] = {&run->set, &run->val, &run->test};
    for (DataSet *set : sets)
        if (!describe_set(t, set)) return false;
    bool split = t->option[OPTION_VAL_SPLIT] != NULL;
    bool val = !split && is_set_given(t, SET_VAL, &run->val);
    run->validates = split || val;
    run->tests = is_set_given(t, SET_TEST, &run->test);
    return find_monitor(t, run->validates, &run->monitor) &&
           read_set(t, SET_TRAIN, false, &run->set) &&
           (!val || read_set(t, SET_VAL, false, &run->val)) &&
           (!run->tests || read_set(t, SET_TEST, false, &run->test)) &&
           sources_are_read(t, sets, 3) && classes_agree(t, sets, 3);
}

// True if this command can resume the run of --resume, which is at p and had these settings.
static inline bool can_resume(const TrainingRun *run, const RunPosition *p,
                              const RunSettings *settings)
{
    const Trainer *t = run->trainer;
    const char *path = t->option[OPTION_RESUME], *best = t->option[OPTION_BEST];
    if (!settings_agree(path, settings, &run->settings)) return false;
    if (p->epoch > (uint64_t)t->epochs)
        return complain("%s: %llu epochs of its run are over: wanted no fewer, found %lld", path,
                        (unsigned long long)p->epoch, t->epochs);
    if (best && p->best.epoch && access(best, F_OK))
        return complain("--best %s: wanted the file with the weights of epoch %llu, which had the "
                        "%s %s of the run", best, (unsigned long long)p->best.epoch,
                        best_word(&run->monitor), run->monitor.text);
    if (p->set_samples != (uint64_t)run->member_count)
        return complain("%s: was trained on %llu samples, and here are %lld", path,
                        (unsigned long long)p->set_samples, run->member_count);
    return p->samples <= p->set_samples ||
           complain("%s: is at sample %llu of %llu", path, (unsigned long long)p->samples,
                    (unsigned long long)p->set_samples);
}

// Imports the state of --resume.  Its seed stays valid, so that the order continues.
static inline bool resume_run(TrainingRun *run, const FileBytes *file, const RunPosition *p)
{
    const Trainer *t = run->trainer;
    run->position = *p;
    return call_ok(t->net, t->net->import_state(state_of_run(t->net, file), t->net->state_bytes)) ||
           complain("%s: is no state of %s", t->option[OPTION_RESUME], t->net->name);
}

// Sets the learning rate of --lr, unless a state has one, and notes it for --reduce-on-plateau.
static inline bool begin_rate(TrainingRun *run)
{
    const Trainer *t = run->trainer;
    NetFigures f;
    if (t->option[OPTION_RESUME]) return true;
    if (!give_rate(t)) return false;
    if (!t->option[OPTION_REDUCE]) return true;
    if (!call_ok(t->net, t->net->figures(&f, 0))) return false;
    run->position.rate = f.rate;
    return true;
}

// Captures a training step on each buffer as a CUDA graph.
static inline bool prepare_steps(Trainer *t)
{
    const Net *net = t->net;
    size_t *bytes = (size_t *)take_memory((size_t)net->input_count * sizeof *bytes);
    bool good = true;
    for (int i = 0; i < net->input_count; i++) bytes[i] = net->inputs[i].bytes;
    for (Staging &s : t->reader.staging) good = good && call_ok(net, net->prepare(s.data, bytes));
    return good;
}

// Returns the training steps on the first `samples` of an epoch.
static inline uint64_t steps_of(const TrainingRun *run, long long samples)
{
    const int batch = run->trainer->net->batch;
    return (uint64_t)((samples + batch - 1) / batch);
}

// Returns the training steps that a run at this position has taken.
static inline uint64_t run_step(const TrainingRun *run, const RunPosition *p)
{
    return p->epoch * steps_of(run, run->member_count) + steps_of(run, (long long)p->samples);
}

// Warns of options without effect.
static inline void warn_of_useless(const TrainingRun *run)
{
    const Trainer *t = run->trainer;
    const long long steps = (long long)steps_of(run, run->member_count);
    if (t->option[OPTION_SAVE_EVERY] && t->save_every >= steps)
        give_warning("--save-every %lld has no effect: an epoch has %lld training steps, and the "
                     "state is saved after it", t->save_every, steps);
    if (t->patience && t->patience >= t->epochs)
        give_warning("--patience %lld has no effect: there are no more than %lld epochs",
                     t->patience, t->epochs);
}

// Claims the files that the run writes, so that no other run can write them.
static inline bool claim_outputs(const Trainer *t)
{
    const char *folder = t->option[OPTION_TENSORBOARD];
    if (!paths_differ(t, 1 << SET_TRAIN | 1 << SET_VAL | 1 << SET_TEST, true) ||
        (folder && !make_folder(folder)))
        return false;
    for (int option : claimed_options)
        if (t->option[option] && !claim_output(t->option[option])) return false;
    bool good = true;
    for (int option : claimed_options)
        good = good && (!t->option[option] || can_write(t->option[option]));
    return good;
}

// Does everything before the first step: data, files, memory, the net.
static inline bool begin_run(TrainingRun *run)
{
    Trainer *t = run->trainer;
    const Net *net = t->net;
    FileBytes file = {};
    RunPosition position = {};
    RunSettings settings = {};
    const char *resume = t->option[OPTION_RESUME];
    if (!claim_outputs(t)) return false;
    if (resume && !read_run(net, resume, &file, &position, &settings)) return false;
    if (resume && t->option[OPTION_SEED] && position.seed != (uint64_t)t->seed)
        return complain("%s: was trained with seed %llu, not %lld", resume,
                        (unsigned long long)position.seed, t->seed);
    if (resume) t->seed = (long long)position.seed;
    if (!read_sets(run) || !augmentation_fits(t, &run->set)) return false;
    run->member_count = run->set.count;
    run->val_count = run->val.count;
    if (t->option[OPTION_VAL_SPLIT]) {
        run->member_count = run->val_count = 0;
        if (!split_set(run)) return false;
    }
    const DataSet *const held = t->option[OPTION_VAL_SPLIT] ? &run->set : &run->val;
    if (run->monitor.precision && !begin_detection(net, held, &run->detection))
        return complain("--monitor val_average_precision: wanted a detector, with inputs of boxes "
                        "and their classes, and outputs of boxes and of chances");
    run->settings = settings_of(t, &run->set, &run->val, &run->monitor);
    if (resume && !can_resume(run, &position, &settings)) return false;
    if (!plan_trace(t, run_step(run, &position),
                    (uint64_t)t->epochs * steps_of(run, run->member_count), &run->trace))
        return false;
    warn_of_useless(run);
    run->order = (long long *)take_memory((size_t)run->set.count * sizeof *run->order);
    const size_t most = (size_t)net->param_count + (size_t)net->state_count;
    run->weights = (SafeTensor *)take_memory(most * sizeof *run->weights);
    add_list(inferred_of(net), run->weights, &run->weight_count);
    run->saved_count = run->weight_count;
    for (int i = 0; i < net->state_count; i++) {
        const NetTensor *scale = &net->state[i];
        if (is_trained_scale(scale->name, scale->rank, scale->shape))
            add_list({"state", scale, 1}, run->weights, &run->saved_count);
    }
    if (t->option[OPTION_BEST] || t->option[OPTION_PATIENCE]) {
        int count = 0;
        run->best = (SafeTensor *)take_memory((size_t)net->param_count * sizeof *run->best);
        add_list(inferred_of(net), run->best, &count);
    }
    run->state = take_run_state(net, &run->settings);
    run->position = {0, 0, (uint64_t)t->seed, (uint64_t)run->member_count, 0, {}, {}, {}, 0, 0};
    t->reader.whole_images = t->augmentation.most > 0;
    return start_reader(&t->reader, &run->set, net->batch, (int)t->workers) && open_net(t) &&
           (!resume || resume_run(run, &file, &position)) && begin_rate(run) && files_are_whole() &&
           prepare_steps(t) && print_memory(t, &run->set) &&
           open_logs(t, run->validates, run->position.epoch, run_step(run, &run->position),
                     &run->logs);
}

// Sets the order of an epoch: of all samples, or of those to train on.
static inline void order_epoch(TrainingRun *run, uint64_t epoch)
{
    shuffle_order(run->order, run->member_count, (uint64_t)run->trainer->seed, epoch);
    for (long long i = 0; run->members && i < run->member_count; i++)
        run->order[i] = run->members[run->order[i]];
}

// Stops a run after a signal, between steps or epochs: saves the state if --save-state is given,
// and says so.
static inline bool stop_run(TrainingRun *run, int number)
{
    Trainer *t = run->trainer;
    const RunPosition *p = &run->position;
    const char *path = t->option[OPTION_SAVE_STATE];
    t->stopped = number;
    if (run->progress.terminal) printf("\n");
    if (path && !save_run(t->net, path, p, &run->state)) return false;
    printf("stopped by %s after epoch %llu and %llu samples of %llu: ",
           stop_name(number), (unsigned long long)p->epoch,
           (unsigned long long)p->samples, (unsigned long long)p->set_samples);
    if (path) printf("the state is in %s, --resume %s goes on\n", path, path);
    else printf("nothing is saved, because --save-state is not given\n");
    return true;
}

// Ends a run after a data file has lost bytes: saves the state that was exported last if
// --save-state is given.  Returns false, because the run has failed.
static inline bool save_at_loss(const TrainingRun *run)
{
    const Trainer *t = run->trainer;
    const char *path = t->option[OPTION_SAVE_STATE];
    const RunPosition *p = &run->position;
    if (!path || !write_run(t->net, path, &run->state)) return false;
    printf("stopped after epoch %llu and %llu samples of %llu: the state is in %s, --resume %s "
           "goes on when the file is whole\n", (unsigned long long)p->epoch,
           (unsigned long long)p->samples, (unsigned long long)p->set_samples, path, path);
    return false;
}

// Ends the run of --stop-on-nan if the loss of its last step was not finite; `first` and `end` are
// the samples of the step.  Waits for the device.
static inline bool check_loss(const TrainingRun *run, long long first, long long end)
{
    Trainer *t = run->trainer;
    NetFigures f;
    if (!call_ok(t->net, t->net->figures(&f, 0))) return false;
    t->diverged = !isfinite(f.loss);
    if (!t->diverged) return true;
    if (run->progress.terminal) printf("\n");
    return complain("step %llu (epoch %llu, samples %lld to %lld of %lld): the loss is not "
                    "finite: --stop-on-nan ends the run", f.step,
                    (unsigned long long)run->position.epoch + 1, first + 1, end, run->member_count);
}

// Takes a training step.  One that --trace times is launched kernel by kernel.
static inline bool take_step(TrainingRun *run, const Staging *s)
{
    const Trainer *t = run->trainer;
    const Net *net = t->net;
    const uint64_t step = run_step(run, &run->position) + 1;
    if (!is_traced(&run->trace, step)) return call_ok(net, net->replay(s->data, s->bytes));
    if (!begin_traced(t, step, &run->trace)) return false;
    const double begun = clock_seconds();
    return call_ok(net, net->train(s->data, s->bytes)) &&
           end_traced(t, step, begun, &run->trace);
}

// Logs the last training step if --log-every says so.  Waits for the device then.
static inline bool log_if_due(TrainingRun *run, long long samples)
{
    const Trainer *t = run->trainer;
    const RunPosition *p = &run->position;
    const uint64_t step = run_step(run, p);
    NetFigures f;
    run->logs.row_samples += samples;
    if (!t->log_every || step % (uint64_t)t->log_every) return true;
    return call_ok(t->net, t->net->figures(&f, 0)) &&
           log_step(t, &run->logs, &f, p->epoch, (long long)p->samples, f.skipped - p->skipped);
}

// Takes one training step, then logs it, saves the state and shows progress if due.
static inline bool train_batch(TrainingRun *run, Staging *s)
{
    Trainer *t = run->trainer;
    const Net *net = t->net;
    NetFigures f;
    bool saves = t->option[OPTION_SAVE_EVERY] != NULL;
    if (!take_step(run, s)) return false;
    const long long samples = s->samples, done = s->first + samples;
    if (t->option[OPTION_STOP_ON_NAN] && !check_loss(run, s->first, done)) return false;
    if (!give_batch(&t->reader, s, *net->stream)) return false;
    run->position.samples = (uint64_t)done;
    if (!log_if_due(run, samples)) return false;
    if (done < run->member_count && stop_asked()) return stop_run(run, stop_asked());
    if (saves && done < run->member_count && done / net->batch % t->save_every == 0 &&
        !save_run(net, t->option[OPTION_SAVE_STATE], &run->position, &run->state))
        return false;
    if (!progress_is_due(&run->progress)) return true;
    if (!call_ok(net, net->figures(&f, 0))) return false;
    show_progress(&run->progress, net, &f, (int)run->position.epoch, done);
    return true;
}

// Trains on the batches of an epoch from the current position until a signal.  At the beginning of
// an epoch it resets the figures.
static inline bool train_batches(TrainingRun *run, NetFigures *f)
{
    Trainer *t = run->trainer;
    const Net *net = t->net;
    RunPosition *p = &run->position;
    if (p->samples == 0) {
        if (!call_ok(net, net->figures(f, 1))) return false;
        p->skipped = f->skipped;
    }
    order_epoch(run, p->epoch);
    run->logs.row_begun = clock_seconds();
    run->logs.row_samples = 0;
    Augmentation a = t->augmentation;
    a.key = augmentation_key((uint64_t)t->seed, p->epoch);
    a.order = run->order;
    a.count = run->member_count;
    bool failed;
    begin_pass(&t->reader, &run->set, run->order, (long long)p->samples, run->member_count, &a);
    while (Staging *s = take_batch(&t->reader, &failed))
        if (!train_batch(run, s)) return false;
        else if (t->stopped) return true;
    if (failed && lost_file() && t->option[OPTION_SAVE_STATE])
        return export_run(net, p, &run->state) && save_at_loss(run);
    return !failed && call_ok(net, net->figures(f, 0));
}

// Validates.  Evaluation uses the same counters as training, so the state is exported before it.
// The exported position is the end of the epoch, so a resumed run begins with validation.
static inline bool validate_epoch(TrainingRun *run, NetFigures *validation)
{
    Trainer *t = run->trainer;
    const DataSet *set = run->held_out ? &run->set : &run->val;
    if (t->option[OPTION_SAVE_STATE] && !export_run(t->net, &run->position, &run->state))
        return false;
    DetectionCounts *const detection = run->monitor.precision ? &run->detection : NULL;
    if (!evaluate_samples(t, "validation", set, run->held_out, run->val_count, validation, NULL,
                          detection))
        return lost_file() && save_at_loss(run);
    if (detection) run->precision = print_detection("validation ", detection);
    return true;
}

// Multiplies the learning rate by the factor of --reduce-on-plateau if enough epochs brought no
// better figure.  The rules are those of Keras' ReduceLROnPlateau with min_delta 1e-4, cooldown 0.
static inline bool reduce_rate(TrainingRun *run, double value)
{
    const Trainer *t = run->trainer;
    RunPosition *p = &run->position;
    const bool better = is_better(&run->monitor, value, 1e-4, &p->plateau);
    p->waited = better ? 0 : p->waited + 1;
    if (better) p->plateau = {value, p->epoch + 1};
    if (p->waited < (uint64_t)t->reduce.patience || p->rate <= t->reduce.least) return true;
    p->rate = fmax(p->rate * t->reduce.factor, t->reduce.least);
    p->waited = 0;
    printf("epoch %llu: the %s is no better for %lld epochs: the learning rate is %g now\n",
           (unsigned long long)p->epoch + 1, run->monitor.text, t->reduce.patience, p->rate);
    return call_ok(t->net, t->net->set_rate(p->rate));
}

// Compares an epoch's figure with the earlier ones: keeps the best weights, and reduces the rate.
// A validation that does not cover all samples has no figure.
static inline bool judge_epoch(TrainingRun *run, const NetFigures *f, const NetFigures *validation)
{
    const Trainer *t = run->trainer;
    const Monitor *m = &run->monitor;
    RunPosition *p = &run->position;
    if (m->validation && !run->validates) return true;
    double value = m->precision ? run->precision
                                : monitored_figure(t->net, m, m->validation ? validation : f);
    const char *path = t->option[OPTION_BEST];
    if (m->validation && (long long)validation->samples != run->val_count) value = NAN;
    if (t->option[OPTION_REDUCE] && !reduce_rate(run, value)) return false;
    if (is_better(m, value, t->min_delta, &p->progress)) p->progress = {value, p->epoch + 1};
    if (!is_better(m, value, 0, &p->best)) return true;
    p->best = {value, p->epoch + 1};
    if (!run->best) return true;
    run->has_best = true;
    return fetch_tensors(t->net, run->best, run->weight_count) &&
           (!path || write_safetensors(path, run->best, run->weight_count));
}

// Trains one epoch, then validates and writes the outputs.  Moves the position to the next epoch.
static inline bool train_epoch(TrainingRun *run)
{
    Trainer *t = run->trainer;
    const Net *net = t->net;
    RunPosition *p = &run->position;
    NetFigures f = {}, validation = {};
    if (!train_batches(run, &f)) return false;
    if (t->stopped) return true;
    double speed = epoch_speed(&run->progress);
    const NetFigures *shown = run->validates ? &validation : NULL;
    if (run->validates && !validate_epoch(run, &validation)) return false;
    end_epoch(&run->progress, net, &f, (int)p->epoch, speed, shown, run->val_count,
              f.skipped - p->skipped);
    if (!judge_epoch(run, &f, shown) ||
        !log_epoch(t, &run->logs, &f, p->epoch, speed, shown, f.skipped - p->skipped))
        return false;
    p->epoch++;
    p->samples = 0;
    run->progress.epoch_begun = clock_seconds();
    if (stop_asked()) return stop_run(run, stop_asked());
    return !t->option[OPTION_SAVE_STATE] ||
           save_run(net, t->option[OPTION_SAVE_STATE], p, &run->state);
}

// True if --patience has run out.
static inline bool is_patience_over(const TrainingRun *run)
{
    const RunPosition *p = &run->position;
    return run->trainer->patience &&
           p->epoch >= p->progress.epoch + (uint64_t)run->trainer->patience;
}

// Evaluates the test set.  With --best or --patience it uses the weights of the best epoch, if they
// exist, and says so.  Otherwise it uses the last weights.
static inline bool test_weights(TrainingRun *run)
{
    Trainer *t = run->trainer;
    const RunPosition *p = &run->position;
    const char *path = t->option[OPTION_BEST];
    char words[64] = "";
    bool found = run->best && p->best.epoch && (run->has_best || path);
    for (int i = 0; found && run->has_best && i < run->weight_count; i++)
        if (!call_ok(t->net, t->net->write(run->best[i].begin, run->best[i].data,
                                           run->best[i].bytes)))
            return false;
    if (found && !run->has_best && !load_weights(t->net, path)) return false;
    if (run->best)
        snprintf(words, sizeof words, ", %s weights (epoch %llu)", found ? "best" : "last",
                 (unsigned long long)(found ? p->best.epoch : p->epoch));
    return evaluate_set(t, &run->test, words);
}

// Trains until the last epoch or the end of patience.  Then writes the weights and evaluates the
// test set.
static inline bool finish_run(TrainingRun *run)
{
    Trainer *t = run->trainer;
    const char *save = t->option[OPTION_SAVE];
    RunPosition *p = &run->position;
    run->progress = begin_progress((int)t->epochs, run->member_count,
                                   (long long)p->epoch * (long long)p->set_samples +
                                       (long long)p->samples);
    run->progress.epoch_passed = (long long)p->samples;
    while (p->epoch < (uint64_t)t->epochs && !is_patience_over(run) && !t->stopped)
        if (!train_epoch(run)) return false;
    if (t->stopped) return true;
    if (is_patience_over(run) && !p->best.epoch)
        printf("stopped: no %s was finite\n", run->monitor.text);
    else if (is_patience_over(run))
        printf("stopped: the %s %s, %.4f, was that of epoch %llu\n", best_word(&run->monitor),
               run->monitor.text, p->best.value, (unsigned long long)p->best.epoch);
    const bool prunes = t->net->pruned[0];
    if ((save || prunes) && !fetch_tensors(t->net, run->weights, run->saved_count)) return false;
    if (save && !write_safetensors(save, run->weights, run->saved_count)) return false;
    if (prunes) print_zeros(t->net, run->weights, run->weight_count);
    await_no_stop();
    if (!run->tests) return printf("no test set is given: the net was not tested\n") > 0;
    t->stopped = stop_asked();
    if (t->stopped) return printf("stopped by %s before the test set\n", stop_name(t->stopped)) > 0;
    return test_weights(run);
}

// train: runs the training, and closes its logs even after a failure.
static inline bool command_train(Trainer *t)
{
    TrainingRun run = {};
    run.trainer = t;
    bool good = begin_run(&run);
    if (good) await_stop();
    good = good && finish_run(&run);
    const bool dropped = drop_trace(t, &run.trace);
    return close_logs(t, &run.logs) && dropped && good;
}
