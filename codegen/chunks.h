// The runtime's text, divided into chunks by the build tool embed.c.  A chunk
// is one definition with the comment above it, and lists the chunks that it
// names.
#ifndef CNNC_CHUNKS_H
#define CNNC_CHUNKS_H

typedef struct Chunk {
    const char        *file;    // conv.cuh
    const char *const *names;   // names that it defines, ends with NULL
    const char *const *lines;   // its text, ends with NULL
    const int         *needs;   // chunks it names, ends with -1
    const char *const *includes;// <math.h>: system headers of its file
} Chunk;

extern const Chunk chunks[];
extern const int   chunk_count;

#endif
