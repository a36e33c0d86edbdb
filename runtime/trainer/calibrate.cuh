// Calibration: the scales of maps and weights that inference in integers of 8 bits stores.
//
// The program was compiled with --calibrate: it infers in floats, and its launches measure each map
// that will have 8 bits.  With --percentile a second pass counts magnitudes in each range, and the
// largest ones are left out.  A scale that quantization-aware training has found is taken from its
// weights instead.  With --layers a last pass sums what rounding changes.  The file has the weights
// as integers, a scale for each of their rows, and the scales of maps.  All other parameters stay
// as they are.
#pragma once
#include "../support/vec/measured.cuh"
#include "evaluate.cuh"

// LayerNoise: sums of squares of numbers, and of what their rounding to 8 bits changes.
struct LayerNoise {
    const char *name;           // of a weight, or of the first map of its scale
    int length;                 // of the name
    bool is_weight;
    double signal, noise;
};

// Returns the parameter whose scales a tensor of the state has; NULL: they are of a map.
static inline const NetTensor *scaled_param(const Net *net, const NetTensor *scale)
{
    size_t length = strlen(scale->name) - strlen(scale_suffix);
    for (int i = 0; i < net->param_count; i++)
        if (strlen(net->params[i].name) == length &&
            !strncmp(net->params[i].name, scale->name, length))
            return &net->params[i];
    return NULL;
}

// True if the program measures maps.
static inline bool calibrates(const Net *net)
{
    for (int i = 0; i < net->state_count && !net->train; i++) {
        const char *name = net->state[i].name;
        size_t length = strlen(name), suffix = strlen(scale_suffix);
        if (length > suffix && !strcmp(name + length - suffix, scale_suffix)) return true;
    }
    return false;
}

// Makes the integers of a weight [rows, ...], from -127 to 127, and the scale of each row: its
// largest magnitude is 127.  A row of zeros has the scale 1.  Adds to the sums of `layer`.
static inline bool quantize_weight(SafeTensor *weight, SafeTensor *scale, LayerNoise *layer)
{
    const float *from = (const float *)(const void *)weight->data;
    const size_t rows = scale->bytes / sizeof(float);
    const size_t count = weight->bytes / sizeof(float) / rows;
    float *to_scale = (float *)(void *)scale->data;
    signed char *to = (signed char *)take_memory(rows * count);
    for (size_t row = 0; row < rows; row++) {
        float largest = 0;
        for (size_t i = 0; i < count; i++) {
            const float number = fabsf(from[row * count + i]);
            if (!(number <= FLT_MAX))
                return complain("%s: element %zu is not finite", weight->name, row * count + i);
            if (number > largest) largest = number;
        }
        to_scale[row] = largest > 0 ? largest / 127 : 1;
        for (size_t i = 0; i < count; i++) {
            const float number = from[row * count + i];
            signed char *integer = &to[row * count + i];
            *integer = (signed char)lrintf(number / to_scale[row]);
            const double change = number - (double)*integer * to_scale[row];
            layer->signal += (double)number * number;
            layer->noise += change * change;
        }
    }
    weight->data = (const unsigned char *)to;
    weight->bytes = rows * count;
    weight->type = SAFE_I8;
    return true;
}

// Returns the part of the range below which `percent` of the magnitudes are.
static inline double part_of_range(const MapRange *range, double percent)
{
    double all = 0, below = 0;
    int i = 0;
    for (int k = 0; k < MapRange::BINS; k++) all += range->bin[k];
    while (i < MapRange::BINS && below < percent / 100 * all) below += range->bin[i++];
    return all > 0 ? (double)i / MapRange::BINS : 1;
}

// Returns the scale of a map: the one of training, if it is not 0.  A map of zeros has the scale 1.
static inline float scale_of(const MapRange *range, double percent, float trained)
{
    if (trained > 0) return trained;
    if (range->phase == MapRange::NOISE) return range->scale;
    return range->scale > 0 ? (float)(range->scale * part_of_range(range, percent)) : 1;
}

// Makes a MapRange the scale of its map, one number.  Refuses numbers that are not finite.  Sets
// the sums of `layer`, if the map has them.
static inline bool take_scale(SafeTensor *scale, double percent, float trained, LayerNoise *layer)
{
    const MapRange *range = (const MapRange *)(const void *)scale->data;
    float *number = (float *)take_memory(sizeof *number);
    *number = scale_of(range, percent, trained);
    if (range->phase == MapRange::NOISE) {
        const auto *of = &range->squares;
        layer->signal = (double)of->signal / MapRange::PARTS + (double)of->signal_beyond;
        layer->noise = (double)of->noise / MapRange::PARTS + (double)of->noise_beyond;
    }
    scale->data = (const unsigned char *)number;
    scale->bytes = sizeof *number;
    scale->type = SAFE_F32;
    scale->shape[0] = 1;
    return isfinite(*number) ||
           complain("%s is %g: wanted finite numbers in the map", scale->name, (double)*number);
}

// Reads the scales of maps that quantization-aware training has found.  Sets `trained`, one for
// each tensor of the state, to the average, number 1 of such a tensor, or to 0 without one.  Sets
// *count to their number.
static inline bool read_trained(const Net *net, const char *path, float *trained, int *count)
{
    SafeFile file;
    if (!read_safetensors(path, &file)) return false;
    for (int i = 0; i < net->state_count; i++) {
        const SafeTensor *found = find_safe_tensor(&file, net->state[i].name);
        if (scaled_param(net, &net->state[i]) || !found ||
            !is_trained_scale(found->name, found->rank, found->shape))
            continue;
        trained[i] = (float)read_element(found->type, found->data, 1);
        *count += trained[i] > 0;
    }
    return true;
}

// Writes all parameters and scales.  Sets the noise of each tensor of the state.
static inline bool write_scales(const Net *net, const char *path, double percent,
                                const float *trained, LayerNoise *layers)
{
    NetList params = tensors_of(net, ROLE_PARAM), scales = tensors_of(net, ROLE_STATE);
    const int most = params.count + scales.count;
    SafeTensor *tensors = (SafeTensor *)take_memory((size_t)most * sizeof *tensors);
    int count = 0;
    add_list(params, tensors, &count);
    add_list(scales, tensors, &count);
    if (!fetch_tensors(net, tensors, count)) return false;
    for (int i = 0; i < scales.count; i++) {
        const NetTensor *param = scaled_param(net, &scales.tensors[i]);
        SafeTensor *scale = &tensors[params.count + i];
        layers[i] = {scale->name, (int)(strlen(scale->name) - strlen(scale_suffix)),
                     param != NULL, 0, 0};
        if (!(param ? quantize_weight(&tensors[param - net->params], scale, &layers[i])
                    : take_scale(scale, percent, trained[i], &layers[i])))
            return false;
    }
    return write_safetensors(path, tensors, count);
}

// Lets the maps count magnitudes from now on, in their ranges, or sum squares with final scales.
static inline bool begin_phase(const Net *net, MapRange::Phase phase, double percent,
                               const float *trained)
{
    for (int i = 0; i < net->state_count; i++) {
        MapRange range;
        const size_t offset = net->state[i].offset;
        if (scaled_param(net, &net->state[i])) continue;
        if (!call_ok(net, net->read(offset, &range, sizeof range))) return false;
        if (phase == MapRange::NOISE) {
            range.scale = scale_of(&range, percent, trained[i]);
            range.squares = {};
        }
        range.phase = phase;
        if (!call_ok(net, net->write(offset, &range, sizeof range))) return false;
    }
    return true;
}

// Prints the signal-to-noise ratio of each layer's weight and map, in dB:
// 10 log10(sum x^2 / sum (x - q(x))^2).
static inline void print_layers(const LayerNoise *layers, int count)
{
    printf("signal to noise of 8 bits, in dB:\n");
    for (int i = 0; i < count; i++) {
        printf("  %-7s %-32.*s ", layers[i].is_weight ? "weight" : "map", layers[i].length,
               layers[i].name);
        if (layers[i].noise > 0)
            printf("%6.2f\n", 10 * log10(layers[i].signal / layers[i].noise));
        else
            printf("%6s\n", "exact");
    }
}

// calibrate: measures the maps over the training set, and writes weights for a program of
// --precision int8.
static inline bool command_calibrate(Trainer *t)
{
    DataSet set;
    const char *path = t->option[OPTION_SAVE];
    PredictionFiles none = {};
    const int count = t->net->state_count;
    const bool counts = t->percentile < 100, squares = t->option[OPTION_LAYERS];
    LayerNoise *layers = (LayerNoise *)take_memory((size_t)count * sizeof *layers);
    float *trained = (float *)take_memory((size_t)count * sizeof *trained);
    int weights = 0, found = 0;
    if (!paths_differ(t, 1 << SET_TRAIN, false) || !can_write(path) ||
        !describe_set(t, &set) || !read_set(t, SET_TRAIN, true, &set))
        return false;
    const DataSet *sets[] = {&set};
    if (!sources_are_read(t, sets, 1) ||
        !start_reader(&t->reader, &set, t->net->batch, (int)t->workers) || !open_net(t) ||
        !files_are_whole() ||
        (t->option[OPTION_LOAD] &&
         !read_trained(t->net, t->option[OPTION_LOAD], trained, &found)) ||
        !predict_samples(t, "calibrate", &set, &none) ||
        (counts && (!begin_phase(t->net, MapRange::COUNTS, t->percentile, trained) ||
                    !predict_samples(t, "calibrate", &set, &none))) ||
        (squares && (!begin_phase(t->net, MapRange::NOISE, t->percentile, trained) ||
                     !predict_samples(t, "calibrate", &set, &none))) ||
        !write_scales(t->net, path, t->percentile, trained, layers))
        return false;
    for (int i = 0; i < count; i++) weights += layers[i].is_weight;
    printf("%s: scales of %d maps, from %lld samples, and of %d weights\n", path, count - weights,
           set.count, weights);
    if (found) printf("%d of the scales of maps are those of training\n", found);
    if (squares) print_layers(layers, count);
    return true;
}
