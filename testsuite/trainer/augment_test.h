// Samples of several columns: boxes and labels follow the changes of their
// image.
#pragma once
#include "check.h"
#include "reader_test.h"

// ---- boxes ------------------------------------------------------------------

enum { SCENE_HEIGHT = 40, SCENE_WIDTH = 60, VIEW_HEIGHT = 24, VIEW_WIDTH = 32, OBJECTS = 3 };

// Scene: a white rectangle in a black image, its box, and places without an object.
struct Scene {
    unsigned char image[SCENE_HEIGHT * SCENE_WIDTH];
    float boxes[OBJECTS * 4];
    int32_t kinds[OBJECTS];
};

static const NetTensor scene_inputs[] = {
    {"image", "u8", 4, {8, VIEW_HEIGHT, VIEW_WIDTH, 1}, 0, 8 * VIEW_HEIGHT * VIEW_WIDTH, 0, 1,
     NO_LABEL},
    {"boxes", "f32", 3, {8, OBJECTS, 4}, 0, 8 * OBJECTS * 16, 0, 0, NO_LABEL, USE_BOXES},
    {"kinds", "i32", 2, {8, OBJECTS}, 0, 8 * OBJECTS * 4, 5, 0, NO_LABEL, USE_KINDS}};

// Draws a rectangle of rows top .. bottom - 1 and columns left .. right - 1.
static Scene draw_scene(int left, int top, int right, int bottom)
{
    Scene s = {};
    for (int y = top; y < bottom; y++)
        for (int x = left; x < right; x++) s.image[y * SCENE_WIDTH + x] = 255;
    const float box[] = {(float)left / SCENE_WIDTH, (float)top / SCENE_HEIGHT,
                         (float)right / SCENE_WIDTH, (float)bottom / SCENE_HEIGHT};
    memcpy(s.boxes + 4, box, sizeof box);
    s.kinds[1] = 4;
    return s;
}

// Sets of one scene.
struct SceneSet {
    DataPart parts[3];
    DataColumn columns[3];
    DataSet set;
    PixelScratch scratch;
};

static void describe_scene(const Scene *s, SceneSet *to)
{
    const DataArray arrays[] = {
        {s->image, SAFE_U8, 3, {1, SCENE_HEIGHT, SCENE_WIDTH, 1, 1, 1, 1, 1}, sizeof s->image,
         false},
        {(const unsigned char *)s->boxes, SAFE_F32, 3, {1, OBJECTS, 4, 1, 1, 1, 1, 1},
         sizeof s->boxes, false},
        {(const unsigned char *)s->kinds, SAFE_I32, 2, {1, OBJECTS, 1, 1, 1, 1, 1, 1},
         sizeof s->kinds, false}};
    for (int i = 0; i < 3; i++) {
        to->parts[i] = {arrays[i], 0};
        to->columns[i] = describe_column(&scene_inputs[i]);
        to->columns[i].parts = &to->parts[i];
        to->columns[i].part_count = 1;
        to->columns[i].count = 1;
    }
    to->set = {to->columns, 3, 1};
    to->scratch = take_scratch(to->columns, 3);
}

// Fills the sample and compares its box with the white pixels.  Returns true if an object is left.
// slack: pixels by which a side may be off; the box of a turned object may be larger.
static bool box_has_pixels(const SceneSet *s, const Augmentation *a, double slack)
{
    const bool turned = a && a->degrees > 0;
    unsigned char image[VIEW_HEIGHT * VIEW_WIDTH];
    float boxes[4 * OBJECTS];
    int32_t kinds[OBJECTS];
    fill_row(&s->set, &s->columns[0], a, 0, &s->scratch, image);
    fill_row(&s->set, &s->columns[1], a, 0, &s->scratch, (unsigned char *)boxes);
    fill_row(&s->set, &s->columns[2], a, 0, &s->scratch, (unsigned char *)kinds);
    CHECK(kinds[0] == 0 && kinds[2] == 0 && (kinds[1] == 0 || kinds[1] == 4));
    for (int i = 0; i < 4; i++) {
        CHECK(boxes[i] == 0 && boxes[8 + i] == 0);
        CHECK(kinds[1] || boxes[4 + i] == 0);
    }
    if (!kinds[1]) return false;
    int sides[] = {VIEW_WIDTH, VIEW_HEIGHT, 0, 0};
    for (int y = 0; y < VIEW_HEIGHT; y++)
        for (int x = 0; x < VIEW_WIDTH; x++) {
            if (image[y * VIEW_WIDTH + x] < 128) continue;
            if (x < sides[0]) sides[0] = x;
            if (y < sides[1]) sides[1] = y;
            if (x >= sides[2]) sides[2] = x + 1;
            if (y >= sides[3]) sides[3] = y + 1;
        }
    for (int i = 0; i < 4; i++) {
        const double off = boxes[4 + i] * (i % 2 ? VIEW_HEIGHT : VIEW_WIDTH) - sides[i];
        const bool clipped = boxes[4 + i] <= 0 || boxes[4 + i] >= 1;
        CHECK(fabs(off) <= slack || (turned && (clipped || (i < 2 ? off < 0 : off > 0))));
    }
    return true;
}

// Boxes stay on their objects in the centre, in places and sides at random, and in resized crops.
// An object remains if its centre does.
static void test_boxes()
{
    Scene scene = draw_scene(25, 10, 37, 24);
    SceneSet s;
    describe_scene(&scene, &s);
    CHECK(box_has_pixels(&s, NULL, 1e-3));
    scene = draw_scene(13, 6, 26, 17);
    int left[3] = {};
    for (uint64_t key = 0; key < 900; key++) {
        Augmentation a = odd_changes(true, key % 3 == 1 ? 5 : 0, key);
        if (key % 3 == 2) a.least = 0.2, a.most = 1;
        const MapView v = view_sample(&a, 0, {SCENE_HEIGHT, SCENE_WIDTH}, {VIEW_HEIGHT, VIEW_WIDTH});
        const bool centre = 19.5 >= v.right && 19.5 <= v.right + v.width && 11.5 >= v.down &&
                            11.5 <= v.down + v.height;
        CHECK(box_has_pixels(&s, &a, key % 3 == 2 ? 1 : 1e-3) == centre);
        left[key % 3] += centre;
    }
    for (int count : left) CHECK(count > 80 && count < 270);
    scene = draw_scene(24, 10, 39, 27);
    int turned = 0;
    for (uint64_t key = 0; key < 200; key++) {
        Augmentation a = odd_changes(key % 2, 0, key);
        a.degrees = 40;
        turned += box_has_pixels(&s, &a, 1.5);
    }
    CHECK(turned > 190);
    release_memory();
}

// A box moves as the pixels of its object do, in each change that moves pixels.
static void test_moved_boxes()
{
    enum { SIDE = 40 };
    static float pixels[SIDE * SIDE], other[SIDE * SIDE];
    static const Change changes[] = {
        {CHANGE_SHEAR_X, 0.3, true}, {CHANGE_SHEAR_Y, -0.2, true}, {CHANGE_MOVE_X, 6, true},
        {CHANGE_MOVE_Y, -7, true}, {CHANGE_ROTATE, 25, true}, {CHANGE_ROTATE, -10, false}};
    for (const Change &c : changes) {
        Image image = {{SIDE, SIDE}, 1, pixels, other};
        for (int i = 0; i < SIDE * SIDE; i++)
            pixels[i] = i / SIDE >= 14 && i / SIDE < 26 && i % SIDE >= 16 && i % SIDE < 24 ? 255 : 0;
        Box box = {{16.0 / SIDE, 14.0 / SIDE, 24.0 / SIDE, 26.0 / SIDE}};
        change_image(&image, &c);
        CHECK(change_box(&c, image.size, &box));
        double sides[] = {SIDE, SIDE, 0, 0};
        for (int i = 0; i < SIDE * SIDE; i++) {
            const double at[] = {(double)(i % SIDE), (double)(i / SIDE)};
            for (int axis = 0; axis < 2 && image.pixels[i] >= 100; axis++) {
                sides[axis] = fmin(sides[axis], at[axis]);
                sides[axis + 2] = fmax(sides[axis + 2], at[axis] + 1);
            }
        }
        for (int i = 0; i < 4; i++) CHECK(fabs(box.side[i] * SIDE - sides[i]) < 1.1);
    }
}

// ---- changes ----------------------------------------------------------------

// A turned mask has its image's pixels, and the ignored label where they come from outside.
static void test_turned_masks()
{
    enum { SIDE = 24 };
    static unsigned char image[SIDE * SIDE], to[SIDE * SIDE];
    static int32_t mask[SIDE * SIDE], labels[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) {
        mask[i] = i % SIDE > i / SIDE;
        image[i] = mask[i] ? 255 : 100;
    }
    const NetTensor inputs[] = {
        {"image", "u8", 4, {8, SIDE, SIDE, 1}, 0, 8 * sizeof image, 0, 1, NO_LABEL},
        {"mask", "i32", 3, {8, SIDE, SIDE}, 0, 8 * sizeof mask, 2, 0, 77}};
    DataPart parts[] = {
        {{image, SAFE_U8, 3, {1, SIDE, SIDE, 1, 1, 1, 1, 1}, sizeof image, false}, 0},
        {{(unsigned char *)mask, SAFE_I32, 3, {1, SIDE, SIDE, 1, 1, 1, 1, 1}, sizeof mask, false},
         0}};
    DataColumn columns[] = {describe_column(&inputs[0]), describe_column(&inputs[1])};
    for (int i = 0; i < 2; i++)
        columns[i].parts = &parts[i], columns[i].part_count = columns[i].count = 1;
    const PixelScratch scratch = take_scratch(columns, 2);
    int outside = 0, wrong = 0;
    for (uint64_t key = 0; key < 20; key++) {
        Augmentation a = odd_changes(key % 2, 3, key);
        a.degrees = 60;
        fill_sample(&columns[0], &a, 0, &scratch, to);
        fill_sample(&columns[1], &a, 0, &scratch, (unsigned char *)labels);
        for (int i = 0; i < SIDE * SIDE; i++) {
            outside += labels[i] == 77;
            wrong += labels[i] != (to[i] > 177 ? 1 : to[i] > 50 ? 0 : 77);
        }
    }
    // Pixels between two values are interpolated in the image alone.
    CHECK(outside > 1000 && wrong < 20 * 2 * SIDE);
    release_memory();
}

// Colours come in each order, with amounts from the whole range; RandAugment draws each operation,
// with the amounts of torchvision's table.
static void test_drawn_changes()
{
    int firsts[CHANGE_HUE + 1] = {}, kinds[RANDOM_KINDS] = {}, bright = 0, turned = 0;
    Augmentation a = odd_changes(false, 0, 3);
    a.jitter[0] = 0.4, a.jitter[1] = 2, a.jitter[2] = 0.5, a.jitter[3] = 0.1;
    a.operations = 2, a.strength = 15;
    for (int n = 0; n < 4000; n++) {
        const ChangeList c = draw_changes(&a, n, {331, 662});
        CHECK(c.count == 6);
        firsts[c.list[2].kind]++;
        for (int i = 0; i < c.count; i++) {
            const double amount = c.list[i].amount;
            CHECK(c.list[i].random == (i < 2));
            if (i < 2) {
                static const double amounts[] = {NAN, 0.15, 0.15, 150, 75, 15, NAN, NAN, NAN, NAN,
                                                 6, 127.5, NAN, NAN};
                const double want = amounts[c.list[i].kind];
                kinds[c.list[i].kind]++;
                CHECK(isnan(want) ? fabs(fabs(amount - 1) - 0.45) < 1e-9
                                  : fabs(fabs(amount) - want) < 1e-9);
                turned += c.list[i].kind == CHANGE_ROTATE && amount < 0;
            } else if (c.list[i].kind == CHANGE_BRIGHTNESS) {
                CHECK(amount >= 0.6 && amount <= 1.4);
                bright += amount > 1.2;
            } else if (c.list[i].kind == CHANGE_CONTRAST) CHECK(amount >= 0 && amount <= 3);
            else if (c.list[i].kind == CHANGE_SATURATION) CHECK(amount >= 0.5 && amount <= 1.5);
            else CHECK(c.list[i].kind == CHANGE_HUE && fabs(amount) <= 0.1);
        }
    }
    for (int kind : {CHANGE_BRIGHTNESS, CHANGE_CONTRAST, CHANGE_SATURATION, CHANGE_HUE})
        CHECK(abs(firsts[kind] - 1000) < 120);
    for (int count : kinds) CHECK(abs(count - 571) < 110);
    CHECK(abs(bright - 1000) < 120 && abs(turned - 285) < 80);
}

// A rectangle of 2 to 33 % becomes 0 in as many samples as asked for.
static void test_erased()
{
    enum { SIDE = 20 };
    static unsigned char image[SIDE * SIDE], to[SIDE * SIDE];
    memset(image, 200, sizeof image);
    const NetTensor input = {"image", "u8", 4, {8, SIDE, SIDE, 1}, 0, 8 * sizeof image, 0, 1,
                             NO_LABEL};
    DataPart part = {{image, SAFE_U8, 3, {1, SIDE, SIDE, 1, 1, 1, 1, 1}, sizeof image, false}, 0};
    DataColumn c = describe_column(&input);
    c.parts = &part, c.part_count = c.count = 1;
    int erased = 0, high = 0;
    for (uint64_t key = 0; key < 1000; key++) {
        Augmentation a = odd_changes(false, 0, key);
        a.erase = 0.3;
        fill_sample(&c, &a, 0, NULL, to);
        int zeros = 0, rows = 0, columns = 0;
        for (int y = 0; y < SIDE; y++) {
            int in_row = 0, in_column = 0;
            for (int x = 0; x < SIDE; x++) {
                in_row += !to[SIDE * y + x];
                in_column += !to[SIDE * x + y];
            }
            zeros += in_row, rows += in_row > 0, columns += in_column > 0;
        }
        CHECK(zeros == rows * columns && (!zeros || (zeros >= 6 && zeros <= 140)));
        erased += zeros > 0;
        high += rows > columns;
    }
    CHECK(abs(erased - 300) < 60 && high > 90 && high < 210);
}

// ---- mixed samples ----------------------------------------------------------

enum { MIXED = 6, MIXED_SIDE = 10, MIXED_PIXELS = MIXED_SIDE * MIXED_SIDE };

// Images of one level, 40 times their number, and labels that are their number.
struct MixedSet {
    unsigned char images[MIXED * MIXED_PIXELS], labels[MIXED];
    DataPart parts[2];
    DataColumn columns[2];
    DataSet set;
    PixelScratch scratch;
};

static const NetTensor mixed_inputs[] = {
    {"image", "f32", 4, {4, MIXED_SIDE, MIXED_SIDE, 1}, 0, 4 * MIXED_PIXELS * 4, 0, 1, NO_LABEL},
    {"label", "f32", 2, {4, MIXED}, 0, 4 * MIXED * 4, 0, 0, NO_LABEL, USE_TARGET}};

static void describe_mixed(MixedSet *s)
{
    for (int i = 0; i < MIXED * MIXED_PIXELS; i++)
        s->images[i] = (unsigned char)(i / MIXED_PIXELS * 40);
    for (int i = 0; i < MIXED; i++) s->labels[i] = (unsigned char)i;
    s->parts[0] = {{s->images, SAFE_U8, 3, {MIXED, MIXED_SIDE, MIXED_SIDE, 1, 1, 1, 1, 1},
                    MIXED_PIXELS, false}, 0};
    s->parts[1] = {{s->labels, SAFE_U8, 1, {MIXED, 1, 1, 1, 1, 1, 1, 1}, 1, false}, 0};
    for (int i = 0; i < 2; i++) {
        s->columns[i] = describe_column(&mixed_inputs[i]);
        s->columns[i].parts = &s->parts[i];
        s->columns[i].part_count = 1;
        s->columns[i].count = MIXED;
    }
    s->set = {s->columns, 2, MIXED};
    s->scratch = take_scratch(s->columns, 2);
}

// Pixels and targets are mixed in the same shares, of which the other sample's are uniform for
// Beta(1, 1).  Each sample of the epoch is a partner, and none that is held out.
static void test_mixed()
{
    static MixedSet s;
    describe_mixed(&s);
    const long long order[] = {5, 0, 2, 3};
    int partners[MIXED] = {}, cuts = 0, low = 0, quarter = 0;
    for (uint64_t key = 0; key < 3000; key++) {
        Augmentation a = odd_changes(false, 0, key);
        a.mixup = key % 3 != 1, a.cutmix = key % 3 != 0;
        a.order = order, a.count = 4;
        float image[MIXED_PIXELS], target[MIXED];
        fill_row(&s.set, &s.columns[0], &a, 2, &s.scratch, (unsigned char *)image);
        fill_row(&s.set, &s.columns[1], &a, 2, &s.scratch, (unsigned char *)target);
        double sum = 0, level = 0, mean = 0;
        int other = 2, kinds = 0;
        for (int k = 0; k < MIXED; k++) {
            sum += target[k];
            level += target[k] * 40 * k / 255;
            if (k != 2 && target[k] > 0) other = k;
        }
        for (float pixel : image) {
            mean += pixel / MIXED_PIXELS;
            kinds += fabsf(pixel - 80.f / 255) < 1e-6f || fabsf(pixel - 40.f * (float)other / 255) < 1e-6f;
        }
        CHECK(fabs(sum - 1) < 1e-5 && fabs(level - mean) < 1e-5);
        partners[other]++;
        if (other == 2) continue;
        if (key % 3 == 0) low += target[2] < 0.5f, quarter += target[2] < 0.25f;
        if (key % 3 == 1) CHECK(kinds == MIXED_PIXELS);
        if (key % 3 == 2) cuts += kinds == MIXED_PIXELS;
    }
    CHECK(partners[1] == 0 && partners[4] == 0);
    for (int k : {0, 3, 5}) CHECK(partners[k] > 600);
    CHECK(abs(low - 375) < 60 && abs(quarter - 187) < 50 && abs(cuts - 375) < 60);
    // Beta(0.2, 0.2) has its numbers near 0 and 1: 0.29 of them below 0.05.
    Draws draws = {9};
    int small = 0, middle = 0;
    for (int i = 0; i < 4000; i++) {
        const double share = draw_beta(&draws, 0.2);
        small += share < 0.05, middle += share > 0.4 && share < 0.6;
        CHECK(share >= 0 && share <= 1);
    }
    CHECK(abs(small - 1162) < 130 && abs(middle - 258) < 60);
    release_memory();
}

// A target's labels are checked; nets with other inputs are not mixed.
static void test_mixed_inputs()
{
    static const unsigned char labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 1, 6};
    write_file("mixed-labels", labels, sizeof labels);
    DataColumn c = describe_column(&mixed_inputs[1]);
    CHECK(!read_column("mixed-labels", &c));
    CHECK(complained("mixed-labels: label 1 is 6, and the net has classes 0 to 5"));
    Trainer t = {};
    t.option[OPTION_MIXUP] = "1";
    DataColumn columns[] = {describe_column(&mixed_inputs[0]), describe_column(&mixed_inputs[1])};
    DataSet set = {columns, 2, 1};
    CHECK(augmentation_fits(&t, &set));
    NetTensor label = {"y", "i32", 1, {4}, 0, 16, 4, 0, NO_LABEL};
    columns[1] = describe_column(&label);
    CHECK(!augmentation_fits(&t, &set));
    CHECK(complained("--mixup: a label can't be mixed: declare input y : f32[4]"));
    set.columns = columns + 1, set.column_count = 1;
    CHECK(!augmentation_fits(&t, &set));
    set.columns = columns, set.column_count = 2;
    columns[1] = describe_column(&scene_inputs[1]);
    t.option[OPTION_MIXUP] = NULL, t.option[OPTION_CUTMIX] = "1";
    CHECK(!augmentation_fits(&t, &set));
    CHECK(complained("--cutmix: wanted images and probabilities of classes alone; input boxes is 3x4"));
    t.option[OPTION_CUTMIX] = NULL, t.option[OPTION_JITTER] = "1,1,1,0";
    columns[0].depth = 2;
    CHECK(!augmentation_fits(&t, &set));
    CHECK(complained("--jitter: wanted files of bytes with 1 or 3 channels for input image"));
}

static void test_augmentation()
{
    test_boxes();
    test_moved_boxes();
    test_turned_masks();
    test_drawn_changes();
    test_erased();
    test_mixed();
    test_mixed_inputs();
}
