/* SPDX-License-Identifier: Apache-2.0 */
/* test_npy.c - arrays read back as they were written, and any cut is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include "core/base/cleanup.h"
#include "core/data/npy.h"

static void test_it_reads_back(void **st)
{
    (void)st;
    CLEANUP(buf_releasep) struct buf b = BUF(4096);
    const float x[6] = { 1, 2, 3, -4, 5, 0.5f };
    struct npy a;
    struct err e;
    assert_true(npy_write(&b, 'f', 4, 2, (const uint64_t[]){ 2, 3 }, x, sizeof x));
    assert_int_equal(npy_parse(buf_str(&b), &a, &e), ERR_OK);
    assert_true(a.kind == 'f' && a.width == 4 && a.rank == 2 && a.dim[0] == 2 && a.dim[1] == 3 && a.count == 6);
    assert_true(npy_real(&a, 3) == -4 && npy_real(&a, 5) == 0.5);
    for (size_t n = 0; n < b.len; n++) {
        char *tight = malloc(n + 1);
        memcpy(tight, b.ptr, n);
        assert_int_not_equal(npy_parse(str_n(tight, n), &a, &e), ERR_OK);
        free(tight);
    }
}

static void test_whole_numbers(void **st)
{
    (void)st;
    CLEANUP(buf_releasep) struct buf b = BUF(4096);
    const int16_t x[2] = { -2, 300 };
    struct npy a;
    struct err e;
    assert_true(npy_write(&b, 'i', 2, 1, (const uint64_t[]){ 2 }, x, sizeof x));
    assert_int_equal(npy_parse(buf_str(&b), &a, &e), ERR_OK);
    assert_true(npy_whole(&a, 0) == -2 && npy_whole(&a, 1) == 300 && npy_real(&a, 0) == -2);
}

static void header(const char *dictionary, enum errc want)
{
    CLEANUP(buf_releasep) struct buf b = BUF(4096);
    struct npy a;
    struct err e;
    const char head[10] = { '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, (char)strlen(dictionary), 0 };
    buf_add(&b, head, sizeof head);
    buf_add_c(&b, dictionary);
    buf_add(&b, "\0\0\0\0\0\0\0\0", 8);
    assert_int_equal(npy_parse(buf_str(&b), &a, &e), want);
}

static void test_headers(void **st)
{
    (void)st;
    header("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", ERR_OK);
    header("{'shape': (1, 2), 'descr': '<f4', 'fortran_order': False}", ERR_OK);
    header("{'descr': '<i8', 'fortran_order': False, 'shape': (), }\n", ERR_OK);
    header("{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }\n", ERR_UNPROCESSABLE);
    header("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }\n", ERR_UNPROCESSABLE);
    header("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }\n", ERR_UNPROCESSABLE);
    header("{'descr': '<f4', 'fortran_order': False, }\n", ERR_UNPROCESSABLE);
    header("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n", ERR_BAD_DATA);
    header("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }\n", ERR_BAD_DATA);
    header("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }\n", ERR_UNPROCESSABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_it_reads_back), cmocka_unit_test(test_whole_numbers),
                                        cmocka_unit_test(test_headers) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
