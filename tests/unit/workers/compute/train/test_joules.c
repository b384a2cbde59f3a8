/* SPDX-License-Identifier: Apache-2.0 */
/* test_joules.c - a budget of joules against a meter of the test's, which gives ten more each time it is asked. Time is a clock
 * of the test's, a third of a second further each time it is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>

#include "gbdt_kit.h"
#include "store_kit.h"
#include "workers/compute/train/comm_local.h"
#include "workers/compute/train/joules.h"
#include "workers/compute/train/tune.h"

enum { TICK_US = 333334, EACH = 10 };
static _Atomic int64_t now_us;           /* ranks are threads */
static int64_t tick_us;

static int64_t test_now(void *ctx)
{
    (void)ctx;
    return now_us += tick_us;
}
static const struct clock test_clock = { .wall_us = test_now, .mono_us = test_now };

struct meter {
    int64_t asked, silent_after;            /* 0: never */
    double joules;
};

static bool read_meter(void *ctx, double *ret)
{
    struct meter *m = ctx;
    *ret = m->joules += EACH;
    return !m->silent_after || ++m->asked <= m->silent_after;
}

struct fixture {
    struct arena *arena;
    struct train_job spec;
    struct train_data data;
    struct meter at;
    struct train_meter meter;
    struct train_task task;
    struct train_observer obs;
    int64_t stop_at, seen;
    char said[400];
};

static void on_step(void *ctx, const struct train_step *s)
{
    ((struct fixture *)ctx)->seen = s->step;
}

static void on_log(void *ctx, const char *line)
{
    struct fixture *f = ctx;
    if (strstr(line, "joules"))
        snprintf(f->said, sizeof f->said, "%s", line);
}

static bool should_stop(void *ctx)
{
    const struct fixture *f = ctx;
    return f->stop_at && f->seen >= f->stop_at;
}

static int set_up(void **st)
{
    static struct fixture f;
    f = (struct fixture){ .arena = arena_new((size_t)1 << 30), .spec = kit_spec() };
    now_us = 0;
    tick_us = TICK_US;
    f.spec.epochs = 1000;
    f.spec.max_joules = 100;
    f.data = kit_digits(f.arena, &f.spec);
    f.meter = (struct train_meter){ &f.at, read_meter };
    f.task = (struct train_task){ .spec = &f.spec, .data = &f.data, .backend = kit_backend(), .clock = &test_clock,
                                  .dataset_digest = STR("sha256:kit"), .meter = &f.meter };
    f.obs = (struct train_observer){ .ctx = &f, .on_step = on_step, .on_log = on_log, .should_stop = should_stop };
    *st = &f;
    return 0;
}

static int tear_down(void **st)
{
    arena_free(((struct fixture *)*st)->arena);
    return 0;
}

static void run(struct fixture *f, enum train_end want)
{
    struct train_result r;
    struct err e = { 0 };
    if (train_run(f->arena, &f->task, &f->obs, &r, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    assert_true(r.end == want && (r.model.len > 0) == (want == TRAIN_DONE));
    assert_true(want != TRAIN_DONE || isfinite(r.holdout_loss));       /* it was evaluated where it ended */
    train_result_release(&r);
}

static void test_a_machine_that_does_not_measure_refuses(void **st)
{
    struct fixture *f = *st;
    struct train_result r;
    struct err e = { 0 };
    f->at.silent_after = 1;
    f->at.asked = 1;
    assert_int_equal(train_run(f->arena, &f->task, NULL, &r, &e), ERR_UNPROCESSABLE);
    assert_non_null(strstr(e.msg, "max_joules: this machine does not measure"));
    f->task.meter = NULL;
    assert_int_equal(train_run(f->arena, &f->task, NULL, &r, &e), ERR_UNPROCESSABLE);
    f->spec.tune_steps = 3;
    struct tuned tuned = { 0 };
    assert_int_equal(tune(f->arena, &f->task, 1, false, &f->obs, &tuned, &e), ERR_UNPROCESSABLE);
}

static void test_who_has_no_budget_is_not_asked(void **st)
{
    struct fixture *f = *st;
    struct joules j;
    struct err e;
    f->spec.max_joules = 0;
    assert_int_equal(joules_begin(&j, &f->task, 0, &e), ERR_OK);
    assert_false(joules_are_spent(&j, 0));
    assert_true(f->at.joules == 0);
}

static void test_it_is_asked_once_a_second(void **st)
{
    struct fixture *f = *st;
    struct joules j;
    struct err e;
    tick_us = 0;
    assert_int_equal(joules_begin(&j, &f->task, 60, &e), ERR_OK);
    for (int i = 0; i < 90; i++) {
        now_us += 40000;
        assert_false(joules_are_spent(&j, 101));            /* 60 of before, 10 at the beginning, 10 of each second */
    }
    assert_true(joules_taken(&j) == 60 + 4 * EACH);
    assert_true(joules_are_spent(&j, 100));
}

static void test_a_run_ends_at_its_budget(void **st)
{
    struct fixture *f = *st;
    run(f, TRAIN_DONE);
    assert_true(f->at.joules == 100);
    assert_string_equal(f->said, "max_joules is used up: 100 J");
    int64_t half = f->seen;
    f->spec.max_joules = 200;
    f->at.joules = 0;
    run(f, TRAIN_DONE);
    assert_true(f->at.joules == 200 && f->seen > half + half / 2);
}

static void test_what_an_attempt_took_counts_in_the_next(void **st)
{
    struct fixture *f = *st;
    struct kit_store kept;
    f->task.store = kit_store_init(&kept);
    run(f, TRAIN_DONE);
    int64_t whole = f->seen;
    kit_store_release(&kept);
    f->stop_at = whole / 2;
    f->at.joules = f->seen = 0;
    run(f, TRAIN_PREEMPTED);
    double first = f->at.joules;
    assert_true(first >= 30 && first <= 70);
    f->stop_at = 0;
    f->at.joules = 0;                                       /* another lease */
    run(f, TRAIN_DONE);
    assert_true(first + f->at.joules == 100);
    kit_store_release(&kept);
}

static void test_a_meter_that_falls_silent_ends_the_run_with_its_model(void **st)
{
    struct fixture *f = *st;
    f->at.silent_after = 3;
    run(f, TRAIN_DONE);
    assert_string_equal(f->said, "energy is measured no more: the run ends after 30 J, as if max_joules were used up");
}

static void test_trees_have_it_too(void **st)
{
    struct fixture *f = *st;
    struct kit_store kept;
    f->spec = kit_trees(1000);
    f->spec.max_joules = 100;
    f->data = kit_friedman(f->arena, &f->spec, TARGET_CLASS, 300);
    f->task.store = kit_store_init(&kept);
    f->stop_at = 5;
    run(f, TRAIN_PREEMPTED);
    double first = f->at.joules;
    f->stop_at = 0;
    f->at.joules = 0;
    run(f, TRAIN_DONE);
    assert_true(first > 0 && first + f->at.joules == 100 && f->seen < 1000);
    kit_store_release(&kept);
}

static void test_trials_have_a_quarter_of_it(void **st)
{
    struct fixture *f = *st;
    struct tuned tuned = { 0 };
    struct err e;
    f->spec.max_joules = 400;
    f->spec.tune_steps = 10;
    f->spec.accumulate = 4;
    assert_int_equal(tune(f->arena, &f->task, 2, true, &f->obs, &tuned, &e), ERR_OK);
    assert_true(f->at.joules == 100 && tuned.table.rows.n < 6);
    assert_string_equal(f->said, "tuning: a quarter of what is left of max_seconds or max_joules is used up: no more is tried");
    f->task = tuned.task;
    run(f, TRAIN_DONE);
    assert_true(f->at.joules == 400);                       /* the trials' among them */
    tuned_release(&tuned);
}

/* Two machines with a meter each, which both ask once a step: a clock that is seconds further each time. */
struct machine {
    struct fixture *f;
    struct meter at;
    struct comm *comm;
    struct train_observer obs;
    enum errc rc;
    int64_t steps;
    struct err e;
};

static void note_step(void *ctx, const struct train_step *s)
{
    ((struct machine *)ctx)->steps = s->step;
}

static void note_line(void *ctx, const char *line)
{
    on_log(((struct machine *)ctx)->f, line);
}

static void *play(void *arg)
{
    struct machine *m = arg;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 30);
    const struct train_meter meter = { &m->at, read_meter };
    struct train_task task = m->f->task;
    struct train_result r;
    task.meter = &meter;
    task.comm = m->comm;
    task.is_machine = true;
    m->rc = train_run(a, &task, &m->obs, &r, &m->e);
    if (m->rc == ERR_OK)
        train_result_release(&r);
    else
        m->comm->ops->abort(m->comm, &m->e);
    return NULL;
}

static void play_both(struct fixture *f, struct machine m[2])
{
    struct comm_local *l = comm_local_new(2);
    pthread_t t[2];
    tick_us = 3000000;
    f->spec.accumulate = 2;
    f->said[0] = 0;
    for (int r = 0; r < 2; r++) {
        m[r].f = f;
        m[r].comm = comm_local_rank(l, r);
        m[r].obs = (struct train_observer){ .ctx = &m[r], .on_step = note_step, .on_log = r ? NULL : note_line };
        assert_int_equal(pthread_create(&t[r], NULL, play, &m[r]), 0);
    }
    for (int r = 0; r < 2; r++)
        pthread_join(t[r], NULL);
    comm_local_free(l);
}

static void test_machines_spend_one_budget(void **st)
{
    struct fixture *f = *st;
    struct machine m[2] = { { 0 } };
    play_both(f, m);                                        /* ten of each before the first step and at the end of each */
    assert_true(m[0].rc == ERR_OK && m[1].rc == ERR_OK);
    assert_true(m[0].steps == 4 && m[1].steps == 4);
    assert_true(m[0].at.joules == 50 && m[1].at.joules == 50);
    assert_string_equal(f->said, "max_joules is used up: 100 J");
    memset(m, 0, sizeof m);
    m[1].at.silent_after = 3;
    play_both(f, m);
    assert_true(m[0].rc == ERR_OK && m[0].steps == 3 && m[1].steps == 3);
    assert_non_null(strstr(f->said, "energy is measured no more: the run ends after 40 J"));
    memset(m, 0, sizeof m);
    m[1].at.asked = m[1].at.silent_after = 1;               /* one of them does not measure: none begins */
    play_both(f, m);
    assert_true(m[0].rc != ERR_OK && m[1].rc == ERR_UNPROCESSABLE && !m[0].steps && !m[1].steps);
    assert_non_null(strstr(m[1].e.msg, "max_joules: this machine does not measure"));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(test_a_machine_that_does_not_measure_refuses), T(test_who_has_no_budget_is_not_asked),
        T(test_it_is_asked_once_a_second), T(test_a_run_ends_at_its_budget), T(test_what_an_attempt_took_counts_in_the_next),
        T(test_a_meter_that_falls_silent_ends_the_run_with_its_model), T(test_trees_have_it_too),
        T(test_trials_have_a_quarter_of_it),
        T(test_machines_spend_one_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
