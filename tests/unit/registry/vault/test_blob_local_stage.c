/* SPDX-License-Identifier: Apache-2.0 */
/* test_blob_local_stage.c - a blob in parts: sent again, with a gap, twice, too short; whole only when it was put in its place.
 * */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"
#include "registry/vault/blob_store.h"

static char dir[64];
static struct blob_store *store;
static struct arena *scratch;
static struct err e;
static const struct uuid tenant = { { 1, 2, 3 } }, object = { { 4, 5, 6, 7, [15] = 0xab } };

#define OK(call) assert_int_equal((call), ERR_OK)

static int setup(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/blob_stage_XXXXXX");
    assert_non_null(mkdtemp(dir));
    OK(blob_store_open_local(dir, &store, &e));
    scratch = arena_new(8 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char cmd[96];
    blob_store_free(store);
    arena_free(scratch);
    snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
    return system(cmd);
}

static void holds(const char *text)
{
    struct blob_reader *r;
    uint64_t size;
    char got[64] = "";
    OK(blob_reader_open(store, tenant, object, &r, &size, &e));
    assert_int_equal(size, strlen(text));
    assert_int_equal(blob_read(r, got, sizeof got), (int)strlen(text));
    assert_memory_equal(got, text, strlen(text));
    blob_reader_close(r);
}

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
    OK(blob_stage_put(store, object, 0, STR("abc"), &e));
    OK(blob_stage_put(store, object, 3, STR("def"), &e));
    OK(blob_stage_put(store, object, 3, STR("def"), &e));
    assert_int_equal(blob_stage_put(store, object, 7, STR("h"), &e), ERR_CONFLICT);
    assert_non_null(strstr(e.msg, "only 6 bytes have come"));
    OK(blob_stage_put(store, object, 6, STR("g"), &e));
    assert_int_equal(blob_stage_hash(store, object, scratch, 8, sha, &e), ERR_CONFLICT);
    assert_non_null(strstr(e.msg, "7 bytes came, 8 were announced"));
    stage_has("abcdefg");
    struct blob_reader *r;
    uint64_t size;
    assert_int_equal(blob_reader_open(store, tenant, object, &r, &size, &e), ERR_NOT_FOUND);
    OK(blob_stage_commit(store, tenant, object, &e));
    holds("abcdefg");
    assert_int_equal(blob_stage_hash(store, object, scratch, 7, sha, &e), ERR_CONFLICT);    /* the stage is gone */
}

/* A part that was not put in its place is no object: whoever commits must hear it, and may try again. */
static void a_commit_that_fails_says_so_and_keeps_the_parts(void **state)
{
    (void)state;
    char path[256];
    struct stat st;
    OK(blob_stage_put(store, object, 0, STR("first"), &e));
    OK(blob_stage_commit(store, tenant, object, &e));
    OK(blob_stage_put(store, object, 0, STR("other"), &e));
    assert_int_equal(blob_stage_commit(store, tenant, object, &e), ERR_EXISTS);
    holds("first");
    stage_has("other");
    snprintf(path, sizeof path, "%s/00/01020300000000000000000000000000/ab/040506070000000000000000000000ab", dir);
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_nlink == 1 && (st.st_mode & 0777) == 0600);
    OK(blob_delete(store, tenant, object, &e));
    OK(blob_stage_commit(store, tenant, object, &e));
    holds("other");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(parts_in_any_repetition_make_the_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(a_commit_that_fails_says_so_and_keeps_the_parts, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
