/* SPDX-License-Identifier: Apache-2.0 */
/* test_blob_local.c - a blob is whole or absent, written once, and temporary files go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "core/crypto/hash.h"
#include "registry/vault/blob_store.h"

static char dir[64];
static struct blob_store *store;
static struct err e;
static const struct uuid tenant = { { 1, 2, 3 } }, object = { { 4, 5, 6, 7, [15] = 0xab } };

#define OK(call) assert_int_equal((call), ERR_OK)

static int setup(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/blob_test_XXXXXX");
    assert_non_null(mkdtemp(dir));
    OK(blob_store_open_local(dir, &store, &e));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char cmd[96];
    blob_store_free(store);
    snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
    return system(cmd);
}

static void put(struct uuid o, const char *text)
{
    struct blob_writer *w;
    uint64_t size;
    uint8_t sha[32], want[32];
    OK(blob_writer_new(store, tenant, o, &w, &e));
    OK(blob_write(w, text, strlen(text), &e));
    OK(blob_commit(w, &size, sha, &e));
    sha256(text, strlen(text), want);
    assert_int_equal(size, strlen(text));
    assert_memory_equal(sha, want, 32);
}

static void test_round_trip(void **state)
{
    (void)state;
    struct blob_reader *r;
    uint64_t size;
    char got[64] = "";
    put(object, "hello");
    OK(blob_reader_open(store, tenant, object, &r, &size, &e));
    assert_int_equal(size, 5);
    assert_int_equal(blob_read(r, got, sizeof got), 5);
    assert_int_equal(blob_read(r, got + 5, 10), 0);
    assert_string_equal(got, "hello");
    blob_reader_close(r);
    char path[256];
    struct stat st;
    snprintf(path, sizeof path, "%s/00/01020300000000000000000000000000/ab/040506070000000000000000000000ab", dir);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(st.st_nlink, 1);
}

static void test_written_once(void **state)
{
    (void)state;
    struct blob_writer *w;
    struct blob_reader *r;
    uint64_t size;
    char got[8];
    put(object, "first");
    OK(blob_writer_new(store, tenant, object, &w, &e));
    OK(blob_write(w, "second", 6, &e));
    assert_int_equal(blob_commit(w, &size, NULL, &e), ERR_EXISTS);
    OK(blob_reader_open(store, tenant, object, &r, &size, &e));
    assert_int_equal(blob_read(r, got, sizeof got), 5);
    blob_reader_close(r);
    assert_int_equal(blob_sweep(store, 0), 0);      /* the loser left nothing */
}

static void test_unfinished_is_absent_and_swept(void **state)
{
    (void)state;
    struct blob_writer *w;
    struct blob_reader *r;
    uint64_t size;
    OK(blob_writer_new(store, tenant, object, &w, &e));
    OK(blob_write(w, "half", 4, &e));
    assert_int_equal(blob_reader_open(store, tenant, object, &r, &size, &e), ERR_NOT_FOUND);
    assert_int_equal(blob_sweep(store, 3600), 0);
    assert_int_equal(blob_sweep(store, 0), 1);      /* as after a crash */
    blob_abort(w);
    OK(blob_writer_new(store, tenant, object, &w, &e));
    blob_abort(w);
    assert_int_equal(blob_sweep(store, 0), 0);
}

static bool count(void *ctx, struct uuid t, struct uuid o)
{
    (void)o;
    assert_true(uuid_eq(t, tenant));
    return ++*(int *)ctx < 2;
}

static void test_each_and_delete(void **state)
{
    (void)state;
    int n = 0;
    put(object, "a");
    put((struct uuid){ { 9 } }, "b");
    put((struct uuid){ { 8 } }, "c");
    OK(blob_each(store, 0, count, &n, &e));
    assert_int_equal(n, 2);
    n = 0;
    OK(blob_each(store, 3600, count, &n, &e));
    assert_int_equal(n, 0);
    OK(blob_delete(store, tenant, object, &e));
    assert_int_equal(blob_delete(store, tenant, object, &e), ERR_NOT_FOUND);
    assert_int_equal(blob_store_open_local("", &(struct blob_store *){ 0 }, &e), ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
            cmocka_unit_test_setup_teardown(test_written_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unfinished_is_absent_and_swept, setup, teardown),
        cmocka_unit_test_setup_teardown(test_each_and_delete, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
