/* SPDX-License-Identifier: Apache-2.0 */
/* test_rule.c - mail goes to active people of the own tenant, events fit their place, names are once, and a tenant has only
 * so many.
 * Webhooks and their secrets: tests/http/routes/notifications.test.ts. */
#include "tests/db/tenants/fixture.h"
#include "audit/tail.h"
#include "tenants/home/project.h"
#include "tenants/notice/delivery.h"
#include "tenants/notice/event.h"
#include "tenants/notice/rule.h"

static struct uuid tenant, other, huda, gone, stranger;
static struct principal *admin, *foreign;
static int failed[] = { NE_JOB_FAILED };

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { notice_rule_stmts, notice_delivery_stmts, audit_tail_stmts,
        project_stmts, NULL };
    world_new(lists, 4);
    tenant = new_id();
    other = new_id();
    tenant_make(tenant, "amana");
    tenant_make(other, "bahr");
    huda = user_make(tenant, "Huda", "ml-engineer");
    gone = user_make(tenant, "Gone", "ml-engineer");
    stranger = user_make(other, "Stranger", "tenant-admin");
    sql("UPDATE app_user SET state = 'DISABLED' WHERE user_id = '%s'", hex(gone));
    admin = principal_with(tenant, user_make(tenant, "Admin", "tenant-admin"), ROLES(TENANT_ADMIN));
    foreign = principal_with(other, stranger, ROLES(TENANT_ADMIN));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    principal_unref(admin);
    principal_unref(foreign);
    world_free();
    return 0;
}

static struct notice_rule mail_to(struct uuid *who, const char *name)
{
    return (struct notice_rule){ .name = str_c(name), .kind = NOTICE_MAIL, .events = { failed, 1 }, .recipients = { who, 1 },
        .wait_minutes = 60 };
}

static void mail_is_for_active_people_of_the_tenant(void **state)
{
    (void)state;
    struct work *w = unit_open(tenant, admin);
    struct notice_rule r, in = mail_to(&gone, "to gone");
    REFUSED(notice_rule_create(w, &in, &r, &e), UNPROCESSABLE);
    in = mail_to(&stranger, "to a stranger");
    REFUSED(notice_rule_create(w, &in, &r, &e), UNPROCESSABLE);
    in = mail_to(&huda, "to Huda");
    in.url = STR("https://x.example/");
    REFUSED(notice_rule_create(w, &in, &r, &e), INVALID);
    in.url = STR_NULL;
    OK(notice_rule_create(w, &in, &r, &e));
    assert_true(r.events.n == 1 && ((int *)r.events.items)[0] == NE_JOB_FAILED &&
        uuid_eq(((struct uuid *)r.recipients.items)[0], huda));
    unit_commit(w);
    w = unit_open(tenant, admin);
    REFUSED(notice_rule_create(w, &in, &r, &e), EXISTS);
    unit_drop(w);
}

static void events_of_the_tenant_belong_to_no_project(void **state)
{
    (void)state;
    struct work *w = unit_open(tenant, admin);
    struct project p;
    const struct shown_name names = { 0 };
    int budget[] = { NE_BUDGET };
    struct notice_rule r, in = mail_to(&huda, "of a project");
    OK(project_create(w, STR("herons"), &names, &p, &e));
    in.project_id = p.project_id;
    in.events = (struct slice){ budget, 1 };
    REFUSED(notice_rule_create(w, &in, &r, &e), UNPROCESSABLE);
    in.events = (struct slice){ failed, 1 };
    OK(notice_rule_create(w, &in, &r, &e));
    const struct notice_rule_change c = { .has_events = true, .events = { budget, 1 } };
    REFUSED(notice_rule_set(w, r.notification_id, &c, -1, &r, &e), UNPROCESSABLE);
    unit_drop(w);
}

static void another_tenant_sees_and_changes_nothing(void **state)
{
    (void)state;
    struct work *w = unit_open(tenant, admin);
    struct notice_rule r, in = mail_to(&huda, "ours");
    struct slice rows;
    OK(notice_rule_create(w, &in, &r, &e));
    const struct uuid id = r.notification_id;
    unit_commit(w);
    w = unit_open(other, foreign);
    const struct notice_rule_change c = { .has_state = true, .state = 1 };
    REFUSED(notice_rule_get(w, id, &r, &e), NOT_FOUND);
    REFUSED(notice_rule_set(w, id, &c, -1, &r, &e), NOT_FOUND);
    REFUSED(notice_rule_delete(w, id, &e), NOT_FOUND);
    OK(notice_rule_list(w, UUID_NIL, 10, &rows, &e));
    assert_int_equal(rows.n, 0);
    unit_drop(w);
    w = unit_open(other, foreign);
    in = mail_to(&stranger, "ours");            /* a name of theirs */
    OK(notice_rule_create(w, &in, &r, &e));
    unit_drop(w);
}

static void a_change_names_its_version_and_removal_gives_up_what_waits(void **state)
{
    (void)state;
    struct work *w = unit_open(tenant, admin);
    struct notice_rule r, in = mail_to(&huda, "changing");
    int64_t n;
    OK(notice_rule_create(w, &in, &r, &e));
    const struct notice_rule_change c = { .has_state = true, .state = 1, .name = STR("changed") };
    OK(notice_rule_set(w, r.notification_id, &c, 1, &r, &e));
    assert_true(r.version == 2 && r.state == 1 && str_eq_c(r.name, "changed") && r.events.n == 1);
    REFUSED(notice_rule_set(w, r.notification_id, &c, 1, &r, &e), PRECONDITION);
    OK(notice_delivery_test(w, r.notification_id, &n, &e));
    assert_int_equal(n, 1);
    OK(notice_rule_delete(w, r.notification_id, &e));
    unit_commit(w);
    assert_int_equal(NUMBER("SELECT count(*) FROM notice_delivery WHERE state = 'DEAD'"
                            " AND reason = 'The notification was removed'"), 1);
}

static void a_tenant_has_only_so_many(void **state)
{
    (void)state;
    struct work *w = unit_open(other, foreign);
    struct notice_rule r, in;
    for (int i = 0; i < NOTICE_RULES_MAX; i++) {
        in = mail_to(&stranger, str_z(w->arena, str_fmt(w->arena, "n%d", i)));
        OK(notice_rule_create(w, &in, &r, &e));
    }
    in = mail_to(&stranger, "one more");
    REFUSED(notice_rule_create(w, &in, &r, &e), LIMIT);
    unit_drop(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(mail_is_for_active_people_of_the_tenant),
        cmocka_unit_test(events_of_the_tenant_belong_to_no_project), cmocka_unit_test(another_tenant_sees_and_changes_nothing),
        cmocka_unit_test(a_change_names_its_version_and_removal_gives_up_what_waits),
            cmocka_unit_test(a_tenant_has_only_so_many) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
