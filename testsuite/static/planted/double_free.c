// A planted fault: memory that is freed twice where the first byte is zero.
#include <stdlib.h>

int planted_first(size_t size)
{
    char *bytes = (char *)calloc(size, 1);
    if (bytes == NULL) return -1;
    int first = bytes[0];
    if (first == 0) free(bytes);
    free(bytes);
    return first;
}
