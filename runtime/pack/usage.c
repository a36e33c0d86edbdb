// cnnc-pack-images: what --help prints, and --man as a manual page in troff's
// man macros.  Both have the same texts.
#include <stdio.h>
#include "pack.h"

static const char title[] =
    "pack folders of images into arrays for cnnc's trainers";
static const char description[] =
    "Packs the JPEG and PNG files of FOLDER/<class>/ into images.npy,\n"
    "labels.npy and classes.txt of the new folder OUTPUT.  With --masks it\n"
    "packs FOLDER/<image>, and masks.npy in place of labels; with --boxes,\n"
    "boxes.npy and kinds.npy.  With --from it packs the images and labels of\n"
    "archives, joined by commas.  Images are resized by a bilinear filter\n"
    "(with antialiasing); parts outside the proportions of HxW are cut off\n"
    "equally at both sides.  16-bit samples become 8 by round(v / 257), gamma\n"
    "and profiles have no effect, alpha is composed over white, and an image\n"
    "is turned as its EXIF orientation says unless it has masks or boxes.\n"
    "Without --size all images have the size of the first.  Float images\n"
    "(NPY, PFM, TIFF) keep their numbers and channels; a set has no others\n"
    "then.\n";

static const struct { const char *name, *value, *meaning; } options[] = {
    { "--size", "HxW", "height and width; without it, the first image's" },
    { "--stretch", "", "keep all of an image, not its proportions" },
    { "--gray", "", "one channel instead of red, green and blue" },
    { "--ignore-orientation", "", "keep images as they are stored" },
    { "--from", "FILES", "read tar or TFRecord files, not FOLDER" },
    { "--label-key", "NAME", "of labels in JSON or TFRecord" },
    { "--image-key", "NAME", "of images in TFRecord" },
    { "--first-label", "N", "the number of class 0 in FILES; default: 0" },
    { "--keep-jpeg", "", "keep JPEG files as they are, without --size" },
    { "--depth", "BITS", "of a sample in the arrays: 8 (default) or 16" },
    { "--masks", "DIR", "pack the PNG files of DIR with the same names, too" },
    { "--ignore-value", "V", "255 in a mask becomes V" },
    { "--boxes", "PATH", "pack objects of COCO's JSON or VOC's XML, too" },
    { "--objects", "N", "room for this many objects in an image" },
    { "--crowds", "", "pack objects that are crowds or difficult, too" },
    { "--classes", "FILE", "numbers of classes: lines of FILE, from 0 on" },
    { "--workers", "N", "threads; the result is the same for any number" },
    { "--help", "", "this text" },
    { "--man", "", "the manual page: cnnc-pack-images --man | man -l -" },
};
enum { OPTIONS = sizeof options / sizeof *options };

static const struct { int status; const char *meaning; } statuses[] = {
    { EXIT_DONE, "done" },
    { EXIT_BROKEN, "an image is broken" },
    { EXIT_USAGE, "the command line is wrong" },
    { EXIT_FILES, "a file can't be read or written" },
};
enum { STATUSES = sizeof statuses / sizeof *statuses };

void print_usage(FILE *out)
{
    fprintf(out, "usage: cnnc-pack-images FOLDER OUTPUT [options]\n"
            "       cnnc-pack-images --from FILES OUTPUT [options]\n"
            "\n%s\n", description);
    for (int i = 0; i < OPTIONS; i++) {
        char head[40];
        snprintf(head, sizeof head, "%s %s", options[i].name, options[i].value);
        fprintf(out, "  %-21s %s\n", head, options[i].meaning);
    }
    fputs("\nExit status:\n", out);
    for (int i = 0; i < STATUSES; i++)
        fprintf(out, "  %d  %s\n", statuses[i].status, statuses[i].meaning);
}

// Prints text for troff: a hyphen is a minus sign, and a sentence begins a
// line.
static void print_troff(const char *text, FILE *out)
{
    for (; *text != '\0'; text++) {
        if (*text == '-') fputs("\\-", out);
        else if (*text == '\'') fputs("\\(aq", out);
        else fputc(*text, out);
        if (*text != '.' || text[1] != ' ') continue;
        fputc('\n', out);
        while (text[1] == ' ') text++;
    }
}

void print_manual(FILE *out)
{
    fprintf(out, ".TH CNNC\\-PACK\\-IMAGES 1 %s \"cnnc %s\" \"User Commands\"\n"
            ".SH NAME\ncnnc\\-pack\\-images \\- ", CNNC_RELEASED, CNNC_VERSION);
    print_troff(title, out);
    fputs("\n.SH SYNOPSIS\n.B cnnc\\-pack\\-images\n\\fIFOLDER\\fR "
          "\\fIOUTPUT\\fR [\\fIoptions\\fR]\n"
          ".SH DESCRIPTION\n", out);
    print_troff(description, out);
    fputs(".SH OPTIONS\n", out);
    for (int i = 0; i < OPTIONS; i++) {
        fputs(".TP\n\\fB", out);
        print_troff(options[i].name, out);
        fputs("\\fR", out);
        if (*options[i].value != '\0')
            fprintf(out, " \\fI%s\\fR", options[i].value);
        fputc('\n', out);
        print_troff(options[i].meaning, out);
        fputc('\n', out);
    }
    fputs(".SH EXIT STATUS\n", out);
    for (int i = 0; i < STATUSES; i++) {
        fprintf(out, ".TP\n%d\n", statuses[i].status);
        print_troff(statuses[i].meaning, out);
        fputc('\n', out);
    }
    fputs(".SH SEE ALSO\n.BR cnnc (1)\n", out);
}
