/* SPDX-License-Identifier: Apache-2.0 */
/* driver.h - the driver of GPUs through one table of functions, opened at run time: no toolkit, no header and no library of it is
 * needed to build, and a machine without a card runs the same program.
 *
 * The table's other form is tests/cuda/emu.h, which runs the same host code on the processor. `about`, `done` and `forget` are
 * for that one: who launches says first what the operation may touch, so that anything else is found. The real driver has NULL
 * there. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/base/err.h"

typedef uint64_t gpu_ptr;

struct gpu_use {                /* a piece of device memory that an operation reads, writes, or both */
    gpu_ptr at;
    size_t size_bytes;
    bool reads, writes, is_dense;       /* dense: what it writes it writes to the last byte */
};

struct gpu_driver {
#define CALL(name, symbol, arguments) int (*name) arguments;
#include "workers/compute/kernels/cuda/driver.def"
#undef CALL
    void (*about)(const char *what, void *stream, const struct gpu_use *uses, size_t n);
    int (*done)(void);
    void (*forget)(gpu_ptr at, size_t size_bytes);
};

enum { GPU_NO_MEMORY = 2, GPU_STREAM_ALONE = 1, GPU_EVENT_NO_TIME = 2, GPU_CAPTURE_THREAD = 1 };   /* an error; flags */
enum { GPU_NOT_READY = 600 };                                               /* of stream_query: it still works */
enum { GPU_MAJOR = 75, GPU_MINOR = 76 };                                    /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_… */
enum { GPU_PROCESSORS = 16 };                                               /* …_MULTIPROCESSOR_COUNT */
enum { GPU_SHARED_MOST = 8, GPU_SHARED_FREE = 48 << 10 };      /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES; unasked */

/* UNAVAILABLE: no library (path: "libcuda.so.1" everywhere but in tests), or one that lacks a function. It is never closed. */
MUST_CHECK enum errc gpu_driver_open(const char *path, struct gpu_driver *ret, struct err *e);
