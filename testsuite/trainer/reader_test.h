// Batches: the changes of a sample on its way, by any number of threads, and
// buffers that are not refilled too soon.
#pragma once
#include "check.h"

enum { ODD_HEIGHT = 3, ODD_WIDTH = 4, ODD_DEPTH = 2, ODD_COUNT = 50 };
enum { ODD_SAMPLE = ODD_HEIGHT * ODD_WIDTH * ODD_DEPTH };

static unsigned char odd_data[ODD_COUNT * ODD_SAMPLE];
static const NetTensor odd_bytes = {
    "x", "u8", 4, {8, ODD_HEIGHT, ODD_WIDTH, ODD_DEPTH}, 0, 8 * ODD_SAMPLE, 0,
    1, -1};
static const NetTensor odd_reals = {
    "x", "f32", 4, {8, ODD_HEIGHT, ODD_WIDTH, ODD_DEPTH}, 0,
    8 * ODD_SAMPLE * sizeof(float), 0, 1, -1};

// A column of bytes of which none is 0, pixel after pixel.
static DataColumn odd_column(const NetTensor *input, DataPart *part)
{
    for (int i = 0; i < ODD_COUNT * ODD_SAMPLE; i++)
        odd_data[i] = (unsigned char)(1 + splitmix64((uint64_t)i) % 255);
    *part = {{odd_data, SAFE_U8, 4,
              {ODD_COUNT, ODD_HEIGHT, ODD_WIDTH, ODD_DEPTH, 1, 1, 1, 1},
              ODD_SAMPLE, false}, 0};
    DataColumn c = describe_column(input);
    c.parts = part;
    c.part_count = 1;
    c.count = ODD_COUNT;
    return c;
}

// ---- views ------------------------------------------------------------------

// A view of each sample, element by element by its definition; every place and
// both sides occur.
static void test_views()
{
    DataPart part;
    DataColumn c = odd_column(&odd_bytes, &part);
    int places[3][3][2] = {};
    for (int i = 0; i < 8 * ODD_COUNT; i++) {
        int n = i % ODD_COUNT;
        Augmentation a = {true, 1,
                          augmentation_key(5, (uint64_t)(i / ODD_COUNT))};
        unsigned char to[ODD_SAMPLE];
        MapView v = view_sample(&a, n);
        int wrong = 0, at = 0;
        fill_sample(&c, &a, n, to);
        for (long long y = 0; y < ODD_HEIGHT; y++)
            for (long long x = 0; x < ODD_WIDTH; x++)
                for (int k = 0; k < ODD_DEPTH; k++, at++) {
                    long long row = y + v.down, column = x + v.right;
                    if (v.flip) column = ODD_WIDTH - 1 - x + v.right;
                    bool there = row >= 0 && row < ODD_HEIGHT && column >= 0 &&
                                 column < ODD_WIDTH;
                    long long from = row * ODD_WIDTH + column;
                    unsigned char want =
                        there ? odd_data[n * ODD_SAMPLE + from * ODD_DEPTH + k]
                              : 0;
                    wrong += to[at] != want;
                }
        CHECK(wrong == 0);
        places[v.down + 1][v.right + 1][v.flip]++;
    }
    for (int i = 0; i < 18; i++) CHECK(places[i / 6][i / 2 % 3][i % 2] > 0);
}

// A view depends on seed, epoch and sample, and is as likely as any other.
static void test_views_are_fair()
{
    int flips = 0, same = 0, corner = 0;
    for (int epoch = 0; epoch < 9000; epoch++) {
        Augmentation a = {true, 1, augmentation_key(1, (uint64_t)epoch)};
        Augmentation b = {true, 1, augmentation_key(2, (uint64_t)epoch)};
        MapView v = view_sample(&a, 7), w = view_sample(&b, 7);
        flips += v.flip;
        corner += v.down == 1 && v.right == -1;
        same += v.flip == w.flip && v.down == w.down && v.right == w.right;
    }
    CHECK(abs(flips - 4500) < 200);
    CHECK(abs(corner - 1000) < 130);
    CHECK(abs(same - 500) < 100);
}

static void test_normalisation()
{
    DataPart part;
    DataColumn c = odd_column(&odd_reals, &part);
    const double mean[] = {0.25, 0.5}, deviation[] = {0.5, 0.125};
    float plain[ODD_SAMPLE], normal[ODD_SAMPLE];
    fill_sample(&c, NULL, 6, (unsigned char *)plain);
    c.mean = mean;
    c.std = deviation;
    fill_sample(&c, NULL, 6, (unsigned char *)normal);
    for (int i = 0; i < ODD_SAMPLE; i++) {
        float x = (float)odd_data[6 * ODD_SAMPLE + i] / 255;
        CHECK(plain[i] == x);
        CHECK(normal[i] == (x - (float)mean[i % 2]) / (float)deviation[i % 2]);
    }
    // Pixels outside the image are black, and normalised like black.
    Augmentation a = {false, 9, 0};
    for (a.key = 0; llabs(view_sample(&a, 6).down) < ODD_HEIGHT;) a.key++;
    fill_sample(&c, &a, 6, (unsigned char *)normal);
    for (int i = 0; i < ODD_SAMPLE; i++) CHECK(normal[i] == (i % 2 ? -4 : -.5));
}

static void test_channel_options()
{
    Net net = linear_net(true);
    NetTensor input[2] = {linear_inputs[0], linear_inputs[1]};
    input[0].dtype = "f32";
    net.inputs = input;
    Trainer t = {};
    t.net = &net;
    DataSet set;
    t.option[OPTION_MEAN] = "0.5";
    CHECK(describe_set(&t, &set) && set.columns[0].mean[0] == 0.5 &&
          set.columns[0].std[0] == 1 && !set.columns[1].mean);
    input[0].shape[3] = 3;
    CHECK(describe_set(&t, &set) && set.columns[0].mean[2] == 0.5);
    t.option[OPTION_STD] = "1,2,4";
    CHECK(describe_set(&t, &set) && set.columns[0].std[2] == 4);
    static const struct {
        const char *std, *words;
    } rows[] = {{"1,2", "--std 1,2: wanted 1 number or 3, one a channel"},
                {"1,2,3,4", "wanted 1 number or 3"},
                {"1,0,1", "--std 1,0,1: wanted numbers above 0, joined"},
                {"1,,1", "wanted numbers above 0"},
                {"1;1", "wanted numbers above 0"}};
    for (const auto &row : rows) {
        t.option[OPTION_STD] = row.std;
        CHECK(!describe_set(&t, &set) && complained(row.words));
    }
    input[0].dtype = "u8";
    CHECK(!describe_set(&t, &set));
    CHECK(complained("--mean: input image is u8; wanted f32"));
}

// Normalisation is refused where it would change nothing, or nothing that float can hold.
static void test_useless_normalisation()
{
    Net net = linear_net(true);
    NetTensor input[2] = {linear_inputs[0], linear_inputs[1]};
    input[0].dtype = "f32";
    net.inputs = input;
    Trainer t = {};
    t.net = &net;
    DataSet set;
    static const struct {
        int option;
        const char *text, *words;
    } rows[] = {{OPTION_MEAN, "1e-60", "--mean 1e-60: wanted numbers that float can hold"},
                {OPTION_MEAN, "-1e39", "--mean -1e39: wanted numbers that float can hold"},
                {OPTION_STD, "1e-46", "--std 1e-46: wanted numbers that float can hold"},
                {OPTION_STD, "1e39", "--std 1e39: wanted numbers that float can hold"}};
    for (const auto &row : rows) {
        t.option[row.option] = row.text;
        CHECK(!describe_set(&t, &set) && complained(row.words));
        t.option[row.option] = NULL;
    }
    t.option[OPTION_STD] = "1e-60";
    input[0].dtype = "f64";
    CHECK(describe_set(&t, &set) && set.columns[0].std[0] == 1e-60);
    // A vector is no image, and a mask that only a loss reads keeps its values.
    input[0].dtype = "f32";
    input[1] = input[0];
    input[1].infers = 0;
    t.option[OPTION_STD] = "2";
    CHECK(describe_set(&t, &set) && set.columns[0].std && !set.columns[1].std);
    input[0].infers = 0;
    CHECK(!describe_set(&t, &set) && complained("--std: wanted an image, f32[height, width"));
    input[0].infers = 1;
    input[0].rank = 2;
    CHECK(!describe_set(&t, &set) && complained("--std: wanted an image"));
}

// Labels of pixels that --crop moves in from outside are the value that the
// loss ignores, among the classes or outside them; without one, and for other
// values that losses read, it is refused.
static void test_cropped_labels()
{
    enum { SIDE = 3, LABELS = SIDE * SIDE };
    static int32_t ones[LABELS];
    for (int32_t &one : ones) one = 1;
    DataPart part = {{(unsigned char *)ones, SAFE_I32, 3, {1, SIDE, SIDE, 1, 1, 1, 1, 1},
                      sizeof ones, false}, 0};
    NetTensor input = {"label", "i32", 3, {8, SIDE, SIDE}, 0, 8 * sizeof ones, 3, 0, 255};
    for (int ignored : {255, 2, 0}) {
        input.ignored = ignored;
        DataColumn c = describe_column(&input);
        c.parts = &part;
        c.part_count = 1;
        c.count = 1;
        int outside = 0;
        for (uint64_t key = 0; key < 20; key++) {
            Augmentation a = {true, 2, key};
            int32_t to[LABELS];
            fill_sample(&c, &a, 0, (unsigned char *)to);
            for (int32_t label : to) {
                CHECK(label == 1 || label == ignored);
                outside += label == ignored;
            }
        }
        CHECK(outside > 0);
    }
    Trainer t = {};
    t.option[OPTION_CROP] = "2";
    t.crop = 2;
    DataColumn c = describe_column(&input);
    DataSet set = {&c, 1, 1};
    CHECK(maps_match(&t, &set));
    t.crop = 3;
    CHECK(!maps_match(&t, &set) && complained("wanted fewer pixels than the height and the width"));
    t.crop = 2;
    input.ignored = -1;
    CHECK(!maps_match(&t, &set) && complained("wanted a loss with ignore = N that reads input label"));
    input = {"mask", "f32", 4, {8, SIDE, SIDE, 1}, 0, 8 * sizeof ones, 0, 0, -1};
    CHECK(!maps_match(&t, &set) && complained("only a loss reads input mask"));
    input.infers = 1;
    CHECK(maps_match(&t, &set));
    t.crop = 0;
    t.option[OPTION_FLIP] = "--flip";
    CHECK(maps_match(&t, &set));
    c.width = 1;
    CHECK(!maps_match(&t, &set) && complained("--flip has no effect: input mask has a width of 1"));
}

// ---- the reader -------------------------------------------------------------

// All batches of two epochs, one after the other, by the given number of
// threads.
static void read_epochs(int threads, unsigned char *to)
{
    DataPart part;
    DataColumn c = odd_column(&odd_bytes, &part);
    DataSet set = {&c, 1, ODD_COUNT};
    BatchReader reader = {};
    CHECK(start_reader(&reader, &set, 8, threads));
    for (uint64_t epoch = 0; epoch < 2; epoch++) {
        long long order[ODD_COUNT];
        bool failed = true;
        int rows = 0;
        Augmentation a = {true, 2, augmentation_key(9, epoch)};
        shuffle_order(order, ODD_COUNT, 9, epoch);
        begin_pass(&reader, &set, order, 0, ODD_COUNT, &a);
        while (Staging *s = take_batch(&reader, &failed)) {
            CHECK(s->first == rows && (int)s->bytes[0] == s->samples * ODD_SAMPLE);
            CHECK(s->samples == (rows == 48 ? 2 : 8));
            memcpy(to, s->data[0], s->bytes[0]);
            to += s->bytes[0];
            rows += s->samples;
            CHECK(give_batch(&reader, s, linear_stream));
        }
        CHECK(!failed && rows == ODD_COUNT);
    }
    stop_reader(&reader);
}

static void test_workers()
{
    enum { BYTES = 2 * ODD_COUNT * ODD_SAMPLE };
    static unsigned char one[BYTES], many[BYTES];
    read_epochs(1, one);
    CHECK(memcmp(one, one + BYTES / 2, BYTES / 2) != 0);
    for (int threads = 2; threads <= 5; threads++) {
        memset(many, 0, BYTES);
        read_epochs(threads, many);
        CHECK(!memcmp(one, many, BYTES));
    }
}

// A reader that is stopped in the middle of a pass.
static void test_stop()
{
    DataPart part;
    DataColumn c = odd_column(&odd_bytes, &part);
    DataSet set = {&c, 1, ODD_COUNT};
    for (int i = 0; i < 20; i++) {
        BatchReader reader = {};
        bool failed;
        CHECK(start_reader(&reader, &set, 8, 3));
        begin_pass(&reader, &set, NULL, 0, ODD_COUNT, NULL);
        if (i % 2) CHECK(take_batch(&reader, &failed) && !failed);
        stop_reader(&reader);
    }
}

static void test_reader()
{
    test_views();
    test_views_are_fair();
    test_normalisation();
    test_channel_options();
    test_useless_normalisation();
    test_cropped_labels();
    test_workers();
    test_stop();
    release_memory();
}
