// cnnc-pack-images: converts a folder with one subfolder of images for each
// class into arrays that a program can map into memory:
//
//     images.npy     u1 [n, height, width, channels]
//     labels.npy     i4 [n], the class's number
//     classes.txt    one name a line, in the order of their numbers
//
// Classes, and the images of each, are sorted by the bytes of their names.
// Each image is processed independently, so the number of workers changes no
// bit.  The three files appear together in a new folder, or not at all.
#define _XOPEN_SOURCE 700

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "pack.h"

enum { LARGEST = 1 << 14, MOST_WORKERS = 256, MOST_FAULTS = 20 };

typedef struct Pack {
    const char *from, *to;
    Target      target;
    bool        as_stored;      // ignores orientation
    int         workers;
    Folder      folder;
    char      **faults;         // by path; NULL: no fault
    int         images;         // descriptor of images.npy
    size_t      head;           // bytes before its first image
    atomic_size_t next;         // the next image to process
    atomic_int  error;          // errno of a failed write
} Pack;

// ---- images -----------------------------------------------------------------

static size_t image_bytes(const Target *t)
{
    return (size_t)t->height * (size_t)t->width * (size_t)t->channels;
}

static bool write_all(int file, const void *from, size_t bytes, off_t at)
{
    for (const char *c = from; bytes > 0;) {
        ssize_t written = pwrite(file, c, bytes, at);
        if (written < 0 && errno != EINTR) return false;
        if (written > 0) c += written, bytes -= (size_t)written, at += written;
    }
    return true;
}

static void pack_one(Pack *p, size_t i, uint8_t *buffer)
{
    char message[MESSAGE_SIZE];
    size_t bytes = image_bytes(&p->target);
    Image image;

    if (!decode(p->folder.paths.at[i], &image, message)) {
        p->faults[i] = join(message, "", "");
        return;
    }
    if (!turn(&image, p->as_stored ? NO_ORIENTATION : image.orientation) ||
        !resize(&image, &p->target, buffer))
        p->faults[i] = join("there is no memory to resize it", "", "");
    else if (!write_all(p->images, buffer, bytes,
                        (off_t)(p->head + i * bytes)))
        p->error = errno;
    free(image.pixels);
}

static void *work(void *data)
{
    Pack *p = data;
    uint8_t *buffer = grow(NULL, image_bytes(&p->target));
    for (size_t i; p->error == 0 && (i = p->next++) < p->folder.paths.count;)
        pack_one(p, i, buffer);
    free(buffer);
    return NULL;
}

// False if an image was broken or could not be written; each fault is printed.
static bool pack_all(Pack *p, const char *path)
{
    pthread_t thread[MOST_WORKERS];
    size_t faults = 0;

    for (int i = 0; i < p->workers; i++) {
        int error = pthread_create(&thread[i], NULL, work, p);
        if (error != 0 && i == 0) p->error = error;
        if (error != 0) p->workers = i;
    }
    for (int i = 0; i < p->workers; i++) pthread_join(thread[i], NULL);
    if (p->error != 0) fprintf(stderr, "%s: %s\n", path, strerror(p->error));
    for (size_t i = 0; i < p->folder.paths.count; i++)
        // Each path has an entry.
        // NOLINTNEXTLINE(clang-analyzer-core.NullDereference)
        if (p->faults[i] != NULL && faults++ < MOST_FAULTS)
            fprintf(stderr, "%s: %s\n", p->folder.paths.at[i], p->faults[i]);
    if (faults > MOST_FAULTS)
        fprintf(stderr, "and %zu more\n", faults - MOST_FAULTS);
    return p->error == 0 && faults == 0;
}

// ---- files ------------------------------------------------------------------

enum { FILE_IMAGES, FILE_LABELS, FILE_CLASSES, FILE_COUNT };
static const char *const file_names[FILE_COUNT] = {
    "images.npy", "labels.npy", "classes.txt",
};

// Sets head to an NPY header, version 1, and returns its length.  It ends with
// a new line, and the data begins at a multiple of 64 bytes.
static size_t npy_header(char head[256], const char *type, const char *shape)
{
    int length = snprintf(head + 10, 240, "{'descr': '%s', 'fortran_order': "
                          "False, 'shape': (%s), }", type, shape);
    size_t all = ((size_t)length + 11 + 63) / 64 * 64;
    // The bytes are not a string.
    // NOLINTNEXTLINE(bugprone-not-null-terminated-result)
    memcpy(head, "\x93NUMPY\x01\x00", 8);
    head[8] = (char)((all - 10) & 255);
    head[9] = (char)((all - 10) >> 8);
    memset(head + 10 + length, ' ', all - 10 - (size_t)length);
    head[all - 1] = '\n';
    return all;
}

static bool write_labels(const Pack *p, FILE *out)
{
    char head[256], shape[64];
    snprintf(shape, sizeof shape, "%zu,", p->folder.paths.count);
    size_t length = npy_header(head, "<i4", shape);
    fwrite(head, 1, length, out);
    for (size_t i = 0; i < p->folder.paths.count; i++)
        for (int byte = 0; byte < 4; byte++)
            putc((int)((uint32_t)p->folder.labels[i] >> 8 * byte & 255), out);
    return ferror(out) == 0;
}

static bool write_classes(const Pack *p, FILE *out)
{
    for (size_t i = 0; i < p->folder.classes.count; i++)
        fprintf(out, "%s\n", p->folder.classes.at[i]);
    return ferror(out) == 0;
}

static bool write_images(Pack *p, FILE *out, const char *path)
{
    char head[256], shape[128];
    const Target *t = &p->target;
    snprintf(shape, sizeof shape, "%zu, %d, %d, %d", p->folder.paths.count,
             t->height, t->width, t->channels);
    p->head = npy_header(head, "|u1", shape);
    p->images = fileno(out);
    if (!write_all(p->images, head, p->head, 0)) p->error = errno;
    return pack_all(p, path);
}

static bool failed(Pack *p, const char *path)
{
    p->error = errno;
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return false;
}

static bool write_file(Pack *p, int which, const char *path)
{
    FILE *out = fopen(path, "wbx");
    if (out == NULL) return failed(p, path);
    bool done = which == FILE_IMAGES ? write_images(p, out, path)
              : which == FILE_LABELS ? write_labels(p, out)
                                     : write_classes(p, out);
    bool on_disk = fflush(out) == 0 && fsync(fileno(out)) == 0;
    if (!on_disk) failed(p, path);
    fclose(out);
    return done && on_disk;
}

static void sync_folder(const char *path)
{
    int folder = open(path, O_RDONLY);
    if (folder < 0) return;
    fsync(folder);
    close(folder);
}

// Writes the folder, and gives it its name when it is complete.
static bool write_shard(Pack *p)
{
    int lock;
    char *folder = make_folder(p->to, &lock), *path[FILE_COUNT];
    bool done = true;

    for (int i = 0; i < FILE_COUNT; i++) {
        path[i] = join(folder, "/", file_names[i]);
        done = done && write_file(p, i, path[i]);
    }
    sync_folder(folder);
    if (done && rename(folder, p->to) != 0) done = failed(p, p->to);
    for (int i = 0; i < FILE_COUNT; i++) {
        if (!done) remove(path[i]);
        free(path[i]);
    }
    if (!done) rmdir(folder);
    close(lock);
    char *parent = join(p->to, "/", "..");
    if (done) sync_folder(parent);
    free(parent);
    free(folder);
    return done;
}

// ---- the command line -------------------------------------------------------

static const char usage[] =
    "usage: cnnc-pack-images FOLDER OUTPUT --size HxW [options]\n"
    "\n"
    "Packs the JPEG and PNG files of FOLDER/<class>/ into images.npy,\n"
    "labels.npy and classes.txt of the new folder OUTPUT.  Images are resized\n"
    "with a bilinear filter (with antialiasing); parts outside the\n"
    "proportions of HxW are cut off equally at both sides.  16-bit samples\n"
    "become 8 by round(v / 257), gamma and profiles have no effect, alpha is\n"
    "composed over white, and an image is turned as its EXIF orientation "
    "says.\n"
    "\n"
    "  --size HxW     height and width of the result\n"
    "  --stretch      keep all of an image, not its proportions\n"
    "  --gray         one channel instead of red, green and blue\n"
    "  --ignore-orientation  keep images as they are stored\n"
    "  --workers N    threads; the result is the same for any number\n"
    "\n"
    "Exit: 0 done, 1 an image is broken, 2 usage, 3 a file can't be read or\n"
    "written.\n";

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
    if (!read_number(text, LARGEST, 'x', &t->height, &rest) ||
        !read_number(rest, LARGEST, '\0', &t->width, &rest))
        die(EXIT_USAGE, text, "--size needs height x width, each from 1 to "
            "16384, as in 224x224");
}

static void read_workers(Pack *p, const char *text)
{
    const char *rest;
    if (!read_number(text, MOST_WORKERS, '\0', &p->workers, &rest))
        die(EXIT_USAGE, text, "--workers needs a number from 1 to 256");
}

// Returns the number of arguments that the option takes after it; -1: no
// option.
static int read_option(Pack *p, const char *arg, const char *value)
{
    bool is_size = !strcmp(arg, "--size"), counts = !strcmp(arg, "--workers");
    if ((is_size || counts) && value == NULL)
        die(EXIT_USAGE, arg, "a value is missing after it");
    if (is_size) return read_size(&p->target, value), 1;
    if (counts) return read_workers(p, value), 1;
    if (!strcmp(arg, "--stretch")) return p->target.stretch = true, 0;
    if (!strcmp(arg, "--gray")) return p->target.channels = 1, 0;
    if (!strcmp(arg, "--ignore-orientation")) return p->as_stored = true, 0;
    return -1;
}

static void read_arguments(Pack *p, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int taken = read_option(p, argv[i], argv[i + 1]);
        if (taken >= 0) i += taken;
        else if (!strcmp(argv[i], "--help")) fputs(usage, stdout), exit(0);
        else if (argv[i][0] == '-') die(EXIT_USAGE, argv[i], "no such option");
        else if (p->from == NULL) p->from = argv[i];
        else if (p->to == NULL) p->to = argv[i];
        else die(EXIT_USAGE, argv[i], "FOLDER and OUTPUT are given already");
    }
    if (p->to == NULL || p->target.height == 0)
        fputs(usage, stderr), exit(EXIT_USAGE);
    size_t length = strlen(p->to);
    while (length > 1 && p->to[length - 1] == '/') length--;
    char *to = join(p->to, "", "");
    to[length] = '\0';
    p->to = to;
}

int main(int argc, char **argv)
{
    // Never freed: it lives as long as the program.
    static Pack p = { .target = { .channels = RGB }, .workers = 1 };
    struct stat status;

    read_arguments(&p, argc, argv);
    // Without a name for the output, read_arguments has ended the program.
    // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker)
    if (lstat(p.to, &status) == 0)
        die(EXIT_FILES, p.to, "is there already, and is not overwritten");
    // Exceeding the limit of file sizes is then an error of that file.
    signal(SIGXFSZ, SIG_IGN);
    sweep_folders(p.to, file_names, FILE_COUNT);
    list_classes(p.from, &p.folder);
    p.faults = grow(NULL, p.folder.paths.count * sizeof *p.faults);
    for (size_t i = 0; i < p.folder.paths.count; i++) p.faults[i] = NULL;
    if (!write_shard(&p)) return p.error != 0 ? EXIT_FILES : EXIT_BROKEN;
    printf("%s: %zu images of %zu classes, %d x %d x %d; %zu other files\n",
           p.to, p.folder.paths.count, p.folder.classes.count, p.target.height,
           p.target.width, p.target.channels, p.folder.skipped);
    if (fflush(stdout) != 0 || ferror(stdout))
        die(EXIT_FILES, "standard output", strerror(errno));
    return 0;
}
