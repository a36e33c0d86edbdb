// Planted faults that only running shows. With the argument `address` a byte
// past an array is read, with `integer` a sum overflows, with none nothing is
// wrong.  A sanitized build must end each of the first two.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    int size = 16 + argc, at = strcmp(word, "address") ? 0 : size;
    int most = strcmp(word, "integer") ? 0 : INT_MAX;
    char *bytes = calloc((size_t)size, 1);
    if (bytes == NULL) return 3;
    printf("%d %d\n", bytes[at], most + argc);
    free(bytes);
    return 0;
}
