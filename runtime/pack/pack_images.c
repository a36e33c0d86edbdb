// cnnc-pack-images: converts images and their labels into arrays that a
// program can map into memory:
//
//     images.npy     u1, u2 or f4 [n, height, width, channels]
//     images.jpegs   in its place, JPEG files as they are
//     labels.npy     i4 [n], the class's number
//     masks.npy      u1 or i4 [n, height, width], the class of each pixel
//     boxes.npy      f4 [n, objects, 4]: left, top, right, bottom of each
//                    object, in sides of the image
//     kinds.npy      i4 [n, objects], their classes; 0: no object
//     classes.txt    one name a line, in the order of their numbers
#define _XOPEN_SOURCE 700

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "pack.h"

enum { MOST_WORKERS = 256, MOST_OBJECTS = 1 << 16 };

// The command line.  Texts are NULL without their option.
typedef struct Command {
    const char *from, *to, *size, *workers, *masks, *ignored, *boxes, *objects,
               *classes, *depth, *archives, *image_key, *label_key,
               *first_label;
    bool        stretch, gray, as_stored, crowds, keeps;
} Command;

// ---- numbers ----------------------------------------------------------------

static bool read_number(const char *text, int most, char end, int *number,
                        const char **rest)
{
    char *stop;
    long value = strtol(text, &stop, 10);
    *number = (int)value;
    *rest = stop + 1;
    return *text >= '0' && *text <= '9' && *stop == end && value >= 1 &&
           value <= most;
}

static void read_size(Target *t, const char *text)
{
    const char *rest;
    if (!read_number(text, LARGEST_SIDE, 'x', &t->height, &rest) ||
        !read_number(rest, LARGEST_SIDE, '\0', &t->width, &rest))
        die(EXIT_USAGE, text, "--size needs height x width, each from 1 to "
            "16384, as in 224x224");
}

static void read_workers(Packing *p, const char *text)
{
    const char *rest;
    if (!read_number(text, MOST_WORKERS, '\0', &p->workers, &rest))
        die(EXIT_USAGE, text, "--workers needs a number from 1 to 256");
}

static void read_objects(Packing *p, const char *text)
{
    const char *rest;
    int objects;
    if (!read_number(text, MOST_OBJECTS, '\0', &objects, &rest))
        die(EXIT_USAGE, text, "--objects needs a number from 1 to 65536");
    p->objects = (size_t)objects;
}

static void read_ignored(Packing *p, const char *text)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < INT32_MIN ||
        value > INT32_MAX)
        die(EXIT_USAGE, text, "--ignore-value needs a number of 32 bits");
    p->ignores = true;
    p->ignored = (int32_t)value;
}

static void read_depth(Packing *p, const char *text)
{
    if (strcmp(text, "8") != 0 && strcmp(text, "16") != 0)
        die(EXIT_USAGE, text, "--depth needs 8 or 16");
    p->type = text[0] == '1' ? U16_SAMPLES : U8_SAMPLES;
}

// ---- options ----------------------------------------------------------------

// Returns the place of the value of an option that has one, or NULL.
static const char **value_of(Command *c, const char *option)
{
    const struct { const char *name, **value; } options[] = {
        { "--size", &c->size }, { "--workers", &c->workers },
        { "--masks", &c->masks }, { "--ignore-value", &c->ignored },
        { "--boxes", &c->boxes }, { "--objects", &c->objects },
        { "--classes", &c->classes }, { "--depth", &c->depth },
        { "--from", &c->archives }, { "--image-key", &c->image_key },
        { "--label-key", &c->label_key }, { "--first-label", &c->first_label },
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(option, options[i].name) == 0) return options[i].value;
    return NULL;
}

// Returns the place of an option without a value, or NULL.
static bool *flag_of(Command *c, const char *option)
{
    const struct { const char *name; bool *flag; } options[] = {
        { "--stretch", &c->stretch }, { "--gray", &c->gray },
        { "--ignore-orientation", &c->as_stored }, { "--crowds", &c->crowds },
        { "--keep-jpeg", &c->keeps },
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(option, options[i].name) == 0) return options[i].flag;
    return NULL;
}

// Ends the program after a text for standard output.
static _Noreturn void end_with(void (*print)(FILE *out))
{
    print(stdout);
    if (fflush(stdout) != 0 || ferror(stdout))
        die(EXIT_FILES, "standard output", strerror(errno));
    exit(EXIT_DONE);
}

static void read_arguments(Command *c, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char **value = value_of(c, argv[i]);
        bool *flag = flag_of(c, argv[i]);
        if (value != NULL && argv[i + 1] == NULL)
            die(EXIT_USAGE, argv[i], "a value is missing after it");
        if (value != NULL) *value = argv[++i];
        else if (flag != NULL) *flag = true;
        else if (!strcmp(argv[i], "--help")) end_with(print_usage);
        else if (!strcmp(argv[i], "--man")) end_with(print_manual);
        else if (argv[i][0] == '-') die(EXIT_USAGE, argv[i], "no such option");
        else if (c->from == NULL) c->from = argv[i];
        else if (c->to == NULL) c->to = argv[i];
        else die(EXIT_USAGE, argv[i], "FOLDER and OUTPUT are given already");
    }
    if (c->archives != NULL && c->to != NULL)
        die(EXIT_USAGE, c->from, "--from takes the place of FOLDER");
    if (c->archives != NULL) c->to = c->from;
    if (c->to == NULL)
        print_usage(stderr), exit(EXIT_USAGE);
}

// Ends the program if an option changes pixels that are kept as they are.
static void want_kept_pixels(const Command *c)
{
    const char *changes = c->size != NULL    ? "--size"
                        : c->depth != NULL   ? "--depth"
                        : c->stretch         ? "--stretch"
                        : c->gray            ? "--gray"
                                             : NULL;
    if (c->keeps && changes != NULL)
        die(EXIT_USAGE, changes, "can't be used with --keep-jpeg, which keeps "
            "files as they are");
    if (c->keeps && c->masks != NULL)
        die(EXIT_USAGE, "--masks", "can't be used with --keep-jpeg: a mask has "
            "the size of its image, and all masks of masks.npy have one size");
}

// Ends the program if an option has no effect without another one.
static void want_pairs(const Command *c)
{
    if (c->boxes != NULL && c->objects == NULL)
        die(EXIT_USAGE, "--boxes", "needs --objects N, the most objects that "
            "an image has");
    if (c->objects != NULL && c->boxes == NULL)
        die(EXIT_USAGE, "--objects", "has no effect without --boxes");
    if (c->crowds && c->boxes == NULL)
        die(EXIT_USAGE, "--crowds", "has no effect without --boxes");
    if (c->classes != NULL && c->boxes == NULL && c->archives == NULL)
        die(EXIT_USAGE, "--classes", "has no effect without --boxes or --from");
    if (c->archives != NULL && (c->boxes != NULL || c->masks != NULL))
        die(EXIT_USAGE, "--from", "has labels: it takes no --masks or --boxes");
    if (c->archives == NULL && (c->image_key != NULL || c->label_key != NULL ||
                                c->first_label != NULL))
        die(EXIT_USAGE, "--image-key, --label-key or --first-label",
            "has no effect without --from");
    if (c->ignored != NULL && c->masks == NULL)
        die(EXIT_USAGE, "--ignore-value", "has no effect without --masks");
}

// Converts the command line.  Masks and boxes are of images as stored.
static Packing packing_of(const Command *c)
{
    Packing p = { .workers = 1 };
    // Boxes of files that are kept are sides of the whole image.
    p.target = (Target){ .channels = c->gray ? 1 : RGB,
                         .stretch = c->stretch || c->keeps };
    p.as_stored = c->as_stored || c->masks != NULL || c->boxes != NULL;
    p.keeps = c->keeps;
    p.one_size = c->size == NULL && !c->keeps;
    want_pairs(c);
    want_kept_pixels(c);
    if (c->size != NULL) read_size(&p.target, c->size);
    if (c->workers != NULL) read_workers(&p, c->workers);
    if (c->objects != NULL) read_objects(&p, c->objects);
    if (c->ignored != NULL) read_ignored(&p, c->ignored);
    if (c->depth != NULL) read_depth(&p, c->depth);
    size_t length = strlen(c->to);
    while (length > 1 && c->to[length - 1] == '/') length--;
    char *to = join(c->to, "", "");
    to[length] = '\0';
    p.to = to;
    return p;
}

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

// Lists the samples of --from.
static void list_given_archives(const Command *c, Samples *s)
{
    Keys keys = { .image = c->image_key, .label = c->label_key };
    const char *text = c->first_label;
    char *end;
    if (text != NULL) {
        keys.first = strtol(text, &end, 10);
        if (end == text || *end != '\0' || keys.first < INT32_MIN ||
            keys.first > INT32_MAX)
            die(EXIT_USAGE, text, "--first-label needs a number of 32 bits");
    }
    list_archives(c->archives, &keys, s);
}

// Sets the type of the set's samples, and all that its first image decides.
static void fit_set(const Command *c, Packing *p, const Samples *s)
{
    if (p->keeps) return;
    if (is_float_set(s)) {
        const char *changes = c->depth != NULL ? "--depth"
                            : c->gray          ? "--gray"
                                               : NULL;
        if (changes != NULL)
            die(EXIT_USAGE, changes, "can't be used with float images, which "
                "keep their samples and channels");
        p->type = F32_SAMPLES;
    }
    if (p->one_size || p->type == F32_SAMPLES) fit_first_image(p, s);
}

static void list_samples(const Command *c, Samples *s)
{
    if (c->classes != NULL) read_names(c->classes, &s->classes);
    if (c->archives != NULL)
        list_given_archives(c, s);
    else if (c->boxes != NULL && !is_folder(c->boxes))
        list_coco(c->from, c->boxes, c->crowds, s);
    else if (c->boxes != NULL || c->masks != NULL)
        list_images(c->from, s);
    else
        list_classes(c->from, s);
    if (c->boxes != NULL && is_folder(c->boxes))
        list_voc(c->boxes, c->crowds, s);
    if (c->masks != NULL) list_masks(c->masks, s);
}

int main(int argc, char **argv)
{
    // Never freed: they live as long as the program.
    static Packing p;
    static Samples s;
    Command command = { .from = NULL };
    struct stat status;

    read_arguments(&command, argc, argv);
    p = packing_of(&command);
    // The path is a copy.
    // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker)
    if (lstat(p.to, &status) == 0)
        die(EXIT_FILES, p.to, "is there already, and is not overwritten");
    // Exceeding the limit of file sizes is then an error of that file.
    signal(SIGXFSZ, SIG_IGN);
    list_samples(&command, &s);
    fit_set(&command, &p, &s);
    int result = write_set(&p, &s);
    if (result != EXIT_DONE) return result;
    printf("%s: %zu images", p.to, s.count);
    if (s.classes.count > 0) printf(" of %zu classes", s.classes.count);
    if (p.keeps) printf(", JPEG files as they are");
    else printf(", %d x %d x %d%s", p.target.height, p.target.width,
                p.target.channels, p.type == F32_SAMPLES ? " of f32" : "");
    printf("; %zu other files\n", s.skipped);
    if (fflush(stdout) != 0 || ferror(stdout))
        die(EXIT_FILES, "standard output", strerror(errno));
    return 0;
}
