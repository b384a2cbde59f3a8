/* SPDX-License-Identifier: Apache-2.0 */
/* test_inside.c - who is inside a program that runs: which jobs, how many, for how long a silent one counts, and where nobody
 * may. */
#include "core/db/run_tx.h"
#include "scheduler/engine/lease.h"
#include "scheduler/jobs/inside.h"
#include "tenants/access/principal.h"
#include "tests/db/scheduler/fixture.h"

static struct machine m, next;
static struct principal *who;
FIXTURE_GROUP((machine_up(&f, &m, "ae-dxb-1", "one", 8, 0),
               machine_up(&f, &next, "ae-dxb-1", "two", 8, 0), who = principal_new()), principal_unref(who))

static const struct inside_ask shell = { .kind = INSIDE_SHELL, .cols = 80, .rows = 24, .term = { "xterm", 5 } };

static struct work as_user(struct uuid tenant)
{
    struct work w = fixture_reader(&f, tenant);
    fixture_reader_done(&w);
    w = (struct work){ .app = &f.api, .arena = arena_new(1 << 24), .tenant_id = tenant, .principal = who,
                       .now_us = clock_wall_us(&clock_system) };
    who->tenant_id = tenant;
    return w;
}

static enum errc enter(struct uuid tenant, struct uuid job, struct inside_session *ret)
{
    struct work w = as_user(tenant);
    struct err e = { 0 };
    const enum errc rc = RUN_WRITE(&w, inside_begin(&w, job, 0, &shell, ret, &e), &e);
    arena_free(w.arena);
    return rc;
}

static struct uuid running(bool is_program)
{
    struct lease_grant g;
    struct uuid id;
    assert_int_equal(submit(&f, f.tenant_a, 1, 1, 1, &id), 1);
    plan(&f);
    assert_int_equal(take(&f, &m, 1, &g), 1);
    tell(&f, &m, &g, 1, LE_START, NULL);
    char hex[UUID_HEX];
    hex_encode(id.b, 16, hex);
    if (is_program)
        fixture_exec(&f, "UPDATE job SET kind = 'run' WHERE job_id = '%s'", hex);
    return id;
}

static int wipe(void **state)
{
    (void)state;
    fixture_exec(&f, "DELETE FROM job_session");
    fixture_exec(&f, "DELETE FROM inside_policy");
    fixture_forget_jobs(&f);
    return 0;
}

static void only_programs_that_run_and_only_ones_own(void **state)
{
    (void)state;
    struct inside_session s;
    const struct uuid plain = running(false), program = running(true);
    assert_int_equal(enter(f.tenant_a, plain, &s), ERR_CONFLICT);
    assert_int_equal(enter(f.tenant_b, program, &s), ERR_NOT_FOUND);
    assert_int_equal(enter(f.tenant_a, program, &s), ERR_OK);
    cancel_job(&f, f.tenant_a, program);
    assert_true(uuid_eq(s.job_id, program));
}

static void so_many_and_no_more(void **state)
{
    (void)state;
    struct inside_session s;
    const struct uuid program = running(true);
    for (int i = 0; i < INSIDE_OF_JOB; i++)
        assert_int_equal(enter(f.tenant_a, program, &s), ERR_OK);
    assert_int_equal(enter(f.tenant_a, program, &s), ERR_LIMIT);
    struct work w = as_user(f.tenant_a);
    struct slice lost;
    OK(RUN_WRITE(&w, inside_lost(&w, &lost, e), e));
    assert_int_equal(lost.n, 0);
    fixture_exec(&f, "UPDATE job_session SET heard_at = heard_at - interval '61 seconds'");
    OK(RUN_WRITE(&w, inside_lost(&w, &lost, e), e));
    assert_int_equal(lost.n, INSIDE_OF_JOB);
    arena_free(w.arena);
    assert_int_equal(enter(f.tenant_a, program, &s), ERR_OK);
}

static void a_policy_closes_it_for_who_is_inside_too(void **state)
{
    (void)state;
    struct inside_session s, found;
    const struct uuid program = running(true);
    bool goes_on = false;
    assert_int_equal(enter(f.tenant_a, program, &s), ERR_OK);
    struct work w = as_user(f.tenant_a);
    struct inside_policy p = { .allowed = false };
    OK(RUN_READ(&w, inside_find(&w, program, s.session_id, &found, e), e));
    OK(RUN_WRITE(&w, inside_heard(&w, s.session_id, &goes_on, e), e));
    assert_true(goes_on);
    OK(RUN_WRITE(&w, inside_policy_set(&w, &p, e), e));
    struct err e = { 0 };
    assert_int_equal(RUN_WRITE(&w, inside_heard(&w, s.session_id, &goes_on, &e), &e), ERR_FORBIDDEN);
    assert_int_equal(enter(f.tenant_a, program, &s), ERR_FORBIDDEN);
    assert_int_equal(RUN_READ(&w, inside_find(&w, program, s.session_id, &found, &e), &e), ERR_NOT_FOUND);  /* asked for before */
    p.allowed = true;
    assert_int_equal(RUN_WRITE(&w, inside_policy_set(&w, &p, &e), &e), ERR_OK);
    assert_int_equal(RUN_READ(&w, inside_find(&w, program, s.session_id, &found, &e), &e), ERR_OK);
    who->user_id = uuid_v7(1);              /* another one of the same tenant does not find it */
    assert_int_equal(RUN_READ(&w, inside_find(&w, program, s.session_id, &found, &e), &e), ERR_NOT_FOUND);
    arena_free(w.arena);
}

static enum errc takes(struct uuid job, struct uuid session, const char *ticket)
{
    struct inside_session found;
    struct err e = { 0 };
    const struct str t = str_c(ticket ? ticket : "");
    struct work w = as_user(f.tenant_a);
    const enum errc rc = RUN_WRITE(&w, inside_take(&w, job, session, ticket ? &t : NULL, &found, &e), &e);
    arena_free(w.arena);
    return rc;
}

/* inside_begin's text lies in an arena that enter() frees. */
static void enter_with(struct uuid job, struct inside_session *ret, char ticket[65])
{
    struct work w = as_user(f.tenant_a);
    OK(RUN_WRITE(&w, inside_begin(&w, job, 0, &shell, ret, e), e));
    assert_int_equal(ret->ticket.len, 64);
    snprintf(ticket, 65, "%.*s", STR_ARG(ret->ticket));
    arena_free(w.arena);
}

static void a_stream_opens_once_and_from_a_browser_with_its_own_ticket(void **state)
{
    (void)state;
    struct inside_session one, two, plain, old;
    char first[65], second[65], other[65];
    const struct uuid program = running(true), elsewhere = running(true);
    enter_with(program, &one, first);
    enter_with(elsewhere, &two, second);
    enter_with(program, &plain, other);
    assert_int_equal(takes(program, one.session_id, ""), ERR_FORBIDDEN);
    assert_int_equal(takes(program, one.session_id, second), ERR_FORBIDDEN);      /* another job's */
    assert_int_equal(takes(program, one.session_id, other), ERR_FORBIDDEN);       /* another session's of the same job */
    assert_int_equal(takes(program, two.session_id, second), ERR_NOT_FOUND);      /* by the wrong job */
    assert_int_equal(takes(program, one.session_id, first), ERR_OK);              /* what was refused did not use it up */
    assert_int_equal(takes(program, one.session_id, first), ERR_CONFLICT);
    assert_int_equal(takes(program, one.session_id, NULL), ERR_CONFLICT);
    assert_int_equal(takes(program, plain.session_id, NULL), ERR_OK);             /* no browser */
    assert_int_equal(takes(program, plain.session_id, NULL), ERR_CONFLICT);
    enter_with(program, &old, other);
    fixture_exec(&f, "UPDATE job_session SET ticket_sha256 = NULL WHERE entered_at IS NULL");
    assert_int_equal(takes(program, old.session_id, other), ERR_FORBIDDEN);
    assert_int_equal(takes(program, old.session_id, NULL), ERR_OK);
}

static void a_machine_is_told_of_many_in_parts(void **state)
{
    (void)state;
    struct inside_session s;
    const struct uuid program = running(true);
    size_t told = 0;
    assert_int_equal(enter(f.tenant_a, program, &s), ERR_OK);
    fixture_exec(&f, "INSERT INTO job_session (tenant_id, session_id, job_id, attempt_id, node_id, user_id, kind, ask)\n"
                     "SELECT tenant_id, gen_random_uuid(), job_id, attempt_id, node_id, user_id, kind, ask\n"
                     "  FROM job_session, generate_series(1, 99)");
    for (int i = 0; i < 3; i++) {
        struct work w = as_user(f.tenant_a);
        struct slice some = { 0 };
        OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, 0, w.arena, &w.tx, e));
        OK(inside_notices_told(&w, inside_notices_ask(&w, s.node_id), &some, e));
        OK(db_commit(w.tx, e));
        assert_int_equal(some.n, i == 0 ? 64 : i == 1 ? 36 : 0);
        told += some.n;
        arena_free(w.arena);
    }
    assert_int_equal(told, 100);
}

static enum errc asks(struct uuid job, int64_t rank, int kind, struct inside_session *ret, struct err *e)
{
    const struct inside_ask ask = { .kind = kind, .cols = 80, .rows = 24, .term = { "xterm", 5 } };
    struct work w = as_user(f.tenant_a);
    const enum errc rc = RUN_WRITE(&w, inside_begin(&w, job, rank, &ask, ret, e), e);
    arena_free(w.arena);
    return rc;
}

static enum errc comes(const struct inside_session *s, struct uuid node)
{
    const struct lease l = { .tenant_id = f.tenant_a, .attempt_id = s->attempt_id, .node_id = node };
    struct work w = as_user(f.tenant_a);
    struct err why = { 0 };
    OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, 0, w.arena, &w.tx, e));
    const enum errc rc = inside_join(&w, &l, s->session_id, &why);
    OK(db_commit(w.tx, e));
    arena_free(w.arena);
    return rc;
}

/* The program of a job on both machines, of which the second is rank 1. */
static struct uuid running_on_both(void)
{
    const struct uuid program = running(true);
    char job[UUID_HEX], node[UUID_HEX];
    hex_encode(program.b, 16, job);
    hex_encode(next.node.node_id.b, 16, node);
    fixture_exec(&f, "UPDATE job SET nodes = 2, nodes_max = 2 WHERE job_id = '%s'", job);
    fixture_exec(&f, "UPDATE attempt SET nodes = 2 WHERE job_id = '%s'", job);
    fixture_exec(&f, "INSERT INTO attempt_member (tenant_id, attempt_id, rank, job_id, node_id, slots, gpus, cpu_milli,\n"
                     "                            memory_bytes, gpu_milli, devices, state, lease_until)\n"
                     "SELECT tenant_id, attempt_id, r, job_id, CASE r WHEN 0 THEN node_id ELSE '%s' END,\n"
                     "       1, 0, 1000, 1, 1000, 0, 'RUNNING', lease_until\n"
                     "  FROM attempt, generate_series(0, 1) AS r WHERE job_id = '%s'", node, job);
    return program;
}

static void a_rank_is_its_own_machine(void **state)
{
    (void)state;
    struct inside_session s;
    struct err e = { 0 };
    const struct uuid both = running_on_both(), one = running(true);
    assert_int_equal(asks(both, 0, INSIDE_SHELL, &s, &e), ERR_OK);
    assert_true(uuid_eq(s.node_id, m.node.node_id) && s.rank == 0);
    assert_int_equal(comes(&s, next.node.node_id), ERR_STALE);
    assert_int_equal(comes(&s, m.node.node_id), ERR_OK);
    assert_int_equal(asks(both, 1, INSIDE_SHELL, &s, &e), ERR_OK);
    assert_true(uuid_eq(s.node_id, next.node.node_id) && s.rank == 1);
    assert_int_equal(comes(&s, m.node.node_id), ERR_STALE);          /* another rank of the same attempt */
    assert_int_equal(comes(&s, next.node.node_id), ERR_OK);
    assert_int_equal(asks(both, 2, INSIDE_SHELL, &s, &e), ERR_UNPROCESSABLE);
    assert_string_equal(e.msg, "There is no rank 2: this job's program runs on 2 machines, ranks 0 to 1");
    assert_string_equal(e.field, "/rank");
    assert_int_equal(asks(one, 1, INSIDE_SHELL, &s, &e), ERR_UNPROCESSABLE);
    assert_string_equal(e.msg, "There is no rank 1: this job's program runs on 1 machine, ranks 0 to 0");
    fixture_exec(&f, "UPDATE attempt_member SET live = false, state = 'SUCCEEDED', finished_at = now() WHERE rank = 1");
    assert_int_equal(asks(both, 1, INSIDE_SHELL, &s, &e), ERR_CONFLICT);
    assert_int_equal(asks(both, 0, INSIDE_SHELL, &s, &e), ERR_OK);
}

static void one_types_to_a_program_that_takes_it(void **state)
{
    (void)state;
    struct inside_session s;
    struct err e = { 0 };
    const struct uuid deaf = running(true), both = running_on_both();
    assert_int_equal(asks(deaf, 0, INSIDE_ATTACH, &s, &e), ERR_CONFLICT);
    assert_non_null(strstr(e.msg, "has no standard input"));
    fixture_exec(&f, "UPDATE job SET spec = spec || '{\"takes_stdin\": true}' WHERE nodes = 2");
    assert_int_equal(asks(both, 0, INSIDE_ATTACH, &s, &e), ERR_OK);
    assert_int_equal(asks(both, 0, INSIDE_ATTACH, &s, &e), ERR_CONFLICT);
    assert_non_null(strstr(e.msg, "one at a time"));
    assert_int_equal(asks(both, 1, INSIDE_ATTACH, &s, &e), ERR_OK);     /* each rank has its own */
    assert_int_equal(asks(both, 0, INSIDE_SHELL, &s, &e), ERR_OK);
    fixture_exec(&f, "DELETE FROM job_session WHERE kind = 'attach'");
    assert_int_equal(asks(both, 0, INSIDE_ATTACH, &s, &e), ERR_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(only_programs_that_run_and_only_ones_own, wipe),
        cmocka_unit_test_teardown(so_many_and_no_more, wipe),
        cmocka_unit_test_teardown(a_policy_closes_it_for_who_is_inside_too, wipe),
        cmocka_unit_test_teardown(a_stream_opens_once_and_from_a_browser_with_its_own_ticket, wipe),
        cmocka_unit_test_teardown(a_machine_is_told_of_many_in_parts, wipe),
        cmocka_unit_test_teardown(a_rank_is_its_own_machine, wipe),
        cmocka_unit_test_teardown(one_types_to_a_program_that_takes_it, wipe),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
