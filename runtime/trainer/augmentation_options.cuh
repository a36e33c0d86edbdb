// The options of augmentation: their numbers, and whether they fit the inputs of the net.
#pragma once
#include "sets.cuh"

// Options that change training samples, in the order of their effects.
static const int augmentation_options[] = {
    OPTION_CROP, OPTION_RESIZED_CROP, OPTION_FLIP, OPTION_RANDAUGMENT, OPTION_JITTER,
    OPTION_ROTATE, OPTION_ERASE, OPTION_MIXUP, OPTION_CUTMIX};

// Returns the name of the first option of augmentation that was given, or NULL.
static inline const char *first_augmentation(const Trainer *t)
{
    for (int option : augmentation_options)
        if (t->option[option]) return trainer_options[option].name;
    return NULL;
}

// Parses an option's numbers, `count` of them with `between` from one to the next, each from least
// to most.  Without the option the numbers are unchanged.
static inline bool parse_numbers(const Trainer *t, int option, char between, int count,
                                 double least, double most, double *numbers)
{
    const char *at = t->option[option];
    for (int i = 0; at && i < count; i++) {
        char *end;
        numbers[i] = strtod(at, &end);
        if (end == at || *end != (i + 1 < count ? between : 0) ||
            !(numbers[i] >= least && numbers[i] <= most))
            return complain("%s %s: wanted %s, numbers from %g to %g", trainer_options[option].name,
                            t->option[option], trainer_options[option].argument, least, most);
        at = end + 1;
    }
    return true;
}

// Parses the options of augmentation.
static inline bool parse_augmentation(Trainer *t)
{
    Augmentation *a = &t->augmentation;
    long long crop = 0;
    double shares[2] = {0, 0}, operations[2] = {0, 0};
    if (!parse_integer(t, OPTION_CROP, 0, &crop) ||
        !parse_numbers(t, OPTION_RESIZED_CROP, ':', 2, 1e-6, 1, shares) ||
        !parse_numbers(t, OPTION_RANDAUGMENT, ',', 2, 0, LEVELS, operations) ||
        !parse_numbers(t, OPTION_JITTER, ',', 4, 0, 100, a->jitter) ||
        !parse_numbers(t, OPTION_ROTATE, ',', 1, 0, 180, &a->degrees) ||
        !parse_numbers(t, OPTION_ERASE, ',', 1, 0, 1, &a->erase) ||
        !parse_numbers(t, OPTION_MIXUP, ',', 1, 1e-3, 1e3, &a->mixup) ||
        !parse_numbers(t, OPTION_CUTMIX, ',', 1, 1e-3, 1e3, &a->cutmix))
        return false;
    a->operations = (int)operations[0];
    a->strength = (int)operations[1];
    if (a->operations != operations[0] || a->strength != operations[1] ||
        (t->option[OPTION_RANDAUGMENT] && !(a->operations > 0 && a->operations <= MOST_OPERATIONS)))
        return complain("--randaugment %s: wanted 1 to %d operations and a magnitude of 0 to %d, "
                        "whole numbers", t->option[OPTION_RANDAUGMENT], MOST_OPERATIONS, LEVELS);
    if (a->jitter[3] > 0.5)
        return complain("--jitter %s: wanted a hue from 0 to 0.5, a share of the circle",
                        t->option[OPTION_JITTER]);
    if (shares[0] > shares[1])
        return complain("--resized-crop %s: wanted LEAST:MOST, the lesser share first",
                        t->option[OPTION_RESIZED_CROP]);
    a->flip = t->option[OPTION_FLIP] != NULL;
    a->crop = (int)crop;
    a->least = shares[0];
    a->most = shares[1];
    return true;
}

// Returns the option given that takes pixels from outside of an image, or OPTION_COUNT.
static inline int option_from_outside(const Trainer *t)
{
    if (t->augmentation.crop > 0) return OPTION_CROP;
    if (t->augmentation.degrees > 0) return OPTION_ROTATE;
    return t->option[OPTION_RANDAUGMENT] ? OPTION_RANDAUGMENT : OPTION_COUNT;
}

// True if pixels from outside have a value in a map.  A label map needs an ignored value for them.
static inline bool can_move(const Trainer *t, const DataColumn *c)
{
    const NetTensor *input = c->input;
    const int option = option_from_outside(t);
    if (option == OPTION_COUNT) return true;
    const char *name = trainer_options[option].name, *text = t->option[option];
    if (option == OPTION_CROP && (t->augmentation.crop >= c->height ||
                                  t->augmentation.crop >= c->width))
        return complain("--crop %s: wanted fewer pixels than the height and the width of input %s, "
                        "which is %s", text, input->name,
                        shape_text(input->shape + 1, input->rank - 1).text);
    if (input->classes && input->ignored == NO_LABEL)
        return complain("%s %s: wanted a loss with ignore = N that reads input %s: pixels that "
                        "come from outside have no label", name, text, input->name);
    if (!input->classes && !input->infers)
        return complain("%s %s: only a loss reads input %s, and pixels that come from "
                        "outside have no value for it", name, text, input->name);
    return true;
}

// True if options that change colours or erase pixels find images: colours are levels of bytes.
static inline bool pictures_fit(const Trainer *t, const DataSet *set)
{
    const int option = t->option[OPTION_RANDAUGMENT] ? OPTION_RANDAUGMENT : OPTION_JITTER;
    const char *name = t->option[option] ? trainer_options[option].name : "--erase";
    int pictures = 0;
    if (!t->option[option] && !t->option[OPTION_ERASE]) return true;
    for (int i = 0; i < set->column_count; i++) {
        const DataColumn *c = &set->columns[i];
        if (!is_picture(c)) continue;
        pictures++;
        bool levels = c->depth == 1 || c->depth == 3;
        for (int k = 0; k < c->part_count; k++) levels &= c->parts[k].array.type == SAFE_U8;
        if (t->option[option] && !levels)
            return complain("%s: wanted files of bytes with 1 or 3 channels for input %s", name,
                            c->input->name);
    }
    return pictures || complain("%s: wanted an image, [height, width, channels], that inference "
                                "reads", name);
}

// True if all inputs that a loss reads can be mixed: targets alone can.
static inline bool targets_fit(const Trainer *t, const DataSet *set)
{
    const char *name = t->option[OPTION_MIXUP] ? "--mixup" : "--cutmix";
    int pictures = 0;
    if (!t->option[OPTION_MIXUP] && !t->option[OPTION_CUTMIX]) return true;
    for (int i = 0; i < set->column_count; i++) {
        const NetTensor *input = set->columns[i].input;
        pictures += is_picture(&set->columns[i]);
        if (input->classes && input->rank == 1)
            return complain("%s: a label can't be mixed: declare input %s : f32[%d], and files of "
                            "labels become its probabilities", name, input->name, input->classes);
        if (!is_picture(&set->columns[i]) && input->use != USE_TARGET)
            return complain("%s: wanted images and probabilities of classes alone; input %s is %s",
                            name, input->name, input->rank == 1 ? "no such input" :
                            shape_text(input->shape + 1, input->rank - 1).text);
    }
    return pictures || complain("%s: wanted an image, [height, width, channels], that inference "
                                "reads", name);
}

// True if resized crops of both columns are those of images of one size, sample by sample.
static inline bool crops_are_alike(const Trainer *t, const DataColumn *c, const DataColumn *other)
{
    for (long long n = 0; n < c->count && resizes_crops(&t->augmentation); n++) {
        const DataPart *part = find_part(c, n), *first = find_part(other, n);
        const MapSize size = image_size(&part->array, n - part->first, &t->augmentation);
        const MapSize wanted = image_size(&first->array, n - first->first, &t->augmentation);
        if (!sizes_equal(size, wanted))
            return complain("--resized-crop: sample %lld of %s is %lldx%lld pixels; wanted "
                            "%lldx%lld, as in %s", n, c->from.paths, size.height, size.width,
                            wanted.height, wanted.width, other->from.paths);
    }
    return true;
}

// True if the options of augmentation fit a training set.  All maps of a sample must have the same
// height and width, so that one view fits all.
static inline bool augmentation_fits(const Trainer *t, const DataSet *set)
{
    const DataColumn *first = NULL;
    const char *name = first_augmentation(t);
    int boxes = 0;
    for (int i = 0; name && i < set->column_count; i++) {
        const DataColumn *c = &set->columns[i];
        boxes += c->input->use == USE_BOXES;
        if (boxes > 1) return complain("%s: the net has several inputs of boxes", name);
        if (!c->is_map) continue;
        if (!first) first = c;
        if (t->option[OPTION_FLIP] && c->width == 1)
            return complain("--flip has no effect: input %s has a width of 1", c->input->name);
        if (!can_move(t, c)) return false;
        if (c->height != first->height || c->width != first->width)
            return complain("%s: inputs %s and %s differ in height or width", name,
                            first->input->name, c->input->name);
        if (c->parts && first->parts && !crops_are_alike(t, c, first)) return false;
    }
    if (name && !first) return complain("%s: no input has height and width", name);
    return pictures_fit(t, set) && targets_fit(t, set);
}
