// Runs something that must end the program in a process of its own, and keeps
// its standard error.
#ifndef CNNC_HOST_CHILD_H
#define CNNC_HOST_CHILD_H

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <string>

struct ChildEnd {
    int signal, status;         // 0 where it did not end so
    std::string said;
};

template <class F>
static ChildEnd run_child(F f)
{
    int ends[2], status = 0;
    if (pipe(ends)) return {0, 127, "no pipe"};
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        f();
        _exit(0);
    }
    close(ends[1]);
    std::string said;
    char part[512];
    ssize_t count;
    while ((count = read(ends[0], part, sizeof part)) > 0) said.append(part, (size_t)count);
    close(ends[0]);
    waitpid(child, &status, 0);
    return {WIFSIGNALED(status) ? WTERMSIG(status) : 0,
            WIFEXITED(status) ? WEXITSTATUS(status) : 0, said};
}

#endif
