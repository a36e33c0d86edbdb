// The verifier's message for a graph.  Includes graphs.h.
#ifndef CNNC_TEST_VERDICTS_H
#define CNNC_TEST_VERDICTS_H

#include <sys/wait.h>
#include <unistd.h>
#include "graphs.h"

// Runs the verifier in a process of its own, for it must end it; returns its
// message, or NULL if it found no fault.
static inline char *verdict(const Graph *g)
{
    int ends[2], status;
    char *text = arena_alloc(arena, 4096, 1);

    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        verify(g, "plant");
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t got; (got = read(ends[0], text + length, 4095 - length)) > 0;)
        length += (size_t)got;
    close(ends[0]);
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 0) return NULL;
    assert_int_equal(WEXITSTATUS(status), 70);
    return text;
}

static inline void expect_fault(const Graph *g, const char *wanted)
{
    const char *said = verdict(g);
    if (said == NULL) fail_msg("not caught: %s", wanted);
    if (strstr(said, "after plant: ") == NULL || strstr(said, wanted) == NULL)
        fail_msg("said \"%s\" instead of \"%s\"", said, wanted);
}

#endif
