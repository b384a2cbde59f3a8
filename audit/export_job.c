/* SPDX-License-Identifier: Apache-2.0 */
/* export_job.c - an export as an object.
 *
 * Resuming makes all bytes again and throws away those that the reader has: reading a log is cheap beside keeping every export, and a
 * reader whose connection breaks often still comes to the end. */
#include "audit/export_job.h"
#include "audit/export_filter_int.h"
#include "audit/export_select_int.h"
#include "audit/format.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"

enum { PAGE_BYTES = 64 << 20, OUT_BYTES = 32 << 20, FILTER_BYTES = 1024 };

SCHEMA_EXTERN(audit_export_job, "An export of the log",
    FIELD_ID(audit_export_job, export_id, "exp", F_ALWAYS, .doc = "The export"),
    FIELD(audit_export_job, format, F_ALWAYS, .doc = "Its format"),
    FIELD(audit_export_job, filter, 0, .doc = "Which events, as the manifest has it; absent: all"),
    FIELD(audit_export_job, proves, 0,
          .doc = "Of a bundle with a filter: completeness (no entry that fits was left out) or inclusion"),
    FIELD(audit_export_job, version, 0, .doc = "Version of the bundle's format"),
    FIELD(audit_export_job, from_tseq, 0, .doc = "First number"), FIELD(audit_export_job, to_tseq, 0, .doc = "Last number"),
    FIELD(audit_export_job, prev_size, 0, .doc = "Size of the head of the export before, whose extension is proven; 0: none"),
    FIELD(audit_export_job, head_size, 0, .doc = "Size of the signed head that it is proven against"),
    FIELD_ID(audit_export_job, since_export, "exp", 0, .doc = "The export that it goes on from"),
    FIELD(audit_export_job, key_id, 0, .doc = "Key of the heads"), FIELD(audit_export_job, public_key, 0, .max = 64, .doc = "The same, base64"),
    FIELD(audit_export_job, created_us, 0, .doc = "When, as the manifest has it"),
    FIELD_ID(audit_export_job, created_by, "usr", 0, .doc = "Who asked for it"),
    FIELD(audit_export_job, size_bytes, 0, .doc = "Length of the content; 0 until the first whole download"),
    FIELD(audit_export_job, sha256, 0, .max = 32, .doc = "SHA-256 of the content, base64; absent until then"),
    FIELD(audit_export_job, created_at, F_ALWAYS, .doc = "When"));

#define JOB_COLUMNS "export_id, format, filter, proves, version,\n" \
  "       from_tseq, to_tseq, prev_size, head_size, since_export, key_id, public_key, created_us, created_by,\n" \
  "       coalesce(size_bytes, 0) AS size_bytes, sha256, created_at"
static const struct stmt insert = { .name = "audit_export_insert", .params = "uussiiiiusyiusi", .row = &audit_export_job_schema,
                                    .card = CARD_ONE, .sql =
  "INSERT INTO audit_export (tenant_id, export_id, format, filter, from_tseq, to_tseq, prev_size, head_size, since_export, key_id, public_key,\n"
  "                          created_us, created_by, proves, version)\n"
  "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) RETURNING " JOB_COLUMNS };
static const struct stmt get = { .name = "audit_export_get", .params = "uu", .row = &audit_export_job_schema, .card = CARD_ONE, .sql =
  "SELECT " JOB_COLUMNS " FROM audit_export WHERE tenant_id = $1 AND export_id = $2" };
static const struct stmt list = { .name = "audit_export_list", .params = "uui", .row = &audit_export_job_schema, .card = CARD_MANY, .sql =
  "SELECT " JOB_COLUMNS " FROM audit_export WHERE tenant_id = $1 AND ($2::uuid IS NULL OR export_id < $2) ORDER BY export_id DESC LIMIT $3" };
static const struct stmt measured = { .name = "audit_export_measured", .params = "uuiy", .card = CARD_NONE, .sql =
  "UPDATE audit_export SET size_bytes = $3, sha256 = $4 WHERE tenant_id = $1 AND export_id = $2" };

const struct stmt *const audit_export_job_stmts[] = { &insert, &get, &list, &measured, &export_opened_stmt, NULL };

static struct str filter_text(struct arena *a, const struct audit_filter *f)
{
    CLEANUP(buf_releasep) struct buf b = BUF(FILTER_BYTES);
    if (audit_filter_is_empty(f))
        return STR_NULL;
    ASSERT(audit_filter_encode(f, &b));
    return str_dup(a, buf_str(&b));
}

/* What the export can prove, and from which entry on. */
static enum errc choose_proof(struct work *w, const struct audit_export_ask *ask, int64_t last, struct audit_export_job *job,
                              struct err *e)
{
    struct log_opened opened;
    TRY(export_opened(w->tx, w->tenant_id, &opened, e));
    job->version = opened.opened_to ? 2 : 1;
    job->proves = STR_NULL;
    if (audit_filter_is_empty(&ask->filter) || !str_eq_c(ask->format, "jsonl"))
        return ask->proves == ASK_BEST ? ERR_OK : FAIL_AT(e, UNPROCESSABLE, "/proves",
                                                          "Only a jsonl export with a filter has a choice "
                                                          "of what it proves; without a filter every entry is there");
    bool is_open = opened.opened_to >= last && opened.opened_from <= job->from_tseq;
    bool is_complete = ask->proves == ASK_COMPLETENESS || (ask->proves == ASK_BEST && is_open);
    job->proves = is_complete ? STR("completeness") : STR("inclusion");
    if (ask->proves != ASK_COMPLETENESS || is_open)
        return ERR_OK;
    if (opened.opened_to < last || opened.opened_from > last)
        return FAIL(e, CONFLICT,
                    "Completeness cannot be proven yet: the last of the %lld entries was numbered by an older version",
                    (long long)last);
    job->from_tseq = opened.opened_from;
    return ERR_OK;
}

enum errc audit_export_job_create(struct work *w, const struct audit_export_ask *ask, struct uuid by, struct audit_export_job *ret, struct err *e)
{
    struct audit_export_job form = { 0 };
    struct audit_export_job since = { 0 };
    struct audit_head head;
    struct str body;
    uint8_t sig[AUDIT_SIG];
    if (!audit_filter_is_valid(&ask->filter))
        return FAIL(e, UNPROCESSABLE, "The filter's time is empty, or a word of it has characters that no event has");
    if (!uuid_is_nil(ask->since_export))
        TRY(audit_export_job_get(w, ask->since_export, &since, e));
    TRY(audit_newest_head(w, w->tenant_id, &head, &body, sig, e));
    if ((int64_t)head.size <= since.head_size)
        return FAIL(e, NOT_FOUND, "There is nothing new since that export");
    form.from_tseq = since.head_size + 1;
    TRY(choose_proof(w, ask, (int64_t)head.size, &form, e));
    return db_one(w->tx, &insert,
                  ARGS(A_UUID(w->tenant_id), A_UUID(uuid_v7(w->now_us)), A_STR(ask->format), A_STR(filter_text(w->arena, &ask->filter)),
                       A_I64(form.from_tseq), A_I64((int64_t)head.size), A_I64(since.head_size), A_I64((int64_t)head.size),
                       A_UUID_OR_NULL(ask->since_export), ask->key ? A_TEXT(ask->key->key_id) : A_NULL('s'),
                       ask->key ? A_BYTES(ask->key->pub, AUDIT_PUB) : A_NULL('y'), A_I64(w->now_us), A_UUID(by),
                       form.proves.ptr ? A_STR(form.proves) : A_NULL('s'), A_I64(form.version)), ret, e);
}

enum errc audit_export_job_get(struct work *w, struct uuid export_id, struct audit_export_job *ret, struct err *e)
{
    return db_one(w->tx, &get, ARGS(A_UUID(w->tenant_id), A_UUID(export_id)), ret, e);
}

enum errc audit_export_job_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &list, ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(position), A_I64(limit)), ret, (size_t)limit, e);
}

enum errc audit_export_job_measured(struct work *w, struct uuid export_id, const struct audit_export_sum *sum, struct err *e)
{
    return db_exec(w->tx, &measured, ARGS(A_UUID(w->tenant_id), A_UUID(export_id), A_I64(sum->size_bytes), A_BYTES(sum->sha256, 32)), NULL, e);
}

/* The window of the whole that the reader wants. */
struct window {
    int64_t at, skip, end;
    struct sha256 sum;
    audit_sink_fn sink;
    void *ctx;
};

static enum errc window_sink(void *ctx, const void *p, size_t n, struct err *e)
{
    struct window *v = ctx;
    int64_t from = v->at, to = v->at + (int64_t)n;
    sha256_add(&v->sum, p, n);
    v->at = to;
    if (from < v->skip)
        from = v->skip;
    if (v->end >= 0 && to > v->end)
        to = v->end;
    return from < to ? v->sink(v->ctx, (const char *)p + (from - (v->at - (int64_t)n)), (size_t)(to - from), e) : ERR_OK;
}

struct run {
    struct work *w;
    const struct audit_export_job *job;
    struct audit_filter filter;
    struct audit_key key;
    struct window window;
    struct arena *page;
};

static enum errc run_bundle(struct run *r, struct err *e)
{
    const struct audit_export_job *j = r->job;
    struct audit_export_opts o = { .tenant_id = r->w->tenant_id, .from = (uint64_t)j->from_tseq, .to = (uint64_t)j->to_tseq,
                                   .head_size = (uint64_t)j->head_size, .created_us = j->created_us, .prev_size = (uint64_t)j->prev_size,
                                   .keys = &r->key, .key_count = r->key.key_id[0] != 0, .sink = window_sink, .sink_ctx = &r->window };
    struct audit_export_result result;
    o.version = (int)j->version;
    o.proves = str_eq_c(j->proves, "completeness") ? AUDIT_PROVES_COMPLETENESS : AUDIT_PROVES_INCLUSION;
    if (!audit_filter_is_empty(&r->filter))
        o.filter = &r->filter;
    return audit_export(r->w, &o, &result, e);
}

static enum errc pass_on(struct run *r, struct buf *b, bool ok, struct err *e)
{
    if (!ok)
        return FAIL(e, DAMAGED, "an event of the audit log cannot be rendered");
    enum errc rc = b->len ? window_sink(&r->window, b->ptr, b->len, e) : ERR_OK;
    buf_clear(b);
    return rc;
}

static enum errc run_format(struct run *r, const struct audit_format *format, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(OUT_BYTES);
    struct audit_format_run *f = ARENA_NEW(r->w->arena, struct audit_format_run);
    struct audit_format_opts o = { .tenant_id = r->w->tenant_id, .created_us = r->job->created_us, .keys = &r->key,
                                   .filter = &r->filter, .key_count = r->key.key_id[0] != 0 };
    struct export x = { r->w, r->w->tenant_id, r->page };
    uint64_t to = (uint64_t)r->job->to_tseq, after = (uint64_t)r->job->from_tseq - 1;
    TRY(pass_on(r, &b, audit_format_begin(f, format, &o, &b), e));
    while (after < to) {
        struct audit_row *rows;
        size_t got;
        bool ok = true;
        TRY(export_select_page(&x, &r->filter, to, &after, &rows, &got, e));
        for (size_t i = 0; i < got && ok; i++) {
            struct audit_entry entry = { rows[i].tseq, rows[i].leaf, rows[i].body };
            ok = audit_format_entry(f, &entry, &b);
        }
        TRY(pass_on(r, &b, ok, e));
    }
    return pass_on(r, &b, audit_format_end(f, &b), e);
}

enum errc audit_export_job_run(struct work *w, const struct audit_export_job *job, int64_t skip, int64_t end, audit_sink_fn sink, void *ctx,
                               struct audit_export_sum *ret, struct err *e)
{
    CLEANUP(arena_freep) struct arena *page = arena_new(PAGE_BYTES);
    struct run r = { .w = w, .job = job, .window = { .skip = skip, .end = end, .sink = sink, .ctx = ctx }, .page = page };
    const struct audit_format *format = str_eq_c(job->format, "jsonl") ? NULL : audit_format_find(job->format);
    struct str text = job->filter;
    ASSERT(w->tx == NULL);
    if (text.ptr && !audit_filter_scan(&text, &r.filter))
        return FAIL(e, DAMAGED, "the stored filter of an export cannot be read");
    if (!format && !str_eq_c(job->format, "jsonl"))
        return FAIL(e, DAMAGED, "the stored format of an export is unknown");
    if (job->key_id.len && job->key_id.len < AUDIT_KEY_ID && job->public_key.data.len == AUDIT_PUB) {
        memcpy(r.key.key_id, job->key_id.ptr, job->key_id.len);
        memcpy(r.key.pub, job->public_key.data.ptr, AUDIT_PUB);
    }
    sha256_init(&r.window.sum);
    enum errc rc = format ? run_format(&r, format, e) : run_bundle(&r, e);
    if (rc != ERR_OK) {
        sha256_release(&r.window.sum);
        return rc;
    }
    ret->size_bytes = r.window.at;
    sha256_final(&r.window.sum, ret->sha256);
    return ERR_OK;
}
