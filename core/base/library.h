/* SPDX-License-Identifier: Apache-2.0 */
/* library.h - a shared library that a machine may have or not, opened at run time, and a table of its functions by name.
 *
 * Why one does not open is said in the linker's own words (dlerror): a file that is missing, one that may not be read and one
 * that wants another library are mended in different ways. Those with threads of their own are never closed; who may close one
 * calls dlclose. Calling order: library_open -> library_fill. */
#pragma once
#include "core/base/err.h"

/* A function's name, and where in the table its pointer stands. */
struct library_call {
    const char *symbol;
    size_t at;
};

/* what: for people, as "GPU driver". UNAVAILABLE: "this machine has no GPU driver (libcuda.so.1: cannot open …)". */
enum errc library_open(const char *path, const char *what, void **ret, struct err *e) MUST_CHECK;
/* All of n functions into a table; UNAVAILABLE names the first that is missing, and the table is then filled in part. */
enum errc library_fill(void *library, const char *path, const struct library_call *calls, size_t n, void *table, struct err *e)
    MUST_CHECK;
