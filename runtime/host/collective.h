// Collectives between processes, for nccl.cpp, collective.cpp, hub.cpp,
// link.cpp and reduce.cpp only.
//
// The process that made a unique id has a thread, the hub.  Each rank has one
// connection to it.  The hub compares the calls of all ranks, adds the ranks'
// pieces in the order of ranks, and sends results.  A rank that dies ends its
// connection, which the hub notices at any time.
#ifndef CNNC_HOST_COLLECTIVE_H
#define CNNC_HOST_COLLECTIVE_H

#include <atomic>
#include <mutex>
#include <poll.h>
#include <string>
#include <vector>
#include "host.h"
#include "nccl.h"

// ---- the messages -----------------------------------------------------------

enum CallKind : int32_t {
    ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER, BROADCAST, REDUCE, LEAVE
};

// A rank's call; all ranks must make the same.  Operation and root are -1 if
// the call has none.
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

// The hub's message, followed by `bytes` bytes of data, or of a failure's text.
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

// ---- collective.cpp ---------------------------------------------------------

struct ncclComm {
    int               rank, ranks, fd, device = 0;
    cudaEvent_t       last = nullptr; // after the last collective, except
                                      // captured ones
    std::mutex        running;  // held while the connection is used
    std::vector<char> piece;
    bool              connected[LEAVE] = {}; // by kind of collective
    std::atomic<bool> left{false}, aborted{false};
    std::atomic<ncclResult_t> result{ncclSuccess}; // the failure that ended it

    ncclComm(int rank, int ranks, int fd);
    ~ncclComm();
    ncclComm(const ncclComm &) = delete;
    ncclComm &operator=(const ncclComm &) = delete;
};

// Return `ncclReduce` and `ncclReduce of 12 float (sum, root 1)`.
const char *name_of(const CollectiveCall &call);
std::string text_of(const CollectiveCall &call);

// One part of a collective: `count` elements go from one rank, or as the
// reduction of all ranks, to one rank or all.
enum { ALL = -1 };
struct Block {
    int from, to;
    int send_block, receive_block; // offsets of both sides in units of count
};
int block_count(const CollectiveCall &call, int ranks);
Block block_of(const CollectiveCall &call, int number);

// The sizes of this rank's buffers; 0 where the call reads or writes none.
size_t bytes_to_send(const ncclComm &comm, const CollectiveCall &call);
size_t bytes_to_receive(const ncclComm &comm, const CollectiveCall &call);

// Talk to the hub.  If it ends the communicator, they report its message and
// return its result.
ncclResult_t send_bytes(ncclComm *comm, const void *from, size_t bytes);
ncclResult_t read_answer(ncclComm *comm, AnswerKind wanted, uint64_t bytes);
ncclResult_t read_failure(ncclComm *comm);
// Sends a call and waits until the hub has compared it with those of others.
ncclResult_t agree(ncclComm *comm, const CollectiveCall &call,
                   AnswerKind wanted);

// The work of a stream.  After a failure between ranks the device is sound: the
// communicator has the error, which NCCL's calls return from then on.
cudaError_t run_collective(ncclComm *comm, const CollectiveCall &call,
                           const void *send, void *receive);

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

// Chooses this process's address as NCCL does: NCCL_SOCKET_IFNAME, otherwise
// the first interface that is neither the loopback nor docker's.
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
