/* SPDX-License-Identifier: Apache-2.0 */
/* test_list_find.c - every filter and order of every list beside a look at each row, pages without gaps, and who finds what. */
#include "tests/db/tenants/fixture.h"
#include "core/db/list_find.h"

enum { ROWS = 210, PAGE = 13 };
enum { DATASET, MODEL, DEPLOYMENT, USER, PROJECT, TOKEN, TENANT, NODE, LISTS };
static struct uuid tenant, other, maker, second, project;

struct found { struct uuid id; };
SCHEMA_OF(found, "A row that was found", FIELD(found, id, 0, .doc = "Its id"));
#define FINDS(list)                                                                                           \
    { .name = "find_" list, .params = LIST_FIND_PARAMS, .row = &found_schema, .card = CARD_MANY, .sql =      \
      "SELECT found_id AS id FROM " LIST_FIND(list) " ORDER BY found_place" }
static const struct stmt find[LISTS] = { FINDS("dataset"), FINDS("model"), FINDS("deployment"), FINDS("app_user"), FINDS("project"),
                                         FINDS("api_token"), FINDS("tenant"), FINDS("node") };
static const struct stmt *const find_stmts[] = { &find[0], &find[1], &find[2], &find[3], &find[4], &find[5], &find[6], &find[7], NULL };

/* Row i of 210 of every list. The periods 2, 3, 5 and 7 are coprime, so every filter cuts every other. */
static const char ROW[] =
    "CREATE FUNCTION row_id(i int) RETURNS uuid LANGUAGE sql AS"
    " $$ SELECT (lpad(to_hex(1760000000000 + i * 60000::bigint), 12, '0') || '7000800000000000' || lpad(to_hex(i), 4, '0'))::uuid $$;"
    "CREATE FUNCTION row_name(i int) RETURNS text LANGUAGE sql AS $$ SELECT CASE i % 5 WHEN 0 THEN 'tune-llama-' WHEN 1 THEN 'sweep-'"
    " ELSE 'digits-' END || lpad((i * 101 % 210)::text, 3, '0') $$";

static void fill(struct uuid t, struct uuid by, struct uuid also_by, struct uuid p)
{
    sql("CREATE TEMP TABLE i AS SELECT i, row_id(i) AS id, row_name(i) AS name, CASE WHEN i %% 7 = 0 THEN '%s'::uuid ELSE '%s'::uuid END AS by,"
        " CASE WHEN i %% 2 = 0 THEN '%s'::uuid END AS project, '%s'::uuid AS t FROM generate_series(0, 209) i;"
        "INSERT INTO object (tenant_id, object_id, zone, kind, state) SELECT DISTINCT t, gen_random_uuid(), z, k, 'WRITING'"
        "  FROM unnest(ARRAY['ae-auh-1', 'ae-dxb-1']) z, unnest(ARRAY['dataset', 'model']) k, (SELECT DISTINCT t FROM i) i;"
        "INSERT INTO dataset (tenant_id, dataset_id, name, label_column, classes, data_class, created_by, project_id)"
        "  SELECT t, id, name, 'y', 2, CASE WHEN i %% 3 = 0 THEN 'health' ELSE 'internal' END, by, project FROM i;"
        "INSERT INTO dataset_version (tenant_id, dataset_id, version, object_id, row_count, column_count, created_by) SELECT t, id, v, object_id, 1, 1, by"
        "  FROM i, generate_series(1, 2) v, object WHERE tenant_id = t AND kind = 'dataset' AND zone = CASE WHEN i %% 5 = 0 AND v = 1 THEN 'ae-auh-1' ELSE 'ae-dxb-1' END;"
        "INSERT INTO model (tenant_id, model_id, name, created_by, project_id) SELECT t, id, name, by, project FROM i;"
        "INSERT INTO job (tenant_id, job_id, name, kind, state, queued, spec, created_by, project_id, fence, finished_at)"
        "  SELECT t, id, name, 'serve', 'RUNNING', false, '{}', by, project, 1, NULL FROM i;"
        "INSERT INTO model_version (tenant_id, model_id, version, object_id, job_id, family, inputs, outputs, created_by) SELECT t, id, 1, object_id, id, 'mlp', 1, 1, by"
        "  FROM i, object WHERE tenant_id = t AND kind = 'model' AND zone = CASE WHEN i %% 5 = 0 THEN 'ae-auh-1' ELSE 'ae-dxb-1' END;"
        "INSERT INTO attempt (tenant_id, attempt_id, job_id, fence, node_id, slots, gpus, lease_until, state, endpoint)"
        "  SELECT t, gen_random_uuid(), id, 1, node_id, 1, 0, now(), 'RUNNING', '127.0.0.1:1' FROM i, node WHERE i %% 5 = 0;"
        "INSERT INTO deployment (tenant_id, deployment_id, name, model_id, model_version, job_id, created_by, project_id)"
        "  SELECT t, id, name, CASE WHEN i %% 3 = 0 THEN row_id(0) ELSE id END, 1, id, by, project FROM i;"
        "INSERT INTO deployment (tenant_id, deployment_id, name, model_id, model_version, job_id, created_by, state)"
        "  SELECT t, gen_random_uuid(), name, id, 1, id, by, 'DELETED' FROM i;"
        "INSERT INTO app_user (tenant_id, user_id, name, kind, state) SELECT t, id, name, CASE WHEN i %% 3 = 0 THEN 'service' ELSE 'person' END,"
        "  CASE WHEN i %% 7 = 0 THEN 'DISABLED' ELSE 'ACTIVE' END FROM i;"
        "INSERT INTO role_binding (tenant_id, binding_id, user_id, role, created_by) SELECT t, gen_random_uuid(), id, 'auditor', by FROM i WHERE i %% 5 = 0;"
        "INSERT INTO project (tenant_id, project_id, name, display_name, state, created_by) SELECT t, id, name, 'مشروع ' || (i %% 7),"
        "  CASE WHEN i %% 3 = 0 THEN 'CLOSED' ELSE 'ACTIVE' END, by FROM i;"
        "INSERT INTO api_token (tenant_id, token_id, user_id, name, hash, hint, expires_at, revoked_at) SELECT t, id, by, name, sha256((t::text || i)::bytea), 'x',"
        "  now() + CASE WHEN i %% 3 = 1 THEN interval '-1 day' ELSE interval '1 day' END + i * 101 %% 210 * interval '1 second', CASE WHEN i %% 3 = 0 THEN now() END FROM i;"
        "DROP TABLE i", hex(also_by), hex(by), hex(p), hex(t));
}

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { find_stmts, NULL };
    world_new(lists, 4);
    sql("INSERT INTO node (node_id, zone, pool, name, identity, slots, cpus, memory_bytes, version, boot_id) VALUES"
        " (gen_random_uuid(), 'ae-dxb-1', 'default', 'rack-01', 'spiffe://ae-dxb-1/worker/default/rack-01', 8, 8, 1, '1', gen_random_uuid())");
    pg_harness_exec(pg, DB, ROW);
    tenant = new_id();
    other = new_id();
    tenant_make(tenant, "searched");
    tenant_make(other, "another");
    maker = user_make(tenant, "maker", "ml-engineer");
    second = user_make(tenant, "second", "ml-engineer");
    project = new_id();
    sql("INSERT INTO project (tenant_id, project_id, name, created_by) VALUES ('%s', '%s', 'one', '%s')", hex(tenant), hex(project), hex(maker));
    fill(tenant, maker, second, project);
    struct uuid theirs = user_make(other, "maker", "ml-engineer"), also = user_make(other, "second", "ml-engineer"), part = new_id();
    sql("INSERT INTO project (tenant_id, project_id, name, created_by) VALUES ('%s', '%s', 'one', '%s')", hex(other), hex(part), hex(theirs));
    fill(other, theirs, also, part);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_free();
    return 0;
}

/* The i of a row that fill made; -1: another. */
static int row_of(struct uuid id)
{
    static const uint8_t middle[8] = { 0x70, 0, 0x80, 0, 0, 0, 0, 0 };
    return memcmp(id.b + 6, middle, sizeof middle) == 0 ? id.b[14] << 8 | id.b[15] : -1;
}

/* What the list is ordered by, so that a greater row has a greater text. */
static void place_of(int list, struct str sort, int i, char out[64])
{
    if (str_ends(sort, "created"))
        snprintf(out, 64, "%05d", i);
    else if (list == TOKEN)
        snprintf(out, 64, "%d %05d", i % 3 != 1, i * 101 % 210);
    else
        snprintf(out, 64, "%s%03d", i % 5 == 0 ? "tune-llama-" : i % 5 == 1 ? "sweep-" : "digits-", i * 101 % 210);
}

/* Page by page: each row that `want` says yes to, once, in the order; and no other. */
static void expect_in(struct work *w, int list, const struct list_find *f, bool (*want)(int))
{
    bool seen[ROWS] = { false };
    struct uuid at = UUID_NIL;
    struct slice page = { 0 };
    char was[64] = "", is[64];
    struct str sort = f->sort.ptr ? f->sort : STR("-created");
    do {
        OK(list_find(w, &find[list], f, at, PAGE, &page, &e));
        for (size_t k = 0; k < page.n; k++) {
            at = ((struct found *)page.items)[k].id;
            int i = row_of(at);
            if (i < 0)
                continue;
            if (!want(i) || seen[i])
                fail_msg("list %d: row %d is there and should not be", list, i);
            seen[i] = true;
            place_of(list, sort, i, is);
            if (*was)
                assert_true(sort.ptr[0] == '-' ? strcmp(is, was) < 0 : strcmp(is, was) > 0);
            strcpy(was, is);
        }
    } while (page.n == PAGE);
    for (int i = 0; i < ROWS; i++)
        if (want(i) && !seen[i])
            fail_msg("list %d: row %d is missing", list, i);
}

static void expect(int list, const struct list_find *f, bool (*want)(int))
{
    struct work *w = unit_open(tenant, NULL);
    expect_in(w, list, f, want);
    unit_drop(w);
}

static bool all(int i) { return i >= 0; }
static bool none(int i) { return i < 0; }
static bool by_two(int i) { return i % 2 == 0; }
static bool by_three(int i) { return i % 3 == 0; }
static bool not_by_three(int i) { return i % 3 != 0; }
static bool three_and_one(int i) { return i % 3 == 1; }
static bool three_and_two(int i) { return i % 3 == 2; }
static bool by_five(int i) { return i % 5 == 0; }
static bool not_by_five(int i) { return i % 5 != 0; }
static bool by_seven(int i) { return i % 7 == 0; }
static bool seven_and_four(int i) { return i % 7 == 4; }
static bool digits(int i) { return i % 5 > 1; }
static bool all_together(int i) { return i % 2 == 0 && i % 3 == 0 && i % 7 == 0 && i % 5 > 1; }
static bool one_name(int i) { return i % 5 == 1 && i * 101 % 210 == 101 * 1 % 210; }

static void orders_and_names(void **state)
{
    (void)state;
    static const char *const sorts[] = { "-created", "created", "name", "-name" };
    for (int list = DATASET; list <= TOKEN; list++) {
        expect(list, &(struct list_find){ 0 }, all);
        expect(list, &(struct list_find){ .q = STR("DIGITS") }, digits);
        expect(list, &(struct list_find){ .q = STR("sweep-101") }, one_name);
        expect(list, &(struct list_find){ .q = STR("tune_llama") }, none);
        expect(list, &(struct list_find){ .q = STR("di%ts") }, none);
        for (size_t s = 0; s < 4; s++) {
            struct str sort = list == TOKEN && s > 1 ? str_c(s == 2 ? "expires_at" : "-expires_at") : str_c(sorts[s]);
            expect(list, &(struct list_find){ .sort = sort }, all);
            expect(list, &(struct list_find){ .sort = sort, .q = STR("llama") }, by_five);
        }
    }
    expect(PROJECT, &(struct list_find){ .q = STR("مشروع 4") }, seven_and_four);
}

static void by(int list, const char *filter, struct str val, bool (*want)(int))
{
    struct list_find f = { 0 };
    list_find_by(&f, filter, val);
    expect(list, &f, want);
    f.sort = list == TOKEN ? STR("expires_at") : STR("name");
    expect(list, &f, want);
}

static struct str id_of(struct uuid u)
{
    return str_c(hex(u));
}

static void each_filter_alone(void **state)
{
    (void)state;
    struct uuid row0;
    assert_true(uuid_parse(STR("0199c82cc00070008000000000000000"), &row0));
    assert_int_equal(row_of(row0), 0);
    for (int list = DATASET; list <= DEPLOYMENT; list++) {
        by(list, "project_id", id_of(project), by_two);
        by(list, "created_by", id_of(second), by_seven);
        by(list, "created_by", id_of(new_id()), none);
    }
    by(DATASET, "data_class", STR("health"), by_three);
    by(DATASET, "data_class", STR("gov"), none);
    by(DATASET, "zone", STR("ae-auh-1"), by_five);
    by(DATASET, "zone", STR("ae-dxb-1"), all);
    by(MODEL, "zone", STR("ae-auh-1"), by_five);
    by(MODEL, "zone", STR("ae-dxb-1"), not_by_five);
    by(MODEL, "zone", STR("nowhere"), none);
    by(DEPLOYMENT, "ready", STR("true"), by_five);
    by(DEPLOYMENT, "ready", STR("false"), not_by_five);
    by(DEPLOYMENT, "model_id", id_of(row0), by_three);
    by(USER, "kind", STR("service"), by_three);
    by(USER, "state", STR("DISABLED"), by_seven);
    by(USER, "role", STR("auditor"), by_five);
    by(USER, "name", STR("tune-"), by_five);
    by(USER, "name", STR("llama"), none);
    by(PROJECT, "state", STR("ACTIVE"), not_by_three);
    by(PROJECT, "name", STR("digits"), digits);
    by(TOKEN, "state", STR("active"), three_and_two);
    by(TOKEN, "state", STR("expired"), three_and_one);
    by(TOKEN, "state", STR("revoked"), by_three);
    by(TOKEN, "user_id", id_of(second), by_seven);
    by(TOKEN, "name", STR("tune-llama"), by_five);
}

static void filters_together(void **state)
{
    (void)state;
    struct list_find f = { .q = STR("digits") };
    list_find_by(&f, "data_class", STR("health"));
    list_find_by(&f, "project_id", id_of(project));
    list_find_by(&f, "created_by", id_of(second));
    list_find_by(&f, "zone", STR_NULL);
    assert_int_equal(f.n, 3);
    expect(DATASET, &f, all_together);
}

static void who_is_held_to_a_project_finds_what_is_in_it(void **state)
{
    (void)state;
    struct work *w = unit_open(tenant, NULL);
    db_rollback(w->tx);
    OK(db_begin(app_pool, SCOPE_PROJECTS(tenant, &project, 1), 0, w->arena, &w->tx, &e));
    for (int list = DATASET; list <= DEPLOYMENT; list++) {
        expect_in(w, list, &(struct list_find){ 0 }, by_two);
        expect_in(w, list, &(struct list_find){ .q = STR("sweep-101") }, none);
    }
    expect_in(w, PROJECT, &(struct list_find){ .sort = STR("name") }, none);
    struct list_find of_role = { 0 };
    list_find_by(&of_role, "role", STR("auditor"));
    expect_in(w, USER, &of_role, none);                     /* who holds it in the tenant is not told */
    unit_drop(w);
}

/* The definer's function sees every tenant, so it is asked for another one than the transaction's. */
static void it_answers_for_the_transactions_tenant_alone(void **state)
{
    (void)state;
    for (int list = DATASET; list <= TENANT; list++) {
        struct work *w = unit_open(tenant, NULL);
        struct slice page = { 0 };
        w->tenant_id = other;
        OK(list_find(w, &find[list], &(struct list_find){ 0 }, UUID_NIL, PAGE, &page, &e));
        assert_int_equal(page.n, 0);
        w->tenant_id = UUID_NIL;
        OK(list_find(w, &find[list], &(struct list_find){ 0 }, UUID_NIL, PAGE, &page, &e));
        assert_int_equal(page.n, 0);
        unit_drop(w);
    }
}

static void tenants_are_listed_to_the_platform_and_machines_to_all(void **state)
{
    (void)state;
    struct slice page = { 0 };
    struct list_find named = { .q = STR("NOTHER"), .sort = STR("name") };
    struct work *w = unit_open(UUID_NIL, NULL);
    OK(list_find(w, &find[TENANT], &named, UUID_NIL, PAGE, &page, &e));
    assert_int_equal(page.n, 1);
    assert_true(uuid_eq(*(struct uuid *)page.items, other));
    OK(list_find(w, &find[TENANT], &(struct list_find){ 0 }, UUID_NIL, PAGE, &page, &e));
    assert_int_equal(page.n, 2);
    unit_drop(w);
    w = unit_open(tenant, NULL);
    OK(list_find(w, &find[TENANT], &(struct list_find){ 0 }, UUID_NIL, PAGE, &page, &e));
    assert_int_equal(page.n, 1);
    OK(list_find(w, &find[TENANT], &named, UUID_NIL, PAGE, &page, &e));
    assert_int_equal(page.n, 0);
    struct list_find rack = { .q = STR("ACK-0"), .sort = STR("name") };
    list_find_by(&rack, "pool", STR("default"));
    OK(list_find(w, &find[NODE], &rack, UUID_NIL, PAGE, &page, &e));
    assert_int_equal(page.n, 1);
    list_find_by(&rack, "zone", STR("ae-auh-1"));
    OK(list_find(w, &find[NODE], &rack, UUID_NIL, PAGE, &page, &e));
    assert_int_equal(page.n, 0);
    unit_drop(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_and_names), cmocka_unit_test(each_filter_alone), cmocka_unit_test(filters_together),
        cmocka_unit_test(who_is_held_to_a_project_finds_what_is_in_it), cmocka_unit_test(it_answers_for_the_transactions_tenant_alone),
        cmocka_unit_test(tenants_are_listed_to_the_platform_and_machines_to_all),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
