/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_message.c - tensors: lists packed and not, shapes against bytes, data outside of the file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "onnx_kit.h"
#include "workers/compute/onnx/onnx_file_int.h"

static enum errc read_one(struct buf *b, struct onnx_tensor *t, struct err *e)
{
    return onnx_read_tensor(buf_str(b), t, e);
}

static void test_dims_packed_and_one_by_one(void **st)
{
    (void)st;
    CLEANUP(buf_releasep) struct buf b = BUF(256);
    struct onnx_tensor t;
    struct err e;
    const float f[6] = { 0 };
    pb_add_bytes(&b, 1, "\x02", 1);
    pb_add_number(&b, 1, 3);
    pb_add_number(&b, 2, ONNX_FLOAT);
    pb_add_bytes(&b, 9, f, sizeof f);
    assert_int_equal(read_one(&b, &t, &e), ERR_OK);
    assert_true(t.rank == 2 && t.dim[0] == 2 && t.dim[1] == 3 && t.count == 6);
}

static void refused(int64_t dim0, int64_t dim1, int type, size_t bytes, unsigned extra, enum errc code, const char *why)
{
    CLEANUP(buf_releasep) struct buf b = BUF(1024);
    struct onnx_tensor t;
    struct err e = { 0 };
    char zeros[64] = { 0 };
    pb_add_number(&b, 1, (uint64_t)dim0);
    pb_add_number(&b, 1, (uint64_t)dim1);
    pb_add_number(&b, 2, (uint64_t)type);
    pb_add_bytes(&b, 9, zeros, bytes);
    if (extra)
        pb_add_number(&b, extra, 1);
    assert_int_equal(read_one(&b, &t, &e), code);
    if (!strstr(e.msg, why))
        fail_msg("\"%s\" does not say \"%s\"", e.msg, why);
}

static void test_refusals(void **st)
{
    (void)st;
    refused(2, 3, ONNX_FLOAT, 20, 0, ERR_BAD_DATA, "its shape needs 24 bytes, it has 20");
    refused(-1, 3, ONNX_FLOAT, 24, 0, ERR_BAD_DATA, "dimension 0 is -1");
    refused((int64_t)1 << 62, 16, ONNX_FLOAT, 24, 0, ERR_BAD_DATA, "dimension");
    refused(2, 3, ONNX_STRING, 24, 0, ERR_UNPROCESSABLE, "of type STRING");
    refused(2, 3, ONNX_FLOAT, 24, 14, ERR_UNPROCESSABLE, "its data is outside the file");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_dims_packed_and_one_by_one), cmocka_unit_test(test_refusals) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
