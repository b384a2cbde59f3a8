/* SPDX-License-Identifier: Apache-2.0 */
/* test_blob_s3.c - the contract of blob_store.h on a bucket, through faults of the store. */
#include "bucket_kit.h"
#include "core/crypto/rand.h"

static void small_and_large_come_back(void **state)
{
    (void)state;
    enum { LARGE = 2 * BLOB_S3_PART + 4711 };
    char *large = malloc(LARGE);
    OK(rand_bytes(large, LARGE, &e));
    static const size_t sizes[] = { 0, 1, 5, 200000, BLOB_S3_PART, BLOB_S3_PART + 1, 2 * BLOB_S3_PART, LARGE };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct uuid o = uuid_v7(3);
        put_in(store, o, large, sizes[i]);
        holds_in(store, o, large, sizes[i]);
        OK(blob_delete(store, tenant, o, &e));
        struct blob_reader *r;
        uint64_t size;
        assert_int_equal(blob_reader_open(store, tenant, o, &r, &size, &e), ERR_NOT_FOUND);
        assert_int_equal(blob_delete(store, tenant, o, &e), ERR_NOT_FOUND);
    }
    free(large);
}

static void a_blob_is_written_once(void **state)
{
    (void)state;
    enum { LARGE = BLOB_S3_PART + 1 };
    char *large = calloc(1, LARGE);
    struct blob_writer *w;
    uint64_t size;
    put_in(store, object, "first", 5);
    OK(blob_writer_new(store, tenant, object, &w, &e));
    OK(blob_write(w, "other", 5, &e));
    assert_int_equal(blob_commit(w, &size, NULL, &e), ERR_EXISTS);
    OK(blob_writer_new(store, tenant, object, &w, &e));
    OK(blob_write(w, large, LARGE, &e));
    assert_int_equal(blob_commit(w, &size, NULL, &e), ERR_EXISTS);
    holds_in(store, object, "first", 5);
    OK(blob_delete(store, tenant, object, &e));
    free(large);
}

static void what_is_unfinished_is_absent_and_swept(void **state)
{
    (void)state;
    enum { LARGE = BLOB_S3_PART + 1 };
    char *large = calloc(1, LARGE);
    struct blob_writer *w;
    struct blob_reader *r;
    uint64_t size;
    OK(blob_writer_new(store, tenant, object, &w, &e));
    OK(blob_write(w, large, LARGE, &e));
    assert_int_equal(blob_reader_open(store, tenant, object, &r, &size, &e), ERR_NOT_FOUND);
    assert_int_equal(blob_sweep(store, 3600), 0);
    /* S3 tells times by the second: an upload of this one is not older than now */
    sleep(getenv("FALAJ_TEST_S3_REAL") ? 2 : 1);
    assert_int_equal(blob_sweep(store, 0), 1);          /* as after a crash */
    assert_int_not_equal(blob_commit(w, &size, NULL, &e), ERR_OK);
    OK(blob_stage_put(store, object, 0, STR("part"), &e));
    assert_int_equal(blob_sweep(store, 3600), 0);
    sleep(1);
    assert_int_equal(blob_sweep(store, 0), 1);
    free(large);
}

static struct uuid seen[4];
static int nseen, most;

static bool see(void *ctx, struct uuid t, struct uuid o)
{
    (void)ctx;
    if (uuid_eq(t, tenant) && nseen < 4)
        seen[nseen++] = o;
    return nseen < most;
}

static void each_is_told(void **state)
{
    (void)state;
    struct uuid o[3] = { uuid_v7(1), uuid_v7(2), uuid_v7(3) };
    for (int i = 0; i < 3; i++)
        put_in(store, o[i], "x", 1);
    sleep(1);
    nseen = 0, most = 4;
    OK(blob_each(store, 0, see, NULL, &e));
    assert_int_equal(nseen, 3);
    nseen = 0, most = 2;
    OK(blob_each(store, 0, see, NULL, &e));
    assert_int_equal(nseen, 2);
    nseen = 0, most = 4;
    OK(blob_each(store, 3600, see, NULL, &e));
    assert_int_equal(nseen, 0);
    for (int i = 0; i < 3; i++)
        OK(blob_delete(store, tenant, o[i], &e));
}

static void a_store_that_stumbles_is_asked_again(void **state)
{
    (void)state;
    static const char *const faults[] = { "method=PUT&times=2&status=503", "method=PUT&times=1&cut=before",
                                          "method=PUT&times=1&cut=after",
                                          "method=GET&times=1&cut=half", "method=HEAD&times=1&status=500",
                                              "method=DELETE&times=1&cut=after" };
    char text[20000];
    memset(text, 't', sizeof text);
    for (size_t i = 0; i < sizeof faults / sizeof *faults && can_fail(); i++) {
        struct uuid o = uuid_v7(5);
        order(faults[i]);
        put_in(store, o, text, sizeof text);
        holds_in(store, o, text, sizeof text);
        OK(blob_delete(store, tenant, o, &e));
    }
}

static void what_it_refuses_is_said(void **state)
{
    (void)state;
    struct s3_options o = options();
    struct blob_store *bad;
    struct blob_writer *w;
    uint64_t size;
    OK(blob_store_look(store, &e));
    o.secret = "not the secret";
    OK(blob_store_open_s3(&o, &bad, &e));
    assert_int_equal(blob_store_look(bad, &e), ERR_IO);
    assert_non_null(strstr(e.msg, "does not let Falaj in"));
    assert_int_equal(blob_store_look(bad, &e), ERR_IO);         /* as it was a moment ago */
    OK(blob_writer_new(bad, tenant, object, &w, &e));
    assert_int_equal(blob_commit(w, &size, NULL, &e), ERR_IO);
    assert_non_null(strstr(e.detail, "403 SignatureDoesNotMatch"));
    blob_store_free(bad);
    static const char *const urls[] = { "", "ftp://h/b", "http://h", "http://h/", "http://u@h/b", "https:///b" };
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        o = options();
        o.url = urls[i];
        assert_int_equal(blob_store_open_s3(&o, &bad, &e), ERR_INVALID);
    }
    o = options();
    o.secret = "";
    assert_int_equal(blob_store_open_s3(&o, &bad, &e), ERR_INVALID);
    if (!can_fail())
        return;
    order("method=PUT&times=5&status=503");
    OK(blob_writer_new(store, tenant, object, &w, &e));
    assert_int_equal(blob_commit(w, &size, NULL, &e), ERR_UNAVAILABLE);
    put_in(store, object, "then", 4);
    OK(blob_delete(store, tenant, object, &e));
}

int main(void)
{
    const struct CMUnitTest tests[] = { ON_BUCKET(small_and_large_come_back),
                                        ON_BUCKET(a_blob_is_written_once),
                                        ON_BUCKET(what_is_unfinished_is_absent_and_swept),
                                        ON_BUCKET(each_is_told),
                                        ON_BUCKET(a_store_that_stumbles_is_asked_again),
                                        ON_BUCKET(what_it_refuses_is_said) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
