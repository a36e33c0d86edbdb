// What the program of --tune knows of its net; codegen/tune/tune.c fills it.
#pragma once
#include <stddef.h>

#include "../support/net/place.cuh"

// TuneLaunch: a launch of a training step, with the one that adds up its partial sums where it has
// such; how often the step has it; the arena's bytes that it touches.  launch() gives it to the
// stream with tiles of this number, and returns false where no such tile fits.
struct TuneLaunch {
    const char *name;
    int count;
    size_t bytes;
    bool (*launch)(int tile, Arena a, cudaStream_t stream);
};

// TuneProduct: a line of the table: which product, the tile that the model of the GPU takes, and
// its launches, of which `first` is the number of the first.
struct TuneProduct {
    const char *key;
    int modelled, first, count;
};

// Tuning: the net, the GPU whose lines these are and what it is made of, tiles, products, launches.
struct Tuning {
    const char *net, *precision, *gpu, *lines;
    int sm, multiprocessors;
    long long shared;
    const char *const *tiles;   // as a GPU's file has them
    int tile_count;
    const TuneProduct *products;
    int product_count;
    const TuneLaunch *launches;
    int launch_count;
    size_t arena_bytes;
};
