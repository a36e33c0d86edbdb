// Names of classes, from a file classes.txt as cnnc-pack-images writes it: line
// k + 1 has the name of class k.
#pragma once
#include "sets.cuh"

// ClassNames: the names of classes 0 .. count - 1.  Classes of the net from count on have no name.
struct ClassNames {
    const char *path;
    const char **names;
    int count;
};

// Reads a file of names, one per line.  They are copied, so the file may change later.
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

// Returns the path of file `name` in the folder of the first of some comma-separated paths, or NULL
// if it does not exist.
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

// Returns the file with the class names of a set, or NULL.  It is in the folder of the labels, of
// the images or of the training set.
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

// Reads the class names of a set, if there are any; more names than `classes` are an error.
// classes: how many the net has for a sample, or 0 if samples have none (labels of pixels).
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

// Reads the class names of a set.  They must equal those of the training set in the folder of
// --data, because the net learned those numbers.
static inline bool name_known_classes(const Trainer *t, const DataSet *set, int classes,
                                      ClassNames *c)
{
    const char *folder = t->option[OPTION_DATA];
    const char *path = folder ? find_in_folder(folder, "train/classes.txt") : NULL;
    ClassNames learned = {};
    return name_classes(t, set, classes, c) && (!path || read_class_names(path, &learned)) &&
           names_agree(&learned, c);
}

// Writes a name as a CSV field.
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
