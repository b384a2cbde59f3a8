/* SPDX-License-Identifier: Apache-2.0 */
/* test_queue_share.c - what a queue has, uses, borrows and lends, in numbers and in words; another tenant learns nothing. */
#include "tests/db/scheduler/fixture.h"
#include "scheduler/jobs/queue_share.h"

#include <string.h>

static struct machine m;
FIXTURE_GROUP(machine_up(&f, &m, "ae-dxb-1", "w1", 8, 0), NOTHING_MORE)

static struct work begin(struct uuid tenant)
{
    struct work w = { .app = &f.api, .arena = arena_new(1 << 24), .tenant_id = tenant };
    OK(db_begin(f.api.pool, SCOPE_TENANT(tenant), TX_READ_ONLY, w.arena, &w.tx, e));
    return w;
}

static void end(struct work *w)
{
    OK(db_commit(w->tx, e));
    arena_free(w->arena);
}

static void a_share_is_told(void **state)
{
    (void)state;
    char tenant[UUID_TEXT];
    struct uuid jobs[3];
    struct queue_share s;
    const struct uuid id = uuid_v7(1);
    char queue[UUID_TEXT];
    uuid_text(id, queue);
    uuid_text(f.tenant_a, tenant);
    fixture_exec(&f, "INSERT INTO queue (tenant_id, queue_id, name, created_by) VALUES ('%s', '%s', 'default', '%s')",
                 tenant, queue, tenant);
    submit(&f, f.tenant_a, 2, 3, 3, jobs);
    struct work w = begin(f.tenant_a);
    OK(queue_share_read(&w, id, &s, e));
    assert_int_equal(s.parts.n, 0);
    assert_non_null(strstr(s.sentence.ptr, "No quota rule"));
    end(&w);
    fixture_exec(&f, "INSERT INTO quota_rule (tenant_id, rule_id, place, queue, resource, nominal, created_by) VALUES"
                     " ('%s', gen_random_uuid(), 'queue', 'default', 'slots', 2, '%s'),"
                     " ('%s', gen_random_uuid(), 'queue', 'other', 'slots', 6, '%s')", tenant, tenant, tenant, tenant);
    assert_int_equal(plan(&f), 2);
    submit(&f, f.tenant_a, 1, 3, 3, &jobs[2]);
    w = begin(f.tenant_a);
    OK(queue_share_read(&w, id, &s, e));
    assert_int_equal(s.parts.n, 1);
    const struct queue_part *p = s.parts.items;
    assert_true(p->nominal == 2 && p->used == 6 && p->borrowed == 4 && p->lent == 0 && p->waiting == 3 && p->fair == 8);
    assert_int_equal(s.share, 500000);  /* 4 of the 8 that are lent */
    assert_int_equal(s.waiting_jobs, 1);
    end(&w);
    struct work b = begin(f.tenant_b);
    struct err why = { 0 };
    assert_int_equal(queue_share_read(&b, id, &s, &why), ERR_NOT_FOUND);
    end(&b);
    for (int i = 0; i < 3; i++)
        cancel_job(&f, f.tenant_a, jobs[i]);
    reap(&f);
    fixture_exec(&f, "DELETE FROM quota_rule");
    fixture_check(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_share_is_told) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
