// NPY: a magic string, a version, the length of a header, the header, and the
// numbers.  The header is a Python dictionary of the type, the order and the
// shape.
#include <stdio.h>
#include <string.h>
#include "floats.h"

enum { LONGEST_TYPE = 24, MOST_DIMENSIONS = 3 };
enum { HAS_TYPE = 1, HAS_ORDER = 2, HAS_SHAPE = 4, HAS_ALL = 7 };

// Header: a cursor, and the content before it.
typedef struct Header {
    const char *begin, *at, *end;
    char        type[LONGEST_TYPE];
    bool        fortran;
    int         rank;
    uint64_t    dims[MOST_DIMENSIONS];  // those that a rank above has are lost
    char       *message;
} Header;

static bool header_fault(Header *h, const char *wanted)
{
    return refuse(h->message, "is NPY: wanted %s at byte %td of its header",
                  wanted, h->at - h->begin);
}

// Skips blanks and takes a word if it is next.
static bool takes(Header *h, const char *word)
{
    size_t length = strlen(word);
    while (h->at < h->end && (*h->at == ' ' || *h->at == '\n')) h->at++;
    if ((size_t)(h->end - h->at) < length || memcmp(h->at, word, length) != 0)
        return false;
    h->at += length;
    return true;
}

// Takes a string in quotes.  It keeps the printable signs that fit.
static bool takes_string(Header *h, char text[LONGEST_TYPE])
{
    size_t length = 0;
    int quote = takes(h, "'") ? '\'' : takes(h, "\"") ? '"' : '\0';
    if (quote == '\0') return false;
    for (; h->at < h->end && *h->at != quote; h->at++)
        if (*h->at >= ' ' && *h->at <= '~' && length + 1 < LONGEST_TYPE)
            text[length++] = *h->at;
    text[length] = '\0';
    return h->at < h->end && *h->at++ == quote;
}

// Reads digits, of a number below 10^9.
static bool takes_number(Header *h, uint64_t *number)
{
    int digits = 0;
    *number = 0;
    takes(h, "");
    for (; h->at < h->end && *h->at >= '0' && *h->at <= '9'; h->at++, digits++)
        if (digits < 9) *number = 10 * *number + (uint64_t)(*h->at - '0');
    return digits >= 1 && digits <= 9;
}

static bool read_shape(Header *h)
{
    h->rank = 0;
    if (!takes(h, "(")) return header_fault(h, "(");
    while (!takes(h, ")")) {
        uint64_t number;
        if (!takes_number(h, &number))
            return header_fault(h, "a number of 1 to 9 digits");
        if (h->rank < MOST_DIMENSIONS) h->dims[h->rank] = number;
        h->rank++;
        if (!takes(h, ",") && (h->at == h->end || *h->at != ')'))
            return header_fault(h, ", or )");
    }
    return true;
}

// Reads a key and its value.  Returns the key, or 0 with a message.
static int read_entry(Header *h)
{
    char key[LONGEST_TYPE] = "";
    const char *before = h->at;
    takes_string(h, key);
    int found = !strcmp(key, "descr")           ? HAS_TYPE
              : !strcmp(key, "fortran_order") ? HAS_ORDER
              : !strcmp(key, "shape")         ? HAS_SHAPE
                                              : 0;
    if (found == 0) {
        h->at = before;
        header_fault(h, "'descr', 'fortran_order' or 'shape'");
    } else if (!takes(h, ":")) {
        return header_fault(h, ":");
    }
    if (found == HAS_TYPE && !takes_string(h, h->type))
        return header_fault(h, "a type in quotes, '<f4',");
    if (found == HAS_ORDER && !(h->fortran = takes(h, "True")) &&
        !takes(h, "False"))
        return header_fault(h, "True or False");
    return found == HAS_SHAPE && !read_shape(h) ? 0 : found;
}

// Reads the dictionary: each key once, in any order.
static bool read_header(Header *h)
{
    int seen = 0;
    if (!takes(h, "{")) return header_fault(h, "{");
    while (!takes(h, "}")) {
        int key = read_entry(h);
        if (key == 0) return false;
        if (seen & key) return header_fault(h, "each key once");
        seen |= key;
        if (!takes(h, ",") && (h->at == h->end || *h->at != '}'))
            return header_fault(h, ", or }");
    }
    return seen == HAS_ALL ||
           header_fault(h, "'descr', 'fortran_order' and 'shape'");
}

// Returns the bytes before the header, and sets its length; 0 for a file that
// ends before the header does.
static size_t find_header(const Bytes *file, size_t *length)
{
    size_t head = file->count > 6 && file->at[6] > 1 ? 12 : 10;
    *length = 0;
    if (file->count < head) return 0;
    for (size_t i = head; i > 8; i--) *length = *length << 8 | file->at[i - 1];
    return *length <= file->count - head ? head : 0;
}

static bool check_array(const Header *h)
{
    if (strcmp(h->type, "<f4") != 0)
        return refuse(h->message, "is NPY of %s: wanted <f4, float numbers of "
                      "32 bits with the lowest byte first", h->type);
    if (h->fortran)
        return refuse(h->message, "is NPY in Fortran's order: wanted C's");
    return h->rank == 2 || h->rank == 3 ||
           refuse(h->message, "is NPY of %d dimensions: wanted [height, width] "
                  "or [height, width, channels]", h->rank);
}

bool read_npy(const Bytes *file, Image *image, char message[MESSAGE_SIZE])
{
    size_t length, head = find_header(file, &length);
    if (file->count > 6 && (file->at[6] < 1 || file->at[6] > 3))
        return refuse(message, "is NPY of version %d: wanted 1 to 3",
                      file->at[6]);
    if (head == 0) return refuse(message, "is NPY, and ends in its header");
    const char *text = (const char *)file->at + head;
    Header h = { .begin = text, .at = text, .end = text + length,
                 .message = message };
    if (!read_header(&h) || !check_array(&h)) return false;
    Stated size = { h.dims[0], h.dims[1], h.rank == 3 ? h.dims[2] : 1 };
    uint64_t bytes = float_bytes(&size, message);
    size_t found = file->count - head - length;
    if (bytes == 0) return false;
    if (bytes != found)
        return refuse(message, "is NPY, and has %zu bytes of numbers: wanted "
                      "%llu, for %llu x %llu pixels of %llu channels", found,
                      (unsigned long long)bytes,
                      (unsigned long long)size.height,
                      (unsigned long long)size.width,
                      (unsigned long long)size.channels);
    if (!make_float_room(image, &size, message)) return false;
    load_floats(file->at + head + length, bytes / sizeof(float), false,
                image->pixels);
    return true;
}
