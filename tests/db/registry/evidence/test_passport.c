/* SPDX-License-Identifier: Apache-2.0 */
/* test_passport.c - every version with its zone, law and key, newest first; the key is that of today; another tenant finds
 * nothing. Readers, jobs and models are looked at over HTTP (tests/http/routes/passport.test.ts), where there is a log and a
 * worker. */
#include "tests/db/registry/fixture.h"
#include "registry/evidence/passport.h"

static struct dataset make(struct dataset_version *ret, int versions)
{
    static const struct dataset_new in = { { "reeds", 5 }, { "", 0 }, 1, { "label", 5 }, 2 };
    struct dataset d;
    struct work w = begin(0);
    OK(dataset_create(&w, &in, &d, &e));
    end(&w);
    for (int i = 0; i < versions; i++) {
        w = begin(0);
        OK(add_version(&w, d.dataset_id, STR_NULL, DATA_CSV, STR("a,b,label\n1,2,0\n3,4,1\n"), &ret[i], &e));
        end(&w);
    }
    return d;
}

static void test_places_and_laws(void **state)
{
    (void)state;
    struct dataset_version v[2];
    struct dataset d = make(v, 2);
    struct passport p;
    struct work w = begin(0);
    OK(passport_read(&w, d.dataset_id, &p, &e));
    end(&w);
    assert_false(p.is_cut);
    assert_true(str_eq(p.dataset.name, d.name));
    assert_int_equal(p.places.n, 2);
    const struct passport_place *at = p.places.items;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(at[i].version, 2 - i);
        assert_true(str_eq_c(at[i].zone, ZONE));
        assert_false(at[i].is_copy);
        assert_true(str_eq_c(at[i].key_state, "PRIMARY"));
        assert_true(uuid_eq(at[i].object_id, v[1 - i].object_id));
    }
    assert_true(p.laws.n >= 1);                         /* the zone stands there also where it has no rule for the class */
    assert_int_equal(p.readers.n + p.jobs.n + p.crossings.n + p.models.n, 0);
    w = begin(1);
    assert_int_equal(passport_read(&w, d.dataset_id, &p, &e), ERR_NOT_FOUND);
    db_rollback(w.tx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_places_and_laws) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
