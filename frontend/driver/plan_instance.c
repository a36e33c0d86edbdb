// cnnc --plan: places buffers from a file, to compare planners.  Sizes are
// those of the file, not rounded.
#define _POSIX_C_SOURCE 200809L

#include "instance.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "output.h"

// About ten seconds of work; with a time limit, all that it permits.
static const int64_t search_work = 4LL * 1000 * 1000 * 1000;

// ---- options ----------------------------------------------------------------

int set_plan(Options *o, const char *value)
{
    if (o->input != NULL) {
        command_message(o->diag, MESSAGE_ERROR, "one input at a time; a second "
                        "is '%s'", value);
        return EXIT_USAGE;
    }
    o->plan = true;
    o->input = value;
    return -1;
}

int set_capacity(Options *o, const char *value)
{
    char *end;
    errno = 0;
    o->capacity = strtoll(value, &end, 10);
    if (errno == 0 && *end == '\0' && o->capacity > 0) return -1;
    command_message(o->diag, MESSAGE_ERROR, "--capacity is a number of bytes, "
                    "not '%s'", value);
    return EXIT_USAGE;
}

int set_time_limit(Options *o, const char *value)
{
    char *end;
    o->time_limit = strtod(value, &end);
    if (*end == '\0' && o->time_limit > 0 && isfinite(o->time_limit)) return -1;
    command_message(o->diag, MESSAGE_ERROR, "--time-limit is a number of "
                    "seconds, not '%s'", value);
    return EXIT_USAGE;
}

int check_plan(const Options *o)
{
    if (o->plan && o->beside_plan == NULL) return -1;
    if (o->plan)
        command_message(o->diag, MESSAGE_ERROR, "--plan goes with -o, "
                        "--capacity and --time-limit alone, not with '%s'",
                        o->beside_plan);
    else
        command_message(o->diag, MESSAGE_ERROR, "--capacity and --time-limit "
                        "go with --plan");
    return EXIT_USAGE;
}

// ---- time -------------------------------------------------------------------

static double deadline;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_late(void)
{
    return now() > deadline;
}

// ---- output -----------------------------------------------------------------

static void print_rows(const Instance *in, FILE *out)
{
    fputs("id,lower,upper,size,offset\n", out);
    for (int32_t i = 0; i < in->count; i++) {
        const Row *row = &in->rows[i];
        fprintf(out, "%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "\n",
                row->id, row->lower, row->upper, row->size,
                in->items[i].offset);
    }
}

static void print_figures(Diag *diag, const Instance *in, int64_t bound,
                          int64_t height, int64_t least)
{
    double share = bound > 0 ? 100 * (double)(height - bound) / (double)bound
                             : 0;
    command_message(diag, MESSAGE_NOTE, "%" PRId32 " buffers, bound %" PRId64
                    ", height %" PRId64 ", gap %" PRId64 " (%.2f %%)%s",
                    in->count, bound, height, height - bound, share,
                    least == height && least > bound ? ", the lowest there is"
                                                     : "");
}

// True if the height is within the capacity; reports an error otherwise.
static bool is_within(const Options *o, int64_t height, int64_t least)
{
    if (o->capacity == 0 || height <= o->capacity) return true;
    command_message(o->diag, MESSAGE_ERROR, "no placement in %" PRId64 " bytes "
                    "%s: the lowest found takes %" PRId64 ", and none takes "
                    "less than %" PRId64, o->capacity,
                    least > o->capacity ? "exists" : "was found", height,
                    least);
    return false;
}

// Converts units to bytes and returns the highest end.  The bound of rounded
// sizes is not valid for exact sizes, so *least is recomputed.
static int64_t to_bytes(Arena *arena, Instance *in, int64_t height,
                        int64_t *least)
{
    if (in->unit == 1) return height;
    height = 0;
    for (int32_t i = 0; i < in->count; i++) {
        Item *item = &in->items[i];
        item->offset *= in->unit;
        item->size = in->rows[i].size;
        if (item->size > 0 && item->offset + item->size > height)
            height = item->offset + item->size;
    }
    *least = place_bound(arena, in->items, in->count);
    return height;
}

int plan_instance(const Options *o)
{
    Diag *diag = o->diag;
    Instance in;
    Output out;
    int64_t least;
    PlaceGoal goal = {.work = o->time_limit > 0 ? INT64_MAX : search_work,
                      .is_late = o->time_limit > 0 ? is_late : NULL};
    deadline = now() + o->time_limit;
    if (!instance_read(&in, o->arena, diag, o->input)) return EXIT_FILE;
    if (diag->error_count > 0) return EXIT_INPUT;
    if (!output_open(&out, diag, o->output)) return EXIT_FILE;
    goal.height = o->capacity / in.unit;
    int64_t height = place_towards(o->arena, in.items, in.count, &goal, &least);
    height = to_bytes(o->arena, &in, height, &least);
    int64_t bound = place_bound(o->arena, in.items, in.count);
    print_figures(diag, &in, bound, height, least);
    if (!is_within(o, height, least)) {
        output_discard(&out, 1);
        return EXIT_OVER;
    }
    print_rows(&in, out.stream);
    return output_close(&out, 1) ? EXIT_DONE : EXIT_FILE;
}
