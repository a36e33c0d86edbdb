// The figure that decides: best epochs, patience and rates as Keras' callbacks have them; a run
// whose rate was reduced goes on to the same bytes; runs that end at a loss that is not finite.
#pragma once
#include "check.h"
#include "keras_callbacks.h"
#include "state_test.h"

static double kept_rate;

// Figures of epochs have the effects that Keras' callbacks give them.
static void test_callbacks()
{
    Net net = linear_net(true);
    net.set_rate = [](double rate) { kept_rate = rate; return 0; };
    for (const auto &keras : keras_runs) {
        Trainer t = {};
        TrainingRun run = {};
        t.net = &net;
        t.option[OPTION_REDUCE] = keras.reduce;
        t.option[OPTION_MODE] = keras.mode;
        t.option[OPTION_MONITOR] = "validation_loss";
        t.patience = keras.patience;
        t.min_delta = keras.min_delta;
        run.trainer = &t;
        run.validates = true;
        run.val_count = 7;
        run.position.rate = kept_rate = 0.1;
        CHECK(parse_reduction(&t) && find_monitor(&t, true, &run.monitor));
        for (int i = 0; i < keras.count; i++) {
            const KerasEpoch *wanted = &keras.epochs[i];
            NetFigures f = {}, training = {};
            f.samples = 7;
            f.losses[0] = {wanted->figure, 7};
            CHECK(!is_patience_over(&run) && judge_epoch(&run, &training, &f));
            run.position.epoch++;
            CHECK(fabs(kept_rate - wanted->rate) <= 1e-5 * wanted->rate);
            CHECK(run.position.rate == kept_rate && run.position.best.epoch == wanted->best);
        }
        CHECK(is_patience_over(&run));
    }
}

// Each name has its figure, and its better direction.
static void test_names()
{
    static const NetFigure losses[] = {{"near", "mse", false}, {"far", "focal", false}};
    static const NetFigure metrics[] = {{"accuracy", "accuracy", true},
                                        {"error", "mean_absolute_error", false}};
    static const struct {
        const char *name, *mode, *text;
        double value;
        bool rises;
    } rows[] = {
        {"loss", NULL, "training loss", 3, false}, {"val_loss", NULL, "validation loss", 3, false},
        {"val_near", NULL, "validation near", 1, false}, {"far", "max", "training far", 2, true},
        {"accuracy", NULL, "training accuracy", 4, true},
        {"validation_accuracy", "min", "validation accuracy", 4, false},
        {"error", NULL, "training error", 5, false}};
    Net net = linear_net(true);
    net.losses = losses, net.loss_count = 2;
    net.metrics = metrics, net.metric_count = 2;
    NetFigures f = {};
    f.losses[0] = {1, 1}, f.losses[1] = {2, 1}, f.metrics[0] = {4, 1}, f.metrics[1] = {5, 1};
    Trainer t = {};
    t.net = &net;
    t.option[OPTION_BEST] = "b";
    for (const auto &row : rows) {
        Monitor m;
        t.option[OPTION_MONITOR] = row.name;
        t.option[OPTION_MODE] = row.mode;
        CHECK(find_monitor(&t, true, &m) && !strcmp(m.text, row.text) && m.rises == row.rises);
        CHECK(monitored_figure(&net, &m, &f) == row.value);
        CHECK(find_monitor(&t, false, &m) == !m.validation);
    }
    CHECK(complained("want a validation set"));
}

// Weights are those of the first epoch whose figure in the log is the best.
static void check_best(const char *options, int column, bool rises, const char *words)
{
    char line[256], wanted[64];
    snprintf(line, sizeof line, "train --data . --epochs 6 --best mb --log m.csv %s", options);
    CHECK(run(line) == 0);
    int best = 1;
    for (int i = 2; i <= 6; i++) {
        const double value = field_of("m.csv", i, column), before = field_of("m.csv", best, column);
        if (rises ? value > before : value < before) best = i;
    }
    snprintf(wanted, sizeof wanted, "best weights (epoch %d)", best);
    CHECK(told(wanted));
    snprintf(line, sizeof line, "train --data . --epochs 50 --lr 0 --patience 2 %s", options);
    CHECK(run(line) == 0 && told(words));
}

// The rate halves after each epoch here, since the loss falls.  The run fails in the fifth epoch,
// goes on, and ends in the bytes of one that never failed.
static void test_reduced_resume()
{
#define REDUCED                                                                \
    RUN_OPTIONS "--seed 4 --lr 0.5 --monitor loss --mode max --reduce-on-plateau 0.5,1 "
    CHECK(run(REDUCED "--save ra --save-state ra.state --log ra.csv") == 0);
    CHECK(told("epoch 4: the training loss is no better for 1 epochs: the learning rate is "
               "0.0625 now\n"));
    CHECK(field_of("ra.csv", 2, 7) == 0.5 && field_of("ra.csv", 6, 7) == 0.03125);
    linear_fails_at = 14;
    CHECK(run(REDUCED "--save-state rb.state --save-every 1") == 1);
    linear_fails_at = 0;
    CHECK(run(REDUCED "--save rb --resume rb.state --save-state rb.state") == 0);
    CHECK(same_files("ra", "rb") && same_files("ra.state", "rb.state"));
    CHECK(run(RUN_OPTIONS "--lr 0.5 --resume ra.state") == 1);
    CHECK(complained("the run had --monitor greatest training loss, and this command has none"));
    CHECK(run(RUN_OPTIONS "--lr 0.5 --monitor loss --mode max --reduce-on-plateau .5,2 --resume "
              "ra.state") == 1);
    CHECK(complained("--reduce-on-plateau 0.5,1,0, and this command has 0.5,2,0"));
}

static void test_not_finite()
{
    CHECK(run("train --data . --epochs 2 --lr 3e38 --save-state nan.state") == 0);
    CHECK(run("train --data . --epochs 2 --lr 3e38 --stop-on-nan --save unfinished") == 3);
    CHECK(complained("linear: step 2 (epoch 1, samples 65 to 128 of 200): the loss is not finite: "
                     "--stop-on-nan ends the run"));
    CHECK(access("unfinished", F_OK) && nothing_is_left());
    CHECK(run("train --data . --epochs 1 --stop-on-nan --save finished") == 0);
    CHECK(run("train --data . --epochs 1 --save usual") == 0 && same_files("finished", "usual"));
}

static void test_monitor_options()
{
    static const struct {
        const char *line, *words;
        int status;
    } rows[] = {
        {"train --data . --best b --monitor f1",
         "--monitor f1: wanted one of loss, accuracy, or val_ and one of them", 1},
        {"train --data . --best b --monitor loss --mode up", "--mode up: wanted min or max", 1},
        {"train --data . --mode max", "--mode needs --monitor", 2},
        {"train --data . --min-delta 1", "--min-delta needs --patience", 2},
        {"train --data . --patience 2 --min-delta -1", "--min-delta -1: wanted a number", 2},
        {"train --data . --reduce-on-plateau 1", "--reduce-on-plateau 1: wanted a factor", 2},
        {"train --data . --reduce-on-plateau .1,0", "--reduce-on-plateau .1,0: wanted", 2},
        {"train --data . --reduce-on-plateau .1,2,", "--reduce-on-plateau .1,2,: wanted", 2},
        {"train --data . --reduce-on-plateau .1,2,0,1", "--reduce-on-plateau .1,2,0,1: wanted", 2},
        {"train --data . --reduce-on-plateau .1", "want a validation set", 1},
        {"train --data . --epochs 1 --monitor loss",
         "warning: --monitor loss has no effect without --best", 0}};
    for (const auto &row : rows) CHECK(run(row.line) == row.status && complained(row.words));
}

static void test_monitor()
{
    test_callbacks();
    test_names();
    check_best("--monitor loss --mode max", 2, true, "stopped: the greatest training loss, 2.3026, "
               "was that of epoch 1");
    check_best("--monitor accuracy", 3, true, "stopped: the greatest training accuracy, 0.1000, ");
    check_best("--val-images test-images-idx3-ubyte --val-labels wrong-labels", 4, false,
               "stopped: the least validation loss, 2.3026, was that of epoch 1");
    test_reduced_resume();
    test_not_finite();
    test_monitor_options();
}
