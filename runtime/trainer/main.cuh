// The trainer's main program: options, the command, the exit status (0 done, 1 the
// input is wrong or a call failed, 2 usage).
#pragma once
#include "commands.cuh"

// TrainerOption: its name, what follows it (NULL: nothing), the commands that take it.
struct TrainerOption {
    const char *name, *argument, *commands;
};

// In the order of OptionNumber.
static const TrainerOption trainer_options[] = {
    {"--data", "DIR", "train eval"},       {"--train-images", "FILE", "train"},
    {"--train-labels", "FILE", "train"},   {"--test-images", "FILE", "train eval"},
    {"--test-labels", "FILE", "train eval"},
    {"--epochs", "N", "train"},            {"--seed", "N", "train step"},
    {"--lr", "RATE", "train step"},        {"--load", "FILE", "train eval step"},
    {"--save", "FILE", "train step"},      {"--batch", "FILE", "step"},
    {"--steps", "N", "step"},              {"--tensors", NULL, "info"}};

// TrainerCommand: a command, and whether an inference file has it.
struct TrainerCommand {
    const char *name, *meaning;
    bool (*run)(Trainer *);
    bool infers;
    int needs[2];               // options it can't do without; OPTION_COUNT: none
};

static const TrainerCommand trainer_commands[] = {
    {"train", "train on IDX files, then test", command_train, false, {OPTION_COUNT, OPTION_COUNT}},
    {"eval", "test weights on IDX files", command_eval, true, {OPTION_LOAD, OPTION_COUNT}},
    {"step", "take training steps on one batch and write every tensor", command_step, false,
     {OPTION_BATCH, OPTION_SAVE}},
    {"info", "list the net's tensors", command_info, true, {OPTION_COUNT, OPTION_COUNT}}};

// Prints a command, or (NULL) all that the net has, with their options.
static inline void print_usage(FILE *out, const Net *net, const TrainerCommand *only)
{
    for (const TrainerCommand &c : trainer_commands) {
        if (only ? &c != only : !net->train && !c.infers) continue;
        fprintf(out, "usage: %s %s    %s\n", program_name, c.name, c.meaning);
        for (const TrainerOption &o : trainer_options)
            if (strstr(o.commands, c.name))
                fprintf(out, "           %s %s\n", o.name, o.argument ? o.argument : "");
    }
}

// The option of this name that the command takes, or OPTION_COUNT.
static inline int find_option(const TrainerCommand *command, const char *name)
{
    int i = 0;
    while (i < OPTION_COUNT && (strcmp(trainer_options[i].name, name) ||
                                !strstr(trainer_options[i].commands, command->name)))
        i++;
    return i;
}

// An option's integer, from `least` up; if it is not given, the value stays.
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

// Takes the arguments after the command.
static inline bool parse_options(Trainer *t, const TrainerCommand *command, int argc, char **argv)
{
    for (int i = 2; i < argc; i++) {
        int option = find_option(command, argv[i]);
        if (option == OPTION_COUNT) return complain("%s has no option %s", command->name, argv[i]);
        bool alone = !trainer_options[option].argument;
        if (!alone && i + 1 == argc)
            return complain("%s wants %s", argv[i], trainer_options[option].argument);
        t->option[option] = argv[alone ? i : ++i];
    }
    for (int need : command->needs)
        if (need != OPTION_COUNT && !t->option[need])
            return complain("%s wants %s %s", command->name, trainer_options[need].name,
                            trainer_options[need].argument);
    const char *rate = t->option[OPTION_LR];
    char *end = NULL;
    if (rate) t->rate = strtod(rate, &end);
    if (rate && (*end || end == rate || !(t->rate >= 0) || isinf(t->rate)))
        return complain("--lr %s: wanted a number of 0 and more", rate);
    return parse_integer(t, OPTION_EPOCHS, 1, &t->epochs) &&
           parse_integer(t, OPTION_SEED, 0, &t->seed) &&
           parse_integer(t, OPTION_STEPS, 1, &t->steps);
}

// The program; main() calls it with its net.
static inline int trainer_main(const Net *net, int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    program_name = slash ? slash + 1 : argv[0];
    bool help = argc > 1 && !strcmp(argv[1], "--help");
    const TrainerCommand *command = NULL;
    for (const TrainerCommand &c : trainer_commands)
        if (argc > 1 && !strcmp(c.name, argv[1]) && (net->train || c.infers)) command = &c;
    if (!command && !help)
        complain("wanted a command%s%s", argc > 1 ? ", not " : "", argc > 1 ? argv[1] : "");
    Trainer t = {};
    t.net = net;
    t.epochs = net->epochs > 0 ? net->epochs : 10;
    t.steps = 1;
    if (!command || !parse_options(&t, command, argc, argv)) {
        print_usage(help ? stdout : stderr, net, command);
        return help ? 0 : 2;
    }
    if (command->run != command_info) print_net(net);
    bool good = command->run(&t);
    if (t.arena && cudaFree(t.arena) != cudaSuccess) good = complain("the arena can't be freed");
    release_memory();
    return good && !fflush(stdout) && !ferror(stdout) ? 0 : 1;
}
