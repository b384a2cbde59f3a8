/* SPDX-License-Identifier: Apache-2.0 */
/* ort.h - ONNX Runtime through its table of functions, opened at run time: nothing of it is needed to build.
 *
 * One opened library is shared by all models of a process. It starts no thread: a call computes on the thread that makes it.
 * It tells nobody anything: since 1.30 it has telemetry on Linux (a thread, files in the home, uploads), which it leaves out
 * where the environment says ORT_DISABLE_TELEMETRY, and ort_open says so. It writes no log, loads no operators from other
 * libraries, and its arena takes at most the bytes given, weights included. Numbers of types and kinds are those of
 * onnxruntime_c_api.h; types of tensors are enum onnx_type. */
#pragma once
#include <stdint.h>
#include "core/base/err.h"
#include "workers/compute/onnx/onnx_file.h"

enum { ORT_API = 16 };                                  /* the table's version that is asked for */
enum { ORT_KIND_TENSOR = 1 };                           /* ONNXType */
enum { ORT_FATAL = 4 };                                 /* OrtLoggingLevel */
enum { ORT_LEVEL_ALL = 99 };                            /* GraphOptimizationLevel */
enum { ORT_ALLOCATOR_DEVICE = 0, ORT_ALLOCATOR_ARENA = 1, ORT_MEMORY_DEFAULT = 0 };     /* OrtAllocatorType, OrtMemType */
enum { ORT_EXTEND_AS_ASKED = 1 };                       /* an arena grows by what is asked for, not by powers of two */
enum { ORT_TEXT_MAX = 200 };

struct ort_api {
    int (*code)(const void *status);                    /* position 1; OrtErrorCode */
    const char *(*text)(const void *status);            /* position 2 */
#define STATUS(position, name, arguments) void *(*name) arguments;
#define GONE(position, name) void (*name)(void *p);
#include "workers/compute/ort/ort.def"
#undef STATUS
#undef GONE
};

struct ort {
    struct ort_api api;
    void *env, *memory;
    char version[24];
};

/* Sets a variable of the environment: no other thread may look at it meanwhile. path: of the library; it is never closed.
 * max_bytes: of all models together, 0: no limit. UNAVAILABLE: no library, or one without this table. */
MUST_CHECK enum errc ort_open(const char *path, size_t max_bytes, struct ort **ret, struct err *e);
void ort_free(struct ort *o);                           /* models first; NULL is fine */
/* status as an error of this code, with its text, and freed; NULL: none. */
enum errc ort_check(const struct ort *o, enum errc code, const char *what, void *status, struct err *e);
