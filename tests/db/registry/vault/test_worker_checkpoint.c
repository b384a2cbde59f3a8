/* SPDX-License-Identifier: Apache-2.0 */
/* test_worker_checkpoint.c - the two newest of a job stay, booked; an older fence reaches none; none outlives its job. */
#include "tests/db/registry/vault/lease_kit.h"
#include "registry/vault/worker_checkpoint.h"

/* Begun, and sent whole if `send`. */
static struct uuid begin_one(const char *text, bool send, bool *ret_is_first)
{
    struct worker_release r;
    struct release_key key;
    struct uuid object;
    int64_t version;
    struct work w = node_work();
    OK(worker_checkpoint_new(&w, &lease, pub(), &object, &version, ret_is_first, &r, &e));
    end(&w);
    struct release_terms terms = { lease.zone, node, job, (uint64_t)lease.fence, r.not_after_us, { 0 } };
    memcpy(terms.worker_key, public_key, X25519_BYTES);
    OK(release_open(secret, &terms, r.key_ids.items, r.key_ids.n, r.message.data.ptr, r.message.data.len, &key, &e));
    if (!send)
        return object;
    CLEANUP(buf_releasep) struct buf b = BUF(4096);
    CLEANUP(stream_sealer_freep) struct stream_sealer *s = NULL;
    struct stream_ref ref = { people[0]->tenant_id, STR("checkpoint"), object, 1, key.dek_id };
    OK(stream_sealer_new(&key.key, &ref, into_buf, &b, &s, &e));
    OK(stream_sealer_feed(s, text, strlen(text), &e));
    OK(stream_sealer_finish(s, &e));
    struct output_part p = { .object_id = object, .size_bytes = (int64_t)strlen(text), .sealed = buf_str(&b) };
    uint8_t sha[32];
    bool is_stored;
    w = node_work();
    OK(worker_output_expects(&w, &lease, &p, &is_stored, &e));
    OK(worker_output_stage(&w, &p, sha, &e));
    OK(worker_output_store(&w, &lease, &p, sha, &e));
    end(&w);
    return object;
}

static struct uuid keep_one(const char *text, int64_t step)
{
    bool is_first;
    struct uuid object = begin_one(text, true, &is_first);
    struct work w = node_work();
    OK(worker_checkpoint_keep(&w, &lease, object, step, &e));
    OK(worker_checkpoint_keep(&w, &lease, object, step, &e));       /* its answer was lost */
    end(&w);
    return object;
}

/* The query's one number; else the server says what it is. */
static void expect(const char *sql, int64_t want)
{
    pg_harness_exec(pg, DB, arena_printf(arena, "DO $x$ DECLARE n bigint; BEGIN n := (%s); IF n IS DISTINCT FROM %ld THEN"
                                         " RAISE EXCEPTION 'it is %%, not %ld: %%', n, $y$%s$y$; END IF; END $x$", sql,
                                             (long)want, (long)want, sql));
}

static const char booked[] =
    "SELECT count(*) FROM quota q WHERE (resource = 'objects' AND used <> (SELECT count(*) FROM object o WHERE o.tenant_id = "
    "q.tenant_id AND"
    " o.state = 'COMMITTED')) OR (resource = 'stored_bytes' AND used <> (SELECT coalesce(sum(stored_bytes), 0) FROM object o "
    "WHERE"
    " o.tenant_id = q.tenant_id AND o.state = 'COMMITTED'))";

static bool can_read(struct uuid object)
{
    struct worker_release r;
    struct blob_reader *blob = NULL;
    int64_t size;
    struct work w = node_work();
    bool ok = worker_keys(&w, &lease, &object, 1, pub(), &r, &e) == ERR_OK && worker_input_open(&w, &lease, object, &blob, &size,
        &e) == ERR_OK;
    db_rollback(w.tx);
    if (blob)
        blob_reader_close(blob);
    return ok;
}

static void test_the_two_newest_stay(void **state)
{
    (void)state;
    struct uuid id[4];
    int64_t before = used(0, "objects");
    for (int i = 0; i < 4; i++)
        id[i] = keep_one(i % 2 ? "odd one" : "even", 10 * (i + 1));
    assert_true(!can_read(id[0]) && !can_read(id[1]) && can_read(id[2]) && can_read(id[3]));
    expect("SELECT count(*) FROM checkpoint", 2);
    expect("SELECT count(*) FROM object WHERE kind = 'checkpoint'", 2);
    expect("SELECT count(*) FROM dek d WHERE NOT EXISTS (SELECT FROM object o WHERE o.object_id = d.object_id)", 0);
    assert_int_equal(used(0, "objects"), before + 2);
    expect(booked, 0);
    struct slice list;
    struct work w = begin(0);
    OK(checkpoint_list(&w, job, &list, &e));
    end(&w);
    const struct checkpoint *c = list.items;
    assert_int_equal(list.n, 2);
    assert_true(c[0].step == 40 && c[0].place == 1 && c[0].fence == lease.fence && uuid_eq(c[0].object_id, id[3]));
    assert_true(c[1].step == 30 && c[1].place == 2 && c[1].size_bytes > 8 && c[1].kept_at.us <= c[0].kept_at.us);
    expect("SELECT c.step FROM checkpoint_inputs((SELECT tenant_id FROM job), (SELECT job_id FROM job)) i JOIN checkpoint c"
                            " ON c.object_id = i.object_id WHERE i.place = 1", 40);
}

/* Noted of an attempt once, at the first step that none before it had reached. */
static void test_an_attempt_that_got_further_is_noted(void **state)
{
    (void)state;
    expect("SELECT count(*) FROM attempt WHERE got_further", 1);
    expect("SELECT attempt_further(tenant_id, job_id, 1, 90) FROM job", 0);
    pg_harness_exec(pg, DB, "UPDATE attempt SET got_further = false, fence = 2");
    expect("SELECT attempt_further(tenant_id, job_id, 2, 40) FROM job", 0);
    expect("SELECT attempt_further(tenant_id, job_id, 1, 90) FROM job", 0);     /* of no attempt that lives */
    expect("SELECT count(*) FROM attempt WHERE got_further", 0);
    expect("SELECT attempt_further(tenant_id, job_id, 2, 41) FROM job", 1);
    expect("SELECT count(*) FROM attempt WHERE got_further", 1);
    pg_harness_exec(pg, DB, "UPDATE attempt SET fence = 1");
}

static void test_half_of_one_never_counts(void **state)
{
    (void)state;
    bool first;
    struct uuid half = begin_one("", false, &first);
    assert_false(first);
    struct work w = node_work();
    assert_int_equal(worker_checkpoint_keep(&w, &lease, half, 50, &e), ERR_CONFLICT);
    db_rollback(w.tx);
    expect("SELECT count(*) FROM checkpoint", 3);
    struct slice list;
    w = begin(0);
    OK(checkpoint_list(&w, job, &list, &e));
    end(&w);
    assert_int_equal(list.n, 2);
    (void)begin_one("", false, &first);         /* the answer was lost: it is begun again, and only one is being written */
    expect("SELECT count(*) FROM checkpoint", 3);
}

static void test_an_older_fence_neither_writes_nor_keeps(void **state)
{
    (void)state;
    bool first, is_stored;
    struct uuid object = begin_one("late", true, &first);
    pg_harness_exec(pg, DB,
                    "UPDATE attempt SET live = false, state = 'LEASE_RETURNED', finished_at = now(); UPDATE job SET fence = 2");
    lease.fence = 2;
    struct work w = node_work();
    struct output_part p = { .object_id = object, .size_bytes = 4, .sealed = STR("x") };
    assert_int_equal(worker_checkpoint_keep(&w, &lease, object, 60, &e), ERR_NOT_FOUND);
    assert_int_equal(worker_output_expects(&w, &lease, &p, &is_stored, &e), ERR_NOT_FOUND);
    db_rollback(w.tx);
    (void)begin_one("", false, &first);
    assert_true(first);                         /* of this attempt, and what the one before left half written is gone */
    expect("SELECT count(*) FROM checkpoint WHERE whole_at IS NULL", 1);
    int64_t removed = -1;
    pg_harness_exec(pg, DB, "UPDATE job SET fence = 3");
    OK(checkpoint_sweep(&app, arena, &removed, &e));
    assert_int_equal(removed, 1);
    expect("SELECT count(*) FROM checkpoint", 2);
}

static void test_a_tenant_without_room_keeps_what_it_has(void **state)
{
    (void)state;
    bool first;
    pg_harness_exec(pg, DB, "UPDATE quota SET hard_limit = used WHERE resource = 'stored_bytes' AND used > 0");
    struct uuid object = begin_one("larger than the oldest, which would make room for it", true, &first);
    struct work w = node_work();
    assert_int_equal(worker_checkpoint_keep(&w, &lease, object, 70, &e), ERR_QUOTA);
    db_rollback(w.tx);
    expect("SELECT count(*) FROM checkpoint WHERE whole_at IS NOT NULL", 2);
    pg_harness_exec(pg, DB, "UPDATE quota SET hard_limit = used + 1000 WHERE resource = 'stored_bytes' AND used > 0");
    w = node_work();
    OK(worker_checkpoint_keep(&w, &lease, object, 70, &e));
    end(&w);
    expect(booked, 0);
}

static void test_none_outlives_its_job(void **state)
{
    (void)state;
    int64_t removed = -1;
    OK(checkpoint_sweep(&app, arena, &removed, &e));
    assert_int_equal(removed, 0);
    pg_harness_exec(pg, DB, "UPDATE job SET state = 'CANCELLED', finished_at = now(), version = version + 1");
    OK(checkpoint_sweep(&app, arena, &removed, &e));
    assert_int_equal(removed, 2);
    expect("SELECT count(*) FROM object WHERE kind = 'checkpoint'", 0);
    expect(booked, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_two_newest_stay), cmocka_unit_test(test_an_attempt_that_got_further_is_noted),
        cmocka_unit_test(test_half_of_one_never_counts),
        cmocka_unit_test(test_an_older_fence_neither_writes_nor_keeps),
            cmocka_unit_test(test_a_tenant_without_room_keeps_what_it_has),
        cmocka_unit_test(test_none_outlives_its_job),
    };
    return cmocka_run_group_tests(tests, make, undo);
}
