/* SPDX-License-Identifier: Apache-2.0 */
/* search.c - reading a log.
 *
 * One statement per way in: the condition that its index serves stands in the text, so that a prepared plan uses it
 * whatever the values; the other conditions are the same in all and filter what the index gives. Who, what about, what was
 * done and since when are found by pages (bloom.h): those that may have it are looked through, and so is all that is in no
 * page yet, so that an entry is found from the moment it has its number. A page is read again when it is met, so a common
 * word fills a page of results at once, and a rare one costs a look at 1 kB for 256 entries. */
#include "audit/search.h"
#include "audit/bloom.h"
#include "audit/export_int.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"

enum { PAGE_BYTES = 64 << 20, SEARCH_PAGES = 64 };

struct found_row {
    int64_t tseq;
    struct uuid event_id;
    struct bytes leaf, chain, body;
    struct timestamp at;
    struct str action, actor, resource_kind, resource_id, outcome, request_id;
    struct uuid actor_id;
};
SCHEMA_OF(found_row, "An entry of a log", FIELD(found_row, tseq, 0, .doc = "Its number"), FIELD(found_row, event_id, 0, .doc = "The event"),
    FIELD(found_row, leaf, 0, .doc = "Its hash"), FIELD(found_row, chain, 0, .doc = "Chain value"),
    FIELD(found_row, body, 0, .max = 65536, .doc = "Canonical bytes; absent: dropped by retention"), FIELD(found_row, at, 0, .doc = "When"),
    FIELD(found_row, action, 0, .doc = "What was done"), FIELD(found_row, actor, 0, .doc = "Kind of who did it"),
    FIELD(found_row, actor_id, 0, .doc = "Who"), FIELD(found_row, resource_kind, 0, .doc = "Kind of what it was about"),
    FIELD(found_row, resource_id, 0, .doc = "What it was about"), FIELD(found_row, outcome, 0, .doc = "How it ended"),
    FIELD(found_row, request_id, 0, .doc = "Which request"));

#define SEARCH_ROWS "SELECT s.tseq, s.event_id, s.leaf, s.chain, e.body, s.at, s.action, s.actor, s.actor_id, s.resource_kind, s.resource_id,\n" \
  "       s.outcome, s.request_id "
#define SEARCH_BODY "  LEFT JOIN audit_event e ON e.tenant_id = s.tenant_id AND e.event_id = s.event_id\n"
#define SEARCH_WHERE(drive) "AND s.tseq > $2 AND s.tseq <= $3 " drive "\n" \
  "   AND ($4::timestamptz IS NULL OR s.at >= $4) AND ($5::timestamptz IS NULL OR s.at < $5)\n" \
  "   AND ($6::text IS NULL OR s.actor = $6) AND ($7::uuid IS NULL OR s.actor_id = $7)\n" \
  "   AND ($8::text IS NULL OR s.resource_kind = $8 OR s.resource_id = $8) AND ($9::text IS NULL OR s.resource_id = $9)\n" \
  "   AND ($10::text IS NULL OR s.action >= $10 AND s.action < $11) AND ($12::text IS NULL OR s.request_id = $12)\n" \
  "   AND ($13::text IS NULL OR right(s.code, 1) = $13) AND ($14::text[] IS NULL OR s.source = ANY ($14))\n"
#define SEARCH_SQL(drive) SEARCH_ROWS "FROM audit_seq s\n" SEARCH_BODY " WHERE s.tenant_id = $1 " SEARCH_WHERE(drive) \
  " ORDER BY s.tseq LIMIT $15"
#define SEARCH(id, drive) static const struct stmt search_##id = { .name = "audit_search_" #id, .params = "uiittsussssssSi", \
  .row = &found_row_schema, .card = CARD_MANY, .sql = SEARCH_SQL(drive) }
SEARCH(all, "");
SEARCH(request, "AND s.request_id = $12");
SEARCH(refused, "AND right(s.code, 1) <> 'S'");

/* Pages that may have all the words: $6 is the bits of three words. */
struct page_row { int64_t first_tseq, last_tseq; };
SCHEMA_OF(page_row, "A page of a log", FIELD(page_row, first_tseq, 0, .doc = "Its first entry"),
    FIELD(page_row, last_tseq, 0, .doc = "Its last"));
static const struct stmt search_pages = { .name = "audit_search_pages", .params = "uiittIi", .row = &page_row_schema,
  .card = CARD_MANY, .sql =
  "SELECT first_tseq, last_tseq FROM audit_page WHERE tenant_id = $1\n"
  "   AND first_tseq > $2 - 256 AND first_tseq <= $3 AND last_tseq > $2\n"
  "   AND ($4::timestamptz IS NULL OR max_at >= $4) AND ($5::timestamptz IS NULL OR min_at < $5)\n"
  "   AND ($6::bigint[] IS NULL OR bloom IS NULL OR " AUDIT_BLOOM_SQL("bloom", "$6") ")\n"
  " ORDER BY first_tseq LIMIT $7" };
static const struct stmt search_in = { .name = "audit_search_in", .params = "uiittsussssssSiII",
  .row = &found_row_schema, .card = CARD_MANY, .sql =
  SEARCH_ROWS "FROM unnest($16, $17) AS p(first_tseq, last_tseq) CROSS JOIN LATERAL (\n"
  "    SELECT s.tseq, s.event_id, s.leaf, s.chain, s.at, s.action, s.actor, s.actor_id, s.resource_kind, s.resource_id,\n"
  "           s.outcome, s.request_id, s.tenant_id FROM audit_seq s WHERE s.tenant_id = $1 AND s.tseq BETWEEN p.first_tseq AND p.last_tseq\n"
  "   " SEARCH_WHERE("") " ORDER BY s.tseq LIMIT $15) s\n" SEARCH_BODY " ORDER BY s.tseq LIMIT $15" };
struct paged_row { int64_t paged; };
SCHEMA_OF(paged_row, "How far a log is summed up",
    FIELD(paged_row, paged, 0, .doc = "Entries in pages"));
static const struct stmt search_paged = { .name = "audit_search_paged", .params = "u", .row = &paged_row_schema,
  .card = CARD_MAYBE, .sql =
  "SELECT paged FROM audit_log_state WHERE tenant_id = $1" };

struct count_row { int64_t n; };
SCHEMA_OF(count_row, "How many", FIELD(count_row, n, 0, .doc = "Entries"));
static const struct stmt search_count = { .name = "audit_search_count", .params = "uiittsussssssS", .row = &count_row_schema, .card = CARD_ONE, .sql =
  "SELECT count(*) AS n FROM audit_seq s WHERE s.tenant_id = $1 " SEARCH_WHERE("") };

static const struct stmt get = { .name = "audit_get", .params = "uu", .row = &found_row_schema, .card = CARD_ONE, .sql =
  SEARCH_ROWS "FROM audit_seq s\n" SEARCH_BODY " WHERE s.tenant_id = $1 AND s.event_id = $2" };

struct heads_row {
    int64_t size, ts_us;
    struct str key_id;
    struct bytes body, signature;
};
SCHEMA_OF(heads_row, "A signed head", FIELD(heads_row, size, 0, .doc = "Entries"), FIELD(heads_row, ts_us, 0, .doc = "When"),
    FIELD(heads_row, key_id, 0, .doc = "What signed it"), FIELD(heads_row, body, 0, .max = HEAD_BODY_MAX, .doc = "Canonical bytes"),
    FIELD(heads_row, signature, 0, .doc = "Ed25519"));
static const struct stmt heads = { .name = "audit_heads", .params = "uii", .row = &heads_row_schema, .card = CARD_MANY, .sql =
  "SELECT size, ts_us, key_id, body, signature FROM audit_head WHERE tenant_id = $1 AND size > $2 ORDER BY size LIMIT $3" };
struct size_row { int64_t size; };
SCHEMA_OF(size_row, "How far a log is numbered", FIELD(size_row, size, 0, .doc = "Entries"));
static const struct stmt log_size = { .name = "audit_log_size", .params = "u", .row = &size_row_schema, .card = CARD_MAYBE, .sql =
  "SELECT size FROM audit_log_state WHERE tenant_id = $1" };

const struct stmt *const audit_search_stmts[] = { &search_all, &search_request, &search_refused, &search_pages, &search_in,
                                                  &search_paged, &search_count, &get, &heads, &log_size, NULL };

static enum errc row_of(const struct found_row *r, struct audit_row *ret, struct err *e)
{
    if (r->leaf.data.len != MERKLE_HASH || r->chain.data.len != MERKLE_HASH)
        return FAIL(e, DAMAGED, "entry %lld of the audit log is damaged", (long long)r->tseq);
    *ret = (struct audit_row){ .tseq = (uint64_t)r->tseq, .event_id = r->event_id, .body = r->body.data, .at_us = r->at.us,
                                .action = r->action, .actor = r->actor, .actor_id = r->actor_id, .resource_kind = r->resource_kind,
                                .resource_id = r->resource_id, .outcome = r->outcome, .request_id = r->request_id };
    memcpy(ret->leaf.b, r->leaf.data.ptr, MERKLE_HASH);
    memcpy(ret->chain.b, r->chain.data.ptr, MERKLE_HASH);
    return ERR_OK;
}

/* What the filter's words mean as conditions. */
struct words {
    struct uuid actor_id;
    struct str actor, resource_kind, resource_id, action, action_from, action_until;
};

static bool is_id(struct str s)
{
    struct str prefix, rest;
    return str_cut(s, '_', &prefix, &rest) && rest.len == 32;
}

static struct words words_of(struct arena *a, const struct audit_filter *f)
{
    struct words r = { 0 };
    struct str actor = str_c(f->actor), resource = str_c(f->resource), action = str_c(f->action);
    if (actor.len && !uuid_parse(actor, &r.actor_id))
        r.actor = actor;
    if (resource.len)
        *(is_id(resource) ? &r.resource_id : &r.resource_kind) = resource;
    if (action.len) {
        bool is_prefix = action.ptr[action.len - 1] == '.';
        r.action = r.action_from = action;
        /* '/' follows '.', and nothing sorts between a word and the word with \1 behind it. */
        r.action_until = is_prefix ? str_fmt(a, "%.*s/", (int)action.len - 1, action.ptr) : str_fmt(a, "%.*s\1", STR_ARG(action));
    }
    return r;
}

/* The bits of the words that pages are found by; of fewer than three words the first stands for the others. NULL: no word. */
static struct arg bits_of(struct arena *a, const struct words *w)
{
    int64_t *bit = ARENA_ARRAY(a, int64_t, AUDIT_BLOOM_WORDS * AUDIT_WORD_BITS);
    const struct { enum audit_word kind; struct str word; } all[AUDIT_BLOOM_WORDS] = {
        { AUDIT_WORD_RESOURCE, w->resource_id },
        { AUDIT_WORD_ACTOR, uuid_is_nil(w->actor_id) ? (struct str){ 0 } : str_n((const char *)w->actor_id.b, 16) },
        { AUDIT_WORD_ACTION, w->action },
    };
    size_t n = 0;
    for (size_t i = 0; i < AUDIT_BLOOM_WORDS; i++)
        if (all[i].word.ptr)
            audit_word_bits(all[i].kind, all[i].word, bit + AUDIT_WORD_BITS * n++);
    if (!n)
        return A_NULL('I');
    for (; n < AUDIT_BLOOM_WORDS; n++)
        memcpy(bit + AUDIT_WORD_BITS * n, bit, AUDIT_WORD_BITS * sizeof *bit);
    return A_I64S(bit, AUDIT_BLOOM_WORDS * AUDIT_WORD_BITS);
}

/* The way along the numbers, or by an index; NULL: by pages. */
static const struct stmt *way_in(const struct audit_search *q, const struct words *w)
{
    if (q->is_walk)
        return &search_all;
    if (q->request_id.ptr)
        return &search_request;
    if (w->resource_id.ptr || !uuid_is_nil(w->actor_id))
        return NULL;
    if (q->verdict == VERDICT_DENIED || q->verdict == VERDICT_FAILED)
        return &search_refused;
    return w->action.ptr || q->filter.from_us ? NULL : &search_all;
}

static const char *const verdicts[] = { NULL, "S", "D", "F" };
#define SEARCH_ARGS(tenant, q, f, after) \
    A_UUID(tenant), A_I64((int64_t)(after)), A_I64((q)->upto ? (int64_t)(q)->upto : INT64_MAX), A_TIME_US((q)->filter.from_us), \
    A_TIME_US((q)->filter.until_us), A_STR((f).actor), A_UUID_OR_NULL((f).actor_id), A_STR((f).resource_kind), A_STR((f).resource_id), \
    A_STR((f).action_from), A_STR((f).action_until), A_STR((q)->request_id), A_TEXT(verdicts[(q)->verdict]), \
    (q)->sources ? A_STRS((q)->sources, (q)->source_count) : A_NULL('S')

struct found { struct found_row *items; size_t n; };

static void add_found(struct found *to, const struct found *from, size_t limit)
{
    ASSERT(to->n + from->n <= limit);
    for (size_t i = 0; i < from->n; i++)
        to->items[to->n++] = from->items[i];
}

/* Pages that may have what is asked for, some at a time, and what is in them; then the entries that are in no page yet. */
static enum errc search_by_pages(struct work *w, struct uuid tenant, const struct audit_search *q, const struct words *f,
                                 size_t limit, struct found *ret, struct err *e)
{
    struct arg bits = bits_of(w->arena, f);
    struct paged_row paged = { 0 };
    uint64_t at = q->after, end;
    bool found, more = true;
    TRY(db_maybe(w->tx, &search_paged, ARGS(A_UUID(tenant)), &paged, &found, e));
    end = q->upto && q->upto < (uint64_t)paged.paged ? q->upto : (uint64_t)paged.paged;
    while (more && ret->n < limit && at < end) {
        struct { struct page_row *items; size_t n; } p = { 0 };
        struct found rows = { 0 };
        TRY(db_many(w->tx, &search_pages, ARGS(A_UUID(tenant), A_I64((int64_t)at), A_I64((int64_t)end),
                    A_TIME_US(q->filter.from_us), A_TIME_US(q->filter.until_us), bits, A_I64(SEARCH_PAGES)), &p, SEARCH_PAGES, e));
        more = p.n == SEARCH_PAGES;
        if (p.n)
            TRY(db_many(w->tx, &search_in, ARGS(SEARCH_ARGS(tenant, q, *f, q->after), A_I64((int64_t)(limit - ret->n)),
                        A_I64S_OF(p.items, p.n, first_tseq), A_I64S_OF(p.items, p.n, last_tseq)), &rows,
                        limit - ret->n, e));
        add_found(ret, &rows, limit);
        at = p.n ? (uint64_t)p.items[p.n - 1].last_tseq : end;
    }
    if (ret->n < limit) {
        struct found rows = { 0 };
        uint64_t after = q->after > (uint64_t)paged.paged ? q->after : (uint64_t)paged.paged;
        TRY(db_many(w->tx, &search_all, ARGS(SEARCH_ARGS(tenant, q, *f, after), A_I64((int64_t)(limit - ret->n))), &rows,
                    limit - ret->n, e));
        add_found(ret, &rows, limit);
    }
    return ERR_OK;
}

enum errc audit_search(struct work *w, struct uuid tenant, const struct audit_search *q, size_t limit, struct audit_row **ret, size_t *ret_n,
                       struct err *e)
{
    struct found rows = { 0 };
    struct words f = words_of(w->arena, &q->filter);
    const struct stmt *way = way_in(q, &f);
    if (way) {
        TRY(db_many(w->tx, way, ARGS(SEARCH_ARGS(tenant, q, f, q->after), A_I64((int64_t)limit)), &rows, limit, e));
    } else {
        rows.items = ARENA_ARRAY(w->arena, struct found_row, limit + 1);
        TRY(search_by_pages(w, tenant, q, &f, limit, &rows, e));
    }
    struct audit_row *out = ARENA_ARRAY(w->arena, struct audit_row, rows.n + 1);
    for (size_t i = 0; i < rows.n; i++)
        TRY(row_of(&rows.items[i], &out[i], e));
    *ret = out;
    *ret_n = rows.n;
    return ERR_OK;
}

enum errc audit_search_count(struct work *w, struct uuid tenant, const struct audit_search *q, uint64_t *ret, struct err *e)
{
    struct count_row row;
    struct words f = words_of(w->arena, &q->filter);
    TRY(db_one(w->tx, &search_count, ARGS(SEARCH_ARGS(tenant, q, f, q->after)), &row, e));
    *ret = (uint64_t)row.n;
    return ERR_OK;
}

enum errc audit_get(struct work *w, struct uuid tenant, struct uuid event_id, struct audit_row *ret, struct err *e)
{
    struct found_row row;
    TRY(db_one(w->tx, &get, ARGS(A_UUID(tenant), A_UUID(event_id)), &row, e));
    return row_of(&row, ret, e);
}

enum errc audit_heads(struct work *w, struct uuid tenant, uint64_t after, size_t limit, struct audit_head_row **ret, size_t *ret_n, struct err *e)
{
    struct { struct heads_row *items; size_t n; } rows = { 0 };
    TRY(db_many(w->tx, &heads, ARGS(A_UUID(tenant), A_I64((int64_t)after), A_I64((int64_t)limit)), &rows, limit, e));
    struct audit_head_row *out = ARENA_ARRAY(w->arena, struct audit_head_row, rows.n + 1);
    for (size_t i = 0; i < rows.n; i++) {
        const struct heads_row *r = &rows.items[i];
        out[i] = (struct audit_head_row){ r->size, r->ts_us, r->key_id, r->body.data, r->signature.data };
    }
    *ret = out;
    *ret_n = rows.n;
    return ERR_OK;
}

enum errc audit_log_length(struct work *w, struct uuid tenant, uint64_t *ret, struct err *e)
{
    struct size_row row = { 0 };
    bool found;
    TRY(db_maybe(w->tx, &log_size, ARGS(A_UUID(tenant)), &row, &found, e));
    *ret = (uint64_t)row.size;
    return ERR_OK;
}

static enum errc prove(struct work *w, struct uuid tenant, uint64_t size, const struct merkle_range *ranges, size_t n, struct merkle_hash *out,
                       struct err *e)
{
    CLEANUP(arena_freep) struct arena *page = arena_new(PAGE_BYTES);
    struct export x = { w, tenant, page };
    struct size_row row = { 0 };
    struct db_tx *tx;
    bool found;
    TRY(export_begin_page(&x, &tx, e));
    enum errc rc = db_maybe(tx, &log_size, ARGS(A_UUID(tenant)), &row, &found, e);
    db_rollback(tx);
    if (rc != ERR_OK)
        return rc;
    if ((uint64_t)row.size < size)
        return FAIL(e, NOT_FOUND, "The log has %lld entries", (long long)row.size);
    return export_roots(&x, ranges, n, out, e);
}

enum errc audit_prove_inclusion(struct work *w, struct uuid tenant, uint64_t tseq, uint64_t size, struct merkle_hash *out, size_t *ret_n,
                                struct err *e)
{
    struct merkle_range r[MERKLE_PROOF_MAX];
    if (tseq == 0 || tseq > size)
        return FAIL_AT(e, UNPROCESSABLE, "/tseq", "An entry has a number from 1 to the size of the tree");
    *ret_n = (size_t)merkle_inclusion_ranges(tseq - 1, size, r);
    return prove(w, tenant, size, r, *ret_n, out, e);
}

enum errc audit_prove_consistency(struct work *w, struct uuid tenant, uint64_t from, uint64_t to, struct merkle_hash *out, size_t *ret_n,
                                  struct err *e)
{
    struct merkle_range r[MERKLE_PROOF_MAX];
    if (from == 0 || from > to)
        return FAIL_AT(e, UNPROCESSABLE, "/from", "The older tree is not empty and not larger than the newer one");
    *ret_n = (size_t)merkle_consistency_ranges(from, to, r);
    return prove(w, tenant, to, r, *ret_n, out, e);
}
