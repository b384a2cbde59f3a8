/* SPDX-License-Identifier: Apache-2.0 */
/* test_dial.c - the primary is frozen, and its standby is promoted while a caller waits for what says nothing. test_servers.c
 * has who is asked and who is left out. And one that is slow beside one that is good, which is not silent for that. */
#include <poll.h>
#include <pthread.h>
#include "core/base/clock.h"
#include "silent_kit.h"

enum { SOON_US = 1800000 };

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

/* A word ("authenticated"), and then nothing for as long as the peer waits. */
static void *say_a_word(void *arg)
{
    static const char WORD[] = { 'R', 0, 0, 0, 8, 0, 0, 0, 0 };
    struct pollfd f = { silent_fd, POLLIN, 0 };
    char end;
    (void)arg;
    for (time_t since = wait_now(); poll(&f, 1, 10) <= 0 && wait_now() - since < WAIT_MOST_S;)
        continue;
    int fd = accept(silent_fd, NULL, NULL);
    assert_int_equal(send(fd, WORD, sizeof WORD, MSG_NOSIGNAL), sizeof WORD);
    while (recv(fd, &end, 1, 0) > 0)
        continue;
    close(fd);
    return NULL;
}

/* The slow one is asked, and a quarter of a second later the other one, which wins; then the other one is gone, and the slow one
 * has become quick. It must be asked. Returns how long the race took. */
static int64_t race(struct pg_harness *pg, int round, bool has_word)
{
    char hosts[300], slow[64], quick[64];        /* new names: of them nothing is remembered */
    struct err e = { 0 };
    pthread_t t;
    silent_name(slow, 2 * round);
    silent_name(quick, 2 * round + 1);
    silent_link(slow);
    assert_int_equal(symlink(pg_harness_socket_dir(pg), quick), 0);
    if (has_word)
        assert_int_equal(pthread_create(&t, NULL, say_a_word, NULL), 0);
    snprintf(hosts, sizeof hosts, "%s,%s", slow, quick);
    const int64_t began_us = clock_mono_us(&clock_system);
    assert_int_equal(silent_reach(pg, hosts, "", &e), ERR_OK);
    const int64_t took_us = clock_mono_us(&clock_system) - began_us;
    if (has_word)
        pthread_join(t, NULL);
    else
        assert_int_equal(silent_asked(), 1);
    assert_int_equal(unlink(slow) + unlink(quick), 0);
    assert_int_equal(symlink(pg_harness_socket_dir(pg), slow), 0);
    snprintf(hosts, sizeof hosts, "%s,/nowhere/a", slow);
    enum errc rc = silent_reach(pg, hosts, "", &e);
    assert_int_equal(unlink(slow), 0);
    if (rc != ERR_OK && (has_word || took_us < SOON_US))
        fail_msg("a slow server was left out: %s", e.detail);
    return took_us;
}

/* One that has said a word is not silent, however long it takes; nor is one that says nothing yet a quarter of a second later. */
static void who_is_slow_is_not_silent(void **state)
{
    (void)state;
    enum { TRIES = 20 };
    struct pg_harness *pg = pg_harness_new();
    silent_start();
    race(pg, 0, true);
    int64_t took_us = SOON_US;
    for (int i = 1; i < TRIES && took_us >= SOON_US; i++)        /* on a busy machine the winner may need as long as a silence */
        took_us = race(pg, i, false);
    assert_in_range(took_us, 0, SOON_US);
    silent_stop("/nowhere/a");
    pg_harness_free(pg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_standby_that_becomes_primary_is_found),
        cmocka_unit_test(who_is_slow_is_not_silent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
