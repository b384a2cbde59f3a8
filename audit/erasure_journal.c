/* SPDX-License-Identifier: Apache-2.0 */
/* erasure_journal.c - the lines of the journal, written and read. A line that a crash tore is a fault only when the next one does
 * not follow it. */
#include "audit/erasure_journal.h"
#include "audit/lines_int.h"
#include "audit/scan_int.h"
#include "core/base/arena.h"
#include "core/base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { FILE_PATH_MAX = 512, LINE_LEAST = 150 };     /* no line is shorter than LINE_LEAST bytes */
static const char file_name[] = "falaj-erasures.jsonl";

/* What a line says: about a person, or (has_zone) about a tenant's keys in a zone. */
struct entry {
    struct erasure_order order;
    struct shred_order shred;
    struct merkle_hash line;
    size_t number;                  /* of the line: of orders about the same keys the last one counts */
    bool has_zone, is_keep, is_void;
};

enum errc erasure_journal_add(const char *dir, const struct erasure_order *o, uint8_t ret_line[SHA256_BYTES], struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(LINE_CHAIN_MAX);
    buf_add_c(&b, "\"act\":\"erase\",\"tenant\":");
    scan_put_uuid(&b, o->tenant_id);
    buf_add_c(&b, ",\"user\":");
    scan_put_uuid(&b, o->user_id);
    buf_add_c(&b, ",\"by\":");
    scan_put_uuid(&b, o->by);
    buf_printf(&b, ",\"ts_us\":%lld", (long long)o->ts_us);
    return line_chain_append(dir, file_name, buf_str(&b), ret_line, e);
}

enum errc erasure_journal_shred(const char *dir, const struct shred_order *o, uint8_t ret_line[SHA256_BYTES], struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(LINE_CHAIN_MAX);
    buf_add_c(&b, "\"act\":\"shred\",\"tenant\":");
    scan_put_uuid(&b, o->tenant_id);
    buf_printf(&b, ",\"zone\":\"%s\",\"version\":%lld,\"by\":", o->zone, (long long)o->version);
    scan_put_uuid(&b, o->by);
    buf_printf(&b, ",\"ts_us\":%lld", (long long)o->ts_us);
    return line_chain_append(dir, file_name, buf_str(&b), ret_line, e);
}

enum errc erasure_journal_keep(const char *dir, struct uuid tenant_id, struct str zone, int64_t version,
                               uint8_t ret_line[SHA256_BYTES], struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(LINE_CHAIN_MAX);
    buf_add_c(&b, "\"act\":\"keep\",\"tenant\":");
    scan_put_uuid(&b, tenant_id);
    buf_printf(&b, ",\"zone\":\"%.*s\",\"version\":%lld", STR_ARG(zone), (long long)version);
    return line_chain_append(dir, file_name, buf_str(&b), ret_line, e);
}

enum errc erasure_journal_void(const char *dir, const uint8_t line[SHA256_BYTES], struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(LINE_CHAIN_MAX);
    struct merkle_hash of;
    uint8_t own[SHA256_BYTES];
    memcpy(of.b, line, sizeof of.b);
    buf_add_c(&b, "\"act\":\"void\",\"line\":");
    scan_put_hash(&b, &of);
    return line_chain_append(dir, file_name, buf_str(&b), own, e);
}

static bool quoted_uuid(struct str *s, struct uuid *ret)
{
    return scan_lit(s, "\"") && scan_uuid(s, ret) && scan_lit(s, "\"");
}

static bool prev_is(struct str *s, const struct merkle_hash *before)
{
    struct merkle_hash prev;
    return scan_lit(s, ",\"prev\":") && scan_hash(s, &prev) && scan_lit(s, "}") && s->len == 0 && merkle_eq(&prev, before);
}

static bool take_order(struct str s, const struct merkle_hash *before, struct erasure_order *ret, bool *ret_follows)
{
    bool is_one = scan_lit(&s, "{\"v\":1,\"act\":\"erase\",\"tenant\":") && quoted_uuid(&s, &ret->tenant_id) &&
                  scan_lit(&s, ",\"user\":") && quoted_uuid(&s, &ret->user_id) && scan_lit(&s, ",\"by\":") &&
                  quoted_uuid(&s, &ret->by) && scan_lit(&s, ",\"ts_us\":") && scan_i53(&s, &ret->ts_us);
    *ret_follows = is_one && prev_is(&s, before);
    return is_one;
}

static bool take_shred(struct str s, const struct merkle_hash *before, struct shred_order *ret, bool *ret_follows)
{
    uint64_t version = 0;
    bool is_one = scan_lit(&s, "{\"v\":1,\"act\":\"shred\",\"tenant\":") && quoted_uuid(&s, &ret->tenant_id) &&
                  scan_lit(&s, ",\"zone\":") && scan_word(&s, ret->zone, sizeof ret->zone) && scan_lit(&s, ",\"version\":") &&
                  scan_u64(&s, &version) && scan_lit(&s, ",\"by\":") && quoted_uuid(&s, &ret->by) &&
                  scan_lit(&s, ",\"ts_us\":") && scan_i53(&s, &ret->ts_us);
    ret->version = (int64_t)version;
    *ret_follows = is_one && prev_is(&s, before);
    return is_one;
}

static bool take_keep(struct str s, const struct merkle_hash *before, struct shred_order *ret, bool *ret_follows)
{
    uint64_t version = 0;
    bool is_one = scan_lit(&s, "{\"v\":1,\"act\":\"keep\",\"tenant\":") && quoted_uuid(&s, &ret->tenant_id) &&
                  scan_lit(&s, ",\"zone\":") && scan_word(&s, ret->zone, sizeof ret->zone) && scan_lit(&s, ",\"version\":") &&
                  scan_u64(&s, &version);
    ret->version = (int64_t)version;
    *ret_follows = is_one && prev_is(&s, before);
    return is_one;
}

static bool take_void(struct str s, const struct merkle_hash *before, struct merkle_hash *ret, bool *ret_follows)
{
    bool is_one = scan_lit(&s, "{\"v\":1,\"act\":\"void\",\"line\":") && scan_hash(&s, ret);
    *ret_follows = is_one && prev_is(&s, before);
    return is_one;
}

/* A void line stands soon behind the one it means. */
static void make_void(struct entry *entries, size_t n, const struct merkle_hash *line)
{
    for (size_t i = n; i-- > 0;)
        if (merkle_eq(&entries[i].line, line)) {
            entries[i].is_void = true;
            return;
        }
}

static size_t take_lines(struct line_feed *lines, struct entry *entries, size_t cap, struct erasure_orders *ret,
                         enum line_state *ret_end)
{
    struct merkle_hash before = { { 0 } }, meant;
    struct str line;
    size_t n = 0;
    bool follows, was_torn = false;
    while (n < cap && (*ret_end = lines_next(lines, &line)) == LINE_HERE) {
        struct entry *x = &entries[n];
        x->number = ++ret->lines;
        bool is_order = take_order(line, &before, &x->order, &follows);
        bool is_shred = !is_order && take_shred(line, &before, &x->shred, &follows);
        x->is_keep = !is_order && !is_shred && take_keep(line, &before, &x->shred, &follows);
        x->has_zone = is_shred || x->is_keep;
        is_order |= x->has_zone;
        bool is_void = !is_order && take_void(line, &before, &meant, &follows);
        bool is_torn = !is_order && !is_void;
        sha256(line.ptr, line.len, before.b);
        if ((is_torn && was_torn) || (!is_torn && !follows))
            ret->first_fault = ret->faults++ ? ret->first_fault : ret->lines;
        was_torn = is_torn;
        if (is_order)
            entries[n++].line = before;
        else if (is_void)
            make_void(entries, n, &meant);
    }
    return n;
}

static int order_cmp(const void *a, const void *b)
{
    const struct erasure_order *x = a, *y = b;
    int tenant = memcmp(x->tenant_id.b, y->tenant_id.b, sizeof x->tenant_id.b);
    return tenant ? tenant : memcmp(x->user_id.b, y->user_id.b, sizeof x->user_id.b);
}

static int by_person_and_time(const void *a, const void *b)
{
    const struct erasure_order *x = a, *y = b;
    int person = order_cmp(a, b);
    return person ? person : (x->ts_us > y->ts_us) - (x->ts_us < y->ts_us);
}

/* Each person once: the last order that is not void. */
static void keep_living(const struct entry *entries, size_t n, struct arena *a, struct erasure_orders *ret)
{
    ret->items = ARENA_ARRAY(a, struct erasure_order, n + 1);
    for (size_t i = 0; i < n; i++)
        if (!entries[i].is_void && !entries[i].has_zone)
            ret->items[ret->n++] = entries[i].order;
    qsort(ret->items, ret->n, sizeof *ret->items, by_person_and_time);
    size_t kept = 0;
    for (size_t i = 0; i < ret->n; i++) {
        if (kept && order_cmp(&ret->items[kept - 1], &ret->items[i]) == 0)
            kept--;
        ret->items[kept++] = ret->items[i];
    }
    ret->n = kept;
}

static int shred_cmp(const void *a, const void *b)
{
    const struct shred_order *x = a, *y = b;
    int tenant = memcmp(x->tenant_id.b, y->tenant_id.b, sizeof x->tenant_id.b);
    return tenant ? tenant : strcmp(x->zone, y->zone);
}

static int by_keys_and_line(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int keys = shred_cmp(&x->shred, &y->shred);
    return keys ? keys : (x->number > y->number) - (x->number < y->number);
}

/* Each tenant's keys of a zone once: the last order that is not void, unless a version of it was called off later. Moves the
 * entries. */
static void keep_shreds(struct entry *entries, size_t n, struct arena *a, struct erasure_orders *ret)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!entries[i].is_void && entries[i].has_zone)
            entries[kept++] = entries[i];
    qsort(entries, kept, sizeof *entries, by_keys_and_line);
    ret->shreds = ARENA_ARRAY(a, struct shred_order, kept + 1);
    const struct shred_order *order = NULL;
    for (size_t i = 0; i < kept; i++) {
        const struct shred_order *s = &entries[i].shred;
        bool is_last = i + 1 == kept || shred_cmp(s, &entries[i + 1].shred) != 0;
        if (!entries[i].is_keep)
            order = s;
        else if (order && s->version <= order->version)
            order = NULL;
        if (is_last && order)
            ret->shreds[ret->nshreds++] = *order;
        if (is_last)
            order = NULL;
    }
}

static ssize_t read_fd(void *ctx, void *p, size_t n)
{
    return read(*(int *)ctx, p, n);
}

enum errc erasure_journal_read(const char *dir, struct arena *a, struct erasure_orders *ret, struct err *e)
{
    char path[FILE_PATH_MAX];
    struct stat st;
    struct line_feed lines;
    enum line_state end = LINE_END;
    *ret = (struct erasure_orders){ 0 };
    if (snprintf(path, sizeof path, "%s/%s", dir, file_name) >= (int)sizeof path)
        return FAIL(e, INVALID, "audit.erasure_dir is too long");
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT ? ERR_OK : FAIL(e, IO, "%s cannot be opened: %s", file_name, strerror(errno));
    if (fstat(fd, &st) != 0 || st.st_size > ERASURE_JOURNAL_BYTES_MAX)
        return FAIL(e, LIMIT, "%s has more than %d bytes; move it away, and the next start writes it anew from the database",
                    file_name, ERASURE_JOURNAL_BYTES_MAX);
    size_t cap = (size_t)st.st_size / LINE_LEAST + 1;
    struct entry *entries = ARENA_ARRAY(a, struct entry, cap);
    lines_open(&lines, read_fd, &fd);
    size_t n = take_lines(&lines, entries, cap, ret, &end);
    lines_close(&lines);
    if (end == LINE_ERROR || end == LINE_LONG)
        return FAIL(e, IO, "%s cannot be read behind line %zu", file_name, ret->lines);
    keep_living(entries, n, a, ret);
    keep_shreds(entries, n, a, ret);
    return ERR_OK;
}

const struct erasure_order *erasure_orders_find(const struct erasure_orders *o, struct uuid tenant_id, struct uuid user_id)
{
    struct erasure_order want = { .tenant_id = tenant_id, .user_id = user_id };
    return o->n ? bsearch(&want, o->items, o->n, sizeof want, order_cmp) : NULL;
}

const struct shred_order *erasure_shreds_find(const struct erasure_orders *o, struct uuid tenant_id, struct str zone)
{
    struct shred_order want = { .tenant_id = tenant_id };
    if (zone.len >= sizeof want.zone)
        return NULL;
    memcpy(want.zone, zone.ptr, zone.len);
    return o->nshreds ? bsearch(&want, o->shreds, o->nshreds, sizeof want, shred_cmp) : NULL;
}
