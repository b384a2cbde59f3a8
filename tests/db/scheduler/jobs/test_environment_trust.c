/* SPDX-License-Identifier: Apache-2.0 */
/* test_environment_trust.c - what must be signed is judged alike at submit and when a lease asks, by the signature itself. */
#include "tests/db/scheduler/jobs/environment_kit.h"
#include "core/crypto/sign.h"

static const struct secret32 seed = { { 7 } }, other_seed = { { 8 } };

static void add_key(const struct secret32 *by, const char *name, struct environment_key *ret)
{
    uint8_t key[ED25519_PUBLIC];
    struct buf pem = BUF(1024);
    assert_int_equal(ed25519_public(by, key, &e), ERR_OK);
    assert_int_equal(ed25519_public_pem(key, &pem, &e), ERR_OK);
    assert_int_equal(RUN_WRITE(&w, environment_key_add(&w, str_c(name), buf_str(&pem), ret, &e), &e), ERR_OK);
    buf_release(&pem);
}

static enum errc sign(struct uuid env, const struct secret32 *by, const char *text)
{
    uint8_t sig[ED25519_SIG];
    char hex[ENVIRONMENT_SIG_HEX + 1];
    struct environment v;
    assert_int_equal(ed25519_sign(by, text, strlen(text), sig, &e), ERR_OK);
    hex_encode(sig, sizeof sig, hex);
    return RUN_WRITE(&w, environment_sign(&w, env, str_c(hex), &v, &e), &e);
}

/* As a lease of that job asks, in the scope of all tenants. */
static enum errc lease(struct uuid job)
{
    e = (struct err){ 0 };
    return RUN_SYSTEM(&w, f.api.node_pool, TX_READ_ONLY, environment_permits_lease(&w, job, &object, 1, &e), &e);
}

static void what_must_be_signed_is_judged_at_submit_and_lease(void **state)
{
    (void)state;
    struct job_submission s;
    struct environment_key key;
    const struct environment_policy strict = { true };
    const struct uuid job = uuid_v7(7777000000);
    begin();
    reset();
    struct uuid env = add(1, "torch", digest_a, "COMPLETED", false);
    add_key(&seed, "builds", &key);
    const char *image = arena_printf(arena, "%.*s@2", STR_ARG(id_text(arena, "dst", dataset)));
    job_in(job, arena_printf(arena, "%s/%s", image, digest_a), "RUNNING");
    assert_int_equal(run("torch", &s), ERR_OK);                             /* nothing is asked of images */
    assert_int_equal(lease(job), ERR_OK);
    assert_int_equal(RUN_WRITE(&w, environment_policy_set(&w, &strict, &e), &e), ERR_OK);
    assert_int_equal(run("torch", &s), ERR_FORBIDDEN);
    assert_non_null(strstr(e.msg, "is not signed by a key that it has"));
    assert_int_equal(lease(job), ERR_FORBIDDEN);
    assert_int_equal(sign(env, &other_seed, digest_a), ERR_UNPROCESSABLE);  /* a stranger's key */
    assert_int_equal(sign(env, &seed, digest_b), ERR_UNPROCESSABLE);        /* another image's signature */
    assert_int_equal(run("torch", &s), ERR_FORBIDDEN);
    assert_int_equal(sign(env, &seed, digest_a), ERR_OK);
    assert_int_equal(run("torch", &s), ERR_OK);
    assert_int_equal(run(arena_printf(arena, "%s/%s", image, digest_a), &s), ERR_OK);
    assert_int_equal(run(image, &s), ERR_FORBIDDEN);                        /* nobody knows which image it is */
    assert_int_equal(lease(job), ERR_OK);
    fixture_exec(&f, "UPDATE environment SET signature = decode(repeat('00', 64), 'hex')");
    assert_int_equal(lease(job), ERR_FORBIDDEN);                            /* who writes the database cannot sign */
    assert_int_equal(sign(env, &seed, digest_a), ERR_OK);
    assert_int_equal(RUN_WRITE(&w, environment_key_remove(&w, key.key_id, &e), &e), ERR_OK);
    assert_int_equal(run("torch", &s), ERR_FORBIDDEN);
    assert_int_equal(lease(job), ERR_FORBIDDEN);
    fixture_exec(&f, "DELETE FROM job_object WHERE name = 'image:'; DELETE FROM job WHERE name = 'user'");
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_must_be_signed_is_judged_at_submit_and_lease) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
