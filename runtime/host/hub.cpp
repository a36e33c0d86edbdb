// The hub: one thread that serves all ranks of a communicator, in the process
// that made its unique id.
//
// While it waits for one rank it watches the others.  After a failure it sends
// the message to every rank, and reads and forgets all that they still send.
// Otherwise the kernel would reset connections, and the message would be lost.
#include <algorithm>
#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>
#include "collective.h"

namespace {

// A rank has this time to take the message of a failure, and a new connection
// has it to say its rank.
constexpr double LAST_SECONDS = 1;

struct Member {
    int           fd = -1;      // -1: not here yet, or gone
    uint64_t      process = 0;
    bool          has_call = false, has_left = false;
    CollectiveCall call = {};
};

// Sends a failure to one connection, if that takes it in time.
void tell(int fd, ncclResult_t result, const std::string &text)
{
    Answer answer = {FAILED, result, text.size()};
    std::string message(reinterpret_cast<char *>(&answer), sizeof answer);
    message += text;
    Transfer transfer = {fd, true, message.data(), message.size()};
    move_bytes(&transfer, nullptr, now_seconds() + LAST_SECONDS);
}

class Hub {
  public:
    Hub(int listener, uint64_t key) : listener(listener), key(key) {}
    ~Hub();
    void serve();

  private:
    const int           listener;
    const uint64_t      key;
    std::vector<Member> members;
    std::vector<pollfd> watched;        // of each rank, for the end of its link
    uint64_t            number = 1;     // of the next collective
    std::vector<char>   piece, sums;    // piece: an answer and its data
    bool                failed = false;

    int count() const { return (int)members.size(); }
    bool gather();
    bool fail_to_gather(const std::vector<int> &missing);
    bool admit(int fd);
    bool settle(const Hello &hello, int fd);
    bool collect();
    bool take_call(int rank);
    bool compare(int rank);
    bool run(const CollectiveCall &call);
    bool run_piece(const CollectiveCall &call, const Block &block, size_t n);
    bool read(int rank, void *to, size_t bytes);
    bool write(int rank, const void *from, size_t bytes);
    bool answer_all(AnswerKind kind);
    void forget(int rank);
    bool lose(int rank);
    bool lose_watched();
    bool fail(ncclResult_t result, const std::string &text);
    void drain();
};

Hub::~Hub()
{
    for (const Member &m : members)
        if (m.fd >= 0) close(m.fd);
    close(listener);
}

void Hub::forget(int rank)
{
    if (members[rank].fd >= 0) close(members[rank].fd);
    members[rank].fd = watched[rank].fd = -1;
}

// Ends the communicator for all ranks.  Returns false.
bool Hub::fail(ncclResult_t result, const std::string &text)
{
    if (failed) return false;
    failed = true;
    for (const Member &m : members)
        if (m.fd >= 0) tell(m.fd, result, text);
    return false;
}

// The connection of a rank is over.  Returns false.
bool Hub::lose(int rank)
{
    forget(rank);
    return fail(ncclRemoteError,
                "rank " + std::to_string(rank) + " has ended without "
                "ncclCommDestroy, has called ncclCommAbort, or can't be "
                "reached");
}

// One of the watched connections has an event.  Returns false.
bool Hub::lose_watched()
{
    std::vector<pollfd> now = watched;
    poll(now.data(), now.size(), 0);
    for (int rank = 0; rank < count(); rank++)
        if (now[rank].fd >= 0 && now[rank].revents) return lose(rank);
    return fail(ncclInternalError, "the hub can't watch its connections");
}

bool Hub::read(int rank, void *to, size_t bytes)
{
    Transfer transfer = {members[rank].fd, false, static_cast<char *>(to),
                         bytes};
    Moved moved = move_bytes(&transfer, &watched, -1);
    if (moved == Moved::WATCHED) return lose_watched();
    return moved == Moved::ALL || lose(rank);
}

// If another rank ends meanwhile, this one has a last time to take the rest, so
// that the message of the failure can follow.
bool Hub::write(int rank, const void *from, size_t bytes)
{
    char *at = const_cast<char *>(static_cast<const char *>(from));
    Transfer transfer = {members[rank].fd, true, at, bytes};
    Moved moved = move_bytes(&transfer, &watched, -1);
    if (moved == Moved::ALL) return true;
    if (moved == Moved::LOST) return lose(rank);
    moved = move_bytes(&transfer, nullptr, now_seconds() + LAST_SECONDS);
    if (moved != Moved::ALL) forget(rank);
    return lose_watched();
}

bool Hub::answer_all(AnswerKind kind)
{
    const Answer answer = {kind, ncclSuccess, 0};
    for (int rank = 0; rank < count(); rank++)
        if (!write(rank, &answer, sizeof answer)) return false;
    return true;
}

// ---- the beginning ----------------------------------------------------------

// Gives a new connection its place.
bool Hub::settle(const Hello &hello, int fd)
{
    std::string rank = "rank " + std::to_string(hello.rank);
    std::string fault;
    if (members.empty()) {
        members.resize((size_t)hello.ranks);
        watched.resize((size_t)hello.ranks, {-1, POLLRDHUP, 0});
    }
    if (hello.ranks != count())
        fault = rank + " calls ncclCommInitRank for " +
                std::to_string(hello.ranks) + " ranks, and another for " +
                std::to_string(count());
    else if (members[hello.rank].fd >= 0)
        fault = "two processes call ncclCommInitRank as " + rank;
    for (int other = 0; fault.empty() && other < count(); other++)
        if (members[other].fd >= 0 && members[other].process == hello.process)
            fault = "ranks " + std::to_string(std::min(other, hello.rank)) +
                    " and " + std::to_string(std::max(other, hello.rank)) +
                    " are one process: this runtime has one device for each "
                    "process";
    if (!fault.empty()) {
        tell(fd, ncclInvalidUsage, fault);
        close(fd);
        return fail(ncclInvalidUsage, fault);
    }
    members[hello.rank].fd = watched[hello.rank].fd = fd;
    members[hello.rank].process = hello.process;
    return true;
}

// Takes a connection, and closes those of strangers.
bool Hub::admit(int fd)
{
    Hello hello;
    Transfer transfer = {fd, false, reinterpret_cast<char *>(&hello),
                         sizeof hello};
    if (move_bytes(&transfer, nullptr, now_seconds() + LAST_SECONDS) !=
            Moved::ALL ||
        hello.magic != NCCL_HOST_MAGIC || hello.key != key || hello.rank < 0 ||
        hello.ranks <= hello.rank) {
        close(fd);
        return true;
    }
    return settle(hello, fd);
}

std::string join(const std::vector<int> &list)
{
    std::string text = list.size() > 1 ? "ranks " : "rank ";
    for (size_t i = 0; i < list.size(); i++)
        text += (i ? i + 1 < list.size() ? ", " : " and " : "") +
                std::to_string(list[i]);
    return text;
}

bool Hub::fail_to_gather(const std::vector<int> &missing)
{
    char limit[80];
    snprintf(limit, sizeof limit, " did not join within %g seconds of the "
             "first one (CNNC_HOST_JOIN)", join_seconds());
    return fail(ncclSystemError,
                join(missing) + " of " + std::to_string(count()) + limit);
}

// Waits for all ranks, for some time from the first one on.
bool Hub::gather()
{
    double deadline = -1;
    for (;;) {
        std::vector<int> missing;
        for (int rank = 0; rank < count(); rank++)
            if (members[rank].fd < 0) missing.push_back(rank);
        if (!members.empty() && missing.empty()) return answer_all(WELCOME);
        if (!members.empty() && deadline < 0)
            deadline = now_seconds() + join_seconds();
        std::vector<pollfd> list = watched;
        list.push_back({listener, POLLIN, 0});
        double left = deadline < 0 ? -1 : deadline - now_seconds();
        int ready = poll(list.data(), list.size(),
                         deadline < 0 ? -1 : (int)(1000 * std::max(0.0, left)));
        if (ready < 0 && errno != EINTR)
            return fail(ncclSystemError, std::string("the hub can't wait: ") +
                                             strerror(errno));
        if (ready == 0) return fail_to_gather(missing);
        for (int rank = 0; ready > 0 && rank < count(); rank++)
            if (list[rank].revents) return lose(rank);
        int fd = ready > 0 ? accept_from(listener) : -1;
        if (fd >= 0 && !admit(fd)) return false;
    }
}

// ---- collectives ------------------------------------------------------------

// Compares a rank's call with that of another rank, if there is one.
bool Hub::compare(int rank)
{
    const CollectiveCall &call = members[rank].call;
    for (int i = 0; i < count(); i++) {
        const Member &other = members[i];
        if (i == rank || !other.has_call) continue;
        if (!memcmp(&other.call, &call, sizeof call)) return true;
        int low = std::min(i, rank), high = std::max(i, rank);
        return fail(ncclInvalidUsage,
                    "collective " + std::to_string(number) + ": rank " +
                        std::to_string(low) + " calls " +
                        text_of(members[low].call) + ", rank " +
                        std::to_string(high) + " calls " +
                        text_of(members[high].call));
    }
    return true;
}

bool Hub::take_call(int rank)
{
    Member &m = members[rank];
    if (!read(rank, &m.call, sizeof m.call)) return false;
    m.has_call = true;
    m.has_left = m.call.kind == LEAVE;
    if (!compare(rank)) return false;
    const Answer left = {LEFT, ncclSuccess, 0};
    if (!m.has_left) return true;
    if (!write(rank, &left, sizeof left)) return false;
    forget(rank);
    return true;
}

// Waits for the calls of all ranks.  False if none are left.
bool Hub::collect()
{
    for (;;) {
        std::vector<pollfd> list = watched;
        int waiting = 0;
        for (int rank = 0; rank < count(); rank++) {
            if (!members[rank].has_call) list[rank].events |= POLLIN;
            waiting += !members[rank].has_call;
        }
        if (waiting == 0) return !members[0].has_left;
        if (poll(list.data(), list.size(), -1) < 0 && errno != EINTR)
            return fail(ncclSystemError, std::string("the hub can't wait: ") +
                                             strerror(errno));
        for (int rank = 0; rank < count(); rank++) {
            if (list[rank].fd < 0 || !list[rank].revents) continue;
            if (members[rank].has_call) return lose(rank);
            if (!take_call(rank)) return false;
        }
    }
}

// Moves one piece of n elements from its ranks to its ranks.
bool Hub::run_piece(const CollectiveCall &call, const Block &block, size_t n)
{
    const Arithmetic *type = arithmetic_of(call.type);
    const Answer answer = {DATA, ncclSuccess, n * type->bytes};
    char *data = piece.data() + sizeof answer;
    for (int rank = 0; rank < count(); rank++) {
        if (block.from != ALL && block.from != rank) continue;
        if (!read(rank, data, answer.bytes)) return false;
        if (block.from == ALL)
            type->take(sums.data(), data, n, call.operation, rank == 0);
    }
    if (block.from == ALL)
        type->give(data, sums.data(), n, call.operation, count());
    memcpy(piece.data(), &answer, sizeof answer);
    for (int rank = 0; rank < count(); rank++)
        if ((block.to == ALL || block.to == rank) && block.from != rank &&
            !write(rank, piece.data(), sizeof answer + answer.bytes))
            return false;
    return true;
}

bool Hub::run(const CollectiveCall &call)
{
    const Arithmetic *type = arithmetic_of(call.type);
    if (!type) return fail(ncclInternalError, "a rank sends an unknown type");
    if (!answer_all(AGREED)) return false;
    const size_t most = PIECE_BYTES / type->bytes;
    for (int i = 0; i < block_count(call, count()); i++)
        for (size_t done = 0, n; done < call.count; done += n) {
            n = std::min(most, (size_t)call.count - done);
            if (!run_piece(call, block_of(call, i), n)) return false;
        }
    return true;
}

// Reads and forgets until all ranks have closed their connections.
void Hub::drain()
{
    for (;;) {
        std::vector<pollfd> list = watched;
        bool any = false;
        for (pollfd &entry : list) {
            entry.events = POLLIN;
            any |= entry.fd >= 0;
        }
        if (!any || (poll(list.data(), list.size(), -1) < 0 && errno != EINTR))
            return;
        for (int rank = 0; rank < count(); rank++) {
            if (list[rank].fd < 0 || !list[rank].revents) continue;
            ssize_t got = recv(list[rank].fd, piece.data(), piece.size(),
                               MSG_DONTWAIT);
            if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
                forget(rank);
        }
    }
}

void Hub::serve()
{
    piece.resize(sizeof(Answer) + PIECE_BYTES);
    sums.resize(PIECE_BYTES / sizeof(uint16_t) * sizeof(float));
    bool goes_on = gather();
    while (goes_on && collect()) {
        goes_on = run(members[0].call);
        number++;
        for (Member &m : members) m.has_call = false;
    }
    drain();
}

void *serve_ranks(void *hub)
{
    Inside runtime;
    static_cast<Hub *>(hub)->serve();
    delete static_cast<Hub *>(hub);
    return nullptr;
}

}

bool start_hub(int listener, uint64_t key)
{
    pthread_t thread;
    Hub *hub = new Hub(listener, key);
    int error = pthread_create(&thread, nullptr, serve_ranks, hub);
    if (!error) return pthread_detach(thread) == 0;
    report("the hub has no thread: %s", strerror(error));
    delete hub;
    return false;
}
