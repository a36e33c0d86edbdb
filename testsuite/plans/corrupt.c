// Draws corruptions of sound plans and tells what the compiler's checker says:
//
//     corrupt_plans SEED COUNT ALL EVERY FOLDER < nets
//
// A line of standard input is a net: its name, its file, batch, whether it is
// run (1 or 0), and NAME=V for -D, or squeeze=N for a budget of training, N
// hundredths above the smallest (squeeze.h).  Plans are made in every mode that
// it has, at -O0, -O1 and -O2.  Of the first ALL corruptions, and of every other that
// the checker takes for sound, a line is printed, and after it the plan:
//
//     corruption KIND NET MODE LEVEL NUMBER VERDICT BYTES WHAT
//
// VERDICT is caught or sound; through, where second_checker takes it for sound
// and the compiler's does not, and then nothing else is printed.  BYTES is what
// a check of each byte says of what is not caught, sound or unsound, or - of
// what is too large for that or has no slices and nothing inlined.  Of each
// EVERYth that is printed and not caught, in mode train of a net that is run,
// FOLDER/NUMBER.cu is the file that is emitted from that plan, if one can be.
// The sound plan and its file are printed first, as NET.LEVEL.  The table comes
// last.
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../../codegen/codegen.h"
#include "../../frontend/pipeline.h"
#include "../unit/brute_plan.h"
#include "../unit/nets.h"
#include "../unit/squeeze.h"
#include "second.h"
#include "spoil.h"

typedef struct Net {
    char       *name;
    bool        run;
    int         level, squeeze;
    Graph      *graph[MODE_COUNT];
    const Plan *plan[MODE_COUNT], *apart[MODE_COUNT];
} Net;

typedef struct Sample {
    const Net  *net;
    Mode        mode;
    const Plan *plan;
} Sample;

typedef struct Tally {
    int drawn, caught, through;
} Tally;

typedef struct Job {
    Arena      *arena;
    Net        *nets;
    Sample     *samples;
    int32_t     net_count, net_capacity, sample_count, sample_capacity;
    uint64_t    seed;
    int         count, all, every, emitted;
    const char *folder;
    Tally      *tally;
} Job;

// ---- nets -------------------------------------------------------------------

// The plan of one mode; leaves NULL where the net has no such mode.
static void plan_mode(Job *job, Net *net, Mode mode, const char *path,
                      const FrontendOptions *frontend)
{
    FrontendOptions options = *frontend;
    PassOptions passes;
    Input in;
    FILE *nowhere = fopen("/dev/null", "w");
    Diag *diag = NEW(job->arena, Diag);
    *diag = (Diag){.arena = job->arena, .stream = nowhere};
    options.mode = mode;
    pass_options_default(&passes, net->level);
    if (!input_open(&in, job->arena, diag, path)) exit(3);
    if (net->squeeze > 0 && mode == TRAIN)
        passes.budget = squeezed_budget(&in, &options, &passes, net->squeeze);
    net->graph[mode] = input_graph(&in, &options);
    if (net->graph[mode])
        net->plan[mode] = run_pipeline(net->graph[mode], &passes);
    if (net->plan[mode]) net->apart[mode] = plan_apart(net->graph[mode]);
    fclose(nowhere);
}

static void keep_net(Job *job, const Net *net)
{
    job->nets = arena_grow(job->arena, job->nets, &job->net_capacity,
                           (int64_t)job->net_count + 1, sizeof *net);
    job->nets[job->net_count++] = *net;
}

static void read_net(Job *job, char *line)
{
    const char *defines[16];
    FrontendOptions frontend = {.real = F32, .defines = defines};
    char *name = strtok(line, " \n"), *path = strtok(NULL, " \n");
    frontend.batch = atoll(strtok(NULL, " \n"));
    bool run = strtok(NULL, " \n")[0] == '1';
    int squeeze = 0;
    for (char *word; (word = strtok(NULL, " \n"));)
        if (sscanf(word, "squeeze=%d", &squeeze) != 1)
            defines[frontend.define_count++] =
                arena_copy(job->arena, word, strlen(word));
    bool any = false;
    for (int level = 0; level <= 2; level++) {
        Net net = {.run = run, .level = level, .squeeze = squeeze};
        net.name = arena_copy(job->arena, name, strlen(name));
        for (Mode mode = 0; mode < MODE_COUNT; mode++) {
            plan_mode(job, &net, mode, path, &frontend);
            any |= net.plan[mode] != NULL;
        }
        keep_net(job, &net);
    }
    if (!any) {
        fprintf(stderr, "%s has no plan\n", name);
        exit(1);
    }
}

static void list_samples(Job *job)
{
    for (int32_t i = 0; i < job->net_count; i++)
        for (Mode mode = 0; mode < MODE_COUNT; mode++) {
            const Net *net = &job->nets[i];
            if (!net->plan[mode]) continue;
            job->samples = arena_grow(
                job->arena, job->samples, &job->sample_capacity,
                (int64_t)job->sample_count + 1, sizeof(Sample));
            job->samples[job->sample_count++] =
                (Sample){net, mode, net->plan[mode]};
        }
}

// ---- emitted files ----------------------------------------------------------

// In a process of its own: what it takes of the graph's arena is given back,
// and a plan that is not the graph's may end it.  Returns whether there is a
// file.
static bool emit_file(const Job *job, const Net *net, const Plan *plan,
                      const char *name)
{
    const char *path = arena_print(job->arena, "%s/%s.cu", job->folder, name);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        EmitInput in = {.command_line = "cnnc", .with_main = true};
        in.train = placed_as(net->graph[TRAIN], plan);
        in.train_plan = plan;
        in.eval = net->graph[EVAL], in.eval_plan = net->plan[EVAL];
        in.infer = net->graph[INFER], in.infer_plan = net->plan[INFER];
        FILE *out = fopen(path, "w");
        if (!out) _exit(1);
        emit_cuda(&in, out);
        _exit(fclose(out) != 0);
    }
    int status = 1;
    bool done = child > 0 && waitpid(child, &status, 0) > 0 && status == 0;
    if (!done) remove(path);
    return done;
}

static void emit_sound(const Job *job, const Net *net)
{
    if (!net->run || job->every == 0 || !net->plan[TRAIN]) return;
    const char *name =
        arena_print(job->arena, "%s.%d", net->name, net->level);
    if (!emit_file(job, net, net->plan[TRAIN], name)) {
        fprintf(stderr, "can't emit %s\n", name);
        exit(1);
    }
    for (Mode mode = TRAIN; mode <= EVAL; mode++) {
        printf("plan %s %s\n", name, mode_names[mode]);
        plan_print_json(copy_plan(job->arena, net->plan[mode]), stdout);
    }
}

// ---- corruptions ------------------------------------------------------------

// The real checker looks at slices by columns, and so does plan_check.py.
static const char *check_bytes(Arena *scratch, const Plan *plan)
{
    enum { MOST = 1 << 18 };
    bool any = false;
    for (int k = 0; k < plan->buffer_count; k++)
        any |= plan->buffers[k].rows != 0 || plan->buffers[k].inlined;
    if (!any || plan->arena_bytes > MOST) return "-";
    return sound_by_bytes(scratch, plan) ? "sound" : "unsound";
}

static void report(Job *job, Arena *scratch, const Sample *sample, Plan *plan,
                   int kind, int number, const char *verdict,
                   const char *wrong)
{
    char name[32] = "-";
    if (!spoiler_of(kind)->printable) {
        if (strcmp(verdict, "caught") != 0)
            printf("wild %s is %s\n", spoiler_of(kind)->name, verdict);
        return;
    }
    bool is_run = sample->net->run && sample->mode == TRAIN && job->every > 0;
    if (strcmp(verdict, "caught") != 0 && is_run &&
        job->emitted++ % job->every == 0) {
        snprintf(name, sizeof name, "%d", number);
        if (!emit_file(job, sample->net, plan, name)) strcpy(name, "-");
    }
    const char *bytes = "-";
    if (strcmp(verdict, "caught") != 0) bytes = check_bytes(scratch, plan);
    printf("corruption %s %s %s %d %s %s %s %s\n", spoiler_of(kind)->name,
           sample->net->name, mode_names[sample->mode], sample->net->level,
           name, verdict, bytes, wrong ? wrong : "");
    number_buffers(scratch, plan);
    plan_print_json(plan, stdout);
}

// Draws until the plan is another.  A kind that changes nothing in a hundred
// draws is drawn again.
static Plan *spoil(Job *job, Arena *scratch, Sample *sample, int *kind)
{
    for (int i = 0;; i++) {
        uint32_t samples = (uint32_t)job->sample_count;
        if (i % 100 == 0)
            *kind = (int)next_number(&job->seed, (uint32_t)count_spoilers());
        *sample = job->samples[next_number(&job->seed, samples)];
        Spoil s = {.arena = scratch, .seed = job->seed};
        s.apart = sample->net->apart[sample->mode];
        s.plan = copy_plan(scratch, sample->plan);
        corrupt_plan(&s, *kind);
        job->seed = s.seed;
        if (!same_plan(s.plan, sample->plan)) return s.plan;
    }
}

static void corrupt(Job *job, int number)
{
    Arena *scratch = arena_new();
    Sample sample;
    int kind = 0;
    Plan *plan = spoil(job, scratch, &sample, &kind);
    const Graph *g =
        joined_as(scratch, sample.net->graph[sample.mode], plan);
    const char *wrong = verify_program(scratch, g, plan);
    bool through = wrong && !second_checker(scratch, g, plan);
    Tally *tally = &job->tally[kind];
    tally->drawn++;
    tally->caught += wrong != NULL;
    tally->through += through;
    if (through)
        report(job, scratch, &sample, plan, kind, number, "through", wrong);
    else if (number < job->all || (!wrong && job->all >= 0))
        report(job, scratch, &sample, plan, kind, number,
               wrong ? "caught" : "sound", wrong);
    arena_free(scratch);
}

int main(int argc, char **argv)
{
    char line[4096];
    if (argc != 6) return 2;
    Job job = {.arena = arena_new(), .seed = strtoull(argv[1], NULL, 10),
               .count = atoi(argv[2]), .all = atoi(argv[3]),
               .every = atoi(argv[4]), .folder = argv[5]};
    job.tally = NEW_ARRAY(job.arena, count_spoilers(), Tally);
    while (fgets(line, sizeof line, stdin)) read_net(&job, line);
    list_samples(&job);
    for (int32_t i = 0; i < job.net_count; i++) emit_sound(&job, &job.nets[i]);
    for (int i = 0; i < job.count; i++) corrupt(&job, i);
    printf("plans %d of %d nets at three levels\n", (int)job.sample_count,
           (int)job.net_count / 3);
    for (int k = 0; k < count_spoilers(); k++)
        printf("tally %s %d %d\n", spoiler_of(k)->name, job.tally[k].drawn,
               job.tally[k].caught);
    arena_free(job.arena);
    return 0;
}
