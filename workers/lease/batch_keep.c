/* SPDX-License-Identifier: Apache-2.0 */
/* batch_keep.c - the result so far in one buffer; sealing and sending are the link's (ckpt_link.h), on its own thread. */
#include "workers/lease/batch_keep.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/crypto/hash.h"
#include "workers/lease/ckpt_link.h"

enum { SHARE = 4, HEADER_BYTES = 4096, MIB = 1 << 20 };
static const int64_t PACE_US = 1000000;             /* for each MiB */

struct batch_keep {
    struct child *c;
    struct ckpt_link *link;
    char run[2 * SHA256_BYTES + 1];
    struct buf text;                /* of the result, so far */
    bool is_over;                   /* it grew too long */
    int64_t due_us;
    size_t rows_max;                /* of the table that is restored for */
    struct batch_kept found;
};

/* All that decides the bytes. Threads and blocks do not: a row has the same bits in any company. */
static void digest_run(struct batch_keep *k)
{
    struct sha256 h;
    uint8_t digest[SHA256_BYTES];
    CLEANUP(buf_releasep) struct buf b = BUF(HEADER_BYTES);
    buf_printf(&b, "batch 1 %s %s", FALAJ_VERSION, k->c->backend->name);
    for (size_t i = 0; i < lease_grant_files(&k->c->grant.lease); i++)
        buf_printf(&b, " %.*s %.*s", STR_ARG(k->c->inputs[i].about.name), STR_ARG(k->c->inputs[i].about.sha256));
    sha256_init(&h);
    sha256_add(&h, b.ptr, b.len + 1);
    sha256_add(&h, k->c->grant.lease.spec.text.ptr, k->c->grant.lease.spec.text.len);
    sha256_final(&h, digest);
    hex_encode(digest, sizeof digest, k->run);
}

/* Once model and table are read: their most is behind. The link seals a second one while this one grows. */
static size_t most_bytes(const struct child *c)
{
    struct rusage use = { 0 };
    int64_t all = c->grant.memory_bytes > 0 ? c->grant.memory_bytes : (int64_t)SHARE * LEASE_OUTPUT_MAX, left;
    (void)getrusage(RUSAGE_SELF, &use);
    left = all - use.ru_maxrss * 1024;
    return left <= 0 ? 0 : left / SHARE < LEASE_OUTPUT_MAX ? (size_t)(left / SHARE) : (size_t)LEASE_OUTPUT_MAX;
}

enum errc batch_keep_new(struct child *c, struct batch_keep **ret, struct err *e)
{
    *ret = NULL;
    if (c->keeper < 0)
        return ERR_OK;
    struct batch_keep *k = calloc(1, sizeof *k);
    ASSERT(k);
    k->c = c;
    k->text = BUF(most_bytes(c));
    digest_run(k);
    enum errc rc = ckpt_link_new(c, c->grant.checkpoint_gap_ms, &k->link, e);
    if (rc == ERR_OK)
        *ret = k;
    else
        free(k);
    return rc;
}

static bool read_count(const struct ckpt *f, const char *name, size_t max, size_t *ret)
{
    int64_t n;
    if (!str_to_i64(st_meta(&f->file, name), 0, (int64_t)max, &n))
        return false;
    *ret = (size_t)n;
    return true;
}

static enum errc take(void *ctx, struct arena *a, const struct ckpt *f, struct err *e)
{
    (void)a;
    struct batch_keep *k = ctx;
    struct batch_kept found;
    const struct st_tensor *t = f->file.tensors;
    if (!str_eq_c(f->run, k->run))
        return FAIL(e, CONFLICT, "the checkpoint after row %ld is of another backend or version of Falaj", (long)f->step);
    if (f->file.tensor_count != 1 || !str_eq_c(t->name, "result") || !read_count(f, "rows", k->rows_max, &found.rows)
        || !read_count(f, "right", found.rows, &found.right))
        return FAIL(e, DAMAGED, "the checkpoint does not say which rows it has");
    if (!buf_add(&k->text, t->data, t->size_bytes))
        return FAIL(e, LIMIT, "the %ld rows that were kept do not fit in this lease's memory", (long)f->step);
    k->found = found;
    return ERR_OK;
}

static void on_line(void *ctx, const char *line)
{
    child_log(((const struct batch_keep *)ctx)->c, "warning: %s", line);
}

enum errc batch_keep_restore(struct batch_keep *k, size_t rows_max, struct batch_kept *ret, struct err *e)
{
    bool found = false;
    *ret = (struct batch_kept){ 0 };
    if (!k)
        return ERR_OK;
    k->rows_max = rows_max;
    const struct ckpt_taker taker = { k, take, on_line };
    enum errc rc = ckpt_restore(ckpt_link_store(k->link), &taker, &found, e);
    if (rc == ERR_CONFLICT || rc == ERR_LIMIT) {
        child_log(k->c, "warning: %s; beginning anew", e->msg);
        err_clear(e);
        ckpt_link_forget(k->link);
        k->text.overflow = false;
        return ERR_OK;
    }
    TRY(rc);
    if (found)
        *ret = k->found;
    return ERR_OK;
}

struct str batch_keep_text(const struct batch_keep *k)
{
    return k ? buf_str(&k->text) : STR("");
}

void batch_keep_add(struct batch_keep *k, struct str rows)
{
    if (!k || k->is_over || buf_add_str(&k->text, rows))
        return;
    k->is_over = true;
    child_log(k->c, "warning: the result so far has more than %zu bytes, a quarter of the memory that this lease had left; no "
              "more of it is kept for another attempt", k->text.max);
    buf_release(&k->text);
}

static void save(struct batch_keep *k, struct batch_kept at, bool wait)
{
    char rows[24], right[24];
    struct err e = { 0 };
    CLEANUP(buf_releasep) struct buf file = BUF(k->text.len + HEADER_BYTES);
    const struct ckpt_store *s = ckpt_link_store(k->link);
    struct st_tensor t = { .name = STR("result"), .dtype = ST_U8, .rank = 1, .shape = { k->text.len },
                           .data = (const unsigned char *)k->text.ptr, .size_bytes = k->text.len };
    snprintf(rows, sizeof rows, "%zu", at.rows);
    snprintf(right, sizeof right, "%zu", at.right);
    const struct st_pair pairs[] = { { STR("rows"), str_c(rows) }, { STR("right"), str_c(right) } };
    enum errc rc = ckpt_write(&file, str_c(k->run), (int64_t)at.rows, &t, 1, pairs, 2, &e);
    if (rc == ERR_OK)
        rc = s->save(s->ctx, (int64_t)at.rows, &file, wait, &e);
    if (rc != ERR_OK)
        child_log(k->c, "warning: the rows so far could not be kept: %s", e.msg);
}

void batch_keep_look(struct batch_keep *k, struct batch_kept at)
{
    int64_t now = clock_mono_us(&clock_system);
    if (!k || k->is_over || now < k->due_us)
        return;
    const struct ckpt_store *s = ckpt_link_store(k->link);
    if (!s->is_ready(s->ctx))
        return;
    save(k, at, false);
    k->due_us = now + (int64_t)(k->text.len / MIB) * PACE_US;
}

void batch_keep_last(struct batch_keep *k, struct batch_kept at)
{
    if (k && !k->is_over && at.rows)
        save(k, at, true);
}

void batch_keep_free(struct batch_keep *k)
{
    if (!k)
        return;
    ckpt_link_free(k->link);
    secret_wipe(k->text.ptr, k->text.len);
    buf_release(&k->text);
    free(k);
}

void batch_keep_freep(struct batch_keep **k)
{
    batch_keep_free(*k);
    *k = NULL;
}
