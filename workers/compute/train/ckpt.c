/* SPDX-License-Identifier: Apache-2.0 */
/* ckpt.c - the checkpoint's file, and the search for the newest that can be used. */
#include "workers/compute/train/ckpt.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"

#include <stdio.h>

enum { TRIES_MAX = 64 };
static const size_t LOAD_ARENA = (size_t)1 << 44;       /* what may be loaded is limited by who gives it */

enum errc ckpt_write(struct buf *out, struct str run, int64_t step, struct st_tensor *tensors, size_t tensor_count,
                     const struct st_pair *pairs, size_t pair_count, struct err *e)
{
    char text[24];
    struct st_pair meta[CKPT_PAIRS_MAX + 4] = { { STR("format"), STR("pt") }, { STR("checkpoint"), STR("1") }, { STR("run"),
        run } };
    size_t n = 3;
    ASSERT(pair_count <= CKPT_PAIRS_MAX);
    snprintf(text, sizeof text, "%lld", (long long)step);
    meta[n++] = (struct st_pair){ STR("step"), str_c(text) };
    for (size_t i = 0; i < pair_count; i++)
        meta[n++] = pairs[i];
    return st_write(out, tensors, tensor_count, meta, n, e);
}

enum errc ckpt_read(struct arena *a, struct str bytes, struct ckpt *ret, struct err *e)
{
    struct ckpt k = { .step = -1 };
    TRY(st_parse(a, bytes.ptr, bytes.len, &k.file, e));
    struct str version = st_meta(&k.file, "checkpoint");
    if (!version.ptr)
        return FAIL(e, BAD_DATA, "the file is no checkpoint");
    if (!str_eq_c(version, "1"))
        return FAIL(e, BAD_DATA, "the checkpoint has layout %.*s; this version of Falaj reads layout 1",
                    (int)(version.len < 20 ? version.len : 20), version.ptr);
    k.run = st_meta(&k.file, "run");
    if (!k.run.len || !str_to_i64(st_meta(&k.file, "step"), 0, INT64_MAX, &k.step))
        return FAIL(e, BAD_DATA, "the checkpoint does not say its run and step");
    *ret = k;
    return ERR_OK;
}

static enum errc try_one(const struct ckpt_store *s, const struct ckpt_taker *t, size_t i, bool *ret_found, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(LOAD_ARENA);
    struct str bytes;
    struct ckpt k;
    *ret_found = true;
    TRY(s->load(s->ctx, i, a, &bytes, ret_found, e));
    if (!*ret_found)
        return ERR_OK;
    TRY(ckpt_read(a, bytes, &k, e));
    return t->take(t->ctx, a, &k, e);
}

enum errc ckpt_restore(const struct ckpt_store *s, const struct ckpt_taker *t, bool *ret_found, struct err *e)
{
    char line[400];
    struct err last = { 0 };
    size_t i = 0;
    for (bool found = true; i < TRIES_MAX; i++) {
        struct err now = { 0 };
        enum errc rc = try_one(s, t, i, &found, &now);
        if (rc == ERR_OK && !found)
            break;
        if (rc == ERR_OK) {
            *ret_found = true;
            return ERR_OK;
        }
        last = now;
        if (rc == ERR_CONFLICT || rc == ERR_LIMIT) {
            *e = now;
            return rc;
        }
        snprintf(line, sizeof line, "checkpoint %zu, counted from the newest, cannot be used: %s; the one before it is tried",
                 i + 1,
                 now.msg);
        if (t->log)
            t->log(t->ctx, line);
    }
    *ret_found = false;
    return i ? FAIL(e, DAMAGED, "none of the %zu checkpoints of this job can be used: %s", i, last.msg) : ERR_OK;
}
