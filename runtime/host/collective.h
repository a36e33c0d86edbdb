// Collectives between processes, for nccl.cpp, hub.cpp, link.cpp and reduce.cpp
// only.
//
// The process that made a unique id has a thread, the hub.  Each rank has one
// connection to it.  The hub compares the calls of all ranks, adds the ranks'
// pieces in the order of ranks, and sends results.  A rank that dies ends its
// connection, which the hub notices at any time.
#ifndef CNNC_HOST_COLLECTIVE_H
#define CNNC_HOST_COLLECTIVE_H

#include <poll.h>
#include <string>
#include <vector>
#include "host.h"
#include "nccl.h"

// ---- the messages -----------------------------------------------------------

enum CallKind : int32_t {
    ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER, BROADCAST, REDUCE, LEAVE
};

// A rank's call; all ranks must make the same.  The root is -1 if there is none,
// like the operation.
struct CollectiveCall {
    int32_t  kind, type, operation, root;
    uint64_t count;             // elements, as the call gives them
};

// The first message of a rank.
struct Hello {
    uint64_t magic, key;
    uint64_t process;           // a random number of the process
    int32_t  rank, ranks;
};

// The hub's message, followed by `bytes` bytes: of data, or of a failure's text.
enum AnswerKind : int32_t { WELCOME, AGREED, DATA, LEFT, FAILED };
struct Answer {
    int32_t  kind, result;
    uint64_t bytes;
};

// The content of a unique id.
struct HubPlace {
    uint64_t magic, key;
    uint16_t family, port;      // AF_INET or AF_INET6; the port of the host
    uint32_t scope;             // of an address of one link
    uint8_t  address[16];
};
constexpr uint64_t NCCL_HOST_MAGIC = 0x31306c63636e6e63; // "cnnccl01"

// Data travels in pieces.
constexpr size_t PIECE_BYTES = (size_t)1 << 20;

// One part of a collective: `count` elements go from one rank, or as the
// reduction of all ranks, to one rank or all.
enum { ALL = -1 };
struct Block {
    int from, to;
    int send_block, receive_block; // offsets of both sides in units of count
};
int block_count(const CollectiveCall &call, int ranks);
Block block_of(const CollectiveCall &call, int number);

// Returns `ncclReduce of 12 float (sum, root 1)`.
std::string text_of(const CollectiveCall &call);

// ---- reduce.cpp -------------------------------------------------------------

// The arithmetic of a type.  Sums of 16-bit types are of type float.
struct Arithmetic {
    const char *name;
    size_t      bytes;
    // Combines a rank's elements with those of the ranks before it, if any.
    void (*take)(void *sum, const void *elements, size_t count, int operation,
                 bool first);
    // Rounds the result to the type, after the division of ncclAvg.
    void (*give)(void *elements, const void *sum, size_t count, int operation,
                 int ranks);
};
// Returns null for a type that this runtime has not.
const Arithmetic *arithmetic_of(int type);

// ---- link.cpp ---------------------------------------------------------------

// Returns seconds on a monotonic clock.
double now_seconds();
// Returns the seconds that ranks wait for each other in ncclCommInitRank.
double join_seconds();
uint64_t random_number();

// Chooses this process's address as NCCL does: NCCL_SOCKET_IFNAME, or else the
// first interface that is neither the loopback nor docker's.
bool find_address(HubPlace *place, std::string *fault);
// Reads HOST:PORT, the value of NCCL_COMM_ID.
bool read_address(const char *text, HubPlace *place, std::string *fault);
std::string text_of(const HubPlace &place);

// Both return a socket, or -1 with errno.  listen_at sets the port if it is 0.
int listen_at(HubPlace *place);
int connect_to(const HubPlace &place, double deadline);
// Returns the socket of the next connection, or -1.
int accept_from(int listener);

// The rest of a message.
struct Transfer {
    int    fd;
    bool   sends;
    char  *at;
    size_t left;
};
// WATCHED: one of the watched sockets has an event.  LOST: the connection is
// over.  LATE: the deadline has passed.
enum class Moved { ALL, LOST, WATCHED, LATE };
Moved move_bytes(Transfer *transfer, const std::vector<pollfd> *watched,
                 double deadline);

// ---- hub.cpp ----------------------------------------------------------------

// Starts the hub's thread, which owns the listening socket.
bool start_hub(int listener, uint64_t key);

#endif
