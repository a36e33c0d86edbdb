// With CNNC_HOST_DEFER, device memory is closed to the CPU except while
// kernels, products and copies run.  A program that reads its own arena works
// only on this runtime, so it ends with a message and the signal.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "host.h"

namespace {

struct sigaction earlier;
int openings;                   // nesting depth; guarded by the streams' lock

// A return repeats the access, now under the earlier handler.
void handle_fault(int number, siginfo_t *info, void *)
{
    size_t offset, bytes;
    if (!find_guarded((uintptr_t)info->si_addr, &offset, &bytes)) {
        sigaction(number, &earlier, nullptr);
        return;
    }
    char text[200];
    int length = snprintf(text, sizeof text,
                          "host: host access to device memory at %p, offset "
                          "%zu in an allocation of %zu bytes\n", info->si_addr,
                          offset, bytes);
    ssize_t written = write(STDERR_FILENO, text, (size_t)length);
    (void)written;
    signal(number, SIG_DFL);
}

void watch_faults()
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handle_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, &earlier);
}

}

void guard_memory(void *start, size_t bytes, bool open)
{
    if (!is_deferring()) return;
    static const bool watching = (watch_faults(), true);
    (void)watching;
    if (mprotect(start, bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE))
        perror("the host runtime: guarding device memory"), _exit(70);
}

bool guard_turns(bool open)
{
    return open ? openings++ == 0 : --openings == 0;
}
