// The runtime's text, as the build tool (embed.c) cut it up: a chunk is one
// definition with the comment above it, and knows which chunks it names.
#ifndef CNNC_CHUNKS_H
#define CNNC_CHUNKS_H

typedef struct Chunk {
    const char        *file;    // conv.cuh
    const char *const *names;   // what it defines, ends with NULL
    const char *const *lines;   // its text, ends with NULL
    const int         *needs;   // chunks it names, ends with -1
    const char *const *includes;// <math.h>: system headers of its file
} Chunk;

extern const Chunk chunks[];
extern const int   chunk_count;

#endif
