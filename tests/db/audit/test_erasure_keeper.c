/* SPDX-License-Identifier: Apache-2.0 */
/* test_erasure_keeper.c - who was erased is erased again where an older backup had them back: real dumps in real clusters, and a
 * journal that stays where it was. */
#include "tests/db/audit/fixture.h"
#include "audit/erasure_journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char dir[] = "/tmp/keeper_XXXXXX";
static struct arena *memory;
static struct uuid officer;

#define EXEC(...) pg_harness_exec(pg, DB, arena_printf(memory, __VA_ARGS__))
#define COUNT(...) number(arena_printf(memory, "SELECT count(*) FROM " __VA_ARGS__))

static const char *text_of(struct uuid id)
{
    char *text = arena_alloc(memory, UUID_TEXT);
    uuid_text(id, text);
    return text;
}

/* Somebody of tenant a, with a key of theirs or none. */
static struct uuid person(const char *name, bool has_key)
{
    struct uuid id = uuid_v7(clock_wall_us(&clock_system));
    const char *t = text_of(tenant_a), *u = text_of(id);
    EXEC("INSERT INTO app_user (tenant_id, user_id, name, kind) VALUES ('%s', '%s', '%s', 'person')", t, u, name);
    if (has_key)
        EXEC("INSERT INTO tenant_key (tenant_id, zone, version, state, wrapped, root_version, provider) VALUES"
             " ('%s', 'ae-dxb-1', 1, 'PRIMARY', 'tenant', 1, 's') ON CONFLICT DO NOTHING;"
             " INSERT INTO audit_subject_key (tenant_id, subject_id, key_id, zone, key_version, wrapped) VALUES"
             " ('%s', '%s', gen_random_uuid(), 'ae-dxb-1', 1, 'w')", t, t, u);
    return id;
}

static enum errc erase(struct uuid who, bool commits)
{
    struct audit_erasure r;
    struct unit *u = unit_open(app_pool, SCOPE_TENANT(tenant_a));
    enum errc rc = audit_erase_person(&u->w, who, officer, &r, &e);
    if (rc == ERR_OK && commits)
        unit_commit(u);
    else {
        db_rollback(u->w.tx);
        unit_close(u);
    }
    return rc;
}

static bool is_erased(struct uuid who)
{
    const char *id = text_of(who);
    return COUNT("app_user WHERE user_id = '%s' AND state = 'DISABLED' AND name = 'erased-' || replace('%s', '-', '')", id,
                 id) == 1 &&
           COUNT("audit_subject_key WHERE subject_id = '%s' AND wrapped IS NOT NULL", id) == 0;
}

static int64_t told(struct uuid who)
{
    return COUNT("audit_event WHERE convert_from(body, 'UTF8') LIKE '%%FLJ-USR-010S%%usr_' || replace('%s', '-', '') || '%%'",
                 text_of(who));
}

static struct erasure_look look(void)
{
    struct erasure_look l;
    struct unit *u = unit_open(NULL, SCOPE_SYSTEM);
    OK(erasure_keeper_look(&u->app, &l, &e));
    unit_close(u);
    return l;
}

static struct erasure_orders journal(void)
{
    struct erasure_orders o;
    OK(erasure_journal_read(dir, memory, &o, &e));
    return o;
}

static void go_to(struct pg_harness *to)
{
    static const struct stmt *const *const lists[] = { audit_event_stmts, audit_hold_stmts, audit_erasure_stmts,
                                                       erasure_keeper_stmts, NULL };
    pg_harness_go_to(&pg, to, DB, &app_pool, &seq_pool, lists);
}

static void an_order_stands_before_its_commit_and_is_void_without(void **state)
{
    (void)state;
    struct uuid kept = person("Kept", true), gone = person("Gone", true);
    assert_int_equal(erase(kept, false), ERR_OK);
    assert_int_equal(journal().n, 0);
    assert_int_equal(journal().lines, 2);               /* the order, and that it is void */
    assert_int_equal(erase(gone, true), ERR_OK);
    assert_int_equal(journal().n, 1);
    assert_false(is_erased(kept));
    struct erasure_look l = look();
    assert_true(l.again == 0 && l.held == 0 && l.adopted == 0);
    assert_false(is_erased(kept));
    assert_int_equal(told(gone), 0);
}

static void what_cannot_be_kept_is_not_erased(void **state)
{
    (void)state;
    struct uuid who = person("Stays", true);
    struct erasure_keeper *own = fx_erasures;
    fx_erasures = erasure_keeper_new("/nowhere");
    assert_int_equal(erase(who, true), ERR_IO);
    erasure_keeper_free(fx_erasures);
    fx_erasures = own;
    assert_false(is_erased(who));
}

static void what_was_erased_without_a_journal_comes_into_it(void **state)
{
    (void)state;
    struct uuid who = person("Before", true);
    struct erasure_keeper *own = fx_erasures;
    fx_erasures = NULL;
    assert_int_equal(erase(who, true), ERR_OK);
    fx_erasures = own;
    size_t before = journal().n;
    assert_int_equal(look().adopted, 1);
    struct erasure_orders o = journal();
    assert_int_equal(o.n, before + 1);
    assert_memory_equal(&erasure_orders_find(&o, tenant_a, who)->by, &officer, sizeof officer);
    assert_int_equal(look().adopted, 0);
}

static void a_restored_backup_has_nobody_back(void **state)
{
    (void)state;
    struct uuid early = person("Early Leaver", true), late = person("Late Leaver", true), stays = person("Who Stays", true),
                keyless = person("Keyless Leaver", false), held = person("Held Leaver", true);
    assert_int_equal(erase(early, true), ERR_OK);
    struct pg_harness *to = pg_harness_new_cluster();
    pg_harness_restore(pg, to, DB);                     /* the backup: all but the first are whole in it */
    struct uuid after = person("After The Backup", true);
    assert_int_equal(erase(late, true), ERR_OK);
    assert_int_equal(erase(keyless, true), ERR_OK);
    assert_int_equal(erase(held, true), ERR_OK);
    assert_int_equal(erase(after, true), ERR_OK);
    go_to(to);
    assert_true(is_erased(early) && !is_erased(late) && !is_erased(keyless) && !is_erased(held));
    EXEC("INSERT INTO audit_hold (tenant_id, hold_id, subject_id, reason, placed_by) VALUES"
         " ('%s', gen_random_uuid(), '%s', 'case 9', '%s')", text_of(tenant_a), text_of(held), text_of(officer));
    struct erasure_look l = look();
    assert_int_equal(l.again, 2);
    assert_int_equal(l.held, 1);
    assert_true(is_erased(early) && is_erased(late) && is_erased(keyless) && !is_erased(held) && !is_erased(stays));
    assert_int_equal(COUNT("app_user WHERE name LIKE '%%Leaver'"), 1);
    assert_true(told(early) == 0 && told(late) == 1 && told(keyless) == 1 && told(held) == 0 && told(after) == 0);
    assert_int_equal(COUNT("audit_event WHERE convert_from(body, 'UTF8') LIKE '%%\"ordered_by\":\"usr_%%'"), 2);
    l = look();
    assert_true(l.again == 0 && l.held == 1);           /* told once, and the held one is not forgotten */
    pg_harness_exec(pg, DB, "UPDATE audit_hold SET state = 'LIFTED', lifted_at = now()");
    assert_int_equal(look().again, 1);
    assert_true(is_erased(held) && told(held) == 1);
    struct unit *u = unit_open(NULL, SCOPE_SYSTEM);
    OK(erasure_keeper_look_if_moved(&u->app, &e));      /* nothing moved: no more than a look at where it stands */
    EXEC("UPDATE app_user SET name = 'Late Leaver' WHERE user_id = '%s';"
         " UPDATE audit_subject_key SET wrapped = 'w', erased_at = NULL WHERE subject_id = '%s'", text_of(late), text_of(late));
    OK(erasure_keeper_look_if_moved(&u->app, &e));
    assert_false(is_erased(late));
    pg_harness_exec(pg, DB, "UPDATE database_epoch SET cluster = 'of a standby', written = pg_current_xact_id()");
    OK(erasure_keeper_look_if_moved(&u->app, &e));
    assert_true(is_erased(late));
    unit_close(u);
}

static int setup_keeper(void **state)
{
    memory = arena_new(64 << 20);
    officer = uuid_v7(6000);
    if (!mkdtemp(dir) || setup(state) != 0)
        return -1;
    fx_erasures = erasure_keeper_new(dir);
    return 0;
}

static int teardown_keeper(void **state)
{
    erasure_keeper_free(fx_erasures);
    unlink(arena_printf(memory, "%s/falaj-erasures.jsonl", dir));
    arena_free(memory);
    return rmdir(dir) | teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(an_order_stands_before_its_commit_and_is_void_without),
        cmocka_unit_test(what_cannot_be_kept_is_not_erased), cmocka_unit_test(what_was_erased_without_a_journal_comes_into_it),
        cmocka_unit_test(a_restored_backup_has_nobody_back) };
    return cmocka_run_group_tests(tests, setup_keeper, teardown_keeper);
}
