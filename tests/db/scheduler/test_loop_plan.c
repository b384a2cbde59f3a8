/* SPDX-License-Identifier: Apache-2.0 */
/* test_loop_plan.c - what a round of planning leaves: how many were admitted, whether there is room, and that after an error
 * there may be. */
#include "tests/db/scheduler/fixture.h"
#include "scheduler/loop_int.h"
#include "scheduler/plan/claims.h"
#include "scheduler/plan/workload.h"
#include "scheduler/replay/replay.h"
#include "scheduler/replay/ring.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct fixture f;
static struct machine m;

static int setup(void **state)
{
    (void)state;
    fixture_open(&f);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    fixture_close(&f);
    return 0;
}

static struct plan_outcome plan_now(bool is_full)
{
    struct arena *a = arena_new(64 << 20);
    struct plan_outcome o;
    OK(loop_plan(&f.scheduler, a, is_full, &o, e));
    arena_free(a);
    return o;
}

static void assert_outcome(bool is_full, int64_t admitted, bool has_room)
{
    const struct plan_outcome o = plan_now(is_full);
    assert_int_equal(o.admitted, admitted);
    assert_int_equal(o.has_room, has_room);
    assert_false(o.more);
}

/* The loop rests on has_room when it lets submissions wait, so it must never say no while a slot is free. */
static void a_round_says_whether_there_is_room(void **state)
{
    (void)state;
    struct uuid job;
    struct lease_grant g[3];
    for (int is_full = 0; is_full < 2; is_full++) {
        fixture_exec(&f, "UPDATE node SET state = 'DRAINING'");
        assert_outcome(is_full, 0, false);                      /* no machine at all */
        if (!is_full)
            machine_up(&f, &m, "ae-dxb-1", "w1", 3, 0);
        fixture_exec(&f, "UPDATE node SET state = 'READY'");
        assert_outcome(is_full, 0, true);
        submit(&f, f.tenant_a, 1, 2, 3, &job);
        assert_outcome(is_full, 1, true);                       /* one slot is left */
        submit(&f, f.tenant_a, 1, 2, 3, &job);
        assert_outcome(is_full, 0, true);                       /* and stays, though nothing that waits fits */
        cancel_job(&f, f.tenant_a, job);
        submit(&f, f.tenant_b, 1, 1, 3, &job);
        assert_outcome(is_full, 1, false);
        submit(&f, f.tenant_b, 1, 1, 3, &job);
        assert_outcome(is_full, 0, false);
        assert_int_equal(take(&f, &m, 3, g), 2);
        assert_int_equal(run_through(&f, &m, g, 2), 4);
        assert_outcome(is_full, 1, true);
        assert_int_equal(take(&f, &m, 3, g), 1);
        assert_int_equal(run_through(&f, &m, g, 1), 2);
    }
    fixture_check(&f);
}

/* What is left is not known then, so there is some. */
static void an_error_leaves_room(void **state)
{
    (void)state;
    struct arena *a = arena_new(64 << 20);
    struct plan_outcome o = { 0 };
    fixture_exec(&f, "ALTER TABLE node RENAME TO node_away");
    assert_int_not_equal(loop_plan(&f.scheduler, a, false, &o, NULL), ERR_OK);
    fixture_exec(&f, "ALTER TABLE node_away RENAME TO node");
    assert_true(o.has_room && !o.admitted && !o.more);
    arena_free(a);
}

/* How many files of the folder the planner of today plans alike; they go. */
static int replay_folder(const char *folder, struct told *sums)
{
    int n = 0;
    DIR *d = opendir(folder);
    for (struct dirent *x = readdir(d); x; x = readdir(d)) {
        struct arena *a = arena_new((size_t)256 << 20);
        static char bytes[1 << 20];
        struct cycle c;
        struct replay r;
        if (x->d_name[0] != '.') {
            FILE *file = fdopen(openat(dirfd(d), x->d_name, O_RDONLY), "rb");
            const size_t len = fread(bytes, 1, sizeof bytes, file);
            fclose(file);
            OK(record_read(str_c(x->d_name), str_n(bytes, len), a, &c, e));
            OK(replay_run(str_c(x->d_name), &c, a, &r, e));
            assert_true(r.is_same);
            sums->places.n += r.was.places.n;
            sums->waits.n += r.was.waits.n;
            unlinkat(dirfd(d), x->d_name, 0);
            n++;
        }
        arena_free(a);
    }
    closedir(d);
    return n;
}

/* What was read from PostgreSQL, by rounds of both kinds, is planned again from its files. */
static void rounds_are_replayed(void **state)
{
    (void)state;
    char folder[] = "/tmp/cycles_test_XXXXXX";
    struct claims claims = { 0 };
    struct told sums = { 0 };
    struct lease_grant g[3];
    struct uuid job;
    assert_non_null(mkdtemp(folder));
    const struct cycle_ring_opts o = { folder, 100, 1 << 20 };
    OK(cycle_ring_new(&o, &f.scheduler.cycles, e));
    f.scheduler.claims = &claims;
    f.scheduler.workload = workload_new();
    for (int i = 0; i < 5; i++)
        submit(&f, i % 2 ? f.tenant_a : f.tenant_b, 1, 1, 3, &job);
    for (int is_full = 0; is_full < 2; is_full++) {
        (void)plan_now(is_full);
        const size_t n = take(&f, &m, 3, g);
        assert_true(n > 0);
        run_through(&f, &m, g, n);
    }
    (void)plan_now(true);
    cycle_ring_free(f.scheduler.cycles);
    workload_free(f.scheduler.workload);
    f.scheduler.cycles = NULL;
    f.scheduler.claims = NULL;
    f.scheduler.workload = NULL;
    assert_true(replay_folder(folder, &sums) >= 2);
    assert_true(sums.places.n >= 4);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_round_says_whether_there_is_room),
                                        cmocka_unit_test(an_error_leaves_room), cmocka_unit_test(rounds_are_replayed) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
