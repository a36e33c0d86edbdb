// Programs of a training step, from the one that computes nothing again to the
// one with the fewest bytes.
#ifndef CNNC_REMAT_SEARCH_H
#define CNNC_REMAT_SEARCH_H

#include "remat_choices.h"

// levels: how many peaks it aims at, evenly spread between the most and the
// least bytes.  Work is counted: equal problems have equal answers.  What it
// returns lies in r's arena.
RematChoices remat_search(const Remat *r, int levels);

#endif
