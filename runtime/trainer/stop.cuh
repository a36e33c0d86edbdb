// Signals that stop a run.  The first one is recorded, so that the training step ends and the state
// is saved; a second one ends the program at once.  SIGHUP comes when the terminal closes, SIGPIPE
// when the reader of standard output has ended.
#pragma once
#include <signal.h>

static int stop_signal = 0;     // the first signal, or 0

static const int stop_numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

static inline const char *stop_name(int number)
{
    static const char *const names[] = {"SIGINT", "SIGTERM", "SIGHUP", "SIGPIPE"};
    int i = 0;
    while (stop_numbers[i] != number) i++;
    return names[i];
}

// Any thread may receive a signal, also one of the reader.
static void note_stop(int number)
{
    __atomic_store_n(&stop_signal, number, __ATOMIC_RELAXED);
    for (int each : stop_numbers) signal(each, SIG_DFL);
}

static inline int stop_asked(void)
{
    return __atomic_load_n(&stop_signal, __ATOMIC_RELAXED);
}

// Records signals from now on, except those that the parent process made the program ignore.
static inline void await_stop(void)
{
    struct sigaction noted = {}, old;
    __atomic_store_n(&stop_signal, 0, __ATOMIC_RELAXED);
    noted.sa_handler = note_stop;
    noted.sa_flags = SA_RESTART;
    for (int number : stop_numbers)
        if (!sigaction(number, NULL, &old) && old.sa_handler != SIG_IGN)
            sigaction(number, &noted, NULL);
}

// Lets signals end the program at once, because nothing is left to save.
static inline void await_no_stop(void)
{
    struct sigaction old;
    for (int number : stop_numbers)
        if (!sigaction(number, NULL, &old) && old.sa_handler == note_stop) signal(number, SIG_DFL);
}
