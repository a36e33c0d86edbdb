// Writes weights and a batch of random values for a net:
//
//     net info --tensors | random_tensors --seed S [--weights W] [--batch B]
//
// Element i of a tensor is drawn from a counter that its name and the seed
// begin. So all who know the names draw the same values, in any order:
//
//     u = (splitmix64(fnv1a64(name) + seed * 0x9E3779B97F4A7C15 + i) >> 11) /
//     2^53
//
// Weights of rank 2 and more are (2u - 1) / sqrt(elements / shape[0]), or
// round(127 (2u - 1)) where they are integers.  The scale of weights of that
// name is then (1 + u) (5/3) / 127 / sqrt(elements / shape[0]), so that a
// product has about the size of its operand; the scale of a map is
// (1 + u) / 96.
// Other parameters are (2u - 1) / 10, to which 1 is added where they are called weight (a
// norm's factors) or variance.  Real inputs are 2u - 1, u8 inputs floor(256 u),
// labels floor(classes u).  Where classes u is less than 1/4 above, a label is
// that which the losses ignore, if it is negative.  All is computed in double,
// then rounded to the tensor's type.

#include <initializer_list>

#include "../../runtime/trainer/safetensors.cuh"
#include "../../runtime/trainer/shuffle.cuh"

enum { MOST = 4096 };

// The tensors that go to one file.
struct Collection {
    const char *path;
    SafeTensor tensors[MOST];
    int count;
};

static Collection weights, batch;

static uint64_t fnv1a64(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

// Reads `64x8x8x1`; the number of elements.
static size_t parse_shape(const char *text, SafeTensor *t)
{
    size_t count = 1;
    char *end;
    for (; *text >= '0' && *text <= '9' && t->rank < SAFE_RANK;
         text = *end == 'x' ? end + 1 : end) {
        t->shape[t->rank] = strtoll(text, &end, 10);
        count *= (size_t)t->shape[t->rank++];
    }
    return count;
}

// Returns the least scale of a map, or of the weights that t is the scale of;
// 0: t is no scale.
static double scale_of(const SafeTensor *t)
{
    const char *last = strrchr(t->name, '.');
    if (!last || strcmp(last, ".scale") || t->rank != 1) return 0;
    size_t length = (size_t)(last - t->name);
    for (int i = 0; i < weights.count; i++) {
        const SafeTensor *of = &weights.tensors[i];
        if (strncmp(of->name, t->name, length) || of->name[length]) continue;
        double count = (double)(of->bytes / safe_types[of->type].bytes);
        return 5.0 / 3 / 127 / sqrt(count / (double)of->shape[0]);
    }
    return 1.0 / 96;
}

static void fill(SafeTensor *t, size_t count, bool weight, int classes,
                 int ignored, uint64_t seed)
{
    void *data = take_memory(t->bytes);
    uint64_t key = fnv1a64(t->name) + seed * 0x9E3779B97F4A7C15u;
    double scale = 1;
    if (weight)
        scale =
            t->rank > 1 ? 1 / sqrt((double)(count / (size_t)t->shape[0])) : 0.1;
    const char *last = strrchr(t->name, '.');
    bool is_factor = weight && t->rank == 1 && last &&
                     (!strcmp(last, ".weight") || !strcmp(last, ".variance"));
    double middle = is_factor ? 1 : 0, scaling = weight ? scale_of(t) : 0;
    for (size_t i = 0; i < count; i++) {
        double u = (double)(splitmix64(key + i) >> 11) * 0x1p-53;
        double value = middle + (2 * u - 1) * scale;
        if (classes > 0)
            value = ignored < 0 && u * classes - floor(u * classes) < 0.25
                ? ignored : floor(u * classes);
        else if (t->type == SAFE_U8)
            value = floor(u * 256);
        else if (t->type == SAFE_I8)
            value = round(127 * (2 * u - 1));
        else if (scaling > 0)
            value = (1 + u) * scaling;
        write_element(t->type, data, i, value);
    }
    t->data = (const unsigned char *)data;
}

// Takes one line of the listing: role name dtype shape classes, and the label
// that losses ignore, if there is one.
static bool take_line(const char *line, uint64_t seed)
{
    char role[16], name[SAFE_NAME], dtype[8], shape[128];
    int classes, ignored = 0;
    if (sscanf(line, "%15s %159s %7s %127s %d %d", role, name, dtype, shape,
               &classes, &ignored) < 5)
        return complain("wanted `role name dtype shape classes`, found %s",
                        line);
    bool weight = !strcmp(role, "param");
    if (!weight && strcmp(role, "input")) return true;
    Collection *to = weight ? &weights : &batch;
    if (to->count == MOST) return complain("more than %d tensors", MOST);
    SafeTensor *t = &to->tensors[to->count++];
    snprintf(t->name, sizeof t->name, "%s", name);
    t->type = safe_type_of(dtype);
    if (t->type == SAFE_TYPES)
        return complain("%s: unknown type %s", name, dtype);
    size_t count = parse_shape(shape, t);
    t->bytes = count * safe_types[t->type].bytes;
    fill(t, count, weight, classes, ignored, seed);
    return true;
}

int main(int argc, char **argv)
{
    uint64_t seed = 0;
    char line[512];
    program_name = "random_tensors";
    for (int i = 1; i + 1 < argc; i += 2)
        if (!strcmp(argv[i], "--seed"))
            seed = strtoull(argv[i + 1], NULL, 10);
        else if (!strcmp(argv[i], "--weights"))
            weights.path = argv[i + 1];
        else if (!strcmp(argv[i], "--batch"))
            batch.path = argv[i + 1];
        else
            return complain("unknown: %s", argv[i]) + 2;
    if (argc % 2 == 0) return complain("%s wants a value", argv[argc - 1]) + 2;
    bool good = true;
    while (good && fgets(line, sizeof line, stdin))
        good = take_line(line, seed);
    for (const Collection *c : {&weights, &batch})
        if (good && c->path)
            good = write_safetensors(c->path, c->tensors, c->count);
    release_memory();
    return good ? 0 : 1;
}
