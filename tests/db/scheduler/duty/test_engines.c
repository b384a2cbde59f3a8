/* SPDX-License-Identifier: Apache-2.0 */
/* test_engines.c - each engine has a thread while this scheduler leads: one that hangs delays neither others nor the end. */
#include "tests/db/scheduler/engines/engine_kit.h"
#include "scheduler/duty/engines.h"
#include "tests/lib/wait.h"

#include <stdatomic.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <unistd.h>

FIXTURE_GROUP(NOTHING_MORE, NOTHING_MORE)

static _Atomic bool is_leader;

static bool leads(void *ctx)
{
    (void)ctx;
    return is_leader;
}

static void one_that_hangs_delays_nobody(void **state)
{
    (void)state;
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof at;
    const int deaf = socket(AF_INET, SOCK_STREAM, 0);       /* takes connections and says nothing */
    assert_int_equal(bind(deaf, (struct sockaddr *)&at, size), 0);
    assert_int_equal(listen(deaf, 16), 0);
    assert_int_equal(getsockname(deaf, (struct sockaddr *)&at, &size), 0);
    (void)kit_engine(&f, "deaf", 1);
    (void)kit_engine(&f, "away", 1);
    fixture_exec(&f, "UPDATE engine SET address = 'http://127.0.0.1:%d' WHERE name = 'deaf'", ntohs(at.sin_port));
    struct engine_keeper *k = engine_keeper_new(&f.scheduler, leads, NULL);
    is_leader = true;
    WAIT_WHILE(fixture_count(&f, "SELECT count(*) FROM engine WHERE health = 'DOWN' AND name = 'away'") == 0);
    WAIT_WHILE(fixture_count(&f, "SELECT count(*) FROM engine WHERE health = 'DOWN'") < 2);
    fixture_exec(&f, "DELETE FROM engine WHERE name = 'away'");
    (void)kit_engine(&f, "other", 1);
    WAIT_WHILE(fixture_count(&f, "SELECT count(*) FROM engine WHERE health = 'DOWN' AND name = 'other'") == 0);
    engine_keeper_free(k);
    close(deaf);
}

static void who_does_not_lead_asks_nobody(void **state)
{
    (void)state;
    is_leader = false;
    fixture_exec(&f, "UPDATE engine SET health = 'UNKNOWN'");
    struct engine_keeper *k = engine_keeper_new(&f.scheduler, leads, NULL);
    usleep(1200000);                                        /* its first look comes after a second */
    engine_keeper_free(k);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM engine WHERE health <> 'UNKNOWN'"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_hangs_delays_nobody), cmocka_unit_test(who_does_not_lead_asks_nobody),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
