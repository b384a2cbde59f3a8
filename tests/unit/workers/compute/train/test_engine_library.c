/* SPDX-License-Identifier: Apache-2.0 */
/* test_engine_library.c - a run whose task names a library of products: it is used on the run's context, named and heard in the
 * log, and its ways go into checkpoints and come back. The library is a stand-in that only says what it was asked. */
#include "engine_kit.h"

#include "workers/compute/kernels/product_library.h"

#define KEPT "9.1 some card;1 2 3"
static struct {
    int uses, news;
    _Atomic int bound_same;                     /* ranks that were given what was kept */
    bool is_timed, is_of_another_card, is_shared;       /* shared: ranks are threads */
    char setting[32], bound[64], log[2048];
} seen;

static bool use(struct backend_ctx *c, const char *setting, bool is_timed, char *ret, size_t size)
{
    assert_non_null(c);
    seen.uses++;
    seen.is_timed = is_timed;
    snprintf(seen.setting, sizeof seen.setting, "%s", setting);
    snprintf(ret, size, "products by a stand-in");
    return true;
}

static const char *news(struct backend_ctx *c)
{
    assert_non_null(c);
    return seen.news++ == 1 ? "a product was refused" : NULL;
}

static void keep(const struct backend_ctx *c, struct buf *ret)
{
    assert_non_null(c);
    buf_add_c(ret, KEPT);
}

static bool bind(struct backend_ctx *c, struct str text)
{
    assert_non_null(c);
    if (str_eq_c(text, KEPT))
        seen.bound_same++;
    if (!seen.is_shared)
        snprintf(seen.bound, sizeof seen.bound, "%.*s", STR_ARG(text));
    return !seen.is_of_another_card;
}

static void on_line(void *ctx, const char *line)
{
    size_t n = strlen(seen.log);
    (void)ctx;
    snprintf(seen.log + n, sizeof seen.log - n, "%s\n", line);
}

/* Steps until stop_at, from the store's checkpoint where there is one. */
static void run_on_ranks(const char *setting, const struct ckpt_store *store, int64_t stop_at, int ranks)
{
    static const struct product_library library = { use, news, keep, bind };
    struct backend be = *kit_backend();
    CLEANUP(arena_freep) struct arena *a = arena_new(256 << 20);
    struct train_job s = kit_spec();
    struct stopper p = { .at = stop_at };
    const struct train_observer o = { &p, on_step, NULL, on_line, should_stop };
    struct train_result r;
    struct train_data d;
    struct err e;
    be.library = &library;
    memset(seen.log, 0, sizeof seen.log);
    seen.uses = seen.news = 0;
    s.epochs = 1;
    s.accumulate = 2;
    s.ranks = ranks;
    assert_int_equal(train_data_rows(a, digits, &schema, &s, &d, &e), ERR_OK);
    const struct train_task job = { .spec = &s, .data = &d, .backend = &be, .clock = &clock_system,
                                    .dataset_digest = STR("sha256:test"), .store = store, .library = setting };
    if (train_run(a, &job, &o, &r, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    train_result_release(&r);
}

static void run(const char *setting, const struct ckpt_store *store, int64_t stop_at)
{
    run_on_ranks(setting, store, stop_at, 1);
}

/* One rank kept them, two go on: both use them, and what they keep in turn has them, too. */
static void test_ranks_have_the_same(void **st)
{
    (void)st;
    struct kit_store kept;
    const struct ckpt_store *store = kit_store_init(&kept);
    seen.is_of_another_card = false;
    run("auto", store, 5);
    seen.is_shared = true;
    for (int64_t stop = 9; stop <= 12; stop += 3) {
        seen.bound_same = 0;
        run_on_ranks("auto", store, stop, 2);
        assert_int_equal(seen.bound_same, 2);
    }
    seen.is_shared = false;
    kit_store_release(&kept);
}

static void test_named_and_kept(void **st)
{
    (void)st;
    struct kit_store kept;
    const struct ckpt_store *store = kit_store_init(&kept);
    run("/usr/lib/some.so", store, 5);
    assert_int_equal(seen.uses, 1);
    assert_true(seen.is_timed);
    assert_string_equal(seen.setting, "/usr/lib/some.so");
    assert_string_equal(seen.bound, "");
    assert_non_null(strstr(seen.log, "products by a stand-in\n"));
    assert_non_null(strstr(seen.log, "a product was refused\n"));
    run("auto", store, 9);
    assert_string_equal(seen.bound, "9.1 some card;1 2 3");
    assert_null(strstr(seen.log, "here others are chosen"));
    seen.is_of_another_card = true;
    run("auto", store, 12);
    assert_non_null(strstr(seen.log, "the checkpoint's products are those of cuBLASLt 9.1 some card: here others are chosen, "
                           "whose sums may differ in their last bits\n"));
    seen.bound[0] = 0;
    run(NULL, store, 20);                       /* own kernels: the library is not asked, and that is said */
    assert_int_equal(seen.uses + seen.news, 0);
    assert_string_equal(seen.bound, "");
    assert_non_null(strstr(seen.log, "here others are chosen"));
    kit_store_release(&kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_named_and_kept), cmocka_unit_test(test_ranks_have_the_same) };
    return cmocka_run_group_tests(tests, load_digits, drop_digits);
}
