/* SPDX-License-Identifier: Apache-2.0 */
/* test_opts.c - what settings redis.* make, and in which words each wrong one is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/base/arena.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/crypto/x509.h"
#include "core/redis/client.h"
#include "core/table/config.h"

static char folder[] = "/tmp/redis-opts-XXXXXX";
static char ca[60], cert[60], key[60], other_key[60], password[60];

static void put(char path[60], const char *name, struct str text)
{
    snprintf(path, 60, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_true(f && fwrite(text.ptr, 1, text.len, f) == text.len && fclose(f) == 0);
}

static int make(void **state)
{
    (void)state;
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct x509_pair root, leaf, other;
    const struct x509_req r = { .common_name = STR("falaj"), .is_client = true, .lifetime_s = 3600 };
    const int64_t now = clock_wall_us(&clock_system);
    struct err e;
    if (!mkdtemp(folder) || x509_make_ca(a, STR("ca"), STR("spiffe://x"), now, 3600, &root, &e) != ERR_OK ||
        x509_issue(a, &root, &r, now, &leaf, &e) != ERR_OK || x509_issue(a, &root, &r, now, &other, &e) != ERR_OK)
        return 1;
    put(ca, "ca", root.cert_pem);
    put(cert, "cert", leaf.cert_pem);
    put(key, "key", leaf.key_pem);
    put(other_key, "other", other.key_pem);
    put(password, "password", STR("secret\n"));
    return 0;
}

static int drop(void **state)
{
    (void)state;
    char *all[] = { ca, cert, key, other_key, password };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        unlink(all[i]);
    return rmdir(folder);
}

/* Lines "key=value" up to NULL. */
static struct config *config_of(const char *const *lines)
{
    struct config *c = config_new_default();
    struct err e;
    for (; *lines; lines++) {
        char name[60];
        const char *eq = strchr(*lines, '=');
        snprintf(name, sizeof name, "%.*s", (int)(eq - *lines), *lines);
        if (config_set(c, name, eq + 1, &e) != ERR_OK)
            fail_msg("%s: %s", *lines, e.msg);
    }
    return c;
}

#define LINES(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void refused(const char *const *lines, const char *says)
{
    CLEANUP(config_freep) struct config *c = config_of(lines);
    struct redis_opts o;
    struct err e;
    if (redis_opts_of(c, &o, &e) != ERR_INVALID)
        fail_msg("taken, where this was to be said: %s", says);
    if (!strstr(e.msg, says))
        fail_msg("%s", e.msg);
    assert_null(strstr(e.msg, "secret"));
}

static const char *setting(char buf[200], const char *name, const char *value)
{
    snprintf(buf, 200, "%s=%s", name, value);
    return buf;
}

static void test_ways(void **state)
{
    (void)state;
    struct redis_opts o;
    struct err e;
    char a[200], b[200], d[200], f[200];
    CLEANUP(config_freep) struct config *none = config_of(LINES("run.profile=prod"));
    assert_int_equal(redis_opts_of(none, &o, &e), ERR_OK);
    assert_null(o.address);
    CLEANUP(config_freep) struct config *socket = config_of(LINES("run.profile=prod", "redis.socket=/run/redis.sock",
                                                                  "redis.user=falaj", "redis.password=secret"));
    assert_int_equal(redis_opts_of(socket, &o, &e), ERR_OK);
    assert_string_equal(o.address, "unix:/run/redis.sock");
    assert_true(!o.has_tls && !o.master && !strcmp(o.user, "falaj") && !strcmp(o.password, "secret"));
    CLEANUP(config_freep) struct config *tcp = config_of(LINES("run.profile=prod", "redis.address=a:6379,b:6379",
        setting(a, "redis.ca", ca), setting(b, "redis.cert", cert), setting(d, "redis.key", key),
        setting(f, "redis.password_file", password)));
    assert_int_equal(redis_opts_of(tcp, &o, &e), ERR_OK);
    assert_true(o.has_tls && !strcmp(o.ca_file, ca) && !strcmp(o.cert_file, cert) && !strcmp(o.key_file, key) && !o.password);
    assert_string_equal(o.password_file, password);
    CLEANUP(config_freep) struct config *plain = config_of(LINES("redis.sentinels=a:26379", "redis.master=falaj",
                                                                 "redis.tls=false"));
    assert_int_equal(redis_opts_of(plain, &o, &e), ERR_OK);
    assert_true(!o.has_tls && !strcmp(o.master, "falaj") && !strcmp(o.address, "a:26379"));
}

static void test_what_is_refused(void **state)
{
    (void)state;
    char a[200], b[200];
    refused(LINES("redis.socket=/run/r.sock", "redis.address=a:1"), "three ways");
    refused(LINES("redis.sentinels=b:1", "redis.master=m", "redis.address=a:1"), "three ways");
    refused(LINES("redis.socket=localhost:6379"), "redis.socket = localhost:6379 is no whole path");
    refused(LINES("redis.sentinels=b:1"), "redis.sentinels and redis.master belong together");
    refused(LINES("redis.address=b:1", "redis.master=m"), "redis.sentinels and redis.master belong together");
    refused(LINES("redis.address=b"), "redis.address: 'b' is no HOST:PORT");
    refused(LINES("redis.sentinels=a:1,b", "redis.master=m"), "redis.sentinels: 'b' is no HOST:PORT");
    refused(LINES("redis.address=b:1", "redis.tls=false", "run.profile=prod"), "redis.tls = false with run.profile = prod");
    refused(LINES("redis.sentinels=b:1", "redis.master=m", "redis.tls=false", "run.profile=prod"), "redis.tls = false with");
    refused(LINES("redis.address=b:1", "redis.password=secret", setting(a, "redis.password_file", password)), "keep one of them");
    refused(LINES("redis.address=b:1", "redis.password_file=/nowhere"), "redis.password_file: cannot read /nowhere");
    refused(LINES("redis.sentinels=b:1", "redis.master=m", "redis.sentinel_password_file=/nowhere"),
            "redis.sentinel_password_file: cannot read /nowhere");
    refused(LINES("redis.address=b:1", "redis.ca=/nowhere"), "redis.ca, redis.cert, redis.key: cannot read /nowhere");
    refused(LINES("redis.address=b:1", setting(a, "redis.ca", password)), "the authorities are no certificates in PEM");
    refused(LINES("redis.address=b:1", setting(a, "redis.cert", cert)), "redis.cert and redis.key belong together");
    refused(LINES("redis.address=b:1", setting(a, "redis.cert", cert), setting(b, "redis.key", other_key)),
            "do not belong together");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_ways), cmocka_unit_test(test_what_is_refused) };
    return cmocka_run_group_tests(tests, make, drop);
}
