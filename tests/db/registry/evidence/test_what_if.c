/* SPDX-License-Identifier: Apache-2.0 */
/* test_what_if.c - a data set where it lies and where it would be, by both verdicts and with the clause; read in a transaction
 * that can write nothing; another tenant's things are not among them. Jobs and deployments: tests/http/residency.test.ts. */
#include "tests/db/registry/fixture.h"
#include "core/db/run_tx.h"
#include "registry/evidence/what_if.h"
#include "tenants/home/law_template.h"
#include "tenants/home/residency_remedy.h"

static const struct what_if_thing *find(const struct what_if *r, const char *kind, struct str id, const char *zone)
{
    const struct what_if_thing *t = r->things.items;
    for (size_t i = 0; i < r->things.n; i++)
        if (str_eq_c(t[i].kind, kind) && str_eq(t[i].thing_id, id) && str_eq_c(t[i].zone, zone))
            return &t[i];
    return NULL;
}

static enum errc read_only(struct work *w, const struct what_if_ask *ask, struct what_if *ret)
{
    return RUN_READ(w, what_if_read(w, ask, ret, &e), &e);
}

static void a_data_set_is_judged_where_it_lies_and_where_it_would_be(void **state)
{
    (void)state;
    static const struct dataset_new in = { { "reeds", 5 }, { "", 0 }, DC_PERSONAL, { "label", 5 }, 2 };
    struct dataset d;
    struct dataset_version v;
    struct what_if r;
    struct zone_law law;
    struct str ids[] = { STR("uae-pdpl") }, all[] = { STR("gdpr"), STR("uae-health-ict") };
    struct zone z;
    struct work w = begin(0);
    OK(dataset_create(&w, &in, &d, &e));
    OK(add_version(&w, d.dataset_id, STR_NULL, DATA_CSV, STR("a,b,label\n1,2,0\n3,4,1\n"), &v, &e));
    end(&w);
    w = begin(0);
    db_rollback(w.tx);
    w.tenant_id = UUID_NIL;                             /* laws are the platform's */
    OK(db_begin(app.pool, SCOPE_TENANT(UUID_NIL), 0, w.arena, &w.tx, &e));
    OK(law_of_templates(w.arena, (struct slice){ ids, 1 }, &law, &e));
    OK(zone_create(&w, STR("de-fra-9"), STR("F"), STR("DE"), (struct slice){ 0 }, &z, &e));
    OK(zone_law_put(&w, str_c(ZONE), &law, UUID_NIL, &e));
    end(&w);
    w = begin(0);
    struct str id = id_text(w.arena, "dst", d.dataset_id);
    struct what_if_ask ask = { .dataset_id = d.dataset_id, .data_class = -1, .zone = STR("de-fra-9") };
    OK(read_only(&w, &ask, &r));
    assert_int_equal(r.possible + r.forbidden + r.approvals.n, 0);
    assert_true(str_eq_c(r.data_class, "personal") && !r.is_cut);
    assert_string_equal(find(&r, "dataset", id, ZONE)->outcome.ptr, "stays_possible");
    const struct what_if_thing *t = find(&r, "transfer", id, "de-fra-9");
    assert_string_equal(t->outcome.ptr, "stays_forbidden");
    assert_true(str_eq_c(t->before.rule, "law") && str_eq_c(t->before.regime, "uae-pdpl") && str_eq_c(t->before.law_of, ZONE));
    assert_non_null(strstr(t->before.source_text.ptr, "Art 22, 23"));
    ask.has_policy = true;
    OK(read_only(&w, &ask, &r));
    t = find(&r, "transfer", id, "de-fra-9");
    assert_string_equal(t->outcome.ptr, "possible");
    assert_string_equal(find(&r, "job", STR_NULL, "de-fra-9")->outcome.ptr, "possible");
    assert_int_equal(r.approvals.n, 1);
    assert_true(str_eq_c(((struct residency_remedy *)r.approvals.items)->operation, "transfer_policy_propose"));
    /* A law that does not let personal data be where it lies. */
    ask = (struct what_if_ask){ .data_class = DC_PERSONAL, .zone = str_c(ZONE), .law_of = str_c(ZONE), .law = &law };
    OK(law_of_templates(w.arena, (struct slice){ all + 1, 1 }, &law, &e));
    OK(read_only(&w, &ask, &r));
    assert_string_equal(find(&r, "dataset", id, ZONE)->outcome.ptr, "forbidden");
    assert_string_equal(find(&r, "dataset", id, ZONE)->after.rule.ptr, "zone_class");
    assert_true(r.forbidden >= 2);
    /* What is asked for and is not there, and another tenant's. */
    ask.zone = STR("no-zone");
    assert_int_equal(read_only(&w, &ask, &r), ERR_UNPROCESSABLE);
    ask = (struct what_if_ask){ .data_class = -1, .zone = str_c(ZONE) };
    assert_int_equal(read_only(&w, &ask, &r), ERR_UNPROCESSABLE);
    db_rollback(w.tx);
    w = begin(1);
    ask = (struct what_if_ask){ .dataset_id = d.dataset_id, .data_class = -1, .zone = str_c(ZONE) };
    assert_int_equal(read_only(&w, &ask, &r), ERR_NOT_FOUND);
    ask = (struct what_if_ask){ .data_class = DC_PERSONAL, .zone = str_c(ZONE) };
    OK(read_only(&w, &ask, &r));
    assert_null(find(&r, "dataset", id, ZONE));
    db_rollback(w.tx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_data_set_is_judged_where_it_lies_and_where_it_would_be) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
