/* SPDX-License-Identifier: Apache-2.0 */
/* emu_int.h - between the files of tests/cuda: the runner of grids and the checker of accesses. */
#pragma once
#include <stdarg.h>
#include "tests/cuda/emu.h"
#include "workers/compute/kernels/cuda/gpu.h"

enum { EMU_QUEUES = 16, EMU_HOST = 0, EMU_FAILED = 719 };      /* queue 0 is the host; CUDA_ERROR_LAUNCH_FAILED */

typedef void (*emu_kernel)(const void *args);

/* All threads of a grid; a report and EMU_FAILED when they do not meet at their barriers. */
int emu_run_grid(const char *name, emu_kernel kernel, const void *args, unsigned x, unsigned y, unsigned z, unsigned threads,
                 unsigned shared_bytes);

/* For words that a warp speaks together (emu_warp.c): this thread waits until all 32 have come with the same word. The result
 * tells two meetings that follow each other apart, so that nobody overwrites what is yet to be read. */
enum emu_word { WORD_SHUFFLE, WORD_MMA, WORD_MATRICES, WORD_BARRIER, WORD_BALLOT };
unsigned emu_meet(enum emu_word word);
unsigned emu_next_meeting(void);                /* what emu_meet will give */
unsigned emu_thread(void);
unsigned long emu_block(void);                  /* another number for each block that ever ran */
enum { EMU_THREADS_MAX = 1024 };

int emu_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));      /* keeps the first text; EMU_FAILED */
const char *emu_last(void);

/* A captured sequence (emu_capture.c). While one is made, what is asked for on its stream is kept and does not run. */
struct emu_kept {
    enum { KEPT_ABOUT, KEPT_LAUNCH, KEPT_CALL, KEPT_DONE } kind;
    const char *what;
    const struct gpu_use *uses;
    size_t n;                   /* of uses, or bytes of arguments */
    const void *function, *arguments;
    unsigned grid[3], threads;
    int (*call)(int queue, const void *arguments);
    float ms;
};
bool emu_captures(const void *stream);          /* NULL: any */
int emu_keep(const struct emu_kept *k);         /* a copy; 0 */
/* Calls of the table. run: makes one kept call. */
int emu_capture_begin(void *stream, int mode);
int emu_capture_end(void *stream, void **ret);
int emu_graph_make(void **ret, void *graph, unsigned long long flags);
int emu_graph_free(void *graph);
int emu_graph_run(void *made, void *stream, int (*run)(void *stream, const struct emu_kept *k));

/* A call of a library on a stream, inside an operation: kept while the stream is captured, else made at once. ms: what it takes
 * by the events of that stream. */
int emu_call(void *stream, int (*call)(int queue, const void *arguments), const void *arguments, size_t n, float ms);
/* Cards, and the turns of threads (emu_card.c). hold: until let_go, over calls; ALONE: until the end of the function. */
int emu_cards(void);
int emu_card(void);                             /* the thread's */
bool emu_is_card(int card);
void *emu_context(int card);                    /* NULL: there is none */
bool emu_context_use(const void *context);
int emu_lock(void);
void emu_unlock(const int *locked);
void emu_hold(void);
void emu_let_go(void);
#define ALONE CLEANUP(emu_unlock) const int locked __attribute__((unused)) = emu_lock()
int emu_queue_of(void *stream);

/* Memory. */
int emu_get(gpu_ptr *ret, size_t size_bytes);
int emu_drop(gpu_ptr at);
void emu_forget(gpu_ptr at, size_t size_bytes);        /* as if just given out */
/* One access of a queue to a piece of memory: checked and noted. */
int emu_touch(const char *what, int queue, const struct gpu_use *use);
/* Between open and close the bytes of an allocation can be touched; else AddressSanitizer stops who does. */
void emu_open(gpu_ptr at, size_t size_bytes);
void emu_close(gpu_ptr at, size_t size_bytes);
/* Results are filled with a pattern that no kernel writes; whether any of it is left. */
void emu_spoil(gpu_ptr at, size_t size_bytes);
bool emu_is_spoiled(gpu_ptr at, size_t size_bytes);

/* Pinned memory of the process (emu_host.c). A copy from it is under way until the host has waited for its queue: what lay there
 * must lie there still. reads: a copy was asked for; settle: the host has waited. */
int emu_host_get(void **ret, size_t size_bytes);
int emu_host_drop(void *at);
void emu_host_reads(int queue, const void *from, size_t n);
int emu_host_settle(int queue);

/* Clocks: each queue has a time of its own and knows how much of the others' came before. */
int emu_queue_new(void);
void emu_queue_tick(int queue);                 /* something is asked for on it */
void emu_queue_learn(int queue, int from);      /* what `from` has done is before what `queue` does next */
struct emu_clock {
    uint32_t of[EMU_QUEUES];
};
struct emu_clock emu_clock_of(int queue);
void emu_clock_join(int queue, const struct emu_clock *c);
