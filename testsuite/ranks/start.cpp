// The trainer's start of ranks (runtime/trainer/ranks.cuh).  The word `place` prints the place of
// this process.  The word `join` waits 20 seconds for the other ranks, and prints the bytes of rank
// 0.  Variables START_FINGERPRINT and START_SECONDS change the fingerprint and the time.
#include <stdio.h>
#include <sys/random.h>
#include "../../runtime/trainer/ranks.cuh"

static bool join_others(const RankPlace *place)
{
    const char *other = getenv("START_FINGERPRINT"), *time = getenv("START_SECONDS");
    unsigned char bytes[128] = {};
    if (place->rank == 0 && getrandom(bytes, sizeof bytes, 0) < 0) return false;
    if (!start_ranks(place, other ? (uint64_t)atoll(other) : 7, bytes, sizeof bytes,
                    time ? atof(time) : 20))
        return false;
    for (unsigned char byte : bytes) printf("%02x", byte);
    printf("\n");
    return true;
}

int main(int argc, char **argv)
{
    RankPlace place;
    program_name = "start";
    bool good = argc == 2 && find_rank(&place);
    if (good && !strcmp(argv[1], "place"))
        printf("%d %d %d %s %d\n", place.rank, place.local, place.count, place.address, place.port);
    else good = good && join_others(&place);
    release_memory();
    return !good;
}
