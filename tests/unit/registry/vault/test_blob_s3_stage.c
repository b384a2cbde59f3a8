/* SPDX-License-Identifier: Apache-2.0 */
/* test_blob_s3_stage.c - a blob in parts on a bucket: sent again, with a gap, inside of another, shorter; whole only when it is.
 * */
#include "bucket_kit.h"

static void stage_has(const char *text)
{
    uint8_t sha[32], want[32];
    sha256(text, strlen(text), want);
    OK(blob_stage_hash(store, object, scratch, strlen(text), sha, &e));
    assert_memory_equal(sha, want, 32);
}

static void parts_in_any_repetition_make_the_whole(void **state)
{
    (void)state;
    uint8_t sha[32];
    assert_int_equal(blob_stage_hash(store, object, scratch, 0, sha, &e), ERR_CONFLICT);
    OK(blob_stage_put(store, object, 0, STR("left by an earlier try"), &e));
    OK(blob_stage_put(store, object, 22, STR(", which had two parts"), &e));
    OK(blob_stage_put(store, object, 0, STR("abc"), &e));
    OK(blob_stage_put(store, object, 3, STR("def"), &e));
    OK(blob_stage_put(store, object, 3, STR("def"), &e));
    assert_int_equal(blob_stage_put(store, object, 7, STR("h"), &e), ERR_CONFLICT);
    assert_non_null(strstr(e.msg, "only 6 bytes have come"));
    assert_int_equal(blob_stage_put(store, object, 4, STR("e"), &e), ERR_CONFLICT);
    assert_non_null(strstr(e.msg, "send from byte 3"));
    OK(blob_stage_put(store, object, 6, STR("gone"), &e));
    OK(blob_stage_put(store, object, 3, STR("de"), &e));        /* shorter: what stood behind it is sent again */
    OK(blob_stage_put(store, object, 5, STR("fg"), &e));
    assert_int_equal(blob_stage_hash(store, object, scratch, 8, sha, &e), ERR_CONFLICT);
    assert_non_null(strstr(e.msg, "7 bytes came, 8 were announced"));
    stage_has("abcdefg");
    OK(blob_stage_commit(store, tenant, object, &e));
    holds_in(store, object, "abcdefg", 7);
    assert_int_equal(blob_stage_hash(store, object, scratch, 7, sha, &e), ERR_CONFLICT);    /* the stage is gone */
    OK(blob_stage_put(store, object, 0, STR("other"), &e));
    assert_int_equal(blob_stage_commit(store, tenant, object, &e), ERR_EXISTS);
    holds_in(store, object, "abcdefg", 7);
    stage_has("other");                                         /* whoever commits may try again */
    OK(blob_delete(store, tenant, object, &e));
    OK(blob_stage_commit(store, tenant, object, &e));
    holds_in(store, object, "other", 5);
    OK(blob_delete(store, tenant, object, &e));
}

int main(void)
{
    const struct CMUnitTest tests[] = { ON_BUCKET(parts_in_any_repetition_make_the_whole) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
