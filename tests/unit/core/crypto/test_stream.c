/* SPDX-License-Identifier: Apache-2.0 */
/* test_stream.c - round trips at the edges of chunks, every tampering refused by name, random access. */
#include "crypto_test.h"
#include "core/crypto/rand.h"
#include "core/crypto/stream.h"

enum { SEALED_CHUNK = STREAM_CHUNK + STREAM_TAG };

static struct secret32 key;
static struct stream_ref ref;

static enum errc to_buf(void *ctx, const void *p, size_t n, struct err *e)
{
    (void)e;
    return buf_add(ctx, p, n) ? ERR_OK : ERR_LIMIT;
}

static void seal(const uint8_t *p, size_t n, size_t step, struct buf *out)
{
    struct stream_sealer *s = NULL;
    buf_clear(out);
    OK(stream_sealer_new(&key, &ref, to_buf, out, &s, NULL));
    for (size_t at = 0; at < n; at += step)
        OK(stream_sealer_feed(s, p + at, n - at < step ? n - at : step, NULL));
    OK(stream_sealer_finish(s, NULL));
    stream_sealer_free(s);
}

static enum errc open_as(const struct stream_ref *as, const void *p, size_t n, size_t step, struct buf *out, struct err *e)
{
    struct stream_opener *s = NULL;
    enum errc rc = stream_opener_new(&key, as, to_buf, out, &s, e);
    buf_clear(out);
    for (size_t at = 0; at < n && rc == ERR_OK; at += step)
        rc = stream_opener_feed(s, (const uint8_t *)p + at, n - at < step ? n - at : step, e);
    if (rc == ERR_OK)
        rc = stream_opener_finish(s, e);
    stream_opener_free(s);
    return rc;
}

static uint8_t *noise(size_t n)
{
    uint8_t *p = malloc(n ? n : 1);
    OK(rand_bytes(p, n, NULL));
    return p;
}

static void test_round_trips(void **state)
{
    static const size_t sizes[] = { 0, 1, 1000, STREAM_CHUNK - 1, STREAM_CHUNK, STREAM_CHUNK + 1, 2 * STREAM_CHUNK, 2500000 };
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct buf sealed = BUF(16 << 20), plain = BUF(16 << 20);
        uint8_t *p = noise(sizes[i]);
        uint64_t size;
        seal(p, sizes[i], 77777, &sealed);
        assert_int_equal(sealed.len, stream_sealed_size(sizes[i]));
        assert_true(stream_plain_size(sealed.len, &size));
        assert_int_equal(size, sizes[i]);
        OK(open_as(&ref, sealed.ptr, sealed.len, 99999, &plain, NULL));
        assert_int_equal(plain.len, sizes[i]);
        assert_memory_equal(plain.ptr ? plain.ptr : "", p, sizes[i]);
        buf_release(&sealed);
        buf_release(&plain);
        free(p);
    }
}

static void expect(const char *text, const void *p, size_t n)
{
    struct buf plain = BUF(16 << 20);
    struct err e;
    assert_int_equal(open_as(&ref, p, n, 1 << 20, &plain, &e), ERR_DAMAGED);
    if (!strstr(e.msg, text))
        fail_msg("\"%s\" does not say \"%s\"", e.msg, text);
    buf_release(&plain);
}

/* Three chunks: cut at every kind of place, chunks exchanged, an end put on top of another end. */
static void test_cut_moved_extended(void **state)
{
    size_t n = 2 * STREAM_CHUNK + 100;
    struct buf a = BUF(16 << 20), b = BUF(16 << 20);
    uint8_t *p = noise(n), *two;
    (void)state;
    seal(p, n, n, &a);
    seal(p, n, n, &b);
    uint8_t *s = (uint8_t *)a.ptr;
    expect("header", s, 0);
    expect("header", s, STREAM_HEAD - 1);
    expect("chunk 0", s, STREAM_HEAD);
    expect("cut off after chunk 0", s, STREAM_HEAD + SEALED_CHUNK);
    expect("cut off after chunk 1", s, STREAM_HEAD + 2 * SEALED_CHUNK);
    expect("cut off in chunk 2", s, STREAM_HEAD + 2 * SEALED_CHUNK + 5);
    expect("chunk 2", s, a.len - 1);
    two = malloc(a.len + SEALED_CHUNK);
    memcpy(two, s, a.len);                                                  /* chunks 0 and 1 change places */
    memcpy(two + STREAM_HEAD, s + STREAM_HEAD + SEALED_CHUNK, SEALED_CHUNK);
    memcpy(two + STREAM_HEAD + SEALED_CHUNK, s + STREAM_HEAD, SEALED_CHUNK);
    expect("chunk 0", two, a.len);
    memcpy(two, s, a.len);                                                  /* chunk 1 of the same object sealed again */
    memcpy(two + STREAM_HEAD + SEALED_CHUNK, b.ptr + STREAM_HEAD + SEALED_CHUNK, SEALED_CHUNK);
    expect("chunk 1", two, a.len);
    memcpy(two, s, a.len);
    memset(two + a.len, 0, 50);
    expect("chunk 2", two, a.len + 50);
    seal(p, STREAM_CHUNK, n, &b);                                           /* a full last chunk, then more */
    memcpy(two, b.ptr, b.len);
    memset(two + b.len, 0, 50);
    expect("goes on after its last chunk 0", two, b.len + 50);
    free(two);
    free(p);
    buf_release(&a);
    buf_release(&b);
}

static void test_ten_thousand_changes(void **state)
{
    struct buf sealed = BUF(1 << 20), plain = BUF(1 << 20);
    uint8_t *p = noise(300), r[3];
    (void)state;
    seal(p, 300, 300, &sealed);
    for (int i = 0; i < 10000; i++) {
        OK(rand_bytes(r, sizeof r, NULL));
        size_t at = (size_t)i < sealed.len ? (size_t)i : (size_t)(r[0] << 8 | r[1]) % sealed.len;
        uint8_t flip = (uint8_t)(r[2] | 1);
        sealed.ptr[at] = (char)(sealed.ptr[at] ^ flip);
        struct stream_reader *reader = NULL;
        uint8_t out[400];
        size_t len;
        enum errc rc = stream_reader_new(&key, &ref, (uint8_t *)sealed.ptr, sealed.len, &reader, NULL);
        if (rc == ERR_OK)
            rc = stream_open_chunk(reader, 0, sealed.ptr + STREAM_HEAD, sealed.len - STREAM_HEAD, out, &len, NULL);
        stream_reader_free(reader);
        assert_int_equal(rc, ERR_DAMAGED);
        sealed.ptr[at] = (char)(sealed.ptr[at] ^ flip);
    }
    OK(open_as(&ref, sealed.ptr, sealed.len, 13, &plain, NULL));
    buf_release(&sealed);
    buf_release(&plain);
    free(p);
}

static void test_other_object(void **state)
{
    struct buf sealed = BUF(1 << 20), plain = BUF(1 << 20);
    (void)state;
    seal((const uint8_t *)"hello", 5, 5, &sealed);
    struct stream_ref other[5] = { ref, ref, ref, ref, ref };
    other[0].tenant = uuid_v7(5);
    other[1].object_kind = STR("model");
    other[2].object_id = uuid_v7(5);
    other[3].object_version++;
    other[4].dek_id = uuid_v7(5);
    for (int i = 0; i < 5; i++) {
        struct err e;
        assert_int_equal(open_as(&other[i], sealed.ptr, sealed.len, 100, &plain, &e), ERR_DAMAGED);
        assert_non_null(strstr(e.msg, "not the one that was asked for"));
    }
    key.b[3] ^= 1;
    assert_int_equal(open_as(&ref, sealed.ptr, sealed.len, 100, &plain, NULL), ERR_DAMAGED);
    key.b[3] ^= 1;
    buf_release(&sealed);
    buf_release(&plain);
}

static void test_random_access(void **state)
{
    size_t n = 3 * STREAM_CHUNK + 17, len;
    uint64_t at;
    struct buf sealed = BUF(16 << 20);
    uint8_t *p = noise(n), *out = malloc(STREAM_CHUNK);
    struct stream_reader *r = NULL;
    (void)state;
    seal(p, n, 1 << 19, &sealed);
    OK(stream_reader_new(&key, &ref, (uint8_t *)sealed.ptr, sealed.len, &r, NULL));
    assert_int_equal(stream_reader_chunks(r), 4);
    for (uint32_t i = 4; i-- > 0;) {
        stream_chunk_at(r, i, &at, &len);
        OK(stream_open_chunk(r, i, sealed.ptr + at, len, out, &len, NULL));
        assert_int_equal(len, i == 3 ? 17 : STREAM_CHUNK);
        assert_memory_equal(out, p + (size_t)i * STREAM_CHUNK, len);
    }
    stream_chunk_at(r, 1, &at, &len);
    assert_int_equal(stream_open_chunk(r, 2, sealed.ptr + at, len, out, &len, NULL), ERR_DAMAGED);
    assert_int_equal(stream_open_chunk(r, 4, sealed.ptr, 20, out, &len, NULL), ERR_INVALID);
    stream_reader_free(r);
    uint64_t none;
    assert_false(stream_plain_size(STREAM_HEAD, &none));
    assert_false(stream_plain_size(STREAM_HEAD + SEALED_CHUNK + STREAM_TAG, &none));
    buf_release(&sealed);
    free(out);
    free(p);
}

static void test_failed_stays_failed(void **state)
{
    struct buf none = BUF(10);
    struct stream_sealer *s = NULL;
    (void)state;
    OK(stream_sealer_new(&key, &ref, to_buf, &none, &s, NULL));
    OK(stream_sealer_feed(s, "x", 1, NULL));
    assert_int_equal(stream_sealer_finish(s, NULL), ERR_LIMIT);
    assert_int_equal(stream_sealer_feed(s, "x", 1, NULL), ERR_CONFLICT);
    stream_sealer_freep(&s);
    assert_null(s);
    buf_release(&none);
}

int main(void)
{
    OK(rand_key(key.b, 32, NULL));
    ref = (struct stream_ref){ uuid_v7(1), STR("dataset"), uuid_v7(2), 1, uuid_v7(3) };
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_round_trips), cmocka_unit_test(test_cut_moved_extended),
                                        cmocka_unit_test(test_ten_thousand_changes), cmocka_unit_test(test_other_object),
                                        cmocka_unit_test(test_random_access), cmocka_unit_test(test_failed_stays_failed) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
