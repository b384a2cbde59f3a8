/* SPDX-License-Identifier: Apache-2.0 */
/* test_ranks.c - a run on 1, 2, 4 and 8 ranks makes the same bytes of model, goes on from a checkpoint of any other number of
 * them, and ends as a whole when one of them cannot go on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "run_kit.h"
#include "store_kit.h"
#include "core/data/tokens.h"
#include "workers/compute/train/comm_local.h"
#include "workers/compute/train/data_tokens.h"
#include "workers/compute/train/ranks.h"

/* 1438 rows to learn from: the last step of an epoch has 30, which is two of its eight batches. */
static struct train_job shared_spec(void)
{
    struct train_job s = kit_spec();
    s.epochs = 3;
    s.batch_size = 16;
    s.accumulate = 8;
    s.warmup_steps = 3;
    s.clip_norm = 1;
    s.ranks = 1;
    return s;
}

static void run(struct arena *a, struct train_job s, int ranks, const struct train_data *d, const struct ckpt_store *store,
                const struct train_observer *o, struct train_result *r)
{
    struct err e = { 0 };
    s.ranks = ranks;
    if (kit_run_in(a, &s, d, store, store ? 5 : 0, o, r, &e) != ERR_OK)
        fail_msg("%d ranks: %s (%s)", ranks, e.msg, e.detail);
}

static void assert_same(const struct train_result *one, const struct train_result *more, int ranks)
{
    if (one->model.len != more->model.len || memcmp(one->model.ptr, more->model.ptr, one->model.len) != 0)
        fail_msg("%d ranks make another model than one", ranks);
    assert_memory_equal(&one->train_loss, &more->train_loss, sizeof(double));
    assert_memory_equal(&one->holdout_loss, &more->holdout_loss, sizeof(double));
    assert_memory_equal(&one->holdout_accuracy, &more->holdout_accuracy, sizeof(double));
    assert_int_equal(one->steps, more->steps);
}

static void same_for_any_number(struct train_job s, const struct train_data *d)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 30);
    struct train_result one, more;
    run(a, s, 1, d, NULL, NULL, &one);
    assert_true(isfinite(one.train_loss) && one.steps > 0);
    for (int ranks = 2; ranks <= 8 && s.accumulate % ranks == 0; ranks *= 2) {
        run(a, s, ranks, d, NULL, NULL, &more);
        assert_same(&one, &more, ranks);
        train_result_release(&more);
    }
    train_result_release(&one);
}

static void test_perceptrons(void **st)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 30);
    struct train_job s = shared_spec();
    struct train_data d = kit_digits(a, &s);
    (void)st;
    assert_int_equal(d.train_count % (16 * 8), 30);
    same_for_any_number(s, &d);
    s.optimizer = TRAIN_SGD;
    s.learning_rate = 0.02;
    s.dropout = 0.2;
    s.early_stop_patience = 2;
    s.eval_every = 7;
    same_for_any_number(s, &d);
    s.accumulate = 12;                  /* four lanes of three batches */
    s.ranks = 1;
    same_for_any_number(s, &d);
    s.precision = TRAIN_BF16;
    same_for_any_number(s, &d);
}

static void test_a_tiny_model_has_ranks_that_own_nothing(void **st)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 30);
    int64_t width = 2;
    struct train_job s = shared_spec();
    struct train_data d = kit_digits(a, &s);
    (void)st;
    s.hidden = (struct slice){ &width, 1 };         /* 160 numbers */
    s.epochs = 1;
    same_for_any_number(s, &d);
}

static void test_images(void **st)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 30);
    struct train_job s = shared_spec();
    (void)st;
    s.family = TRAIN_CNN;
    s.image = (struct slice)LIST(8, 8, 1);
    s.channels = (struct slice)LIST(8, 16);
    s.blocks = (struct slice)LIST(1);
    s.residual = true;
    s.accumulate = 4;
    s.max_steps = 9;
    struct train_data d = kit_digits(a, &s);
    same_for_any_number(s, &d);
}

static void test_decoders(void **st)
{
    enum { TOKENS = 4000 };
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 30);
    struct train_job s = shared_spec();
    struct train_data d;
    struct err e = { 0 };
    char *p = arena_alloc(a, TOKENS_HEADER + 2 * TOKENS);
    (void)st;
    for (int i = 0; i < TOKENS; i++) {
        p[TOKENS_HEADER + 2 * i] = (char)(i * i % 61);
        p[TOKENS_HEADER + 2 * i + 1] = 0;
    }
    const struct token_shard shard = { (unsigned char *)p + TOKENS_HEADER, 2, 64, TOKENS, 1 };
    token_shard_header(&shard, (unsigned char *)p);
    s.family = TRAIN_GPT;
    s.layers = 1;
    s.width = 32;
    s.heads = 4;
    s.context = 16;
    s.accumulate = 4;
    s.batch_size = 4;
    s.classes = 64;
    s.max_steps = 8;
    if (train_data_tokens(a, str_n(p, TOKENS_HEADER + 2 * TOKENS), &s, &d, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    same_for_any_number(s, &d);
}

struct stopper {
    int64_t at, seen;
};
static void on_step(void *ctx, const struct train_step *s) { ((struct stopper *)ctx)->seen = s->step; }
static bool should_stop(void *ctx)
{
    const struct stopper *p = ctx;
    return p->at && p->seen == p->at;
}

/* Four ranks begin, two go on, then eight, then one: the bytes are those of one that was never stopped. */
static void test_a_checkpoint_of_some_ranks_is_read_by_any_other_number(void **st)
{
    static const struct { int ranks; int64_t stop; } part[] = { { 4, 9 }, { 2, 17 }, { 8, 22 }, { 1, 30 }, { 2, 0 } };
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 30);
    struct train_job s = shared_spec();
    struct train_data d = kit_digits(a, &s);
    struct train_result whole, r;
    struct kit_store kept;
    (void)st;
    s.early_stop_patience = 4;
    run(a, s, 1, &d, NULL, NULL, &whole);
    assert_int_equal(whole.steps, 36);
    const struct ckpt_store *store = kit_store_init(&kept);
    int64_t before = -1;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        struct stopper p = { .at = part[i].stop };
        const struct train_observer o = { .ctx = &p, .on_step = on_step, .should_stop = should_stop };
        run(a, s, part[i].ranks, &d, store, &o, &r);
        assert_int_equal(r.resumed_at_step, before);
        assert_int_equal(r.end, part[i].stop ? TRAIN_PREEMPTED : TRAIN_DONE);
        before = part[i].stop;
        if (part[i].stop)
            train_result_release(&r);
    }
    assert_same(&whole, &r, 2);
    train_result_release(&r);
    train_result_release(&whole);
    kit_store_release(&kept);
}

/* The bytes of the checkpoint itself: it is whole, whoever held its parts. Seconds differ. */
static void test_the_checkpoint_holds_the_same_tensors(void **st)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 30);
    struct train_job s = shared_spec();
    struct train_data d = kit_digits(a, &s);
    struct train_result r;
    struct kit_store kept[2];
    struct ckpt k[2];
    struct err e;
    (void)st;
    for (int i = 0; i < 2; i++) {
        struct stopper p = { .at = 7 };
        const struct train_observer o = { .ctx = &p, .on_step = on_step, .should_stop = should_stop };
        run(a, s, i ? 4 : 1, &d, kit_store_init(&kept[i]), &o, &r);
        train_result_release(&r);
        assert_int_equal(ckpt_read(a, buf_str(&kept[i].kept[0]), &k[i], &e), ERR_OK);
    }
    assert_int_equal(k[0].file.tensor_count, k[1].file.tensor_count);
    assert_int_equal(k[0].file.tensor_count, 3 * 4);        /* two layers' weights and biases, and two moments of each */
    for (size_t i = 0; i < k[0].file.tensor_count; i++) {
        const struct st_tensor *one = &k[0].file.tensors[i], *four = st_find(&k[1].file, one->name);
        assert_non_null(four);
        assert_int_equal(one->size_bytes, four->size_bytes);
        assert_memory_equal(one->data, four->data, one->size_bytes);
    }
    for (int i = 0; i < 2; i++)
        kit_store_release(&kept[i]);
}

/* A loss that is no number rolls all of them back together. */
static void test_all_roll_back_together(void **st)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 30);
    struct train_job s = shared_spec();
    struct train_data d = kit_digits(a, &s);
    struct train_result r;
    struct kit_store kept;
    struct err e = { 0 };
    (void)st;
    s.optimizer = TRAIN_SGD;
    s.learning_rate = 10;
    s.clip_norm = 0;
    s.warmup_steps = 0;
    s.ranks = s.accumulate = 4;
    s.batch_size = 8;
    s.epochs = 20;
    assert_int_equal(kit_run_in(a, &s, &d, kit_store_init(&kept), 1, NULL, &r, &e), ERR_UNPROCESSABLE);
    assert_non_null(strstr(e.msg, "the loss is no longer a number"));
    kit_store_release(&kept);
}

static void test_what_does_not_fit_says_so(void **st)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 30);
    struct train_job s = shared_spec();
    struct train_data d = kit_digits(a, &s);
    struct train_result r;
    struct err e = { 0 };
    (void)st;
    s.ranks = 4;
    struct train_task job = { .spec = &s, .data = &d, .backend = kit_backend(), .clock = &clock_system,
                              .dataset_digest = STR("sha256:kit"), .memory_max_bytes = 4 * 170000 };
    assert_int_equal(train_run(a, &job, NULL, &r, &e), ERR_LIMIT);
    assert_non_null(strstr(e.msg, "for sums of gradients over batches and ranks"));
    job.memory_max_bytes = 4 * 700000;
    if (train_run(a, &job, NULL, &r, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    train_result_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_perceptrons),
        cmocka_unit_test(test_a_tiny_model_has_ranks_that_own_nothing),
        cmocka_unit_test(test_images),
        cmocka_unit_test(test_decoders),
        cmocka_unit_test(test_a_checkpoint_of_some_ranks_is_read_by_any_other_number),
        cmocka_unit_test(test_the_checkpoint_holds_the_same_tensors),
        cmocka_unit_test(test_all_roll_back_together),
        cmocka_unit_test(test_what_does_not_fit_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
