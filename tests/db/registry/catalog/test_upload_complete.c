/* SPDX-License-Identifier: Apache-2.0 */
/* test_upload_complete.c - who completes an upload holds it and no transaction; a content that is refused leaves its reason and
 * nothing else. */
#include "tests/db/registry/catalog/upload_fixture.h"

static void test_refused(void **state)
{
    (void)state;
    static const char BAD[] = "a,b,label\n1,2,0\n3,x,1\n";
    struct upload now;
    struct dataset_version v;
    int files = blobs();
    struct upload u = start(0, sizeof BAD - 1, NULL);
    OK(send(0, &u, 0, BAD, sizeof BAD - 1, &now));
    assert_int_equal(complete(0, &u, &v), ERR_BAD_DATA);
    assert_non_null(strstr(e.msg, "row 3"));
    assert_int_equal(blobs(), files);                           /* what was sent and what was made of it went at once */
    assert_int_equal(cancel(0, &u), ERR_NOT_FOUND);
    struct upload other = start(0, sizeof CSV - 1, "0000000000000000000000000000000000000000000000000000000000000000");
    OK(send(0, &other, 0, CSV, sizeof CSV - 1, &now));
    keeps_refused = true;
    assert_int_equal(complete(0, &other, &v), ERR_BAD_DATA);
    keeps_refused = false;
    assert_non_null(strstr(e.msg, "SHA-256"));
    struct work look = begin(0);
    OK(upload_get(&look, other.upload_id, &now, &e));           /* its reason stays until it expires */
    end(&look);
    assert_true(str_eq_c(now.state, "REFUSED"));
    assert_true(str_starts(now.failure, "The content has the SHA-256"));
    assert_int_equal(complete(0, &other, &v), ERR_CONFLICT);
    assert_int_equal(send(0, &other, 0, CSV, 3, &now), ERR_CONFLICT);
    assert_int_equal(blobs(), files);
    struct work w = begin(0);
    struct upload_new elsewhere = { sets[0].dataset_id, 10, STR_NULL, STR("de-fra-1") };
    assert_int_equal(upload_begin(&w, &elsewhere, &u, &e), ERR_RESIDENCY);
    db_rollback(w.tx);
}

/* While one completes it nobody else does, nor ends it; no transaction is open; who lost the claim makes no version and leaves
 * no blob. */
static void test_claim(void **state)
{
    (void)state;
    struct upload u = start(0, sizeof CSV - 1, NULL), now;
    struct dataset_version v;
    struct upload_run *run, *late;
    OK(send(0, &u, 0, CSV, sizeof CSV - 1, &now));
    int files = blobs();
    struct work w = begin(0);
    OK(upload_claim(&w, u.upload_id, &run, &now, &e));
    end(&w);
    assert_true(str_eq_c(now.state, "COMPLETING"));
    assert_int_equal(complete(0, &u, &v), ERR_CONFLICT);
    assert_non_null(strstr(e.msg, "is being completed"));
    assert_int_equal(cancel(0, &u), ERR_CONFLICT);
    OK(upload_assemble(&w, run, &e));
    assert_int_equal(blobs(), files + 1);
    sql_count("pg_stat_activity WHERE usename = 'falaj_app' AND state LIKE 'idle in transaction%'", 0);
    pg_harness_exec(pg, DB, "UPDATE upload SET claimed_until = now() - interval '1 s' WHERE claim IS NOT NULL");
    struct work w2 = begin(0);
    OK(upload_get(&w2, u.upload_id, &now, &e));
    assert_true(str_eq_c(now.state, "OPEN"));                   /* as if the first had never been */
    OK(upload_claim(&w2, u.upload_id, &late, &now, &e));
    end(&w2);
    assert_int_equal(RUN_WRITE(&w, upload_finish(&w, run, &v, &e), &e), ERR_CONFLICT);
    upload_give_up(&w, run, &e, false);
    assert_int_equal(blobs(), files);
    OK(RUN_WRITE(&w2, upload_resume(&w2, u.upload_id, upload_run_claim(late), &run, &e), &e));
    OK(upload_assemble(&w2, run, &e));
    OK(RUN_WRITE(&w2, upload_finish(&w2, run, &v, &e), &e));
    assert_int_equal(v.row_count, 4);
    assert_int_equal(blobs(), files);                           /* the version's for the part's */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_refused), cmocka_unit_test(test_claim) };
    return cmocka_run_group_tests(tests, setup_sets, teardown);
}
