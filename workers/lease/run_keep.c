/* SPDX-License-Identifier: Apache-2.0 */
/* run_keep.c - looks at the folder's mark; sealing and sending are the link's (ckpt_link.h), on its own thread. */
#include "workers/lease/run_keep.h"

#include <stdlib.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/wire/lease_wire.h"
#include "workers/lease/ckpt_link.h"
#include "workers/lease/folder.h"
#include "workers/lease/run_lines.h"

enum { LOADS_MAX = 8, EMPTY_MARK = 0 };

struct run_keep {
    struct child *c;
    int dir;
    struct ckpt_link *link;
    uint64_t kept, seen;            /* marks of what was kept last, and at the last look */
    int64_t step, count;
    bool is_told;                   /* that the folder cannot be kept */
};

enum errc run_keep_new(struct child *c, int dir, struct run_keep **ret, struct err *e)
{
    *ret = NULL;
    if (c->keeper < 0)
        return ERR_OK;
    struct run_keep *k = calloc(1, sizeof *k);
    ASSERT(k);
    *k = (struct run_keep){ .c = c, .dir = dir, .kept = EMPTY_MARK };
    enum errc rc = ckpt_link_new(c, c->grant.checkpoint_gap_ms, &k->link, e);
    if (rc == ERR_OK)
        *ret = k;
    else
        free(k);
    return rc;
}

enum errc run_keep_restore(struct run_keep *k, struct err *e)
{
    bool found = true, any = false;
    for (size_t i = 0; k && i < LOADS_MAX; i++) {
        CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 44);
        const struct ckpt_store *s = ckpt_link_store(k->link);
        struct folder_about about;
        struct err why = { 0 };
        struct str bytes;
        enum errc rc = s->load(s->ctx, i, a, &bytes, &found, &why);
        if (rc == ERR_OK && !found)
            break;
        any = true;
        if (rc == ERR_OK)
            rc = folder_unpack(k->dir, bytes, &k->step, &why);
        if (rc == ERR_OK && folder_look(k->dir, &about, &why) == ERR_OK) {
            k->kept = k->seen = about.mark;
            run_note(k->c, "info: the folder checkpoint is that of step %ld: %zu files", (long)k->step, about.files);
            return ERR_OK;
        }
        run_note(k->c, "warning: a checkpoint cannot be used: %s", why.msg);
        folder_empty(k->dir);           /* of what it had written */
    }
    return any ? FAIL(e, DAMAGED, "none of the job's checkpoints can be used") : ERR_OK;
}

static void keep(struct run_keep *k, uint64_t mark, bool wait)
{
    const int64_t scratch = k->c->grant.memory_bytes / 2;      /* a file with holes may say more than there is */
    CLEANUP(buf_releasep) struct buf file = BUF((size_t)(scratch < LEASE_CHECKPOINT_MAX ? scratch : LEASE_CHECKPOINT_MAX));
    const struct ckpt_store *s = ckpt_link_store(k->link);
    struct folder_about after;
    struct err e = { 0 };
    enum errc rc = folder_pack(k->dir, k->step + 1, &file, &e);
    if (rc == ERR_OK)
        rc = folder_look(k->dir, &after, &e);
    if (rc == ERR_OK && after.mark != mark)
        rc = FAIL(&e, CONFLICT, "it changed meanwhile");
    if (rc == ERR_OK)
        rc = s->save(s->ctx, ++k->step, &file, wait, &e);
    if (rc == ERR_OK) {
        k->kept = mark;
        k->count++;
        k->is_told = false;
    } else if (rc != ERR_CONFLICT && !k->is_told) {
        run_note(k->c, "warning: the folder checkpoint is not kept: %s", e.msg);
        k->is_told = true;
    }
}

static bool look(struct run_keep *k, struct folder_about *ret)
{
    struct err e = { 0 };
    if (folder_look(k->dir, ret, &e) == ERR_OK)
        return ret->mark != k->kept && ret->files;
    if (!k->is_told)
        run_note(k->c, "warning: the folder checkpoint is not kept: %s", e.msg);
    k->is_told = true;
    return false;
}

void run_keep_look(struct run_keep *k)
{
    struct folder_about now;
    if (!k || k->c->grant.lease.rank || !look(k, &now))
        return;
    const struct ckpt_store *s = ckpt_link_store(k->link);
    bool is_quiet = now.mark == k->seen;
    k->seen = now.mark;
    if (is_quiet && s->is_ready(s->ctx))
        keep(k, now.mark, false);
}

void run_keep_last(struct run_keep *k)
{
    struct folder_about now;
    if (k && !k->c->grant.lease.rank && look(k, &now))
        keep(k, now.mark, true);
}

int64_t run_keep_step(const struct run_keep *k)
{
    return k ? k->step : 0;
}

int64_t run_keep_count(const struct run_keep *k)
{
    return k ? k->count : 0;
}

void run_keep_free(struct run_keep *k)
{
    if (k)
        ckpt_link_free(k->link);
    free(k);
}
