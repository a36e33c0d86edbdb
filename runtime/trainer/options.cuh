// The trainer's options: one table, for the command line and for --help.
#pragma once
#include <float.h>
#include <limits.h>
#include <math.h>

#include "reader.cuh"

// Options in the order of trainer_options.
enum OptionNumber {
    OPTION_DATA, OPTION_TRAIN, OPTION_TRAIN_IMAGES, OPTION_TRAIN_LABELS, OPTION_VAL,
    OPTION_VAL_IMAGES, OPTION_VAL_LABELS, OPTION_VAL_SPLIT, OPTION_TEST, OPTION_TEST_IMAGES,
    OPTION_TEST_LABELS, OPTION_MEAN, OPTION_STD, OPTION_FLIP, OPTION_CROP,
    OPTION_RESIZED_CROP, OPTION_RANDAUGMENT, OPTION_JITTER, OPTION_ROTATE, OPTION_ERASE,
    OPTION_MIXUP, OPTION_CUTMIX, OPTION_WORKERS,
    OPTION_EPOCHS, OPTION_SEED, OPTION_LR, OPTION_LOAD, OPTION_INIT, OPTION_IGNORE, OPTION_SAVE,
    OPTION_BEST, OPTION_PATIENCE, OPTION_MONITOR, OPTION_MODE, OPTION_MIN_DELTA, OPTION_REDUCE,
    OPTION_STOP_ON_NAN, OPTION_LOG, OPTION_LOG_STEPS, OPTION_LOG_EVERY, OPTION_TENSORBOARD,
    OPTION_TRACE, OPTION_TRACE_STEPS, OPTION_SAVE_STATE, OPTION_SAVE_EVERY, OPTION_RESUME,
    OPTION_CONFUSION, OPTION_OUTPUT, OPTION_CLASSES, OPTION_BATCH, OPTION_STEPS, OPTION_FROM,
    OPTION_TO, OPTION_STATE, OPTION_PERCENTILE, OPTION_LAYERS, OPTION_TENSORS, OPTION_AUGMENT,
    OPTION_SHOWN, OPTION_COUNT
};

// TrainerOption: its name, its argument (NULL: none), the commands that take it, its meaning, and
// its names in other programs.
struct TrainerOption {
    const char *name, *argument, *commands, *meaning, *other_names;
};

static const TrainerOption trainer_options[] = {
    {"--data", "DIR", "train eval predict calibrate find-lr show",
     "a folder of data sets under their usual names",
     "--dataset --data-dir --dir --folder"},
    {"--train", "INPUT=FILES", "train calibrate find-lr show",
     "files of an input, joined by commas; may be repeated", ""},
    {"--train-images", "FILES", "train calibrate find-lr show",
     "files of the input that is no label", ""},
    {"--train-labels", "FILES", "train find-lr show",
     "files of the label; CIFAR's images hold them", ""},
    {"--val", "INPUT=FILES", "train", "the validation set, likewise", "--valid --validation"},
    {"--val-images", "FILES", "train", "of the validation set", ""},
    {"--val-labels", "FILES", "train", "of the validation set", ""},
    {"--val-split", "SHARE", "train", "validate on this share (0.1: a tenth) of the training set",
     "--validation-split"},
    {"--test", "INPUT=FILES", "train eval predict", "the test set, likewise", ""},
    {"--test-images", "FILES", "train eval predict", "of the test set", "--images --input"},
    {"--test-labels", "FILES", "train eval", "of the test set", "--labels"},
    {"--mean", "M,...", "train eval predict calibrate find-lr show",
     "subtract from images, a number a channel", ""},
    {"--std", "S,...", "train eval predict calibrate find-lr show",
     "then divide by these; bytes are first put in 0 .. 1",
     ""},
    {"--flip", NULL, "train show", "change left and right in half of the training samples",
     "--hflip --horizontal-flip"},
    {"--crop", "N", "train show", "move training images by up to N pixels; outside is black",
     "--shift"},
    {"--resized-crop", "LEAST:MOST", "train show",
     "resize a crop of this share of a training image's area (0.08:1)", "--random-resized-crop"},
    {"--randaugment", "N,M", "train show", "N operations of RandAugment, of magnitude M of 30",
     "--auto-augment --aa"},
    {"--jitter", "B,C,S,H", "train show",
     "change brightness, contrast, saturation, hue by up to these", "--color-jitter"},
    {"--rotate", "DEGREES", "train show", "turn training images by up to so much to either side",
     "--rotation --degrees"},
    {"--erase", "P", "train show", "erase a rectangle of a training image with this probability",
     "--random-erase --reprob"},
    {"--mixup", "A", "train show", "blend training samples in shares of Beta(A, A)",
     "--mixup-alpha"},
    {"--cutmix", "A", "train show", "copy rectangles from other samples, of shares of Beta(A, A)",
     "--cutmix-alpha"},
    {"--workers", "N", "train eval predict calibrate find-lr", "threads that read batches (1)",
     "-j --jobs --threads --num-workers"},
    {"--epochs", "N", "train", "passes over the training set (as the net says, or 10)",
     "--num-epochs --max-epochs"},
    {"--seed", "N", "train step find-lr show", "of weights, order and all random draws (0)",
     "--random-seed"},
    {"--lr", "RATE", "train step", "the learning rate, instead of the net's",
     "--learning-rate --rate"},
    {"--load", "FILE", "train eval predict step export calibrate find-lr",
     "begin with the weights of this file",
     "--weights --model --checkpoint --ckpt"},
    {"--init", "FILE", "train step find-lr", "begin with the tensors of this file that fit the net",
     "--pretrained --finetune --transfer"},
    {"--ignore", "GLOB", "train step find-lr",
     "leave out these tensors of --init; may be repeated",
     "--exclude --skip"},
    {"--save", "FILE", "train step calibrate",
     "write the last weights here", "-o --out --save-weights"},
    {"--best", "FILE", "train", "write the weights of the least validation loss here",
     "--save-best"},
    {"--patience", "N", "train", "stop when N epochs brought no less validation loss",
     "--early-stopping"},
    {"--monitor", "NAME", "train", "loss or a metric instead, of training, or with val_ before it",
     "--metric"},
    {"--mode", "min|max", "train", "the better direction of --monitor (min for losses and errors)",
     ""},
    {"--min-delta", "D", "train", "a smaller change is none for --patience (0)", ""},
    {"--reduce-on-plateau", "F[,N[,MIN]]", "train",
     "multiply the rate by F after N epochs (10) without a better figure",
     "--reduce-lr-on-plateau --plateau"},
    {"--stop-on-nan", NULL, "train", "end with status 3 at the first loss that is not finite",
     "--terminate-on-nan"},
    {"--log", "FILE", "train", "write a line of CSV an epoch", "--csv"},
    {"--log-steps", "FILE", "train", "write a line of CSV each N training steps of --log-every",
     ""},
    {"--log-every", "N", "train", "training steps between two rows of steps",
     "--log-interval --update-freq --print-freq"},
    {"--tensorboard", "DIR", "train", "write event files to DIR/train and DIR/validation",
     "--logdir --log-dir --tb"},
    {"--trace", "FILE", "train", "write the time of each launch of some training steps here",
     "--profile"},
    {"--trace-steps", "A..B", "train", "the training steps of --trace (2..4)", "--profile-batch"},
    {"--save-state", "FILE", "train", "write the state here after every epoch, and when stopped",
     "--save-checkpoint"},
    {"--save-every", "N", "train", "write it after every N training steps, too", "--save-interval"},
    {"--resume", "FILE", "train", "go on from a state, with the data and options of its run",
     "--continue --restore"},
    {"--confusion", NULL, "eval", "print the confusion matrix, and precision and recall",
     "--confusion-matrix"},
    {"--output", "DIR", "predict find-lr",
     "write NAME.npy of each output here; or rates.csv and rates.svg", "-o --out"},
    {"--classes", "FILE", "predict", "write the class of each sample, as CSV", "--csv"},
    {"--batch", "FILE", "step", "safetensors with a tensor for each input", ""},
    {"--steps", "N", "step find-lr", "training steps (1; find-lr: 100)", ""},
    {"--from", "RATE", "find-lr", "the first learning rate (1e-7)", "--start-lr --min-lr"},
    {"--to", "RATE", "find-lr", "the last learning rate (10)", "--end-lr --max-lr"},
    {"--state", "FILE", "export", "write the bytes that NAME_import takes here",
     "-o --out --output"},
    {"--percentile", "P", "calibrate", "percent of a map's numbers within its range (100)", ""},
    {"--layers", NULL, "calibrate",
     "print the signal-to-noise ratio of each layer's weight and map", "--snr"},
    {"--tensors", NULL, "info", "every tensor, a line each: role name dtype shape classes",
     "--verbose -v"},
    {"--augment", "DIR", "show", "write an image for each sample here", "-o --out --output"},
    {"--count", "N", "show", "how many samples (16)", "--samples -n"}};

// GivenOption: an option of the command line.  The list also holds repeated ones.
struct GivenOption {
    int option;
    const char *text;
};

// Trainer: a run of the program.
struct Trainer {
    const Net *net;
    const char *option[OPTION_COUNT];   // the last one given, or NULL
    GivenOption *given;
    int given_count;
    long long epochs, seed, steps, shown, workers, patience, save_every, log_every;
    double rate, val_split, percentile, min_delta;
    Augmentation augmentation;          // without those of an epoch
    struct {                            // --reduce-on-plateau
        double factor;
        long long patience;
        double least;
    } reduce;
    int stopped;                        // the signal that stopped the run, or 0
    bool diverged;                      // --stop-on-nan ended the run
    void *arena;
    size_t free_before, device_bytes;   // of the device: free before init, and all
    BatchReader reader;
};

// Parses an option's integer, at least `least`.  Without the option the value is unchanged.
static inline bool parse_integer(const Trainer *t, int option, long long least, long long *value)
{
    const char *text = t->option[option];
    if (!text) return true;
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    if (*end || end == text || errno || *value < least || *value > INT_MAX)
        return complain("%s %s: wanted a whole number from %lld to %d",
                        trainer_options[option].name, text, least, INT_MAX);
    return true;
}

// Parses the integers of all options.
static inline bool parse_integers(Trainer *t)
{
    return parse_integer(t, OPTION_EPOCHS, 1, &t->epochs) &&
           parse_integer(t, OPTION_SEED, 0, &t->seed) &&
           parse_integer(t, OPTION_STEPS, 1, &t->steps) &&
           parse_integer(t, OPTION_SHOWN, 1, &t->shown) &&
           parse_integer(t, OPTION_WORKERS, 1, &t->workers) &&
           parse_integer(t, OPTION_PATIENCE, 1, &t->patience) &&
           parse_integer(t, OPTION_SAVE_EVERY, 1, &t->save_every) &&
           parse_integer(t, OPTION_LOG_EVERY, 1, &t->log_every);
}

// True if a type holds the number without rounding it to 0 or infinity.
static inline bool type_holds(int type, double value)
{
    double held = type == SAFE_F32 ? (double)(float)value : value;
    return isfinite(held) && (held != 0) == (value != 0);
}

// Parses the real numbers: the rate, the share, the percentile, the least change.
static inline bool parse_reals(Trainer *t)
{
    const char *rate = t->option[OPTION_LR], *split = t->option[OPTION_VAL_SPLIT];
    const char *percent = t->option[OPTION_PERCENTILE], *delta = t->option[OPTION_MIN_DELTA];
    char *end = NULL;
    if (rate) t->rate = strtod(rate, &end);
    if (rate && (*end || end == rate || !(t->rate >= 0 && t->rate <= FLT_MAX)))
        return complain("--lr %s: wanted a number from 0 to 3.4e38", rate);
    if (rate && !type_holds(SAFE_F32, t->rate))
        return complain("--lr %s: wanted 0, or a number that float does not round to 0", rate);
    if (split) t->val_split = strtod(split, &end);
    if (split && (*end || end == split || !(t->val_split > 0 && t->val_split < 1)))
        return complain("--val-split %s: wanted a number between 0 and 1", split);
    if (percent) t->percentile = strtod(percent, &end);
    if (percent && (*end || end == percent || !(t->percentile > 0 && t->percentile <= 100)))
        return complain("--percentile %s: wanted a number above 0, at most 100", percent);
    if (delta) t->min_delta = strtod(delta, &end);
    if (delta && (*end || end == delta || !(t->min_delta >= 0 && t->min_delta <= DBL_MAX)))
        return complain("--min-delta %s: wanted a number from 0", delta);
    return true;
}

// Parses --reduce-on-plateau: a factor, then epochs and the least rate, by default as in Keras.
static inline bool parse_reduction(Trainer *t)
{
    const char *text = t->option[OPTION_REDUCE];
    char *end = NULL;
    if (!text) return true;
    t->reduce = {strtod(text, &end), 10, 0};
    bool good = end != text && t->reduce.factor > 0 && t->reduce.factor < 1;
    for (int i = 0; i < 2 && good && *end == ','; i++) {
        const char *at = end + 1;
        if (i == 0) t->reduce.patience = strtoll(at, &end, 10);
        else t->reduce.least = strtod(at, &end);
        good = end != at;
    }
    good = good && !*end && t->reduce.patience >= 1 && t->reduce.patience <= INT_MAX &&
           t->reduce.least >= 0 && t->reduce.least <= FLT_MAX;
    return good || complain("--reduce-on-plateau %s: wanted a factor between 0 and 1, then epochs "
                            "from 1 and the least rate, joined by commas: 0.1,10,0", text);
}

// Checks options that need another one, and options that exclude each other.
static inline bool options_agree(const Trainer *t)
{
    static const int pairs[][3] = {
        {OPTION_SAVE_EVERY, OPTION_SAVE_STATE, 1}, {OPTION_RESUME, OPTION_LOAD, 0},
        {OPTION_RESUME, OPTION_INIT, 0}, {OPTION_LOAD, OPTION_INIT, 0},
        {OPTION_IGNORE, OPTION_INIT, 1}, {OPTION_RESIZED_CROP, OPTION_CROP, 0},
        {OPTION_MODE, OPTION_MONITOR, 1},
        {OPTION_MIN_DELTA, OPTION_PATIENCE, 1}, {OPTION_LOG_STEPS, OPTION_LOG_EVERY, 1},
        {OPTION_TRACE_STEPS, OPTION_TRACE, 1},
        {OPTION_VAL_SPLIT, OPTION_VAL, 0}, {OPTION_VAL_SPLIT, OPTION_VAL_IMAGES, 0},
        {OPTION_VAL_SPLIT, OPTION_VAL_LABELS, 0}};
    for (const int(&pair)[3] : pairs) {
        const char *name = trainer_options[pair[0]].name, *other = trainer_options[pair[1]].name;
        if (t->option[pair[0]] && !t->option[pair[1]] && pair[2])
            return complain("%s needs %s", name, other);
        if (t->option[pair[0]] && t->option[pair[1]] && !pair[2])
            return complain("%s and %s: wanted one of them", name, other);
    }
    if (t->log_every && !t->option[OPTION_LOG_STEPS] && !t->option[OPTION_TENSORBOARD])
        return complain("--log-every needs --log-steps or --tensorboard");
    return true;
}

// Parses the numbers of --mean or --std, one for all channels or one each.  Returns one per
// channel.  type: of the input's elements.
static inline bool parse_channels(const Trainer *t, int option, int type, long long channels,
                                  double **values)
{
    const char *at = t->option[option];
    bool divisor = option == OPTION_STD;
    double *list = (double *)take_memory((size_t)channels * sizeof *list);
    long long count = 0;
    *values = list;
    for (bool more = at != NULL; more; count++) {
        char *end;
        double value = strtod(at, &end);
        if (end == at || (*end && *end != ',') || !isfinite(value) || (divisor && !(value > 0)))
            return complain("%s %s: wanted numbers%s, joined by commas",
                            trainer_options[option].name, t->option[option],
                            divisor ? " above 0" : "");
        if (!type_holds(type, value))
            return complain("%s %s: wanted numbers that float can hold, found %g",
                            trainer_options[option].name, t->option[option], value);
        if (count < channels) list[count] = value;
        more = *end == ',';
        at = end + more;
    }
    if (at && count != 1 && count != channels)
        return complain("%s %s: wanted 1 number or %lld, one a channel",
                        trainer_options[option].name, t->option[option], channels);
    for (long long i = count; i < channels; i++) list[i] = at ? list[0] : divisor;
    return true;
}
