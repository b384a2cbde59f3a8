/* SPDX-License-Identifier: Apache-2.0 */
/* test_anchor_file.c - a head of the zone is found in the file of anchors, and every line that was changed, cut out or put in is
 * seen. */
#include "tests/unit/audit/anchor_kit.h"

enum { LINES = 5 };

/* Sizes 10, 20, … 50, with the third line by another key where `stranger`. */
static struct buf file_of(bool stranger, struct bundle_head heads[LINES])
{
    struct buf b = BUF(1 << 20);
    struct merkle_hash prev = { { 0 } };
    for (int i = 0; i < LINES; i++) {
        head_of(10 * ((uint64_t)i + 1), (uint8_t)i, stranger && i == 2 ? other : k, &heads[i]);
        add_line(&b, &heads[i], &prev);
    }
    return b;
}

static const char *look(struct str text, const struct bundle_head *want, struct anchor_seen *seen)
{
    struct reader r = { text, 0 };
    return anchor_file_fault(read_mem, &r, want, keys, seen);
}

static void a_head_is_found_in_its_line(void **state)
{
    (void)state;
    struct bundle_head heads[LINES], absent;
    struct anchor_seen seen;
    struct buf b = file_of(false, heads);
    for (int i = 0; i < LINES; i++) {
        assert_null(look(buf_str(&b), &heads[i], &seen));
        assert_true(seen.is_there && seen.lines == LINES && seen.newest == 50 && seen.torn == 0);
        assert_int_equal(seen.ts_us, 1700000000000000 + 10 * (i + 1));
    }
    head_of(35, 9, k, &absent);
    assert_null(look(buf_str(&b), &absent, &seen));
    assert_false(seen.is_there);
    assert_null(look(STR(""), &absent, &seen));
    assert_true(!seen.is_there && seen.newest == 0);
    buf_release(&b);
}

static void another_head_of_the_size_is_a_fork(void **state)
{
    (void)state;
    struct bundle_head heads[LINES], fork;
    struct anchor_seen seen;
    struct buf b = file_of(false, heads);
    head_of(30, 77, k, &fork);
    assert_non_null(strstr(look(buf_str(&b), &fork, &seen), "two histories"));
    assert_int_equal(seen.lines, 3);
    buf_release(&b);
    b = file_of(true, heads);
    assert_non_null(strstr(look(buf_str(&b), &heads[0], &seen), "not signed"));
    assert_int_equal(seen.lines, 3);
    buf_release(&b);
}

/* Any byte of any line but the last line's own end. */
static void a_changed_byte_is_seen(void **state)
{
    (void)state;
    struct bundle_head heads[LINES];
    struct anchor_seen seen;
    struct buf b = file_of(false, heads);
    for (size_t i = 0; i + 1 < b.len; i += 13) {
        b.ptr[i] ^= 1;
        const char *fault = look(buf_str(&b), &heads[4], &seen);
        if (!fault && seen.torn == 0 && seen.is_there)
            fail_msg("byte %zu", i);
        b.ptr[i] ^= 1;
    }
    buf_release(&b);
}

static void a_line_cut_out_or_put_in_is_seen(void **state)
{
    (void)state;
    struct bundle_head heads[LINES];
    struct anchor_seen seen;
    struct buf b = file_of(false, heads), cut = BUF(1 << 20);
    char *second = strchr(b.ptr, '\n') + 1, *third = strchr(second, '\n') + 1;
    buf_add(&cut, b.ptr, (size_t)(second - b.ptr));
    buf_add(&cut, third, (size_t)(b.ptr + b.len - third));
    assert_non_null(strstr(look(buf_str(&cut), &heads[4], &seen), "cut out"));
    assert_int_equal(seen.lines, 2);
    buf_clear(&cut);
    buf_add(&cut, b.ptr, (size_t)(third - b.ptr));
    buf_add(&cut, second, (size_t)(b.ptr + b.len - second));
    assert_non_null(look(buf_str(&cut), &heads[4], &seen));
    buf_clear(&cut);
    buf_add_c(&cut, "nonsense\n");
    assert_non_null(look(buf_str(&cut), &heads[4], &seen));
    buf_release(&cut);
    buf_release(&b);
}

/* A crash left a line without its end; the next one chains to what is left of it. */
static void a_torn_line_is_counted(void **state)
{
    (void)state;
    struct bundle_head heads[LINES];
    struct anchor_seen seen;
    struct buf b = file_of(false, heads);
    struct merkle_hash prev;
    size_t whole = b.len;
    buf_add(&b, b.ptr, 40);
    assert_null(look(buf_str(&b), &heads[4], &seen));                 /* at the end of the file: passed over */
    assert_true(seen.is_there && seen.torn == 0);
    sha256(b.ptr + whole, 40, prev.b);
    buf_add_char(&b, '\n');
    head_of(60, 5, k, &heads[0]);
    add_line(&b, &heads[0], &prev);
    assert_null(look(buf_str(&b), &heads[0], &seen));
    assert_true(seen.is_there && seen.torn == 1 && seen.lines == LINES + 2);
    b.ptr[whole + 20] ^= 1;
    assert_non_null(look(buf_str(&b), &heads[0], &seen));
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_head_is_found_in_its_line),
        cmocka_unit_test(another_head_of_the_size_is_a_fork), cmocka_unit_test(a_changed_byte_is_seen),
        cmocka_unit_test(a_line_cut_out_or_put_in_is_seen), cmocka_unit_test(a_torn_line_is_counted) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
