/* SPDX-License-Identifier: Apache-2.0 */
/* test_pages.c - only whole pages within a range go, and what went takes no memory; code that went is still there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>
#include "core/base/pages.h"

enum { PAGES = 5 };

/* Resident pages of this process: all of them, or those of files. */
static long resident(int column)
{
    long at[3] = { 0 };
    FILE *f = fopen("/proc/self/statm", "re");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%ld %ld %ld", &at[0], &at[1], &at[2]), 3);
    fclose(f);
    return at[column];
}

static void only_whole_pages_go(void **state)
{
    (void)state;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *p = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), in_core[PAGES];
    size_t bytes;
    assert_true(p != MAP_FAILED);
    memset(p, 7, PAGES * page);
    assert_ptr_equal(pages_within(p + 100, 3 * page, &bytes), p + page);
    assert_int_equal(bytes, 2 * page);
    (void)pages_within(p + 1, page, &bytes);
    assert_int_equal(bytes, 0);
    pages_drop(p + 1, page);
    pages_drop(p + 100, 3 * page);
    assert_int_equal(mincore(p, PAGES * page, in_core), 0);
    for (size_t i = 0; i < PAGES; i++)
        assert_int_equal(in_core[i] & 1, i != 1 && i != 2);
    for (size_t i = 0; i < PAGES * page; i++)
        assert_int_equal(p[i], i / page == 1 || i / page == 2 ? 0 : 7);
    munmap(p, PAGES * page);
}

static const _Atomic bool stopped = true;

static void what_went_takes_no_memory(void **state)
{
    (void)state;
    const size_t bytes = (size_t)64 << 20, page = (size_t)sysconf(_SC_PAGESIZE);
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    long before = resident(1);
    pages_bring(p, bytes, true);
    assert_true(resident(1) - before > (long)(bytes / page / 2));
    assert_int_equal(p[bytes / 2], 0);
    memset(p, 1, bytes);
    pages_large(p, bytes, &stopped);
    pages_large(p, bytes, NULL);
    before = resident(1);
    pages_drop(p, bytes);
    assert_true(before - resident(1) > (long)(bytes / page / 2));
    munmap(p, bytes);
}

static void pages_go_to_another_place(void **state)
{
    (void)state;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *p = mmap(NULL, 2 * PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *to = p + (PAGES + 1) * page;
    assert_true(p != MAP_FAILED);
    assert_ptr_equal(pages_end(p), p);
    assert_ptr_equal(pages_end(p + 1), p + page);
    memset(p, 7, PAGES * page);
    memset(p + PAGES * page, 8, PAGES * page);
    long before = resident(1);
    assert_true(pages_move(to, p + page, 2 * page));
    assert_true(before - resident(1) <= 2);
    for (size_t i = 0; i < 2 * PAGES * page; i++)
        if (p + i >= to && p + i < to + 2 * page)
            assert_int_equal(p[i], 7);
        else
            assert_int_equal(p[i], i / page == 1 || i / page == 2 ? 0 : i / page < PAGES ? 7 : 8);
    munmap(to, page);
    assert_false(pages_move(to, p + 1, page));              /* no whole page: nothing goes, and there is no hole */
    assert_int_equal(p[0], 7);
    assert_int_equal(to[0], 0);
    munmap(p, 2 * PAGES * page);
}

static void code_comes_back(void **state)
{
    (void)state;
    long before = resident(2);
    pages_drop_code();
    assert_true(resident(2) < before);
    assert_int_equal(strtol("41", NULL, 10), 41);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(only_whole_pages_go), cmocka_unit_test(what_went_takes_no_memory),
                                        cmocka_unit_test(pages_go_to_another_place), cmocka_unit_test(code_comes_back) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
