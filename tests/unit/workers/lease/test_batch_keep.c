/* SPDX-License-Identifier: Apache-2.0 */
/* test_batch_keep.c - a batch's child is killed, or told to stop, in the middle: the next attempt computes the rows that are
 * left, and the result has the bytes of an undisturbed one. */
#include "batch_kit.h"

#include <pthread.h>
#include <signal.h>

enum { ROWS = 150000, TEXT_MAX = 32 << 20, CATCHES_MAX = 20 };

enum way { DRAIN, KILL };

/* What happens when so many checkpoints are kept. */
static struct {
    struct fixture *f;
    enum way way;
    int at, kept;
} trap;

static enum errc trapped(void *ctx, struct arena *a, const struct lease_grant *g, struct uuid id, int64_t step, struct err *e)
{
    enum errc rc = kit_checkpoint_keep(ctx, a, g, id, step, e);
    if (++trap.kept != trap.at)
        return rc;
    if (trap.way == KILL) {
        (void)kill(kit_child(), SIGKILL);
    } else {
        trap.f->stopping = true;
        book_cancel_all(trap.f->book);
    }
    return rc;
}

static void table(struct buf *csv)
{
    *csv = BUF(TEXT_MAX);
    buf_add_c(csv, "label,a,b,c\n");
    for (int r = 0; r < ROWS; r++)
        buf_printf(csv, "%d,%d,%d.5,%d\n", r % 2, r, r % 977, r % 31);
    buf_add_char(csv, '\0');
}

static void set_gap(struct fixture *f, const char *ms)
{
    struct err e = { 0 };
    assert_int_equal(config_set(f->config, "worker.checkpoint_gap_ms", ms, &e), ERR_OK);
}

static void release_job(struct fixture *f)
{
    book_settle(f->book, &(struct lease_verdict){ kit_id(1), STR("ok"), false, 0 }, 1, 0);
    book_settle(f->book, NULL, 0, 0);
    book_free(f->book);
    f->book = book_new(&clock_system, 10000);
    f->stopping = false;
    for (int i = 0; i < f->store.n_ckpts; i++)
        f->store.ckpts[i].name[0] = '\0';       /* an artifact that nobody will see */
}

/* Until it is caught in the middle: on a busy machine it may be done before the trap closes. */
static void catch(struct fixture *f, const char *csv, enum way way, int at, struct buf *report)
{
    bool caught = false;
    for (int i = 0; i < CATCHES_MAX && !caught; i++) {
        batch_begin(f, csv);
        set_gap(f, "0");
        trap.f = f;
        trap.way = way;
        trap.at = at;
        trap.kept = 0;
        f->io.checkpoint_keep = trapped;
        executor_run(&f->env, batch_job_of(f, "dataset", BATCH_SPEC(BATCH_SET)));
        kit_report(f->book, report);
        caught = strstr(report->ptr, "\"event\":\"return\"") != NULL;
        release_job(f);
        if (!caught)
            teardown(f);
    }
    assert_true(caught);
}

static void undisturbed(const char *csv, struct buf *result)
{
    struct fixture f;
    batch_begin(&f, csv);
    run_and_expect(&f, batch_job_of(&f, "dataset", BATCH_SPEC(BATCH_SET)), "\"event\":\"succeed\"", "\"rows_done\":150000,");
    kit_open_artifact(&f.store, "result", result);
    teardown(&f);
}

static struct kit_ckpt *newest(struct fixture *f)
{
    int i = f->store.n_ckpts - 1;
    while (i > 0 && !f->store.ckpts[i].is_kept)
        i--;
    assert_true(i > 0);
    return &f->store.ckpts[i];
}

/* The next attempt says text, and gives what was wanted. */
static void resume(struct fixture *f, const struct buf *want, const char *text)
{
    CLEANUP(buf_releasep) struct buf got = BUF(0);
    f->io.checkpoint_keep = kit_checkpoint_keep;
    set_gap(f, "5000");
    run_and_expect(f, batch_job_of(f, "dataset", BATCH_SPEC(BATCH_SET)), "\"event\":\"succeed\"", text);
    kit_open_artifact(&f->store, "result", &got);
    assert_int_equal(got.len, want->len);
    assert_memory_equal(got.ptr, want->ptr, want->len);
    teardown(f);
}

static struct str resumed(struct fixture *f, char out[80])
{
    int n = snprintf(out, 80, "info: %ld of %d rows were done before, resumed", (long)newest(f)->step, ROWS);
    assert_in_range(newest(f)->step, 1, ROWS - 1);
    return str_n(out, (size_t)n);
}

static void test_a_killed_batch_goes_on_behind_the_rows_that_were_kept(void **state)
{
    (void)state;
    char text[80];
    struct fixture f;
    CLEANUP(buf_releasep) struct buf csv = BUF(0), want = BUF(0), report = BUF((size_t)4 << 20);
    table(&csv);
    undisturbed(csv.ptr, &want);
    catch(&f, csv.ptr, KILL, 2, &report);
    assert_non_null(strstr(report.ptr, "killed from outside"));
    resume(&f, &want, resumed(&f, text).ptr);
}

static void test_one_that_is_told_to_stop_keeps_its_rows_once_more(void **state)
{
    (void)state;
    char text[80];
    struct fixture f;
    CLEANUP(buf_releasep) struct buf csv = BUF(0), want = BUF(0), report = BUF((size_t)4 << 20);
    table(&csv);
    undisturbed(csv.ptr, &want);
    catch(&f, csv.ptr, DRAIN, 1, &report);
    assert_true(trap.kept >= 2);
    assert_null(memmem(newest(&f)->sealed.ptr, newest(&f)->sealed.len, "scores_0", 8));
    resume(&f, &want, resumed(&f, text).ptr);
}

static void test_a_damaged_one_is_passed_over_for_the_one_before(void **state)
{
    (void)state;
    struct fixture f;
    CLEANUP(buf_releasep) struct buf csv = BUF(0), want = BUF(0), report = BUF((size_t)4 << 20);
    table(&csv);
    undisturbed(csv.ptr, &want);
    catch(&f, csv.ptr, KILL, 2, &report);
    newest(&f)->sealed.ptr[newest(&f)->sealed.len / 2] ^= 1;
    resume(&f, &want, "checkpoint 1, counted from the newest, cannot be used: ");
}

/* Another result is asked for, so what was kept is of no use, and the log says so. */
static void test_what_another_spec_has_kept_is_not_taken(void **state)
{
    (void)state;
    struct fixture f;
    CLEANUP(buf_releasep) struct buf csv = BUF(0), got = BUF(0), report = BUF((size_t)4 << 20);
    table(&csv);
    catch(&f, csv.ptr, KILL, 1, &report);
    f.io.checkpoint_keep = kit_checkpoint_keep;
    run_and_expect(&f, batch_job_of(&f, "dataset", BATCH_SPEC(BATCH_SET ",\"result\":\"npy\"")), "\"event\":\"succeed\"",
                   "beginning anew");
    kit_open_artifact(&f.store, "result", &got);
    assert_memory_equal(got.ptr, "\x93NUMPY", 6);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_killed_batch_goes_on_behind_the_rows_that_were_kept),
        cmocka_unit_test(test_one_that_is_told_to_stop_keeps_its_rows_once_more),
        cmocka_unit_test(test_a_damaged_one_is_passed_over_for_the_one_before),
        cmocka_unit_test(test_what_another_spec_has_kept_is_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
