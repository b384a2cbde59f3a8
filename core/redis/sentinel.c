/* SPDX-License-Identifier: Apache-2.0 */
/* sentinel.c - a connection that is subscribed takes no questions, so each Sentinel is asked on a second one, and only after the
 * subscription stands: a switch between the two is then heard. */
#include "core/redis/sentinel_int.h"
#include "core/base/clock.h"
#include "core/base/text_file.h"
#include "core/crypto/secmem.h"

#include <stdio.h>
#include <string.h>

enum { QUIET_US = 5000000 };        /* then PING is asked on the subscription */

static bool is_text(const redisReply *r, const char *text)
{
    return (r->type == REDIS_REPLY_STRING || r->type == REDIS_REPLY_STATUS) && str_eq_c(str_n(r->str, r->len), text);
}

/* An answer other than the wanted one, in the server's words; secrets are in no answer. */
static enum errc wrong(const redisReply *r, const char *what, struct err *e)
{
    if (r->type == REDIS_REPLY_ERROR)
        return FAIL(e, FORBIDDEN, "%s: %.150s", what, r->str);
    return FAIL(e, UPSTREAM, "%s: an answer of another type", what);
}

enum errc redis_login(struct redis_link *l, const char *user, const char *password, const char *password_file, struct err *e)
{
    char line[REDIS_PASSWORD_MAX];
    redisReply *r;
    if (!password && !password_file)
        return ERR_OK;
    if (!password) {
        TRY(text_file_line(password_file, line, sizeof line, e));
        password = line;
    }
    const struct str argv[] = { STR("AUTH"), str_c(user), str_c(password) };
    if (user)
        redis_link_add(l, argv, 3);
    else
        redis_link_add(l, (const struct str[]){ argv[0], argv[2] }, 2);
    secret_wipe(line, sizeof line);
    TRY(redis_link_reply(l, &r, e));
    /* Of the words the first alone: a server that does not know AUTH repeats what it was given. */
    const int first = r->type == REDIS_REPLY_ERROR ? (int)strcspn(r->str, " ") : 0;
    enum errc rc = r->type == REDIS_REPLY_STATUS ? ERR_OK : FAIL(e, FORBIDDEN, "AUTH was refused (%.*s)", first, r->str);
    freeReplyObject(r);
    return rc;
}

static enum errc open_one(const struct redis_address *a, struct str place, struct redis_link **ret, struct err *e)
{
    struct redis_link *l;
    TRY(redis_link_open(a, place, &l, e));
    if (redis_login(l, a->sentinel_user, NULL, a->sentinel_password_file, e) != ERR_OK) {
        redis_link_free(l);
        return e->code;
    }
    *ret = l;
    return ERR_OK;
}

static enum errc subscribe(struct redis_link *l, struct err *e)
{
    redisReply *r;
    redis_link_add(l, (const struct str[]){ STR("SUBSCRIBE"), STR("+switch-master") }, 2);
    TRY(redis_link_reply(l, &r, e));
    enum errc rc = r->type == REDIS_REPLY_ARRAY ? ERR_OK : wrong(r, "no Sentinel", e);
    freeReplyObject(r);
    return rc;
}

static enum errc read_master(const redisReply *r, const char *name, char ret[REDIS_PLACE_MAX], struct err *e)
{
    struct redis_place p;
    if (r->type == REDIS_REPLY_NIL || (r->type == REDIS_REPLY_ARRAY && r->elements == 0))
        return FAIL(e, UNAVAILABLE, "it knows no master '%.80s'", name);
    if (r->type != REDIS_REPLY_ARRAY || r->elements != 2 || r->element[0]->type != REDIS_REPLY_STRING
        || r->element[1]->type != REDIS_REPLY_STRING)
        return wrong(r, "no Sentinel", e);
    const bool is_v6 = strchr(r->element[0]->str, ':') != NULL;
    snprintf(ret, REDIS_PLACE_MAX, is_v6 ? "[%.255s]:%.7s" : "%.255s:%.7s", r->element[0]->str, r->element[1]->str);
    return redis_place_read(str_c(ret), &p, e);
}

static enum errc ask(struct redis_link *l, const char *name, char ret[REDIS_PLACE_MAX], struct err *e)
{
    redisReply *r;
    redis_link_add(l, (const struct str[]){ STR("SENTINEL"), STR("get-master-addr-by-name"), str_c(name) }, 3);
    TRY(redis_link_reply(l, &r, e));
    enum errc rc = read_master(r, name, ret, e);
    freeReplyObject(r);
    return rc;
}

/* Subscription and answer of one Sentinel. */
static enum errc consult(const struct redis_address *a, struct str place, struct sentinel_watch *w, struct err *e)
{
    struct redis_link *watch, *question = NULL;
    char master[REDIS_PLACE_MAX];
    TRY(open_one(a, place, &watch, e));
    enum errc rc = subscribe(watch, e);
    if (rc == ERR_OK)
        rc = open_one(a, place, &question, e);
    if (rc == ERR_OK)
        rc = ask(question, a->master, master, e);
    redis_link_free(question);
    if (rc != ERR_OK) {
        redis_link_free(watch);
        return rc;
    }
    memcpy(w->master, master, sizeof master);
    w->link = watch;
    w->heard_us = clock_mono_us(&clock_system);
    w->asked_us = 0;
    return ERR_OK;
}

enum errc sentinel_find(const struct redis_address *a, struct sentinel_watch *w, struct err *e)
{
    struct str list = str_c(a->address), place;
    struct err why = { .msg = "the list is empty" };
    sentinel_leave(w);
    while (!atomic_load(&a->is_ending) && redis_place_next(&list, &place)) {
        if (consult(a, place, w, &why) == ERR_OK)
            return ERR_OK;
        (void)FAIL(e, UNAVAILABLE, "no Sentinel told where the master is; the last one, %.*s: %.140s",
                   (int)(place.len < 80 ? place.len : 80), place.ptr, why.msg);
        (void)err_note(e, "%s", why.detail);
    }
    return e->code != ERR_OK ? e->code : FAIL(e, UNAVAILABLE, "no Sentinel was asked");
}

/* ["message", "+switch-master", "NAME OLD-HOST OLD-PORT NEW-HOST NEW-PORT"] */
static bool is_our_switch(const redisReply *r, const char *name)
{
    if (r->type != REDIS_REPLY_ARRAY || r->elements != 3 || !is_text(r->element[0], "message"))
        return false;
    if (r->element[2]->type != REDIS_REPLY_STRING)
        return false;
    struct str first, rest;
    (void)str_cut(str_n(r->element[2]->str, r->element[2]->len), ' ', &first, &rest);
    return str_eq_c(first, name);
}

enum sentinel_news sentinel_hear(const struct redis_address *a, struct sentinel_watch *w)
{
    const int64_t now = clock_mono_us(&clock_system);
    struct err e;
    redisReply *r = NULL;
    if (!w->link)
        return SENTINEL_LOST;
    if (!w->asked_us && now - w->heard_us > QUIET_US) {
        redis_link_add(w->link, (const struct str[]){ STR("PING") }, 1);
        w->asked_us = now;
    }
    for (;;) {
        if (redis_link_poll(w->link, &r, &e) != ERR_OK)
            return SENTINEL_LOST;
        if (!r)
            break;
        w->heard_us = now;
        w->asked_us = 0;
        const bool is_switch = is_our_switch(r, a->master);
        freeReplyObject(r);
        if (is_switch)
            return SENTINEL_SWITCHED;
    }
    return w->asked_us && now - w->asked_us > a->timeout_ms * INT64_C(1000) ? SENTINEL_LOST : SENTINEL_QUIET;
}

void sentinel_leave(struct sentinel_watch *w)
{
    redis_link_free(w->link);
    w->link = NULL;
}
