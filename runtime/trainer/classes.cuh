// Names of classes: a file classes.txt, as cnnc-pack-images writes it, with the
// name of class 0 in its first line, of class 1 in its second, and so on.
#pragma once
#include "sets.cuh"

// ClassNames: of classes 0 .. count - 1; those of a net that are beyond have numbers alone.
struct ClassNames {
    const char *path;
    const char **names;
    int count;
};

// Reads a file of names, a line each.  They are copied, so that the file may change later.
static inline bool read_class_names(const char *path, ClassNames *c)
{
    FileBytes file = {};
    if (!map_file(path, &file)) return false;
    int lines = 0;
    for (size_t i = 0; i < file.size; i++) lines += file.bytes[i] == '\n' || i + 1 == file.size;
    *c = {path, (const char **)take_memory(((size_t)lines + 1) * sizeof *c->names), 0};
    for (size_t at = 0, next; at < file.size; at = next + 1) {
        for (next = at; next < file.size && file.bytes[next] != '\n';) next++;
        size_t length = next - at;
        if (length && file.bytes[next - 1] == '\r') length--;
        char *name = (char *)take_memory(length + 1);
        memcpy(name, file.bytes + at, length);
        c->names[c->count++] = name;
    }
    unmap_last(&file);
    return true;
}

// The path of a file in the folder of another one, the first of some paths joined by commas; NULL
// where there is no such file.
static inline const char *find_beside(const char *paths, const char *name)
{
    struct stat status;
    size_t length = strcspn(paths, ","), name_size = strlen(name) + 1;
    while (length && paths[length - 1] != '/') length--;
    char *path = (char *)take_memory(length + name_size);
    memcpy(path, paths, length);
    memcpy(path + length, name, name_size);
    return stat(path, &status) ? NULL : path;
}

// The file that names the classes of a set: beside its labels, or its images, or in the folder of
// the training set; NULL where there is none.
static inline const char *find_class_names(const Trainer *t, const DataSet *set)
{
    const char *found = NULL;
    for (int label = 1; label >= 0; label--)
        for (int i = 0; i < set->column_count && !found; i++) {
            const DataColumn *c = &set->columns[i];
            if (c->from.paths && (c->input->classes > 0) == label)
                found = find_beside(c->from.paths, "classes.txt");
        }
    const char *folder = t->option[OPTION_DATA];
    return found || !folder ? found : find_in_folder(folder, "train/classes.txt");
}

// Reads the names of a set's classes, if there are any.  classes: of the net, of which a sample has
// one (0: it has none, as where pixels have them); more names are a mistake.
static inline bool name_classes(const Trainer *t, const DataSet *set, int classes, ClassNames *c)
{
    const char *path = find_class_names(t, set);
    *c = {};
    if (!path || !classes) return true;
    return read_class_names(path, c) &&
           (c->count <= classes || complain("%s: wanted the names of at most %d classes, which the "
                                            "net has, found %d", path, classes, c->count));
}

// True if two sets that both name their classes give each number the same name.
static inline bool names_agree(const ClassNames *a, const ClassNames *b)
{
    for (int i = 0; a->path && b->path && i < (a->count > b->count ? a->count : b->count); i++) {
        const char *one = i < a->count ? a->names[i] : "missing";
        const char *other = i < b->count ? b->names[i] : "missing";
        if (strcmp(one, other))
            return complain("%s: class %d is %s, and in %s it is %s: wanted the same classes; "
                            "cnnc-pack-images takes an empty folder for one without images",
                            b->path, i, other, a->path, one);
    }
    return true;
}

// Reads the names of a set's classes; they must be those of the training set in the folder of
// --data, whose numbers the net has learned.
static inline bool name_known_classes(const Trainer *t, const DataSet *set, int classes,
                                      ClassNames *c)
{
    const char *folder = t->option[OPTION_DATA];
    const char *path = folder ? find_in_folder(folder, "train/classes.txt") : NULL;
    ClassNames learned = {};
    return name_classes(t, set, classes, c) && (!path || read_class_names(path, &learned)) &&
           names_agree(&learned, c);
}

// Writes a name as a field of CSV.
static inline void write_csv_name(FILE *out, const char *name)
{
    if (!name[strcspn(name, ",\"\r\n")]) {
        fputs(name, out);
        return;
    }
    fputc('"', out);
    for (; *name; name++) {
        if (*name == '"') fputc('"', out);
        fputc(*name, out);
    }
    fputc('"', out);
}
