/* SPDX-License-Identifier: Apache-2.0 */
/* test_engine_state.c - a run that was told to stop goes on to the same bits; checkpoints that are damaged, of another data set
 * or of a place behind the end are refused, and a store that is busy is not waited for. */
#include "engine_kit.h"

/* The same rows and columns, other content: the digest alone tells. */
static void test_a_checkpoint_of_another_data_set_is_refused(void **st)
{
    (void)st;
    struct err e = { 0 };
    struct kit_store kept;
    struct train_job s = kit_spec();
    struct train_result r;
    s.epochs = 2;
    const struct ckpt_store *store = kit_store_init(&kept);
    run_on("sha256:one", &s, kit_backend(), store, 20, &r, &e, ERR_OK);
    train_result_release(&r);
    run_on("sha256:two", &s, kit_backend(), store, 30, &r, &e, ERR_CONFLICT);
    assert_non_null(strstr(e.msg, "data set"));
    run_on("sha256:one", &s, kit_backend(), store, 30, &r, &e, ERR_OK);
    assert_int_equal(r.resumed_at_step, 20);
    train_result_release(&r);
    kit_begins_anew = true;                     /* as a rank of several machines does, which cannot begin again alone */
    run_on("sha256:two", &s, kit_backend(), store, 10, &r, &e, ERR_OK);
    kit_begins_anew = false;
    assert_int_equal(r.resumed_at_step, -1);
    assert_int_equal(r.steps, 10);
    train_result_release(&r);
    kit_store_release(&kept);
}

static void stop_and_resume(enum job_optimizer opt, int64_t patience)
{
    struct err e;
    struct kit_store kept;
    struct train_job s = kit_spec();
    struct train_result whole, part;
    s.epochs = 4;
    s.optimizer = opt;
    s.learning_rate = opt == TRAIN_SGD ? 0.02 : 2e-3;
    s.early_stop_patience = patience;
    s.warmup_steps = 10;
    const struct ckpt_store *store = kit_store_init(&kept);
    run_once(&s, kit_backend(), NULL, 0, &whole, &e, ERR_OK);
    static const int64_t stops[] = { 1, 23, 45, 46, 91, 120 };      /* 45 steps are an epoch */
    int64_t before = -1;
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        run_once(&s, kit_backend(), store, stops[i], &part, &e, ERR_OK);
        assert_int_equal(part.end, TRAIN_PREEMPTED);
        assert_int_equal(part.steps, stops[i]);
        assert_int_equal(part.resumed_at_step, before);
        assert_int_equal(part.model.len, 0);
        before = stops[i];
        train_result_release(&part);
    }
    run_once(&s, kit_backend(), store, 0, &part, &e, ERR_OK);
    assert_int_equal(part.end, whole.end);
    assert_int_equal(part.steps, whole.steps);
    assert_memory_equal(&part.holdout_accuracy, &whole.holdout_accuracy, sizeof(double));
    assert_memory_equal(&part.train_loss, &whole.train_loss, sizeof(double));
    assert_int_equal(part.model.len, whole.model.len);
    assert_memory_equal(part.model.ptr, whole.model.ptr, whole.model.len);
    train_result_release(&part);
    s.learning_rate *= 2;      /* another run must not take this checkpoint */
    run_once(&s, kit_backend(), store, 0, &part, &e, ERR_CONFLICT);
    train_result_release(&whole);
    kit_store_release(&kept);
}

static void test_resume_adamw(void **st)
{
    (void)st;
    stop_and_resume(TRAIN_ADAMW, 0);
}

static void test_resume_sgd_with_patience(void **st)
{
    (void)st;
    stop_and_resume(TRAIN_SGD, 3);
}

/* A checkpoint that cannot be read is passed over for the one before it; when none is left to use, the run fails and says so. */
static void test_damaged_checkpoint(void **st)
{
    (void)st;
    struct err e;
    struct kit_store kept;
    struct train_job s = kit_spec();
    struct train_result r;
    s.epochs = 2;
    const struct ckpt_store *store = kit_store_init(&kept);
    run_once(&s, kit_backend(), store, 20, &r, &e, ERR_OK);
    train_result_release(&r);
    assert_true(kept.saves == 2 && kept.waits == 1);    /* at 17, and when told to stop at 20 */
    size_t header;
    assert_int_equal(st_header_size((const unsigned char *)kept.kept[0].ptr, kept.kept[0].len, &header, &e), ERR_OK);
    kept.kept[0].ptr[ST_PREFIX + header / 2] = '\x01';
    run_once(&s, kit_backend(), store, 30, &r, &e, ERR_OK);
    assert_int_equal(r.resumed_at_step, 17);
    train_result_release(&r);
    kept.kept[0].len /= 2;
    kept.kept[1].len = 4;
    run_once(&s, kit_backend(), store, 0, &r, &e, ERR_DAMAGED);
    assert_non_null(strstr(e.msg, "none of the 2 checkpoints of this job can be used: "));
    kit_store_release(&kept);
}

/* Its metadata is no damage that a digest of the spec could tell: a place that the run cannot have is. */
static void test_a_place_behind_the_end_is_damage(void **st)
{
    (void)st;
    static const char was[] = "\"step\":\"20\"", is[] = "\"step\":\"99\"";
    struct err e = { 0 };
    struct kit_store kept;
    struct train_job s = kit_spec();
    struct train_result r;
    s.epochs = 2;               /* 90 steps */
    const struct ckpt_store *store = kit_store_init(&kept);
    run_once(&s, kit_backend(), store, 20, &r, &e, ERR_OK);
    train_result_release(&r);
    char *at = memmem(kept.kept[0].ptr, kept.kept[0].len, was, sizeof was - 1);
    assert_non_null(at);
    memcpy(at, is, sizeof is - 1);
    run_once(&s, kit_backend(), store, 30, &r, &e, ERR_OK);
    assert_int_equal(r.resumed_at_step, 17);
    train_result_release(&r);
    kit_store_release(&kept);
}

/* What is due waits for a store that is busy, and the run does not. */
static void test_a_busy_store_is_not_waited_for(void **st)
{
    (void)st;
    struct err e;
    struct kit_store kept;
    struct train_job s = kit_spec();
    struct train_result r;
    const struct ckpt_store *store = kit_store_init(&kept);
    s.epochs = 2;
    kept.is_busy = true;
    run_once(&s, kit_backend(), store, 0, &r, &e, ERR_OK);
    assert_true(r.end == TRAIN_DONE && kept.saves == 0);
    train_result_release(&r);
    run_once(&s, kit_backend(), store, 40, &r, &e, ERR_OK);
    assert_true(r.end == TRAIN_PREEMPTED && kept.saves == 1 && kept.waits == 1);
    train_result_release(&r);
    kit_store_release(&kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resume_adamw), cmocka_unit_test(test_resume_sgd_with_patience),
        cmocka_unit_test(test_a_checkpoint_of_another_data_set_is_refused), cmocka_unit_test(test_damaged_checkpoint),
        cmocka_unit_test(test_a_place_behind_the_end_is_damage), cmocka_unit_test(test_a_busy_store_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, load_digits, drop_digits);
}
