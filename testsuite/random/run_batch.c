// Runs the programs of a batch and holds them to the reference:
//
//     run_batch WORK
//
// Each program runs in a process of its own, with NaN in bytes that its plan
// calls dead or unwritten. The plans go to the folder WORK. A crash or a hang
// is a failure like a wrong result.  Prints a line a program:
//
//     ok PATH LINE FIRST ALL EVALUATED LOOSE
//     FAILED PATH LINE: what differs
//     dropped PATH LINE: why
//
// That many tensors were compared after one step, all steps and in evaluation.
// LOOSE counts tensors, of these and of those that nothing can be said about,
// with a bound of more than twice 1e-9 of their norm.
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../../runtime/host/cublas_v2.h"
#include "../../runtime/host/cuda_runtime_api.h"
#include "../../ir/dtype.h"
#include "running.h"
#include "slopes.h"

enum {
    SECONDS = 60,               // of a processor, that a program may take
    WAITED = 600,               // by the clock, where something waits
    SAID = 100                  // the status of a child that has printed its
};                              // result, and of nothing else

void complain(Running *r, const char *text)
{
    printf("FAILED %s %d: %s\n", r->program->path, r->program->line, text);
    r->good = false;
}

// ---- numbers in the arena ---------------------------------------------------

static void *numbers_of(Arena *arena, const Value *v, const double *from)
{
    int64_t count = elements(v->shape);
    void *to = arena_alloc(arena, (size_t)count, (size_t)dtype_bytes(v->dtype));
    for (int64_t i = 0; i < count; i++)
        switch (v->dtype) {
        case F32: ((float *)to)[i] = (float)from[i]; break;
        case F64: ((double *)to)[i] = from[i]; break;
        case I32: ((int32_t *)to)[i] = (int32_t)from[i]; break;
        case F16:
        case BF16: ((uint16_t *)to)[i] = half_bits(v->dtype, from[i]); break;
        default:  ((uint8_t *)to)[i] = (uint8_t)from[i]; break;
        }
    return to;
}

// ---- the program's calls ----------------------------------------------------

static bool call(Running *r, const char *name, int status)
{
    char text[256];
    if (status == 0) return true;
    const char *why = r->program->text(&r->context);
    snprintf(text, sizeof text, "%s fails with %d at step %d: %s", name, status,
             r->program->step(&r->context), why != NULL ? why : "");
    complain(r, text);
    return false;
}

// Inputs in the order of the graph's values, as the interface has them;
// inference alone reads the inputs of its own graph.
static void prepare_inputs(Running *r, const Graph *g, const Graph *infer)
{
    int count = 0, inferred = 0;
    for (ValueId v = 0; v < g->value_count; v++) {
        const Value *value = &g->values[v];
        if (value->kind != INPUT) continue;
        ValueId from = case_value(r->ref->inputs, value->name);
        size_t bytes = (size_t)(value_bytes(value) / g->batch *
                                r->ref->samples);
        r->in[count] = numbers_of(r->arena, value, r->ref->given[from]);
        r->in_bytes[count] = bytes;
        if (case_value(infer, value->name) != NONE) {
            r->in_infer[inferred] = r->in[count];
            r->infer_bytes[inferred++] = bytes;
        }
        count++;
    }
}

// Weights, and the averages that begin as they do, over those that init drew.
static void write_weights(Running *r, const Graph *g)
{
    for (ValueId v = 0; v < g->value_count; v++) {
        const Value *value = &g->values[v];
        ValueId of = is_weight(value->kind) ? v :
                     value->init.kind == INIT_COPY ? value->state_of : NONE;
        if (of == NONE || !is_persistent(value->kind)) continue;
        ValueId from = case_value(r->ref->inputs, g->values[of].name);
        const void *data = numbers_of(r->arena, value, r->ref->given[from]);
        cudaMemcpy((char *)r->memory + value->offset, data,
                   (size_t)value_bytes(value), cudaMemcpyHostToDevice);
    }
}

// Calls infer and compares its results for the existing samples.
static void infer(Running *r, const Graph *g)
{
    void *out[MOST_TENSORS];
    size_t bytes[MOST_TENSORS];
    const Value *value[MOST_TENSORS];
    int count = 0;

    for (int number = 1; number < MOST_TENSORS; number++)
        for (ValueId v = 0; v < g->value_count; v++) {
            if (g->values[v].output_number != number) continue;
            value[count] = &g->values[v];
            out[count] = arena_alloc(r->arena,
                                     (size_t)value_bytes(value[count]), 1);
            bytes[count] = (size_t)(value_bytes(value[count]) / g->batch *
                                    r->ref->samples);
            count++;
        }
    if (count == 0 || !call(r, "infer", r->program->infer(&r->context,
                            r->in_infer, r->infer_bytes, out, bytes)))
        return;
    cudaDeviceSynchronize();
    const Moment *m = &r->ref->moment[2];
    for (int k = 0; k < count; k++)
        for (int i = 0; i < m->count; i++) {
            Expected e = m->tensor[i];
            if (strcmp(e.name, value[k]->name) != 0) continue;
            e.count = e.count / g->batch * r->ref->samples;
            compare_tensor(r, 2, &e, value[k]->dtype, out[k]);
        }
}

static bool train(Running *r)
{
    for (int step = 1; step <= STEPS && r->good; step++) {
        if (!call(r, "train", r->program->train(&r->context, r->in,
                                                r->in_bytes)))
            return false;
        if (step == 1) compare_arena(r, 0, r->train);
        if (step == STEPS) compare_arena(r, 1, r->train);
    }
    if (!r->good) return false;
    compare_metrics(r, 1);
    if (!call(r, "evaluate", r->program->evaluate(&r->context, r->in,
                                                  r->in_bytes)))
        return false;
    compare_arena(r, 2, r->infer);
    compare_metrics(r, 2);
    return r->good;
}

// ---- one program ------------------------------------------------------------

static bool write_plan(const Plan *plan, const char *path)
{
    FILE *out = fopen(path, "w");
    if (out == NULL) return false;
    plan_print_json(plan, out);
    return fclose(out) == 0;
}

// Compiles once more, for the addresses; the plans are written for the host
// runtime to follow.
static bool compile(Running *r, Diag *diag, const char *work)
{
    Compiled c;
    Plan *plan;
    const char *names = "";

    if (!case_open(&c, r->arena, diag, r->of, false)) return false;
    Graph *alone = case_graph(&c, INFER, &plan);
    for (int mode = TRAIN; alone != NULL && mode <= INFER; mode++) {
        if ((mode != INFER) != r->ref->trains) continue;
        Graph *g = mode == INFER ? alone : case_graph(&c, (Mode)mode, &plan);
        const char *path = arena_print(r->arena, "%s/%d.%d.json", work,
                                       (int)getpid(), mode);
        if (g == NULL || !write_plan(plan, path)) return false;
        names = arena_print(r->arena, "%s%s%s", names,
                            names[0] != '\0' ? ":" : "", path);
        if (mode == TRAIN) r->train = g;
        else r->infer = g;
    }
    if (r->infer == NULL) return false;
    setenv("CNNC_HOST_PLAN", names, 1);
    setenv("CNNC_HOST_THREADS", "1", 1);
    prepare_inputs(r, r->infer, alone);
    return true;
}

static bool run(Running *r)
{
    cublasHandle_t handle;

    if (sizeof r->context < r->program->context_bytes ||
        FIGURES_BYTES < r->program->figures_bytes ||
        cudaMalloc(&r->memory, r->program->arena_bytes) != cudaSuccess ||
        cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) {
        complain(r, "no memory or no handle");
        return false;
    }
    if (!call(r, "init", r->program->init(&r->context, r->memory,
              r->program->arena_bytes, NULL, handle, r->of->seed)))
        return false;
    write_weights(r, r->ref->trains ? r->train : r->infer);
    if (r->ref->trains && !train(r)) return false;
    infer(r, r->infer);
    return r->good;
}

// Once a net: it is the reference's affair, whatever the setting.
static void check_slopes(Running *r)
{
    double slope, gradient;
    char text[160];

    if (slopes_agree(r->arena, r->ref, r->of, &slope, &gradient)) return;
    snprintf(text, sizeof text, "along a random direction the loss has a slope "
             "of %.9g, and the gradients say %.9g", slope, gradient);
    complain(r, text);
}

static void run_program(const EmittedProgram *program, const Case *of,
                        const Reference *ref, const char *work)
{
    Running r = { .arena = arena_new(), .program = program, .of = of,
                  .ref = ref, .good = true };
    Diag diag = { .arena = r.arena, .stream = stderr };

    if (!compile(&r, &diag, work)) complain(&r, "can't be compiled again");
    if (program->line == 0) check_slopes(&r);
    const int *compared = r.compared;
    if (r.good && run(&r) && compared[0] + compared[1] + compared[2] == 0)
        printf("dropped %s %d: not finite, or not proved to be exact\n",
               program->path, program->line);
    else if (r.good)
        printf("ok %s %d %d %d %d %d\n", program->path, program->line,
               compared[0], compared[1], compared[2], r.loose);
}

// ---- all of them ------------------------------------------------------------

// The reference of the last net and options, which several settings share.
typedef struct Cached {
    Arena     *arena;
    char      *key;
    Reference *ref;
} Cached;

static char *key_of(Arena *arena, const Case *of)
{
    char *key = arena_print(arena, "%s %lld %llu", of->path,
                            (long long)of->samples,
                            (unsigned long long)of->seed);
    for (int i = 0; i < of->argc; i++) {
        int words = words_of_pass(of, i);
        if (words > 0) i += words - 1;
        else if (strncmp(of->argv[i], "-f", 2) != 0)
            key = arena_print(arena, "%s %s", key, of->argv[i]);
    }
    return key;
}

static const Reference *reference_of(Cached *cached, const Case *of)
{
    Arena *arena = arena_new();
    char *key = key_of(arena, of);
    if (cached->key == NULL || strcmp(cached->key, key) != 0) {
        Diag diag = { .arena = arena, .stream = stderr };
        if (cached->arena != NULL) arena_free(cached->arena);
        *cached = (Cached){ arena, key, reference_new(arena, &diag, of) };
    } else {
        arena_free(arena);
    }
    return cached->ref;
}

static void run_child(const EmittedProgram *program, const Case *of,
                      const Reference *ref, const char *work)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CPU, &(struct rlimit){ SECONDS, SECONDS + 1 });
        alarm(WAITED);
        run_program(program, of, ref, work);
        fflush(NULL);
        _exit(SAID);
    }
    waitpid(child, &status, 0);
    for (int mode = TRAIN; mode <= INFER; mode++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%d.%d.json", work, (int)child, mode);
        remove(path);
    }
    if (WIFSIGNALED(status))
        printf("FAILED %s %d: ends by signal %d\n", program->path,
               program->line, WTERMSIG(status));
    else if (WEXITSTATUS(status) != SAID)
        printf("FAILED %s %d: ends with %d\n", program->path, program->line,
               WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
    Arena *arena = arena_new();
    Cached cached = { NULL, NULL, NULL };

    if (argc < 2) return fputs("usage: run_batch WORK\n", stderr), 2;
    for (const EmittedProgram *p = emitted_programs; p->path != NULL; p++) {
        int count;
        Case *cases = cases_read(arena, p->path, &count);
        if (p->line >= count) return 2;
        const Reference *ref = reference_of(&cached, &cases[p->line]);
        if (ref == NULL)
            printf("FAILED %s %d: no reference\n", p->path, p->line);
        else
            run_child(p, &cases[p->line], ref, argv[1]);
    }
    if (cached.arena != NULL) arena_free(cached.arena);
    arena_free(arena);
    return 0;
}
