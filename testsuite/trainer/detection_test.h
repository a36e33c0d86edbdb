// Mean average precision: that of pycocotools, with torchvision's non-maximum
// suppression, of drawn scenes (average_precision.py).
#pragma once
#include "check.h"

enum { SCENES = 40, ANCHORS = 80, SCENE_KINDS = 4, SCENE_OBJECTS = 6 };

// A number from 0 to 1, of 24 bits.
static float draw_number(uint64_t *drawn)
{
    return (float)(splitmix64((*drawn)++) >> 40) / 0x1p24f;
}

static void draw_box(uint64_t *drawn, float box[4])
{
    for (int k = 0; k < 2; k++) box[k] = draw_number(drawn) * .75f;
    for (int k = 0; k < 2; k++) box[k + 2] = box[k] + .0625f + draw_number(drawn) * .1875f;
}

// The places and chances of a net's outputs, and the true objects.
struct Scenes {
    float places[SCENES][ANCHORS][4], chances[SCENES][ANCHORS][SCENE_KINDS];
    float boxes[SCENES][SCENE_OBJECTS][4];
    int kinds[SCENES][SCENE_OBJECTS];
};

static void draw_scenes(Scenes *s)
{
    uint64_t drawn = 0;
    for (int i = 0; i < SCENES; i++) {
        for (int &kind : s->kinds[i]) kind = (int)(draw_number(&drawn) * SCENE_KINDS);
        for (float(&box)[4] : s->boxes[i]) draw_box(&drawn, box);
        for (int a = 0; a < ANCHORS; a++) {
            const bool near = draw_number(&drawn) < .5f;
            float *box = s->places[i][a];
            draw_box(&drawn, box);
            for (int k = 0; k < 4 && near; k++)
                box[k] = s->boxes[i][a % SCENE_OBJECTS][k] + (draw_number(&drawn) - .5f) * .0625f;
            for (float &chance : s->chances[i][a]) {
                const float number = draw_number(&drawn);
                chance = number * number;
            }
        }
    }
}

static void test_average_precision()
{
    static Scenes scenes;
    static const double wanted[OVERLAPS] = {
        0.0970429944230436,  0.0805580598404224,  0.059426700606762,    0.0343144675379371,
        0.0233589892843016,  0.00478140355931102, 0.0021639449758046,   0.000972923510561255,
        0,                   0};
    DetectionCounts d = {};
    d.boxes_type = d.chances_type = d.true_type = SAFE_F32;
    d.anchors = ANCHORS;
    d.kinds = SCENE_KINDS;
    d.objects = SCENE_OBJECTS;
    draw_scenes(&scenes);
    take_detections(&d, SCENES);
    for (size_t i = 0; i < SCENES; i++)
        count_image(&d, scenes.places, scenes.chances, scenes.boxes, scenes.kinds[0], i);
    CHECK(d.count == 3998);
    double means[OVERLAPS];
    mean_precisions(&d, means);
    for (int t = 0; t < OVERLAPS; t++)
        if (fabs(means[t] - wanted[t]) > 1e-12) {
            fprintf(report, "threshold %d: wanted %.15g, found %.15g\n", t, wanted[t], means[t]);
            CHECK(!"the mean average precision");
        }
}

// A set without objects has no precision, and one without detections has 0.
static void test_no_objects()
{
    const float box[4] = {.25f, .25f, .5f, .5f}, chances[2] = {1, 0};
    for (int kind = 0; kind < 2; kind++) {
        DetectionCounts d = {};
        d.boxes_type = d.chances_type = d.true_type = SAFE_F32;
        d.anchors = d.objects = 1;
        d.kinds = 2;
        take_detections(&d, 1);
        count_image(&d, box, chances, box, &kind, 0);
        double means[OVERLAPS];
        mean_precisions(&d, means);
        CHECK(kind ? means[0] == 0 : isnan(means[0]));
    }
}

static void test_detection()
{
    test_average_precision();
    test_no_objects();
}
