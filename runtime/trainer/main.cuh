// The trainer's main program: options, the command, the exit status.  It is 0 on success, 1 after
// wrong input or a failed call, 2 after wrong usage, 128 + n if signal n stopped it.  Status 3
// means that --stop-on-nan ended a run.
#pragma once
#include "calibrate.cuh"
#include "commands.cuh"
#include "find_rate.cuh"
#include "show.cuh"
#include "suggest.cuh"

// TrainerCommand: a command, its names in other programs, and whether an inference file has it.
struct TrainerCommand {
    const char *name, *meaning, *other_names;
    bool (*run)(Trainer *);
    bool infers;
    int needs[2];               // required options; OPTION_COUNT: none
};

static const TrainerCommand trainer_commands[] = {
    {"train", "train on files of data, then test", "fit learn", command_train, false,
     {OPTION_COUNT, OPTION_COUNT}},
    {"find-lr", "try learning rates on the training set", "lr-find range-test", command_find_rate,
     false, {OPTION_COUNT, OPTION_COUNT}},
    {"eval", "test weights on files of data", "test val validate evaluate", command_eval, true,
     {OPTION_LOAD, OPTION_COUNT}},
    {"predict", "write the net's outputs for files of data", "infer inference", command_predict,
     true, {OPTION_LOAD, OPTION_COUNT}},
    {"step", "take training steps on one batch and write every tensor", "", command_step, false,
     {OPTION_BATCH, OPTION_SAVE}},
    {"export", "write weights for the C interface", "convert", command_export, true,
     {OPTION_LOAD, OPTION_STATE}},
    {"calibrate", "find the scales of --precision int8", "quantize", command_calibrate, true,
     {OPTION_LOAD, OPTION_SAVE}},
    {"show", "write training samples as images, as the net gets them", "preview", command_show,
     false, {OPTION_AUGMENT, OPTION_COUNT}},
    {"info", "list the net's tensors", "summary list", command_info, true,
     {OPTION_COUNT, OPTION_COUNT}}};

// True if this program has the command.
static inline bool has_command(const Net *net, const TrainerCommand *c)
{
    return (net->train || c->infers) && (c->run != command_calibrate || calibrates(net));
}

static inline bool is_help(const char *word)
{
    return word && (!strcmp(word, "--help") || !strcmp(word, "-h"));
}

static inline bool takes_option(const TrainerCommand *command, int option)
{
    return list_has(trainer_options[option].commands, command->name);
}

// True for an option that the command needs.  A program with weights of its own, or whose net has
// none, needs no --load.
static inline bool is_needed(const Net *net, int need)
{
    return need != OPTION_COUNT && !(need == OPTION_LOAD && (net->trained || !net->param_count));
}

// ---- help

static inline void print_commands(const Net *net)
{
    printf("usage: %s COMMAND [OPTION...]\n", program_name);
    for (const TrainerCommand &c : trainer_commands)
        if (has_command(net, &c)) printf("  %-8s %s\n", c.name, c.meaning);
    printf("%s COMMAND --help lists the options of a command\n"
           "files are IDX, NPY or CIFAR's, told by their content; --data DIR finds\n"
           "  train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-* or test-*,\n"
           "  data_batch_1.bin to 5 and test_batch.bin, train.bin and test.bin,\n"
           "  SET/images.npy, SET/labels.npy, SET/masks.npy or SET/INPUT.npy\n"
           "  of SET train, val, test\n",
           program_name);
}

static inline void print_options(const Net *net, const TrainerCommand *command)
{
    printf("usage: %s %s", program_name, command->name);
    for (int need : command->needs)
        if (is_needed(net, need))
            printf(" %s %s", trainer_options[need].name, trainer_options[need].argument);
    printf(" [OPTION...]    %s\n", command->meaning);
    for (int i = 0; i < OPTION_COUNT; i++) {
        const TrainerOption *o = &trainer_options[i];
        if (takes_option(command, i))
            printf("  %-14s %-11s  %s\n", o->name, o->argument ? o->argument : "", o->meaning);
    }
}

// ---- the command line

// Complains of a word that is not a command of this program.
static inline bool complain_of_command(const Net *net, const char *word)
{
    const TrainerCommand *nearest = NULL;
    int least = INT_MAX;
    for (const TrainerCommand &c : trainer_commands) {
        int rank = word ? suggestion_rank(word, c.name, c.other_names) : INT_MAX;
        if (rank < least) least = rank, nearest = &c;
    }
    if (!word)
        return complain("wanted a command: %seval, predict%s or info; %s --help tells more",
                        net->train ? "train, " : "", net->train ? ", step" : "", program_name);
    if (*word == '-')
        return complain("wanted a command before %s: %s COMMAND [OPTION...]", word, program_name);
    if (nearest && !net->train && !nearest->infers)
        return complain("wanted a command, not %s: a program of --mode infer does not %s", word,
                        nearest->name);
    return complain("wanted a command, not %s%s%s; %s --help lists them", word,
                    nearest ? ": did you mean " : "", nearest ? nearest->name : "", program_name);
}

// Complains of an option that the command does not take, and suggests the one that was meant.
static inline bool complain_of_option(const TrainerCommand *command, const char *name)
{
    int nearest = OPTION_COUNT, least = INT_MAX;
    for (int i = 0; i < OPTION_COUNT; i++) {
        const TrainerOption *o = &trainer_options[i];
        int rank = suggestion_rank(name, o->name, o->other_names);
        if (!strcmp(name, o->name))
            return complain("%s has no option %s: it is an option of %s", command->name, name,
                            o->commands);
        if (takes_option(command, i) && rank < least) least = rank, nearest = i;
    }
    if (list_has("--batch-size -b --bs", name))
        return complain("%s has no option %s: the batch is that of cnnc --batch N", command->name,
                        name);
    if (*name != '-')
        return complain("%s takes no argument %s: options begin with --, and files of one option "
                        "are joined by commas", command->name, name);
    return complain("%s has no option %s%s%s; %s %s --help lists them", command->name, name,
                    nearest < OPTION_COUNT ? ": did you mean " : "",
                    nearest < OPTION_COUNT ? trainer_options[nearest].name : "", program_name,
                    command->name);
}

// Returns the option whose name is the first `length` letters of a word, or OPTION_COUNT.
static inline int find_option(const char *word, size_t length)
{
    int i = 0;
    while (i < OPTION_COUNT && (strlen(trainer_options[i].name) != length ||
                                strncmp(trainer_options[i].name, word, length)))
        i++;
    return i;
}

// Parses the option at argv[*at], `--name`, `--name argument` or `--name=argument`, and moves *at
// after it.  argv ends with NULL.
static inline bool take_option(Trainer *t, const TrainerCommand *command, char **argv, int *at)
{
    char *word = argv[(*at)++];
    size_t length = *word == '-' ? strcspn(word, "=") : strlen(word);
    int option = find_option(word, length);
    const char *argument = word[length] ? word + length + 1 : NULL;
    word[length] = 0;
    if (option == OPTION_COUNT || !takes_option(command, option))
        return complain_of_option(command, word);
    const char *wanted = trainer_options[option].argument;
    if (!wanted && argument) return complain("%s takes no argument, not %s", word, argument);
    if (wanted && !argument) {
        argument = argv[*at];
        if (!argument) return complain("%s needs %s", word, wanted);
        if (find_option(argument, strcspn(argument, "=")) < OPTION_COUNT)
            return complain("%s needs %s, not the option %s", word, wanted, argument);
        ++*at;
    }
    const char *before = t->option[option];
    bool repeats = option == OPTION_IGNORE || (wanted && !strcmp(wanted, "INPUT=FILES"));
    if (before && !repeats && wanted && strcmp(before, argument))
        give_warning("%s %s has no effect: %s %s follows it", word, before, word, argument);
    t->option[option] = argument ? argument : word;
    t->given[t->given_count++] = {option, t->option[option]};
    return true;
}

// Parses the arguments that follow the command.
static inline bool parse_options(Trainer *t, const TrainerCommand *command, int argc, char **argv)
{
    t->given = (GivenOption *)take_memory((size_t)argc * sizeof *t->given);
    for (int i = 2; i < argc;)
        if (!take_option(t, command, argv, &i)) return false;
    for (int need : command->needs)
        if (is_needed(t->net, need) && !t->option[need])
            return complain("%s needs %s %s", command->name, trainer_options[need].name,
                            trainer_options[need].argument);
    return parse_integers(t) && parse_reals(t) && parse_augmentation(t) && parse_reduction(t) &&
           options_agree(t);
}

// True if everything that was printed has been written; otherwise complains.
static inline bool flush_output(void)
{
    errno = 0;
    bool written = !fflush(stdout) && !ferror(stdout);
    // The reason of an earlier failure is no longer known.
    return written || complain("standard output: can't be written%s%s", errno ? ": " : "",
                               errno ? strerror(errno) : "");
}

// Prints the help that the command line asks for.  Returns true if it did.
static inline bool gives_help(const Net *net, const TrainerCommand *command, int argc, char **argv)
{
    bool asked = argc > 1 && (is_help(argv[1]) || (!command && !strcmp(argv[1], "help")));
    for (int i = 2; command && i < argc; i++) asked = asked || is_help(argv[i]);
    if (asked && command) print_options(net, command);
    else if (asked) print_commands(net);
    return asked;
}

// Runs the program; main() calls it with its net.
static inline int trainer_main(const Net *net, int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    program_name = slash ? slash + 1 : argv[0];
    const TrainerCommand *command = NULL;
    for (const TrainerCommand &c : trainer_commands)
        if (argc > 1 && !strcmp(c.name, argv[1]) && has_command(net, &c)) command = &c;
    Trainer t = {};
    t.net = net;
    t.epochs = net->epochs > 0 ? net->epochs : 10;
    t.steps = t.workers = 1;
    t.percentile = 100;
    t.shown = 16;
    // Writing beyond the limit of a file's size must fail like a full disk, without a signal.
    signal(SIGXFSZ, SIG_IGN);
    watch_mapped_files();
    if (gives_help(net, command, argc, argv)) return flush_output() ? 0 : 1;
    if (!command) complain_of_command(net, argv[1]);
    if (!command || !parse_options(&t, command, argc, argv)) {
        release_memory();
        return 2;
    }
    if (command->run != command_info) print_net(net);
    bool good = command->run(&t);
    stop_reader(&t.reader);
    if (t.arena && cudaFree(t.arena) != cudaSuccess) good = complain("the arena can't be freed");
    release_claims();
    release_memory();
    good = flush_output() && good;
    return t.diverged ? 3 : !good ? 1 : t.stopped ? 128 + t.stopped : 0;
}
