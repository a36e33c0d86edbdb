// What the exact search for addresses is made of; place.h says what it is for.
//
// place_search.c   which heights to ask for, in what orders, with how much work
// place_tree.c     the search itself: is there a placement of this height?
// place_blocks.c   who lives with whom, and what changes when one is placed
#ifndef CNNC_PLACE_SEARCH_H
#define CNNC_PLACE_SEARCH_H

#include "place.h"

// An item of the search.  Time is cut into sections at whose borders something
// begins or ends; those whose items all live in another are left out.
typedef struct Block {
    int64_t size, lifetime;
    int64_t ground;             // the top of what is placed beneath it
    int64_t low;                // no placement that is left puts it lower
    int64_t offset;             // once placed
    int32_t from, to;           // its sections: from .. to - 1
    int32_t near, near_count;   // those that live with it, in Search.near;
    int32_t unplaced_near;      // of these, how many have no place yet
    int32_t twin;               // the next of equal life and size, in a circle
    bool    placed;
} Block;

typedef struct Section {
    int64_t need;               // sizes of those that have no place yet
    int32_t in, in_count;       // who lives in it, in Search.in
    int32_t across;             // without a place, and in the next one as well
    bool    changed;            // its floor is to be looked at again
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
    int64_t  capacity;          // the height that is asked for
    int64_t  work;              // left of what this descent may take
    int64_t  step;              // between two heights worth asking for
    int64_t  least;             // it was proved that none is lower
    unsigned next_order;        // to try, of those in place_search.c
    Block   *blocks;
    Section *sections;
    int32_t  count, section_count;
    bool     is_joined;         // blocks are items of equal life, as one
    int32_t *block_of;          // of each item; and where in it the item lies
    int64_t *within;
    int32_t *near, *in;
    int32_t *changed, changed_count;
    int32_t *placed, placed_count;      // in the order of placing
    Undo    *trail;             // of ground and low
    int32_t  trail_count, trail_capacity;
    int32_t *lists;             // a stack of those that are left in a part
    int32_t  list_top, list_capacity;
    const char *order;          // three letters of what to sort by
    RankedBlock *ranked;        // to sort by
} Search;

// Where the state of a search can be put back to.
typedef struct Mark {
    int32_t placed, trail;
} Mark;

// A search over p->items, with nothing placed.  Joined, items of equal life are
// one block: that is quicker and finds most placements, but proves nothing.
Search *new_search(Placing *p, bool joined);

// Each returns false where no placement of this capacity is left.
bool put_block(Search *s, int32_t block);
bool raise_low(Search *s, int32_t block, int64_t to);
bool check_floors(Search *s);

Mark mark_state(const Search *s);
void undo_to(Search *s, Mark mark);

// IMPOSSIBLE is a proof; STOPPED says that the work was spent.
typedef enum Verdict { IMPOSSIBLE, FOUND, STOPPED } Verdict;

// Looks for a placement no higher than s->capacity, with s->work, and leaves it
// in the blocks if there is one.
Verdict search_tree(Search *s);

#endif
