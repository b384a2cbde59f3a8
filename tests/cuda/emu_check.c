/* SPDX-License-Identifier: Apache-2.0 */
/* emu_check.c - device memory of the processor's form, and who touched which four bytes of it last.
 *
 * A piece of memory is a block of the heap, closed to everybody (poisoned) but while an operation that names it runs. Beside it
 * lies, for every four bytes, the queue and time of the last write and the time of the last read by each queue (vector clocks:
 * Lamport 1978, Mattern 1989). An access is in order if its queue knows of the write, and a write also if it knows of all
 * reads. */
#include "tests/cuda/emu_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define EMU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMU_ASAN 1
#endif
#endif
#if defined(EMU_ASAN)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, n) ((void)(at), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(at, n) ((void)(at), (void)(n))
#endif

enum { GRAIN = 4, PIECES_MAX = 4096 };
static const uint32_t SPOILED = 0xffa5a5a5;     /* a NaN that no arithmetic gives */

struct grain {
    uint32_t written;           /* time; 0: nobody has */
    int writer;
    uint32_t read[EMU_QUEUES];
};

static struct piece {
    char *at;
    size_t size_bytes;
    struct grain *grains;
    int card;
} pieces[PIECES_MAX];

static size_t memory_most, memory_used;
static uint32_t clocks[EMU_QUEUES][EMU_QUEUES];
static int queues = 1;
static char first_report[512], told[512];

int emu_fail(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (!first_report[0])
        vsnprintf(first_report, sizeof first_report, fmt, ap);
    va_end(ap);
    return EMU_FAILED;
}

const char *emu_last(void)
{
    return first_report[0] ? first_report : told;
}

const char *emu_report(void)
{
    memcpy(told, first_report, sizeof told);
    first_report[0] = 0;
    return told[0] ? told : NULL;
}

void emu_set_memory(size_t size_bytes)
{
    memory_most = size_bytes;
}

size_t emu_memory_most(void)
{
    return memory_most;
}

size_t emu_memory_used(void)
{
    return memory_used;
}

int emu_get(gpu_ptr *ret, size_t size_bytes)
{
    struct piece *p = pieces;
    while (p < pieces + PIECES_MAX && p->at)
        p++;
    if (p == pieces + PIECES_MAX || (memory_most && (size_bytes > memory_most || memory_used > memory_most - size_bytes)))
        return GPU_NO_MEMORY;
    size_t padded = (size_bytes + 255) / 256 * 256;
    p->at = aligned_alloc(256, padded);
    p->grains = calloc(padded / GRAIN, sizeof *p->grains);
    ASSERT(p->at && p->grains);
    p->size_bytes = size_bytes;
    p->card = emu_card();
    memory_used += size_bytes;
    memset(p->at, 0xff, size_bytes);
    ASAN_POISON_MEMORY_REGION(p->at, padded);
    *ret = (gpu_ptr)(uintptr_t)p->at;
    return 0;
}

static struct piece *piece_of(gpu_ptr at, size_t size_bytes)
{
    for (struct piece *p = pieces; p < pieces + PIECES_MAX; p++) {
        gpu_ptr from = (gpu_ptr)(uintptr_t)p->at;
        if (p->at && at >= from && at - from <= p->size_bytes && size_bytes <= p->size_bytes - (size_t)(at - from))
            return p;
    }
    return NULL;
}

int emu_drop(gpu_ptr at)
{
    struct piece *p = piece_of(at, 0);
    if (!p || (gpu_ptr)(uintptr_t)p->at != at)
        return emu_fail("memory is given back that was not given out");
    ASAN_UNPOISON_MEMORY_REGION(p->at, (p->size_bytes + 255) / 256 * 256);
    memory_used -= p->size_bytes;
    free(p->at);
    free(p->grains);
    *p = (struct piece){ 0 };
    return 0;
}

void emu_forget(gpu_ptr at, size_t size_bytes)
{
    struct piece *p = piece_of(at, size_bytes);
    ASSERT(p && (gpu_ptr)(uintptr_t)p->at == at && p->size_bytes == size_bytes);
    memset(p->grains, 0, (size_bytes + GRAIN - 1) / GRAIN * sizeof *p->grains);
    emu_open(at, size_bytes);
    memset(p->at, 0xff, size_bytes);
    emu_close(at, size_bytes);
}

void emu_open(gpu_ptr at, size_t size_bytes)
{
    ASAN_UNPOISON_MEMORY_REGION((void *)(uintptr_t)at, size_bytes);
}

void emu_close(gpu_ptr at, size_t size_bytes)
{
    struct piece *p = piece_of(at, size_bytes);         /* whole grains of the sanitizer, which are eight bytes */
    if (p)
        ASAN_POISON_MEMORY_REGION(p->at, (p->size_bytes + 255) / 256 * 256);
}

void emu_spoil(gpu_ptr at, size_t size_bytes)
{
    for (size_t i = 0; i + GRAIN <= size_bytes; i += GRAIN)
        memcpy((char *)(uintptr_t)at + i, &SPOILED, GRAIN);
}

bool emu_is_spoiled(gpu_ptr at, size_t size_bytes)
{
    for (size_t i = 0; i + GRAIN <= size_bytes; i += GRAIN)
        if (!memcmp((const char *)(uintptr_t)at + i, &SPOILED, GRAIN))
            return true;
    return false;
}

int emu_touch(const char *what, int queue, const struct gpu_use *use)
{
    struct piece *p = piece_of(use->at, use->size_bytes);
    if (!p)
        return emu_fail("%s: %zu bytes that are no device memory, or run past its end", what, use->size_bytes);
    if (p->card != emu_card())
        return emu_fail("%s: memory of card %d is touched by card %d", what, p->card, emu_card());
    size_t from = (size_t)(use->at - (gpu_ptr)(uintptr_t)p->at), end = from + use->size_bytes;
    for (size_t i = from / GRAIN; i * GRAIN < end; i++) {
        struct grain *g = &p->grains[i];
        if (use->reads && !g->written)
            return emu_fail("%s: reads byte %zu of %zu, which nothing has written", what, i * GRAIN - from, use->size_bytes);
        if (g->written && g->written > clocks[queue][g->writer])
            return emu_fail("%s: queue %d touches byte %zu of %zu, which queue %d writes, and no event orders the two", what,
                            queue, i * GRAIN - from, use->size_bytes, g->writer);
        for (int q = 0; q < queues && use->writes; q++)
            if (g->read[q] > clocks[queue][q])
                return emu_fail("%s: queue %d writes byte %zu of %zu, which queue %d reads, and no event orders the two", what,
                                queue, i * GRAIN - from, use->size_bytes, q);
        if (use->reads)
            g->read[queue] = clocks[queue][queue];
        if (use->writes) {
            g->written = clocks[queue][queue];
            g->writer = queue;
        }
    }
    return 0;
}

int emu_queue_new(void)
{
    ASSERT(queues < EMU_QUEUES);
    int q = queues++;
    memset(clocks[q], 0, sizeof clocks[q]);
    clocks[q][q] = 1;
    return q;
}

/* The host asks in its own order: what it has waited for is before what it asks for now. */
void emu_queue_tick(int queue)
{
    emu_queue_learn(queue, EMU_HOST);
    clocks[queue][queue]++;
}

void emu_queue_learn(int queue, int from)
{
    const struct emu_clock c = emu_clock_of(from);
    emu_clock_join(queue, &c);
}

struct emu_clock emu_clock_of(int queue)
{
    struct emu_clock c;
    memcpy(c.of, clocks[queue], sizeof c.of);
    return c;
}

void emu_clock_join(int queue, const struct emu_clock *c)
{
    for (int q = 0; q < EMU_QUEUES; q++)
        if (c->of[q] > clocks[queue][q])
            clocks[queue][q] = c->of[q];
}
