/* SPDX-License-Identifier: Apache-2.0 */
/* test_comm_local.c - threads that exchange: what is true of every transport (comm_kit.h), and who fails, and who differs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>

#include "comm_kit.h"
#include "workers/compute/train/comm_local.h"

struct part {
    struct comm *comm;
    int what;                           /* ABORTS, DIFFERS or the script */
    const char *wrong;
    enum errc rc;
    struct err err;
};
enum { SCRIPT, WAITS, ABORTS, DIFFERS };

static void *play(void *arg)
{
    struct part *p = arg;
    float x[4] = { 0 };
    if (p->what == SCRIPT)
        p->wrong = kit_script(p->comm, &p->err);
    if (p->what == ABORTS) {
        (void)err_set(&p->err, ERR_LIMIT, __FILE__, __LINE__, "no memory here");
        p->comm->ops->abort(p->comm, &p->err);
    }
    if (p->what == WAITS || p->what == DIFFERS)
        p->rc = p->comm->ops->all_gather(p->comm, p->what == WAITS ? "one thing" : "another", x, sizeof x, 4, &p->err);
    return NULL;
}

static void play_all(struct comm_local *l, struct part *p, int n)
{
    pthread_t t[COMM_RANKS_MAX];
    for (int r = 0; r < n; r++) {
        p[r].comm = comm_local_rank(l, r);
        assert_int_equal(pthread_create(&t[r], NULL, play, &p[r]), 0);
    }
    for (int r = 0; r < n; r++)
        pthread_join(t[r], NULL);
}

static void test_every_exchange(void **st)
{
    (void)st;
    for (int n = 1; n <= COMM_RANKS_MAX; n *= 2)
        for (int again = 0; again < 20; again++) {
            struct comm_local *l = comm_local_new(n);
            struct part p[COMM_RANKS_MAX] = { 0 };
            play_all(l, p, n);
            for (int r = 0; r < n; r++)
                if (p[r].wrong)
                    fail_msg("rank %d of %d: %s (%s)", r, n, p[r].wrong, p[r].err.msg);
            comm_local_free(l);
        }
}

static void test_one_that_fails_ends_all_with_its_error(void **st)
{
    struct comm_local *l = comm_local_new(4);
    struct part p[4] = { { .what = WAITS }, { .what = WAITS }, { .what = ABORTS }, { .what = WAITS } };
    struct err why;
    (void)st;
    play_all(l, p, 4);
    for (int r = 0; r < 4; r++) {
        assert_int_equal(p[r].err.code, ERR_LIMIT);
        assert_string_equal(p[r].err.msg, "no memory here");
    }
    assert_int_equal(comm_local_failed(l, &why), 2);
    comm_local_free(l);
}

/* However often the others ask: what the one that ended has posted is gone. */
static void test_nobody_meets_after_an_end(void **st)
{
    struct comm_local *l = comm_local_new(2);
    struct comm *one = comm_local_rank(l, 0), *other = comm_local_rank(l, 1);
    struct err why = { 0 }, e;
    float x[2] = { 0 };
    (void)st;
    (void)err_set(&why, ERR_LIMIT, __FILE__, __LINE__, "no memory here");
    one->ops->abort(one, &why);
    for (int i = 0; i < 4; i++) {
        e = (struct err){ 0 };
        assert_int_equal(other->ops->barrier(other, "again", &e), ERR_LIMIT);
        assert_string_equal(e.msg, "no memory here");
        assert_int_equal(other->ops->all_gather(other, "again", x, sizeof x, 4, &e), ERR_LIMIT);
    }
    comm_local_free(l);
}

static void test_ranks_that_differ_are_told(void **st)
{
    struct comm_local *l = comm_local_new(2);
    struct part p[2] = { { .what = WAITS }, { .what = DIFFERS } };
    struct err why;
    (void)st;
    play_all(l, p, 2);
    for (int r = 0; r < 2; r++) {
        assert_int_equal(p[r].rc, ERR_INTERNAL);
        assert_non_null(strstr(p[r].err.msg, "another"));
    }
    assert_int_equal(comm_local_failed(l, &why), -1);
    comm_local_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_exchange),
        cmocka_unit_test(test_one_that_fails_ends_all_with_its_error),
        cmocka_unit_test(test_nobody_meets_after_an_end),
        cmocka_unit_test(test_ranks_that_differ_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
