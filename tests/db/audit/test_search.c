/* SPDX-License-Identifier: Apache-2.0 */
/* test_search.c - what a search finds by pages is what a walk along the log finds, before pages are made and afterwards. */
#include "tests/db/audit/fixture.h"

/* Entry i of 900: three full pages and a rest. */
enum { ENTRIES = 900, PAGES = 3, MOST = 1000 };
static struct uuid actors[3], rare_actor, job, rare_job, events[ENTRIES];
static int64_t began_us;

static bool is_rare(int i) { return i == 99 || i == 599 || i == 889; }

static void append_all(void)
{
    struct unit *u = unit_open(app_pool, SCOPE_TENANT(tenant_a));
    for (int i = 0; i < ENTRIES; i++) {
        struct audit_event ev = audit_event_of(&u->w, is_rare(i) ? AUDIT_USER_REVOKE
                                                                  : i % 5 ? AUDIT_JOB_SUBMIT : AUDIT_JOB_CANCEL);
        ev.actor = AUDIT_USER;
        ev.actor_id = i == 599 ? rare_actor : actors[i % 3];
        ev.resource_kind = STR("job");
        ev.resource_prefix = "job";
        ev.resource_id = is_rare(i) ? rare_job : job;
        ev.ts_us = began_us + INT64_C(1000000) * i;
        ev.denied = i % 100 == 50;
        events[i] = ev.event_id;
        OK(audit_append(&u->w, &ev, &e));
    }
    unit_commit(u);
    assert_int_equal(tick(MOST), ENTRIES);
}

static size_t search(const struct audit_search *q, size_t limit, uint64_t out[MOST])
{
    struct unit *u = unit_open(app_pool, SCOPE_TENANT(tenant_a));
    struct audit_row *rows;
    size_t n;
    OK(audit_search(&u->w, tenant_a, q, limit, &rows, &n, &e));
    for (size_t i = 0; i < n; i++)
        out[i] = rows[i].tseq;
    unit_commit(u);
    return n;
}

/* All pages of results of seven, and all at once, beside the walk. */
static void same_as_a_walk(struct audit_search q, size_t least)
{
    uint64_t want[MOST], got[MOST], some[MOST];
    q.is_walk = true;
    size_t n = search(&q, MOST, want), k = 0;
    q.is_walk = false;
    assert_true(n >= least);
    assert_int_equal(search(&q, MOST, got), n);
    assert_memory_equal(got, want, n * sizeof *want);
    if (n > 100)
        return;
    for (size_t m = 7; m == 7; k += m) {
        m = search(&q, 7, some);
        assert_true(k + m <= n);
        assert_memory_equal(some, want + k, m * sizeof *want);
        q.after = m ? some[m - 1] : q.after;
    }
    assert_int_equal(k, n);
}

static struct audit_filter filter(const char *actor, const char *action, const char *resource)
{
    struct audit_filter f = { 0 };
    snprintf(f.actor, sizeof f.actor, "%s", actor);
    snprintf(f.action, sizeof f.action, "%s", action);
    snprintf(f.resource, sizeof f.resource, "%s", resource);
    return f;
}

static void every_way(void)
{
    char actor[UUID_TEXT], lone[UUID_TEXT], rare[64], hex[2 * 16 + 1];
    uuid_text(actors[1], actor);
    uuid_text(rare_actor, lone);
    hex_encode(rare_job.b, 16, hex);
    snprintf(rare, sizeof rare, "job_%s", hex);
    same_as_a_walk((struct audit_search){ .filter = filter(actor, "", "") }, 200);
    same_as_a_walk((struct audit_search){ .filter = filter(lone, "", "") }, 1);
    same_as_a_walk((struct audit_search){ .filter = filter("", "user.revoke", "") }, 3);
    same_as_a_walk((struct audit_search){ .filter = filter("", "user.", "") }, 3);
    same_as_a_walk((struct audit_search){ .filter = filter("", "job.cancel", ""), .verdict = VERDICT_DENIED }, 1);
    same_as_a_walk((struct audit_search){ .filter = filter("", "", rare) }, 3);
    same_as_a_walk((struct audit_search){ .filter = filter(lone, "user.", rare) }, 1);
    same_as_a_walk((struct audit_search){ .filter = filter(actor, "job.", ""), .after = 100, .upto = 700 }, 50);
    struct audit_search since = { .filter.from_us = began_us + INT64_C(850) * 1000000 };
    same_as_a_walk(since, 50);
    since.filter.until_us = began_us + INT64_C(860) * 1000000;
    same_as_a_walk(since, 10);
    assert_int_equal(search(&(struct audit_search){ .filter = filter("01890000-0000-7000-8000-000000000000", "", "") }, 10,
                            (uint64_t[MOST]){ 0 }), 0);
    for (int i = 0; i < ENTRIES; i += 149) {
        struct unit *u = unit_open(app_pool, SCOPE_TENANT(tenant_a));
        struct audit_row row;
        OK(audit_get(&u->w, tenant_a, events[i], &row, &e));
        assert_true(uuid_eq(row.event_id, events[i]));
        assert_int_equal(row.tseq, i + 1);
        assert_int_equal(audit_get(&u->w, tenant_a, rare_job, &row, &e), ERR_NOT_FOUND);
        unit_commit(u);
    }
}

static void a_search_finds_what_a_walk_finds(void **state)
{
    (void)state;
    append_all();
    every_way();                                /* all of it is in no page yet */
    assert_int_equal(number("SELECT count(*) FROM audit_page"), 0);
    assert_false(make_pages());
    assert_int_equal(number("SELECT count(*) FROM audit_page"), PAGES);
    every_way();
    assert_false(make_pages());                 /* the rest is not a page */
    assert_int_equal(number("SELECT count(*) FROM audit_page"), PAGES);
    pg_harness_exec(pg, DB, "UPDATE audit_page SET bloom = NULL WHERE first_tseq = 257");
    every_way();
}

static void newest_change(const char *resource, const char *family, int want)
{
    struct unit *u = unit_open(app_pool, SCOPE_TENANT(tenant_a));
    struct audit_last_change last;
    bool found;
    u->w.now_us += INT64_C(3600000000);         /* an hour later: what is found has a number */
    OK(audit_last_change(&u->w, tenant_a, str_c(resource), str_c(family), &last, &found, &e));
    assert_int_equal(found, want >= 0);
    if (found)
        assert_int_equal(last.at.us, began_us + INT64_C(1000000) * want);
    unit_commit(u);
}

static void the_newest_change_is_found_in_pages_and_behind_them(void **state)
{
    (void)state;
    char rare[64], common[64], hex[2 * 16 + 1];
    hex_encode(rare_job.b, 16, hex);
    snprintf(rare, sizeof rare, "job_%s", hex);
    hex_encode(job.b, 16, hex);
    snprintf(common, sizeof common, "job_%s", hex);
    newest_change(rare, "user.", 889);
    newest_change(common, "job.", 899);
    newest_change(common, "user.", -1);
}

/* That pages are what is read: a page whose filter denies a word is not looked through. */
static void a_page_that_denies_the_word_is_passed_over(void **state)
{
    (void)state;
    uint64_t at[MOST];
    struct audit_search q = { .filter = filter("", "user.", "") };
    assert_int_equal(search(&q, MOST, at), 3);
    pg_harness_exec(pg, DB, "UPDATE audit_page SET bloom = decode(repeat('00', 1024), 'hex') WHERE first_tseq = 1");
    assert_int_equal(search(&q, MOST, at), 2);
    assert_int_equal(at[0], 600);
}

static int begin(void **state)
{
    setup(state);
    for (int i = 0; i < 3; i++)
        actors[i] = uuid_v7(3000 + i);
    rare_actor = uuid_v7(4000);
    job = uuid_v7(5000);
    rare_job = uuid_v7(6000);
    began_us = clock_wall_us(&clock_system) - INT64_C(86400000000);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_search_finds_what_a_walk_finds),
        cmocka_unit_test(the_newest_change_is_found_in_pages_and_behind_them),
        cmocka_unit_test(a_page_that_denies_the_word_is_passed_over) };
    return cmocka_run_group_tests(tests, begin, teardown);
}
