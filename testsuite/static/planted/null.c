// A planted fault: NULL is read where the list is empty.
#include <stddef.h>

struct PlantedItem {
    struct PlantedItem *next;
    int value;
};

int planted_last(struct PlantedItem *list)
{
    struct PlantedItem *last = NULL;
    for (; list != NULL; list = list->next)
        if (list->value > 0) last = list;
    if (last == NULL) return last->value;
    return 0;
}
