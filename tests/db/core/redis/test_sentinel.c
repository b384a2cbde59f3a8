/* SPDX-License-Identifier: Apache-2.0 */
/* test_sentinel.c - the master of two Redis is lost, frozen and taken away under a client and a listener that know its Sentinels,
 * or both places; who takes writes then is spoken to, and no replica ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "core/base/cleanup.h"
#include "core/redis/client.h"
#include "core/redis/dial_int.h"
#include "core/redis/wake.h"
#include "tests/db/redis_site.h"
#include "tests/lib/wait.h"

static struct redis_site *site;

static int make(void **state)
{
    (void)state;
    site = redis_site_new(false);
    return 0;
}

static int drop(void **state)
{
    (void)state;
    redis_site_free(site);
    return 0;
}

struct heard {
    atomic_int resets, last;
};

static void hear(void *ctx, struct str channel, struct str payload)
{
    struct heard *h = ctx;
    int64_t n = 0;
    if (!channel.ptr)
        atomic_fetch_add(&h->resets, 1);
    else if (str_to_i64(payload, 0, 1 << 30, &n))
        atomic_store(&h->last, (int)n);
}

static void count(void *ctx, bool ok, int64_t value)
{
    (void)value;
    if (ok)
        atomic_fetch_add((atomic_int *)ctx, 1);
}

/* A write is taken and a message comes through, both after this call began. */
static void goes_on(struct redis_client *c, struct heard *h)
{
    static int n;
    static atomic_int written;
    char text[16];
    snprintf(text, sizeof text, "%d", ++n);
    const int before = atomic_load(&written);
    WAIT_WHILE((redis_send(c, (const struct str[]){ STR("INCRBY"), STR("k"), STR("1") }, 3, REDIS_INT, count, &written),
                atomic_load(&written) == before));
    WAIT_WHILE((wake_publish(c, STR("jobs"), str_c(text)), atomic_load(&h->last) != n));
}

static int master_now(void)
{
    WAIT_WHILE(!redis_site_follows(site, 0, 1) && !redis_site_follows(site, 1, 0));
    return redis_site_is_master(site, 1);
}

static void test_a_lost_master_is_followed(void **state)
{
    (void)state;
    struct heard h = { 0 };
    const struct redis_opts o = redis_site_by_sentinels(site);
    CLEANUP(redis_client_freep) struct redis_client *c = redis_client_new(&o);
    CLEANUP(wake_listener_freep) struct wake_listener *l = wake_listener_new(&o, (const char *const[]){ "jobs" }, 1, hear, &h);
    goes_on(c, &h);
    const int first = master_now(), resets = atomic_load(&h.resets);
    redis_site_kill(site, first);
    WAIT_WHILE(!redis_site_is_master(site, 1 - first));
    goes_on(c, &h);
    assert_true(atomic_load(&h.resets) > resets);           /* what was missed is looked for */
    redis_site_start(site, first);                          /* it comes back as a replica, and nobody returns to it */
    WAIT_WHILE(!redis_site_follows(site, first, 1 - first));
    goes_on(c, &h);
}

static void test_a_silent_master_is_left(void **state)
{
    (void)state;
    struct heard h = { 0 };
    const struct redis_opts o = redis_site_by_sentinels(site);
    CLEANUP(redis_client_freep) struct redis_client *c = redis_client_new(&o);
    CLEANUP(wake_listener_freep) struct wake_listener *l = wake_listener_new(&o, (const char *const[]){ "jobs" }, 1, hear, &h);
    goes_on(c, &h);
    const int first = master_now();
    redis_site_freeze(site, first, true);
    WAIT_WHILE(!redis_site_is_master(site, 1 - first));
    goes_on(c, &h);
    redis_site_freeze(site, first, false);
    goes_on(c, &h);
    WAIT_WHILE(!redis_site_follows(site, first, 1 - first));
    goes_on(c, &h);
}

static void test_a_replica_is_refused(void **state)
{
    (void)state;
    const int master = master_now();
    struct redis_opts o = redis_site_by_list(site);
    o.address = redis_site_place(site, 1 - master);
    struct redis_address a;
    redis_address_set(&a, &o);
    struct redis_route *r = redis_route_new(&a);
    struct redis_link *link;
    struct err e;
    assert_int_equal(redis_dial(r, &link, &e), ERR_FORBIDDEN);
    if (!strstr(e.msg, redis_site_place(site, 1 - master)) || !strstr(e.msg, "it is a replica of 127."))
        fail_msg("%s", e.msg);
    redis_route_free(r);
    redis_address_release(&a);
}

static void test_of_a_list_the_master_is_taken(void **state)
{
    (void)state;
    struct heard h = { 0 };
    const struct redis_opts o = redis_site_by_list(site);
    CLEANUP(redis_client_freep) struct redis_client *c = redis_client_new(&o);
    CLEANUP(wake_listener_freep) struct wake_listener *l = wake_listener_new(&o, (const char *const[]){ "jobs" }, 1, hear, &h);
    for (int i = 0; i < SITE_SENTINELS; i++)
        redis_site_kill_sentinel(site, i);                  /* they would undo it */
    for (int turn = 0; turn < 2; turn++) {
        goes_on(c, &h);
        const int first = master_now();
        struct redis_stats before, after;
        redis_client_stats(c, &before);
        redis_site_swap(site, first);                       /* by hand: nothing is killed, no connection is cut */
        WAIT_WHILE((redis_client_stats(c, &after), after.connects == before.connects));
        goes_on(c, &h);
    }
}

static void dial_fails(struct redis_opts o, enum errc want, const char *says)
{
    struct redis_address a;
    struct redis_link *link;
    struct err e;
    redis_address_set(&a, &o);
    struct redis_route *r = redis_route_new(&a);
    assert_int_equal(redis_dial(r, &link, &e), want);
    if (!strstr(e.msg, says))
        fail_msg("%s", e.msg);
    assert_null(strstr(e.msg, "seer"));
    redis_route_free(r);
    redis_address_release(&a);
}

static void test_what_sentinels_may_say(void **state)
{
    (void)state;
    struct redis_opts o = redis_site_by_sentinels(site);
    o.master = "unknown";
    dial_fails(o, ERR_UNAVAILABLE, "it knows no master 'unknown'");
    o = redis_site_by_sentinels(site);
    o.sentinel_password_file = NULL;
    dial_fails(o, ERR_UNAVAILABLE, "NOAUTH");
    o.sentinel_password_file = "/nowhere/at/all";
    dial_fails(o, ERR_UNAVAILABLE, "cannot read /nowhere/at/all");
    o = redis_site_by_sentinels(site);
    o.address = redis_site_place(site, master_now());       /* a Redis is no Sentinel */
    dial_fails(o, ERR_UNAVAILABLE, "AUTH was refused (WRONGPASS)");
    o = redis_site_by_sentinels(site);
    o.password = "wrong";
    dial_fails(o, ERR_FORBIDDEN, "AUTH was refused (WRONGPASS)");
}

static void test_one_sentinel_less(void **state)
{
    (void)state;
    struct heard h = { 0 };
    const struct redis_opts o = redis_site_by_sentinels(site);
    CLEANUP(redis_client_freep) struct redis_client *c = redis_client_new(&o);
    CLEANUP(wake_listener_freep) struct wake_listener *l = wake_listener_new(&o, (const char *const[]){ "jobs" }, 1, hear, &h);
    goes_on(c, &h);
    const int first = master_now(), resets = atomic_load(&h.resets);
    redis_site_kill_sentinel(site, 0);                      /* the one that both listen to */
    goes_on(c, &h);
    assert_int_equal(atomic_load(&h.resets), resets);       /* the master was not left for that */
    redis_site_freeze(site, first, true);
    WAIT_WHILE(!redis_site_is_master(site, 1 - first));
    goes_on(c, &h);
    redis_site_freeze(site, first, false);
    WAIT_WHILE(!redis_site_follows(site, first, 1 - first));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_lost_master_is_followed), cmocka_unit_test(test_a_silent_master_is_left),
        cmocka_unit_test(test_a_replica_is_refused),      cmocka_unit_test(test_what_sentinels_may_say),
        cmocka_unit_test(test_one_sentinel_less),         cmocka_unit_test(test_of_a_list_the_master_is_taken),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
