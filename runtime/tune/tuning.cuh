// The net's description for the program of --tune; codegen/tune/tune.c fills
// it.
#pragma once
#include <stddef.h>

#include "../support/net/place.cuh"

// TuneLaunch: a launch of a training step, including the one that adds its partial sums, if any;
// how often the step has it; the bytes of the arena that it touches.  Function launch() runs it on
// the stream with tiles of this number, and returns false if no such tile fits.
struct TuneLaunch {
    const char *name;
    int count;
    size_t bytes;
    bool (*launch)(int tile, Arena a, cudaStream_t stream);
};

// TuneProduct: a line of the table: the GEMM, the tile that the GPU's model chooses, and its
// launches, from number `first` on.
struct TuneProduct {
    const char *key;
    int modelled, first, count;
};

// Tuning: the net, the GPU's name, properties and tiles, the GEMMs, the launches.
struct Tuning {
    const char *net, *precision, *gpu, *lines;
    int sm, multiprocessors;
    long long shared;
    const char *const *tiles;   // as in a GPU's file
    int tile_count;
    const TuneProduct *products;
    int product_count;
    const TuneLaunch *launches;
    int launch_count;
    size_t arena_bytes;
};
