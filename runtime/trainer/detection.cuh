// Mean average precision of a detector, as COCO defines it.
//
// Candidates of a class have a chance above LEAST_CHANCE; the best MOST_CANDIDATES of them are
// taken.  A candidate is left out if its intersection over union with a better one exceeds OVERLAP.
// The best MOST_FOUND of an image remain (as torchvision's SSD, with COCO's limit of 100).
//
// A detection matches the object of its class that it overlaps most and that no better detection
// has matched, at each of ten thresholds.  The precision of a class is interpolated at 101 recalls
// (pycocotools, COCOeval.evaluateImg and accumulate, with area "all").
#pragma once
#include "boxes.cuh"
#include "predict.cuh"

enum DetectionLimit { MOST_CANDIDATES = 400, MOST_FOUND = 100, OVERLAPS = 10, RECALLS = 101 };
static constexpr double LEAST_CHANCE = 0.01, OVERLAP = 0.45;

// Detection: an object that was found.  Bit t of matches: at overlap threshold t.
struct Detection {
    double chance;
    long long number;           // of the anchor; then in the order of images and chances
    int kind;
    unsigned matches;
    Box box;
};

// DetectionCounts: the objects of a set and those that were found.
struct DetectionCounts {
    int boxes, chances;                     // outputs [anchors, 4] and [anchors, kinds]
    int true_boxes, true_kinds;             // columns
    int boxes_type, chances_type, true_type;    // of their elements
    int anchors, kinds, objects;
    OutputBuffers outputs;
    long long *objects_of;                  // by kind
    Detection *found, *candidates;          // of all images; of one
    long long count;
    bool *taken;                            // objects of an image
};

// Returns the number of the input with this use, or -1.
static inline int input_with(const DataSet *set, InputUse use)
{
    for (int i = 0; i < set->column_count; i++)
        if (set->columns[i].input->use == use) return i;
    return -1;
}

// Allocates the counts for `images` images of a net with these sizes.
static inline void take_detections(DetectionCounts *d, long long images)
{
    d->objects_of = (long long *)take_memory((size_t)d->kinds * sizeof *d->objects_of);
    d->found = (Detection *)take_memory((size_t)(images + 1) * MOST_FOUND * sizeof *d->found);
    d->candidates = (Detection *)take_memory(
        ((size_t)d->anchors + (size_t)d->kinds * MOST_CANDIDATES) * sizeof *d->candidates);
    d->taken = (bool *)take_memory((size_t)d->objects);
}

// Allocates the counts of a set.  False, without a complaint, if the net is no detector, or has no
// outputs of boxes and of a chance for each kind.
static inline bool begin_detection(const Net *net, const DataSet *set, DetectionCounts *d)
{
    const int boxes = input_with(set, USE_BOXES), kinds = input_with(set, USE_KINDS);
    *d = {};
    d->boxes = d->chances = -1;
    d->true_boxes = boxes;
    d->true_kinds = kinds;
    if (boxes < 0 || kinds < 0) return false;
    d->kinds = set->columns[kinds].input->classes;
    d->objects = (int)set->columns[boxes].input->shape[1];
    for (int i = 0; i < net->output_count; i++) {
        const NetTensor *o = &net->outputs[i];
        if (o->rank != 3) continue;
        if (o->shape[2] == 4 && d->boxes < 0) d->boxes = i;
        else if (o->shape[2] == d->kinds && d->chances < 0) d->chances = i;
    }
    if (d->boxes < 0 || d->chances < 0) return false;
    const NetTensor *places = &net->outputs[d->boxes], *chances = &net->outputs[d->chances];
    if (chances->shape[1] != places->shape[1]) return false;
    d->anchors = (int)places->shape[1];
    d->boxes_type = safe_type_of(places->dtype);
    d->chances_type = safe_type_of(chances->dtype);
    d->true_type = set->columns[boxes].type;
    d->outputs = take_outputs(net);
    take_detections(d, set->count);
    return true;
}

// Orders detections by kind if `by_kind`, then from the best to the worst, then by number.
static inline int compare_detections(const Detection *a, const Detection *b, bool by_kind)
{
    if (by_kind && a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    if (a->chance != b->chance) return a->chance > b->chance ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static inline int compare_chances(const void *a, const void *b)
{
    return compare_detections((const Detection *)a, (const Detection *)b, false);
}

static inline int compare_kinds(const void *a, const void *b)
{
    return compare_detections((const Detection *)a, (const Detection *)b, true);
}

// Returns the intersection of two boxes over their union; 0 if the union has no area.
static inline double overlap_of(const Box &a, const Box &b)
{
    double both = 1, area_a = 1, area_b = 1;
    for (int axis = 0; axis < 2; axis++) {
        const double low = fmax(a.side[axis], b.side[axis]);
        both *= fmax(fmin(a.side[axis + 2], b.side[axis + 2]) - low, 0);
        area_a *= fmax(a.side[axis + 2] - a.side[axis], 0);
        area_b *= fmax(b.side[axis + 2] - b.side[axis], 0);
    }
    const double either = area_a + area_b - both;
    return either > 0 ? both / either : 0;
}

static inline Box box_at(int type, const void *data, size_t row)
{
    Box box;
    for (size_t k = 0; k < 4; k++) box.side[k] = read_element(type, data, 4 * row + k);
    return box;
}

// Writes the candidates of a kind that no better one overlaps, from the best one on.  Returns their
// number.  to: has room for a detection of every anchor.
static inline int suppress(const DetectionCounts *d, const void *places, const void *chances,
                           size_t image, int kind, Detection *to)
{
    int count = 0, kept = 0;
    for (int a = 0; a < d->anchors; a++) {
        const size_t row = image * (size_t)d->anchors + (size_t)a;
        const double chance =
            read_element(d->chances_type, chances, row * (size_t)d->kinds + (size_t)kind);
        if (chance > LEAST_CHANCE)
            to[count++] = {chance, a, kind, 0, box_at(d->boxes_type, places, row)};
    }
    qsort(to, (size_t)count, sizeof *to, compare_chances);
    if (count > MOST_CANDIDATES) count = MOST_CANDIDATES;
    for (int i = 0; i < count; i++) {
        bool hidden = false;
        for (int k = 0; k < kept && !hidden; k++)
            hidden = overlap_of(to[k].box, to[i].box) > OVERLAP;
        if (!hidden) to[kept++] = to[i];
    }
    return kept;
}

// Returns overlap threshold t, from 0.5 to 0.95.
static inline double overlap_threshold(int t)
{
    return t == OVERLAPS - 1 ? 0.95 : 0.5 + t * ((0.95 - 0.5) / (OVERLAPS - 1));
}

// Matches an image's detections, from the best to the worst, with its objects.
static inline void match_objects(DetectionCounts *d, const void *true_boxes, const int *kinds,
                                 size_t image, Detection *found, int count)
{
    const size_t first = image * (size_t)d->objects;
    for (int t = 0; t < OVERLAPS; t++) {
        memset(d->taken, 0, (size_t)d->objects);
        for (int i = 0; i < count; i++) {
            double most = overlap_threshold(t);
            int match = -1;
            for (int o = 0; o < d->objects; o++) {
                if (d->taken[o] || kinds[first + (size_t)o] != found[i].kind) continue;
                const double overlap = overlap_of(
                    found[i].box, box_at(d->true_type, true_boxes, first + (size_t)o));
                if (overlap < most) continue;
                most = overlap;
                match = o;
            }
            if (match < 0) continue;
            d->taken[match] = true;
            found[i].matches |= 1u << t;
        }
    }
}

// Adds the objects of image number `image` of a batch, and those that were found.
static inline void count_image(DetectionCounts *d, const void *places, const void *chances,
                               const void *true_boxes, const int *kinds, size_t image)
{
    int count = 0;
    for (int kind = 1; kind < d->kinds; kind++)
        count += suppress(d, places, chances, image, kind, d->candidates + count);
    qsort(d->candidates, (size_t)count, sizeof *d->candidates, compare_chances);
    if (count > MOST_FOUND) count = MOST_FOUND;
    match_objects(d, true_boxes, kinds, image, d->candidates, count);
    for (int i = 0; i < count; i++, d->count++) {
        d->found[d->count] = d->candidates[i];
        d->found[d->count].number = d->count;
    }
    for (int o = 0; o < d->objects; o++) {
        const int kind = kinds[image * (size_t)d->objects + (size_t)o];
        if (kind > 0 && kind < d->kinds) d->objects_of[kind]++;
    }
}

// Infers a batch, and adds its objects and those that were found.
static inline bool count_detections(const Net *net, const Staging *s, DetectionCounts *d)
{
    if (!infer_batch(net, s, &d->outputs)) return false;
    for (size_t image = 0; image < (size_t)s->samples; image++)
        count_image(d, d->outputs.data[d->boxes], d->outputs.data[d->chances],
                    s->data[d->true_boxes], (const int *)s->data[d->true_kinds], image);
    return true;
}

// Returns the mean of the precision of one kind at 101 recalls, for overlap threshold t.  The
// detections are ordered from the best to the worst.  precision: scratch, a number for each.
static inline double average_precision(const Detection *found, long long count, long long objects,
                                       int t, double *precision)
{
    long long right = 0;
    for (long long i = 0; i < count; i++) {
        right += found[i].matches >> t & 1;
        precision[i] = (double)right / ((double)(i + 1) + 0x1p-52);
    }
    for (long long i = count - 1; i > 0; i--)
        precision[i - 1] = fmax(precision[i - 1], precision[i]);
    double sum = 0;
    long long i = 0;
    right = count ? found[0].matches >> t & 1 : 0;
    for (int r = 0; r < RECALLS; r++) {
        const double recall = r == RECALLS - 1 ? 1 : r * 0.01;
        while (i < count && (double)right / (double)objects < recall)
            if (++i < count) right += found[i].matches >> t & 1;
        if (i < count) sum += precision[i];
    }
    return sum / RECALLS;
}

// Computes the mean average precision of each overlap threshold; NaN if there are no objects.
static inline void mean_precisions(DetectionCounts *d, double means[OVERLAPS])
{
    int kinds = 0;
    double *precision = (double *)take_memory((size_t)(d->count + 1) * sizeof *precision);
    qsort(d->found, (size_t)d->count, sizeof *d->found, compare_kinds);
    long long first = 0;
    for (int t = 0; t < OVERLAPS; t++) means[t] = 0;
    for (int kind = 1; kind < d->kinds; kind++) {
        long long end = first;
        while (end < d->count && d->found[end].kind == kind) end++;
        for (int t = 0; t < OVERLAPS && d->objects_of[kind]; t++)
            means[t] += average_precision(d->found + first, end - first, d->objects_of[kind], t,
                                          precision);
        kinds += d->objects_of[kind] > 0;
        first = end;
    }
    for (int t = 0; t < OVERLAPS; t++) means[t] = kinds ? means[t] / kinds : NAN;
}

// Prints `average precision 0.4123, 0.6789 at an overlap of 0.5, 0.4321 at 0.75` after `words`, and
// returns the first number.  The counts begin again.
static inline double print_detection(const char *words, DetectionCounts *d)
{
    double means[OVERLAPS], all = 0;
    mean_precisions(d, means);
    for (double mean : means) all += mean / OVERLAPS;
    printf("%saverage precision %.4f, %.4f at an overlap of 0.5, %.4f at 0.75\n", words, all,
           means[0], means[5]);
    d->count = 0;
    memset(d->objects_of, 0, (size_t)d->kinds * sizeof *d->objects_of);
    return all;
}
