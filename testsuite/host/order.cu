// CNNC_HOST_ORDER: blocks and threads run in the order that it asks for, also
// after barriers and shuffles, and a random order is its seed's.
#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <string>
#include <vector>
#include "expect.h"

enum { BLOCKS = 5, THREADS = 80, COUNT = BLOCKS * THREADS, PHASES = 3 };

// seen[phase][n] = who came n-th in that phase of its block, blocks in the
// order in which they ran.
__global__ void note(int *seen, int *count)
{
    const int me = (int)(blockIdx.x * THREADS + threadIdx.x);
    seen[count[0]++] = me;
    __syncthreads();
    seen[COUNT + count[1]++] = me;
    __syncwarp();
    seen[2 * COUNT + count[2]++] = me;
}

__global__ void note_plain(int *seen, int *count)
{
    seen[count[0]++] = (int)(blockIdx.x * THREADS + threadIdx.x);
}

static std::vector<int> run(bool plain)
{
    cudaStream_t stream = nullptr;
    int *seen, *count;
    EXPECT_SUCCESS(cudaMalloc(&seen, PHASES * COUNT * sizeof *seen));
    EXPECT_SUCCESS(cudaMalloc(&count, PHASES * sizeof *count));
    memset(count, 0, PHASES * sizeof *count);
    if (plain) LAUNCH(0, note_plain, BLOCKS, THREADS, seen, count);
    else LAUNCH(0, note, BLOCKS, THREADS, seen, count);
    EXPECT_SUCCESS(cudaGetLastError());
    std::vector<int> all(seen, seen + (plain ? 1 : PHASES) * COUNT);
    EXPECT_SUCCESS(cudaFree(seen));
    EXPECT_SUCCESS(cudaFree(count));
    return all;
}

// The order of one phase: each thread once, a block's and a warp's together.
static void check_phase(const int *seen, const char *order)
{
    std::vector<int> sorted(seen, seen + COUNT);
    std::sort(sorted.begin(), sorted.end());
    int up = 0, down = 0, parts = 1;
    for (int n = 0; n < COUNT; n++) {
        EXPECT(sorted[n] == n);
        up += seen[n] == n;
        down += seen[n] == COUNT - 1 - n;
        auto warp = [](int i) { return i / THREADS * 32 + i % THREADS / 32; };
        parts += n > 0 && warp(seen[n]) != warp(seen[n - 1]);
    }
    EXPECT(parts == BLOCKS * 3);
    if (!strcmp(order, "ascending")) EXPECT(up == COUNT);
    else if (!strcmp(order, "descending")) EXPECT(down == COUNT);
    else EXPECT(up < COUNT / 4 && down < COUNT / 4);
}

static int check(const char *order)
{
    std::vector<int> plain = run(true), all = run(false);
    check_phase(plain.data(), order);
    for (int phase = 0; phase < PHASES; phase++) check_phase(&all[phase * COUNT], order);
    bool same = !memcmp(&all[0], &all[COUNT], COUNT * sizeof(int));
    EXPECT(same == !strstr(order, "random"));
    for (int i : all) printf("%d ", i);
    return expect_failures != 0;
}

// The output of this program in that order, which must be sound.
static std::string in_order(char *self, const char *order)
{
    int ends[2];
    std::string text;
    char part[4096];
    EXPECT(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 1);
        close(ends[0]), close(ends[1]);
        setenv("CNNC_HOST_ORDER", order, 1);
        setenv("CNNC_HOST_THREADS", "1", 1);
        execl(self, self, order, (char *)nullptr);
        _exit(127);
    }
    close(ends[1]);
    for (ssize_t got; (got = read(ends[0], part, sizeof part)) > 0;) text.append(part, (size_t)got);
    close(ends[0]);
    int status = -1;
    EXPECT(waitpid(child, &status, 0) == child);
    if (status) printf("%s: status %d: %s\n", order, status, text.c_str());
    EXPECT(status == 0);
    return text;
}

int main(int count, char **arguments)
{
    if (count > 1) return check(arguments[1]);
    in_order(arguments[0], "ascending");
    in_order(arguments[0], "descending");
    std::string first = in_order(arguments[0], "random:1");
    EXPECT(first == in_order(arguments[0], "random:1"));
    EXPECT(first != in_order(arguments[0], "random:2"));
    EXPECT(first != in_order(arguments[0], "random"));
    return expect_failures != 0;
}
