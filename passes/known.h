// Placements that a search was spent on, of one compilation: a budget and ways
// to wait come to the same instance again and again, and some take seconds.
#ifndef CNNC_KNOWN_H
#define CNNC_KNOWN_H

#include "place.h"

typedef struct Known Known;

// Empty, and all that is kept, in arena.
Known *known_new(Arena *arena);

// place_towards with the goal, which has no clock, or what that came to for the
// same items and goal before: sets every offset and returns the highest end.
int64_t place_or_recall(Known *known, Arena *arena, Item *items, int32_t count,
                        const PlaceGoal *goal);

#endif
