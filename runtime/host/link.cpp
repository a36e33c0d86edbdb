// Connections between ranks and the hub.  A connection whose other machine does
// not answer for DEAD_SECONDS is over, like one whose other process has ended.
#include <algorithm>
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "collective.h"

namespace {

// A probe after two quiet seconds, and after each second that follows.
enum { QUIET_SECONDS = 2, PROBE_SECONDS = 1, PROBES = 3,
       DEAD_SECONDS = QUIET_SECONDS + PROBES * PROBE_SECONDS };

// A socket's address, from a HubPlace.
struct Place {
    sockaddr_storage storage = {};
    socklen_t        bytes = 0;

    explicit Place(const HubPlace &from)
    {
        if (from.family == AF_INET6) {
            sockaddr_in6 *to = reinterpret_cast<sockaddr_in6 *>(&storage);
            to->sin6_family = AF_INET6;
            to->sin6_port = htons(from.port);
            to->sin6_scope_id = from.scope;
            memcpy(&to->sin6_addr, from.address, sizeof to->sin6_addr);
            bytes = sizeof *to;
        } else {
            sockaddr_in *to = reinterpret_cast<sockaddr_in *>(&storage);
            to->sin_family = AF_INET;
            to->sin_port = htons(from.port);
            memcpy(&to->sin_addr, from.address, sizeof to->sin_addr);
            bytes = sizeof *to;
        }
    }
    sockaddr *at() { return reinterpret_cast<sockaddr *>(&storage); }
};

// Takes the address, without the port.  False for other families.
bool take_address(const sockaddr *from, HubPlace *place)
{
    place->family = (uint16_t)from->sa_family;
    if (from->sa_family == AF_INET) {
        const auto *in = reinterpret_cast<const sockaddr_in *>(from);
        memcpy(place->address, &in->sin_addr, sizeof in->sin_addr);
        return true;
    }
    if (from->sa_family != AF_INET6) return false;
    const auto *in = reinterpret_cast<const sockaddr_in6 *>(from);
    memcpy(place->address, &in->sin6_addr, sizeof in->sin6_addr);
    place->scope = in->sin6_scope_id;
    return true;
}

void set_option(int fd, int level, int option, int value)
{
    setsockopt(fd, level, option, &value, sizeof value);
}

int set_options(int fd)
{
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, QUIET_SECONDS);
    set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, PROBE_SECONDS);
    set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, PROBES);
    set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 1000 * DEAD_SECONDS);
    return fd;
}

// True if an interface's name begins with a word of a list like `eth,ib0`.
// After `=` it must be equal to a word.  After `^` it must be none of the list.
bool is_chosen(const char *list, const char *name)
{
    bool excludes = *list == '^';
    list += excludes;
    bool whole = *list == '=';
    list += whole;
    for (; *list; list += strcspn(list, ","), list += *list == ',') {
        size_t length = strcspn(list, ",");
        if (length && !strncmp(list, name, length) &&
            (!whole || !name[length]))
            return !excludes;
    }
    return excludes;
}

// Returns the rank of an interface without a choice by the user, least first;
// IPv4 comes before IPv6.
int order_of(const ifaddrs &interface)
{
    int order = interface.ifa_addr->sa_family == AF_INET ? 0 : 1;
    if (!strncmp(interface.ifa_name, "docker", 6)) order += 2;
    return interface.ifa_flags & IFF_LOOPBACK ? order + 4 : order;
}

bool is_usable(const ifaddrs &interface, const char *list)
{
    if (!interface.ifa_addr || !(interface.ifa_flags & IFF_UP)) return false;
    if (list && !is_chosen(list, interface.ifa_name)) return false;
    if (interface.ifa_addr->sa_family != AF_INET6)
        return interface.ifa_addr->sa_family == AF_INET;
    // An address of one link means nothing on another machine.
    const auto *in = reinterpret_cast<const sockaddr_in6 *>(interface.ifa_addr);
    return !IN6_IS_ADDR_LINKLOCAL(&in->sin6_addr);
}

}

double now_seconds()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double join_seconds()
{
    const char *text = getenv("CNNC_HOST_JOIN");
    if (!text) return 60;
    char *rest;
    double seconds = strtod(text, &rest);
    if (rest != text && !*rest && seconds > 0 && seconds < 1e6) return seconds;
    fprintf(stderr, "host: CNNC_HOST_JOIN=%s: wanted a number of seconds\n",
            text);
    exit(70);
}

uint64_t random_number()
{
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        perror("the host runtime: random numbers"), abort();
    return number;
}

bool find_address(HubPlace *place, std::string *fault)
{
    const char *list = getenv("NCCL_SOCKET_IFNAME");
    ifaddrs *all = nullptr;
    const ifaddrs *best = nullptr;
    if (getifaddrs(&all)) {
        *fault = std::string("no list of network interfaces: ") +
                 strerror(errno);
        return false;
    }
    for (const ifaddrs *i = all; i; i = i->ifa_next)
        if (is_usable(*i, list) && (!best || order_of(*i) < order_of(*best)))
            best = i;
    bool found = best && take_address(best->ifa_addr, place);
    freeifaddrs(all);
    if (!found)
        *fault = std::string("NCCL_SOCKET_IFNAME=") + (list ? list : "") +
                 ": no network interface that is up has such a name and an "
                 "address";
    return found;
}

bool read_address(const char *text, HubPlace *place, std::string *fault)
{
    const char *colon = strrchr(text, ':');
    std::string host(text, colon ? (size_t)(colon - text) : 0);
    if (host.size() > 1 && host[0] == '[' && host.back() == ']')
        host = host.substr(1, host.size() - 2);
    char *rest = nullptr;
    long port = colon ? strtol(colon + 1, &rest, 10) : 0;
    if (host.empty() || port < 1 || port > 65535 || *rest) {
        *fault = std::string("NCCL_COMM_ID=") + text + ": wanted HOST:PORT";
        return false;
    }
    addrinfo hints = {}, *found = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    int error = getaddrinfo(host.c_str(), nullptr, &hints, &found);
    bool taken = !error && take_address(found->ai_addr, place);
    if (found) freeaddrinfo(found);
    place->port = (uint16_t)port;
    if (!taken)
        *fault = std::string("NCCL_COMM_ID=") + text + ": " +
                 (error ? gai_strerror(error) : "no address of IP");
    return taken;
}

std::string text_of(const HubPlace &place)
{
    char text[INET6_ADDRSTRLEN] = "";
    inet_ntop(place.family, place.address, text, sizeof text);
    bool wide = place.family == AF_INET6;
    return (wide ? "[" : "") + std::string(text) + (wide ? "]:" : ":") +
           std::to_string(place.port);
}

int listen_at(HubPlace *place)
{
    Place at(*place);
    int fd = socket(place->family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (bind(fd, at.at(), at.bytes) || listen(fd, SOMAXCONN) ||
        getsockname(fd, at.at(), &at.bytes)) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    // The port has the same place in both families' addresses.
    place->port = ntohs(reinterpret_cast<sockaddr_in *>(at.at())->sin_port);
    return fd;
}

// Waits for a connection that is under way.  Returns its error, or 0.
static int finish_connect(int fd, double deadline)
{
    if (errno != EINPROGRESS) return errno;
    pollfd wait = {fd, POLLOUT, 0};
    int ready;
    do {
        double left = std::max(0.0, deadline - now_seconds());
        ready = poll(&wait, 1, (int)(1000 * left) + 1);
    } while (ready < 0 && errno == EINTR);
    if (ready <= 0) return ready ? errno : ETIMEDOUT;
    int error = 0;
    socklen_t bytes = sizeof error;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes);
    return error;
}

int connect_to(const HubPlace &place, double deadline)
{
    Place at(place);
    int fd = socket(place.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                    0);
    if (fd < 0) return -1;
    if (!connect(fd, at.at(), at.bytes)) return set_options(fd);
    int error = finish_connect(fd, deadline);
    if (!error) return set_options(fd);
    close(fd);
    errno = error;
    return -1;
}

int accept_from(int listener)
{
    int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    return fd < 0 ? fd : set_options(fd);
}

// Waits until the transfer can go on.
static Moved wait_for(const Transfer &transfer,
                      const std::vector<pollfd> *watched, double deadline)
{
    std::vector<pollfd> list;
    if (watched) list = *watched;
    const short event = transfer.sends ? POLLOUT : POLLIN;
    list.push_back({transfer.fd, event, 0});
    double left = deadline < 0 ? -1 : std::max(0.0, deadline - now_seconds());
    int ready = poll(list.data(), list.size(),
                     left < 0 ? -1 : (int)(1000 * left) + 1);
    if (ready == 0) return Moved::LATE;
    if (ready < 0) return errno == EINTR ? Moved::ALL : Moved::LOST;
    for (size_t i = 0; i + 1 < list.size(); i++)
        if (list[i].revents) return Moved::WATCHED;
    return Moved::ALL;
}

// It waits only when no byte can be moved.  So bytes that have come are read,
// even of a rank that has ended since.
Moved move_bytes(Transfer *t, const std::vector<pollfd> *watched,
                 double deadline)
{
    while (t->left) {
        ssize_t moved =
            t->sends ? send(t->fd, t->at, t->left, MSG_NOSIGNAL | MSG_DONTWAIT)
                     : recv(t->fd, t->at, t->left, MSG_DONTWAIT);
        if (moved > 0) {
            t->at += moved;
            t->left -= (size_t)moved;
            continue;
        }
        if (moved == 0) return Moved::LOST;
        if (errno == EINTR) continue;
        if (errno != EAGAIN && errno != EWOULDBLOCK) return Moved::LOST;
        Moved waited = wait_for(*t, watched, deadline);
        if (waited != Moved::ALL) return waited;
    }
    return Moved::ALL;
}
