// One rank, for ranks on several machines: machine RANK RANKS FILE MODE
//
// Rank 0 writes the unique id to the file, where others read it.  It sums once, and prints "ready".
// With the mode `lost` it sums until the network is lost, and prints the seconds since the file
// FILE.lost was made; with `sum` it ends.
#include <stdlib.h>
#include <string>
#include <sys/stat.h>
#include "ranks.h"

static void trade_id(int rank, const std::string &path, ncclUniqueId *id)
{
    std::string part = path + ".part";
    if (rank == 0) {
        EXPECT(ncclGetUniqueId(id) == ncclSuccess);
        FILE *out = fopen(part.c_str(), "wb");
        EXPECT(out && fwrite(id, sizeof *id, 1, out) == 1 && !fclose(out));
        EXPECT(rename(part.c_str(), path.c_str()) == 0);
        return;
    }
    FILE *in = nullptr;
    while (!in) usleep(1000), in = fopen(path.c_str(), "rb");
    EXPECT(fread(id, sizeof *id, 1, in) == 1 && !fclose(in));
}

static void sum_until_lost(ncclComm_t comm, float *x, const std::string &marker)
{
    ncclResult_t result = ncclSuccess;
    struct stat made;
    timespec now;
    while (!result) result = ncclAllReduce(x, x, 1, ncclFloat, ncclMax, comm, nullptr);
    clock_gettime(CLOCK_REALTIME, &now);
    EXPECT(result == ncclRemoteError);
    EXPECT(stat(marker.c_str(), &made) == 0);
    printf("%.1f seconds\n", (double)(now.tv_sec - made.st_mtim.tv_sec) +
                                 1e-9 * (double)(now.tv_nsec - made.st_mtim.tv_nsec));
    EXPECT(ncclCommAbort(comm) == ncclSuccess);
}

int main(int argc, char **argv)
{
    if (argc != 5) return 2;
    const int rank = atoi(argv[1]), ranks = atoi(argv[2]);
    ncclUniqueId id;
    ncclComm_t comm = nullptr;
    trade_id(rank, argv[3], &id);
    EXPECT(ncclCommInitRank(&comm, ranks, id, rank) == ncclSuccess);
    if (!comm) return 1;
    float *x = device_floats(1, (float)rank + 1);
    EXPECT(ncclAllReduce(x, x, 1, ncclFloat, ncclSum, comm, nullptr) == ncclSuccess);
    EXPECT(float_of(x) == (float)(ranks * (ranks + 1) / 2));
    printf("ready\n");
    fflush(stdout);
    if (!strcmp(argv[4], "lost")) sum_until_lost(comm, x, std::string(argv[3]) + ".lost");
    else EXPECT(ncclCommDestroy(comm) == ncclSuccess);
    return expect_failures != 0;
}
