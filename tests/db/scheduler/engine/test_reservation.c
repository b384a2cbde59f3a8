/* SPDX-License-Identifier: Apache-2.0 */
/* test_reservation.c - machines are kept for a time: by name or by zone and flavor, never twice; plans keep off them, plans that
 * were made before too. */
#include "tests/db/scheduler/engines/engine_kit.h"
#include "scheduler/engine/reservation.h"
#include "scheduler/mirror/snapshot.h"
#include "scheduler/plan/placement.h"
#include "scheduler/plan_apply.h"

enum { MACHINES = 3 };
#define HOUR ((int64_t)3600 * 1000000)

static struct machine m[MACHINES];

FIXTURE_GROUP((machine_up(&f, &m[0], "ae-dxb-1", "w1", 4, 0), machine_up(&f, &m[1], "ae-dxb-1", "w2", 4, 0),
               machine_up(&f, &m[2], "ae-dxb-1", "w3", 4, 0)),
              NOTHING_MORE)

static int fresh(void **state)
{
    (void)state;
    fixture_exec(&f, "DELETE FROM reservation");
    fixture_exec(&f, "UPDATE node SET state = 'READY', reason = '', is_drained = false");
    return 0;
}

static int done(void **state)
{
    (void)state;
    fixture_exec(&f, "DELETE FROM reservation");
    fixture_end_all(&f);
    return 0;
}

static struct work begin(void)
{
    struct work w = { .app = &f.api, .arena = arena_new(16 << 20), .tenant_id = UUID_NIL,
                      .now_us = clock_wall_us(&clock_system) };
    OK(db_begin(f.api.pool, SCOPE_TENANT(UUID_NIL), 0, w.arena, &w.tx, e));
    return w;
}

static enum errc try_make(const struct reservation_create *in, struct reservation *ret, struct err *why)
{
    struct work w = begin();
    const enum errc rc = reservation_make(&w, in, ret, why);
    if (rc == ERR_OK)
        OK(db_commit(w.tx, e));
    else
        db_rollback(w.tx);
    arena_free(w.arena);
    return rc;
}

static struct reservation_create some(int64_t machines, int64_t from_h, int64_t until_h)
{
    const int64_t now_us = clock_wall_us(&clock_system);
    return (struct reservation_create){ .purpose = RESERVE_MAINTENANCE, .from_at.us = from_h ? now_us + from_h * HOUR : 0,
                                        .until_at.us = now_us + until_h * HOUR, .zone = STR("ae-dxb-1"), .flavor = STR("cpu"),
                                        .machines = machines, .reason = STR("") };
}

static struct uuid make(struct reservation_create in)
{
    struct reservation r;
    OK(try_make(&in, &r, e));
    return r.reservation_id;
}

static void drop(struct uuid id)
{
    struct work w = begin();
    struct reservation was;
    OK(reservation_remove(&w, id, &was, e));
    OK(db_commit(w.tx, e));
    arena_free(w.arena);
}

static void what_others_have_is_refused_with_the_sum(void **state)
{
    (void)state;
    struct reservation r;
    struct err why = { 0 };
    struct reservation_create in = some(2, 2, 4);
    (void)make(in);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM reservation_machine"), 2);
    in = some(2, 3, 5);
    assert_int_equal(try_make(&in, &r, &why), ERR_CONFLICT);
    assert_non_null(strstr(why.msg, "2 machines are wanted; of 3, 2 are in other reservations in that time and 1 are left"));
    char next[TIME_TEXT];
    time_text((in.from_at.us + HOUR + 59999999) / 60000000 * 60000000, next);      /* the end of the first, to the minute */
    assert_non_null(strstr(why.msg, next));
    in = some(1, 3, 5);
    (void)make(in);
    in = some(3, 4, 5);
    assert_int_equal(try_make(&in, &r, &why), ERR_CONFLICT);
    in = some(3, 5, 6);                 /* it begins when that one ends, but for the moments between the two */
    in.from_at.us += HOUR / 60;
    (void)make(in);
    in = some(4, 10, 12);
    assert_int_equal(try_make(&in, &r, &why), ERR_INVALID);
    assert_string_equal(why.field, "/machines");
    assert_non_null(strstr(why.msg, "has 3 machines of flavor cpu, and 4 were asked for"));
    fixture_exec(&f, "UPDATE node SET pool = 'lent', name = 'lent-1' WHERE name = 'w1'");
    (void)kit_engine(&f, "lent", 2);
    in = some(3, 10, 12);
    assert_int_equal(try_make(&in, &r, &why), ERR_INVALID);
    assert_non_null(strstr(why.msg, "has 2 machines"));         /* one that an engine lends goes with its lease */
    fixture_exec(&f, "DELETE FROM engine; UPDATE node SET pool = 'default', name = replace(name, 'lent-', 'w')");
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    struct str names[2] = { STR("w1"), STR("w9") };
    struct reservation_create in = some(1, 2, 1);
    struct reservation r;
    struct err why = { 0 };
#define REFUSED(pointer)                                                                                                     \
    do {                                                                                                                     \
        assert_int_equal(try_make(&in, &r, &why), ERR_INVALID);                                                              \
        assert_string_equal(why.field, pointer);                                                                             \
    } while (0)
    REFUSED("/until_at");
    in = some(1, 0, 24 * 400);
    REFUSED("/until_at");
    in = some(1, -1, 1);
    REFUSED("/from_at");
    in = some(1, 1, 2);
    in.tenant_id = f.tenant_a;
    REFUSED("/tenant_id");
    in.tenant_id = UUID_NIL;
    in.project_id = f.tenant_b;
    REFUSED("/project_id");
    in.purpose = RESERVE_TENANT;
    in.tenant_id = f.tenant_a;
    REFUSED("/project_id");
    in = some(0, 1, 2);
    REFUSED("/nodes");
    in.nodes = (struct slice){ names, 2 };
    REFUSED("/zone");
    in.zone = in.flavor = STR_NULL;
    REFUSED("/nodes/1");
    in = some(1, 1, 2);
    in.flavor = STR_NULL;
    REFUSED("/flavor");
    in = some(1, 1, 2);
    in.purpose = RESERVE_TENANT;
    REFUSED("/tenant_id");
    in.tenant_id = f.tenant_a;
    fixture_exec(&f, "UPDATE tenant SET home_zone = 'ae-auh-1', allowed_zones = '{ae-auh-1}' WHERE tenant_id <> "
                     "'00000000-0000-0000-0000-000000000000'");
    REFUSED("/zone");
    fixture_exec(&f, "UPDATE tenant SET home_zone = 'ae-dxb-1', allowed_zones = '{ae-dxb-1,ae-auh-1}' WHERE tenant_id <> "
                     "'00000000-0000-0000-0000-000000000000'");
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM reservation"), 0);
}

static const char *reason_of(struct uuid id)
{
    static char text[64];
    char hex[UUID_TEXT];
    uuid_text(id, hex);
    for (size_t i = 0; i < 2; i++) {
        static const char *const all[] = { "Reserved", "Resources" };
        if (fixture_count(&f, "SELECT count(*) FROM job WHERE job_id = '%s' AND reason = '%s'", hex, all[i]))
            return all[i];
    }
    snprintf(text, sizeof text, "another");
    return text;
}

static void a_plan_keeps_off_what_is_kept_for_others(void **state)
{
    (void)state;
    struct uuid a, b, short_one;
    struct reservation_create in = some(3, 1, 3);
    in.purpose = RESERVE_TENANT;
    in.tenant_id = f.tenant_b;
    const struct uuid id = make(in);
    submit(&f, f.tenant_a, 1, 1, 3, &a);
    fixture_exec(&f, "UPDATE job SET max_runtime_s = 86400");
    assert_int_equal(plan(&f), 0);
    assert_string_equal(reason_of(a), "Reserved");
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE message LIKE 'the machines with room are kept for another "
                                       "tenant from %%(max_runtime_seconds 86400)'"), 1);
    submit(&f, f.tenant_b, 1, 1, 3, &b);
    fixture_exec(&f, "UPDATE job SET max_runtime_s = 86400");
    submit(&f, f.tenant_a, 1, 1, 3, &short_one);
    fixture_exec(&f, "UPDATE job SET max_runtime_s = 600 WHERE max_runtime_s <> 86400");
    assert_int_equal(plan(&f), 2);
    assert_string_equal(state_of(&f, a), "PENDING");
    drop(id);
    assert_int_equal(plan(&f), 1);
    assert_string_equal(state_of(&f, a), "ADMITTED");
}

/* A plan was made, then the machines were reserved, then it is written. */
static void a_plan_from_before_gives_none_of_them(void **state)
{
    (void)state;
    struct uuid id;
    struct plan p;
    struct snapshot s;
    struct plan_result r;
    struct work w = { .app = &f.scheduler, .arena = arena_new(64 << 20), .now_us = clock_wall_us(&clock_system) };
    submit(&f, f.tenant_a, 1, 1, 3, &id);
    OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, TX_READ_ONLY, w.arena, &w.tx, e));
    OK(snapshot_read(&w, 64, true, &s, e));
    OK(db_commit(w.tx, e));
    s.now_us = w.now_us;
    placement_plan(&s, w.arena, &p);
    assert_int_equal(p.places.n, 1);
    (void)make(some(2, 0, 1));
    (void)make(some(1, 0, 1));
    OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, 0, w.arena, &w.tx, e));
    OK(plan_apply(&w, &s, &p, 60000, &r, e));
    OK(db_commit(w.tx, e));
    assert_int_equal(r.admitted, 0);
    assert_int_equal(r.refused, 1);
    arena_free(w.arena);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, fresh, done)
    const struct CMUnitTest tests[] = {
        T(what_others_have_is_refused_with_the_sum),
        T(what_makes_no_sense_is_refused),
        T(a_plan_keeps_off_what_is_kept_for_others),
        T(a_plan_from_before_gives_none_of_them),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
