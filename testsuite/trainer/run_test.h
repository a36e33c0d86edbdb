// Whole runs: validation, the log, the best weights, patience, states and their
// resumption, predictions, the confusion matrix.
#pragma once
#include "check.h"

// A file's text, in memory that the next call takes.
static const char *text_of(const char *path)
{
    static char text[1 << 14];
    FILE *in = fopen(path, "r");
    size_t length = in ? fread(text, 1, sizeof text - 1, in) : 0;
    text[length] = 0;
    if (in) fclose(in);
    return text;
}

// Field `number` of line `line` of a CSV file, as a number.
static double field_of(const char *path, int line, int number)
{
    const char *at = text_of(path);
    while (line-- && at) at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
    while (at && number--) at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL;
    CHECK(at && *at);
    return at ? atof(at) : NAN;
}

static int lines_of(const char *path)
{
    int lines = 0;
    for (const char *at = text_of(path); *at; at++) lines += *at == '\n';
    return lines;
}

// Copies a log without its last column, which is a speed.
static void write_without_speed(const char *path, const char *to)
{
    static char kept[1 << 14];
    size_t length = 0, comma = 0;
    for (const char *at = text_of(path); *at; at++) {
        if (*at == ',') comma = length;
        if (*at == '\n') length = comma;
        kept[length++] = *at;
    }
    write_file(to, kept, length);
}

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

// The validation loss is the loss of the validation set; the best weights are
// those where it was least.  It rises here, since its labels are wrong.
static void test_validation()
{
    const char *val = " --val-images test-images-idx3-ubyte"
                      " --val-labels wrong-labels";
    char line[256];
    DataArray labels = {};
    unsigned char wrong[8 + 70] = {0, 0, 8, 1, 0, 0, 0, 70};
    CHECK(read_array("test-labels-idx1-ubyte", &linear_inputs[1], &labels));
    for (int i = 0; i < 70; i++)
        wrong[8 + i] = (unsigned char)((labels.data[i] + 1) % CLASSES);
    write_file("wrong-labels", wrong, sizeof wrong);
    snprintf(line, sizeof line, "train --data . --epochs 6 --log l.csv "
             "--best best --save last%s", val);
    CHECK(run(line) == 0 && told(", validation loss "));
    CHECK(strstr(text_of("l.csv"),
                 "step,epoch,loss,accuracy,validation_loss,"
                 "validation_accuracy,rate,images_per_second\n4,1,"));
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
    CHECK(told("stopped: the least validation loss, 2.3026, was that of epoch "
               "1"));
    CHECK(run("train --data . --patience 3") == 1);
    CHECK(complained("--best and --patience want a validation set"));
    CHECK(run("train --data . --best b --val-split 1") == 2);
    CHECK(complained("--val-split 1: wanted a number between 0 and 1"));
    snprintf(line, sizeof line, "train --data . --val-split 0.1%s", val);
    CHECK(run(line) == 2);
    CHECK(complained("--val-split and --val-images: wanted one of them"));
}

// ---- resuming ---------------------------------------------------------------

#define RUN_OPTIONS                                                            \
    "train --data . --epochs 6 --flip --crop 1 --val-split 0.2 "

// A run that fails in the middle of an epoch and goes on is, bit for bit, one
// that never failed.
static void test_resume()
{
    CHECK(run(RUN_OPTIONS "--seed 4 --save a --best ab --log a.csv "
                          "--save-state a.state") == 0);
    linear_fails_at = 11;
    CHECK(run(RUN_OPTIONS "--seed 4 --save b --best bb --log b.csv --workers 3 "
                          "--save-state b.state --save-every 1") == 1);
    CHECK(complained("the step that fails"));
    linear_fails_at = 0;
    CHECK(lines_of("b.csv") == 4);
    CHECK(run(RUN_OPTIONS "--save b --best bb --log b.csv --resume b.state "
                          "--save-state b.state") == 0);
    CHECK(told("epoch 4/6") && lines_of("b.csv") == 7);
    CHECK(same_files("a", "b") && same_files("ab", "bb"));
    CHECK(same_files("a.state", "b.state"));
    write_without_speed("a.csv", "a.cut");
    write_without_speed("b.csv", "b.cut");
    CHECK(same_files("a.cut", "b.cut"));
    // Nothing is left to do: the weights are those of the state.
    CHECK(run(RUN_OPTIONS "--save c --resume a.state") == 0);
    CHECK(same_files("a", "c"));
    // What is drawn matters.
    CHECK(run("train --data . --epochs 6 --crop 1 --val-split 0.2 --seed 4 "
              "--save c") == 0);
    CHECK(!same_files("a", "c"));
}

// Where the parts of a file begin: the head, a row each of four sections, the
// position, header, parameters and statistics; and its end.
static const size_t parts[] = {0,   48,  88,  128, 168,
                               208, 264, 328, 328 + 4 * WEIGHTS,
                               328 + 4 * WEIGHTS + 4 * CLASSES};
enum { STATE_PARTS = sizeof parts / sizeof *parts };

// What a message says of a damaged byte.
static const char *part_at(size_t at)
{
    static const char *const words[] = {"position, bytes 208 to 264: wanted",
                                        "header, bytes 264 to 328: wanted",
                                        "parameters, bytes 328 to 2888: wanted",
                                        "statistics, bytes 2888 to 2928: wanted"};
    int part = STATE_PARTS - 1;
    while (parts[part] > at) part--;
    if (part >= 5) return words[part - 5];
    if (at < 8) return "wanted a state that --save-state wrote";
    if (at < 16) return "wanted version 2 of a state, found ";
    if (at >= 24 && at < 32) return "bytes, as its head says, and it has 2928";
    if (at >= 40 && at < 48) return "head"; // too many sections, or fewer
    return "head, bytes 0 to 208: wanted checksum ";
}

// Whether bytes are refused as a state with these words (NULL: taken).  Thousands
// are, so neither they nor the words go through files.
static bool refuses(const unsigned char *bytes, size_t size, const char *words)
{
    static const Net net = linear_net(true);
    static char text[1024];
    const FileBytes file = {bytes, size, NULL};
    RunPosition position;
    FILE *was = stderr;
    stderr = fmemopen(text, sizeof text, "w");
    bool good = check_run(&net, "bad.state", &file, &position);
    fclose(stderr);
    stderr = was;
    if (good == !words && (good || strstr(text, words))) return true;
    fprintf(report, "wanted \"%s\", found \"%s\"\n", words ? words : "", good ? "" : text);
    return false;
}

// Each bit of a file, flipped, is noticed, and so is each length it may be cut to.
static void test_damaged_states()
{
    FileBytes whole = {};
    static unsigned char bytes[4096];
    CHECK(map_file("a.state", &whole) && whole.size == parts[STATE_PARTS - 1]);
    const size_t size = whole.size;
    memcpy(bytes, whole.bytes, size);
    CHECK(refuses(bytes, size, NULL));
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        CHECK(refuses(bytes, size, part_at(bit / 8)));
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    for (size_t length = 0; length < size; length++)
        CHECK(refuses(bytes, length, length < 48
                                         ? "wanted a state that --save-state wrote"
                                         : "wanted a state of 2928 bytes, as its head says"));
    CHECK(refuses(bytes, size + 1, "and it has 2929"));
}

// What is refused touches nothing: no arena is made, no file written or removed.
static void test_refused_states()
{
    FileBytes whole = {};
    static unsigned char bytes[4096];
    CHECK(map_file("a.state", &whole));
    const size_t size = whole.size;
    memcpy(bytes, whole.bytes, size);
    write_file("bad.csv", "as it was\n", 10);
    const int inits = linear_inits;
    for (size_t part : parts) {
        unsigned char *at = bytes + (part < size ? part : size - 1);
        *at ^= 8;
        write_file("bad.state", bytes, size);
        *at ^= 8;
        CHECK(run(RUN_OPTIONS "--save bad --log bad.csv --resume bad.state "
                              "--save-state bad.state") == 1);
        CHECK(complained("linear: bad.state: "));
    }
    for (size_t part : parts) {
        if (part == size) break;
        write_file("bad.state", bytes, part);
        CHECK(run(RUN_OPTIONS "--save bad --log bad.csv --resume bad.state "
                              "--save-state bad.state") == 1);
        CHECK(complained("linear: bad.state: wanted a state "));
    }
    CHECK(linear_inits == inits && access("bad", F_OK) && access("bad.tmp", F_OK));
    CHECK(access("bad.state.tmp", F_OK) && !strcmp(text_of("bad.csv"), "as it was\n"));

    Net other = linear_net(true);
    FileBytes file = {};
    RunPosition position;
    other.state_hash++;
    CHECK(!read_run(&other, "a.state", &file, &position));
    CHECK(complained("a.state: wanted a state of linear, whose STATE_HASH is "
                     "0000000000011ea7, found 0000000000011ea6"));
    other = linear_net(true);
    other.section_count = 2;
    CHECK(!read_run(&other, "a.state", &file, &position));
    CHECK(complained("a.state: wanted 3 sections in 2888 bytes, found 4 in 2928"));
    CHECK(run(RUN_OPTIONS "--resume a.state --seed 5") == 1);
    CHECK(complained("a.state: was trained with seed 4, not 5"));
    CHECK(run("train --data . --resume a.state") == 1);
    CHECK(complained("a.state: was trained on 160 samples, and here are 200"));
    CHECK(run(RUN_OPTIONS "--resume a.state --load a") == 2);
    CHECK(complained("--resume and --load: wanted one of them"));
    CHECK(run(RUN_OPTIONS "--save-every 3") == 2);
    CHECK(complained("--save-every wants --save-state"));
}

// ---- signals ----------------------------------------------------------------

// A signal in training step `step` of a run that has three an epoch; then the
// run goes on, to the same bytes.
static void check_stop(int number, unsigned long long step, const char *words)
{
    linear_signal = number;
    linear_stops_at = step;
    CHECK(run(RUN_OPTIONS "--seed 4 --save s --best sb --log s.csv "
                          "--save-state s.state") == 128 + number);
    CHECK(told(words) && access("s", F_OK));
    // The next signal would have ended the program.
    CHECK(signal(SIGINT, SIG_DFL) == SIG_DFL && signal(SIGTERM, SIG_DFL) == SIG_DFL);
    linear_stops_at = 0;
    CHECK(run(RUN_OPTIONS "--save s --best sb --log s.csv --resume s.state "
                          "--save-state s.state") == 0);
    CHECK(same_files("a", "s") && same_files("ab", "sb"));
    CHECK(same_files("a.state", "s.state"));
    write_without_speed("s.csv", "s.cut");
    CHECK(same_files("a.cut", "s.cut"));
    remove("s");
}

static void test_signals()
{
    check_stop(SIGINT, 2, "stopped by SIGINT after epoch 0 and 128 samples of 160: the "
                          "state is in s.state, --resume s.state goes on");
    check_stop(SIGTERM, 4, "stopped by SIGTERM after epoch 1 and 64 samples of 160: ");
    // In the last step of an epoch, which validation and its log line follow.
    check_stop(SIGINT, 6, "stopped by SIGINT after epoch 2 and 0 samples of 160: ");
    check_stop(SIGINT, 18, "stopped by SIGINT after epoch 6 and 0 samples of 160: ");
    linear_stops_at = 1;
    CHECK(run(RUN_OPTIONS "--save s") == 128 + SIGINT && access("s", F_OK));
    CHECK(told("nothing is saved, for want of --save-state"));
    // What was ignored before the program began is ignored still.
    signal(SIGINT, SIG_IGN);
    CHECK(run(RUN_OPTIONS "--save s") == 0 && signal(SIGINT, SIG_DFL) == SIG_IGN);
    linear_stops_at = 0;
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
    CHECK(complained("predict wants --output DIR, --classes FILE or both"));
    CHECK(run("predict --data . --load a --output nowhere") == 1);
    CHECK(complained("nowhere/logits.npy.tmp: can't be written"));
}

// Two classes of three that a net tells apart but for one sample.
static void test_confusion()
{
    Net net = linear_net(true);
    ConfusionMatrix m = {};
    long long counts[9] = {3, 1, 0, 0, 2, 0, 0, 0, 0}, all;
    m.classes = 3;
    m.counts = counts;
    CHECK(confusion_right(&m, &all) == 5 && all == 6);
    print_confusion(&m);
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
    test_damaged_states();
    test_refused_states();
    test_signals();
    test_predict();
    test_confusion();
    test_sources();
    test_no_allocation();
    CHECK(linear_waited > 0 && linear_overwritten == 0);
    release_memory();
}
