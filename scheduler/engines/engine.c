/* SPDX-License-Identifier: Apache-2.0 */
/* engine.c - what all engines have in common: names, the digest of what was sent, and what differs from it. */
#include "scheduler/engines/engine.h"
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"
#include "core/json/jsonlist.h"

#include <stdio.h>
#include <string.h>

const char *const engine_state_names[] = {
    [ENGINE_WAITS] = "WAITS", [ENGINE_RUNS] = "RUNS", [ENGINE_LEAVES] = "LEAVES", [ENGINE_DONE] = "DONE",
    [ENGINE_FAILED] = "FAILED", [ENGINE_CANCELLED] = "CANCELLED", [ENGINE_TIMEOUT] = "TIMEOUT",
    [ENGINE_PREEMPTED] = "PREEMPTED", [ENGINE_LOST] = "LOST", [ENGINE_STRANGE] = "STRANGE", NULL };

static const struct engine_door *const doors[] = { &engine_slurm, &engine_kube };

const struct engine_door *engine_door_of(struct str kind)
{
    for (size_t i = 0; i < sizeof doors / sizeof *doors; i++)
        if (str_eq_c(kind, doors[i]->kind))
            return doors[i];
    return NULL;
}

/* Of what is sent and a few answers of ENGINE_ONE_MAX; their values are the heap's, until the arena ends. */
static const size_t ONE_ARENA = (size_t)16 << 20;

enum errc engine_submit(const struct engine_door *door, const struct engine_call *c, const struct engine_ask *ask,
                        struct str *ret_id, struct err *e)
{
    CLEANUP(arena_freep) struct arena *own = arena_new(ONE_ARENA);
    struct engine_call mine = *c;
    struct str id = STR("");
    mine.arena = own;
    TRY(door->submit(&mine, ask, &id, e));
    *ret_id = str_dup(c->arena, id);
    return ERR_OK;
}

enum errc engine_cancel(const struct engine_door *door, const struct engine_call *c, struct str id, struct err *e)
{
    CLEANUP(arena_freep) struct arena *own = arena_new(ONE_ARENA);
    struct engine_call mine = *c;
    mine.arena = own;
    return door->cancel(&mine, id, e);
}

void engine_name(struct uuid run_id, int64_t tries, char ret[ENGINE_NAME_TEXT])
{
    char hex[UUID_HEX];
    hex_encode(run_id.b, sizeof run_id.b, hex);
    snprintf(ret, ENGINE_NAME_TEXT, ENGINE_PREFIX "%s-%lld", hex, (long long)tries);
}

bool engine_name_read(struct str name, struct uuid *ret_run, int64_t *ret_tries)
{
    const size_t prefix = sizeof ENGINE_PREFIX - 1;
    struct str hex, tries;
    return str_starts(name, ENGINE_PREFIX) && str_cut(str_n(name.ptr + prefix, name.len - prefix), '-', &hex, &tries)
           && hex_decode(hex, ret_run->b, sizeof ret_run->b) && str_to_i64(tries, 1, INT32_MAX, ret_tries);
}

enum errc engine_parse(struct arena *a, struct str body, const char *who, const struct jval **ret, struct err *e)
{
    *ret = NULL;
    if (body.len > ENGINE_ONE_MAX || json_values_most(body) > ENGINE_VALUES_MAX)
        return FAIL(e, UPSTREAM, "%s answered with more than %d bytes or %d values", who, ENGINE_ONE_MAX, ENGINE_VALUES_MAX);
    if (jval_parse(a, body, 0, ret, NULL) != ERR_OK || jval_type(*ret) != JT_OBJECT) {
        *ret = NULL;
        return FAIL(e, UPSTREAM, "%s answered without a JSON object", who);
    }
    return ERR_OK;
}

enum errc engine_list_open(struct arena *a, struct str body, const char *who, const char *name, struct jlist *ret,
                           const struct jval **ret_rest, struct err *e)
{
    struct err why = { 0 };
    *ret_rest = NULL;
    if (jlist_open(a, body, name, ENGINE_ONE_MAX, ENGINE_VALUES_MAX, ret, ret_rest, &why) != ERR_OK
        || jval_type(*ret_rest) != JT_OBJECT)
        return FAIL(e, UPSTREAM, "%s answered without a list that can be read: %s", who, why.code ? why.msg : "no JSON object");
    return ERR_OK;
}

static enum errc of_list(enum errc rc, const char *who, const struct err *why, struct err *e)
{
    return rc == ERR_OK ? ERR_OK : FAIL(e, UPSTREAM, "%s answered without a list that can be read: %s", who, why->msg);
}

enum errc engine_list_next(struct jlist *l, struct arena *own, const char *who, const struct jval **ret, struct err *e)
{
    struct err why = { 0 };
    arena_reset(own);
    const enum errc rc = jlist_next(l, own, ret, &why);
    return of_list(rc, who, &why, e);
}

enum errc engine_list_next_of(struct jlist *l, struct arena *own, const char *who, const char *name, const struct jval **ret,
                              bool *is_large, struct err *e)
{
    struct err why = { 0 };
    const char *const names[] = { name, NULL };
    arena_reset(own);
    enum errc rc = jlist_next(l, own, ret, &why);
    *is_large = rc == ERR_TOO_LARGE;
    if (*is_large && jlist_narrow(l, own, names, ENGINE_MEMBER_MAX, ret, NULL) == ERR_OK)
        rc = ERR_OK;
    return of_list(rc, who, &why, e);
}

enum errc engine_list_narrow(const struct jlist *l, struct arena *own, const char *who, const char *const *names,
                             const struct jval **ret, struct err *e)
{
    struct err why = { 0 };
    const enum errc rc = jlist_narrow(l, own, names, ENGINE_MEMBER_MAX, ret, &why);
    return of_list(rc, who, &why, e);
}

void engine_seen_room(struct arena *a, struct engine_seen **rows, size_t n)
{
    if (n & (n - 1))
        return;
    struct engine_seen *more = ARENA_ARRAY(a, struct engine_seen, n ? 2 * n : 1);
    if (n)
        memcpy(more, *rows, n * sizeof *more);
    *rows = more;
}

/* Each part with its length, so that no two asks have one text. */
static void add(struct sha256 *h, struct str s)
{
    char length[24];
    const int n = snprintf(length, sizeof length, "%zu:", s.len);
    sha256_add(h, length, (size_t)n);
    sha256_add(h, s.ptr ? s.ptr : "", s.len);
}

struct str engine_digest(struct arena *a, const struct engine_ask *ask)
{
    CLEANUP(sha256_release) struct sha256 h = { 0 };
    uint8_t sum[SHA256_BYTES];
    char hex[2 * SHA256_BYTES + 1];
    sha256_init(&h);
    add(&h, ask->name);
    add(&h, ask->script);
    add(&h, ask->place);
    add(&h, ask->folder);
    for (size_t i = 0; i < ask->nvariables; i++)
        add(&h, str_c(ask->variables[i].name));
    add(&h, str_fmt(a, "%lld %lld %lld %lld %lld", (long long)ask->machines, (long long)ask->cpus, (long long)ask->memory_bytes,
                    (long long)ask->gpus, (long long)ask->minutes));
    if (ask->image.len) {               /* others' digests are as the release before made them */
        add(&h, ask->image);
        add(&h, ask->selector);
        add(&h, ask->tolerations);
    }
    sha256_final(&h, sum);
    hex_encode(sum, sizeof sum, hex);
    return str_fmt(a, "falaj %s", hex);
}

const char *engine_differs(const struct engine_ask *ask, const struct engine_seen *seen, struct str account)
{
    if (!str_eq(seen->name, ask->name))
        return "name";
    if (!str_eq(seen->comment, ask->comment))
        return "comment";
    if (account.len && seen->account.len && !str_eq(seen->account, account))
        return "account";
    if (ask->place.len && !str_eq(seen->place, ask->place))
        return "place";
    if (seen->minutes && seen->minutes < ask->minutes)
        return "time limit";
    if (seen->machines && seen->machines != ask->machines)
        return "machines";
    if (seen->cpus && seen->cpus < ask->cpus * ask->machines)
        return "processors";
    if (seen->memory_bytes && ask->memory_bytes && seen->memory_bytes < ask->memory_bytes)
        return "memory";
    return NULL;
}

static struct str cleaned(struct arena *a, struct str text, const char *marks, size_t most)
{
    char *out = arena_alloc(a, most + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.len && n < most; i++) {
        const char c = text.ptr[i];
        const bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
                             || (c && strchr(marks, c));
        if (is_word)
            out[n++] = c;
    }
    out[n] = '\0';
    return str_n(out, n);
}

struct str engine_word(struct arena *a, struct str text)
{
    return cleaned(a, text, "_.,()-/ ", ENGINE_WORD_MAX);
}

struct str engine_words(struct arena *a, struct str text)
{
    return cleaned(a, text, "_.,()-/ :=", ENGINE_SAYS_MAX);
}

static bool is_loopback(struct str host)
{
    return str_eq_c(host, "localhost") || str_eq_c(host, "127.0.0.1") || str_eq_c(host, "[::1]");
}

/* HOST[:PORT] and nothing that a URL could go on with: another host behind an @ above all. */
static bool is_place(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.ptr[i] <= ' ' || (unsigned char)s.ptr[i] >= 127 || strchr("/@?#\\", s.ptr[i]))
            return false;
    return s.len > 0;
}

bool engine_address_check(struct str s, const char **why)
{
    struct str host, rest;
    if (str_starts(s, "unix:/") && s.len > 6 && s.len < 100)
        return true;
    *why = "be https://HOST[:PORT], http:// to a loopback address, or unix:/PATH";
    if (str_starts(s, "https://"))
        return is_place(str_n(s.ptr + 8, s.len - 8));
    if (!str_starts(s, "http://"))
        return false;
    host = rest = str_n(s.ptr + 7, s.len - 7);
    if (str_starts(rest, "[::1]"))
        host = str_n(rest.ptr, 5);
    else
        (void)str_cut(rest, ':', &host, &rest);
    return is_loopback(host) && is_place(str_n(s.ptr + 7, s.len - 7));
}
