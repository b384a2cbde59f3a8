/* SPDX-License-Identifier: Apache-2.0 */
/* test_environment_shared.c - what one tenant offered and staff published is everybody's to run in, and nothing else of it is
 * theirs. */
#include "tests/db/scheduler/jobs/environment_kit.h"
#include "core/crypto/sign.h"
#include "scheduler/jobs/environment_shared.h"

static const struct secret32 seed = { { 9 } };
static struct principal *neighbour, *staff;
static struct work of_b, of_staff;
static const char named[] = "shared/sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

static void begin_all(void)
{
    static const struct str zones[] = { { "ae-dxb-1", 8 } };
    begin();
    reset();
    fixture_exec(&f, "DELETE FROM shared_environment; DELETE FROM environment_signature; UPDATE object SET data_class = 'public';"
                     "DELETE FROM job WHERE kind IN ('run', 'inspect')");
    neighbour = person(f.tenant_b, zones, 1);
    staff = person(UUID_NIL, zones, 1);
    of_b = of_staff = w;
    of_b.tenant_id = f.tenant_b;
    of_b.principal = neighbour;
    of_staff.tenant_id = UUID_NIL;
    of_staff.principal = staff;
}

static void end_all(void)
{
    fixture_exec(&f, "DELETE FROM shared_environment; DELETE FROM job WHERE kind = 'run'");
    principal_unref(neighbour);
    principal_unref(staff);
    arena_free(arena);
}

/* As the route does: staff in the owner's scope. */
static enum errc publish(struct uuid env, const char *zone, struct shared_environment *ret)
{
    struct work in_a = w;
    const struct shared_environment_new in = { .environment_id = env, .zone = zone ? str_c(zone) : STR_NULL };
    in_a.principal = staff;
    e = (struct err){ 0 };
    return RUN_WRITE(&in_a, shared_environment_publish(&in_a, &in, ret, &e), &e);
}

static struct uuid offered(void)
{
    struct environment v;
    const struct uuid env = add(1, "torch", digest_a, "COMPLETED", false);
    assert_int_equal(RUN_WRITE(&w, environment_offer(&w, env, true, &v, &e), &e), ERR_OK);
    assert_true(v.offered_at.us > 0);
    return env;
}

static enum errc run_as(const struct principal *p, const char *environment, struct job_submission *s)
{
    e = (struct err){ 0 };
    const char *spec = arena_printf(arena, "{\"command\":[\"x\"],\"environment\":\"%s\"}", environment);
    return prepare(p, JOB_RUN, spec, NULL, 1, 0, s, &e);
}

/* A job of b's that runs in it. */
static struct uuid job_of_b(const char *state)
{
    char t[UUID_TEXT], j[UUID_TEXT];
    const struct uuid job = uuid_v7(8888000000);
    uuid_text(f.tenant_b, t);
    uuid_text(job, j);
    fixture_exec(&f, "SET session_replication_role = replica;"
        "INSERT INTO job (tenant_id, job_id, name, kind, spec, zone, state, queued, created_by)"
        " VALUES ('%s', '%s', 'guest', 'run', '{\"environment\":\"%s\"}', 'ae-dxb-1', '%s', false, '%s')", t, j, named, state, t);
    return job;
}

static enum errc lease(struct uuid job)
{
    e = (struct err){ 0 };
    return RUN_SYSTEM(&of_b, f.api.node_pool, TX_READ_ONLY, environment_permits_lease(&of_b, job, &object, 1, &e), &e);
}

static void only_what_was_offered_and_is_public_is_published(void **state)
{
    (void)state;
    struct shared_environment v;
    struct environment env;
    begin_all();
    const struct uuid id = add(1, "torch", digest_a, "COMPLETED", false), running = add(2, "late", digest_b, "RUNNING", false);
    assert_int_equal(publish(id, NULL, &v), ERR_UNPROCESSABLE);
    assert_non_null(strstr(e.msg, "has not offered it"));
    assert_int_equal(RUN_WRITE(&w, environment_offer(&w, id, true, &env, &e), &e), ERR_OK);
    assert_int_equal(RUN_WRITE(&w, environment_offer(&w, running, true, &env, &e), &e), ERR_OK);
    assert_int_equal(publish(running, NULL, &v), ERR_UNPROCESSABLE);
    assert_non_null(strstr(e.msg, "IMPORTING"));
    fixture_exec(&f, "UPDATE object SET data_class = 'internal'");
    assert_int_equal(publish(id, NULL, &v), ERR_UNPROCESSABLE);
    assert_non_null(strstr(e.msg, "class internal"));
    fixture_exec(&f, "UPDATE object SET data_class = 'public'");
    assert_int_equal(publish(id, "de-fra-1", &v), ERR_UNPROCESSABLE);       /* no copy of it lies there */
    assert_int_equal(publish(uuid_v7(77), NULL, &v), ERR_NOT_FOUND);
    assert_int_equal(RUN_WRITE(&of_b, environment_offer(&of_b, id, true, &env, &e), &e), ERR_NOT_FOUND);   /* another tenant's */
    assert_int_equal(publish(id, NULL, &v), ERR_OK);
    assert_true(str_eq_c(v.environment, named));
    assert_int_equal(v.package_count, 2);
    assert_int_equal(publish(id, NULL, &v), ERR_EXISTS);
    e = (struct err){ 0 };
    assert_int_equal(RUN_WRITE(&w, environment_delete(&w, id, &e), &e), ERR_CONFLICT);
    assert_non_null(strstr(e.msg, "published to other organisations in zone ae-dxb-1"));
    end_all();
}

static void another_tenant_runs_in_it_and_learns_no_more(void **state)
{
    (void)state;
    struct job_submission s;
    struct shared_environment v;
    struct slice rows = { 0 };
    struct environment own;
    begin_all();
    const struct uuid env = offered();
    add(2, "private", digest_b, "COMPLETED", false);
    assert_int_equal(run_as(neighbour, named, &s), ERR_NOT_FOUND);          /* offered is not published */
    assert_int_equal(publish(env, NULL, &v), ERR_OK);
    assert_int_equal(run_as(neighbour, named, &s), ERR_OK);
    assert_true(str_eq_c(s.job.zone, "ae-dxb-1"));
    assert_int_equal(s.inputs.n, 0);                                        /* no object of another tenant's is b's input */
    assert_non_null(strstr(s.job.spec.text.ptr, named));
    assert_int_equal(run_as(who, named, &s), ERR_OK);                       /* its owner, too */
    for (size_t i = 0; i < 3; i++) {                                        /* nothing else of the owner is named */
        const char *other[] = { "torch", digest_a, arena_printf(arena, "shared/%s", digest_b) };
        assert_int_equal(run_as(neighbour, other[i], &s), ERR_NOT_FOUND);
    }
    assert_int_equal(RUN_READ(&of_b, environment_get(&of_b, env, &own, &e), &e), ERR_NOT_FOUND);
    assert_int_equal(RUN_READ(&of_b, shared_environment_list(&of_b, STR_NULL, STR_NULL, UUID_NIL, 10, &rows, &e), &e), ERR_OK);
    assert_int_equal(rows.n, 1);
    const struct shared_environment *seen = rows.items;
    assert_true(uuid_is_nil(seen->owner_id) && uuid_is_nil(seen->environment_id) && !seen->has_jobs);
    (void)job_of_b("RUNNING");
    assert_int_equal(RUN_READ(&of_staff, shared_environment_get(&of_staff, v.shared_id, &v, &e), &e), ERR_OK);
    assert_true(v.has_jobs && v.jobs == 1 && uuid_eq(v.owner_id, f.tenant_a));
    assert_int_equal(RUN_READ(&of_b, shared_environment_packages(&of_b, v.shared_id, STR("zlib"), 0, 10, &rows, &e), &e), ERR_OK);
    assert_int_equal(rows.n, 1);
    static const struct str far[] = { { "de-fra-1", 8 } };
    struct principal *abroad = person(f.tenant_b, far, 1);                   /* may not use its zone: it is not there */
    of_b.principal = abroad;
    assert_int_equal(RUN_READ(&of_b, shared_environment_list(&of_b, STR_NULL, STR_NULL, UUID_NIL, 10, &rows, &e), &e), ERR_OK);
    assert_int_equal(rows.n, 0);
    assert_int_equal(run_as(abroad, named, &s), ERR_NOT_FOUND);
    principal_unref(abroad);
    end_all();
}

static void a_tenant_says_whether_and_whose_word_it_takes(void **state)
{
    (void)state;
    uint8_t key[ED25519_PUBLIC], sig[ED25519_SIG];
    char hex[ENVIRONMENT_SIG_HEX + 1];
    struct buf pem = BUF(1024);
    struct environment_key k;
    struct job_submission s;
    struct shared_environment v;
    begin_all();
    assert_int_equal(publish(offered(), NULL, &v), ERR_OK);
    const struct uuid job = job_of_b("RUNNING");
    struct environment_policy rule = { .require_signed = false, .has_allow_shared = true };
    assert_int_equal(lease(job), ERR_OK);
    assert_int_equal(RUN_WRITE(&of_b, environment_policy_set(&of_b, &rule, &e), &e), ERR_OK);
    assert_int_equal(run_as(neighbour, named, &s), ERR_FORBIDDEN);
    assert_int_equal(lease(job), ERR_FORBIDDEN);
    assert_int_equal(run_as(who, named, &s), ERR_OK);                       /* another tenant's rule is its own */
    rule = (struct environment_policy){ .require_signed = true };            /* what is not said stays */
    assert_int_equal(RUN_WRITE(&of_b, environment_policy_set(&of_b, &rule, &e), &e), ERR_OK);
    assert_int_equal(lease(job), ERR_FORBIDDEN);
    assert_non_null(strstr(e.msg, "the platform's staff publish"));
    rule = (struct environment_policy){ .require_signed = true, .has_allow_shared = true, .allow_shared = true };
    assert_int_equal(RUN_WRITE(&of_b, environment_policy_set(&of_b, &rule, &e), &e), ERR_OK);
    assert_int_equal(lease(job), ERR_FORBIDDEN);
    assert_non_null(strstr(e.msg, "is not signed"));
    assert_int_equal(ed25519_public(&seed, key, &e), ERR_OK);
    assert_int_equal(ed25519_public_pem(key, &pem, &e), ERR_OK);
    assert_int_equal(RUN_WRITE(&of_b, environment_key_add(&of_b, STR("builds"), buf_str(&pem), &k, &e), &e), ERR_OK);
    assert_int_equal(ed25519_sign(&seed, digest_a, strlen(digest_a), sig, &e), ERR_OK);
    hex_encode(sig, sizeof sig, hex);
    assert_int_equal(RUN_WRITE(&of_b, shared_environment_sign(&of_b, v.shared_id, str_c(hex), &v, &e), &e), ERR_OK);
    assert_true(str_eq_c(v.signed_by, "builds"));
    assert_int_equal(lease(job), ERR_OK);
    assert_int_equal(run_as(neighbour, named, &s), ERR_OK);
    assert_int_equal(RUN_WRITE(&of_b, environment_key_remove(&of_b, k.key_id, &e), &e), ERR_OK);
    assert_int_equal(lease(job), ERR_FORBIDDEN);
    buf_release(&pem);
    end_all();
}

static void what_is_withdrawn_is_given_to_nobody_and_says_why(void **state)
{
    (void)state;
    struct job_submission s;
    struct shared_environment v;
    begin_all();
    const struct uuid env = offered();
    assert_int_equal(publish(env, NULL, &v), ERR_OK);
    const struct uuid job = job_of_b("RUNNING"), id = v.shared_id;
    const struct str why = STR("openssl has a hole");
    assert_int_equal(RUN_WRITE(&of_b, shared_environment_withdraw(&of_b, id, STR("mine"), &v, &e), &e), ERR_OK);
    assert_true(str_eq_c(v.state, "PUBLISHED"));                             /* a tenant's transaction changes nothing of it */
    assert_int_equal(RUN_WRITE(&of_b, shared_environment_remove(&of_b, id, &e), &e), ERR_NOT_FOUND);
    e = (struct err){ 0 };
    assert_int_equal(RUN_WRITE(&of_staff, shared_environment_remove(&of_staff, id, &e), &e), ERR_CONFLICT);
    assert_int_equal(RUN_WRITE(&of_staff, shared_environment_withdraw(&of_staff, id, why, &v, &e), &e), ERR_OK);
    assert_true(str_eq_c(v.state, "WITHDRAWN"));
    assert_int_equal(run_as(neighbour, named, &s), ERR_FORBIDDEN);
    assert_non_null(strstr(e.msg, "openssl has a hole"));
    assert_int_equal(lease(job), ERR_FORBIDDEN);
    assert_non_null(strstr(e.msg, "openssl has a hole"));
    e = (struct err){ 0 };
    assert_int_equal(RUN_WRITE(&of_staff, shared_environment_remove(&of_staff, id, &e), &e), ERR_CONFLICT);
    assert_non_null(strstr(e.msg, "1 jobs"));
    fixture_exec(&f, "SET session_replication_role = replica;"
                     "UPDATE job SET state = 'COMPLETED', finished_at = now() WHERE name = 'guest'");
    e = (struct err){ 0 };
    assert_int_equal(RUN_WRITE(&of_staff, shared_environment_remove(&of_staff, id, &e), &e), ERR_OK);
    assert_int_equal(run_as(neighbour, named, &s), ERR_NOT_FOUND);
    e = (struct err){ 0 };
    assert_int_equal(RUN_WRITE(&w, environment_delete(&w, env, &e), &e), ERR_OK);
    end_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(only_what_was_offered_and_is_public_is_published),
        cmocka_unit_test(another_tenant_runs_in_it_and_learns_no_more),
        cmocka_unit_test(a_tenant_says_whether_and_whose_word_it_takes),
        cmocka_unit_test(what_is_withdrawn_is_given_to_nobody_and_says_why) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
