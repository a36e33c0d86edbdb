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

static Augmentation odd_changes(bool flip, int crop, uint64_t key)
{
    Augmentation a = {};
    a.flip = flip;
    a.crop = crop;
    a.key = key;
    return a;
}

static MapView view_odd(const Augmentation *a, long long sample)
{
    return view_sample(a, sample, {ODD_HEIGHT, ODD_WIDTH}, {ODD_HEIGHT, ODD_WIDTH});
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
        Augmentation a = odd_changes(true, 1, augmentation_key(5, (uint64_t)(i / ODD_COUNT)));
        unsigned char to[ODD_SAMPLE];
        MapView v = view_odd(&a, n);
        int wrong = 0, at = 0;
        fill_sample(&c, &a, n, NULL, to);
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
        Augmentation a = odd_changes(true, 1, augmentation_key(1, (uint64_t)epoch));
        Augmentation b = odd_changes(true, 1, augmentation_key(2, (uint64_t)epoch));
        MapView v = view_odd(&a, 7), w = view_odd(&b, 7);
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
    fill_sample(&c, NULL, 6, NULL, (unsigned char *)plain);
    c.mean = mean;
    c.std = deviation;
    fill_sample(&c, NULL, 6, NULL, (unsigned char *)normal);
    for (int i = 0; i < ODD_SAMPLE; i++) {
        float x = (float)odd_data[6 * ODD_SAMPLE + i] / 255;
        CHECK(plain[i] == x);
        CHECK(normal[i] == (x - (float)mean[i % 2]) / (float)deviation[i % 2]);
    }
    // Pixels outside the image are black, and normalised like black.
    Augmentation a = odd_changes(false, 9, 0);
    for (a.key = 0; llabs(view_odd(&a, 6).down) < ODD_HEIGHT;) a.key++;
    fill_sample(&c, &a, 6, NULL, (unsigned char *)normal);
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

// ---- images that are larger than the input -----------------------------------------------------

enum { LARGE_HEIGHT = 6, LARGE_WIDTH = 9, SMALL = 4, LARGE_COUNT = 5 };
enum { LARGE_SAMPLE = LARGE_HEIGHT * LARGE_WIDTH };

// Writes images and class maps whose numbers are pixel numbers in their images.
static void write_large(const char *path, int width, bool masks)
{
    unsigned char text[128 + LARGE_COUNT * LARGE_SAMPLE] = {0, 0, 8, 3};
    const int extents[] = {LARGE_COUNT, LARGE_HEIGHT, width};
    for (int i = 0; i < 3; i++) text[4 + 4 * i + 3] = (unsigned char)extents[i];
    for (int i = 0; i < LARGE_COUNT * LARGE_HEIGHT * width; i++)
        text[16 + i] = (unsigned char)(masks ? i % (LARGE_HEIGHT * width)
                                             : i % (LARGE_HEIGHT * width) + 100);
    write_file(path, text, (size_t)(16 + LARGE_COUNT * LARGE_HEIGHT * width));
}

// Evaluation takes the centre; training takes each place, the same one for the mask.  Files whose
// maps differ in size are refused.
static void test_large_images()
{
    const NetTensor inputs[] = {
        {"image", "u8", 4, {8, SMALL, SMALL, 1}, 0, 8 * SMALL * SMALL, 0, 1, NO_LABEL},
        {"mask", "i32", 3, {8, SMALL, SMALL}, 0, 8 * SMALL * SMALL * 4, 60, 0, NO_LABEL}};
    DataColumn columns[] = {describe_column(&inputs[0]), describe_column(&inputs[1])};
    DataSet set = {columns, 2, LARGE_COUNT};
    write_large("large", LARGE_WIDTH, false);
    write_large("masks", LARGE_WIDTH, true);
    write_large("narrow", LARGE_WIDTH - 1, true);
    columns[0].from.paths = "large", columns[1].from.paths = "masks";
    CHECK(read_column("large", &columns[0]) && read_column("masks", &columns[1]));
    CHECK(crops_match(&set));
    CHECK(told("large: samples are cropped to 4x4: training takes a random place, all else the "));
    unsigned char image[SMALL * SMALL];
    int32_t mask[SMALL * SMALL];
    const PixelScratch scratch = take_scratch(columns, 2);
    // Python's int(round((9 - 4) / 2)) is 2.
    fill_sample(&columns[0], NULL, 3, &scratch, image);
    for (int i = 0; i < SMALL * SMALL; i++)
        CHECK(image[i] == 100 + (1 + i / SMALL) * LARGE_WIDTH + 2 + i % SMALL);
    int places[3][6] = {};
    for (uint64_t key = 0; key < 400; key++) {
        Augmentation a = odd_changes(key % 2, 0, key);
        fill_sample(&columns[0], &a, 3, &scratch, image);
        fill_sample(&columns[1], &a, 3, &scratch, (unsigned char *)mask);
        const MapView v = view_sample(&a, 3, {LARGE_HEIGHT, LARGE_WIDTH}, {SMALL, SMALL});
        for (int i = 0; i < SMALL * SMALL; i++) {
            const long long x = v.flip ? SMALL - 1 - i % SMALL : i % SMALL;
            CHECK(mask[i] == (v.down + i / SMALL) * LARGE_WIDTH + v.right + x);
            CHECK(image[i] == mask[i] + 100);
        }
        places[v.down][v.right]++;
    }
    for (const auto &row : places)
        for (int count : row) CHECK(count > 5);
    // A resized crop of a mask has only numbers of the mask, in the order of its pixels.
    for (uint64_t key = 0; key < 100; key++) {
        Augmentation a = odd_changes(false, 0, key);
        a.least = 0.1, a.most = 1;
        fill_sample(&columns[1], &a, 3, &scratch, (unsigned char *)mask);
        const MapView v = view_sample(&a, 3, {LARGE_HEIGHT, LARGE_WIDTH}, {SMALL, SMALL});
        for (int y = 0; y < SMALL; y++)
            for (int x = 0; x < SMALL; x++) {
                const int row = (int)floor((y + 0.5) * (double)v.height / SMALL);
                const int column = (int)floor((x + 0.5) * (double)v.width / SMALL);
                CHECK(mask[SMALL * y + x] ==
                      (v.down + row) * LARGE_WIDTH + v.right + column);
            }
    }
    CHECK(read_column("narrow", &columns[1]));
    columns[1].from.paths = "narrow";
    CHECK(!crops_match(&set));
    CHECK(complained("narrow: wanted the height and the width of large, sample by sample"));
    const JpegFiles kept = {"large.jpegs", NULL};
    CHECK(jpegs_have_no_masks(&set));
    columns[0].parts[0].array.jpegs = &kept;
    columns[0].from.paths = "large.jpegs";
    CHECK(!jpegs_have_no_masks(&set));
    CHECK(complained("large.jpegs: holds JPEG files of their own sizes, and the masks of input mask "
                     "have one size: wanted images.npy"));
}

// Crops that are resized: shares of the area and ratios of the sides are uniform as asked for; in a
// very wide image the crop is the widest in its centre.
static void test_resized_crops()
{
    const MapSize image = {60, 80}, input = {8, 8};
    int low = 0, wide = 0, left = 0;
    for (int n = 0; n < 4000; n++) {
        Augmentation a = odd_changes(false, 0, 17);
        a.least = 0.1, a.most = 0.5;
        const MapView v = view_sample(&a, n, image, input);
        const double share = (double)(v.height * v.width) / 4800;
        CHECK(v.down >= 0 && v.right >= 0 && v.down + v.height <= 60 && v.right + v.width <= 80);
        CHECK(share > 0.09 && share < 0.52);
        low += share < 0.3;
        wide += v.width > v.height;
        left += 2 * v.right < 80 - v.width;
    }
    CHECK(abs(low - 2000) < 150 && abs(wide - 2000) < 150 && abs(left - 2000) < 150);
    Augmentation a = odd_changes(false, 0, 17);
    a.least = a.most = 1;
    const MapView v = view_sample(&a, 5, {9, 50}, input);
    CHECK(v.height == 9 && v.width == 12 && v.down == 0 && v.right == 19);
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
    for (int ignored : {255, 2, 0, -100}) {
        input.ignored = ignored;
        DataColumn c = describe_column(&input);
        c.parts = &part;
        c.part_count = 1;
        c.count = 1;
        int outside = 0;
        for (uint64_t key = 0; key < 20; key++) {
            Augmentation a = odd_changes(true, 2, key);
            int32_t to[LABELS];
            fill_sample(&c, &a, 0, NULL, (unsigned char *)to);
            for (int32_t label : to) {
                CHECK(label == 1 || label == ignored);
                outside += label == ignored;
            }
        }
        CHECK(outside > 0);
    }
    Trainer t = {};
    t.option[OPTION_CROP] = "2";
    t.augmentation.crop = 2;
    DataColumn c = describe_column(&input);
    DataSet set = {&c, 1, 1};
    CHECK(augmentation_fits(&t, &set));
    t.augmentation.crop = 3;
    CHECK(!augmentation_fits(&t, &set) && complained("wanted fewer pixels than the height and the width"));
    t.augmentation.crop = 2;
    input.ignored = NO_LABEL;
    CHECK(!augmentation_fits(&t, &set) && complained("wanted a loss with ignore = N that reads input label"));
    input = {"mask", "f32", 4, {8, SIDE, SIDE, 1}, 0, 8 * sizeof ones, 0, 0, NO_LABEL};
    CHECK(!augmentation_fits(&t, &set) && complained("only a loss reads input mask"));
    input.infers = 1;
    CHECK(augmentation_fits(&t, &set));
    t.augmentation.crop = 0;
    t.option[OPTION_CROP] = NULL;
    t.option[OPTION_FLIP] = "--flip";
    CHECK(augmentation_fits(&t, &set));
    c.width = 1;
    CHECK(!augmentation_fits(&t, &set) && complained("--flip has no effect: input mask has a width of 1"));
}

// ---- the reader -------------------------------------------------------------

// Reads all batches of two epochs with this number of threads.  A crop above 0 is the
// most of an image's area that a resized one has, and brings other changes.
static void read_epochs(int threads, double crop, unsigned char *to)
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
        Augmentation a = odd_changes(true, 2, augmentation_key(9, epoch));
        a.most = crop;
        a.least = crop / 4;
        a.degrees = 40 * crop, a.erase = crop / 2, a.mixup = crop;
        a.order = order, a.count = ODD_COUNT;
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
    static unsigned char one[2][BYTES], many[BYTES];
    for (int crop = 0; crop < 2; crop++) {
        read_epochs(1, crop, one[crop]);
        CHECK(memcmp(one[crop], one[crop] + BYTES / 2, BYTES / 2) != 0);
        for (int threads = 2; threads <= 5; threads++) {
            memset(many, 0, BYTES);
            read_epochs(threads, crop, many);
            CHECK(!memcmp(one[crop], many, BYTES));
        }
    }
    CHECK(memcmp(one[0], one[1], BYTES) != 0);
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
    test_large_images();
    test_resized_crops();
    test_workers();
    test_stop();
    release_memory();
}
