/* SPDX-License-Identifier: Apache-2.0 */
/* test_erasure.c - every column that can hold a text about somebody stands in pii.def, and an erased person is in no column of
 * any table. */
#include "tests/db/audit/fixture.h"
#include "core/db/session.h"

static struct arena *memory;

static struct db_text_rows rows_of(const char *sql)
{
    CLEANUP(db_session_freep) struct db_session *s = NULL;
    struct db_text_rows rows;
    OK(db_session_new(pg_harness_conninfo(pg, NULL, DB), "test", 0, &s, &e));
    OK(db_session_query(s, sql, NULL, 0, memory, &rows, &e));
    return rows;
}

static const char texts[] =
    "SELECT c.table_name || '.' || c.column_name FROM information_schema.columns c JOIN information_schema.tables t"
    "    ON t.table_schema = c.table_schema AND t.table_name = c.table_name AND t.table_type = 'BASE TABLE'"
    " WHERE c.table_schema = 'public' AND c.udt_name IN ('text', '_text', 'varchar', '_varchar', 'bpchar', 'inet', '_inet',"
    "       'cidr', '_cidr', 'json', 'jsonb', 'xml', 'name') ORDER BY 1";

static size_t times_listed(struct str column)
{
    static const struct { const char *table, *columns; } list[] = {
#define PII(t, c, whose, how, shown, doc) { #t, #c },
#define NOT_PII(t, columns, reason) { #t, columns },
#include "audit/pii.def"
    };
    size_t n = 0;
    struct str table, name, rest, one;
    assert_true(str_cut(column, '.', &table, &name));
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (!str_eq_c(table, list[i].table))
            continue;
        for (rest = str_c(list[i].columns); rest.len;) {
            (void)str_cut(rest, ' ', &one, &rest);      /* the last one has no blank behind it */
            n += str_eq(one, name);
        }
    }
    return n;
}

static void every_text_column_is_listed_once(void **state)
{
    (void)state;
    size_t bad = 0;
    struct db_text_rows rows = rows_of(texts);
    assert_true(rows.nrows > 200);
    for (size_t i = 0; i < rows.nrows; i++) {
        size_t n = times_listed(rows.cells[i]);
        if (n != 1) {
            print_error("%.*s: expected one row of audit/pii.def, found %zu: say whose it is and how it is erased, or why it"
                " is nobody's\n",
                        STR_ARG(rows.cells[i]), n);
            bad++;
        }
    }
    assert_int_equal(bad, 0);
}

static void every_row_names_a_column(void **state)
{
    (void)state;
    static const char *const named[] = {
#define PII(t, c, whose, how, shown, doc) #t "." #c,
#define NOT_PII(t, columns, reason)
#include "audit/pii.def"
    };
    struct db_text_rows rows = rows_of(texts);
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        bool found = false;
        for (size_t k = 0; k < rows.nrows; k++)
            found |= str_eq_c(rows.cells[k], named[i]);
        if (!found)
            fail_msg("audit/pii.def has %s, which is no text column of any table", named[i]);
    }
}

/* A trace of a person in each column of pii.def and in its key, all with the same mark; bytes are sought by their digits. */
static void leave_traces(const char *t, const char *u)
{
    char sql[4096];
#define RUN(...)                                       \
    do {                                               \
        snprintf(sql, sizeof sql, __VA_ARGS__);        \
        pg_harness_exec(pg, DB, sql);                  \
    } while (0)
    RUN("INSERT INTO app_user (tenant_id, user_id, name, kind) VALUES ('%s', '%s', 'Zaynab Marwari', 'person')", t, u);
    RUN("INSERT INTO invitation (tenant_id, invitation_id, name, email_hint, hash, created_by, expires_at, state, user_id) VALUES"
        " ('%s', gen_random_uuid(), 'Zaynab Marwari', 'zaynab@marwari.example', sha256('i'), '%s', now(), 'ACCEPTED', '%s')",
            t, u, u);
    RUN("INSERT INTO invitation (tenant_id, invitation_id, name, email_hint, hash, created_by, expires_at) VALUES"
        " ('%s', gen_random_uuid(), 'Z. M.', 'Zaynab@Marwari.example', sha256('by address'), '%s', now()),"
        " ('%s', gen_random_uuid(), 'Zaynab Marwari', '', sha256('by name'), '%s', now())", t, u, t, u);
    RUN("INSERT INTO api_token (tenant_id, token_id, user_id, name, hash, hint, expires_at, last_used_ip, cidrs) VALUES"
        " ('%s', gen_random_uuid(), '%s', 'marwari-laptop', sha256('t'), 'abcd', now(), '203.0.113.77', '{203.0.113.77/32}')",
            t, u);
    RUN("INSERT INTO session (tenant_id, session_id, user_id, hash, method, stage, proved_at, until, ip, user_agent) VALUES"
        " ('%s', gen_random_uuid(), '%s', sha256('s'), 'password', 'full', now(), now(), '203.0.113.77', 'Browser of"
            " marwari')", t, u);
    RUN("INSERT INTO device_grant (device_hash, user_hash, client, ip, of_tenant, of_user, expires_at) VALUES"
        " (sha256('d'), sha256('u'), 'marwari-phone', '203.0.113.77', '%s', '%s', now())", t, u);
    RUN("INSERT INTO scim_user (tenant_id, user_id, external_id, attributes) VALUES ('%s', '%s', 'marwari-7', '{\"userName\":"
        " \"marwari\"}')", t, u);
    RUN("INSERT INTO password (tenant_id, user_id, phc, zone) VALUES ('%s', '%s', '$argon2id$marwari', 'z')", t, u);
    RUN("INSERT INTO idempotency (tenant_id, principal_id, route, key, request_sha, status, body) VALUES"
        " ('%s', gen_random_uuid(), 'invitation_create', 'k', 'x', 201, '{\"email_hint\": \"zaynab@marwari.example\"}')", t);
    RUN("INSERT INTO tenant_key (tenant_id, zone, version, state, wrapped, root_version, provider) VALUES"
        " ('%s', 'ae-dxb-1', 1, 'PRIMARY', 'tenant', 1, 's') ON CONFLICT DO NOTHING;"
        " INSERT INTO audit_subject_key (tenant_id, subject_id, key_id, zone, key_version, wrapped) VALUES"
        " ('%s', '%s', gen_random_uuid(), 'ae-dxb-1', 1, 'marwari')", t, t, u);
    RUN("INSERT INTO issuer (tenant_id, issuer_id, name, issuer, audience, algorithms, jwks_uri, single_use, created_by) VALUES"
        " ('%s', '%s', 'i', 'https://i.example', 'a-%s', '{ES256}', 'https://i.example/k', false, '%s');"
        " INSERT INTO issuer_subject (tenant_id, issuer_id, subject, user_id) VALUES ('%s', '%s', 'sub-marwari', '%s')", t, u,
            t, u, t, u, u);
    RUN("INSERT INTO identity_provider (tenant_id, provider_id, name, issuer, client_id, scopes, name_claim, groups_claim,"
        " mfa_values, set_by,"
        " create_users) VALUES ('%s', '%s', 'p', 'https://p.example', 'c', '{openid}', 'name', 'groups', '{}', '%s', false);"
        " INSERT INTO federated_user (tenant_id, provider_id, subject, user_id) VALUES ('%s', '%s', 'oidc-marwari', '%s')", t,
            u, u, t, u, u);
}

static size_t traces(void)
{
    struct db_text_rows tables = rows_of("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND"
        " table_type = 'BASE TABLE'");
    size_t n = 0;
    for (size_t i = 0; i < tables.nrows; i++) {
        struct str sql = str_fmt(memory, "SELECT x::text FROM %.*s x WHERE"
            " x::text ~* 'marwari|6d617277617269|203[.]0[.]113[.]77'", STR_ARG(tables.cells[i]));
        struct db_text_rows rows = rows_of(sql.ptr);
        for (size_t k = 0; k < rows.nrows; k++)
            print_message("%.*s: %.*s\n", STR_ARG(tables.cells[i]), STR_ARG(rows.cells[k]));
        n += rows.nrows;
    }
    return n;
}

static void an_erased_person_is_in_no_table(void **state)
{
    (void)state;
    struct uuid person = uuid_v7(5000);
    struct audit_person data = { 0 };
    struct audit_erasure r;
    char t[UUID_TEXT], u[UUID_TEXT];
    uuid_text(tenant_a, t);
    uuid_text(person, u);
    leave_traces(t, u);
    assert_true(traces() >= 10);
    struct unit *w = unit_open(app_pool, SCOPE_TENANT(tenant_a));
    OK(audit_person_data(&w->w, person, &data, &e));
    assert_true(data.erased_at.us == 0 && !data.held);
    assert_int_equal(data.data.n, 17);           /* one of each column that is shown, and invitations not taken */
    unit_commit(w);
    w = unit_open(app_pool, SCOPE_TENANT(tenant_b));
    assert_int_equal(audit_person_data(&w->w, person, &data, &e), ERR_NOT_FOUND);       /* another tenant learns nothing */
    unit_commit(w);
    w = unit_open(app_pool, SCOPE_TENANT(tenant_a));
    OK(audit_erase_person(&w->w, person, uuid_v7(6000), &r, &e));
    unit_commit(w);
    pg_harness_exec(pg, DB, "SELECT authn_token_used(array_agg(tenant_id), array_agg(token_id),"
        " array_agg('203.0.113.77'::text)) FROM api_token");
    assert_int_equal(traces(), 0);
    assert_int_equal(rows_of("SELECT FROM audit_subject_key WHERE wrapped IS NULL AND erased_at IS NOT NULL").nrows, 1);
    assert_int_equal(rows_of("SELECT FROM invitation WHERE state = 'OPEN' OR name = 'Z. M.'").nrows, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_text_column_is_listed_once),
        cmocka_unit_test(every_row_names_a_column),
        cmocka_unit_test(an_erased_person_is_in_no_table) };
    memory = arena_new(64 << 20);
    int failed = cmocka_run_group_tests(tests, setup, teardown);
    arena_free(memory);
    return failed;
}
