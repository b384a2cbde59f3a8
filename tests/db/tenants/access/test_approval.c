/* SPDX-License-Identifier: Apache-2.0 */
/* test_approval.c - four eyes: who may decide, once, in time, about exactly what was asked; two at once; an executor that fails. */
#include <pthread.h>
#include "tests/db/tenants/fixture.h"
#include "audit/event.h"
#include "tenants/access/approval.h"

static struct uuid tenant, asker, first, second;
static int executed;
static enum errc fail_with;

static const struct stmt scribble = { .name = "scribble", .params = "uu", .card = CARD_NONE, .sql =
    "INSERT INTO project (tenant_id, project_id, name, created_by) VALUES ($1, $2, 'scribble', $2)" };
static const struct stmt broken = { .name = "broken", .params = "u", .card = CARD_NONE, .sql =
    "INSERT INTO approval_decision (tenant_id, approval_id, user_id, approve) VALUES ($1, $1, $1, true)" };
static const struct stmt *const test_stmts[] = { &scribble, &broken, NULL };

static enum errc execute(struct work *w, const struct approval *a, struct err *err)
{
    __atomic_add_fetch(&executed, 1, __ATOMIC_SEQ_CST);
    assert_true(str_eq_c(a->kind, "one.more") || str_eq_c(a->kind, "two.more"));
    assert_non_null(strstr(str_z(w->arena, a->payload.text), "42"));
    if (fail_with == ERR_OK)
        return ERR_OK;
    db_queue(w->tx, &scribble, ARGS(A_UUID(w->tenant_id), A_UUID(new_id())), false);
    if (fail_with == ERR_INTERNAL)
        TRY(db_exec(w->tx, &broken, ARGS(A_UUID(w->tenant_id)), NULL, err));      /* a foreign key says no: the statement itself fails */
    return err_set(err, fail_with, __FILE__, __LINE__, "the zone is sealed");
}

static const struct approval_kind one_more = { "one.more", PERM_APPROVE_KEY, 1, 24, execute, "One" };
static const struct approval_kind two_more = { "two.more", PERM_APPROVE_KEY, 2, 24, execute, "Two" };
static const struct approval_kind *const kinds[] = { &one_more, &two_more, NULL };

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { approval_stmts, audit_event_stmts, test_stmts, NULL };
    world_new(lists, 6);
    tenant = new_id();
    tenant_make(tenant, "amana");
    asker = user_make(tenant, "asker", "tenant-admin");
    first = user_make(tenant, "first", "compliance-officer");
    second = user_make(tenant, "second", "compliance-officer");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_free();
    return 0;
}

static int fresh(void **state)
{
    (void)state;
    executed = 0;
    fail_with = ERR_OK;
    sql("DELETE FROM approval_decision; DELETE FROM approval; DELETE FROM project");
    return 0;
}

static struct work *as(struct uuid user, uint32_t roles)
{
    return unit_open(tenant, principal_with(tenant, user, roles));
}

static void drop(struct work *w)
{
    principal_unref((struct principal *)(uintptr_t)w->principal);
    unit_drop(w);
}

static void keep(struct work *w)
{
    principal_unref((struct principal *)(uintptr_t)w->principal);
    unit_commit(w);
}

static struct uuid ask(const struct approval_kind *kind)
{
    struct approval a;
    struct work *w = as(asker, ROLES(TENANT_ADMIN));
    OK(approval_request(w, kind, UUID_NIL, STR("key v1"), STR("{\"version\": 42}"), STR("it leaked"), &a, &e));
    assert_true(str_eq_c(a.state, "PENDING"));
    assert_int_equal(a.payload_sha256.len, 64);
    keep(w);
    return a.approval_id;
}

static const char *state_of(struct uuid id)
{
    return rows_of("SELECT state FROM approval WHERE approval_id = '%s'", hex(id)).cells[0].ptr;
}

static void decided(struct uuid id, struct uuid user, bool approve, enum errc expected)
{
    struct approval a;
    struct work *w = as(user, uuid_eq(user, asker) ? ROLES(TENANT_ADMIN) : ROLES(COMPLIANCE_OFFICER));
    enum errc rc = approval_decide(w, kinds, id, approve, STR("seen"), &a, &e);
    if (rc != expected)
        fail_msg("%s instead of %s: %s", err_row(rc)->name, err_row(expected)->name, e.msg);
    rc == ERR_OK ? keep(w) : drop(w);
}

static void one_approval_carries_it_out(void **state)
{
    (void)state;
    struct uuid id = ask(&one_more);
    decided(id, first, true, ERR_OK);
    assert_string_equal(state_of(id), "EXECUTED");
    assert_int_equal(executed, 1);
    decided(id, second, true, ERR_CONFLICT);
    assert_int_equal(executed, 1);
}

static void two_are_two_people(void **state)
{
    (void)state;
    struct uuid id = ask(&two_more);
    decided(id, first, true, ERR_OK);
    assert_string_equal(state_of(id), "PENDING");
    decided(id, first, true, ERR_SEPARATION);           /* the same person through another token is the same person */
    assert_int_equal(executed, 0);
    decided(id, second, true, ERR_OK);
    assert_string_equal(state_of(id), "EXECUTED");
    assert_int_equal(executed, 1);
}

static void the_requester_never_approves(void **state)
{
    (void)state;
    struct uuid id = ask(&one_more);
    decided(id, asker, true, ERR_SEPARATION);
    sql("UPDATE approval SET requested_by = '%s' WHERE approval_id = '%s'", hex(first), hex(id));
    decided(id, first, true, ERR_SEPARATION);           /* with every permission there is */
    assert_int_equal(executed, 0);
    decided(id, second, true, ERR_OK);
}

static void an_approver_is_entitled_and_no_administrator(void **state)
{
    (void)state;
    struct approval a;
    struct uuid id = ask(&one_more);
    struct work *w = as(second, ROLES(ML_ENGINEER));
    REFUSED(approval_decide(w, kinds, id, true, STR_NULL, &a, &e), FORBIDDEN);
    assert_non_null(strstr(e.msg, "approval:key"));
    drop(w);
    w = as(second, ROLES(COMPLIANCE_OFFICER) | ROLES(TENANT_ADMIN));        /* two hats that nobody should have */
    REFUSED(approval_decide(w, kinds, id, true, STR_NULL, &a, &e), SEPARATION);
    drop(w);
    w = as(second, ROLES(COMPLIANCE_OFFICER));
    REFUSED(approval_decide(w, kinds, new_id(), true, STR_NULL, &a, &e), NOT_FOUND);
    drop(w);
    struct principal *stranger = principal_with(new_id(), new_id(), ROLES(COMPLIANCE_OFFICER));
    w = unit_open(stranger->tenant_id, stranger);
    REFUSED(approval_decide(w, kinds, id, true, STR_NULL, &a, &e), NOT_FOUND);
    drop(w);
    assert_string_equal(state_of(id), "PENDING");
}

static void refused_withdrawn_expired_are_ends(void **state)
{
    (void)state;
    struct uuid id = ask(&two_more);
    decided(id, first, true, ERR_OK);
    decided(id, second, false, ERR_OK);
    assert_string_equal(state_of(id), "REFUSED");
    id = ask(&two_more);
    decided(id, asker, false, ERR_OK);
    assert_string_equal(state_of(id), "WITHDRAWN");
    decided(id, first, true, ERR_CONFLICT);
    id = ask(&one_more);
    sql("UPDATE approval SET expires_at = now() - interval '1 s' WHERE approval_id = '%s'", hex(id));
    decided(id, first, true, ERR_CONFLICT);
    assert_non_null(strstr(e.msg, "EXPIRED"));
    struct work *w = as(first, ROLES(COMPLIANCE_OFFICER));
    struct slice page;
    OK(approval_list(w, &(struct approval_filter){ .state = STR("EXPIRED") }, UUID_NIL, 10, &page, &e));
    assert_int_equal(page.n, 1);
    OK(approval_list(w, &(struct approval_filter){ .kind = STR("two.more"), .requested_by = asker }, UUID_NIL, 10, &page, &e));
    assert_int_equal(page.n, 2);
    OK(approval_list(w, &(struct approval_filter){ .state = STR("PENDING") }, UUID_NIL, 10, &page, &e));
    assert_int_equal(page.n, 0);
    drop(w);
    ask(&one_more);                                     /* an expired request does not stand in the way of a new one */
    assert_int_equal(executed, 0);
}

static void one_request_at_a_time_for_the_same(void **state)
{
    (void)state;
    struct approval a;
    ask(&one_more);
    struct work *w = as(asker, ROLES(TENANT_ADMIN));
    REFUSED(approval_request(w, &one_more, UUID_NIL, STR("key v1"), STR("{}"), STR_NULL, &a, &e), CONFLICT);
    drop(w);
    w = as(asker, ROLES(TENANT_ADMIN));
    OK(approval_request(w, &one_more, UUID_NIL, STR("key v2"), STR("{}"), STR_NULL, &a, &e));
    drop(w);
}

static void what_was_asked_for_is_what_happens(void **state)
{
    (void)state;
    struct uuid id = ask(&one_more);
    sql("UPDATE approval SET payload = '{\"version\": 43}' WHERE approval_id = '%s'", hex(id));
    decided(id, first, true, ERR_INTERNAL);
    assert_int_equal(executed, 0);
    assert_string_equal(state_of(id), "PENDING");
}

static void an_executor_that_fails_leaves_its_reason_alone(void **state)
{
    (void)state;
    static const enum errc how[] = { ERR_SEALED, ERR_INTERNAL };
    for (int i = 0; i < 2; i++) {
        fail_with = how[i];
        struct uuid id = ask(&one_more);
        decided(id, first, true, ERR_OK);
        assert_string_equal(state_of(id), "FAILED");
        assert_int_equal(NUMBER("SELECT count(*) FROM project"), 0);
        assert_int_equal(NUMBER("SELECT count(*) FROM approval_decision WHERE approval_id = '%s'", hex(id)), 1);
    }
    assert_int_equal(NUMBER("SELECT count(*) FROM approval WHERE outcome LIKE '%%the zone is sealed'"), 1);
    fail_with = ERR_UNAVAILABLE;
    struct uuid id = ask(&one_more);
    decided(id, first, true, ERR_UNAVAILABLE);          /* nothing is decided: it can be approved again */
    assert_string_equal(state_of(id), "PENDING");
    fail_with = ERR_OK;
    decided(id, first, true, ERR_OK);
    assert_string_equal(state_of(id), "EXECUTED");
}

static void a_legal_hold_leaves_it_pending(void **state)
{
    (void)state;
    struct uuid id = ask(&two_more);
    decided(id, first, true, ERR_OK);
    fail_with = ERR_LEGAL_HOLD;
    decided(id, second, true, ERR_LEGAL_HOLD);
    assert_string_equal(state_of(id), "PENDING");
    assert_int_equal(NUMBER("SELECT count(*) FROM project"), 0);
    assert_int_equal(NUMBER("SELECT count(*) FROM approval_decision WHERE approval_id = '%s'", hex(id)), 1);
    fail_with = ERR_OK;
    decided(id, second, true, ERR_OK);                  /* the hold was lifted: the same person may approve now */
    assert_string_equal(state_of(id), "EXECUTED");
}

struct racer { pthread_t thread; struct uuid id, user; enum errc rc; };

static void *race(void *arg)
{
    struct racer *r = arg;
    struct err why;
    struct approval a;
    struct principal *p = principal_with(tenant, r->user, ROLES(COMPLIANCE_OFFICER));
    struct work *w = unit_open(tenant, p);
    r->rc = approval_decide(w, kinds, r->id, true, STR_NULL, &a, &why);
    if (r->rc == ERR_OK)
        r->rc = db_commit(w->tx, &why);
    drop(w);
    return NULL;
}

static void two_at_once_execute_once(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        executed = 0;
        struct uuid id = ask(round % 2 ? &one_more : &two_more);
        struct racer r[4] = { { .user = first }, { .user = second }, { .user = first }, { .user = second } };
        for (int i = 0; i < 4; i++) {
            r[i].id = id;
            assert_int_equal(pthread_create(&r[i].thread, NULL, race, &r[i]), 0);
        }
        int ok = 0;
        for (int i = 0; i < 4; i++) {
            pthread_join(r[i].thread, NULL);
            ok += r[i].rc == ERR_OK;
            if (r[i].rc != ERR_OK && r[i].rc != ERR_CONFLICT && r[i].rc != ERR_SEPARATION)
                fail_msg("%s", err_row(r[i].rc)->name);
        }
        assert_int_equal(ok, round % 2 ? 1 : 2);
        assert_int_equal(executed, 1);
        assert_string_equal(state_of(id), "EXECUTED");
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup(name, fresh)
    const struct CMUnitTest tests[] = {
        T(one_approval_carries_it_out), T(two_are_two_people), T(the_requester_never_approves), T(an_approver_is_entitled_and_no_administrator),
        T(refused_withdrawn_expired_are_ends), T(one_request_at_a_time_for_the_same), T(what_was_asked_for_is_what_happens),
        T(an_executor_that_fails_leaves_its_reason_alone), T(a_legal_hold_leaves_it_pending), T(two_at_once_execute_once),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
