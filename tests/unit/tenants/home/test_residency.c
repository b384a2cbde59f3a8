/* SPDX-License-Identifier: Apache-2.0 */
/* test_residency.c - the judge: every rule at its edge, and 100,000 random worlds against a second judge that was written from the
 * sentences of residency.h in another shape: it lists all that would allow, and refuses when the list is empty. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "tenants/home/residency.h"

enum { NOW = 1000000, QUESTIONS = 100000 };

#define S(lit) { lit, sizeof(lit) - 1 }

static struct str AE[] = { S("AE") };
static int every_class[] = { 0, 1, 2, 3, 4, 5, 6 }, plain[] = { DC_PUBLIC, DC_INTERNAL, DC_PERSONAL, DC_SENSITIVE };
static struct residency_rule uae[] = {
    { S("uae-health-ict"), DC_HEALTH, LEAVE_NEVER, { AE, 1 }, 0, 0 },
    { S("cbuae"), DC_BANKING, LEAVE_NEVER, { AE, 1 }, 0, 0 },
    { S("uae-pdpl"), DC_PERSONAL, LEAVE_WITH_BASIS, { AE, 1 }, 0, 0 },
    { S("uae-pdpl"), DC_SENSITIVE, LEAVE_WITH_BASIS, { NULL, 0 }, 0, 0 },
    { S("open-data"), DC_PUBLIC, LEAVE_FREE, { AE, 1 }, 0, 0 },
};
static struct str cidrs[] = { S("10.1.0.0/16"), S("fd00::/8") };
static struct residency_zone zones[] = {
    { S("ae-dxb-1"), S("AE"), { every_class, 7 }, { NULL, 0 }, { uae, 5 } },
    { S("ae-auh-1"), S("AE"), { every_class, 7 }, { cidrs, 2 }, { NULL, 0 } },
    { S("de-fra-1"), S("DE"), { every_class, 7 }, { NULL, 0 }, { NULL, 0 } },
    { S("us-iad-1"), S("US"), { plain, 4 }, { NULL, 0 }, { NULL, 0 } },
};
static struct str dxb[] = { S("ae-dxb-1") }, all_zones[] = { S("ae-dxb-1"), S("ae-auh-1"), S("de-fra-1"), S("us-iad-1") };

static struct residency_facts facts(struct str *allowed, size_t n)
{
    return (struct residency_facts){ .zones = { zones, 4 }, .home = STR("ae-dxb-1"), .allowed = { allowed, n } };
}

static struct residency_verdict ask(const struct residency_facts *f, int data_class, const char *zone)
{
    struct residency_question q = { .data_class = data_class, .zone = str_c(zone), .now_us = NOW };
    return residency_allows(f, &q);
}

#define ALLOWED(f, c, z, r)                                            \
    do {                                                               \
        struct residency_verdict v_ = ask(f, c, z);                    \
        assert_string_equal(v_.rule, r);                               \
        assert_true(v_.allowed);                                       \
    } while (0)
#define REFUSED(f, c, z, r)                                            \
    do {                                                               \
        struct residency_verdict v_ = ask(f, c, z);                    \
        assert_string_equal(v_.rule, r);                               \
        assert_false(v_.allowed);                                      \
        assert_true(v_.text[0]);                                       \
    } while (0)

static void what_is_unknown_is_refused(void **state)
{
    (void)state;
    struct residency_facts f = facts(all_zones, 4);
    REFUSED(&f, -1, "ae-dxb-1", "unknown_class");
    REFUSED(&f, DC_COUNT, "ae-dxb-1", "unknown_class");
    REFUSED(&f, DC_PUBLIC, "xx-1", "unknown_zone");
    REFUSED(&f, DC_PUBLIC, "", "unknown_zone");
    struct residency_question q = { .data_class = DC_PUBLIC, .zone = STR("ae-dxb-1"), .from = STR("xx-1"), .now_us = NOW };
    assert_string_equal(residency_allows(&f, &q).rule, "unknown_zone");
    q = (struct residency_question){ .data_class = DC_PUBLIC };
    assert_string_equal(residency_allows(&f, &q).rule, "unknown_zone");
    f.home = STR_NULL;
    REFUSED(&f, DC_PUBLIC, "ae-dxb-1", "no_home");
    f.home = STR("xx-1");
    REFUSED(&f, DC_PUBLIC, "ae-dxb-1", "no_home");
    struct residency_facts nothing = { 0 };
    REFUSED(&nothing, DC_PUBLIC, "ae-dxb-1", "no_home");
}

static void home_and_allowed_zones(void **state)
{
    (void)state;
    struct residency_facts f = facts(dxb, 1);
    for (int c = 0; c < DC_COUNT; c++) {
        ALLOWED(&f, c, "ae-dxb-1", "home");
        REFUSED(&f, c, "ae-auh-1", "not_allowed");
    }
    f = facts(all_zones, 4);
    ALLOWED(&f, DC_HEALTH, "ae-auh-1", "allowed_zone");       /* within the country */
    ALLOWED(&f, DC_INTERNAL, "de-fra-1", "allowed_zone");     /* no law speaks of internal data */
    REFUSED(&f, DC_HEALTH, "us-iad-1", "zone_class");
    REFUSED(&f, DC_GOV, "us-iad-1", "zone_class");
    /* A class that is named has its own list, home included. */
    struct residency_class_zone own[] = { { DC_PUBLIC, S("de-fra-1") } };
    f.class_zones = (struct slice){ own, 1 };
    ALLOWED(&f, DC_PUBLIC, "de-fra-1", "allowed_zone");
    REFUSED(&f, DC_PUBLIC, "ae-dxb-1", "not_allowed");
    ALLOWED(&f, DC_INTERNAL, "ae-dxb-1", "home");
}

static void a_tenants_zones_are_home_and_its_lists(void **state)
{
    (void)state;
    struct residency_facts f = facts(dxb, 0);
    struct residency_class_zone own[] = { { DC_PUBLIC, S("de-fra-1") } };
    assert_true(residency_has_zone(&f, STR("ae-dxb-1")));
    assert_false(residency_has_zone(&f, STR("ae-auh-1")));
    f.class_zones = (struct slice){ own, 1 };
    assert_true(residency_has_zone(&f, STR("de-fra-1")));
    f.allowed = (struct slice){ all_zones, 2 };
    assert_true(residency_has_zone(&f, STR("ae-auh-1")));
    assert_false(residency_has_zone(&f, STR("us-iad-1")));
}

static void the_law_of_the_home_zone_holds(void **state)
{
    (void)state;
    struct residency_facts f = facts(all_zones, 4);
    REFUSED(&f, DC_HEALTH, "de-fra-1", "law");
    REFUSED(&f, DC_BANKING, "de-fra-1", "law");
    REFUSED(&f, DC_PERSONAL, "de-fra-1", "law");
    REFUSED(&f, DC_SENSITIVE, "de-fra-1", "law");
    ALLOWED(&f, DC_PUBLIC, "de-fra-1", "allowed_zone");
    REFUSED(&f, DC_GOV, "de-fra-1", "no_law");
    ALLOWED(&f, DC_SENSITIVE, "ae-auh-1", "allowed_zone");
    assert_non_null(strstr(ask(&f, DC_HEALTH, "de-fra-1").text, "uae-health-ict"));
    /* A rule is in force from its first moment until before its last. */
    struct residency_rule dated[] = { { S("r"), DC_INTERNAL, LEAVE_NEVER, { AE, 1 }, NOW, NOW + 10 } };
    zones[0].rules = (struct slice){ dated, 1 };
    REFUSED(&f, DC_INTERNAL, "de-fra-1", "law");
    struct residency_question q = { .data_class = DC_INTERNAL, .zone = STR("de-fra-1"), .now_us = NOW - 1 };
    assert_true(residency_allows(&f, &q).allowed);
    q.now_us = NOW + 10;
    assert_true(residency_allows(&f, &q).allowed);
    q.now_us = NOW + 9;
    assert_false(residency_allows(&f, &q).allowed);
    /* Where no law speaks, personal data needs a basis and health an exception. */
    REFUSED(&f, DC_PERSONAL, "de-fra-1", "no_law");
    REFUSED(&f, DC_HEALTH, "de-fra-1", "no_law");
    zones[0].rules = (struct slice){ uae, 5 };
    /* The law of the place where the data lies counts too. */
    struct residency_rule german[] = { { S("gdpr"), DC_INTERNAL, LEAVE_WITH_BASIS, { NULL, 0 }, 0, 0 } };
    zones[2].rules = (struct slice){ german, 1 };
    q = (struct residency_question){ .data_class = DC_INTERNAL, .zone = STR("us-iad-1"), .from = STR("de-fra-1"), .now_us = NOW };
    assert_string_equal(residency_allows(&f, &q).rule, "law");
    q.from = STR_NULL;
    assert_true(residency_allows(&f, &q).allowed);
    zones[2].rules = (struct slice){ NULL, 0 };
}

static void a_policy_covers_exactly_what_it_says(void **state)
{
    (void)state;
    struct residency_facts f = facts(all_zones, 4);
    struct residency_policy p = { .from = STR("ae-dxb-1"), .to = STR("de-fra-1"), .purpose = STR("training"), .data_class = DC_PERSONAL,
                                  .from_us = NOW, .until_us = NOW + 10 };
    p.policy_id.b[0] = 7;
    f.policies = (struct slice){ &p, 1 };
    struct residency_question q = { .data_class = DC_PERSONAL, .zone = STR("de-fra-1"), .purpose = STR("training"), .now_us = NOW };
    struct residency_verdict v = residency_allows(&f, &q);
    assert_true(v.allowed);
    assert_string_equal(v.rule, "policy");
    assert_int_equal(v.policy_id.b[0], 7);
#define NO(member, value)                                   \
    do {                                                    \
        __typeof__(q.member) was_ = q.member;               \
        q.member = value;                                   \
        assert_false(residency_allows(&f, &q).allowed);     \
        q.member = was_;                                    \
    } while (0)
    NO(now_us, NOW - 1);
    NO(now_us, NOW + 10);
    NO(purpose, STR("serving"));
    NO(purpose, STR_NULL);
    NO(data_class, DC_SENSITIVE);
    NO(from, STR("ae-auh-1"));
    p.purpose = STR("any");
    q.purpose = STR_NULL;
    assert_true(residency_allows(&f, &q).allowed);
    /* Health leaves under a policy that names its exception, and no other. */
    p.data_class = q.data_class = DC_HEALTH;
    assert_false(residency_allows(&f, &q).allowed);
    p.has_exception = true;
    assert_true(residency_allows(&f, &q).allowed);
    /* A policy makes no zone permit a class. */
    p.to = q.zone = STR("us-iad-1");
    assert_string_equal(residency_allows(&f, &q).rule, "zone_class");
    /* A policy stands in for the list. */
    f = facts(dxb, 1);
    f.policies = (struct slice){ &p, 1 };
    p.to = q.zone = STR("ae-auh-1");
    assert_string_equal(residency_allows(&f, &q).rule, "policy");
}

static void addresses(void **state)
{
    (void)state;
    struct residency_facts f = facts(all_zones, 4);
    static const struct { const char *ip; bool ok; } cases[] = { { "10.1.2.3", true }, { "10.2.0.1", false }, { "::ffff:10.1.0.9", true }, { "fd00::1", true },
        { "fe80::1", false }, { "", false }, { "nonsense", false } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct residency_question q = { .data_class = DC_INTERNAL, .zone = STR("ae-auh-1"), .worker_ip = str_c(cases[i].ip), .now_us = NOW };
        assert_int_equal(residency_allows(&f, &q).allowed, cases[i].ok);
        q.zone = STR("ae-dxb-1");           /* no addresses on record there */
        assert_true(residency_allows(&f, &q).allowed);
    }
}

/* ---- the second judge: collects every reason to allow, from strings and loops over all combinations */
static bool same(struct str a, struct str b) { return a.len == b.len && a.len && !memcmp(a.ptr, b.ptr, a.len); }

static int law_of(const struct residency_facts *f, struct str at, struct str to, int class, int64_t now)
{
    const struct residency_zone *z = f->zones.items, *a = NULL, *b = NULL;
    for (size_t i = 0; i < f->zones.n; i++) {
        a = same(z[i].code, at) ? z + i : a;
        b = same(z[i].code, to) ? z + i : b;
    }
    if (same(at, to))
        return 0;
    int found = -1;
    for (size_t i = 0; i < a->rules.n; i++) {
        struct residency_rule r = ((struct residency_rule *)a->rules.items)[i];
        int64_t end = r.until_us ? r.until_us : INT64_MAX;
        if (r.data_class == class && now >= r.from_us && now < end) {
            bool abroad = true;
            for (size_t k = 0; k < r.countries.n; k++)
                abroad &= !same(((struct str *)r.countries.items)[k], b->country);
            if (!r.countries.n)
                abroad = !same(a->country, b->country);
            int worth = !abroad ? 0 : r.may_leave == LEAVE_NEVER ? 2 : r.may_leave == LEAVE_WITH_BASIS ? 1 : 0;
            found = worth > found ? worth : found;
        }
    }
    if (found >= 0)
        return found;
    if (same(a->country, b->country))
        return 0;
    static const int silent[] = { 0, 0, 1, 1, 2, 2, 2 };
    return silent[class];
}

static bool second_judge(const struct residency_facts *f, const struct residency_question *q)
{
    int known = 0, permitted = 0, reachable = 0, listed = 0, named = 0, basis = 0;
    struct str from = q->from.ptr ? q->from : f->home;
    if (q->data_class < 0 || q->data_class > 6)
        return false;
    for (size_t i = 0; i < f->zones.n; i++) {
        struct residency_zone z = ((struct residency_zone *)f->zones.items)[i];
        known |= same(z.code, f->home) ? 1 : 0;
        known |= same(z.code, from) ? 2 : 0;
        if (!same(z.code, q->zone))
            continue;
        known |= 4;
        for (size_t k = 0; k < z.classes.n; k++)
            permitted |= ((int *)z.classes.items)[k] == q->data_class;
        reachable = !q->worker_ip.ptr || !z.cidrs.n;
        reachable |= z.cidrs.n && str_starts(q->worker_ip, "10.1.");        /* the one network of these worlds */
    }
    if (known != 7 || !permitted || !reachable)
        return false;
    for (size_t i = 0; i < f->class_zones.n; i++) {
        struct residency_class_zone c = ((struct residency_class_zone *)f->class_zones.items)[i];
        named |= c.data_class == q->data_class;
        listed |= c.data_class == q->data_class && same(c.zone, q->zone);
    }
    for (size_t i = 0; !named && i < f->allowed.n; i++)
        listed |= same(((struct str *)f->allowed.items)[i], q->zone);
    int home = law_of(f, f->home, q->zone, q->data_class, q->now_us), here = law_of(f, from, q->zone, q->data_class, q->now_us);
    if (listed && !home && !here)
        return true;
    for (size_t i = 0; i < f->policies.n; i++) {
        struct residency_policy p = ((struct residency_policy *)f->policies.items)[i];
        bool fits = same(p.from, from) && same(p.to, q->zone) && p.data_class == q->data_class;
        bool now = p.from_us <= q->now_us && p.until_us > q->now_us, what = same(p.purpose, STR("any")) || same(p.purpose, q->purpose);
        if (fits && now && what)
            basis = p.has_exception ? 2 : basis ? basis : 1;
    }
    return basis && basis >= home && basis >= here;
}

static uint64_t seed = 88172645463325252u;
static int pick(int n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int)(seed % (uint64_t)n);
}

static void two_judges_agree(void **state)
{
    (void)state;
    static struct str codes[] = { S("za"), S("zb"), S("zc"), S("zd"), S("ze") }, lands[] = { S("AE"), S("SA"), S("DE") };
    static struct str purposes[] = { S("any"), S("training"), S("serving") }, ips[] = { S("10.1.0.1"), S("192.0.2.1") };
    struct arena *a = arena_new(64 << 20);
    int yes = 0;
    for (int round = 0; round < QUESTIONS / 20; round++) {
        arena_reset(a);
        struct residency_zone *z = ARENA_ARRAY(a, struct residency_zone, 5);
        for (int i = 0; i < 5; i++) {
            int *cls = ARENA_ARRAY(a, int, 7), ncls = 0, nr = pick(6);
            for (int c = 0; c < 7; c++)
                if (pick(5))
                    cls[ncls++] = c;
            struct residency_rule *r = ARENA_ARRAY(a, struct residency_rule, 6);
            for (int k = 0; k < nr; k++)
                r[k] = (struct residency_rule){ STR("law"), pick(7), pick(3), { lands + pick(3), (size_t)pick(2) }, pick(60), pick(3) ? 0 : 60 + pick(60) };
            z[i] = (struct residency_zone){ codes[i], lands[pick(3)], { cls, (size_t)ncls }, { cidrs, pick(4) ? 0 : 1 }, { r, (size_t)nr } };
        }
        struct residency_policy *p = ARENA_ARRAY(a, struct residency_policy, 12);
        for (int i = 0; i < 12; i++)
            p[i] = (struct residency_policy){ .from = codes[pick(3)], .to = codes[pick(5)], .purpose = purposes[pick(3)], .data_class = pick(7),
                                              .has_exception = pick(2), .from_us = pick(60), .until_us = 60 + pick(60) };
        struct residency_class_zone *cz = ARENA_ARRAY(a, struct residency_class_zone, 4);
        for (int i = 0; i < 4; i++)
            cz[i] = (struct residency_class_zone){ pick(7), codes[pick(5)] };
        struct residency_facts f = { { z, (size_t)(3 + pick(3)) }, codes[pick(4)], { codes, (size_t)pick(5) }, { cz, (size_t)pick(5) }, { p, (size_t)pick(13) } };
        for (int i = 0; i < 20; i++) {
            struct residency_question q = { .data_class = pick(30) ? pick(7) : pick(9) - 1, .zone = codes[pick(5)], .from = pick(3) ? STR_NULL : codes[pick(5)],
                                            .purpose = pick(4) ? purposes[pick(3)] : STR_NULL, .worker_ip = pick(3) ? STR_NULL : ips[pick(2)],
                                            .now_us = pick(120) };
            struct residency_verdict v = residency_allows(&f, &q);
            if (v.allowed != second_judge(&f, &q))
                fail_msg("round %d question %d: %s (%s)", round, i, v.rule, v.text);
            yes += v.allowed;
        }
    }
    arena_free(a);
    assert_in_range(yes, QUESTIONS / 20, QUESTIONS / 2);        /* both answers are common enough to mean something */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_unknown_is_refused), cmocka_unit_test(home_and_allowed_zones),
        cmocka_unit_test(a_tenants_zones_are_home_and_its_lists), cmocka_unit_test(the_law_of_the_home_zone_holds),
        cmocka_unit_test(a_policy_covers_exactly_what_it_says), cmocka_unit_test(addresses), cmocka_unit_test(two_judges_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
