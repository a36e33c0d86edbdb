// The calls of NCCL.  A collective is checked when it is called, and is work of
// its stream like a launch (collective.cpp).
#include <algorithm>
#include <errno.h>
#include <map>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
#include "collective.h"

namespace {

typedef std::shared_ptr<ncclComm> CommRef;

std::mutex &comms_lock = lasting<std::mutex>();
auto &comms = lasting<std::map<ncclComm_t, CommRef>>();

// A collective that waits for the end of its group.
struct Pending {
    CommRef        comm;
    CollectiveCall call;
    const void    *send;
    void          *receive;
    cudaStream_t   stream;
};

thread_local int group_depth;
thread_local ncclResult_t group_result;
thread_local std::vector<Pending> pending;

// Reports a failure.  Returns the result.
__attribute__((format(printf, 2, 3))) ncclResult_t
refuse(ncclResult_t result, const char *format, ...)
{
    char text[900];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    report("%s", text);
    return result;
}

// Returns NCCL's result after this error of one of its own CUDA calls.
ncclResult_t result_of(cudaError_t error)
{
    if (!error) return ncclSuccess;
    return error == cudaErrorMemoryAllocation ? ncclSystemError
                                              : ncclUnhandledCudaError;
}

CommRef find_comm(ncclComm_t comm)
{
    std::lock_guard<std::mutex> hold(comms_lock);
    auto found = comms.find(comm);
    return found == comms.end() ? nullptr : found->second;
}

ncclResult_t refuse_comm(const char *call)
{
    return refuse(ncclInvalidArgument, "%s: no communicator", call);
}

// ---- the calls of collectives -----------------------------------------------

// Collectives of one communicator run in the order of the calls, on any stream.
// Captures keep that order themselves.
ncclResult_t give(const Pending &p)
{
    ncclComm *comm = p.comm.get();
    bool orders = is_deferring() && !is_capturing(p.stream);
    if (!comm->connected[p.call.kind]) {
        take_resource(name_of(p.call));
        give_resource();
        comm->connected[p.call.kind] = true;
    }
    cudaError_t error = finish(cudaSuccess);
    if (!error && orders) error = cudaStreamWaitEvent(p.stream, comm->last, 0);
    if (!error)
        error = give_work(p.stream, [p] {
            return run_collective(p.comm.get(), p.call, p.send, p.receive);
        });
    if (!error && orders) error = cudaEventRecord(comm->last, p.stream);
    if (error) fail(error);
    if (comm->result) return comm->result;
    return result_of(error);
}

// True if the buffer is in device memory.  Otherwise it reports the fault.
bool is_there(const CollectiveCall &call, const char *side, const void *at,
              size_t bytes)
{
    if (!bytes || (at && is_device_memory(at, bytes, true))) return true;
    report("%s: its %s buffer of %zu bytes at %p is not in device memory",
           text_of(call).c_str(), side, bytes, at);
    return false;
}

// True if the buffers are apart or the operation is in place.
bool are_apart(const ncclComm &comm, const CollectiveCall &call,
               const void *send, const void *receive)
{
    const size_t sent = bytes_to_send(comm, call);
    const size_t received = bytes_to_receive(comm, call);
    const size_t block = std::min(sent, received) * (size_t)comm.rank;
    const uintptr_t from = (uintptr_t)send, to = (uintptr_t)receive;
    if (from + sent <= to || to + received <= from || !sent || !received)
        return true;
    if (from + (call.kind == REDUCE_SCATTER ? block : 0) ==
        to + (call.kind == ALL_GATHER ? block : 0))
        return true;
    report("%s: its buffers overlap, and are not those of an operation in "
           "place", text_of(call).c_str());
    return false;
}

// Returns the result of a call for its arguments.
ncclResult_t check(const CommRef &comm, const CollectiveCall &call,
                   const void *send, const void *receive, cudaStream_t stream)
{
    const char *name = name_of(call);
    if (!comm) return refuse_comm(name);
    if (comm->result) return comm->result;
    if (comm->left)
        return refuse(ncclInvalidUsage, "%s after ncclCommFinalize", name);
    bool has_root = call.kind == BROADCAST || call.kind == REDUCE;
    if (!arithmetic_of(call.type))
        return refuse(ncclInvalidArgument, "%s: no type %d here", name,
                      call.type);
    if (call.operation < -1 || call.operation >= ncclNumOps)
        return refuse(ncclInvalidArgument, "%s: no operation %d", name,
                      call.operation);
    if (has_root && (call.root < 0 || call.root >= comm->ranks))
        return refuse(ncclInvalidArgument, "%s: root %d of %d ranks", name,
                      call.root, comm->ranks);
    if (call.count > SIZE_MAX / 8 / (size_t)comm->ranks)
        return refuse(ncclInvalidArgument, "%s: too many elements, %zu", name,
                      (size_t)call.count);
    if (!is_stream(stream))
        return refuse(ncclInvalidArgument, "%s: no stream", name);
    bool sound =
        is_there(call, "send", send, bytes_to_send(*comm, call)) &&
        is_there(call, "receive", receive, bytes_to_receive(*comm, call)) &&
        are_apart(*comm, call, send, receive);
    return sound ? ncclSuccess : ncclInvalidArgument;
}

ncclResult_t collective(const CollectiveCall &collective, const void *send,
                        void *receive, ncclComm_t handle, cudaStream_t stream)
{
    Call call(name_of(collective));
    if (call.error) return result_of(call.error);
    CommRef comm = find_comm(handle);
    ncclResult_t result = check(comm, collective, send, receive, stream);
    const Pending work = {comm, collective, send, receive, stream};
    if (!result && group_depth) pending.push_back(work);
    else if (!result) result = give(work);
    if (result && group_depth && !group_result) group_result = result;
    return result;
}

// ---- communicators ----------------------------------------------------------

// A random number of this process, not of one that it was forked from.
uint64_t process_number()
{
    static std::mutex &lock = lasting<std::mutex>();
    static uint64_t number;
    static pid_t owner = -1;
    std::lock_guard<std::mutex> hold(lock);
    if (owner != getpid()) number = random_number(), owner = getpid();
    return number;
}

// Listens at the place of an id, whose port it completes.
ncclResult_t open_hub(HubPlace *place)
{
    int listener = listen_at(place);
    if (listener < 0)
        return refuse(ncclSystemError, "can't listen at %s: %s",
                      text_of(*place).c_str(), strerror(errno));
    return start_hub(listener, place->key) ? ncclSuccess : ncclSystemError;
}

// Connects to the hub.  With NCCL_COMM_ID rank 0 may not have come yet, so that
// other ranks try for some time.
ncclResult_t reach_hub(const HubPlace &place, bool retries, int *fd)
{
    const double deadline = now_seconds() + join_seconds();
    do {
        *fd = connect_to(place, deadline);
        if (*fd >= 0) return ncclSuccess;
        if (retries) usleep(20000);
    } while (retries && now_seconds() < deadline);
    return refuse(ncclRemoteError, "the process that made the unique id, at "
                  "%s, can't be reached: %s", text_of(place).c_str(),
                  strerror(errno));
}

ncclResult_t join(const HubPlace &place, int ranks, int rank, CommRef *made)
{
    const char *fixed = getenv("NCCL_COMM_ID");
    int fd = -1;
    ncclResult_t result = ncclSuccess;
    HubPlace own = place;
    if (fixed && rank == 0) result = open_hub(&own);
    if (!result) result = reach_hub(place, fixed != nullptr, &fd);
    if (result) return result;
    CommRef comm = std::make_shared<ncclComm>(rank, ranks, fd);
    const Hello hello = {NCCL_HOST_MAGIC, place.key, process_number(), rank,
                         ranks};
    result = send_bytes(comm.get(), &hello, sizeof hello);
    if (!result) result = read_answer(comm.get(), WELCOME, 0);
    if (!result) *made = comm;
    return result;
}

ncclResult_t check_config(const ncclConfig_t *config)
{
    if (!config) return ncclSuccess;
    if (config->magic != NCCL_API_MAGIC)
        return refuse(ncclInvalidArgument, "ncclCommInitRankConfig: wanted a "
                      "config that begins as NCCL_CONFIG_INITIALIZER");
    if (config->blocking != NCCL_CONFIG_UNDEF_INT && config->blocking != 0 &&
        config->blocking != 1)
        return refuse(ncclInvalidArgument, "ncclCommInitRankConfig: wanted "
                      "blocking 0 or 1, found %d", config->blocking);
    return ncclSuccess;
}

ncclResult_t init_rank(const char *name, ncclComm_t *comm, int ranks,
                       const ncclUniqueId &id, int rank)
{
    HubPlace place;
    memcpy(&place, id.internal, sizeof place);
    if (!comm || ranks < 1 || rank < 0 || rank >= ranks)
        return refuse(ncclInvalidArgument, "%s: rank %d of %d ranks", name,
                      rank, ranks);
    if (place.magic != NCCL_HOST_MAGIC)
        return refuse(ncclInvalidArgument, "%s: the id is none of "
                      "ncclGetUniqueId", name);
    if (cudaError_t error = check_capture()) return result_of(error);
    take_resource(name);
    CommRef made;
    ncclResult_t result = join(place, ranks, rank, &made);
    if (!result)
        result = result_of(
            cudaEventCreateWithFlags(&made->last, cudaEventDisableTiming));
    if (result) {
        give_resource();
        return result;
    }
    *comm = made.get();
    std::lock_guard<std::mutex> hold(comms_lock);
    comms[*comm] = made;
    return ncclSuccess;
}

// Finishes the communicator's work and leaves the hub, once.
ncclResult_t leave(const CommRef &comm)
{
    cudaError_t error = cudaEventSynchronize(comm->last);
    std::lock_guard<std::mutex> hold(comm->running);
    if (comm->left.exchange(true) || comm->result) return result_of(error);
    const CollectiveCall call = {LEAVE, -1, -1, -1, 0};
    ncclResult_t result = agree(comm.get(), call, LEFT);
    return error ? result_of(error) : result;
}

void remove_comm(ncclComm_t handle)
{
    CommRef comm = find_comm(handle);
    if (!comm) return;
    cudaEventDestroy(comm->last);
    give_resource();
    std::lock_guard<std::mutex> hold(comms_lock);
    comms.erase(handle);
}

// Reads a failure that the hub has sent, if no collective is running.
void look_for_failure(ncclComm *comm)
{
    std::unique_lock<std::mutex> hold(comm->running, std::try_to_lock);
    pollfd ready = {comm->fd, POLLIN, 0};
    if (!hold || comm->result || comm->left || poll(&ready, 1, 0) != 1) return;
    read_failure(comm);
}

template <class T>
ncclResult_t ask(const char *name, ncclComm_t handle, T *to,
                 T ncclComm::*member)
{
    Call call(name);
    if (call.error) return result_of(call.error);
    CommRef comm = find_comm(handle);
    if (!comm) return refuse_comm(name);
    if (!to) return refuse(ncclInvalidArgument, "%s: no place for it", name);
    *to = (*comm).*member;
    return ncclSuccess;
}

}

ncclResult_t ncclGetVersion(int *version)
{
    Call call("ncclGetVersion");
    if (call.error) return result_of(call.error);
    if (!version) return ncclInvalidArgument;
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result)
{
#define TEXT(name, number, text) if (result == name) return text;
    NCCL_HOST_RESULTS(TEXT)
#undef TEXT
    return "unknown result code";
}

const char *ncclGetLastError(ncclComm_t)
{
    return cuda_host_report();
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    static_assert(sizeof(HubPlace) <= sizeof id->internal, "it fits");
    Call call("ncclGetUniqueId");
    if (call.error) return result_of(call.error);
    if (!id) return refuse(ncclInvalidArgument, "ncclGetUniqueId: no place");
    HubPlace place = {};
    std::string fault;
    const char *fixed = getenv("NCCL_COMM_ID");
    place.magic = NCCL_HOST_MAGIC;
    bool found = fixed ? read_address(fixed, &place, &fault)
                       : find_address(&place, &fault);
    if (!found)
        return refuse(fixed ? ncclInvalidArgument : ncclSystemError, "%s",
                      fault.c_str());
    if (!fixed) {
        place.key = random_number();
        if (ncclResult_t result = open_hub(&place)) return result;
    }
    *id = {};
    memcpy(id->internal, &place, sizeof place);
    return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id,
                              int rank)
{
    Call call("ncclCommInitRank");
    if (call.error) return result_of(call.error);
    return init_rank("ncclCommInitRank", comm, ranks, id, rank);
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int ranks,
                                    ncclUniqueId id, int rank,
                                    ncclConfig_t *config)
{
    Call call("ncclCommInitRankConfig");
    if (call.error) return result_of(call.error);
    if (ncclResult_t result = check_config(config)) return result;
    return init_rank("ncclCommInitRankConfig", comm, ranks, id, rank);
}

ncclResult_t ncclCommFinalize(ncclComm_t handle)
{
    Call call("ncclCommFinalize");
    if (call.error) return result_of(call.error);
    CommRef comm = find_comm(handle);
    return comm ? leave(comm) : refuse_comm("ncclCommFinalize");
}

ncclResult_t ncclCommDestroy(ncclComm_t handle)
{
    Call call("ncclCommDestroy");
    if (call.error) return result_of(call.error);
    CommRef comm = find_comm(handle);
    if (!comm) return refuse_comm("ncclCommDestroy");
    ncclResult_t result = leave(comm);
    remove_comm(handle);
    return result;
}

// Ends the connection, which wakes a collective that waits, and waits for that
// collective's end.
ncclResult_t ncclCommAbort(ncclComm_t handle)
{
    Call call("ncclCommAbort");
    if (call.error) return result_of(call.error);
    CommRef comm = find_comm(handle);
    if (!comm) return refuse_comm("ncclCommAbort");
    comm->aborted = true;
    shutdown(comm->fd, SHUT_RDWR);
    std::unique_lock<std::mutex> hold(comm->running);
    hold.unlock();
    remove_comm(handle);
    return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t handle, ncclResult_t *error)
{
    Inside runtime;
    CommRef comm = find_comm(handle);
    if (!comm || !error) return refuse_comm("ncclCommGetAsyncError");
    look_for_failure(comm.get());
    *error = comm->result;
    return ncclSuccess;
}

ncclResult_t ncclCommCount(ncclComm_t comm, int *count)
{
    return ask("ncclCommCount", comm, count, &ncclComm::ranks);
}

ncclResult_t ncclCommUserRank(ncclComm_t comm, int *rank)
{
    return ask("ncclCommUserRank", comm, rank, &ncclComm::rank);
}

ncclResult_t ncclCommCuDevice(ncclComm_t comm, int *device)
{
    return ask("ncclCommCuDevice", comm, device, &ncclComm::device);
}

ncclResult_t ncclGroupStart(void)
{
    Call call("ncclGroupStart");
    if (call.error) return result_of(call.error);
    group_depth++;
    return ncclSuccess;
}

// A group with a refused call gives no work to streams.
ncclResult_t ncclGroupEnd(void)
{
    Call call("ncclGroupEnd");
    if (group_depth == 0)
        return refuse(ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart");
    if (--group_depth) return result_of(call.error);
    std::vector<Pending> calls;
    calls.swap(pending);
    ncclResult_t result = group_result;
    group_result = ncclSuccess;
    if (call.error) return result_of(call.error);
    for (const Pending &p : calls)
        if (!result) result = give(p);
    return result;
}

ncclResult_t ncclAllReduce(const void *send, void *receive, size_t count,
                           ncclDataType_t type, ncclRedOp_t operation,
                           ncclComm_t comm, cudaStream_t stream)
{
    return collective({ALL_REDUCE, type, operation, -1, count}, send, receive,
                      comm, stream);
}

ncclResult_t ncclReduceScatter(const void *send, void *receive, size_t count,
                               ncclDataType_t type, ncclRedOp_t operation,
                               ncclComm_t comm, cudaStream_t stream)
{
    return collective({REDUCE_SCATTER, type, operation, -1, count}, send,
                      receive, comm, stream);
}

ncclResult_t ncclAllGather(const void *send, void *receive, size_t count,
                           ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream)
{
    return collective({ALL_GATHER, type, -1, -1, count}, send, receive, comm,
                      stream);
}

ncclResult_t ncclBroadcast(const void *send, void *receive, size_t count,
                           ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream)
{
    return collective({BROADCAST, type, -1, root, count}, send, receive, comm,
                      stream);
}

ncclResult_t ncclReduce(const void *send, void *receive, size_t count,
                        ncclDataType_t type, ncclRedOp_t operation, int root,
                        ncclComm_t comm, cudaStream_t stream)
{
    return collective({REDUCE, type, operation, root, count}, send, receive,
                      comm, stream);
}
