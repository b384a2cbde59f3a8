/* SPDX-License-Identifier: Apache-2.0 */
/* test_ckpt.c - a checkpoint's file is read as hostile; the newest that can be used wins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "store_kit.h"

static const float numbers[] = { 1, 2, 3, 4 };

static struct buf file_of(const char *run, int64_t step)
{
    struct err e;
    struct st_tensor t = { .name = STR("w"), .dtype = ST_F32, .rank = 1, .shape = { 4 }, .data = (const void *)numbers,
                           .size_bytes = sizeof numbers };
    const struct st_pair p = { STR("epoch"), STR("7") };
    struct buf b = BUF(4096);
    assert_int_equal(ckpt_write(&b, str_c(run), step, &t, 1, &p, 1, &e), ERR_OK);
    return b;
}

static void test_a_file_comes_back(void **st)
{
    (void)st;
    struct err e;
    struct ckpt k;
    struct arena *a = arena_new(1 << 20);
    struct buf b = file_of("r", 12);
    assert_int_equal(ckpt_read(a, buf_str(&b), &k, &e), ERR_OK);
    assert_true(k.step == 12 && str_eq_c(k.run, "r") && str_eq_c(st_meta(&k.file, "epoch"), "7"));
    assert_true(str_eq_c(st_meta(&k.file, "format"), "pt"));
    assert_memory_equal(st_find(&k.file, STR("w"))->data, numbers, sizeof numbers);
    for (size_t n = 0; n < b.len; n++)
        assert_int_not_equal(ckpt_read(a, str_n(b.ptr, n), &k, &e), ERR_OK);
    buf_release(&b);
    arena_free(a);
}

static void refuse(const struct st_pair *p, size_t n, const char *why)
{
    struct err e;
    struct ckpt k;
    struct st_pair meta[4];
    struct arena *a = arena_new(1 << 20);
    struct buf b = BUF(4096);
    memcpy(meta, p, n * sizeof *p);
    assert_int_equal(st_write(&b, NULL, 0, meta, n, &e), ERR_OK);
    assert_int_equal(ckpt_read(a, buf_str(&b), &k, &e), ERR_BAD_DATA);
    if (!strstr(e.msg, why))
        fail_msg("%s", e.msg);
    buf_release(&b);
    arena_free(a);
}

static void test_what_is_no_checkpoint_is_refused_with_its_reason(void **st)
{
    (void)st;
    const struct st_pair one = { STR("checkpoint"), STR("1") }, two = { STR("checkpoint"), STR("2") }, run = { STR("run"),
        STR("r") };
    refuse((const struct st_pair[]){ run }, 1, "is no checkpoint");
    refuse((const struct st_pair[]){ two, run }, 2, "has layout 2; this version of Falaj reads layout 1");
    refuse((const struct st_pair[]){ one, run }, 2, "does not say its run and step");
    refuse((const struct st_pair[]){ one, run, { STR("step"), STR("-1") } }, 3, "does not say its run and step");
    refuse((const struct st_pair[]){ one, { STR("step"), STR("1") } }, 2, "does not say its run and step");
}

struct seen {
    int64_t step;
    enum errc answer;
    char lines[1000];
};

static enum errc take(void *ctx, struct arena *a, const struct ckpt *k, struct err *e)
{
    (void)a;
    struct seen *s = ctx;
    s->step = k->step;
    return s->answer == ERR_OK ? ERR_OK : err_set(e, s->answer, __FILE__, __LINE__, "not this one");
}

static void on_line(void *ctx, const char *line)
{
    struct seen *s = ctx;
    snprintf(s->lines, sizeof s->lines, "%s", line);
}

static void test_the_newest_that_can_be_used_wins(void **st)
{
    (void)st;
    struct kit_store kept;
    struct seen s = { 0 };
    struct err e = { 0 };
    bool found = true;
    const struct ckpt_store *store = kit_store_init(&kept);
    const struct ckpt_taker t = { &s, take, on_line };
    assert_int_equal(ckpt_restore(store, &t, &found, &e), ERR_OK);
    assert_false(found);
    for (int64_t step = 1; step <= 3; step++) {
        struct buf b = file_of("r", step);
        assert_int_equal(store->save(store->ctx, step, &b, false, &e), ERR_OK);
    }
    assert_int_equal(ckpt_restore(store, &t, &found, &e), ERR_OK);
    assert_true(found && s.step == 3 && !s.lines[0]);
    kept.kept[0].len--;
    assert_int_equal(ckpt_restore(store, &t, &found, &e), ERR_OK);
    assert_true(found && s.step == 2 && strstr(s.lines, "checkpoint 1, counted from the newest, cannot be used: "));
    s.answer = ERR_CONFLICT;
    assert_int_equal(ckpt_restore(store, &t, &found, &e), ERR_CONFLICT);
    s.answer = ERR_BAD_DATA;
    assert_int_equal(ckpt_restore(store, &t, &found, &e), ERR_DAMAGED);
    assert_non_null(strstr(e.msg, "none of the 2 checkpoints of this job can be used: not this one"));
    kit_store_release(&kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file_comes_back), cmocka_unit_test(test_what_is_no_checkpoint_is_refused_with_its_reason),
        cmocka_unit_test(test_the_newest_that_can_be_used_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
