/* SPDX-License-Identifier: Apache-2.0 */
/* test_inside_link.c - sessions of leases that are not here come to nothing; one whose API is not there is given up. The way
 * itself is in tests/e2e/inside.py. */
#include <dirent.h>

#include "lease_kit.h"
#include "tests/lib/wait.h"
#include "workers/agent/inside_link.h"

/* A link's thread says that it is done before it has ended; what its libraries keep for it goes with its end. */
static int threads(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/task");
    assert_non_null(d);
    for (const struct dirent *t; (t = readdir(d));)
        n += t->d_name[0] != '.';
    closedir(d);
    return n;
}

static void only_what_is_held_is_answered(void **state)
{
    (void)state;
    struct book *b = book_new(&clock_system, 10000);
    struct lease_grant g = kit_grant(3, "run", "{}");
    const struct lease_grant other = kit_grant(4, "run", "{}");
    const struct config cfg = { .worker_api_url = "https://127.0.0.1:1", .worker_cert = "/none",
                                .worker_key = "/none", .worker_ca = "/none" };
    struct held *h = book_add(b, &g, true);
    _Atomic int n = 0;
    _Atomic bool stopping = false;
    inside_link_begin(&cfg, b, &(struct lease_session){ other.attempt_id, uuid_v7(1) }, &n, &stopping);
    assert_int_equal(n, 0);
    inside_link_begin(&cfg, b, &(struct lease_session){ g.attempt_id, uuid_v7(1) }, &n, &stopping);
    stopping = true;
    WAIT_WHILE(n > 0);
    n = INSIDE_LINKS_MAX;
    inside_link_begin(&cfg, b, &(struct lease_session){ g.attempt_id, uuid_v7(1) }, &n, &stopping);
    assert_int_equal(n, INSIDE_LINKS_MAX);
    WAIT_WHILE(threads() > 1);
    held_finish(h, &(struct lease_item){ .event = LE_SUCCEED });
    held_unref(h);
    book_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(only_what_is_held_is_answered) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
