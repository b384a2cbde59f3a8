/* SPDX-License-Identifier: Apache-2.0 */
/* test_part.c - what was sealed opens with the one key, and no change of the file goes unseen: order and end too. */
#include "tests/unit/backup/fixture.h"
#include "backup/part.h"

enum { SIZE = 3 * STREAM_CHUNK + 77, HEAD = 8 + 16 + 32 + 80, CHUNK = STREAM_CHUNK + STREAM_TAG };

static struct secret32 mine, other;
static uint8_t to[X25519_BYTES], *plain;
static struct uuid set = { { 1, 2, 3 } };

static enum errc collect(void *ctx, const void *p, size_t n, struct err *err)
{
    (void)err;
    assert_true(buf_add(ctx, p, n));
    return ERR_OK;
}

static struct part_sum seal(const char *name)
{
    struct part_writer *w;
    struct part_sum sum;
    unlink(fx_path("part"));
    OK(part_writer_new(fx_path("part"), set, name, to, &w, &e));
    for (size_t at = 0; at < SIZE; at += 100000)
        OK(part_write(w, plain + at, SIZE - at < 100000 ? SIZE - at : 100000, &e));
    OK(part_finish(w, &sum, &e));
    return sum;
}

static enum errc open_as(struct uuid of, const char *name, const struct secret32 *key)
{
    CLEANUP(buf_releasep) struct buf b = BUF(SIZE + 1);
    enum errc rc = part_open(fx_path("part"), of, name, key, collect, &b, &e);
    if (rc == ERR_OK)
        assert_true(b.len == SIZE && memcmp(b.ptr, plain, SIZE) == 0);
    return rc;
}

static void one_key_opens_it(void **state)
{
    (void)state;
    struct part_sum sum = seal("database"), is;
    struct stat st;
    OK(open_as(set, "database", &mine));
    FAILS(open_as(set, "database", &other), FORBIDDEN, "not the recovery key");
    OK(part_sum_of(fx_path("part"), &is, &e));
    assert_true(is.bytes == sum.bytes && memcmp(is.sha256, sum.sha256, SHA256_BYTES) == 0);
    assert_int_equal(stat(fx_path("part"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    FAILS(part_sum_of(fx_path("nothing"), &is, &e), NOT_FOUND, "missing");
}

static void it_opens_in_its_place_only(void **state)
{
    (void)state;
    struct uuid elsewhere = { { 9 } };
    seal("database");
    FAILS(open_as(elsewhere, "database", &mine), DAMAGED, "another backup");
    FAILS(open_as(set, "files", &mine), DAMAGED, "head was changed");
}

static void change(off_t at, const void *p, size_t n)
{
    int fd = open(fx_path("part"), O_RDWR | O_CLOEXEC);
    assert_int_equal(pwrite(fd, p, n, at), n);
    close(fd);
}

/* One bit, anywhere: the head of the file, that of the stream, the first, a middle and the last chunk. */
static void no_bit_may_change(void **state)
{
    (void)state;
    const off_t places[] = { 0, 8, 30, 60, HEAD - 1, HEAD + 10, HEAD + 100, HEAD + CHUNK + 500, HEAD + 3 * CHUNK + 60 };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        uint8_t byte;
        seal("database");
        int fd = open(fx_path("part"), O_RDONLY | O_CLOEXEC);
        assert_int_equal(pread(fd, &byte, 1, places[i]), 1);
        close(fd);
        byte ^= 1;
        change(places[i], &byte, 1);
        assert_int_not_equal(open_as(set, "database", &mine), ERR_OK);
    }
}

static void order_and_end_are_sealed(void **state)
{
    (void)state;
    uint8_t *a = malloc(CHUNK), *b = malloc(CHUNK);
    off_t first = HEAD + STREAM_HEAD;
    struct part_sum sum = seal("database");
    int fd = open(fx_path("part"), O_RDONLY | O_CLOEXEC);
    assert_int_equal(pread(fd, a, CHUNK, first), CHUNK);
    assert_int_equal(pread(fd, b, CHUNK, first + CHUNK), CHUNK);
    close(fd);
    change(first, b, CHUNK);
    change(first + CHUNK, a, CHUNK);
    FAILS(open_as(set, "database", &mine), DAMAGED, "chunk 0");
    for (int cut = 0; cut < 4; cut++) {
        static const off_t keep[] = { HEAD - 1, HEAD + 3, HEAD + STREAM_HEAD + CHUNK, HEAD + STREAM_HEAD + 3 * CHUNK };
        seal("database");
        assert_int_equal(truncate(fx_path("part"), keep[cut]), 0);
        FAILS(open_as(set, "database", &mine), DAMAGED, "cut");
    }
    seal("database");
    change((off_t)sum.bytes, "more", 4);
    assert_int_equal(open_as(set, "database", &mine), ERR_DAMAGED);
    free(a);
    free(b);
}

static void nothing_is_written_over(void **state)
{
    (void)state;
    struct part_writer *w;
    seal("database");
    FAILS(part_writer_new(fx_path("part"), set, "database", to, &w, &e), IO, "cannot be made");
    OK(open_as(set, "database", &mine));
}

static int setup(void **state)
{
    uint8_t unused[X25519_BYTES];
    plain = malloc(SIZE);
    for (size_t i = 0; i < SIZE; i++)
        plain[i] = (uint8_t)(i * 31 + i / 997);
    OK(x25519_keygen(&mine, to, &e));
    OK(x25519_keygen(&other, unused, &e));
    return fx_setup(state);
}
static int teardown(void **state)
{
    free(plain);
    return fx_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_key_opens_it), cmocka_unit_test(it_opens_in_its_place_only), cmocka_unit_test(no_bit_may_change),
        cmocka_unit_test(order_and_end_are_sealed), cmocka_unit_test(nothing_is_written_over),
    };
    return cmocka_run_group_tests_name("backup_part", tests, setup, teardown);
}
