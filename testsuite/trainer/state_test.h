// States of a run: their resumption, damaged ones, and runs that signals stop.
#pragma once
#include "check.h"

#define RUN_OPTIONS                                                            \
    "train --data . --epochs 6 --flip --crop 1 --val-split 0.2 "

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

// ---- resuming ---------------------------------------------------------------

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
    // The drawn values matter.
    CHECK(run("train --data . --epochs 6 --crop 1 --val-split 0.2 --seed 4 "
              "--save c") == 0);
    CHECK(!same_files("a", "c"));
}

// Where the parts of a file begin: the head, a row each of five sections, the
// position, header, parameters, statistics and settings.
static const size_t parts[] = {0,   48,  88,  128, 168, 208,
                               248, 352, 416, 416 + 4 * WEIGHTS,
                               416 + 4 * WEIGHTS + 4 * CLASSES};
enum { STATE_PARTS = sizeof parts / sizeof *parts };

// The message for a damaged byte.
static const char *part_at(size_t at)
{
    static const char *const words[] = {"position, bytes 248 to 352: wanted",
                                        "header, bytes 352 to 416: wanted",
                                        "parameters, bytes 416 to 2976: wanted",
                                        "statistics, bytes 2976 to 3016: wanted",
                                        "settings, bytes 3016 to "};
    int part = STATE_PARTS - 1;
    while (parts[part] > at) part--;
    if (part >= 6) return words[part - 6];
    if (at < 8) return "wanted a state that --save-state wrote";
    if (at < 16) return "wanted version 4 of a state, found ";
    if (at >= 24 && at < 32) return "bytes, as its head says, and it has ";
    if (at >= 40 && at < 48) return "head"; // too many sections, or fewer
    return "head, bytes 0 to 248: wanted checksum ";
}

// True if bytes are refused as a state with these words (NULL: taken).
// Thousands are, so neither they nor the words go through files.
static bool refuses(const unsigned char *bytes, size_t size, const char *words)
{
    static const Net net = linear_net(true);
    static char text[1024];
    const FileBytes file = {bytes, size};
    RunPosition position;
    RunSettings settings;
    FILE *was = stderr;
    stderr = fmemopen(text, sizeof text, "w");
    bool good = check_run(&net, "bad.state", &file, &position, &settings);
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
    CHECK(map_file("a.state", &whole) && whole.size > parts[STATE_PARTS - 1]);
    const size_t size = whole.size;
    char wanted[64];
    snprintf(wanted, sizeof wanted, "wanted a state of %zu bytes, as its head says", size);
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
                                         : wanted));
    CHECK(refuses(bytes, size + 1, wanted));
}

// A refusal touches nothing: no arena is made, no file written or removed.
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
        unsigned char *at = bytes + part;
        *at ^= 8;
        write_file("bad.state", bytes, size);
        *at ^= 8;
        CHECK(run(RUN_OPTIONS "--save bad --log bad.csv --resume bad.state "
                              "--save-state bad.state") == 1);
        CHECK(complained("linear: bad.state: "));
    }
    for (size_t part : parts) {
        write_file("bad.state", bytes, part);
        CHECK(run(RUN_OPTIONS "--save bad --log bad.csv --resume bad.state "
                              "--save-state bad.state") == 1);
        CHECK(complained("linear: bad.state: wanted a state "));
    }
    CHECK(linear_inits == inits && access("bad", F_OK) && nothing_is_left());
    CHECK(!strcmp(text_of("bad.csv"), "as it was\n"));

    Net other = linear_net(true);
    FileBytes file = {};
    RunPosition position;
    RunSettings settings;
    other.state_hash++;
    CHECK(!read_run(&other, "a.state", &file, &position, &settings));
    CHECK(complained("a.state: wanted a state of linear, whose STATE_HASH is "
                     "0000000000011ea7, found 0000000000011ea6"));
    other = linear_net(true);
    other.section_count = 2;
    CHECK(!read_run(&other, "a.state", &file, &position, &settings));
    CHECK(complained("a.state: wanted 4 sections in 2976 bytes and more, found 5 in "));
    CHECK(run(RUN_OPTIONS "--resume a.state --seed 5") == 1);
    CHECK(complained("a.state: was trained with seed 4, not 5"));
    CHECK(run(RUN_OPTIONS "--resume a.state --load a") == 2);
    CHECK(complained("--resume and --load: wanted one of them"));
    CHECK(run(RUN_OPTIONS "--save-every 3") == 2);
    CHECK(complained("--save-every needs --save-state"));
}

// ---- settings ---------------------------------------------------------------

// A run goes on with its own options and data alone; each that differs is named.
static void test_other_settings()
{
    static const struct {
        const char *options, *words;
    } rows[] = {
        {"--epochs 6 --flip --val-split 0.2", "the run had --crop 1, and this command has none"},
        {"--epochs 6 --flip --val-split 0.2 --crop 0", "--crop 1, and this command has none"},
        {"--epochs 6 --flip --crop 2 --val-split 0.2", "had --crop 1, and this command has 2"},
        {"--epochs 6 --crop 1 --val-split 0.2", "the run had --flip, and this command has none"},
        {"--epochs 6 --flip --crop 1 --val-split .3", "--val-split 0.2, and this command has 0.3"},
        {"--epochs 6 --flip --crop 1", "the run had --val-split 0.2, and this command has none"},
        {"--epochs 6 --flip --crop 1 --val-split 0.2 --lr 0.5",
         "the run had no --lr, and this command has --lr 0.5"},
        {"--epochs 5 --flip --crop 1 --val-split 0.2",
         "6 epochs of its run are over: wanted no fewer, found 5"},
        {"--epochs 6 --flip --crop 1 --val-split 0.2 --best moved",
         "--best moved: wanted the file with the weights of epoch "}};
    char line[256];
    for (const auto &row : rows) {
        snprintf(line, sizeof line, "train --data . --resume a.state %s", row.options);
        CHECK(run(line) == 1 && complained(row.words));
    }
    // More epochs, more workers, the same number otherwise written: the run
    // goes on, and ends like one with these epochs from its start.
    CHECK(run("train --data . --epochs 8 --flip --crop 01 --val-split 2e-1 --workers 2 --resume "
              "a.state --save longer") == 0 && told("epoch 7/8"));
    CHECK(run("train --data . --epochs 8 --flip --crop 1 --val-split 0.2 --seed 4 --save whole") == 0);
    CHECK(same_files("longer", "whole") && !same_files("a", "whole"));
}

// Data are known by their content, not by their files' names.
static void test_other_data()
{
    static unsigned char images[16 + 200 * PIXELS], labels[8 + 200];
    FileBytes file = {};
    CHECK(map_file("train-images-idx3-ubyte", &file));
    memcpy(images, file.bytes, sizeof images);
    CHECK(map_file("train-labels-idx1-ubyte", &file));
    memcpy(labels, file.bytes, sizeof labels);
    write_file("same-images", images, sizeof images);
    const char *line = RUN_OPTIONS "--train image=same-images --resume a.state";
    CHECK(run(line) == 0);
    images[16 + 7777] ^= 1;
    write_file("same-images", images, sizeof images);
    CHECK(run(line) == 1 && complained("the run had the training set's image: 200 samples with "));
    labels[8 + 99] ^= 1;
    write_file("same-labels", labels, sizeof labels);
    CHECK(run(RUN_OPTIONS "--train-labels same-labels --resume a.state") == 1);
    CHECK(complained("the run had the training set's label: 200 samples with fingerprint "));
    Net other = linear_net(true);
    other.batch = 32;
    Trainer t = {};
    t.net = &other;
    const DataSet none = {};
    const Monitor monitor = {true, -1, -1, false, false, "validation loss"};
    RunSettings was = settings_of(&t, &none, &none, &monitor);
    other.batch = 64;
    RunSettings now = settings_of(&t, &none, &none, &monitor);
    CHECK(!settings_agree("x", &was, &now));
    CHECK(complained("x: the run had the program's batch: 32, and this command has 64"));
    other.training = "sgd lr=0.25";
    was = settings_of(&t, &none, &none, &monitor);
    CHECK(!settings_agree("x", &was, &now));
    CHECK(complained("the run had the program's training: sgd lr=0.25, and this command has sgd"));
}

// A column of many bytes is known by samples of it, wherever its files are cut.
static void test_fingerprints()
{
    enum { COUNT = 600, SIDE = 100, BYTES = SIDE * SIDE };
    static unsigned char data[COUNT * BYTES];
    const NetTensor input = {"x", "u8", 4, {4, SIDE, SIDE, 1}, 0, 4 * BYTES, 0, 1, -1};
    for (int i = 0; i < COUNT * BYTES; i++) data[i] = (unsigned char)splitmix64((uint64_t)i);
    DataPart whole = {{data, SAFE_U8, 4, {COUNT, SIDE, SIDE, 1, 1, 1, 1, 1}, BYTES, false}, 0};
    DataPart two[] = {whole, whole};
    two[0].array.dims[0] = two[1].first = 123;
    two[1].array.data += 123 * BYTES;
    two[1].array.dims[0] = COUNT - 123;
    DataColumn a = describe_column(&input), b = a;
    a.parts = &whole, a.part_count = 1, a.count = COUNT;
    b.parts = two, b.part_count = 2, b.count = COUNT;
    const uint64_t fingerprint = column_fingerprint(&a);
    CHECK(fingerprint == column_fingerprint(&b));
    b.count--;
    CHECK(fingerprint != column_fingerprint(&b));
    whole.array.planes = true;
    CHECK(fingerprint != column_fingerprint(&a));
    whole.array.planes = false;
    // Another order of the samples, and other pixels.
    whole.array.data += BYTES;
    a.count = COUNT - 1;
    const uint64_t later = column_fingerprint(&a);
    b.count = COUNT - 1;
    CHECK(later != column_fingerprint(&b));
    for (unsigned char &byte : data) byte ^= 1;
    CHECK(later != column_fingerprint(&a));
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
    CHECK(told("nothing is saved, because --save-state is not given"));
    // Signals that were ignored before the program began are ignored still.
    signal(SIGINT, SIG_IGN);
    CHECK(run(RUN_OPTIONS "--save s") == 0 && signal(SIGINT, SIG_DFL) == SIG_IGN);
    linear_stops_at = 0;
}
