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
