/* SPDX-License-Identifier: Apache-2.0 */
/* test_legal_clock.c - when a clock is due by the zone's law, and that it is extended once, closed once and seen by its tenant
 * alone. */
#include "tests/db/tenants/fixture.h"
#include "tenants/home/legal_clock.h"

static struct uuid tenant, other;
static struct principal *officer, *stranger;

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { legal_clock_stmts, NULL };
    world_new(lists, 2);
    tenant = new_id();
    other = new_id();
    tenant_make(tenant, "amana");
    tenant_make(other, "bayan");
    officer = principal_with(tenant, user_make(tenant, "officer", "compliance-officer"), ROLES(COMPLIANCE_OFFICER));
    stranger = principal_with(other, user_make(other, "stranger", "compliance-officer"), ROLES(COMPLIANCE_OFFICER));
    sql("INSERT INTO zone_clock (zone, version, n, regime, name, hours, source_text, valid_from, valid_to) VALUES"
        " ('ae-dxb-1', 1, 1, 'old-law', 'dsar', 240, 'Art 1', '2000-01-01', '2018-05-25'),"
        " ('ae-dxb-1', 1, 2, 'gdpr', 'dsar', 720, 'Art 12(3)', '2018-05-25', NULL),"
        " ('ae-dxb-1', 1, 3, 'gdpr', 'breach-notify', 72, 'Art 33', '2018-05-25', NULL),"
        " ('ae-dxb-1', 1, 4, 'strict', 'breach-notify', 24, 's 1', '2020-01-01', NULL),"
        " ('ae-dxb-1', 1, 5, 'strict', 'objection', 48, 's 2', '2020-01-01', NULL),"
        " ('ae-dxb-1', 1, 6, 'short', 'retention', 8760, 's 3', '2000-01-01', NULL),"
        " ('ae-dxb-1', 1, 7, 'health', 'retention', 219000, 's 4', '2000-01-01', NULL),"
        " ('ae-auh-1', 1, 1, 'uae-pdpl', 'breach-notify', NULL, 'immediately', '2022-01-02', NULL)");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    principal_unref(officer);
    principal_unref(stranger);
    world_free();
    return 0;
}

static int64_t at(const char *text)
{
    int64_t us;
    assert_true(time_parse(str_c(text), &us));
    return us;
}

static void months_and_hours(void **state)
{
    (void)state;
    static const struct { int kind; const char *from; int64_t hours; const char *due; } rows[] = {
        { LCK_BREACH, "2026-01-31T10:00:00Z", 72, "2026-02-03T10:00:00Z" },
        { LCK_ACCESS, "2026-01-31T10:00:00Z", 720, "2026-02-28T10:00:00Z" },        /* a month: before the thirtieth day */
        { LCK_ACCESS, "2026-07-31T10:00:00Z", 720, "2026-08-30T10:00:00Z" },        /* thirty days: before the month's end */
        { LCK_ERASURE, "2026-12-31T00:00:00Z", 1464, "2027-02-28T00:00:00Z" },
        { LCK_ACCESS, "2026-01-31T10:00:00Z", 1080, "2026-03-17T10:00:00Z" },       /* 45 days are no months */
        { LCK_RETENTION, "2026-01-31T00:00:00Z", 219000, "2051-01-31T00:00:00Z" },  /* 25 years with their leap days */
        { LCK_RETENTION, "2026-01-31T00:00:00Z", 720, "2026-03-02T00:00:00Z" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(legal_clock_due(rows[i].kind, at(rows[i].from), rows[i].hours), at(rows[i].due));
}

static char law[1400], stands[16];      /* of the clock opened last; its texts end with its unit */

static struct legal_clock opened(const struct legal_clock_new *in)
{
    struct legal_clock c;
    struct work *w = unit_open(tenant, officer);
    OK(legal_clock_open(w, in, &c, &e));
    snprintf(law, sizeof law, "%.*s", STR_ARG(c.law));
    snprintf(stands, sizeof stands, "%.*s", STR_ARG(c.state));
    unit_commit(w);
    return c;
}

static struct legal_clock opened_by_law(int kind, int64_t opened_us)
{
    return opened(&(struct legal_clock_new){ .kind = kind, .zone = STR("ae-dxb-1"), .reference = STR("case"),
                                             .opened_at = { opened_us } });
}

static void the_law_in_force_on_that_day_counts(void **state)
{
    (void)state;
    static const struct { int kind; const char *from, *due, *law; } rows[] = {
        { LCK_ACCESS, "2026-01-31T10:00:00Z", "2026-02-28T10:00:00Z", "gdpr: Art 12(3)" },
        { LCK_ACCESS, "2018-05-01T00:00:00Z", "2018-05-11T00:00:00Z", "old-law: Art 1" },
        { LCK_OBJECTION, "2026-02-01T00:00:00Z", "2026-02-03T00:00:00Z", "strict: s 2" },     /* a clock of the kind's own name */
        { LCK_OBJECTION, "2019-02-01T00:00:00Z", "2019-03-01T00:00:00Z", "gdpr: Art 12(3)" },
        { LCK_BREACH, "2026-02-01T00:00:00Z", "2026-02-02T00:00:00Z", "strict: s 1" },        /* the shortest */
        { LCK_BREACH, "2019-02-01T00:00:00Z", "2019-02-04T00:00:00Z", "gdpr: Art 33" },
        { LCK_RETENTION, "2026-01-31T00:00:00Z", "2051-01-31T00:00:00Z", "health: s 4" },     /* the longest */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct legal_clock c = opened_by_law(rows[i].kind, at(rows[i].from));
        assert_int_equal(c.due_at.us, at(rows[i].due));
        assert_string_equal(law, rows[i].law);
        assert_string_equal(stands, rows[i].kind == LCK_RETENTION ? "OPEN" : "OVERDUE");
    }
}

static void what_cannot_be_opened(void **state)
{
    (void)state;
    const int64_t now = clock_wall_us(&clock_system), day = 86400000000;
    const struct { struct legal_clock_new in; const char *field; } rows[] = {
        { { .kind = LCK_ACCESS, .zone = STR("xx-yyy-1") }, "/zone" },
        { { .kind = LCK_ACCESS, .zone = STR("ae-dxb-1"), .opened_at = { now + day } }, "/opened_at" },
        { { .kind = LCK_ACCESS, .zone = STR("ae-dxb-1"), .due_at = { now + day } }, "/due_at" },
        { { .kind = LCK_ACCESS, .zone = STR("ae-dxb-1"), .law = STR("mine") }, "/law" },
        { { .kind = LCK_BREACH, .zone = STR("ae-auh-1") }, "/due_at" },             /* the law names no number */
        { { .kind = LCK_ACCESS, .zone = STR("ae-auh-1") }, "/due_at" },
        { { .kind = LCK_ACCESS, .zone = STR("ae-auh-1"), .due_at = { now - day } }, "/due_at" },
        { { .kind = LCK_ACCESS, .zone = STR("ae-auh-1"), .due_at = { now + day * 40000 } }, "/due_at" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct legal_clock c;
        struct legal_clock_new in = rows[i].in;
        in.reference = STR("case");
        struct work *w = unit_open(tenant, officer);
        REFUSED(legal_clock_open(w, &in, &c, &e), UNPROCESSABLE);
        assert_string_equal(e.field, rows[i].field);
        unit_drop(w);
    }
    opened(&(struct legal_clock_new){ .kind = LCK_BREACH, .zone = STR("ae-auh-1"), .reference = STR("case"),
                                      .law = STR("a contract"), .due_at = { now + day } });
    assert_string_equal(law, "a contract");
    assert_string_equal(stands, "OPEN");
}

static void extended_once_and_closed_once(void **state)
{
    (void)state;
    const struct legal_clock c = opened_by_law(LCK_ACCESS, 0);
    const struct timestamp most = { time_add_months(c.due_at.us, 2) }, past = { most.us + 1000000 };
    struct legal_clock now;
    struct work *w = unit_open(other, stranger);
    REFUSED(legal_clock_get(w, c.clock_id, &now, &e), NOT_FOUND);
    REFUSED(legal_clock_extend(w, c.clock_id, most, STR("r"), &now, &e), NOT_FOUND);
    REFUSED(legal_clock_close(w, c.clock_id, STR("n"), &now, &e), NOT_FOUND);
    unit_drop(w);
    w = unit_open(tenant, officer);
    REFUSED(legal_clock_extend(w, c.clock_id, past, STR("r"), &now, &e), UNPROCESSABLE);
    assert_string_equal(e.field, "/due_at");
    REFUSED(legal_clock_extend(w, c.clock_id, c.due_at, STR("r"), &now, &e), UNPROCESSABLE);
    OK(legal_clock_extend(w, c.clock_id, most, STR("many requests"), &now, &e));
    assert_int_equal(now.due_at.us, most.us);
    assert_int_equal(now.first_due_at.us, c.due_at.us);
    REFUSED(legal_clock_extend(w, c.clock_id, most, STR("r"), &now, &e), CONFLICT);
    OK(legal_clock_close(w, c.clock_id, STR("answered"), &now, &e));
    assert_true(str_eq_c(now.state, "CLOSED"));
    REFUSED(legal_clock_close(w, c.clock_id, STR("again"), &now, &e), CONFLICT);
    REFUSED(legal_clock_extend(w, c.clock_id, most, STR("r"), &now, &e), CONFLICT);
    assert_true(str_eq_c(now.note, "answered"));
    unit_commit(w);
    const struct legal_clock breach = opened_by_law(LCK_BREACH, 0);
    const struct legal_clock late = opened_by_law(LCK_ACCESS, at("2026-01-01T00:00:00Z"));
    const struct timestamp more = { breach.due_at.us + 1 }, later = { late.due_at.us + 1 };
    w = unit_open(tenant, officer);
    REFUSED(legal_clock_extend(w, breach.clock_id, more, STR("r"), &now, &e), UNPROCESSABLE);
    REFUSED(legal_clock_extend(w, late.clock_id, later, STR("r"), &now, &e), CONFLICT);
    unit_drop(w);
}

static void pages_go_by_the_due_moment(void **state)
{
    (void)state;
    for (enum legal_clock_state s = LCS_OPEN; s <= LCS_ANY; s++) {
        struct uuid position = UUID_NIL;
        int64_t last = INT64_MIN;
        int seen = 0;
        struct work *w = unit_open(tenant, officer);
        for (;;) {
            struct slice page;
            OK(legal_clock_list(w, s, position, 2, &page, &e));
            const struct legal_clock *c = page.items;
            for (size_t i = 0; i < page.n; i++, seen++) {
                assert_true(c[i].due_at.us >= last);
                assert_true(s == LCS_ANY || str_eq_c(c[i].state, legal_clock_states[s]));
                last = c[i].due_at.us;
                position = c[i].clock_id;
            }
            if (page.n < 2)
                break;
        }
        unit_drop(w);
        static const char *const which[] = { "closed_at IS NULL AND due_at >= now()", "closed_at IS NULL AND due_at < now()",
                                             "closed_at IS NOT NULL", "true" };
        assert_int_equal(seen, NUMBER("SELECT count(*) FROM legal_clock WHERE tenant_id = '%s' AND %s", hex(tenant), which[s]));
        assert_true(seen > 0);
    }
}

static void so_many_run_and_no_more(void **state)
{
    (void)state;
    const struct legal_clock_new in = { .kind = LCK_ACCESS, .zone = STR("ae-dxb-1"), .reference = STR("one more") };
    const struct legal_clock last = opened_by_law(LCK_ACCESS, 0);
    struct legal_clock c;
    sql("INSERT INTO legal_clock (tenant_id, clock_id, kind, zone, reference, opened_at, first_due_at, due_at, opened_by)"
        " SELECT tenant_id, gen_random_uuid(), kind, zone, 'many', opened_at, first_due_at, due_at, opened_by"
        "   FROM legal_clock, generate_series(1, %d - (SELECT count(*) FROM legal_clock WHERE closed_at IS NULL))"
        "  WHERE clock_id = '%s'", LEGAL_CLOCKS_OPEN - 1, hex(last.clock_id));
    struct work *w = unit_open(tenant, officer);
    OK(legal_clock_open(w, &in, &c, &e));
    unit_commit(w);
    w = unit_open(tenant, officer);
    REFUSED(legal_clock_open(w, &in, &c, &e), LIMIT);
    unit_drop(w);
    w = unit_open(tenant, officer);
    OK(legal_clock_close(w, last.clock_id, STR("answered"), &c, &e));
    OK(legal_clock_open(w, &in, &c, &e));
    unit_commit(w);
    w = unit_open(other, stranger);             /* the bound is each tenant's own */
    OK(legal_clock_open(w, &in, &c, &e));
    unit_drop(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(months_and_hours), cmocka_unit_test(the_law_in_force_on_that_day_counts),
                                        cmocka_unit_test(what_cannot_be_opened), cmocka_unit_test(extended_once_and_closed_once),
                                        cmocka_unit_test(pages_go_by_the_due_moment),
                                        cmocka_unit_test(so_many_run_and_no_more) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
