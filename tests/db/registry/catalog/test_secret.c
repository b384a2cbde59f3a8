/* SPDX-License-Identifier: Apache-2.0 */
/* test_secret.c - values go in and come out by a lease's keys alone; what is disabled or deleted gives none; a name means a
 * project's own. */
#include "tests/db/registry/vault/lease_kit.h"
#include "registry/catalog/secret.h"

static const char VALUE[] = "hunter2hunter2";

static const char *uuid_z(struct uuid u)
{
    char *text = arena_alloc(arena, UUID_TEXT);
    uuid_text(u, text);
    return text;
}

static void there_is_no(const char *row)
{
    pg_harness_exec(pg, DB, arena_printf(arena, "DO $$ BEGIN IF EXISTS (SELECT FROM %s) THEN RAISE 'a row is there'; END IF; END "
        "$$", row));
}

static struct secret name_it(struct uuid project, const char *name)
{
    struct secret s;
    struct work w = begin(0);
    OK(secret_create(&w, &(struct secret_new){ .project_id = project, .name = str_c(name) }, &s, &e));
    end(&w);
    return s;
}

static struct secret_found give(struct uuid id, struct uuid project, const char *name, const char *value)
{
    struct secret_version v;
    struct secret_found f;
    struct work w = begin(0);
    OK(secret_set_value(&w, id, str_c(value), &v, &e));
    OK(secret_find(&w, project, str_c(name), 0, &f, &e));
    end(&w);
    assert_int_equal(f.value_version, v.value_version);
    return f;
}

/* The running job of lease_kit.h names it. */
static void named_by_the_job(struct uuid object, const char *target)
{
    pg_harness_exec(pg, DB, arena_printf(arena, "INSERT INTO job_object (tenant_id, job_id, direction, name, object_id)"
        " VALUES ('%s', '%s', 'input', 'secret:%s', '%s')", uuid_z(people[0]->tenant_id), uuid_z(job), target, uuid_z(object)));
}

static enum errc ask_keys(struct uuid object, struct worker_release *r, struct slice *used)
{
    struct work w = node_work();
    enum errc rc = secret_use(&w, &object, 1, used, &e);
    if (rc == ERR_OK)
        rc = worker_keys(&w, &lease, &object, 1, pub(), r, &e);
    if (rc == ERR_OK)
        end(&w);
    else
        db_rollback(w.tx);
    return rc;
}

static enum errc set_state(struct uuid id, int state)
{
    struct secret s;
    struct work w = begin(0);
    enum errc rc = secret_set(&w, id, &(struct secret_change){ true, state, STR_NULL }, -1, &s, &e);
    assert_int_equal(s.state, state);
    end(&w);
    return rc;
}

static void a_value_comes_out_by_the_keys_of_a_lease_alone(void **state)
{
    (void)state;
    struct secret s = name_it(UUID_NIL, "hub"), got;
    struct secret_found f;
    struct worker_release r;
    struct release_key key;
    struct blob_reader *blob;
    struct slice used;
    int64_t size;
    char sealed[512];
    struct work w = begin(0);
    assert_int_equal(secret_find(&w, UUID_NIL, STR("hub"), 0, &f, &e), ERR_CONFLICT);       /* it has none */
    end(&w);
    f = give(s.secret_id, UUID_NIL, "hub", VALUE);
    there_is_no(arena_printf(arena, "object WHERE kind = 'secret' AND sha256 = sha256('%s')", VALUE));
    assert_int_equal(ask_keys(f.object_id, &r, &used), ERR_NOT_FOUND);                      /* no job of the lease names it */
    named_by_the_job(f.object_id, "env:HUB");
    assert_int_equal(ask_keys(f.object_id, &r, &used), ERR_OK);
    assert_true(used.n == 1 && str_eq_c(((struct secret_used *)used.items)[0].name, "hub"));
    open_release(&r, &key);
    w = node_work();
    OK(worker_input_open(&w, &lease, f.object_id, &blob, &size, &e));
    end(&w);
    assert_int_equal(blob_read(blob, sealed, sizeof sealed), size);
    blob_reader_close(blob);
    assert_null(memmem(sealed, (size_t)size, VALUE, sizeof VALUE - 1));
    CLEANUP(buf_releasep) struct buf b = BUF(4096);
    CLEANUP(stream_opener_freep) struct stream_opener *o = NULL;
    const struct stream_ref ref = { people[0]->tenant_id, STR("secret"), f.object_id, 1, key.dek_id };
    OK(stream_opener_new(&key.key, &ref, into_buf, &b, &o, &e));
    OK(stream_opener_feed(o, sealed, (size_t)size, &e));
    OK(stream_opener_finish(o, &e));
    assert_int_equal(b.len, SECRET_SALT_BYTES + sizeof VALUE - 1);
    assert_memory_equal(b.ptr + SECRET_SALT_BYTES, VALUE, sizeof VALUE - 1);
    w = begin(0);
    OK(secret_get(&w, s.secret_id, &got, &e));
    end(&w);
    assert_true(got.last_used_at.us > 0 && s.last_used_at.us == 0 && got.latest_version == 1);
}

static void what_is_disabled_or_deleted_gives_no_key(void **state)
{
    (void)state;
    const int64_t objects = used(0, "objects");
    struct secret s = name_it(UUID_NIL, "gone");
    struct secret_found f = give(s.secret_id, UUID_NIL, "gone", VALUE), again;
    struct worker_release r;
    struct slice list;
    char path[256];
    named_by_the_job(f.object_id, "file:gone");
    struct work w = begin(0);
    assert_int_equal(secret_delete(&w, s.secret_id, -1, &e), ERR_CONFLICT);
    assert_non_null(strstr(e.msg, "Jobs that have not ended name it: j (job_"));
    db_rollback(w.tx);
    assert_int_equal(ask_keys(f.object_id, &r, &list), ERR_OK);
    OK(set_state(s.secret_id, SECRET_DISABLED));
    assert_int_equal(ask_keys(f.object_id, &r, &list), ERR_FORBIDDEN);
    assert_string_equal(e.msg, "The secret gone is disabled");
    w = begin(0);
    assert_int_equal(secret_find(&w, UUID_NIL, STR("gone"), 0, &again, &e), ERR_FORBIDDEN);
    end(&w);
    OK(set_state(s.secret_id, SECRET_ACTIVE));
    assert_int_equal(ask_keys(f.object_id, &r, &list), ERR_OK);
    OK(set_state(s.secret_id, SECRET_DISABLED));
    w = begin(0);
    assert_int_equal(secret_delete(&w, s.secret_id, 1, &e), ERR_PRECONDITION);
    db_rollback(w.tx);
    w = begin(1);
    assert_int_equal(secret_delete(&w, s.secret_id, -1, &e), ERR_NOT_FOUND);
    db_rollback(w.tx);
    w = begin(0);
    OK(secret_delete(&w, s.secret_id, -1, &e));
    end(&w);
    blob_path(people[0]->tenant_id, f.object_id, path);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(ask_keys(f.object_id, &r, &list), ERR_NOT_FOUND);
    there_is_no(arena_printf(arena, "dek WHERE object_id = '%s' AND wrapped IS NOT NULL", uuid_z(f.object_id)));
    assert_int_equal(used(0, "objects"), objects);
    name_it(UUID_NIL, "gone");                      /* the name is free */
}

static void old_values_go_but_those_that_jobs_name(void **state)
{
    (void)state;
    struct secret s = name_it(UUID_NIL, "turning");
    struct slice list;
    named_by_the_job(give(s.secret_id, UUID_NIL, "turning", VALUE).object_id, "env:OLD");
    const int64_t objects = used(0, "objects");
    for (int i = 0; i < SECRET_VERSIONS_KEPT + 2; i++)
        give(s.secret_id, UUID_NIL, "turning", VALUE);
    struct work w = begin(0);
    struct secret_found f;
    OK(secret_version_list(&w, s.secret_id, 0, 100, &list, &e));
    OK(secret_find(&w, UUID_NIL, STR("turning"), 1, &f, &e));
    assert_int_equal(secret_find(&w, UUID_NIL, STR("turning"), 2, &f, &e), ERR_NOT_FOUND);
    end(&w);
    const struct secret_version *v = list.items;
    assert_int_equal(list.n, SECRET_VERSIONS_KEPT + 1);
    assert_int_equal(v[0].value_version, SECRET_VERSIONS_KEPT + 3);
    assert_int_equal(v[list.n - 1].value_version, 1);
    assert_int_equal(used(0, "objects"), objects + SECRET_VERSIONS_KEPT);
}

static void a_legal_hold_keeps_old_values(void **state)
{
    (void)state;
    struct secret s = name_it(UUID_NIL, "held");
    struct slice list;
    pg_harness_exec(pg, DB, arena_printf(arena, "INSERT INTO audit_hold (tenant_id, hold_id, subject_id, reason, placed_by)"
        " VALUES ('%1$s', '%2$s', '%3$s', 'court', '%3$s')", uuid_z(people[0]->tenant_id), uuid_z(s.secret_id),
        uuid_z(people[0]->user_id)));
    for (int i = 0; i < SECRET_VERSIONS_KEPT + 2; i++)
        give(s.secret_id, UUID_NIL, "held", VALUE);
    struct work w = begin(0);
    OK(secret_version_list(&w, s.secret_id, 0, 100, &list, &e));
    assert_int_equal(secret_delete(&w, s.secret_id, -1, &e), ERR_LEGAL_HOLD);
    db_rollback(w.tx);
    assert_int_equal(list.n, SECRET_VERSIONS_KEPT + 2);
    pg_harness_exec(pg, DB, "UPDATE audit_hold SET state = 'LIFTED', lifted_at = now()");
    give(s.secret_id, UUID_NIL, "held", VALUE);
    w = begin(0);
    OK(secret_version_list(&w, s.secret_id, 0, 100, &list, &e));
    end(&w);
    assert_int_equal(list.n, SECRET_VERSIONS_KEPT);
}

static void a_name_means_the_projects_own(void **state)
{
    (void)state;
    struct project p[2];
    struct secret_found f;
    struct work w = begin(0);
    OK(project_create(&w, STR("one"), &(struct shown_name){ 0 }, &p[0], &e));
    OK(project_create(&w, STR("two"), &(struct shown_name){ 0 }, &p[1], &e));
    end(&w);
    struct secret all = name_it(UUID_NIL, "key"), one = name_it(p[0].project_id, "key"), own = name_it(p[0].project_id, "own");
    give(all.secret_id, UUID_NIL, "key", VALUE);
    give(one.secret_id, p[0].project_id, "key", VALUE);
    give(own.secret_id, p[0].project_id, "own", VALUE);
    w = begin(0);
    OK(secret_find(&w, p[0].project_id, STR("key"), 0, &f, &e));
    assert_true(uuid_eq(f.secret_id, one.secret_id));
    OK(secret_find(&w, p[1].project_id, STR("key"), 0, &f, &e));
    assert_true(uuid_eq(f.secret_id, all.secret_id));
    OK(secret_find(&w, UUID_NIL, STR("key"), 0, &f, &e));
    assert_true(uuid_eq(f.secret_id, all.secret_id));
    assert_int_equal(secret_find(&w, p[1].project_id, STR("own"), 0, &f, &e), ERR_NOT_FOUND);
    assert_int_equal(secret_find(&w, UUID_NIL, STR("own"), 0, &f, &e), ERR_NOT_FOUND);
    struct secret again;
    assert_int_equal(secret_create(&w, &(struct secret_new){ .name = STR("key") }, &again, &e), ERR_EXISTS);
    db_rollback(w.tx);
    w = begin(1);
    assert_int_equal(secret_find(&w, UUID_NIL, STR("key"), 0, &f, &e), ERR_NOT_FOUND);
    struct secret_version v;
    assert_int_equal(secret_set_value(&w, all.secret_id, str_c(VALUE), &v, &e), ERR_NOT_FOUND);
    db_rollback(w.tx);
}

static void values_have_limits_and_secrets_a_zone(void **state)
{
    (void)state;
    struct secret s = name_it(UUID_NIL, "limits");
    struct secret_version v;
    struct slice list;
    static char large[SECRET_VALUE_MAX + 1];
    memset(large, 'x', sizeof large);
    struct work w = begin(0);
    assert_int_equal(secret_set_value(&w, s.secret_id, STR("seven77\r\n\n"), &v, &e), ERR_INVALID);
    assert_int_equal(secret_set_value(&w, s.secret_id, STR(""), &v, &e), ERR_INVALID);
    assert_int_equal(secret_set_value(&w, s.secret_id, str_n(large, sizeof large), &v, &e), ERR_TOO_LARGE);
    OK(secret_version_list(&w, s.secret_id, 0, 100, &list, &e));
    assert_int_equal(list.n, 0);
    OK(secret_set_value(&w, s.secret_id, STR("eight888\n"), &v, &e));
    OK(secret_set_value(&w, s.secret_id, str_n(large, sizeof large - 1), &v, &e));
    assert_int_equal(v.value_version, 2);
    assert_true(str_eq_c(s.zone, ZONE));
    assert_int_equal(secret_create(&w, &(struct secret_new){ .name = STR("far"), .zone = STR("de-fra-1") }, &s, &e),
        ERR_RESIDENCY);
    db_rollback(w.tx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_comes_out_by_the_keys_of_a_lease_alone),
            cmocka_unit_test(what_is_disabled_or_deleted_gives_no_key),
        cmocka_unit_test(old_values_go_but_those_that_jobs_name),
        cmocka_unit_test(a_legal_hold_keeps_old_values), cmocka_unit_test(a_name_means_the_projects_own),
        cmocka_unit_test(values_have_limits_and_secrets_a_zone),
    };
    return cmocka_run_group_tests(tests, make, undo);
}
