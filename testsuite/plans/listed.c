// From a line of the list to plans.
#include <stdlib.h>
#include <string.h>
#include "../../frontend/driver/run_pipeline.h"
#include "../unit/squeeze.h"
#include "listed.h"
#include "spoil.h"

// The content of a line.
typedef struct Listed {
    const char     *path;
    const char     *defines[16];
    FrontendOptions frontend;
    int             squeeze;
    bool            offload;
} Listed;

static void refuse(const char *name, const char *what)
{
    fprintf(stderr, "%s %s\n", name, what);
    exit(1);
}

// The plan of one mode; leaves NULL where the net has no such mode.
static void plan_mode(Arena *arena, Net *net, Mode mode, const Listed *listed)
{
    FrontendOptions options = listed->frontend;
    PassOptions passes;
    Input in;
    FILE *nowhere = fopen("/dev/null", "w");
    Diag *diag = NEW(arena, Diag);
    *diag = (Diag){.arena = arena, .stream = nowhere};
    options.mode = mode;
    options.defines = (const char **)listed->defines;
    pass_options_default(&passes, net->level);
    if (!input_open(&in, arena, diag, listed->path)) exit(3);
    passes.offload = listed->offload && mode == TRAIN;
    if (listed->squeeze > 0 && mode == TRAIN)
        passes.budget =
            squeezed_budget(&in, &options, &passes, listed->squeeze);
    net->graph[mode] = input_graph(&in, &options);
    if (net->graph[mode])
        net->plan[mode] = run_pipeline(net->graph[mode], &passes);
    if (net->plan[mode]) net->apart[mode] = plan_apart(net->graph[mode]);
    fclose(nowhere);
}

// By the cost of a net's run: most of it goes into the emitted file's
// compilation, by its kernels, if it is not for arithmetic.  Nets of operators
// have up to 200 steps, deep ones many hundreds.
static int weigh(const Net *net)
{
    enum { OFTEN = 64, FLOPS = 1 << 20 };
    const Plan *plan = net->plan[TRAIN] ? net->plan[TRAIN] : net->plan[INFER];
    int64_t flops = 0, weight = 0;
    for (int i = 0; i < plan->step_count; i++) {
        flops += plan->steps[i].flops;
        weight += plan->steps[i].phase != RECOMPUTE;
    }
    weight += flops / FLOPS;
    return 1 + (int)(weight / OFTEN);
}

static void take_word(Arena *arena, const char *name, const char *word,
                      Listed *listed)
{
    FrontendOptions *frontend = &listed->frontend;
    int microbatch;
    if (strncmp(word, "-D", 2) == 0)
        listed->defines[frontend->define_count++] =
            arena_copy(arena, word + 2, strlen(word + 2));
    else if (sscanf(word, "microbatch=%d", &microbatch) == 1)
        frontend->microbatch = microbatch;
    else if (strcmp(word, "half") == 0)
        frontend->map = F16;
    else if (strcmp(word, "offload") == 0)
        listed->offload = true;
    else if (sscanf(word, "squeeze=%d", &listed->squeeze) != 1)
        refuse(name, "is listed with a word that is none");
}

void read_net(Arena *arena, char *line, Net net[LEVELS])
{
    Listed listed = {.frontend = {.real = F32}};
    char *name = strtok(line, " \n");
    listed.path = strtok(NULL, " \n");
    listed.frontend.batch = atoll(strtok(NULL, " \n"));
    char *every = strtok(NULL, " \n");
    for (char *word; (word = strtok(NULL, " \n"));)
        take_word(arena, name, word, &listed);
    for (int level = 0; level < LEVELS; level++) {
        net[level] = (Net){.level = level, .every = atoi(every), .rare = 1};
        net[level].name = arena_copy(arena, name, strlen(name));
        for (Mode mode = 0; mode < MODE_COUNT; mode++)
            plan_mode(arena, &net[level], mode, &listed);
        if (!net[level].plan[INFER] ||
            !net[level].plan[TRAIN] != !net[level].plan[EVAL])
            refuse(name, "lacks a plan");
    }
    for (int level = 0; level < LEVELS; level++)
        if (strcmp(every, "weighed") == 0)
            net[level].every = 1, net[level].rare = weigh(&net[LEVELS - 1]);
}
