// The version of cnnc and the day of its release.  CMakeLists.txt reads both.
#ifndef CNNC_VERSION_H
#define CNNC_VERSION_H

#define CNNC_VERSION "0.1"
#define CNNC_RELEASED "2026-11-27"

#endif
