/* SPDX-License-Identifier: Apache-2.0 */
/* test_batch_compute.c - of a slice that another engine refuses or is never done with each row is computed alone: the right ones
 * have their numbers, the one at fault is named with why, and with the bound where that was it. Blocks go on with the next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "../compute/ort/ort_kit.h"
#include "core/data/data_format.h"
#include "workers/lease/batch_table.h"

enum { COLS = 3, ROWS = BATCH_ROWS + 40, CALL_US = 1000000 };

static const struct data_table *table_with(struct arena *a, size_t large_at)
{
    static const struct data_schema no_label = { .target = TARGET_NONE };
    struct buf csv = BUF(1 << 20);
    struct data_table *t = ARENA_NEW(a, struct data_table);
    struct err e = { 0 };
    buf_add_c(&csv, "a,b,c\n");
    for (size_t r = 0; r < ROWS; r++)
        buf_printf(&csv, "%d,%d,%s\n", (int)(r % 7), (int)(r % 11), r == large_at ? "101" : "1");
    if (data_formats[DATA_CSV].read(a, buf_str(&csv), &no_label, t, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    buf_release(&csv);
    return t;
}

/* words: of the refusal, which is of the row large_at; NULL: all is computed. */
static void passes(const char *op, size_t large_at, const char *words)
{
    struct arena *a = arena_new((size_t)64 << 20);
    struct kit_engine k = { 0 };
    struct err e = { 0 };
    struct buf out = BUF(1 << 20);
    struct batch_table *b = NULL;
    struct infer_model *m = kit_odd(&k, op, ONNX_FLOAT, KIT_DIMS(-1, COLS));
    enum errc rc = batch_table_new(a, m, table_with(a, large_at), (struct slice){ 0 }, BATCH_CSV, 2, false, CALL_US, &b, &e);
    assert_int_equal(rc, ERR_OK);
    size_t slice = b->slice;
    while (rc == ERR_OK && b->done < ROWS)
        rc = batch_table_rows(b, &out, &e);
    if (words) {
        assert_int_equal(rc, ERR_UNPROCESSABLE);
        if (strcmp(e.msg, words) != 0)
            fail_msg("%s", e.msg);
        assert_int_equal(b->done, large_at / BATCH_ROWS * BATCH_ROWS);
    } else {
        assert_int_equal(rc, ERR_OK);
        assert_int_equal(b->slice, slice);
        const char *line = out.ptr;
        for (size_t r = 0; r < ROWS; r++) {
            char want[64];
            const int n = snprintf(want, sizeof want, "%d,%d,2\n", 2 * (int)(r % 7), 2 * (int)(r % 11));
            assert_memory_equal(line, want, n);
            line += n;
        }
    }
    batch_table_free(b);
    infer_model_free(m);
    ort_free(k.ort);
    buf_release(&out);
    arena_free(a);
}

static void all_are_computed(void **state)
{
    (void)state;
    passes("Twice", SIZE_MAX, NULL);
}

static void the_row_that_is_refused_is_named(void **state)
{
    (void)state;
    passes("Angry", 16, "row 17: ONNX Runtime: a call: a number is beyond 100");
    passes("Angry", BATCH_ROWS, "row 1025: ONNX Runtime: a call: a number is beyond 100");
}

/* Its call would end by itself after a minute. */
static void the_row_without_end_is_named_with_the_bound(void **state)
{
    (void)state;
    passes("Endless", 16, "row 17: the model was still computing these numbers when their time was over, and was stopped "
                          "(max_call_seconds: 1)");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(all_are_computed), cmocka_unit_test(the_row_that_is_refused_is_named),
                                        cmocka_unit_test(the_row_without_end_is_named_with_the_bound) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
