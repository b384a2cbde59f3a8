/* SPDX-License-Identifier: Apache-2.0 */
/* test_npy_table.c - arrays that are no table are refused with byte, row and column. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "table_kit.h"

static void test_refusals(void **st)
{
    (void)st;
    const double bad[] = { 1, 2, 3, (double)INFINITY }, half[] = { 1, 0.5 };
    const struct data_schema one = { .label = STR("1"), .target = TARGET_NUMBER };
    refused(DATA_NPY, cells(bad, 2, 2), one, "byte 152: row 1, column 1: inf is not a finite number");
    refused(DATA_NPY, cells(half, 1, 2), (struct data_schema){ .label = STR("1") },
            "row 0, column 1: the label 0.5 is not an integer");
    refused(DATA_NPY, cells(half, 1, 2), (struct data_schema){ .label = STR("label") },
            "the array has columns 0 to 1: there is no label");
    refused(DATA_NPY, cells(half, 0, 2), one, "no data row");
    refused(DATA_NPY, STR("\x93NUMPY\1\0\0\0ab"), one, "header");
    refused(DATA_NPY, STR("nothing of the kind"), one, "byte 0: this is no .npy file");
    struct str whole = cells(CELLS, 2, 5);
    for (size_t n = 0; n < whole.len; n++)
        refused(DATA_NPY, str_n(whole.ptr, n), one, "");
    struct buf cube = BUF(4096);
    assert_true(npy_write(&cube, 'f', 8, 3, (uint64_t[]){ 1, 1, 2 }, half, sizeof half));
    refused(DATA_NPY, buf_str(&cube), one, "two dimensions, rows and columns; this one has 3");
    buf_release(&cube);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_refusals) };
    return cmocka_run_group_tests(tests, make, drop);
}
