/* SPDX-License-Identifier: Apache-2.0 */
/* emu_capture.c - sequences of launches that are kept and run later, with copies of their arguments, as graphs of a driver. */
#include "tests/cuda/emu_int.h"

#include <stdlib.h>
#include <string.h>

enum { MODE_THREAD = GPU_CAPTURE_THREAD, BAD = 1 };

struct sequence {
    struct emu_kept *of;
    size_t n, room;
    int users;                          /* the graph, and what was made of it */
};

static struct {
    const void *stream;                 /* NULL: nothing is captured */
    struct sequence *to;
} now;
static size_t replays;

size_t emu_replays(void)
{
    return replays;
}

bool emu_captures(const void *stream)
{
    return now.stream && (!stream || stream == now.stream);
}

static void *copy_of(const void *at, size_t n)
{
    void *p = n ? malloc(n) : NULL;
    ASSERT(!n || p);
    if (n)
        memcpy(p, at, n);
    return p;
}

int emu_keep(const struct emu_kept *k)
{
    struct sequence *s = now.to;
    if (s->n == s->room) {
        s->room = s->room ? 2 * s->room : 64;
        s->of = realloc(s->of, s->room * sizeof *s->of);
        ASSERT(s->of);
    }
    struct emu_kept *to = &s->of[s->n++];
    *to = *k;
    to->uses = k->kind == KEPT_ABOUT ? copy_of(k->uses, k->n * sizeof *k->uses) : NULL;
    to->arguments = k->kind == KEPT_LAUNCH || k->kind == KEPT_CALL ? copy_of(k->arguments, k->n) : NULL;
    return 0;
}

int emu_capture_begin(void *stream, int mode)
{
    if (now.stream || mode != MODE_THREAD)
        return BAD;
    now.stream = stream;
    now.to = calloc(1, sizeof *now.to);
    ASSERT(now.to);
    now.to->users = 1;
    return 0;
}

int emu_capture_end(void *stream, void **ret)
{
    if (!now.stream || now.stream != stream)
        return BAD;
    *ret = now.to;
    now.stream = NULL;
    now.to = NULL;
    return 0;
}

int emu_graph_make(void **ret, void *graph, unsigned long long flags)
{
    struct sequence *s = graph;
    s->users++;
    *ret = s;
    return flags ? BAD : 0;
}

int emu_graph_free(void *graph)
{
    struct sequence *s = graph;
    if (--s->users)
        return 0;
    for (size_t i = 0; i < s->n; i++) {
        free((void *)(uintptr_t)s->of[i].uses);
        free((void *)(uintptr_t)s->of[i].arguments);
    }
    free(s->of);
    free(s);
    return 0;
}

int emu_graph_run(void *made, void *stream, int (*run)(void *stream, const struct emu_kept *k))
{
    const struct sequence *s = made;
    int code = 0;
    replays++;
    for (size_t i = 0; i < s->n; i++) {
        int one = run(stream, &s->of[i]);
        code = code ? code : one;
    }
    return code;
}
