/* SPDX-License-Identifier: Apache-2.0 */
/* test_type_run.c - a program's inputs before it is stored: versions are fixed, zone and class follow, what is not there is
 * refused. */
#include "tests/db/scheduler/jobs/submit_kit.h"

static enum errc ask(const char *inputs, struct job_submission *s, struct err *e)
{
    *e = (struct err){ 0 };
    return prepare(who, JOB_RUN, arena_printf(arena, "{\"command\":[\"x\"],\"inputs\":[%s]}", inputs), NULL, 1, 0, s, e);
}

static void inputs_are_found_and_their_versions_fixed(void **state)
{
    (void)state;
    struct job_submission s;
    struct err e;
    arena = arena_new(64 << 20);
    const char *id = arena_printf(arena, "%.*s", STR_ARG(id_text(arena, "dst", dataset)));
    assert_int_equal(ask("", &s, &e), ERR_OK);
    assert_int_equal(s.inputs.n, 0);
    assert_int_equal(ask(arena_printf(arena, "\"a=%s\",\"b=%s@1\"", id, id), &s, &e), ERR_OK);
    assert_int_equal(s.inputs.n, 2);
    assert_true(uuid_eq(((struct job_input *)s.inputs.items)[0].object_id, object));
    const char *spec = arena_printf(arena, "%.*s", STR_ARG(s.job.spec.text));
    assert_non_null(strstr(spec, arena_printf(arena, "\"a=%s@2\",\"b=%s@1\"", id, id)));
    assert_true(str_eq_c(s.job.zone, "ae-dxb-1") && str_eq_c(s.job.data_class, "health"));
    assert_int_equal(ask(arena_printf(arena, "\"a=%s\",\"b=%s@7\"", id, id), &s, &e), ERR_NOT_FOUND);
    assert_string_equal(e.field, "/spec/inputs/1");
    assert_int_equal(ask("\"a=job_0123456789abcdef0123456789abcdef/x\"", &s, &e), ERR_NOT_FOUND);
    assert_string_equal(e.field, "/spec/inputs/0");
    arena_free(arena);
}

/* On several machines, and with no other launcher; where no machine has it the submission says so, unless it will wait. */
static void ranks_of_mpirun_ask_for_their_helper(void **state)
{
    (void)state;
    static const struct { const char *launcher; int64_t nodes; bool asks; } rows[] = {
        { "mpi", 2, true }, { "mpi", 0, false }, { "mpi", 1, false }, { "torchrun", 2, false }, { "plain", 2, false } };
    struct job_submission s;
    struct err e;
    arena = arena_new(64 << 20);
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        const size_t k = i / 2;
        const bool has = i % 2;
        const bool refused = rows[k].asks && !has;
        fixture_exec(&f, "UPDATE node SET engines = '%s'", has ? "onnxruntime 1.30.0,falaj-rank 1" : "onnxruntime 1.30.0");
        capacity_cache_free(f.api.capacity);                    /* what it knows may be two seconds old */
        f.api.capacity = capacity_cache_new();
        nodes_asked = rows[k].nodes;
        const char *spec = arena_printf(arena, "{\"command\":[\"x\"],\"launcher\":\"%s\"}", rows[k].launcher);
        const enum errc rc = prepare(who, JOB_RUN, spec, NULL, 1, 0, &s, &e);
        if (rc != (refused ? ERR_UNPLACEABLE : ERR_OK))
            fail_msg("%s on %ld: %s", rows[k].launcher, (long)rows[k].nodes, e.msg);
        assert_true(str_eq_c(s.job.engine, "falaj-rank") == rows[k].asks);
        if (refused) {
            assert_string_equal(e.field, "/spec/launcher");
            assert_non_null(strstr(e.msg, "asked a worker with falaj-rank, it has none"));
        }
    }
    fixture_exec(&f, "UPDATE node SET engines = ''");
    nodes_asked = 0;
    arena_free(arena);
}

/* secrets: rows of the tenant; kind of object and version as they are stored. */
static void add_secret(int n, const char *name, const char *zone, const char *state, int version)
{
    const char *t = arena_alloc(arena, UUID_TEXT);
    uuid_text(f.tenant_a, (char *)(uintptr_t)t);
    fixture_exec(&f,
        "INSERT INTO secret (tenant_id, secret_id, name, zone, state, latest_version, created_by)"
        " VALUES ('%s', '00000000-0000-0000-0001-%012d', '%s', '%s', '%s', %d, '%s');"
        "INSERT INTO object (tenant_id, object_id, zone, kind, state, sha256, stored_sha256)"
        " SELECT '%s', ('00000000-0000-0000-0002-%06d' || lpad(v::text, 6, '0'))::uuid, '%s', 'secret', 'COMMITTED', "
        "sha256('a'), sha256('b')"
        "   FROM generate_series(1, %d) v;"
        "INSERT INTO secret_version (tenant_id, secret_id, version, object_id, created_by)"
        " SELECT '%s', '00000000-0000-0000-0001-%012d', v, ('00000000-0000-0000-0002-%06d' || lpad(v::text, 6, '0'))::uuid, '%s'"
        "   FROM generate_series(1, %d) v",
        t, n, name, zone, state, version, t, t, n, zone, version, t, n, n, t, version);
}

static enum errc ask_secret(const char *secret, const char *zone, struct job_submission *s, struct err *e)
{
    *e = (struct err){ 0 };
    return prepare(who, JOB_RUN, arena_printf(arena, "{\"command\":[\"x\"],\"secrets\":[\"%s\"]}", secret), zone, 1, 0, s, e);
}

static void secrets_are_found_and_their_versions_fixed(void **state)
{
    (void)state;
    static const struct { const char *secret, *zone; enum errc rc; const char *msg; } refused[] = {
        { "env:A=none", NULL, ERR_NOT_FOUND, "There is no secret none" }, { "env:A=hub@9", NULL, ERR_NOT_FOUND,
            "has no version 9" },
        { "env:A=off", NULL, ERR_FORBIDDEN, "The secret off is disabled" }, { "env:A=empty", NULL, ERR_CONFLICT,
            "has no value yet" },
        { "env:A=far", "ae-dxb-1", ERR_RESIDENCY, "It lies in zone de-fra-1" },
    };
    struct job_submission s;
    struct err e;
    arena = arena_new(64 << 20);
    fixture_exec(&f, "INSERT INTO zone (code, name, country, data_classes) VALUES ('de-fra-1', 'Frankfurt', 'DE', data_classes())"
                     " ON CONFLICT DO NOTHING");
    add_secret(1, "hub", "ae-dxb-1", "ACTIVE", 3);
    add_secret(2, "off", "ae-dxb-1", "DISABLED", 1);
    add_secret(3, "empty", "ae-dxb-1", "ACTIVE", 0);
    add_secret(4, "far", "de-fra-1", "ACTIVE", 1);
    /* a role that submits, and may not use secrets */
    assert_int_equal(ask_secret("env:A=hub", NULL, &s, &e), ERR_FORBIDDEN);
    assert_non_null(strstr(e.msg, "secret:use"));
    assert_string_equal(e.field, "/spec/secrets/0");
    who->permissions = who->always = PERM_BIT(PERM_SECRET_USE);
    assert_int_equal(ask_secret("env:A=hub", NULL, &s, &e), ERR_OK);
    assert_int_equal(s.inputs.n, 1);
    assert_true(str_eq_c(((struct job_input *)s.inputs.items)[0].name, "secret:env:A"));
    assert_true(str_eq_c(s.job.zone, "ae-dxb-1") && str_eq_c(s.job.data_class, "internal"));
    assert_non_null(strstr(arena_printf(arena, "%.*s", STR_ARG(s.job.spec.text)), "\"env:A=hub@3\""));
    assert_int_equal(ask_secret("file:a.pem=hub@2", NULL, &s, &e), ERR_OK);
    assert_non_null(strstr(arena_printf(arena, "%.*s", STR_ARG(s.job.spec.text)), "\"file:a.pem=hub@2\""));
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (ask_secret(refused[i].secret, refused[i].zone, &s, &e) != refused[i].rc || !strstr(e.msg, refused[i].msg) ||
            strcmp(e.field, "/spec/secrets/0") != 0)
            fail_msg("%s: %s at %s", refused[i].secret, e.msg, e.field);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(inputs_are_found_and_their_versions_fixed),
                                        cmocka_unit_test(ranks_of_mpirun_ask_for_their_helper),
                                        cmocka_unit_test(secrets_are_found_and_their_versions_fixed) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
