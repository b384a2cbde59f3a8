/* SPDX-License-Identifier: Apache-2.0 */
/* test_tables.c - the bytes as the header describes them, and a file that would be too large. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/crypto/hash.h"
#include "scheduler/replay/tables.h"

struct thing { int64_t wide; int32_t small; bool is; struct str text; };
static const struct column columns[] = { COLUMN(thing, wide), COLUMN(thing, small), COLUMN(thing, is), COLUMN(thing, text) };
static const struct table things = TABLE("things", thing, columns);

static void test_bytes(void **state)
{
    (void)state;
    static const uint8_t expect[] = {
        'F', 'A', 'L', 'A', 'J', 'C', 'Y', 'C', 1, 0, 0, 0,
        22, 0, 0, 0, 5, 't', 'e', 'x', 't', 's', 1, 's', 4, 't', 'e', 'x', 't', 2, 0, 0, 0, 2, 'a', 'b', 1, 'c', 0, 0, 0, 0 };
    const struct thing rows[] = { { -1, 64, true, STR("ab") }, { 300, -65, false, STR("c") }, { 0, 0, true, STR_NULL },
                                  { 1, 0, false, STR("ab") } };
    static const uint8_t cells[] = { 1, 0x80, 1, 1, 1, 0xd8, 4, 0x81, 1, 0, 2, 0, 0, 1, 0, 2, 0, 0, 1 };
    struct tables_out *o = tables_out_new(1 << 20);
    tables_begin(o);
    tables_part(o);
    tables_add(o, &things, rows, 4);
    tables_part_end(o);
    struct buf b = tables_take(o);
    const size_t second = sizeof expect;
    assert_true(b.len > second);
    assert_memory_equal(b.ptr, expect, sizeof expect);
    const uint8_t *at = (const uint8_t *)b.ptr + 12;
    const size_t texts = (size_t)at[0];
    assert_int_equal(12 + 8 + texts, second);
    at = (const uint8_t *)b.ptr + b.len - 4 - sizeof cells;
    assert_memory_equal(at, cells, sizeof cells);
    assert_memory_equal(b.ptr + b.len - 4, "\0\0\0\0", 4);
    tables_seal(b.ptr, b.len, FILE_HEAD);
    const uint32_t crc = crc32_of(b.ptr + 12, 4 + texts);
    assert_int_equal((uint8_t)b.ptr[12 + 4 + texts], crc & 255);
    assert_int_equal((uint8_t)b.ptr[12 + 7 + texts], crc >> 24);
    buf_release(&b);
    tables_out_free(o);
}

/* Many texts, each once. */
static void test_texts(void **state)
{
    (void)state;
    struct arena *a = arena_new((size_t)64 << 20);
    struct thing *rows = ARENA_ARRAY(a, struct thing, 30000);
    struct tables_out *o = tables_out_new(1 << 20);
    struct slice back;
    struct tables_in in;
    struct err e = { 0 };
    for (int i = 0; i < 30000; i++)
        rows[i].text = str_fmt(a, "text %d", i % 10000);
    for (int round = 0; round < 2; round++) {           /* a part begins anew */
        tables_begin(o);
        tables_part(o);
        tables_add(o, &things, rows, 30000);
        tables_part_end(o);
        struct buf b = tables_take(o);
        tables_seal(b.ptr, b.len, FILE_HEAD);
        assert_int_equal(tables_open(&in, STR("f"), buf_str(&b), a, &e), ERR_OK);
        assert_int_equal(tables_part_read(&in, &e), ERR_OK);
        assert_int_equal(in.texts.n, 10000);
        assert_int_equal(tables_read(&in, &things, 30000, &back, &e), ERR_OK);
        assert_null(tables_differ(&things, (struct slice){ rows, 30000 }, back, a).ptr);
        buf_release(&b);
    }
    tables_out_free(o);
    arena_free(a);
}

static void test_too_large(void **state)
{
    (void)state;
    static const struct thing rows[100] = { { 0 } };
    struct tables_out *o = tables_out_new(300);
    for (int n = 1; n <= 100; n += 99) {
        tables_begin(o);
        tables_part(o);
        tables_add(o, &things, rows, (size_t)n);
        tables_part_end(o);
        struct buf b = tables_take(o);
        assert_int_equal(b.len > 0, n == 1);    /* and it goes on after one that was given up */
        buf_release(&b);
        tables_begin(o);
    }
    tables_out_free(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_bytes), cmocka_unit_test(test_texts),
        cmocka_unit_test(test_too_large) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
