/* SPDX-License-Identifier: Apache-2.0 */
/* emu_host.c - pinned memory, and the copies from it that the host has not waited for. A card may read at any time up to then,
 * so each such copy keeps what it has read, to be compared with what lies there when the wait is over. */
#include "tests/cuda/emu_int.h"

#include <stdlib.h>
#include <string.h>

enum { PINNED_MAX = 64 };

static struct pinned {
    char *at;
    size_t size_bytes;
} pinned[PINNED_MAX];

static struct copy {
    struct copy *next;
    int queue;
    const char *from;
    size_t n;
    char was[];
} *copies;

static bool has_none;
static size_t copied;

void emu_set_pinned(bool is_there)
{
    has_none = !is_there;
}

size_t emu_pinned(void)
{
    size_t sum = 0;
    for (int i = 0; i < PINNED_MAX; i++)
        sum += pinned[i].size_bytes;
    return sum;
}

size_t emu_pinned_copies(void)
{
    return copied;
}

int emu_host_get(void **ret, size_t size_bytes)
{
    struct pinned *p = pinned;
    while (p < pinned + PINNED_MAX && p->at)
        p++;
    if (has_none || p == pinned + PINNED_MAX)
        return GPU_NO_MEMORY;
    p->at = malloc(size_bytes);
    ASSERT(p->at);
    p->size_bytes = size_bytes;
    *ret = p->at;
    return 0;
}

static struct pinned *pinned_of(const void *from)
{
    for (struct pinned *p = pinned; p < pinned + PINNED_MAX; p++)
        if (p->at && (const char *)from >= p->at && (const char *)from < p->at + p->size_bytes)
            return p;
    return NULL;
}

int emu_host_drop(void *at)
{
    struct pinned *p = pinned_of(at);
    if (!p || p->at != at)
        return emu_fail("pinned memory is given back that was not given out");
    for (struct copy *k = copies; k; k = k->next)
        if (pinned_of(k->from) == p)
            return emu_fail("pinned memory is given back while queue %d reads it", k->queue);
    free(p->at);
    *p = (struct pinned){ 0 };
    return 0;
}

void emu_host_reads(int queue, const void *from, size_t n)
{
    if (!pinned_of(from))
        return;
    struct copy *k = malloc(sizeof *k + n);
    ASSERT(k);
    *k = (struct copy){ copies, queue, from, n };
    memcpy(k->was, from, n);
    copies = k;
    copied++;
}

int emu_host_settle(int queue)
{
    int code = 0;
    for (struct copy **it = &copies; *it;) {
        struct copy *k = *it;
        if (k->queue != queue) {
            it = &k->next;
            continue;
        }
        if (memcmp(k->from, k->was, k->n) != 0)
            code = emu_fail("a copy to the card: its %zu bytes of pinned memory were changed before the host has waited", k->n);
        *it = k->next;
        free(k);
    }
    return code;
}
