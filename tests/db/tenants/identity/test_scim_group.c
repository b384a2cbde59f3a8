/* SPDX-License-Identifier: Apache-2.0 */
/* test_scim_group.c - a provider's group: who is in it is shown, found, changed and let go, and counts for what the group gives.
 * */
#include "tests/db/tenants/fixture.h"
#include "tenants/access/binding.h"
#include "tenants/identity/scim_group.h"
#include "tenants/identity/scim_user.h"
#include "tenants/identity/user.h"
#include "tenants/identity/user_group.h"

static struct uuid tenant;
static struct arena *ids;
static struct principal *boss;
static const char *huda_id, *omar_id;

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { user_stmts, binding_stmts, scim_group_stmts, scim_user_stmts,
                                                       user_group_stmts, NULL };
    world_new(lists, 2);
    tenant = new_id();
    tenant_make(tenant, "amana");
    struct uuid admin = user_make(tenant, "admin", "tenant-admin");
    ids = arena_new(1 << 20);
    huda_id = str_z(ids, id_text(ids, "usr", user_make(tenant, "huda", NULL)));
    omar_id = str_z(ids, id_text(ids, "usr", user_make(tenant, "omar", NULL)));
    boss = principal_with(tenant, admin, ROLES(TENANT_ADMIN));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    principal_unref(boss);
    arena_free(ids);
    world_free();
    return 0;
}

/* The statement's answer as text, committed. */
PRINTF_LIKE(3, 4)
static const char *said(enum errc (*act)(struct work *w, const struct scim_write *in, struct scim_answer *ret, struct err *e),
                        struct uuid *id, const char *fmt, ...)
{
    static char text[8192], body[4096];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(body, sizeof body, fmt, ap);
    va_end(ap);
    struct scim_answer answer = { 0 };
    struct work *w = unit_open(tenant, boss);
    OK(act(w, &(struct scim_write){ .id = *id, .body = str_c(body) }, &answer, &e));
    snprintf(text, sizeof text, "%.*s changed:%.*s", STR_ARG(answer.body.text), STR_ARG(answer.changed));
    *id = answer.id;
    unit_commit(w);
    return text;
}

static int64_t listed(const char *filter, const char *attributes)
{
    struct scim_answer answer = { 0 };
    struct work *w = unit_open(tenant, boss);
    OK(scim_group_list(w, &(struct scim_query){ .filter = filter ? str_c(filter) : STR_NULL, .start = 1, .count = 10,
                                                .select.attributes = attributes ? str_c(attributes) : STR_NULL }, &answer, &e));
    const char *total = strstr(str_z(w->arena, answer.body.text), "\"totalResults\":");
    assert_non_null(total);
    int64_t n = atoll(total + strlen("\"totalResults\":"));
    unit_drop(w);
    return n;
}

#define HEAD "{\"schemas\":[\"urn:ietf:params:scim:schemas:core:2.0:Group\"],\"displayName\":\"%s\",\"members\":["
#define MEMBER "{\"value\":\"%s\"}"

static void members_come_and_go(void **state)
{
    (void)state;
    struct uuid group = UUID_NIL, other = UUID_NIL;
    const char *text = said(scim_group_create, &group, HEAD MEMBER "," MEMBER "," MEMBER "]}", "team", huda_id, omar_id, huda_id);
    assert_non_null(strstr(text, huda_id));
    assert_non_null(strstr(text, omar_id));
    assert_non_null(strstr(text, "\"display\":\"huda\""));
    assert_int_equal(NUMBER("SELECT count(*) FROM group_member WHERE tenant_id = '%s'", hex(tenant)), 2);  /* twice is once */
    text = said(scim_group_create, &other, HEAD "]}", "empty");
    assert_null(strstr(text, "\"members\""));
    assert_int_equal(listed(NULL, NULL), 2);
    char filter[128];
    snprintf(filter, sizeof filter, "members.value eq \"%s\"", omar_id);
    assert_int_equal(listed(filter, "displayName"), 1);
    assert_int_equal(listed("displayName eq \"TEAM\"", NULL), 1);
    assert_int_equal(listed("displayName sw \"e\" and not (members pr)", NULL), 1);

    text = said(scim_group_replace, &group, HEAD MEMBER "]}", "team", omar_id);
    assert_null(strstr(text, huda_id));
    assert_non_null(strstr(text, omar_id));
    assert_non_null(strstr(text, "changed:members"));
    text = said(scim_group_replace, &group, HEAD MEMBER "]}", "crew", omar_id);
    assert_non_null(strstr(text, "changed:displayName"));
    assert_int_equal(NUMBER("SELECT count(*) FROM group_member WHERE tenant_id = '%s'", hex(tenant)), 1);
    struct work *w = unit_open(tenant, boss);
    struct scim_answer answer;
    OK(scim_group_delete(w, &(struct scim_write){ .id = group }, &answer, &e));
    unit_commit(w);
    assert_int_equal(NUMBER("SELECT count(*) FROM group_member WHERE tenant_id = '%s'", hex(tenant)), 0);
    assert_int_equal(listed(NULL, NULL), 1);
}

static void strangers_and_groups_are_no_members(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{\"displayName\":\"x\",\"members\":[{\"value\":\"usr_00000000000000000000000000000001\"}]}",
        "{\"displayName\":\"x\",\"members\":[{\"value\":\"nobody\"}]}",
        "{\"displayName\":\"x\",\"members\":[{\"value\":\"usr_00000000000000000000000000000001\",\"type\":\"Group\"}]}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct scim_answer answer;
        struct work *w = unit_open(tenant, boss);
        REFUSED(scim_group_create(w, &(struct scim_write){ .body = str_c(bad[i]) }, &answer, &e), INVALID);
        assert_string_equal(e.field, "members");
        unit_drop(w);
    }
}

static void a_body_that_is_no_json_changes_nothing(void **state)
{
    (void)state;
    struct uuid group = UUID_NIL;
    said(scim_group_create, &group, HEAD MEMBER "]}", "kept", huda_id);
    enum errc (*const acts[])(struct work *, const struct scim_write *, struct scim_answer *, struct err *) = {
        scim_group_create, scim_group_replace, scim_group_patch,
    };
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        struct scim_answer answer;
        struct work *w = unit_open(tenant, boss);
        REFUSED(acts[i](w, &(struct scim_write){ .id = group, .body = STR("{\"displayName\":") }, &answer, &e), MALFORMED);
        assert_non_null(strstr(e.msg, "line 1 column"));        /* where, and not only that it is no object */
        unit_drop(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_come_and_go),
        cmocka_unit_test(strangers_and_groups_are_no_members),
        cmocka_unit_test(a_body_that_is_no_json_changes_nothing),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
