// Whole runs: validation, the log, the best weights, patience, predictions, the
// confusion matrix; states and signals are in state_test.h.
#pragma once
#include "check.h"
#include "monitor_test.h"
#include "options_test.h"
#include "rates_test.h"
#include "state_test.h"

// ---- validation -------------------------------------------------------------

static void test_split()
{
    long long before[40];
    Trainer t = {};
    t.val_split = 0.2;
    for (int seed = 1; seed < 4; seed++) {
        TrainingRun run = {};
        run.trainer = &t;
        run.set.count = 200;
        t.seed = seed / 2; // 0, 1, 1
        CHECK(split_set(&run));
        CHECK(run.val_count == 40 && run.member_count == 160);
        bool seen[200] = {};
        for (int i = 0; i < 160; i++) seen[run.members[i]] = true;
        for (int i = 0; i < 40; i++) {
            CHECK(!seen[run.held_out[i]]);
            seen[run.held_out[i]] = true;
        }
        for (bool one : seen) CHECK(one);
        size_t bytes = sizeof before;
        if (seed > 1)
            CHECK((memcmp(before, run.held_out, bytes) == 0) == (seed == 3));
        memcpy(before, run.held_out, bytes);
    }
    TrainingRun run = {};
    run.trainer = &t;
    run.set.count = 2;
    t.option[OPTION_VAL_SPLIT] = "0.2";
    CHECK(!split_set(&run));
    CHECK(complained("--val-split 0.2: wanted at least one sample of 2"));
}

// Copies the last line that was printed so far, without its end.
static void last_line(char *line, size_t size)
{
    fflush(stdout);
    const char *text = text_of("output"), *begin = text;
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '\n') length--;
    for (const char *at = text; at < text + length; at++)
        if (*at == '\n') begin = at + 1;
    snprintf(line, size, "%.*s", (int)(text + length - begin), begin);
}

// A run whose last line was this tested the weights in `best`, and named the
// epoch of the least validation loss in its log.
static void check_best_is_tested(const char *tested, const char *log,
                                 int epochs)
{
    char best[128], last[128], wanted[256];
    int epoch = 1;
    for (int i = 2; i <= epochs; i++)
        if (field_of(log, i, 4) < field_of(log, epoch, 4)) epoch = i;
    CHECK(run("eval --data . --load best") == 0);
    last_line(best, sizeof best);
    CHECK(run("eval --data . --load last") == 0);
    last_line(last, sizeof last);
    CHECK(strcmp(best, last));
    snprintf(wanted, sizeof wanted, "%s, best weights (epoch %d)", best, epoch);
    CHECK(!strcmp(tested, wanted));
}

// The validation loss is the loss of the validation set; the best weights are
// those where it was least.  It rises here, since its labels are wrong.
static void test_validation()
{
    const char *val = " --val-images test-images-idx3-ubyte"
                      " --val-labels wrong-labels";
    char line[256], tested[256];
    DataArray labels = {};
    unsigned char wrong[8 + 70] = {0, 0, 8, 1, 0, 0, 0, 70};
    CHECK(read_array("test-labels-idx1-ubyte", &linear_inputs[1], &labels));
    for (int i = 0; i < 70; i++)
        wrong[8 + i] = (unsigned char)((labels.data[i] + 1) % CLASSES);
    write_file("wrong-labels", wrong, sizeof wrong);
    snprintf(line, sizeof line, "train --data . --epochs 6 --log l.csv "
             "--best best --save last%s", val);
    CHECK(run(line) == 0);
    last_line(tested, sizeof tested);
    CHECK(told(", validation loss "));
    check_best_is_tested(tested, "l.csv", 6);
    CHECK(strstr(text_of("l.csv"),
                 "step,epoch,loss,accuracy,validation_loss,"
                 "validation_accuracy,skipped_steps,rate,"
                 "images_per_second\n4,1,"));
    CHECK(lines_of("l.csv") == 7 && field_of("l.csv", 6, 0) == 24);
    double least = field_of("l.csv", 1, 4);
    for (int i = 2; i <= 6; i++) least = fmin(least, field_of("l.csv", i, 4));
    // So that best and last differ.
    CHECK(least < field_of("l.csv", 6, 4));
    snprintf(line, sizeof line, "train --data . --epochs 1 --lr 0 --log m.csv "
             "--load best%s", val);
    CHECK(run(line) == 0 && field_of("m.csv", 1, 4) == least);
    CHECK(!same_files("best", "last"));

    snprintf(line, sizeof line, "train --data . --epochs 50 --lr 0 --log m.csv "
             "--patience 3%s", val);
    CHECK(run(line) == 0 && lines_of("m.csv") == 5);
    last_line(tested, sizeof tested);
    CHECK(strstr(tested, ", best weights (epoch 1)"));
    CHECK(told("stopped: the least validation loss, 2.3026, was that of epoch "
               "1"));
    CHECK(run("train --data . --patience 3") == 1);
    CHECK(complained("--best, --patience and --reduce-on-plateau want a validation set"));
    CHECK(run("train --data . --best b --val-split 1") == 2);
    CHECK(complained("--val-split 1: wanted a number between 0 and 1"));
    snprintf(line, sizeof line, "train --data . --val-split 0.1%s", val);
    CHECK(run(line) == 2);
    CHECK(complained("--val-split and --val-images: wanted one of them"));
}

// ---- predictions ------------------------------------------------------------

// Outputs and classes of the test set, against the net itself.
static void test_predict()
{
    CHECK(run("predict --data . --load a --output . --classes c.csv") == 0);
    CHECK(told("70 samples"));
    DataArray a = {}, images = {};
    CHECK(read_array("logits.npy", &linear_outputs[0], &a) && a.rank == 2);
    CHECK(a.type == SAFE_F32 && a.dims[0] == 70 && a.dims[1] == CLASSES);
    CHECK(a.data - (a.data - 128) == 128);
    CHECK(read_array("test-images-idx3-ubyte", &linear_inputs[0], &images));
    CHECK(lines_of("c.csv") == 71);
    static LinearArena arena;
    SafeFile file;
    CHECK(read_safetensors("a", &file));
    linear_init(&arena, sizeof arena, 0);
    memcpy(arena.weight, find_safe_tensor(&file, "fc.weight")->data,
           sizeof arena.weight);
    memcpy(arena.bias, find_safe_tensor(&file, "fc.bias")->data,
           sizeof arena.bias);
    for (int n = 0; n < 70; n++) {
        float logits[CLASSES];
        const void *input = images.data + n * PIXELS;
        void *output = logits;
        size_t bytes = PIXELS, output_bytes = sizeof logits;
        linear_infer(&input, &bytes, &output, &output_bytes);
        CHECK(!memcmp(logits, a.data + (size_t)n * sizeof logits,
                      sizeof logits));
        int best = greatest_class(SAFE_F32, logits, 0, CLASSES);
        CHECK(field_of("c.csv", n + 1, 0) == n);
        CHECK(field_of("c.csv", n + 1, 1) == best);
    }
    // Labels are not wanted, and an inference file has the command too.
    CHECK(run("predict --test-images test-images-idx3-ubyte --load a "
              "--classes d.csv", false) == 0);
    CHECK(same_files("c.csv", "d.csv"));
    CHECK(run("predict --data . --load a") == 1);
    CHECK(complained("predict needs --output DIR, --classes FILE or both"));
    CHECK(run("predict --data . --load a --output made/for/this") == 0);
    CHECK(same_files("logits.npy", "made/for/this/logits.npy"));
    CHECK(run("predict --data . --load a --output c.csv") == 1);
    CHECK(complained("c.csv: wanted a folder"));
    CHECK(run("predict --data . --load a --output c.csv/x") == 1);
    CHECK(complained("c.csv/x: this folder can't be made: Not a directory"));
}

// Two classes of three that a net tells apart, except for one sample.
static void test_confusion()
{
    Net net = linear_net(true);
    ConfusionMatrix m = {};
    const ClassNames unnamed = {};
    long long counts[9] = {3, 1, 0, 0, 2, 0, 0, 0, 0}, all;
    m.classes = 3;
    m.ignored = NO_LABEL;
    m.counts = counts;
    CHECK(confusion_right(&m, &all) == 5 && all == 6);
    print_confusion(&m, &unnamed);
    CHECK(told("label \\ predicted\n"
               "            0      1      2\n"
               "     0      3      1      0\n"
               "     1      0      2      0\n"
               "     2      0      0      0\n"
               "class  precision     recall         f1     labels\n"
               "    0     1.0000     0.7500     0.8571          4\n"
               "    1     0.6667     1.0000     0.8000          2\n"
               "    2     0.0000     0.0000     0.0000          0\n"
               " mean     0.5556     0.5833     0.5524\n"));
    CHECK(run("train --data . --epochs 5 --save good") == 0);
    CHECK(run("eval --data . --load good --confusion") == 0);
    CHECK(told("    9     1.0000     1.0000     1.0000          7\n"));
    CHECK(run("eval --data . --load good --confusion", false) == 0);
    CHECK(told("    9     1.0000     1.0000     1.0000          7\n"));
    NetTensor other = linear_outputs[0];
    other.shape[1] = 9;
    net.outputs = &other;
    Trainer t = {};
    DataSet set;
    t.net = &net;
    CHECK(describe_set(&t, &set) && !begin_confusion(&net, &set, &m));
    CHECK(complained("linear has no output of one number a class of a label"));
}

// ---- data sets --------------------------------------------------------------

static void copy_as_npy(const char *from, const char *to, const char *shape)
{
    char header[128];
    DataArray a = {};
    CHECK(read_array(from, &linear_inputs[0], &a));
    snprintf(header, sizeof header, "{'descr': '|u1', 'fortran_order': False, "
             "'shape': (%s)}", shape);
    write_npy(to, header, a.data, a.stride * (size_t)a.dims[0]);
}

// The same data in other files, and named in other ways, train the same weights.
static void test_sources()
{
    CHECK(!mkdir("npy", 0700) && !mkdir("npy/train", 0700) &&
          !mkdir("npy/test", 0700));
    copy_as_npy("train-images-idx3-ubyte", "npy/train/images.npy",
                "200, 8, 8, 1");
    copy_as_npy("train-labels-idx1-ubyte", "npy/train/labels.npy", "200,");
    copy_as_npy("test-images-idx3-ubyte", "npy/test/image.npy", "70, 8, 8");
    copy_as_npy("test-labels-idx1-ubyte", "npy/test/label.npy", "70, 1");
    CHECK(run("train --data . --epochs 2 --save a") == 0);
    CHECK(run("train --data npy --epochs 2 --save b") == 0);
    CHECK(same_files("a", "b"));
    CHECK(run("train --train image=npy/train/images.npy --epochs 2 --save c "
              "--train label=train-labels-idx1-ubyte --data .") == 0);
    CHECK(same_files("a", "c"));
    CHECK(run("train --data . --train picture=a") == 1);
    CHECK(complained("--train picture=a: wanted INPUT=FILES, of an input"));
    CHECK(run("train --train image=npy/train/images.npy") == 1);
    CHECK(complained("wanted --data DIR, or each file by an option of its own: "
                     "--train-labels FILE"));
    CHECK(run("train --data . --crop x") == 2 && complained("--crop x: wanted"));
    CHECK(run("train --data . --mean 1") == 1);
    CHECK(complained("input image is u8; wanted f32"));
}

// A run prints the memory that it takes: the arena, `extra` bytes of init, and two batches of images
// and labels.
static size_t extra;

static void test_memory()
{
    static Net net = linear_net(true);
    static void *more;
    Trainer t = {};
    DataSet set;
    t.net = &net;
    net.init = [](void *arena, size_t bytes, unsigned long long seed) {
        return extra && cudaMalloc(&more, extra) ? 1 : linear_init(arena, bytes, seed);
    };
    long long others[2];
    for (size_t bytes : {0, 1 << 20}) {
        char wanted[64];
        extra = bytes;
        CHECK(describe_set(&t, &set) && open_net(&t));
        size_t left = 0, all = 0;
        CHECK(!cudaMemGetInfo(&left, &all) && print_memory(&t, &set));
        others[bytes > 0] = (long long)(t.free_before - left) - (long long)net.arena_bytes;
        snprintf(wanted, sizeof wanted, "memory: arena %zu bytes, %lld more of the device, %d "
                 "pinned", net.arena_bytes, others[bytes > 0], 2 * BATCH * (PIXELS + 4));
        CHECK(told(wanted));
        CHECK(!cudaFree(t.arena));
    }
    CHECK(!cudaFree(more) && others[1] - others[0] == 1 << 20 && others[0] >= 0 &&
          others[0] < 4096);
    CHECK(run("train --data . --epochs 1") == 0 && told("\nmemory: arena "));
}

// Training takes all memory before its first step.
static void test_no_allocation()
{
    linear_blocks = 0;
    CHECK(run(RUN_OPTIONS "--save a --best ab --log a.csv --workers 2 "
                          "--save-state a.state --save-every 1") == 0);
    CHECK(linear_blocks > 0 && linear_more_blocks == 0);
}

static void test_runs()
{
    write_set("train", 200, 8, CLASSES);
    write_set("test", 70, 8, CLASSES);
    test_split();
    test_validation();
    test_resume();
    test_monitor();
    test_damaged_states();
    test_refused_states();
    test_other_settings();
    test_other_data();
    test_fingerprints();
    test_signals();
    test_predict();
    test_confusion();
    test_sources();
    test_options();
    test_rates_command();
    test_no_allocation();
    test_memory();
    CHECK(linear_waited > 0 && linear_overwritten == 0);
    release_memory();
}
