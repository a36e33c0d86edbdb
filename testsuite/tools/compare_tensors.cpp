// Compares two safetensors files tensor by tensor, by norm:
//
//     compare_tensors A B [--tolerance T] [--floor F] [--names-from-b]
//                     [--gradients]
//
// B is the reference.  Tensors agree if ||a - b|| <= T max(||b||, F g).  Here g is the norm of
// all of B's gradients (names that begin with d.) and momenta (NAME.momentum), and F is 1e-6
// unless it is given.  The surrounding tensors are the scale of one that is zero in exact
// arithmetic.  Elements that are not finite never agree.  A tensor t@N of B holds every N-th
// element of A's flat t, from element 0.  Both files must have the same names, unless
// --names-from-b lets A have more, and --gradients leaves out of B all but gradients and figures.
// Prints each tensor that differs and the worst of all; returns 0 if all agree, 1 if not or if a
// file can't be read, 2 for wrong usage.

#include <set>
#include "../../runtime/trainer/safetensors.cuh"

// The offset in A of a tensor of B.
struct Match {
    const SafeTensor *a;
    size_t stride;
};

static size_t element_count(const SafeTensor *t)
{
    return t->bytes / safe_types[t->type].bytes;
}

static bool same_shape(const SafeTensor *a, const SafeTensor *b)
{
    bool same = a->rank == b->rank;
    for (int i = 0; same && i < a->rank; i++) same = a->shape[i] == b->shape[i];
    return same;
}

// Finds A's tensor for b, by its name or by the part before @; a NULL, if there
// is none of that shape.
static Match find_match(const SafeFile *a, const SafeTensor *b)
{
    const SafeTensor *whole = find_safe_tensor(a, b->name);
    if (whole) return {same_shape(whole, b) ? whole : NULL, 1};
    char name[SAFE_NAME];
    snprintf(name, sizeof name, "%s", b->name);
    char *at = strrchr(name, '@');
    long stride = at ? strtol(at + 1, NULL, 10) : 0;
    if (stride < 1) return {NULL, 1};
    *at = 0;
    const SafeTensor *t = find_safe_tensor(a, name);
    size_t step = (size_t)stride;
    bool fits = t && (element_count(t) + step - 1) / step == element_count(b);
    return {fits ? t : NULL, step};
}

static double norm_of(const SafeTensor *b)
{
    double sum = 0;
    for (size_t i = 0; i < element_count(b); i++) {
        double value = read_element(b->type, b->data, i);
        sum += value * value;
    }
    return sqrt(sum);
}

static double distance(Match match, const SafeTensor *b)
{
    double sum = 0;
    for (size_t i = 0; i < element_count(b); i++) {
        double d =
            read_element(match.a->type, match.a->data, i * match.stride) -
            read_element(b->type, b->data, i);
        sum += d * d;
    }
    return sqrt(sum);
}

static bool is_gradient(const char *name)
{
    static const char momentum[] = ".momentum";
    const char *found = strstr(name, momentum);
    char end = found ? found[sizeof momentum - 1] : 'x';
    return !strncmp(name, "d.", 2) || end == 0 || end == '@';
}

// The norm of all gradients of B.
static double gradient_norm(const SafeFile *b)
{
    double sum = 0;
    for (int i = 0; i < b->count; i++)
        if (is_gradient(b->tensors[i].name)) {
            double norm = norm_of(&b->tensors[i]);
            sum += norm * norm;
        }
    return sqrt(sum);
}

// True if b and its match in A agree; *worst is the greatest distance so far,
// as a part of the permitted one.
static bool tensors_agree(const SafeFile *a, const SafeTensor *b, double floor,
                          double tolerance, double *worst,
                          const char **worst_name)
{
    Match match = find_match(a, b);
    if (!match.a) {
        printf("%s: %s has none of this name and shape\n", b->name, a->path);
        return false;
    }
    double apart = distance(match, b), norm = norm_of(b);
    double scale = norm > floor ? norm : floor;
    double relative = apart == 0 ? 0 : apart / scale;
    if (!*worst_name || !(relative <= *worst)) {
        *worst = relative;
        *worst_name = b->name;
    }
    if (apart <= tolerance * scale) return true;
    printf("%s: differs by %.3g of its norm, %.6g\n", b->name, relative, scale);
    return false;
}

// True if B names all that A has.
static bool names_agree(const SafeFile *a, const SafeFile *b)
{
    std::set<const SafeTensor *> known;
    for (int k = 0; k < b->count; k++)
        known.insert(find_match(a, &b->tensors[k]).a);
    bool good = true;
    for (int i = 0; i < a->count; i++) {
        if (known.count(&a->tensors[i])) continue;
        printf("%s: only in %s\n", a->tensors[i].name, a->path);
        good = false;
    }
    return good;
}

int main(int argc, char **argv)
{
    const char *paths[2] = {NULL, NULL}, *worst_name = NULL;
    double tolerance = 0, part = 1e-6, worst = 0;
    int compared = 0;
    bool from_b = false, gradients = false, good = true;
    program_name = "compare_tensors";
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--names-from-b"))
            from_b = true;
        else if (!strcmp(argv[i], "--gradients"))
            gradients = from_b = true;
        else if (!strcmp(argv[i], "--tolerance") && i + 1 < argc)
            tolerance = strtod(argv[++i], NULL);
        else if (!strcmp(argv[i], "--floor") && i + 1 < argc)
            part = strtod(argv[++i], NULL);
        else if (argv[i][0] != '-' && !paths[1])
            paths[paths[0] != NULL] = argv[i];
        else
            return complain("unknown: %s", argv[i]) + 2;
    }
    if (!paths[1]) return complain("wanted two files") + 2;
    SafeFile a, b;
    if (!read_safetensors(paths[0], &a) || !read_safetensors(paths[1], &b))
        return 1;
    double floor = part * gradient_norm(&b);
    for (int i = 0; i < b.count; i++) {
        const char *name = b.tensors[i].name;
        if (gradients && strncmp(name, "d.", 2) && strcmp(name, "figures"))
            continue;
        good &= tensors_agree(&a, &b.tensors[i], floor, tolerance, &worst,
                              &worst_name);
        compared++;
    }
    if (compared == 0) good = complain("%s has nothing to compare", b.path);
    if (!from_b) good &= names_agree(&a, &b);
    if (worst_name)
        printf("worst of %d: %s, %.3g\n", compared, worst_name, worst);
    release_memory();
    return good ? 0 : 1;
}
