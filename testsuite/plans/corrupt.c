// Draws corruptions of sound plans and prints the verdict of the compiler's
// checker:
//
//     corrupt_plans SEED COUNT ALL FOLDER < nets
//
// A line of standard input is a net (listed.h).  Plans are made in every mode
// that it has, at -O0, -O1 and -O2.  A line is printed for each of the first
// ALL corruptions, and for every other that the checker accepts, and after it
// the plan:
//
//     corruption KIND NET MODE LEVEL RUN VERDICT BYTES WHAT
//
// VERDICT is caught or sound; through, where second_checker takes it for sound
// and the compiler's does not, and then nothing else is printed.  BYTES is the
// verdict of a check of each byte for an accepted plan, sound or unsound. It is
// - for a plan that is too large, or has no slices and nothing computed on
// load.  RUN names the file to run, or says why there is none: caught; never,
// of nets of which none is run; sampled, since one of several is, and not this;
// failed, if no file could be emitted from that plan; or a number, and
// FOLDER/NUMBER.cu is that file. Before the first of a net's files come the
// sound plans and FOLDER/NET.LEVEL.MODE.cu, made from them; train and eval are
// one file.  Nets that are run have that plan printed before accepted
// corruptions, too.  If ALL is not negative, a line `said MESSAGE` has each
// refusal of the compiler's checker.  The table comes last.
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../../codegen/codegen.h"
#include "../unit/brute_plan.h"
#include "../unit/nets.h"
#include "listed.h"
#include "second.h"
#include "spoil.h"

typedef struct Sample {
    Net        *net;
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
    uint64_t    dice;           // who is run; all are drawn anyway
    int         count, all;
    const char *folder;
    Tally      *tally;
} Job;

// ---- nets -------------------------------------------------------------------

static void take_line(Job *job, char *line)
{
    job->nets = arena_grow(job->arena, job->nets, &job->net_capacity,
                           (int64_t)job->net_count + LEVELS, sizeof(Net));
    read_net(job->arena, line, &job->nets[job->net_count]);
    job->net_count += LEVELS;
}

static void list_samples(Job *job)
{
    for (int32_t i = 0; i < job->net_count; i++)
        for (Mode mode = 0; mode < MODE_COUNT; mode++) {
            Net *net = &job->nets[i];
            if (!net->plan[mode]) continue;
            job->samples = arena_grow(
                job->arena, job->samples, &job->sample_capacity,
                (int64_t)job->sample_count + 1, sizeof(Sample));
            job->samples[job->sample_count++] =
                (Sample){net, mode, net->plan[mode]};
        }
}

// ---- emitted files ----------------------------------------------------------

static void print_emitted(Arena *arena, const Net *net, Mode mode,
                          const Plan *plan, FILE *out)
{
    EmitInput in = {.command_line = "cnnc", .with_main = true};
    const Graph *g[MODE_COUNT];
    const Plan *plans[MODE_COUNT];
    for (Mode m = 0; m < MODE_COUNT; m++) {
        plans[m] = m == mode ? plan : net->plan[m];
        g[m] = m == mode ? placed_as(arena, net->graph[m], plan)
                         : net->graph[m];
    }
    if (mode != INFER) {
        in.train = g[TRAIN], in.train_plan = plans[TRAIN];
        in.eval = g[EVAL], in.eval_plan = plans[EVAL];
    }
    in.infer = g[INFER], in.infer_plan = plans[INFER];
    emit_cuda(&in, out);
}

// Runs in a process of its own. Its memory from the graph's arena is given
// back, and a plan that is not the graph's may end it.  Returns whether there
// is a file.
static bool emit_file(const Job *job, const Net *net, Mode mode,
                      const Plan *plan, const char *name)
{
    const char *path = arena_print(job->arena, "%s/%s.cu", job->folder, name);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        FILE *out = fopen(path, "w");
        if (!out) _exit(1);
        print_emitted(job->arena, net, mode, plan, out);
        _exit(fclose(out) != 0);
    }
    int status = 1;
    bool done = child > 0 && waitpid(child, &status, 0) > 0 && status == 0;
    if (!done) remove(path);
    return done;
}

static void show_sound(const Job *job, Net *net, Mode mode)
{
    if (net->shown[mode]) return;
    net->shown[mode] = true;
    printf("plan %s %d %s\n", net->name, net->level, mode_names[mode]);
    plan_print_json(copy_plan(job->arena, net->plan[mode]), stdout);
}

// The sound plans of a mode's file, and the file.
static void emit_sound(const Job *job, Net *net, Mode mode)
{
    Mode file = mode == INFER ? INFER : TRAIN;
    if (net->emitted[file]) return;
    net->emitted[file] = true;
    show_sound(job, net, file);
    if (file == TRAIN) show_sound(job, net, EVAL);
    const char *name = arena_print(job->arena, "%s.%d.%s", net->name,
                                   net->level, mode_names[file]);
    if (emit_file(job, net, file, net->plan[file], name)) return;
    fprintf(stderr, "can't emit %s\n", name);
    exit(1);
}

// ---- corruptions ------------------------------------------------------------

// The real checker looks at slices by columns, and so does plan_check.py.
static const char *check_bytes(Arena *scratch, const Plan *plan)
{
    enum { MOST = 1 << 18 };
    bool any = false;
    for (int k = 0; k < plan->buffer_count; k++)
        any |= plan->buffers[k].rows != 0 || plan->buffers[k].fused_load;
    if (!any || plan->arena_bytes > MOST) return "-";
    return sound_by_bytes(scratch, plan) ? "sound" : "unsound";
}

// The verdict of a corruption's run; emits it if there is one.
static const char *run_of(Job *job, const Sample *sample, const Plan *plan,
                          int number, bool caught)
{
    Net *net = sample->net;
    if (caught) return "caught";
    if (net->every == 0) return "never";
    if (next_number(&job->dice, (uint32_t)net->every) != 0) return "sampled";
    const char *name = arena_print(job->arena, "%d", number);
    emit_sound(job, net, sample->mode);
    return emit_file(job, net, sample->mode, plan, name) ? name : "failed";
}

static void report(Job *job, Arena *scratch, const Sample *sample, Plan *plan,
                   int kind, int number, const char *verdict,
                   const char *wrong)
{
    bool caught = strcmp(verdict, "caught") == 0;
    if (!spoiler_of(kind)->printable) {
        if (!caught) printf("wild %s is %s\n", spoiler_of(kind)->name, verdict);
        return;
    }
    if (strcmp(verdict, "through") == 0 && sample->net->every > 0)
        show_sound(job, sample->net, sample->mode);
    const char *run = run_of(job, sample, plan, number, caught);
    const char *bytes = caught ? "-" : check_bytes(scratch, plan);
    printf("corruption %s %s %s %d %s %s %s %s\n", spoiler_of(kind)->name,
           sample->net->name, mode_names[sample->mode], sample->net->level,
           run, verdict, bytes, wrong ? wrong : "");
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
        do
            *sample = job->samples[next_number(&job->seed, samples)];
        while (sample->net->rare > 1 &&
               next_number(&job->seed, (uint32_t)sample->net->rare) != 0);
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
        grouped_as(scratch, sample.net->graph[sample.mode], plan);
    const char *wrong = verify_program(scratch, g, plan);
    bool through = wrong && !second_checker(scratch, g, plan);
    if (wrong && job->all >= 0) printf("said %s\n", wrong);
    if (!wrong &&
        !can_be_grouped(scratch, sample.net->graph[sample.mode], plan))
        wrong = "launches that can't be one step are";
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
    if (argc != 5) return 2;
    Job job = {.arena = arena_new(), .seed = strtoull(argv[1], NULL, 10),
               .count = atoi(argv[2]), .all = atoi(argv[3]),
               .folder = argv[4]};
    job.dice = job.seed;
    job.tally = NEW_ARRAY(job.arena, count_spoilers(), Tally);
    while (fgets(line, sizeof line, stdin)) take_line(&job, line);
    list_samples(&job);
    for (int i = 0; i < job.count; i++) corrupt(&job, i);
    printf("plans %d of %d nets at three levels\n", (int)job.sample_count,
           (int)job.net_count / LEVELS);
    for (int k = 0; k < count_spoilers(); k++)
        printf("tally %s %d %d\n", spoiler_of(k)->name, job.tally[k].drawn,
               job.tally[k].caught);
    arena_free(job.arena);
    return 0;
}
