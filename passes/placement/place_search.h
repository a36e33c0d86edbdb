// Declarations of the exact search for offsets; place.h states its purpose.
//
// place_search.c   chooses heights, orders and work
// place_tree.c     the search: does a placement of this height exist?
// place_blocks.c   neighbours, and the state while blocks are placed
#ifndef CNNC_PLACE_SEARCH_H
#define CNNC_PLACE_SEARCH_H

#include "place.h"

// An item of the search.  Time is divided into sections, at whose borders
// blocks begin or end.  A section whose blocks are a subset of another's is
// left out.
typedef struct Block {
    int64_t size, lifetime;
    int64_t ground;             // the top of the placed blocks below it
    int64_t low;                // a lower bound of its offset in the current
                                // subtree
    int64_t offset;             // valid if placed
    int32_t from, to;           // its sections: from .. to - 1
    int32_t near, near_count;   // blocks that live with it, in Search.near
    int32_t unplaced_near;      // the unplaced ones among them
    int32_t twin;               // the next of equal lifetime and size, in a
                                // circle
    bool    placed;
} Block;

typedef struct Section {
    int64_t need;               // sum of the unplaced blocks' sizes
    int32_t in, in_count;       // its blocks, in Search.in
    int32_t across;             // unplaced blocks that also are in the next one
    bool    changed;            // its floor must be checked
} Section;

typedef struct Undo {
    int64_t *where, value;
} Undo;

typedef struct RankedBlock {
    double  key[3];             // descending
    int32_t block;
} RankedBlock;

typedef struct Search {
    Arena   *arena;
    Placing *p;
    int64_t  capacity;          // the height that is tried
    int64_t  work, failures;    // left for this descent
    int64_t  step;              // between two heights that are tried
    int64_t  least;             // proved lower bound
    unsigned next_order;        // index of the next order in place_search.c
    Block   *blocks;
    Section *sections;
    int32_t  count, section_count;
    bool     is_joined;         // items of equal lifetime are one block
    int32_t *block_of;          // of each item; within: its offset there
    int64_t *within;
    int32_t *near, *in;
    int32_t *changed, changed_count;
    int32_t *placed, placed_count;      // in the order of placing
    Undo    *trail;             // old values of ground and low
    int32_t  trail_count, trail_capacity;
    int32_t *lists;             // a stack of lists of unplaced blocks
    int32_t  list_top, list_capacity;
    const char *order;          // three letters: the keys of the order
    RankedBlock *ranked;        // scratch for sorting
} Search;

// A state that the search can return to.
typedef struct Mark {
    int32_t placed, trail;
} Mark;

// Returns a search over p->items with nothing placed.  Joined, items of equal
// lifetime are one block: faster, and it finds most placements, but proves
// nothing.
Search *new_search(Placing *p, bool joined);

// Each returns false if no placement of this capacity is left.
bool put_block(Search *s, int32_t block);
bool raise_low(Search *s, int32_t block, int64_t to);
bool check_floors(Search *s);

Mark mark_state(const Search *s);
void undo_to(Search *s, Mark mark);

// IMPOSSIBLE is a proof; STOPPED: the work or the failures were spent.
typedef enum Verdict { IMPOSSIBLE, FOUND, STOPPED } Verdict;

// Searches for a placement no higher than s->capacity, with s->work and
// s->failures; leaves it in the blocks if it exists.
Verdict search_tree(Search *s);

#endif
