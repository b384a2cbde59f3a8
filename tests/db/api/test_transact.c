/* SPDX-License-Identifier: Apache-2.0 */
/* test_transact.c - the effect of a call, its idempotency record and its audit event are kept together or not at all, and once.
 * */
#include "tests/db/api/pipeline_kit.h"
#include <pthread.h>

static void made_once_and_replayed(void **state)
{
    (void)state;
    struct answer first = ask("POST", "/v1/things", token, "key-1", "{\"name\":\"a\"}"), again = ask("POST", "/v1/things", token,
        "key-1", "{\"name\":\"a\"}");
    assert_int_equal(first.r.status, 201);
    assert_int_equal(again.r.status, 201);
    assert_true(str_eq(first.r.body, again.r.body));
    assert_null(http_result_header(&first.r, "Idempotency-Replayed").ptr);
    assert_true(str_eq_c(http_result_header(&again.r, "Idempotency-Replayed"), "true"));
    assert_true(str_eq_c(http_result_header(&first.r, "ETag"), "\"v1\""));
    assert_true(str_starts(http_result_header(&first.r, "Location"), "/v1/things/mdl_"));
    arena_free(first.arena);
    arena_free(again.arena);
    assert_int_equal(runs, 1);
    assert_int_equal(things(), 1);
    assert_int_equal(audited("FLJ-JOB-001"), 1);
    expect("POST", "/v1/things", token, "key-1", "{\"name\":\"b\"}", 422, "idempotency_key_reused");
    assert_int_equal(things(), 1);
}

static void a_secret_is_never_replayed(void **state)
{
    (void)state;
    expect("POST", "/v1/secrets", token, "s", "{\"name\":\"a\"}", 201, NULL);
    expect("POST", "/v1/secrets", token, "s", "{\"name\":\"a\"}", 409, "conflict");
    assert_int_equal(NUMBER("SELECT count(*) FROM idempotency WHERE body IS NOT NULL"), 0);
    assert_int_equal(things(), 1);
}

static void what_fails_leaves_nothing(void **state)
{
    (void)state;
    expect("POST", "/v1/things", token, "f", "{\"name\":\"fails-after\"}", 409, "conflict");
    assert_int_equal(runs, 1);
    assert_int_equal(things(), 0);
    assert_int_equal(audited("FLJ-JOB-001"), 0);
    assert_int_equal(NUMBER("SELECT count(*) FROM idempotency"), 0);
    expect("POST", "/v1/things", token, "f", "{\"name\":\"b\"}", 201, NULL);     /* the key is free again */
}

static void what_was_fetched_goes_unless_it_was_used(void **state)
{
    (void)state;
    lost = fetched = fetched_in_tx = 0;
    expect("POST", "/v1/far", token, "far", "{\"name\":\"a\"}", 201, NULL);
    expect("POST", "/v1/far", token, "far", "{\"name\":\"a\"}", 201, NULL);         /* a replay fetches nothing */
    assert_int_equal(fetched, 1);
    assert_int_equal(lost, 0);
    expect("POST", "/v1/far", token, "far2", "{\"name\":\"fails-after\"}", 409, "conflict");
    assert_int_equal(fetched, 2);
    assert_int_equal(lost, 1);
    retries_left = 100;
    expect("POST", "/v1/far", token, "far3", "{\"name\":\"b\"}", 503, "try_again");
    retries_left = 0;
    assert_int_equal(fetched, 3);               /* once, however often the handler ran */
    assert_int_equal(lost, 2);
    assert_int_equal(fetched_in_tx, 0);
}

static void run_again_when_two_met(void **state)
{
    (void)state;
    retries_left = 2;
    expect("POST", "/v1/things", token, "r", "{\"name\":\"a\"}", 201, NULL);
    assert_int_equal(runs, 3);
    assert_int_equal(things(), 1);
    assert_int_equal(audited("FLJ-JOB-001"), 1);
    retries_left = 100;
    expect("POST", "/v1/things", token, "r2", "{\"name\":\"b\"}", 503, "try_again");     /* not for ever */
    assert_in_range(runs, 5, 10);
    assert_int_equal(things(), 1);
}

static void the_event_is_of_the_same_transaction(void **state)
{
    (void)state;
    expect("POST", "/v1/things", token, "t", "{\"name\":\"a\"}", 201, NULL);
    assert_int_equal(NUMBER("SELECT count(*) FROM model m"
                            " JOIN audit_event a ON a.xid::text::bigint %% 4294967296 = m.xmin::text::bigint"
                            " JOIN idempotency i ON i.tenant_id = m.tenant_id"
                            " WHERE convert_from(a.body, 'UTF8') LIKE '%%role:ml-engineer%%'"), 1);
}

static void two_calls_at_once_with_one_key(void **state)
{
    (void)state;
    pthread_t t[4];
    struct caller c[4];
    slow = true;
    for (int i = 0; i < 4; i++) {
        c[i] = (struct caller){ .path = "/v1/things", .key = "same", .body = "{\"name\":\"a\"}" };
        pthread_create(&t[i], NULL, call_thread, &c[i]);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < 4; i++)
        assert_true(c[i].status == 201 || (c[i].status == 409 && !strcmp(c[i].code, "request_in_progress")));
    assert_int_equal(things(), 1);
    assert_int_equal(runs, 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup(f, fresh)
    const struct CMUnitTest tests[] = {
        T(made_once_and_replayed), T(a_secret_is_never_replayed), T(what_fails_leaves_nothing),
        T(what_was_fetched_goes_unless_it_was_used), T(run_again_when_two_met),
        T(the_event_is_of_the_same_transaction), T(two_calls_at_once_with_one_key),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
