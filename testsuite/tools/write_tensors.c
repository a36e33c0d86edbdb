#include "write_tensors.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// Prints the message of errno for the file.
static bool complain(const char *path)
{
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return false;
}

// Its length goes in last, when it is known.
static void write_header(FILE *out, const TensorFile *file)
{
    int64_t begin = 0, length = 0;

    fwrite(&length, 8, 1, out);
    fputc('{', out);
    for (int k = 0; k < file->count; k++) {
        const Tensor *t = &file->tensor[k];
        fprintf(out, "%s\"%s\":{\"dtype\":\"F64\",\"shape\":[",
                k > 0 ? "," : "", t->name);
        for (int i = 0; i < t->rank; i++)
            fprintf(out, "%s%" PRId64, i > 0 ? "," : "", t->dim[i]);
        fprintf(out, "],\"data_offsets\":[%" PRId64 ",%" PRId64 "]}", begin,
                begin + 8 * t->count);
        begin += 8 * t->count;
    }
    fputc('}', out);
    while (ftell(out) % 8 != 0) fputc(' ', out);
    length = ftell(out) - 8;
    fseek(out, 0, SEEK_SET);
    fwrite(&length, 8, 1, out);
    fseek(out, 0, SEEK_END);
}

bool tensors_write(const char *path, const TensorFile *file)
{
    FILE *out = fopen(path, "wb");

    if (out == NULL) return complain(path);
    write_header(out, file);
    for (int k = 0; k < file->count; k++)
        fwrite(file->tensor[k].data, 8, (size_t)file->tensor[k].count, out);
    bool written = !ferror(out);
    if (fclose(out) != 0 || !written) return complain(path);
    return true;
}
