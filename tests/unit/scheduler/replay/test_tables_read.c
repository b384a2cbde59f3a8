/* SPDX-License-Identifier: Apache-2.0 */
/* test_tables_read.c - what is refused, and with which words: damage of every byte, and frames that are whole but not so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "scheduler/replay/tables.h"

struct thing { int64_t wide; int32_t small; bool is; struct str text; struct uuid id; };
static const struct column columns[] = { COLUMN(thing, wide), COLUMN(thing, small, .min = 0, .max = 9), COLUMN(thing, is),
    COLUMN(thing, text), COLUMN(thing, id) };
static const struct table things = TABLE("things", thing, columns);
static const struct column fewer[] = { COLUMN(thing, text), COLUMN(thing, wide) };
static const struct table older = TABLE("things", thing, fewer), other = TABLE("others", thing, fewer);
static const struct thing rows[] = { { -5, 9, true, { "x", 1 }, { { 7 } } }, { 1, 0, false, { NULL, 0 }, { { 0 } } } };

static struct buf file_of(const struct table *t, const struct thing *r, size_t n)
{
    struct tables_out *o = tables_out_new(1 << 16);
    tables_begin(o);
    tables_part(o);
    tables_add(o, t, r, n);
    tables_part_end(o);
    struct buf b = tables_take(o);
    tables_seal(b.ptr, b.len, FILE_HEAD);
    tables_out_free(o);
    return b;
}

static enum errc read_all(struct str bytes, const struct table *t, struct arena *a, struct slice *ret, struct err *e)
{
    struct tables_in in;
    TRY(tables_open(&in, STR("dir/file"), bytes, a, e));
    TRY(tables_part_read(&in, e));
    TRY(tables_read(&in, t, 100, ret, e));
    return tables_end(&in, e);
}

static void refused(struct buf *b, const struct table *t, const char *words)
{
    struct arena *a = arena_new(1 << 20);
    struct err e = { 0 };
    struct slice r;
    assert_int_equal(read_all(buf_str(b), t, a, &r, &e), ERR_INVALID);
    if (!strstr(e.msg, words) || strncmp(e.msg, "dir/file: offset ", 17) != 0)
        fail_msg("\"%s\" is expected, \"%s\" came", words, e.msg);
    arena_free(a);
    buf_release(b);
}

static void test_whole(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct err e = { 0 };
    struct slice r;
    struct buf b = file_of(&things, rows, 2), c = file_of(&older, rows, 2);
    assert_int_equal(read_all(buf_str(&b), &things, a, &r, &e), ERR_OK);
    assert_null(tables_differ(&things, (struct slice){ (void *)(uintptr_t)rows, 2 }, r, a).ptr);
    assert_int_equal(read_all(buf_str(&c), &things, a, &r, &e), ERR_OK);        /* what it lacks is 0 */
    assert_int_equal(r.n, 2);
    assert_int_equal(((struct thing *)r.items)[0].wide, -5);
    assert_int_equal(((struct thing *)r.items)[0].small, 0);
    buf_release(&b);
    buf_release(&c);
    arena_free(a);
}

/* Any byte that is not what it was, and any shorter file. */
static void test_damage(void **state)
{
    (void)state;
    struct buf whole = file_of(&things, rows, 2);
    for (size_t at = 0; at < whole.len; at++)
        for (int bit = 0; bit < 8; bit++) {
            struct buf b = BUF(1 << 16);
            buf_add(&b, whole.ptr, whole.len);
            b.ptr[at] ^= (char)(1 << bit);
            refused(&b, &things, "");
        }
    for (size_t n = 0; n < whole.len; n++) {
        struct buf b = BUF(1 << 16);
        buf_add(&b, whole.ptr, n);
        refused(&b, &things, "");
    }
    buf_release(&whole);
}

/* Changes that a checksum vouches for: put in before it is made. */
static struct buf changed(size_t from_end, uint8_t byte)
{
    struct buf b = file_of(&things, rows, 1);   /* its only row: -5 9 1 text id, so 1 1 1 1 16 bytes before the checksum */
    b.ptr[b.len - 4 - 20 + from_end] = (char)byte;
    tables_seal(b.ptr, b.len, FILE_HEAD);
    return b;
}

static void test_words(void **state)
{
    (void)state;
    struct buf b = file_of(&things, rows, 2);
    b.ptr[b.len - 10] ^= 1;
    refused(&b, &things, "of table things do not match their checksum: they are damaged");
    b = file_of(&things, rows, 2);
    b.len -= 3;
    refused(&b, &things, "the file was cut");
    b = file_of(&things, rows, 2);
    b.ptr[0] = 'X';
    refused(&b, &things, "begins with FALAJCYC");
    b = file_of(&things, rows, 2);
    b.ptr[8] = 2;
    refused(&b, &things, "format 1 is expected, 2 came");
    b = file_of(&things, rows, 2);
    buf_add_c(&b, "more");
    refused(&b, &things, "4 bytes stand behind the end");
    b = file_of(&other, rows, 2);
    refused(&b, &things, "table things is expected, another came");
    b = file_of(&things, rows, 2);
    refused(&b, &older, "is not known to this release");
    b = changed(1, 20);
    refused(&b, &things, "small of table things: 0 to 9 is expected, 10 came");
    b = changed(2, 2);
    refused(&b, &things, "is of table things: 0 or 1 is expected, 2 came");
    b = changed(3, 2);
    refused(&b, &things, "text 2 is named, and there are 1");
    b = changed(3, 0x81);                       /* the next byte goes on with it */
    refused(&b, &things, "text 897 is named");
    b = file_of(&things, rows, 1);
    b.ptr[b.len - 4 - 20 - 4] = 2;              /* the text of the second row, and too few bytes for its id */
    memcpy(b.ptr + b.len - 4 - 16, "\1\2\0\1\0", 5);
    tables_seal(b.ptr, b.len, FILE_HEAD);
    refused(&b, &things, "middle of a row");
    b = file_of(&things, rows, 1);
    b.ptr[b.len - 4 - 20 - 4] = 2;              /* rows */
    tables_seal(b.ptr, b.len, FILE_HEAD);
    refused(&b, &things, "ends in the middle of a row");
    b = file_of(&things, rows, 1);
    b.ptr[b.len - 4 - 20 - 4] = 0;
    tables_seal(b.ptr, b.len, FILE_HEAD);
    refused(&b, &things, "20 bytes stand behind the last row");
    b = file_of(&things, rows, 1);
    b.ptr[b.len - 4 - 20 - 2] = 1;
    tables_seal(b.ptr, b.len, FILE_HEAD);
    refused(&b, &things, "more than it can hold");
}

static void test_differ(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct thing now[2] = { rows[0], rows[1] };
    const struct slice was = { (void *)(uintptr_t)rows, 2 }, is = { now, 2 };
    now[1].text = STR("");
    assert_true(str_eq_c(tables_differ(&things, was, is, a), "things row 2: text was absent, is \"\""));
    now[0].wide = 6;
    assert_true(str_eq_c(tables_differ(&things, was, is, a), "things row 1: wide was -5, is 6"));
    now[0] = rows[0];
    assert_true(str_eq_c(tables_differ(&things, was, (struct slice){ now, 1 }, a), "things: there were 2 rows, there are 1"));
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_whole), cmocka_unit_test(test_damage), cmocka_unit_test(test_words),
                                        cmocka_unit_test(test_differ) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
