/* SPDX-License-Identifier: Apache-2.0 */
/* test_child_wire.c - the largest lease that the API can grant reaches the child in one frame, whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/base/cleanup.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "workers/agent/client.h"
#include "workers/lease/child_wire.h"
#include "workers/lease/frame.h"

static void the_largest_grant_fits_a_frame(void **state)
{
    (void)state;
    enum { SPEC = 65536 };
    static char spec[SPEC + 1], name[129], path[1001], sha[65], ca[CHILD_CA_MAX + 1];
    struct lease_input inputs[INPUTS_MAX];
    CLEANUP(buf_releasep) struct buf b = BUF(FRAME_MAX - sizeof(uint32_t));
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    memset(name, '"', sizeof name - 1);
    memset(path, 'p', sizeof path - 1);
    memset(sha, 'a', sizeof sha - 1);
    for (size_t i = 0; i < CHILD_CA_MAX; i++)
        ca[i] = i % 65 == 64 ? '\n' : 'A';          /* as PEM is: each line's end takes two characters */
    memset(spec, '"', SPEC);
    memcpy(spec, "{\"fail\":\"", 9);
    memset(spec + 9, 'x', SPEC - 11);
    spec[SPEC - 2] = '"';
    spec[SPEC - 1] = '}';
    const struct uuid id = { { 1, 2, 3 } };
    for (size_t i = 0; i < INPUTS_MAX; i++)
        inputs[i] = (struct lease_input){ .name = str_c(name), .object_id = id, .kind = STR("checkpoint"), .version = UINT32_MAX,
                                          .size_bytes = INT64_MAX, .sha256 = str_c(sha) };
    const struct child_grant g = {
        .lease = { id, id, id, INT64_MAX, STR("train"), str_c(name), STR("ae-dxb-1"), { str_n(spec, SPEC) }, 4096, 64, INT64_MAX, INT64_MAX,
                   INT64_MAX, INT64_MAX, 1000, INT64_MIN, { inputs, INPUTS_MAX } },
        .work_dir = str_c(path), .backend = STR("auto"), .ca_pem = str_c(ca),
        .tun_device = str_n(path, 255), .memory_bytes = 1, .uid = UINT32_MAX, .gid = UINT32_MAX, .parent = 2,
    };
    struct child_grant got = { 0 };
    struct err e;
    json_encode(&child_grant_schema, &g, &b);
    assert_false(b.overflow);
    assert_int_equal(json_decode(&child_grant_schema, buf_str(&b), a, &got, &e), ERR_OK);
    assert_int_equal(got.lease.inputs.n, INPUTS_MAX);
    assert_string_equal(got.lease.spec.text.ptr, spec);
    assert_string_equal(got.ca_pem.ptr, ca);
    assert_true(got.uid == UINT32_MAX && got.gid == UINT32_MAX && !got.keeps_checkpoints);
    assert_int_equal(schema_check_table(&child_grant_schema, &e), ERR_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_largest_grant_fits_a_frame) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
