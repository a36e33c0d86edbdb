// The trainer's main program: options, the command, the exit status (0 done, 1 the
// input is wrong or a call failed, 2 usage, 128 + n stopped by signal n).
#pragma once
#include "commands.cuh"

// TrainerCommand: a command, and whether an inference file has it.
struct TrainerCommand {
    const char *name, *meaning;
    bool (*run)(Trainer *);
    bool infers;
    int needs[2];               // options it can't do without; OPTION_COUNT: none
};

static const TrainerCommand trainer_commands[] = {
    {"train", "train on files of data, then test", command_train, false,
     {OPTION_COUNT, OPTION_COUNT}},
    {"eval", "test weights on files of data", command_eval, true, {OPTION_LOAD, OPTION_COUNT}},
    {"predict", "write what the net gives for files of data", command_predict, true,
     {OPTION_LOAD, OPTION_COUNT}},
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
                fprintf(out, "  %-14s %-11s  %s\n", o.name, o.argument ? o.argument : "",
                        o.meaning);
    }
    if (only && !strstr("train eval predict", only->name)) return;
    fprintf(out, "files are IDX, NPY or CIFAR's, told by their content; --data DIR finds\n"
                 "  train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-* or test-*,\n"
                 "  data_batch_1.bin to 5 and test_batch.bin, train.bin and test.bin,\n"
                 "  SET/images.npy, SET/labels.npy or SET/INPUT.npy of SET train, val, test\n");
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

// Takes the arguments after the command.
static inline bool parse_options(Trainer *t, const TrainerCommand *command, int argc, char **argv)
{
    t->given = (GivenOption *)take_memory((size_t)argc * sizeof *t->given);
    for (int i = 2; i < argc; i++) {
        int option = find_option(command, argv[i]);
        if (option == OPTION_COUNT) return complain("%s has no option %s", command->name, argv[i]);
        bool alone = !trainer_options[option].argument;
        if (!alone && i + 1 == argc)
            return complain("%s wants %s", argv[i], trainer_options[option].argument);
        t->option[option] = argv[alone ? i : ++i];
        t->given[t->given_count++] = {option, t->option[option]};
    }
    for (int need : command->needs)
        if (need != OPTION_COUNT && !t->option[need])
            return complain("%s wants %s %s", command->name, trainer_options[need].name,
                            trainer_options[need].argument);
    return parse_integers(t) && parse_reals(t) && options_agree(t);
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
    t.steps = t.workers = 1;
    // A file past the limit of its size is an error of that file, as a full disk is.
    signal(SIGXFSZ, SIG_IGN);
    if (!command || !parse_options(&t, command, argc, argv)) {
        print_usage(help ? stdout : stderr, net, command);
        return help ? 0 : 2;
    }
    if (command->run != command_info) print_net(net);
    bool good = command->run(&t);
    stop_reader(&t.reader);
    if (t.arena && cudaFree(t.arena) != cudaSuccess) good = complain("the arena can't be freed");
    release_memory();
    good = good && !fflush(stdout) && !ferror(stdout);
    return !good ? 1 : t.stopped ? 128 + t.stopped : 0;
}
