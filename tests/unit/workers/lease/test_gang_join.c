/* SPDX-License-Identifier: Apache-2.0 */
/* test_gang_join.c - who is let in by the child of a job on several machines: the certificate of the rank that the platform
 * named, and who runs the same; all others end it without a failure of the program's. */
#include "gang_kit.h"

#define SPEC(seed) "{\"dataset_id\":\"dst_00000000000000000000000000000001\",\"dataset_version\":1,\"label_column\":\"label\"," \
                   "\"epochs\":3,\"seed\":" seed ",\"accumulate\":4,\"hidden\":[16]}"

static struct member m[MACHINES];
static struct meeting at;

static void run_both(const char *spec0, const char *spec1)
{
    struct member_run r[MACHINES];
    for (int i = 0; i < MACHINES; i++) {
        member_begin(&m[i], &at, i);
        r[i] = (struct member_run){ &m[i], member_add(&m[i], i ? spec1 : spec0) };
        assert_int_equal(pthread_create(&m[i].thread, NULL, member_main, &r[i]), 0);
    }
    members_join(m);
}

/* Rank 0 has the certificate of another machine, so rank 1 does not speak to it. */
static void a_certificate_of_another_machine_is_not_let_in(void **state)
{
    (void)state;
    meeting_begin(&at);
    at.name[0] = "m7";
    member_begin(&m[0], &at, 0);
    struct member_run r[MACHINES] = { { &m[0], member_add(&m[0], SPEC("1")) } };
    assert_int_equal(pthread_create(&m[0].thread, NULL, member_main, &r[0]), 0);
    member_begin(&m[1], &at, 1);
    r[1] = (struct member_run){ &m[1], member_add(&m[1], SPEC("1")) };
    (void)member_main(&r[1]);
    member_says(&m[1], "\"event\":\"fail\"", "the peer is spiffe://ae-dxb-1/lease/default/m7");
    held_cancel(r[0].h);                                /* it waits on, or gave its lease back */
    pthread_join(m[0].thread, NULL);
    assert_int_equal(m[0].f.store.uploads, 0);
    members_end(m, &at);
}

static void ranks_that_run_something_else_part(void **state)
{
    (void)state;
    meeting_begin(&at);
    run_both(SPEC("1"), SPEC("2"));
    member_says(&m[0], "\"event\":\"fail\"", "rank 1 runs another specification, data set or version");
    assert_int_equal(m[0].f.store.uploads, 0);
    members_end(m, &at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_certificate_of_another_machine_is_not_let_in),
        cmocka_unit_test(ranks_that_run_something_else_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
