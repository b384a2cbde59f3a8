/* SPDX-License-Identifier: Apache-2.0 */
/* kept.c - no image that this machine keeps unpacked outlives the right to its key.
 *
 * The reporting thread asks the API often enough that of a minute two questions may fail. What the answer leaves out goes at
 * once, and all of it where the machine itself is shut out. What nobody says anything of goes by itself (image_cache_sweep):
 * the API cannot be reached, or is of a release that does not know the question. */
#include "workers/agent/agent_int.h"

#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "workers/lease/image_cache.h"

enum { ASK_US = 20000000 };
_Static_assert((int)IMAGE_CACHE_ENTRIES <= (int)LEASE_KEPT_MAX, "one question names all");

static void ask(struct agent *a, int64_t now_us, struct lease_kept *held, size_t n)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new(CALL_ARENA);
    struct err e = { 0 };
    const struct lease_kept_in in = { { held, n } };
    struct lease_kept_out may = { 0 };
    const enum errc rc = a->api.kept(a->api.ctx, arena, &in, &may, &e);
    if (rc != ERR_OK && rc != ERR_FORBIDDEN) {
        if (!a->kept_failed)
            log_err(LOG_WARN, "images.unasked", &e);
        a->kept_failed = true;
        return;
    }
    a->kept_failed = false;
    const size_t gone = image_cache_judged(a->env.images, now_us, held, n, may.images.items, may.images.n);
    if (gone)
        log_event(LOG_INFO, "images.forgotten", "images", LOG_I(gone), "why", LOG_S("their keys would not be released"), NULL);
}

int64_t agent_ask_kept(struct agent *a)
{
    struct lease_kept held[IMAGE_CACHE_ENTRIES];
    const int64_t now_us = clock_mono_us(a->clock);
    if (now_us < a->kept_at_us)
        return a->kept_at_us;
    const size_t n = image_cache_held(a->env.images, held);
    if (n && a->api.kept)
        ask(a, now_us, held, n);
    a->kept_at_us = now_us + ASK_US;
    return a->kept_at_us;
}
