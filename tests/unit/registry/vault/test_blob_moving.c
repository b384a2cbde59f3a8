/* SPDX-License-Identifier: Apache-2.0 */
/* test_blob_moving.c - blobs move to a bucket under a reader, through an end in the middle and a delete. */
#include "bucket_kit.h"

static void blobs_move_and_are_never_missing(void **state)
{
    (void)state;
    enum { N = 8 };
    char dir[] = "/tmp/blob_move_XXXXXX", cmd[64];
    struct s3_options o = options();
    struct blob_store *local, *s3, *both;
    struct uuid ids[N];
    int64_t blobs, bytes;
    assert_non_null(mkdtemp(dir));
    OK(blob_store_open_local(dir, &local, &e));
    OK(blob_store_open_s3(&o, &s3, &e));
    both = blob_store_open_moving(s3, local);
    for (int i = 0; i < N; i++) {
        ids[i] = uuid_v7(10 + i);
        put_in(local, ids[i], "where it was", 12);
    }
    assert_int_equal(blob_store_move(store, &blobs, &bytes, &e), ERR_INVALID);
    put_in(both, object, "new", 3);
    holds_in(store, object, "new", 3);                          /* where blobs go to */
    OK(blob_delete(both, tenant, ids[0], &e));
    /* ends in the middle: what was moved stays moved, the rest where it was */
    if (can_fail()) {
        order("method=PUT&skip=3&times=5&status=503");
        assert_int_equal(blob_store_move(both, &blobs, &bytes, &e), ERR_UNAVAILABLE);
        assert_int_equal(blobs, 3);
        for (int i = 1; i < N; i++)
            holds_in(both, ids[i], "where it was", 12);
    }
    put_in(s3, ids[1], "where it was", 12);                     /* as if a move had ended right before it removed the origin */
    OK(blob_store_move(both, &blobs, &bytes, &e));
    for (int i = 1; i < N; i++) {
        struct blob_reader *r;
        uint64_t size;
        holds_in(both, ids[i], "where it was", 12);
        holds_in(store, ids[i], "where it was", 12);
        assert_int_equal(blob_reader_open(local, tenant, ids[i], &r, &size, &e), ERR_NOT_FOUND);
    }
    OK(blob_store_move(both, &blobs, &bytes, &e));
    assert_int_equal(blobs, 0);
    for (int i = 1; i < N; i++)
        OK(blob_delete(both, tenant, ids[i], &e));
    assert_int_equal(blob_delete(both, tenant, ids[1], &e), ERR_NOT_FOUND);
    OK(blob_delete(both, tenant, object, &e));
    blob_store_free(both);
    snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
    assert_int_equal(system(cmd), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { ON_BUCKET(blobs_move_and_are_never_missing) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
