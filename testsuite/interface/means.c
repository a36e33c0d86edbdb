// Means in which some labels do not count: each is the sum over the counted
// labels, divided by its weight, for any batches.  Where nothing counts the
// loss is 0, and the other one trains.
#include <math.h>

#include "means.h"
#include "nets.h"

enum { ALL = 8, POINTS = 4, CLASSES = 3, NO_CLASS = 2 };

typedef struct Set {
    float scores[ALL][CLASSES], points[ALL][POINTS][CLASSES];
    int32_t label[ALL], mask[ALL][POINTS];
} Set;

static const double weights[] = {0, 2, 4};
static means_context net;

// The first four samples have these scores and labels: two count, one of them is right.
static Set new_set(void)
{
    static const float known[4][CLASSES] = {{0, 3, 0}, {5, 0, 0}, {5, 0, 0}, {0, 1, 0}};
    static const int32_t label[] = {1, 0, 0, 2, 2, 1, 0, 1};
    Set s;
    unsigned x = 9;
    for (int n = 0; n < ALL; n++) {
        s.label[n] = label[n];
        for (int k = 0; k < CLASSES; k++) {
            x = 1664525u * x + 1013904223u;
            s.scores[n][k] = n < 4 ? known[n][k] : (float)(x >> 28);
            for (int i = 0; i < POINTS; i++) s.points[n][i][k] = (float)(x >> (8 + 4 * i) & 7) / 2;
        }
        for (int i = 0; i < POINTS; i++) s.mask[n][i] = n == 5 ? NO_CLASS : (n + i * i) % 3;
    }
    return s;
}

static int run(int trains, const Set *s, int first, int count)
{
    size_t n = (size_t)count;
    return (trains ? means_train : means_evaluate)(
        &net, s->scores[first], n * sizeof s->scores[0], s->label + first, n * sizeof s->label[0],
        s->points[first][0], n * sizeof s->points[0], s->mask[first], n * sizeof s->mask[0]);
}

static means_figures figures_now(void)
{
    means_figures f;
    EXPECT_OK(means_metrics(&net, &f, 1));
    return f;
}

static int near(double a, double b)
{
    return fabs(a - b) <= 1e-5 * fmax(1, fabs(b));
}

static double entropy(const float *score, int label)
{
    double sum = 0;
    for (int k = 0; k < CLASSES; k++) sum += exp((double)score[k]);
    return log(sum) - (double)score[label];
}

// True if fewer than k scores come before the label's; of equals the first
// does.
static int among(const float *score, int label, int k)
{
    int before = 0;
    for (int o = 0; o < CLASSES; o++)
        before += o < label ? score[o] >= score[label] : score[o] > score[label];
    return before < k;
}

// The value of PyTorch's cross_entropy(weight, ignore_index) over the first
// count samples, and similar ones.
static means_figures figures_of(const Set *s, int count)
{
    means_figures f;
    memset(&f, 0, sizeof f);
    for (int n = 0; n < count; n++) {
        f.of_all += entropy(s->scores[n], s->label[n]) / count;
        if (s->label[n] > 0) {
            f.softmax_cross_entropy += entropy(s->scores[n], s->label[n]);
            f.softmax_cross_entropy_weight++;
            f.accuracy += among(s->scores[n], s->label[n], 1);
            f.top_k += among(s->scores[n], s->label[n], 2);
        }
        for (int i = 0; i < POINTS; i++) {
            const int label = s->mask[n][i];
            if (label == NO_CLASS) continue;
            f.map_loss += 0.5 * weights[label] * entropy(s->points[n][i], label);
            f.map_loss_weight += weights[label];
            f.map_accuracy += among(s->points[n][i], label, 1);
            f.map_accuracy_weight++;
        }
    }
    f.softmax_cross_entropy /= f.softmax_cross_entropy_weight;
    f.accuracy /= f.softmax_cross_entropy_weight;
    f.top_k /= f.softmax_cross_entropy_weight;
    f.map_loss /= f.map_loss_weight;
    f.map_accuracy /= f.map_accuracy_weight;
    return f;
}

// Figures of count samples, some at a time.
static void expect_same(const Set *s, int count, int some)
{
    const means_figures want = figures_of(s, count);
    static double iou;
    for (int first = 0; first < count; first += some)
        EXPECT_OK(run(0, s, first, count - first < some ? count - first : some));
    const means_figures f = figures_now();
    EXPECT(near(f.softmax_cross_entropy, want.softmax_cross_entropy));
    EXPECT(f.softmax_cross_entropy_weight == want.softmax_cross_entropy_weight);
    EXPECT(near(f.map_loss, want.map_loss) && f.map_loss_weight == want.map_loss_weight);
    EXPECT(near(f.loss, want.softmax_cross_entropy + want.map_loss));
    EXPECT(near(f.accuracy, want.accuracy) && near(f.top_k, want.top_k));
    EXPECT(f.accuracy_weight == want.softmax_cross_entropy_weight);
    EXPECT(f.top_k_weight == want.softmax_cross_entropy_weight);
    EXPECT(near(f.of_all, want.of_all) && f.of_all_weight == count);
    EXPECT(near(f.map_accuracy, want.map_accuracy));
    EXPECT(f.map_accuracy_weight == want.map_accuracy_weight);
    if (some == 1) iou = f.mean_iou;
    EXPECT(near(f.mean_iou, iou) && near(f.mean_iou_weight, count));
}

// True if any weight of the layers is not 0.
static void find_trained(int *flat, int *map)
{
    float weight[MEANS_STATE_BYTES / sizeof(float)];
    EXPECT_OK(means_export(&net, weight, sizeof weight));
    *flat = *map = 0;
    for (int i = 0; i < CLASSES * CLASSES; i++) {
        *flat |= weight[MEANS_FLAT_LAYER_WEIGHT_OFFSET / sizeof(float) + (size_t)i] != 0;
        *map |= weight[MEANS_MAP_LAYER_WEIGHT_OFFSET / sizeof(float) + (size_t)i] != 0;
    }
}

// A training step in which no label of some count.
static void train_nothing(int flat_counts, int map_counts)
{
    Set s = new_set();
    int flat, map;
    for (int n = 0; n < 4; n++) {
        if (!flat_counts) s.label[n] = 0;
        for (int i = 0; i < POINTS && !map_counts; i++) s.mask[n][i] = NO_CLASS;
    }
    EXPECT_OK(run(1, &s, 0, 4));
    const means_figures f = figures_now(), want = figures_of(&s, 4);
    EXPECT(f.step == 1 && f.updates == 1 && f.samples == 4);
    EXPECT(near(f.softmax_cross_entropy, flat_counts ? want.softmax_cross_entropy : 0));
    EXPECT(near(f.map_loss, map_counts ? want.map_loss : 0));
    EXPECT(near(f.loss, f.softmax_cross_entropy + f.map_loss));
    EXPECT((f.accuracy_weight > 0) == flat_counts && (f.mean_iou_weight > 0) == map_counts);
    find_trained(&flat, &map);
    EXPECT(flat == flat_counts && map == map_counts);
}

// A training step in which all labels of the map count, and weigh nothing.
static void train_weightless(void)
{
    Set s = new_set();
    int flat, map;
    memset(s.mask, 0, sizeof s.mask);
    EXPECT_OK(run(1, &s, 0, 4));
    const means_figures f = figures_now();
    EXPECT(f.updates == 1 && f.map_loss == 0 && f.map_loss_weight == 0);
    EXPECT(f.map_accuracy_weight == 4 * POINTS);
    find_trained(&flat, &map);
    EXPECT(flat && !map);
}

int main(void)
{
    cublasHandle_t cublas;
    const Set s = new_set();
    void *arena = new_arena(MEANS_ARENA_BYTES);
    EXPECT_OK(cublasCreate(&cublas));
    for (int k = 0; k < 4; k++) {
        memset(&net, 0, sizeof net);
        EXPECT_OK(means_init(&net, arena, MEANS_ARENA_BYTES, NULL, cublas, 1));
        train_nothing(k & 1, k >> 1);
    }
    EXPECT_OK(means_init(&net, arena, MEANS_ARENA_BYTES, NULL, cublas, 1));
    train_weightless();
    EXPECT_OK(means_init(&net, arena, MEANS_ARENA_BYTES, NULL, cublas, 1));
    for (int some = 1; some <= 4; some++) expect_same(&s, ALL, some);
    for (int some = 1; some <= 4; some++) {
        for (int first = 0; first < 4; first += some)
            EXPECT_OK(run(0, &s, first, 4 - first < some ? 4 - first : some));
        const means_figures f = figures_now();
        EXPECT(f.accuracy == 0.5 && fabs(f.softmax_cross_entropy - 0.8232) < 5e-5);
    }
    EXPECT_OK(cublasDestroy(cublas));
    EXPECT_OK(cudaFree(arena));
    return 0;
}
