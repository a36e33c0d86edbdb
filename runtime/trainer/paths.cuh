// The files that a command line reads and writes.  They are compared before any
// is opened, so that a run can't overwrite its data or another output.  Files
// are compared by device and inode, so links and other spellings are found.
#pragma once
#include "classes.cuh"

// UsedPath: a file of the command line.
struct UsedPath {
    const char *option;         // the option that names it
    const char *role;           // for a complaint: `--save writes`
    const char *path;
    bool written;
    UsedPath *next;
};

// True if both paths lead to one regular file, or would if it existed.
static inline bool same_place(const char *a, const char *b)
{
    char left[PATH_ROOM], right[PATH_ROOM];
    struct stat x, y;
    if (!follow_links(a, left) || !follow_links(b, right)) return false;
    bool has_left = !stat(left, &x), has_right = !stat(right, &y);
    if (has_left != has_right) return false;
    if (has_left) return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    size_t left_folder = folder_length(left), right_folder = folder_length(right);
    if (strcmp(left + left_folder, right + right_folder)) return false;
    left[left_folder] = right[right_folder] = 0;
    return !stat(left_folder ? left : ".", &x) && !stat(right_folder ? right : ".", &y) &&
           x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static inline void add_path(UsedPath **list, const char *option, const char *path, bool written)
{
    if (!path) return;
    char *role = (char *)take_memory(strlen(option) + 8);
    sprintf(role, "%s %s", option, written ? "writes" : "reads");
    UsedPath *use = (UsedPath *)take_memory(sizeof *use);
    *use = {option, role, path, written, *list};
    *list = use;
}

// Adds the data files of a set, in which each column's paths are joined by commas, and its
// classes.txt.
static inline void add_set(const Trainer *t, int number, UsedPath **list)
{
    DataSet set;
    char *name = (char *)take_memory(32);
    describe_columns(t, &set);
    snprintf(name, 32, "the %s set", set_names[number].word);
    for (int i = 0; i < set.column_count; i++) {
        set.columns[i].from = find_paths(t, number, &set, i);
        const char *paths = set.columns[i].from.paths;
        for (const char *at = paths; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
            size_t length = strcspn(at, ",");
            char *path = (char *)memcpy(take_memory(length + 1), at, length);
            add_path(list, name, path, false);
        }
    }
    add_path(list, name, find_class_names(t, &set), false);
}

// Returns DIR/NAME.npy, the file of an output of the net.
static inline char *prediction_path(const char *folder, const NetTensor *output)
{
    char *path = (char *)take_memory(strlen(folder) + strlen(output->name) + 6);
    sprintf(path, "%s/%s.npy", folder, output->name);
    return path;
}

// Options that name files which a training run writes until it ends.
static const int claimed_options[] = {OPTION_SAVE, OPTION_BEST, OPTION_SAVE_STATE, OPTION_LOG,
                                       OPTION_LOG_STEPS, OPTION_TRACE};

// Adds the files that options name; with `claims`, also their lock files.
static inline void add_options(const Trainer *t, bool claims, UsedPath **list)
{
    static const int read[] = {OPTION_LOAD, OPTION_INIT, OPTION_RESUME, OPTION_BATCH};
    add_path(list, "this program", "/proc/self/exe", false);
    for (int option : read) add_path(list, trainer_options[option].name, t->option[option], false);
    for (int option : claimed_options) {
        const char *path = t->option[option];
        if (!path || !claims) continue;
        char *lock = (char *)take_memory(strlen(path) + 6);
        sprintf(lock, "%s.lock", path);
        add_path(list, trainer_options[option].name, lock, true);
    }
    for (int option : claimed_options)
        add_path(list, trainer_options[option].name, t->option[option], true);
    const char *folder = t->option[OPTION_OUTPUT];
    for (int i = 0; folder && i < t->net->output_count; i++)
        add_path(list, trainer_options[OPTION_OUTPUT].name,
                 prediction_path(folder, &t->net->outputs[i]), true);
    add_path(list, trainer_options[OPTION_CLASSES].name, t->option[OPTION_CLASSES], true);
    add_path(list, trainer_options[OPTION_STATE].name, t->option[OPTION_STATE], true);
}

// True if a state may be both read and written: --resume and --save-state may name one file.
static inline bool may_share(const UsedPath *a, const UsedPath *b)
{
    const char *resume = trainer_options[OPTION_RESUME].name;
    const char *save = trainer_options[OPTION_SAVE_STATE].name;
    return (!strcmp(a->option, resume) && !strcmp(b->option, save)) ||
           (!strcmp(a->option, save) && !strcmp(b->option, resume));
}

// True if no written file is another file of the command; otherwise complains.  sets: a bit for
// each set that it reads; claims: it claims its outputs.
static inline bool paths_differ(const Trainer *t, int sets, bool claims)
{
    UsedPath *list = NULL;
    add_options(t, claims, &list);
    for (int number = SET_TRAIN; number <= SET_TEST; number++)
        if (sets >> number & 1) add_set(t, number, &list);
    for (const UsedPath *a = list; a; a = a->next)
        for (const UsedPath *b = list; b; b = b->next)
            if (a != b && a->written && !may_share(a, b) && same_place(a->path, b->path))
                return complain("%s %s: %s the same file", a->option, a->path, b->role);
    return true;
}
