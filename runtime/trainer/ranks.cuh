// The ranks of a training run on several devices.  The environment of the program that starts them
// gives their numbers.  Rank 0 listens at an address and hands bytes to all others, such as the
// unique id of NCCL.  A rank with another program or other settings is refused.  No memory is taken
// after the first message.
#pragma once
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.cuh"
#include "files.cuh"

// RankPlace: the place of this process.
struct RankPlace {
    int rank, local, count;     // local: its number on its machine, from 0
    char address[256];          // of the machine of rank 0
    int port;
};

// RankVariables: the environment variables of a starter.
struct RankVariables {
    const char *starter, *rank, *count, *local;
    const char *local_count;    // ranks of one machine; NULL: no such variable
};

// The first starter that has set its variable of the rank counts: torchrun, mpirun and mpiexec may
// be started in a step of Slurm.
static const RankVariables start_variables[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", NULL}};

static const int most_ranks = 65536;
static const int start_port = 29500;     // where neither MASTER_PORT nor Slurm gives one

// ---- the environment

// Reads a variable that must be a whole number of least to most.
static inline bool read_rank_number(const char *name, int least, int most, int *value)
{
    const char *text = getenv(name);
    char *end = NULL;
    if (!text) return complain("%s: wanted a whole number of %d to %d, and it is not set", name,
                               least, most);
    errno = 0;
    const long long number = strtoll(text, &end, 10);
    if (end == text || *end || errno || number < least || number > most)
        return complain("%s=%s: wanted a whole number of %d to %d", name, text, least, most);
    *value = (int)number;
    return true;
}

// True if the starter has set its variables.  A shell of Slurm has the count alone.
static inline bool is_starter(const RankVariables *v)
{
    const bool counts = v->local_count && getenv(v->count);
    return getenv(v->rank) || counts;
}

// Refuses numbers that were set by hand in a step of another starter that says otherwise.
static inline bool same_starters(const RankVariables *chosen, const RankPlace *place)
{
    if (chosen != start_variables || getenv("TORCHELASTIC_RUN_ID")) return true;
    for (const RankVariables &v : start_variables) {
        const char *rank = getenv(v.rank), *count = getenv(v.count);
        if (&v == chosen || !rank || !count) continue;
        if (!v.local_count && !getenv("SLURM_STEP_ID")) continue;
        if (strtol(rank, NULL, 10) == place->rank && strtol(count, NULL, 10) == place->count)
            continue;
        return complain("RANK=%d and WORLD_SIZE=%d, but %s=%s and %s=%s of %s: wanted equal "
                        "numbers", place->rank, place->count, v.rank, rank, v.count, count,
                        v.starter);
    }
    return true;
}

// Copies the first host of a list of Slurm, such as gpu[03-05,7],login: gpu03.
static inline bool first_host(const char *list, char *host, size_t room)
{
    size_t length = 0;
    bool inside = false, skips = false; // brackets; the rest of a bracket after its first number
    for (; *list && (inside || *list != ','); list++) {
        if (*list == '[' || *list == ']') inside = *list == '[', skips = false;
        else if (inside && (*list == '-' || *list == ',')) skips = true;
        else if (!skips && length + 1 < room) host[length++] = *list;
        else if (!skips) return false;
    }
    host[length] = 0;
    return length > 0 && !inside;
}

// Finds the address of rank 0.  local_count: ranks on this machine, 0: unknown.
static inline bool find_rank_address(bool is_slurm, int local_count, RankPlace *place)
{
    static const char *const lists[] = {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST",
                                        "SLURM_NODELIST"};
    const char *given = getenv("MASTER_ADDR");
    if (!given && local_count == place->count) given = "127.0.0.1";
    for (const char *name : lists) {
        const char *list = getenv(name);
        if (given || !is_slurm || !list) continue;
        return first_host(list, place->address, sizeof place->address) ||
               complain("%s=%s: wanted a list of hosts", name, list);
    }
    if (!given || !*given)
        return complain("MASTER_ADDR: wanted the address of rank 0's machine, and it is not set");
    if (strlen(given) >= sizeof place->address)
        return complain("MASTER_ADDR=%s: wanted fewer than %zu characters", given,
                        sizeof place->address);
    memcpy(place->address, given, strlen(given) + 1);
    return true;
}

// Finds the port of rank 0.  The agent of torchrun listens at MASTER_PORT itself, if it says so;
// then the port is the next one.
static inline bool find_rank_port(bool is_slurm, RankPlace *place)
{
    const char *agent = getenv("TORCHELASTIC_USE_AGENT_STORE");
    const int next = agent && !strcmp(agent, "True");
    int job = 0;
    place->port = start_port;
    if (getenv("MASTER_PORT")) {
        if (!read_rank_number("MASTER_PORT", 1, 65535 - next, &place->port)) return false;
        place->port += next;
    } else if (is_slurm) {
        if (!read_rank_number("SLURM_JOB_ID", 0, INT32_MAX, &job)) return false;
        place->port = 20000 + job % 10000;
    }
    return true;
}

// A script of sbatch has Slurm's variables, although it is one process.
static inline bool is_step_of_slurm(const RankPlace *place)
{
    return place->count == 1 || getenv("SLURM_STEP_ID") ||
           complain("SLURM_NTASKS=%d, and SLURM_STEP_ID is not set: wanted a start by srun, or no "
                    "SLURM_PROCID", place->count);
}

// Finds the place of this process from the environment.  Without variables of a starter it is the
// only rank.
static inline bool find_rank(RankPlace *place)
{
    *place = {0, 0, 1, "", 0};
    const RankVariables *v = NULL;
    int local_count = 0;
    for (const RankVariables &each : start_variables)
        if (!v && is_starter(&each)) v = &each;
    if (!v) return true;
    const bool is_slurm = !v->local_count;
    if (!read_rank_number(v->count, 1, most_ranks, &place->count) ||
        !read_rank_number(v->rank, 0, place->count - 1, &place->rank) ||
        (is_slurm && !is_step_of_slurm(place)) ||
        !read_rank_number(v->local, 0, place->count - 1, &place->local) ||
        !same_starters(v, place))
        return false;
    if (v->local_count && getenv(v->local_count) &&
        !read_rank_number(v->local_count, place->local + 1, place->count, &local_count))
        return false;
    return place->count == 1 || (find_rank_address(is_slurm, local_count, place) &&
                                 find_rank_port(is_slurm, place));
}

// ---- the first message

// RankHello: the message of each rank to rank 0.
struct RankHello {
    uint64_t magic, fingerprint, bytes; // bytes: the size of the message that it wants
    int32_t rank, count;
};

// RankReply: the answer; the bytes follow if ranks are welcome.  Otherwise `other` is a rank whose
// value differs from that of rank 0, or is missing.
struct RankReply {
    uint64_t magic, values[2];
    int32_t verdict, other;
};

enum { RANKS_WELCOME, RANKS_DIFFER, RANKS_COUNT, RANKS_TWICE, RANKS_MISSING, RANKS_ENDED };

static const uint64_t start_magic = 0x31736b6e61726e63;  // "cnranks1"

// Complains of a verdict.  Returns false.
static inline bool complain_of_ranks(const RankPlace *place, const RankReply *r)
{
    const unsigned long long own = r->values[0], others = r->values[1];
    switch (r->verdict) {
    case RANKS_DIFFER:
        return complain("ranks 0 and %d have fingerprints %016llx and %016llx: wanted one program, "
                        "with the same options and data, on all ranks", r->other, own, others);
    case RANKS_COUNT:
        return complain("rank 0 is one of %llu ranks, and rank %d one of %llu: wanted one number",
                        own, r->other, others);
    case RANKS_TWICE: return complain("two processes are rank %d of %d", r->other, place->count);
    case RANKS_MISSING:
        return complain("rank %d did not come to rank 0 at %s, port %d, in time; %llu of %d ranks "
                        "are missing", r->other, place->address, place->port, others, place->count);
    default: return complain("rank %d has ended before all ranks had come", r->other);
    }
}

// Sends or receives all bytes.  False if the connection ends or the time is over.
static inline bool move_rank_bytes(int connection, bool sends, void *bytes, size_t size, double end)
{
    char *at = (char *)bytes;
    while (size) {
        const ssize_t moved = sends ? send(connection, at, size, MSG_NOSIGNAL | MSG_DONTWAIT)
                                    : recv(connection, at, size, MSG_DONTWAIT);
        if (moved > 0) at += moved, size -= (size_t)moved;
        else if (moved == 0 || (errno != EAGAIN && errno != EINTR)) return false;
        else {
            pollfd wait = {connection, (short)(sends ? POLLOUT : POLLIN), 0};
            const double left = end - clock_seconds();
            if (left <= 0 || (poll(&wait, 1, (int)(1000 * left) + 1) < 0 && errno != EINTR))
                return false;
        }
    }
    return true;
}

// True for a name of this machine that others can't use.
static inline bool is_own_address(const char *address)
{
    return !strcmp(address, "localhost") || !strncmp(address, "127.", 4) || !strcmp(address, "::1");
}

// Returns a socket that listens at the port, or -1.  Its address is the loopback's if rank 0's is,
// otherwise any: a machine may not know the address that others use.
static inline int open_listener(const RankPlace *place, int family)
{
    const bool own = is_own_address(place->address);
    const int yes = 1, no = 0;
    const int listener = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0) return -1;
    sockaddr_in narrow = {};
    sockaddr_in6 wide = {};
    narrow.sin_family = AF_INET;
    wide.sin6_family = AF_INET6;
    narrow.sin_port = wide.sin6_port = htons((uint16_t)place->port);
    narrow.sin_addr.s_addr = htonl(own ? INADDR_LOOPBACK : INADDR_ANY);
    wide.sin6_addr = own ? in6addr_loopback : in6addr_any;
    const sockaddr *at = family == AF_INET ? (sockaddr *)&narrow : (sockaddr *)&wide;
    const socklen_t size = family == AF_INET ? sizeof narrow : sizeof wide;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (family == AF_INET6) setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    if (!bind(listener, at, size) && !listen(listener, SOMAXCONN)) return listener;
    const int error = errno;
    close(listener);
    errno = error;
    return -1;
}

// Takes a connection: the verdict of its first message.  A stranger's is closed.
static inline int take_rank(const RankPlace *place, const RankHello *own, int connection,
                             pollfd *links, RankReply *reply)
{
    RankHello hello;
    // A rank sends at once; a stranger may not.
    if (!move_rank_bytes(connection, false, &hello, sizeof hello, clock_seconds() + 2) ||
        hello.magic != start_magic || hello.rank < 0 || hello.rank >= most_ranks) {
        close(connection);
        return RANKS_WELCOME;
    }
    const bool fits = hello.rank < place->count && links[hello.rank].fd < 0 && hello.rank;
    reply->other = hello.rank;
    reply->verdict = RANKS_WELCOME;
    if (hello.count != own->count) {
        reply->values[0] = (uint64_t)own->count, reply->values[1] = (uint64_t)hello.count;
        reply->verdict = RANKS_COUNT;
    } else if (hello.fingerprint != own->fingerprint || hello.bytes != own->bytes) {
        reply->values[0] = own->fingerprint, reply->values[1] = hello.fingerprint;
        reply->verdict = RANKS_DIFFER;
    } else if (!fits) reply->verdict = RANKS_TWICE;
    if (fits) links[hello.rank].fd = connection;
    else {
        move_rank_bytes(connection, true, reply, sizeof *reply, clock_seconds() + 1);
        close(connection);
    }
    return reply->verdict;
}

// Returns the number of ranks that have not come; the first of them in *first.
static inline int count_missing(const RankPlace *place, const pollfd *links, int *first)
{
    int missing = 0;
    for (int i = place->count - 1; i > 0; i--)
        if (links[i].fd < 0) missing++, *first = i;
    return missing;
}

// Takes what has come after a poll: the ends of connections, and a new one.  Returns the verdict.
static inline int take_ranks(const RankPlace *place, const RankHello *own, pollfd *links,
                             RankReply *reply)
{
    for (int i = 1; i < place->count; i++)
        if (links[i].fd >= 0 && links[i].revents) {
            close(links[i].fd);
            links[i].fd = -1;
            reply->other = i;
            return reply->verdict = RANKS_ENDED;
        }
    const int connection = accept4(links[0].fd, NULL, NULL, SOCK_CLOEXEC);
    return connection < 0 ? RANKS_WELCOME : take_rank(place, own, connection, links, reply);
}

// Waits for all ranks, until `end`.  After a refusal it waits five seconds more, so that late ranks
// are told too.  links: an entry for each rank; that of rank 0 listens.
static inline void wait_for_ranks(const RankPlace *place, const RankHello *own, pollfd *links,
                                double end, RankReply *reply)
{
    RankReply refusal = {start_magic, {0, 0}, RANKS_WELCOME, 0};
    int first = 0, missing;
    while ((missing = count_missing(place, links, &first)) > 0 && clock_seconds() < end) {
        if (poll(links, (nfds_t)place->count, (int)(1000 * (end - clock_seconds())) + 1) <= 0)
            continue;
        *reply = {start_magic, {0, 0}, RANKS_WELCOME, 0};
        if (take_ranks(place, own, links, reply) == RANKS_WELCOME || refusal.verdict) continue;
        refusal = *reply;
        const double soon = clock_seconds() + 5;
        if (soon < end) end = soon;
    }
    *reply = refusal;
    if (missing && !refusal.verdict)
        *reply = {start_magic, {0, (uint64_t)missing}, RANKS_MISSING, first};
}

// Rank 0: hands the bytes to all ranks, once all have come and agree; otherwise tells all.
static inline bool write_to_ranks(const RankPlace *place, const RankHello *own, void *bytes,
                               double end)
{
    pollfd *links = (pollfd *)take_memory((size_t)place->count * sizeof *links);
    errno = 0;
    for (int i = 0; i < place->count; i++) links[i] = {-1, POLLRDHUP, 0};
    links[0].events = POLLIN;
    if (!is_own_address(place->address) || !strcmp(place->address, "::1"))
        links[0].fd = open_listener(place, AF_INET6);
    if (links[0].fd < 0 && errno != EADDRINUSE) links[0].fd = open_listener(place, AF_INET);
    if (links[0].fd < 0)
        return complain("rank 0 can't listen at port %d for other ranks: %s; wanted another "
                        "MASTER_PORT", place->port, strerror(errno));
    RankReply reply;
    wait_for_ranks(place, own, links, end, &reply);
    bool good = reply.verdict == RANKS_WELCOME || complain_of_ranks(place, &reply);
    for (int i = 1; i < place->count; i++) {
        if (links[i].fd < 0) continue;
        const double last = clock_seconds() + 10;
        const bool sent = move_rank_bytes(links[i].fd, true, &reply, sizeof reply, last) &&
                          (!good || move_rank_bytes(links[i].fd, true, bytes, own->bytes, last));
        if (good && !sent) good = complain("rank %d has ended before it was answered", i);
    }
    for (int i = 0; i < place->count; i++)
        if (links[i].fd >= 0) close(links[i].fd);
    return good;
}

// Returns a connection to an address, or -1 with errno.
static inline int open_connection(const addrinfo *at, double end)
{
    const int connection = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error = connection < 0 ? errno : 0;
    socklen_t size = sizeof error;
    if (!error && connect(connection, at->ai_addr, at->ai_addrlen)) error = errno;
    if (error == EINPROGRESS) {
        pollfd wait = {connection, POLLOUT, 0};
        const double left = end - clock_seconds();
        error = ETIMEDOUT;
        if (left > 0 && poll(&wait, 1, (int)(1000 * left) + 1) > 0)
            getsockopt(connection, SOL_SOCKET, SO_ERROR, &error, &size);
    }
    if (!error) return connection;
    if (connection >= 0) close(connection);
    errno = error;
    return -1;
}

// Connects to rank 0 until it listens.  Returns the connection, or -1 with the reason.
static inline int find_rank_zero(const RankPlace *place, double end, const char **reason)
{
    char port[8];
    addrinfo hints = {};
    hints.ai_socktype = SOCK_STREAM;
    snprintf(port, sizeof port, "%d", place->port);
    do {
        addrinfo *found = NULL;
        const int error = getaddrinfo(place->address, port, &hints, &found);
        *reason = error ? gai_strerror(error) : "no address";
        for (const addrinfo *at = found; at; at = at->ai_next) {
            const double last = clock_seconds() + 2;
            const int connection = open_connection(at, last < end ? last : end);
            if (connection >= 0) {
                freeaddrinfo(found);
                return connection;
            }
            *reason = strerror(errno);
        }
        if (found) freeaddrinfo(found);
        usleep(50000);
    } while (clock_seconds() < end);
    return -1;
}

// Another rank: says its fingerprint, and takes the bytes.
static inline bool read_from_rank_zero(const RankPlace *place, RankHello *own, void *bytes,
                                       double end)
{
    RankReply reply = {};
    const char *reason = "";
    const int connection = find_rank_zero(place, end, &reason);
    if (connection < 0)
        return complain("rank %d can't reach rank 0 at %s, port %d: %s", place->rank,
                        place->address, place->port, reason);
    // Rank 0 waits for the others as long as this rank does, and answers then.
    const bool answered =
        move_rank_bytes(connection, true, own, sizeof *own, end) &&
        move_rank_bytes(connection, false, &reply, sizeof reply, end + 10) &&
        reply.magic == start_magic &&
        (reply.verdict || move_rank_bytes(connection, false, bytes, own->bytes, end + 10));
    close(connection);
    if (!answered)
        return complain("rank %d has no answer of rank 0 at %s, port %d: it has ended, or the port "
                        "is another program's", place->rank, place->address, place->port);
    return reply.verdict == RANKS_WELCOME || complain_of_ranks(place, &reply);
}

// Hands `size` bytes of rank 0 to all other ranks, within some seconds.  The fingerprints of all
// must be equal: each is a number of the program and its settings.  Each rank calls it once.
static inline bool start_ranks(const RankPlace *place, uint64_t fingerprint, void *bytes,
                              size_t size, double seconds)
{
    if (place->count == 1) return true;
    RankHello own = {start_magic, fingerprint, size, place->rank, place->count};
    const double end = clock_seconds() + seconds;
    return place->rank ? read_from_rank_zero(place, &own, bytes, end)
                       : write_to_ranks(place, &own, bytes, end);
}
