/* SPDX-License-Identifier: Apache-2.0 */
/* text_out.c - what waits, and why. */
#include "workers/compute/text/text_out.h"
#include "core/base/assert.h"

#include <string.h>

static const size_t HELD_MAX = (size_t)64 << 10;

void text_out_init(struct text_out *o, const struct str *stops, size_t n)
{
    ASSERT(n <= TEXT_STOPS_MAX);
    *o = (struct text_out){ .stop_count = n, .held = BUF(HELD_MAX) };
    for (size_t i = 0; i < n; i++)
        o->stops[i] = stops[i];
}

void text_out_release(struct text_out *o)
{
    buf_release(&o->held);
}

/* The length of the character that p begins with; 0: it is not whole yet; -1: none begins here. */
static int character(const unsigned char *p, size_t n)
{
    int len = p[0] < 0x80                   ? 1
              : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
              : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
              : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                            : -1;
    for (int i = 1; i < len && (size_t)i < n; i++) {
        unsigned char least = i > 1 ? 0x80 : p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
        unsigned char most = i > 1 ? 0xbf : p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
        if (p[i] < least || p[i] > most)
            return -1;
    }
    return len > 0 && (size_t)len > n ? 0 : len;
}

/* Shows the first n bytes; what of a character is not whole stays, unless is_end. Returns how many were taken. */
static size_t show(const struct text_out *o, size_t n, bool is_end, struct buf *ret)
{
    const unsigned char *p = (const unsigned char *)o->held.ptr;
    size_t at = 0;
    while (at < n) {
        int len = character(p + at, n - at);
        if (len == 0 && !is_end)
            break;
        if (len > 0)
            buf_add(ret, (const char *)p + at, (size_t)len);
        else
            buf_add_c(ret, "\xef\xbf\xbd");
        at += len > 0 ? (size_t)len : 1;
    }
    return at;
}

static void drop(struct text_out *o, size_t n)
{
    memmove(o->held.ptr, o->held.ptr + n, o->held.len - n);
    o->held.len -= n;
}

/* Where the stop string that ends first begins; SIZE_MAX: there is none. */
static size_t find_stop(const struct text_out *o)
{
    size_t best_end = SIZE_MAX, best = SIZE_MAX;
    for (size_t i = 0; i < o->stop_count; i++) {
        const struct str *s = &o->stops[i];
        const char *at = o->held.len ? memmem(o->held.ptr, o->held.len, s->ptr, s->len) : NULL;
        size_t begin = at ? (size_t)(at - o->held.ptr) : 0;
        if (at && begin + s->len < best_end) {
            best_end = begin + s->len;
            best = begin;
        }
    }
    return best;
}

/* Bytes at the end that a stop string may begin with. */
static size_t may_stop(const struct text_out *o)
{
    size_t most = 0;
    for (size_t i = 0; i < o->stop_count; i++) {
        const struct str *s = &o->stops[i];
        for (size_t n = s->len - 1 < o->held.len ? s->len - 1 : o->held.len; n > most; n--)
            if (!memcmp(o->held.ptr + o->held.len - n, s->ptr, n))
                most = n;
    }
    return most;
}

bool text_out_add(struct text_out *o, struct str bytes, struct buf *ret)
{
    if (o->is_stopped)
        return false;
    buf_add(&o->held, bytes.ptr, bytes.len);
    size_t stop = find_stop(o);
    if (stop != SIZE_MAX) {
        show(o, stop, true, ret);
        o->is_stopped = true;
        o->held.len = 0;
        return false;
    }
    if (o->held.len)
        drop(o, show(o, o->held.len - may_stop(o), false, ret));
    return true;
}

void text_out_end(struct text_out *o, struct buf *ret)
{
    if (!o->is_stopped && o->held.len)
        show(o, o->held.len, true, ret);
    o->held.len = 0;
    o->is_stopped = true;
}
