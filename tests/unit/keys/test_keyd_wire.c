/* SPDX-License-Identifier: Apache-2.0 */
/* test_keyd_wire.c - there and back, and every cut of a frame is noticed. */
#include "keys_test.h"
#include <sys/socket.h>
#include "keys/keyd_wire.h"

static void put_all(struct buf *b, const struct tkek_ref *t, const struct dek_ref *d, const struct release_terms *r)
{
    struct key_blob k = { .n = 3, .b = { 1, 2, 3 } };
    wire_begin(b, KEYD_RELEASE);
    wire_put_tkek(b, t);
    wire_put_dek(b, d);
    wire_put_blob(b, &k);
    wire_put_terms(b, r);
    wire_put_u64(b, 0x0102030405060708u);
    assert_true(wire_end(b));
}

static bool get_all(const void *p, size_t n, struct tkek_ref *t, struct dek_ref *d, struct release_terms *r, uint64_t *v)
{
    struct wire_in in;
    struct key_blob k;
    uint8_t kind;
    bool is_open = wire_open(&in, p, n, &kind);
    wire_tkek(&in, t);
    wire_dek(&in, d);
    wire_blob(&in, &k);
    wire_terms(&in, r);
    *v = wire_u64(&in);
    return is_open && kind == KEYD_RELEASE && wire_done(&in) && k.n == 3;
}

static void test_there_and_back(void **state)
{
    struct tkek_ref t = a_tkek(uuid_v7(1), 7), t2;
    struct dek_ref d = a_dek(t.tenant), d2;
    struct release_terms r = { ZONE, uuid_v7(2), uuid_v7(3), 9, -4, { 5 } }, r2;
    struct buf b = BUF(KEYD_FRAME_MAX);
    uint64_t v;
    (void)state;
    put_all(&b, &t, &d, &r);
    assert_true(get_all(b.ptr + 4, b.len - 4, &t2, &d2, &r2, &v));
    assert_true(str_eq(t2.zone, t.zone) && uuid_eq(t2.tenant, t.tenant) && str_eq(t2.purpose, t.purpose) && t2.version == 7);
    assert_true(str_eq(d2.object_kind, d.object_kind) && uuid_eq(d2.dek_id, d.dek_id) && uuid_eq(d2.object_id, d.object_id));
    assert_true(r2.fence == 9 && r2.not_after_us == -4 && r2.worker_key[0] == 5 && uuid_eq(r2.job_id, r.job_id));
    assert_true(v == 0x0102030405060708u);
    for (size_t n = 0; n < b.len - 4; n++) {
        char *cut = malloc(n + 1);                              /* its own block, so that a sanitizer sees the edge */
        memcpy(cut, b.ptr + 4, n);
        assert_false(get_all(cut, n, &t2, &d2, &r2, &v));
        free(cut);
    }
    b.ptr[4] = 2;                                               /* another version */
    assert_false(get_all(b.ptr + 4, b.len - 4, &t2, &d2, &r2, &v));
    buf_release(&b);
}

/* A blob that claims more than it can hold is sent as none, never as one byte of it. */
static void test_a_blob_that_is_too_long_is_none(void **state)
{
    struct key_blob k = { .n = KEY_BLOB_MAX + 1, .b = { 7 } }, back = { .n = 9 };
    struct buf b = BUF(KEYD_FRAME_MAX);
    struct wire_in in;
    uint8_t kind;
    (void)state;
    wire_begin(&b, KEYD_HEALTH);
    wire_put_blob(&b, &k);
    assert_true(wire_end(&b) && wire_open(&in, b.ptr + 4, b.len - 4, &kind));
    wire_blob(&in, &back);
    assert_true(wire_done(&in));
    assert_int_equal(back.n, 0);
    k.n = KEY_BLOB_MAX;
    wire_begin(&b, KEYD_HEALTH);
    wire_put_blob(&b, &k);
    assert_true(wire_end(&b) && wire_open(&in, b.ptr + 4, b.len - 4, &kind));
    wire_blob(&in, &back);
    assert_true(wire_done(&in) && back.n == KEY_BLOB_MAX && back.b[0] == 7);
    buf_release(&b);
}

static void test_frames_on_a_socket(void **state)
{
    int s[2];
    struct buf out = BUF(KEYD_FRAME_MAX), in = BUF(KEYD_FRAME_MAX);
    const uint8_t too_long[4] = { 0, 0x10, 0, 1 }, half[6] = { 0, 0, 0, 9, 1, 16 };
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, s), 0);
    wire_begin(&out, KEYD_HEALTH);
    wire_put_text(&out, ZONE);
    assert_true(wire_end(&out));
    assert_int_equal(wire_send(s[0], &out, wire_now_us() + 1000000), WIRE_OK);
    assert_int_equal(wire_receive(s[1], &in, wire_now_us() + 1000000, 1000000), WIRE_OK);
    assert_int_equal(in.len, out.len - 4);
    assert_int_equal(wire_receive(s[1], &in, wire_now_us() + 10000, 1000000), WIRE_LATE);
    assert_int_equal(write(s[0], too_long, 4), 4);
    assert_int_equal(wire_receive(s[1], &in, wire_now_us() + 1000000, 1000000), WIRE_TOO_LONG);
    assert_int_equal(write(s[0], half, 6), 6);
    assert_int_equal(wire_receive(s[1], &in, wire_now_us() + 1000000, 20000), WIRE_LATE);     /* a slow sender */
    assert_int_equal(write(s[0], half, 6), 6);
    close(s[0]);
    assert_int_equal(wire_receive(s[1], &in, wire_now_us() + 1000000, 1000000), WIRE_BROKEN);
    assert_int_equal(wire_receive(s[1], &in, wire_now_us() + 1000000, 1000000), WIRE_END);
    assert_int_equal(wire_send(s[1], &out, wire_now_us() + 1000000), WIRE_BROKEN);
    close(s[1]);
    buf_release(&in);
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_a_blob_that_is_too_long_is_none), cmocka_unit_test(test_frames_on_a_socket) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
