// The OS threads that run blocks: CNNC_HOST_THREADS of them, the caller
// included, or one for each core.  They start with the first launch that is
// large enough and end with the program.
//
// One job at a time uses the pool.  A caller that finds it busy does all its
// work alone, so several host threads may launch at once.  A pool thread may be
// too late for a job: it joins under the lock, and only while the job is open.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <stdlib.h>
#include <thread>
#include <unistd.h>
#include <vector>
#include "host.h"

namespace {

// Each stack of a fiber costs two mappings, of which Linux grants 65530.
constexpr int MAX_POOL = 24;

struct Job {
    PoolTask            *task;
    const void          *context;
    int64_t              count, piece;
    std::atomic<int64_t> next;
    bool                 halves; // the first thread takes the second half
};

struct Pool {
    std::mutex              taken, lock;
    std::condition_variable opened, left;
    std::vector<pthread_t>  threads;
    Job                     job;
    uint64_t                number = 0; // the job's number, from 1
    bool                    open = false, quit = false;
    int                     inside = 0;
    bool                    took = false; // the second half has been taken
    ~Pool();
};

Pool pool;

int thread_count()
{
    const char *asked = getenv("CNNC_HOST_THREADS");
    int count = asked ? (int)strtol(asked, nullptr, 10)
                      : (int)std::thread::hardware_concurrency();
    return std::min(std::max(count, 1), MAX_POOL);
}

void work(Job &job)
{
    for (;;) {
        int64_t begin = job.next.fetch_add(job.piece);
        if (begin >= job.count) return;
        job.task(job.context, begin, std::min(begin + job.piece, job.count));
    }
}

void *serve(void *number)
{
    Inside inside;
    bool is_first = number == nullptr;
    uint64_t seen = 0;
    std::unique_lock<std::mutex> hold(pool.lock);
    for (;;) {
        pool.opened.wait(hold, [&] {
            return pool.quit || (pool.open && pool.number != seen &&
                                 (is_first || !pool.job.halves));
        });
        if (pool.quit) return nullptr;
        seen = pool.number;
        pool.inside++;
        hold.unlock();
        if (pool.job.halves) pool.job.task(pool.job.context, 1, 2);
        else work(pool.job);
        hold.lock();
        pool.took = true;
        if (--pool.inside == 0) pool.left.notify_one();
    }
}

// A thread's stack also holds its thread-local memory: the shared memory of
// every kernel of the program.  So it is large, but untouched pages cost
// nothing.
void start_threads(int count)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)256 << 20);
    for (int i = 1; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, serve,
                           pool.threads.empty() ? nullptr : &pool))
            break;
        pool.threads.push_back(thread);
    }
    pthread_attr_destroy(&attributes);
}

Pool::~Pool()
{
    {
        std::lock_guard<std::mutex> hold(lock);
        quit = true;
    }
    opened.notify_all();
    for (pthread_t thread : threads) pthread_join(thread, nullptr);
}

void open_job(int64_t count, PoolTask *task, const void *context, int threads,
              bool halves)
{
    std::lock_guard<std::mutex> hold(pool.lock);
    if (pool.threads.empty()) start_threads(threads);
    pool.job.task = task;
    pool.job.context = context;
    pool.job.count = count;
    pool.job.piece = std::min<int64_t>(std::max<int64_t>(
        count / (threads * 16), 1), 256);
    pool.job.next = 0;
    pool.job.halves = halves;
    pool.took = false;
    pool.number++;
    pool.open = true;
}

}

void pool_run(int64_t count, PoolTask *task, const void *context)
{
    static const int threads = thread_count();
    std::unique_lock<std::mutex> mine(pool.taken, std::defer_lock);
    if (threads == 1 || count < 2 || !mine.try_lock()) {
        task(context, 0, count);
        return;
    }
    open_job(count, task, context, threads, false);
    pool.opened.notify_all();
    work(pool.job);
    std::unique_lock<std::mutex> hold(pool.lock);
    pool.open = false;
    pool.left.wait(hold, [] { return pool.inside == 0; });
}

void pool_halves(PoolTask *task, const void *context)
{
    std::lock_guard<std::mutex> mine(pool.taken);
    open_job(2, task, context, std::max(thread_count(), 2), true);
    pool.opened.notify_all();
    task(context, 0, 2);
    std::unique_lock<std::mutex> hold(pool.lock);
    pool.left.wait(hold, [] { return pool.took && pool.inside == 0; });
    pool.open = false;
}
