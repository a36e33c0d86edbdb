// One macro for the tests of the host runtime: it reports a failed condition,
// and counts; main returns whether anything was counted.
#ifndef CNNC_HOST_EXPECT_H
#define CNNC_HOST_EXPECT_H

#include <stdio.h>

static int expect_failures;

#define EXPECT(condition)                                                      \
    ((condition) ? (void)0                                                     \
                 : (void)(expect_failures++,                                   \
                          printf("%s:%d: not so: %s\n", __FILE__, __LINE__,    \
                                 #condition)))

#define EXPECT_SUCCESS(call) EXPECT((call) == cudaSuccess)

#endif
