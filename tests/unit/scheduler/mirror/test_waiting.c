/* SPDX-License-Identifier: Apache-2.0 */
/* test_waiting.c - facts of waiting jobs that come shuffled, doubled and late leave what the newest of them say; the front
 * is the first jobs of every group; a fact that was lost is noticed by a comparison. Who plans and who reads notes of it know the
 * same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "scheduler/mirror/waiting.h"
#include "scheduler/plan/random.h"

enum { JOBS = 150, STEPS = 900, SEEDS = 100 };

static struct waiting_fact of(struct arena *a, int64_t n, int64_t version, int64_t seen, struct random *r)
{
    const int64_t shape = (int64_t)random_below(r, 5) - 2;
    struct waiting_fact f = { .seen = seen, .is_ready = random_below(r, 4) > 0, .may_go = random_below(r, 8) > 0,
        .j = { .reason = STR("Resources"), .message = str_fmt(a, "m%d", (int)random_below(r, 3)),
               .zone = shape % 2 ? STR_NULL : STR("z"),
               .pool = STR("default"), .queue = str_fmt(a, "q%d", (int)shape), .kind = STR("noop"), .data_class = STR("public"),
               .cls = STR("default"), .gpu_models = STR(""), .slots = 3 + shape, .shape = shape, .nodes = 1,
               .priority = (int64_t)random_below(r, 3), .version = version, .max_runtime_s = (int64_t)random_below(r, 2) } };
    f.j.tenant_id.b[3] = (uint8_t)(n % 2);
    f.j.job_id.b[15] = (uint8_t)n;
    f.j.job_id.b[14] = (uint8_t)(n >> 8);
    f.j.job_id.b[0] = (uint8_t)(n * 37 % 251);
    return f;
}

static int by_index(const void *a, const void *b)
{
    const struct waiting_fact *x = a, *y = b;
    if (x->is_ready != y->is_ready)
        return x->is_ready ? -1 : 1;                    /* who is not in the queue: at the end */
    const int c = uuid_cmp(x->j.tenant_id, y->j.tenant_id);
    if (c || x->j.shape != y->j.shape)
        return c ? c : x->j.shape < y->j.shape ? -1 : 1;
    return x->j.priority != y->j.priority ? (x->j.priority > y->j.priority ? -1 : 1) : uuid_cmp(x->j.job_id, y->j.job_id);
}

static bool all_same(struct waiters *m, const struct waiting_fact *truth, size_t n, size_t slice)
{
    struct waiting_key after = { 0 };
    bool is_same = true;
    after.tenant_id = UUID_NIL;
    after.shape = INT64_MIN;
    for (size_t i = 0;; i += slice) {
        const size_t k = n - i < slice ? n - i : slice;
        is_same &= waiting_same(m, truth + i, k, &after, k < slice);
        if (k < slice)
            return is_same;
        const struct snap_job *j = &truth[i + k - 1].j;
        after = (struct waiting_key){ j->tenant_id, j->job_id, j->shape, j->priority };
    }
}

static bool same_group(const struct snap_job *a, const struct snap_job *b)
{
    return uuid_eq(a->tenant_id, b->tenant_id) && a->shape == b->shape;
}

/* As the database's statement: of each group the first that may go. */
static void front_is(const struct waiters *m, const struct waiting_fact *t, size_t n, int64_t limit, struct arena *a)
{
    size_t groups = 0, at = 0, taken = 0;
    struct slice got;
    for (size_t i = 0; i < n; i++)
        groups += !i || !same_group(&t[i].j, &t[i - 1].j);
    const size_t depth = 1 + (size_t)(limit - 1) / (groups ? groups : 1);
    waiting_front(m, limit, a, &got);
    const struct snap_job *j = got.items;
    for (size_t i = 0; i < n; i++) {
        if (!i || !same_group(&t[i].j, &t[i - 1].j))
            taken = 0;
        if (!t[i].may_go || taken == depth)
            continue;
        taken++;
        assert_true(at < got.n && uuid_eq(j[at].job_id, t[i].j.job_id) && j[at].version == t[i].j.version &&
                    j[at].slots == t[i].j.slots);
        assert_true(str_eq(j[at].queue, t[i].j.queue) && !j[at].zone.ptr == !t[i].j.zone.ptr &&
                    str_eq_c(j[at].reason, "Resources"));
        assert_true(j[at].said == waiting_said(t[i].j.reason, t[i].j.message) && j[at].depth == (int64_t)depth);
        at++;
    }
    assert_int_equal(at, got.n);
}

static void shuffle(struct waiting_fact *f, size_t n, struct random *r)
{
    for (size_t i = n; i-- > 1;) {
        const size_t k = random_below(r, i + 1);
        const struct waiting_fact t = f[i];
        f[i] = f[k];
        f[k] = t;
    }
}

static void one_seed(int seed)
{
    struct arena *a = arena_new((size_t)32 << 20);
    struct waiters *m = waiting_new();
    struct random r = { (uint64_t)seed };
    struct waiting_fact truth[JOBS], *sent = ARENA_ARRAY(a, struct waiting_fact, 3 * STEPS);
    size_t n = 0, ready = 0;
    const bool loses = seed % 2;
    for (int i = 0; i < STEPS; i++) {
        const int64_t k = i < JOBS ? i : (int64_t)random_below(&r, JOBS);
        const int64_t version = i < JOBS ? 1 : truth[k].j.version + (int64_t)random_below(&r, 2);    /* a wish changes none */
        truth[k] = sent[n++] = of(a, k, version, i, &r);
        if (random_below(&r, 3) == 0)
            sent[n++] = truth[k];                       /* twice */
    }
    int lost = seed % JOBS;
    while (!truth[lost].is_ready)
        lost = (lost + 1) % JOBS;
    if (loses) {
        size_t kept = 0;
        for (size_t i = 0; i < n; i++)
            if (!uuid_eq(sent[i].j.job_id, truth[lost].j.job_id) || sent[i].seen != truth[lost].seen)
                sent[kept++] = sent[i];
        n = kept;
        truth[lost].j.fence++;                          /* so that no older fact looks like it */
    }
    shuffle(sent, n, &r);
    (void)waiting_begin(m);
    for (size_t i = 0; i < n;) {
        const size_t k = 1 + random_below(&r, n - i < 20 ? n - i : 20);
        waiting_apply(m, sent + i, k);
        i += k;
    }
    qsort(truth, JOBS, sizeof *truth, by_index);
    while (ready < JOBS && truth[ready].is_ready)
        ready++;
    for (size_t slice = 1; slice <= JOBS + 1; slice += 31)
        assert_int_equal(all_same(m, truth, ready, slice), !loses);
    if (loses) {
        for (size_t i = 0; i < ready; i++)
            truth[i].seen = STEPS;
        waiting_apply(m, truth, ready);                 /* what a walk reads mends it */
        assert_true(all_same(m, truth, ready, 7));
    }
    for (int64_t limit = 1; limit < 2 * JOBS; limit += 23)
        front_is(m, truth, ready, limit, a);
    assert_int_equal(waiting_counted(m).jobs, ready);
    assert_false(all_same(m, truth, ready - 1, 7));
    truth[5].j.slots++;                                 /* another wish under the same version */
    assert_false(all_same(m, truth, ready, 7));
    truth[5].j.slots--;
    for (int i = 0; i < 4; i++)
        (void)waiting_begin(m);                         /* graves go */
    assert_true(all_same(m, truth, ready, 7));
    for (size_t i = 0; i < ready; i++) {
        truth[i].is_ready = false;
        truth[i].seen = STEPS + 1;
    }
    waiting_apply(m, truth, ready);
    assert_int_equal(waiting_counted(m).jobs, 0);
    front_is(m, truth, 0, 10, a);
    waiting_free(m);
    arena_free(a);
}

static void test_deliveries(void **state)
{
    (void)state;
    for (int seed = 0; seed < SEEDS; seed++)
        one_seed(seed);
}

/* What a note of a plan says: that version of the job does not wait. */
static struct waiting_fact note_of(const struct waiting_fact *f, int64_t seen)
{
    struct waiting_fact n = { .seen = seen, .j = { .version = f->j.version + 1 } };
    n.j.tenant_id = f->j.tenant_id;
    n.j.job_id = f->j.job_id;
    return n;
}

/* Jobs come, are admitted and come back. The one plans, and knows it as it happens; the other reads rows and notes, twice and
 * in any order. */
static void two_readers(int seed)
{
    struct arena *a = arena_new((size_t)32 << 20);
    struct waiters *plans = waiting_new(), *reads = waiting_new();
    struct random r = { (uint64_t)seed + 1000 };
    struct waiting_fact truth[JOBS], *sent = ARENA_ARRAY(a, struct waiting_fact, 2 * STEPS);
    size_t n = 0, ready = 0;
    (void)waiting_begin(plans);
    (void)waiting_begin(reads);
    for (int i = 0; i < STEPS; i++) {
        const int64_t k = i < JOBS ? i : (int64_t)random_below(&r, JOBS);
        struct waiting_fact f;
        if (i >= JOBS && truth[k].is_ready) {
            f = note_of(&truth[k], i);
        } else {
            f = of(a, k, i < JOBS ? 1 : truth[k].j.version + 1, i, &r);
            f.is_ready = true;
        }
        truth[k] = f;
        sent[n++] = f;
        if (random_below(&r, 3) == 0)
            sent[n++] = f;
        waiting_apply(plans, &f, 1);
    }
    shuffle(sent, n, &r);
    waiting_apply(reads, sent, n);
    qsort(truth, JOBS, sizeof *truth, by_index);
    while (ready < JOBS && truth[ready].is_ready)
        ready++;
    assert_true(ready > 0 && ready < JOBS);
    assert_true(all_same(plans, truth, ready, 7));
    assert_true(all_same(reads, truth, ready, 7));
    for (int64_t limit = 1; limit < 2 * JOBS; limit += 23)
        front_is(reads, truth, ready, limit, a);
    assert_int_equal(waiting_counted(reads).jobs, ready);
    assert_true(waiting_writer(plans) != waiting_writer(reads));
    waiting_free(plans);
    waiting_free(reads);
    arena_free(a);
}

static void test_two_readers(void **state)
{
    (void)state;
    for (int seed = 0; seed < SEEDS; seed++)
        two_readers(seed);
}

/* A grave stands long enough for what comes late, and no longer. */
static void test_graves(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct random r = { 7 };
    struct waiters *m = waiting_new();
    struct waiting_fact f = of(a, 1, 1, 0, &r), gone = f;
    f.is_ready = true;
    f.seen = waiting_begin(m);
    waiting_apply(m, &f, 1);
    gone.is_ready = false;
    gone.j.version = 2;
    gone.seen = waiting_begin(m);
    waiting_apply(m, &gone, 1);
    (void)waiting_begin(m);
    waiting_apply(m, &f, 1);                            /* late */
    assert_int_equal(waiting_counted(m).jobs, 0);
    f.j.version = 3;                                    /* it comes back */
    f.seen = waiting_begin(m);
    waiting_apply(m, &f, 1);
    assert_int_equal(waiting_counted(m).jobs, 1);
    for (int i = 0; i < 4; i++)
        (void)waiting_begin(m);
    assert_int_equal(waiting_counted(m).jobs, 1);
    waiting_forget(m);
    assert_int_equal(waiting_counted(m).jobs, 0);
    waiting_free(m);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_deliveries), cmocka_unit_test(test_two_readers),
                                        cmocka_unit_test(test_graves) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
