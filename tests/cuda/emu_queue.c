/* SPDX-License-Identifier: Apache-2.0 */
/* emu_queue.c - the driver's memory, streams and events: each call is checked and has its place in time. */
#include "tests/cuda/emu_calls.h"
#include "core/base/cleanup.h"

#include <stdlib.h>
#include <string.h>

struct emu_event {
    bool is_recorded, has_time;
    float ms;
    struct emu_clock clock;
};

static struct stream streams[EMU_QUEUES];

int emu_queue_of(void *stream)
{
    return ((const struct stream *)stream)->queue;
}

/* What is asked for of a stream whose card is not the thread's. */
int emu_on_card(const char *what, void *stream)
{
    const struct stream *s = stream;
    return s->card == emu_card() ? 0 : emu_fail("%s: is asked of card %d by a thread on card %d", what, s->card, emu_card());
}

int emu_not_now(const char *what)
{
    return emu_fail("%s is asked for while a sequence is captured", what);
}

int call_memory_get(gpu_ptr *ret, size_t size_bytes)
{
    ALONE;
    if (emu_captures(NULL))
        return emu_not_now("memory");
    return emu_get(ret, size_bytes);
}

int call_memory_free(gpu_ptr at)
{
    ALONE;
    if (emu_captures(NULL))
        return emu_not_now("the end of memory");
    return emu_drop(at);
}

int call_host_get(void **ret, size_t size_bytes, unsigned flags)
{
    ALONE;
    if (emu_captures(NULL))
        return emu_not_now("pinned memory");
    return flags ? 1 : emu_host_get(ret, size_bytes);
}

int call_host_free(void *at)
{
    ALONE;
    return emu_captures(NULL) ? emu_not_now("the end of pinned memory") : emu_host_drop(at);
}

/* One access of its own, outside of an operation. */
static int one_access(const char *what, void *stream, gpu_ptr at, size_t n, bool is_written)
{
    const struct gpu_use use = { at, n, !is_written, is_written, true };
    if (emu_captures(stream))
        return emu_not_now(what);
    if (emu_on_card(what, stream))
        return EMU_FAILED;
    emu_queue_tick(emu_queue_of(stream));
    return emu_touch(what, emu_queue_of(stream), &use);
}

int call_memory_fill(gpu_ptr at, unsigned char value, size_t n, void *stream)
{
    ALONE;
    int code = one_access("a fill", stream, at, n, true);
    if (!code) {
        emu_open(at, n);
        memset((void *)(uintptr_t)at, value, n);
        emu_close(at, n);
    }
    return code;
}

int call_copy_in(gpu_ptr to, const void *from, size_t n, void *stream)
{
    ALONE;
    int code = one_access("a copy to the card", stream, to, n, true);
    if (!code) {
        emu_open(to, n);
        memcpy((void *)(uintptr_t)to, from, n);
        emu_close(to, n);
        emu_host_reads(emu_queue_of(stream), from, n);
    }
    return code;
}

int call_copy_out(void *to, gpu_ptr from, size_t n, void *stream)
{
    ALONE;
    int code = one_access("a copy from the card", stream, from, n, false);
    if (!code) {
        emu_open(from, n);
        memcpy(to, (const void *)(uintptr_t)from, n);
        emu_close(from, n);
    }
    return code;
}

int call_stream_new(void **ret, unsigned flags)
{
    static int made;
    struct stream *s = NULL;
    ALONE;
    for (int i = 0; i < made && !s; i++)
        if (!streams[i].queue)
            s = &streams[i];
    if (!s && made < EMU_QUEUES - 1) {
        s = &streams[made++];
        s->queue = emu_queue_new();
    } else if (s) {
        s->queue = (int)(s - streams) + 1;              /* its clock goes on */
    }
    if (s)
        s->card = emu_card();
    *ret = s;
    return s && flags == GPU_STREAM_ALONE ? 0 : 1;
}

int call_stream_sync(void *stream)
{
    ALONE;
    if (emu_captures(stream))
        return emu_not_now("a sync");
    emu_queue_learn(EMU_HOST, emu_queue_of(stream));
    return emu_host_settle(emu_queue_of(stream));
}

int call_stream_query(void *stream)
{
    return call_stream_sync(stream);         /* all has run when it was asked for */
}

int call_stream_free(void *stream)
{
    ALONE;
    call_stream_sync(stream);
    ((struct stream *)stream)->queue = 0;
    return 0;
}

int call_stream_wait(void *stream, void *event, unsigned flags)
{
    const struct emu_event *ev = event;
    (void)flags;
    ALONE;
    if (emu_captures(stream))
        return emu_not_now("a wait");
    if (ev->is_recorded)
        emu_clock_join(emu_queue_of(stream), &ev->clock);
    return 0;
}

int call_event_new(void **ret, unsigned flags)
{
    struct emu_event *ev = calloc(1, sizeof *ev);
    ASSERT(ev);
    ev->has_time = !(flags & GPU_EVENT_NO_TIME);
    *ret = ev;
    return flags & ~(unsigned)GPU_EVENT_NO_TIME ? 1 : 0;
}

int call_event_free(void *event)
{
    free(event);
    return 0;
}

int call_event_record(void *event, void *stream)
{
    struct emu_event *ev = event;
    ALONE;
    if (emu_captures(stream))
        return emu_not_now("an event");
    ev->is_recorded = true;
    ev->clock = emu_clock_of(emu_queue_of(stream));
    ev->ms = ((const struct stream *)stream)->ms;
    return 0;
}

int call_event_ms(float *ret_ms, void *from, void *to)
{
    const struct emu_event *a = from, *b = to;
    if (!a->has_time || !b->has_time || !a->is_recorded || !b->is_recorded)
        return 400;
    *ret_ms = b->ms - a->ms;
    return 0;
}
