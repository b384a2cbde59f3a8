/* SPDX-License-Identifier: Apache-2.0 */
/* opts.c - the settings redis.* as a way to Redis. Read here once, so that no daemon has a door of its own. */
#include "core/redis/client.h"
#include "core/base/arena.h"
#include "core/base/cleanup.h"
#include "core/base/text_file.h"
#include "core/crypto/secmem.h"
#include "core/redis/client_int.h"
#include "core/redis/place_int.h"
#include "core/table/config.h"

static const char *given(const char *text)
{
    return *text ? text : NULL;
}

/* Which of the three ways it is. */
static enum errc take_place(const struct config *c, struct redis_opts *o, struct err *e)
{
    const int ways = !!*c->redis_socket + !!*c->redis_address + !!*c->redis_sentinels;
    if (ways > 1)
        return FAIL(e, INVALID, "redis.socket, redis.address and redis.sentinels are three ways to one Redis: keep one of them");
    if (*c->redis_socket && *c->redis_socket != '/')
        return FAIL(e, INVALID, "redis.socket = %.80s is no whole path; Redis over TCP is redis.address", c->redis_socket);
    if (!*c->redis_sentinels != !*c->redis_master)
        return FAIL(e, INVALID, "redis.sentinels and redis.master belong together: Sentinels, and the name of a master");
    if (*c->redis_socket)
        o->address = arena_printf(c->arena, "unix:%s", c->redis_socket);
    else
        o->address = given(*c->redis_sentinels ? c->redis_sentinels : c->redis_address);
    o->master = given(c->redis_master);
    if (!o->address || *c->redis_socket)
        return ERR_OK;
    if (redis_places_check(str_c(o->address), e) != ERR_OK) {
        struct err why = *e;
        return FAIL(e, INVALID, "%s: %.180s", o->master ? "redis.sentinels" : "redis.address", why.msg);
    }
    return ERR_OK;
}

static enum errc check_password(const char *setting, const char *path, struct err *e)
{
    char line[REDIS_PASSWORD_MAX];
    if (!path || text_file_line(path, line, sizeof line, e) == ERR_OK) {
        secret_wipe(line, sizeof line);
        return ERR_OK;
    }
    struct err why = *e;
    (void)FAIL(e, INVALID, "%s: %.200s", setting, why.msg);
    return err_note(e, "%s", why.detail);
}

static enum errc check_tls(const struct redis_opts *o, struct err *e)
{
    if (!o->cert_file != !o->key_file)
        return FAIL(e, INVALID, "redis.cert and redis.key belong together");
    struct redis_address a;
    redis_address_set(&a, o);
    enum errc rc = redis_tls_check(&a, e);
    redis_address_release(&a);
    if (rc == ERR_OK)
        return rc;
    struct err why = *e;
    (void)FAIL(e, INVALID, "redis.ca, redis.cert, redis.key: %.180s", why.msg);
    return err_note(e, "%s", why.detail);
}

enum errc redis_opts_of(const struct config *c, struct redis_opts *ret, struct err *e)
{
    struct redis_opts o = { .user = given(c->redis_user), .password = given(c->redis_password),
        .password_file = given(c->redis_password_file), .sentinel_user = given(c->redis_sentinel_user),
        .sentinel_password_file = given(c->redis_sentinel_password_file) };
    TRY(take_place(c, &o, e));
    if (o.password && o.password_file)
        return FAIL(e, INVALID, "redis.password and redis.password_file: keep one of them");
    const bool is_tcp = o.address && !*c->redis_socket;
    o.has_tls = is_tcp && c->redis_tls;
    if (is_tcp && !o.has_tls && c->run_profile == PROFILE_PROD)
        return FAIL(e, INVALID, "redis.tls = false with run.profile = prod: passwords would cross the network in the clear");
    if (!o.address) {
        *ret = o;
        return ERR_OK;
    }
    TRY(check_password("redis.password_file", o.password_file, e));
    TRY(check_password("redis.sentinel_password_file", o.sentinel_password_file, e));
    if (o.has_tls) {
        o.ca_file = given(c->redis_ca);
        o.cert_file = given(c->redis_cert);
        o.key_file = given(c->redis_key);
        TRY(check_tls(&o, e));
    }
    *ret = o;
    return ERR_OK;
}
