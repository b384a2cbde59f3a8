/* SPDX-License-Identifier: Apache-2.0 */
/* test_keeper.c - a real child is told to stop, or killed, and the next attempt ends with the bytes of an undisturbed run. */
#include "executor_kit.h"

#include <pthread.h>
#include <signal.h>

#define SPEC(more) \
    "{\"dataset_id\":\"dst_00000000000000000000000000000001\",\"dataset_version\":1,\"label_column\":\"label\"," more "}"

static size_t count_text(const char *text, const char *what)
{
    size_t n = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        n++;
    return n;
}

static void *run_thread(void *p)
{
    void **both = p;
    executor_run(both[0], both[1]);
    return NULL;
}

enum way { DRAIN, CANCEL, KILL };

/* Start a training, wait until it said `what`, end it this way, and give what it said. */
static void run_and_end(struct fixture *f, const char *spec, const char *what, enum way way, struct buf *report)
{
    struct held *h = add_kind(f, "train", spec, 0);
    void *both[2] = { &f->env, h };
    pthread_t t;
    f->stopping = false;
    pthread_create(&t, NULL, run_thread, both);
    for (bool runs = false; !runs;) {
        kit_report(f->book, report);
        runs = report->len && strstr(report->ptr, what);
        book_unsettle(f->book);
        usleep(1000);
    }
    if (way == KILL) {
        assert_int_equal(kill(kit_child(), SIGKILL), 0);
    } else {
        f->stopping = way == DRAIN;
        book_cancel_all(f->book);
    }
    pthread_join(t, NULL);
    kit_report(f->book, report);
    book_settle(f->book, &(struct lease_verdict){ kit_id(1), STR("ok"), false, 0 }, 1, 0);
    book_settle(f->book, NULL, 0, 0);
    book_free(f->book);
    f->book = book_new(&clock_system, 10000);
    f->stopping = false;
}

static void undisturbed(const char *spec, struct buf *model)
{
    struct fixture f;
    setup(&f, "1g");
    run_and_expect(&f, add_kind(&f, "train", spec, 0), "\"event\":\"succeed\"", "info: model sealed: ");
    kit_open_output(&f.store, model);
    teardown(&f);
}

static void resume_and_compare(struct fixture *f, const char *spec, const char *text)
{
    CLEANUP(buf_releasep) struct buf want = BUF(0);
    CLEANUP(buf_releasep) struct buf got = BUF(0);
    undisturbed(spec, &want);
    run_and_expect(f, add_kind(f, "train", spec, 0), "\"event\":\"succeed\"", text);
    kit_open_output(&f->store, &got);
    assert_int_equal(got.len, want.len);
    assert_memory_equal(got.ptr, want.ptr, want.len);
}

static bool has_text(const struct buf *b, const char *text)
{
    return memmem(b->ptr, b->len, text, strlen(text)) != NULL;
}

/* checkpoint_every 0: none but when the machine is told to stop; then one, sealed, and nothing of it stays on this machine. */
static void test_a_drain_keeps_one_sealed_checkpoint_and_the_next_attempt_goes_on(void **state)
{
    (void)state;
    const char *spec = SPEC("\"epochs\":30,\"seed\":1");
    struct fixture f;
    CLEANUP(buf_releasep) struct buf report = BUF((size_t)4 << 20);
    setup(&f, "1g");
    run_and_end(&f, spec, "info: epoch 1: loss ", DRAIN, &report);
    assert_non_null(strstr(report.ptr, "\"event\":\"return\""));
    assert_int_equal(count_text(report.ptr, "checkpoint kept at step"), 1);
    assert_true(f.store.n_ckpts == 1 && f.store.ckpts[0].is_kept && f.store.ckpts[0].step > 0);
    const struct buf *sealed = &f.store.ckpts[0].sealed;
    assert_false(has_text(sealed, "mlp.0.weight") || has_text(sealed, "exp_avg") || has_text(sealed, "epoch"));
    resume_and_compare(&f, spec, ", resumed");
    teardown(&f);                               /* and nothing is left */
}

/* Killed from outside after its second checkpoint: the newest is damaged, so the one before it serves. */
static void test_a_killed_child_goes_on_from_the_newest_that_is_whole(void **state)
{
    (void)state;
    const char *spec = SPEC("\"epochs\":30,\"seed\":1,\"checkpoint_every\":1");
    struct fixture f;
    struct err e = { 0 };
    CLEANUP(buf_releasep) struct buf report = BUF((size_t)4 << 20);
    setup(&f, "1g");
    assert_int_equal(config_set(f.config, "worker.checkpoint_gap_ms", "0", &e), ERR_OK);
    run_and_end(&f, spec, "info: epoch 4: loss ", KILL, &report);
    if (!strstr(report.ptr, "\"event\":\"return\""))
        fprintf(stderr, "%s\n", report.ptr);
    assert_non_null(strstr(report.ptr, "\"event\":\"return\""));
    assert_non_null(strstr(report.ptr, "killed from outside"));
    int newest = f.store.n_ckpts - 1;
    while (!f.store.ckpts[newest].is_kept)
        newest--;
    assert_true(newest >= 1);
    f.store.ckpts[newest].sealed.ptr[f.store.ckpts[newest].sealed.len / 2] ^= 1;
    resume_and_compare(&f, spec, "checkpoint 1, counted from the newest, cannot be used: ");
    teardown(&f);
}

static void test_when_none_is_whole_the_job_fails_and_says_so(void **state)
{
    (void)state;
    const char *spec = SPEC("\"epochs\":30,\"seed\":1");
    struct fixture f;
    CLEANUP(buf_releasep) struct buf report = BUF((size_t)4 << 20);
    setup(&f, "1g");
    run_and_end(&f, spec, "info: epoch 1: loss ", DRAIN, &report);
    f.store.ckpts[0].sealed.len /= 2;
    run_and_expect(&f, add_kind(&f, "train", spec, 0), "\"event\":\"fail\"",
                   "none of the 1 checkpoints of this job can be used: ");
    teardown(&f);
}

static void test_a_cancelled_job_keeps_nothing_more(void **state)
{
    (void)state;
    struct fixture f;
    CLEANUP(buf_releasep) struct buf report = BUF((size_t)4 << 20);
    setup(&f, "1g");
    run_and_end(&f, SPEC("\"epochs\":10000"), "info: epoch 1: loss ", CANCEL, &report);
    assert_non_null(strstr(report.ptr, "\"event\":\"cancel\""));
    assert_int_equal(f.store.n_ckpts, 0);
    assert_null(strstr(report.ptr, "could not be kept"));
    teardown(&f);
}

/* A tenant without room trains on, and its log says why there is no checkpoint. */
static void test_a_refused_checkpoint_is_a_line_of_the_log(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "1g");
    f.store.refuse_ckpts = true;
    run_and_expect(&f, add_kind(&f, "train", SPEC("\"epochs\":8,\"seed\":1,\"checkpoint_every\":1"), 0), "\"event\":\"succeed\"",
                   "warning: the checkpoint at step 45 could not be kept: there is no room");
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_drain_keeps_one_sealed_checkpoint_and_the_next_attempt_goes_on),
        cmocka_unit_test(test_a_killed_child_goes_on_from_the_newest_that_is_whole),
        cmocka_unit_test(test_when_none_is_whole_the_job_fails_and_says_so),
        cmocka_unit_test(test_a_cancelled_job_keeps_nothing_more),
            cmocka_unit_test(test_a_refused_checkpoint_is_a_line_of_the_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
