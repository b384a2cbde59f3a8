/* SPDX-License-Identifier: Apache-2.0 */
/* dial.c - Sentinels name one place; a list has several, of which one is a master. Either way ROLE decides, since a Sentinel
 * that was cut off says what was true before. */
#include "core/redis/dial_int.h"
#include "core/base/assert.h"
#include "core/base/clock.h"
#include "core/redis/sentinel_int.h"

#include <stdlib.h>
#include <string.h>

enum { ASK_AGAIN_US = 2000000 };

struct redis_route {
    const struct redis_address *address;
    struct sentinel_watch watch;
    int64_t ask_at_us;              /* not before: the Sentinels, again */
};

static char *copy(const char *text)
{
    return text && *text ? str_dup_heap(str_c(text)) : NULL;
}

void redis_address_set(struct redis_address *a, const struct redis_opts *o)
{
    *a = (struct redis_address){ .address = copy(o->address), .master = copy(o->master), .user = copy(o->user),
        .password = copy(o->password), .password_file = copy(o->password_file), .sentinel_user = copy(o->sentinel_user),
        .sentinel_password_file = copy(o->sentinel_password_file), .ca_file = copy(o->ca_file), .cert_file = copy(o->cert_file),
        .key_file = copy(o->key_file), .has_tls = o->has_tls, .timeout_ms = o->timeout_ms > 0 ? o->timeout_ms : 1000 };
}

void redis_address_release(struct redis_address *a)
{
    char *all[] = { a->address, a->master, a->user, a->password, a->password_file, a->sentinel_user, a->sentinel_password_file,
                    a->ca_file, a->cert_file, a->key_file };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

struct redis_route *redis_route_new(const struct redis_address *a)
{
    struct redis_route *r = calloc(1, sizeof *r);
    ASSERT(r);
    r->address = a;
    return r;
}

void redis_route_free(struct redis_route *r)
{
    if (!r)
        return;
    sentinel_leave(&r->watch);
    free(r);
}

bool redis_route_is_tcp(const struct redis_route *r)
{
    return !str_starts(str_c(r->address->address), "unix:");
}

/* At most 120 bytes of it, for messages too. */
static struct str element(const redisReply *r, size_t i)
{
    if (i >= r->elements || r->element[i]->type != REDIS_REPLY_STRING)
        return STR("?");
    return str_n(r->element[i]->str, r->element[i]->len < 120 ? r->element[i]->len : 120);
}

static enum errc read_role(const redisReply *r, struct err *e)
{
    if (r->type == REDIS_REPLY_ERROR)
        return FAIL(e, FORBIDDEN, "ROLE was refused (its user needs +role): %.120s", r->str);
    if (r->type != REDIS_REPLY_ARRAY)
        return FAIL(e, UPSTREAM, "ROLE got an answer of another type");
    if (str_eq_c(element(r, 0), "master"))
        return ERR_OK;
    if (!str_eq_c(element(r, 0), "slave"))
        return FAIL(e, FORBIDDEN, "it is no Redis with data but a %.*s", STR_ARG(element(r, 0)));
    return FAIL(e, FORBIDDEN, "it is a replica of %.*s", STR_ARG(element(r, 1)));
}

enum errc redis_ask_role(struct redis_link *l, struct err *e)
{
    redisReply *r;
    redis_link_add(l, (const struct str[]){ STR("ROLE") }, 1);
    TRY(redis_link_reply(l, &r, e));
    enum errc rc = read_role(r, e);
    freeReplyObject(r);
    return rc;
}

/* A server that wants a password says so here. */
static enum errc ping(struct redis_link *l, struct err *e)
{
    redisReply *r;
    redis_link_add(l, (const struct str[]){ STR("PING") }, 1);
    TRY(redis_link_reply(l, &r, e));
    enum errc rc = r->type == REDIS_REPLY_STATUS ? ERR_OK
                 : FAIL(e, FORBIDDEN, "PING was refused: %.150s", r->type == REDIS_REPLY_ERROR ? r->str : "another type");
    freeReplyObject(r);
    return rc;
}

static enum errc enter(struct redis_route *r, struct str place, struct redis_link **ret, struct err *e)
{
    const struct redis_address *a = r->address;
    struct redis_link *l;
    TRY(redis_link_open(a, place, &l, e));
    enum errc rc = redis_login(l, a->user, a->password, a->password_file, e);
    if (rc == ERR_OK)
        rc = ping(l, e);
    if (rc == ERR_OK && redis_route_is_tcp(r))
        rc = redis_ask_role(l, e);
    if (rc != ERR_OK) {
        redis_link_free(l);
        return rc;
    }
    *ret = l;
    return ERR_OK;
}

static enum errc enter_named(struct redis_route *r, struct str place, struct redis_link **ret, struct err *e)
{
    struct err why = { 0 };
    if (enter(r, place, ret, &why) == ERR_OK)
        return ERR_OK;
    (void)err_set(e, why.code, why.file, why.line, "%.*s: %.160s", (int)(place.len < 80 ? place.len : 80), place.ptr, why.msg);
    return err_note(e, "%s", why.detail);
}

enum errc redis_dial(struct redis_route *r, struct redis_link **ret, struct err *e)
{
    struct str list = str_c(r->address->address), place;
    err_clear(e);
    if (r->address->master) {
        r->ask_at_us = clock_mono_us(&clock_system) + ASK_AGAIN_US;
        TRY(sentinel_find(r->address, &r->watch, e));
        return enter_named(r, str_c(r->watch.master), ret, e);
    }
    while (!atomic_load(&r->address->is_ending) && redis_place_next(&list, &place))
        if (enter_named(r, place, ret, e) == ERR_OK)
            return ERR_OK;
    return e->code != ERR_OK ? e->code : FAIL(e, UNAVAILABLE, "no Redis was asked");
}

bool redis_route_moved(struct redis_route *r)
{
    const enum sentinel_news news = r->address->master ? sentinel_hear(r->address, &r->watch) : SENTINEL_QUIET;
    const int64_t now = clock_mono_us(&clock_system);
    char before[REDIS_PLACE_MAX];
    struct err e = { 0 };
    if (news == SENTINEL_QUIET)
        return false;
    if (news == SENTINEL_LOST && now < r->ask_at_us) {
        sentinel_leave(&r->watch);
        return false;
    }
    r->ask_at_us = now + ASK_AGAIN_US;
    memcpy(before, r->watch.master, sizeof before);
    /* Without any Sentinel the master that is known goes on. One that has not heard of the switch yet is heard from here on. */
    return sentinel_find(r->address, &r->watch, &e) == ERR_OK && strcmp(before, r->watch.master) != 0;
}

int redis_route_fd(const struct redis_route *r)
{
    return r->watch.link ? redis_link_fd(r->watch.link) : -1;
}
