// A planted fault: the line is lost where the number is too large.
#include <stdlib.h>

int planted_digits(int number)
{
    char *line = (char *)malloc(80);
    if (line == NULL) return -1;
    line[0] = (char)('0' + number % 10);
    if (number > 9) return 1;
    free(line);
    return 0;
}
