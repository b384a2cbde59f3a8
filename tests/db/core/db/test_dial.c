/* SPDX-License-Identifier: Apache-2.0 */
/* test_dial.c - the primary is frozen, and its standby is promoted while a caller waits for what says nothing. test_servers.c
 * has who is asked and who is left out. */
#include <poll.h>
#include <pthread.h>
#include "silent_kit.h"

static void *promote_when_asked(void *standby)
{
    struct pollfd f = { silent_fd, POLLIN, 0 };
    for (time_t since = wait_now(); poll(&f, 1, 10) <= 0 && wait_now() - since < WAIT_MOST_S;)
        continue;
    pg_harness_promote(standby);
    return NULL;
}

/* The standby refuses, and only then is the silent one asked, and only then is the standby promoted. */
static void a_standby_that_becomes_primary_is_found(void **state)
{
    (void)state;
    struct pg_harness *pg = pg_harness_new(), *standby = pg_harness_standby(pg);
    struct err e = { 0 };
    char hosts[300], frozen[64];
    silent_start();
    silent_name(frozen, 0);
    silent_link(frozen);
    snprintf(hosts, sizeof hosts, "%s,%s", pg_harness_socket_dir(standby), frozen);
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, promote_when_asked, standby), 0);
    enum errc rc = silent_reach(pg, hosts, "target_session_attrs=read-write", &e);
    pthread_join(t, NULL);
    assert_int_equal(rc, ERR_OK);
    assert_int_equal(silent_asked(), 1);
    assert_int_equal(silent_reach(pg, hosts, "target_session_attrs=read-write", &e), ERR_OK);
    assert_int_equal(silent_asked(), 0);
    silent_stop(frozen);
    pg_harness_free(standby);
    pg_harness_free(pg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_standby_that_becomes_primary_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
