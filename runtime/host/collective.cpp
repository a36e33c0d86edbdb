// A rank's side of collectives.  It sends its call to the hub (hub.cpp).  Its
// data follow in pieces once the hub has found that all ranks agree.
#include <algorithm>
#include <sys/socket.h>
#include <unistd.h>
#include "collective.h"

namespace {

const char *const call_names[] = {
    "ncclAllReduce", "ncclReduceScatter", "ncclAllGather",
    "ncclBroadcast", "ncclReduce",        "ncclCommDestroy",
};
const char *const operation_names[] = {"sum", "prod", "max", "min", "avg"};

// Ends the communicator on this rank.  Returns the result of all later calls.
ncclResult_t break_comm(ncclComm *comm, ncclResult_t result, const char *text)
{
    ncclResult_t none = ncclSuccess;
    if (comm->aborted) {
        result = ncclInvalidUsage;
        text = "this process has called ncclCommAbort";
    }
    if (comm->result.compare_exchange_strong(none, result))
        report("rank %d: %s", comm->rank, text);
    return comm->result;
}

// A rank that leaves needs no hub: its process may have left first.
ncclResult_t lose_hub(ncclComm *comm)
{
    if (comm->left) return ncclSuccess;
    return break_comm(comm, ncclRemoteError,
                      "the process that made the unique id has ended, or can't "
                      "be reached");
}

ncclResult_t read_data(ncclComm *comm, size_t bytes)
{
    ncclResult_t result = read_answer(comm, DATA, bytes);
    if (result) return result;
    Transfer transfer = {comm->fd, false, comm->piece.data(), bytes};
    return move_bytes(&transfer, nullptr, -1) == Moved::ALL ? ncclSuccess
                                                            : lose_hub(comm);
}

// Moves a piece of a block, `bytes` bytes at these addresses.
ncclResult_t run_piece(ncclComm *comm, const Block &block, const char *send,
                       char *receive, size_t bytes)
{
    bool sends = block.from == ALL || block.from == comm->rank;
    bool takes = block.to == ALL || block.to == comm->rank;
    bool copies = block.from == comm->rank;
    ncclResult_t result = ncclSuccess;
    if (sends) {
        raw_copy(comm->piece.data(), send, bytes);
        result = send_bytes(comm, comm->piece.data(), bytes);
    }
    if (result || !takes || (copies && send == receive)) return result;
    if (!copies) result = read_data(comm, bytes);
    if (!result) raw_copy(receive, comm->piece.data(), bytes);
    return result;
}

ncclResult_t run_blocks(ncclComm *comm, const CollectiveCall &call,
                        const char *send, char *receive)
{
    const size_t size = arithmetic_of(call.type)->bytes;
    const size_t all = call.count * size, most = PIECE_BYTES / size * size;
    for (int i = 0; i < block_count(call, comm->ranks); i++) {
        Block block = block_of(call, i);
        const char *from = send + all * (size_t)block.send_block;
        char *to = receive + all * (size_t)block.receive_block;
        for (size_t at = 0; at < all; at += most) {
            ncclResult_t result = run_piece(comm, block, from + at, to + at,
                                            std::min(most, all - at));
            if (result) return result;
        }
    }
    return ncclSuccess;
}

// Returns the error of a buffer when the stream reaches the collective.
cudaError_t check_buffer(const CollectiveCall &call, const void *at,
                         size_t bytes)
{
    if (!bytes) return cudaSuccess;
    if (touches_freed_memory(at, bytes)) {
        report("%s in memory that was freed", text_of(call).c_str());
        return cudaErrorIllegalAddress;
    }
    return may_copy(at, bytes) ? cudaSuccess : cudaErrorInvalidValue;
}

}

ncclComm::ncclComm(int rank, int ranks, int fd)
    : rank(rank), ranks(ranks), fd(fd), piece(PIECE_BYTES)
{
}

ncclComm::~ncclComm()
{
    close(fd);
}

const char *name_of(const CollectiveCall &call)
{
    return call_names[call.kind];
}

std::string text_of(const CollectiveCall &call)
{
    std::string text = name_of(call), details;
    if (call.kind == LEAVE) return text;
    text += " of " + std::to_string(call.count) + " " +
            arithmetic_of(call.type)->name;
    if (call.operation >= 0) details = operation_names[call.operation];
    if (call.root >= 0)
        details += (details.empty() ? "root " : ", root ") +
                   std::to_string(call.root);
    return details.empty() ? text : text + " (" + details + ")";
}

int block_count(const CollectiveCall &call, int ranks)
{
    return call.kind == ALL_GATHER || call.kind == REDUCE_SCATTER ? ranks : 1;
}

Block block_of(const CollectiveCall &call, int number)
{
    switch (call.kind) {
    case REDUCE_SCATTER: return {ALL, number, number, 0};
    case ALL_GATHER: return {number, ALL, 0, number};
    case BROADCAST: return {call.root, ALL, 0, 0};
    case REDUCE: return {ALL, call.root, 0, 0};
    default: return {ALL, ALL, 0, 0};
    }
}

size_t bytes_to_send(const ncclComm &comm, const CollectiveCall &call)
{
    if (call.kind == BROADCAST && call.root != comm.rank) return 0;
    size_t blocks = call.kind == REDUCE_SCATTER ? (size_t)comm.ranks : 1;
    return call.count * blocks * arithmetic_of(call.type)->bytes;
}

size_t bytes_to_receive(const ncclComm &comm, const CollectiveCall &call)
{
    if (call.kind == REDUCE && call.root != comm.rank) return 0;
    size_t blocks = call.kind == ALL_GATHER ? (size_t)comm.ranks : 1;
    return call.count * blocks * arithmetic_of(call.type)->bytes;
}

ncclResult_t read_answer(ncclComm *comm, AnswerKind wanted, uint64_t bytes)
{
    Answer answer;
    Transfer transfer = {comm->fd, false, reinterpret_cast<char *>(&answer),
                         sizeof answer};
    if (move_bytes(&transfer, nullptr, -1) != Moved::ALL) return lose_hub(comm);
    if (answer.kind == wanted && answer.bytes == bytes) return ncclSuccess;
    char text[900];
    if (answer.kind != FAILED || answer.bytes >= sizeof text)
        return break_comm(comm, ncclInternalError, "a wrong answer of the hub");
    transfer = {comm->fd, false, text, (size_t)answer.bytes};
    if (move_bytes(&transfer, nullptr, -1) != Moved::ALL) return lose_hub(comm);
    text[answer.bytes] = 0;
    return break_comm(comm, (ncclResult_t)answer.result, text);
}

// The hub answers meanwhile only if the communicator has failed.
ncclResult_t send_bytes(ncclComm *comm, const void *from, size_t bytes)
{
    const std::vector<pollfd> answers = {{comm->fd, POLLIN, 0}};
    char *at = const_cast<char *>(static_cast<const char *>(from));
    Transfer transfer = {comm->fd, true, at, bytes};
    Moved moved = move_bytes(&transfer, &answers, -1);
    return moved == Moved::ALL ? ncclSuccess : read_failure(comm);
}

ncclResult_t read_failure(ncclComm *comm)
{
    return read_answer(comm, FAILED, ~(uint64_t)0);
}

ncclResult_t agree(ncclComm *comm, const CollectiveCall &call,
                   AnswerKind wanted)
{
    ncclResult_t result = send_bytes(comm, &call, sizeof call);
    return result ? result : read_answer(comm, wanted, 0);
}

cudaError_t run_collective(ncclComm *comm, const CollectiveCall &call,
                           const void *send, void *receive)
{
    cudaError_t error = check_buffer(call, send, bytes_to_send(*comm, call));
    if (!error)
        error = check_buffer(call, receive, bytes_to_receive(*comm, call));
    if (error) return error;
    std::lock_guard<std::mutex> hold(comm->running);
    if (comm->left || comm->aborted) {
        report("%s on a communicator that has ended", text_of(call).c_str());
        return cudaErrorUnknown;
    }
    ncclResult_t result = comm->result;
    if (!result) result = agree(comm, call, AGREED);
    if (!result)
        result = run_blocks(comm, call, static_cast<const char *>(send),
                            static_cast<char *>(receive));
    return result ? cudaErrorUnknown : cudaSuccess;
}
