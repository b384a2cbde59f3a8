/* SPDX-License-Identifier: Apache-2.0 */
/* test_three_points.c - the plan, the lease and the key each refuse a forbidden place by themselves: each is broken in turn, and the other
 * two still hold. Then 10,000 random jobs of random classes over random tenants, zones and policies: no forbidden lease, key or object. */
#include "tests/db/scheduler/fixture.h"
#include "tests/lib/wait.h"
#include "core/base/fault.h"
#include "core/crypto/hpke.h"
#include "core/crypto/secmem.h"
#include "keys/client.h"
#include "registry/registry.h"
#include "registry/vault/worker_object.h"
#include "scheduler/plan/placement.h"
#include "scheduler/loop.h"
#include "scheduler/plan_apply.h"
#include "scheduler/jobs/job_apply.h"
#include "scheduler/mirror/snapshot.h"
#include "tenants/home/residency_facts.h"
#include "audit/event.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 20, JOBS = 500, TENANTS = 24 };

static const char *const zone_codes[2] = { "ae-dxb-1", "de-fra-1" };
static struct fixture f;
static struct machine machines[2];
static pid_t keyds[2];
static char dir[64];
static struct secret32 *secret;
static uint8_t public_key[X25519_BYTES];

static void start_keyd(int i)
{
    char bin[512], sock[128], root[128];
    snprintf(bin, sizeof bin, "%s/falaj-keyd", getenv("FALAJ_BIN") ? getenv("FALAJ_BIN") : ".");
    snprintf(sock, sizeof sock, "%s/%s.sock", dir, zone_codes[i]);
    snprintf(root, sizeof root, "%s/%s.root", dir, zone_codes[i]);
    keyds[i] = fork();
    if (keyds[i] == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (!freopen("/dev/null", "w", stderr))
            _exit(126);
        execl(bin, bin, "--zone", zone_codes[i], "--socket", sock, "--softfile", root, "--init", (char *)NULL);
        _exit(127);
    }
    WAIT_WHILE(access(sock, F_OK));
}

/* A tenant's key in each zone, made by that zone's own key service. */
static void add_keys(struct uuid tenant, const char *t)
{
    for (int i = 0; i < 2; i++) {
        struct tkek_ref ref = { str_c(zone_codes[i]), tenant, STR(KEY_PURPOSE_DATA), 1 };
        struct key_blob blob;
        char hex[2 * KEY_BLOB_MAX + 1];
        OK(keyd_tkek_new(f.api.keyd, &ref, &blob, e));
        hex_encode(blob.b, blob.n, hex);
        fixture_exec(&f, "INSERT INTO tenant_key (tenant_id, zone, version, state, wrapped, root_version, provider) VALUES"
                         " ('%s', '%s', 1, 'PRIMARY', '\\x%s', 1, 'softfile')", t, zone_codes[i], hex);
    }
}

static int setup(void **state)
{
    (void)state;
    char zones[320];
    static const struct stmt *const *const node_lists[] = { residency_stmts, registry_node_stmts, lease_stmts,
        lease_member_stmts, lease_back_stmts, lease_end_stmts, job_apply_stmts, node_worker_stmts, audit_event_stmts, NULL };

    OK(secmem_init(1 << 20, false, e));
    snprintf(dir, sizeof dir, "/tmp/residency_XXXXXX");
    assert_non_null(mkdtemp(dir));
    fixture_open(&f);
    db_pool_free(f.api.node_pool);
    f.api.node_pool = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(f.pg, "falaj_worker_api", NULL), .size = 4, .lists = node_lists });
    fixture_exec(&f, "INSERT INTO zone (code, name, country, data_classes) VALUES ('de-fra-1', 'Frankfurt', 'DE', data_classes());"
                     "INSERT INTO zone_rule (zone, version, n, regime, data_class, may_leave, countries, source_text, valid_from) VALUES"
                     " ('ae-dxb-1', 1, 1, 'uae-health-ict', 'health', 'never', '{AE}', 's', '2020-01-01'),"
                     " ('ae-dxb-1', 1, 2, 'uae-pdpl', 'personal', 'with_basis', '{AE}', 's', '2020-01-01')");
    start_keyd(0);
    start_keyd(1);
    snprintf(zones, sizeof zones, "%s=%s/%s.sock,%s=%s/%s.sock", zone_codes[0], dir, zone_codes[0], zone_codes[1], dir, zone_codes[1]);
    OK(keyd_client_new(str_c(zones), 120000, &f.api.keyd, e));
    secret = secret32_new();
    OK(x25519_keygen(secret, public_key, e));
    machine_up(&f, &machines[0], zone_codes[0], "w1", 4096, 0);
    machine_up(&f, &machines[1], zone_codes[1], "w2", 4096, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char cmd[96];
    secret32_free(secret);
    keyd_client_free(f.api.keyd);
    for (int i = 0; i < 2; i++) {
        kill(keyds[i], SIGTERM);
        waitpid(keyds[i], NULL, 0);
    }
    fixture_close(&f);
    snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
    return system(cmd);
}

/* One health job that would have to run in Germany, with an input that lies there. */
struct forbidden { struct uuid tenant, job, object; char t[UUID_TEXT], j[UUID_TEXT], o[UUID_TEXT]; };

static struct forbidden forbidden_job(const char *name)
{
    struct forbidden x = { uuid_v7(clock_wall_us(&clock_system)), uuid_v7(clock_wall_us(&clock_system)), uuid_v7(clock_wall_us(&clock_system)), "", "", "" };
    uuid_text(x.tenant, x.t);
    uuid_text(x.job, x.j);
    uuid_text(x.object, x.o);
    fixture_exec(&f, "INSERT INTO tenant (tenant_id, name, display_name, home_zone, allowed_zones) VALUES ('%s', '%s', 'x', 'ae-dxb-1', '{ae-dxb-1,de-fra-1}');"
                     "INSERT INTO quota (tenant_id, resource, hard_limit) VALUES ('%s','jobs',1000), ('%s','slots',1000), ('%s','gpus',8)", x.t, name, x.t, x.t, x.t);
    add_keys(x.tenant, x.t);
    fixture_exec(&f, "INSERT INTO job (tenant_id, job_id, name, kind, spec, zone, data_class, created_by) VALUES ('%s', '%s', 'j', 'train', '{}', 'de-fra-1', 'health', '%s');"
                     "INSERT INTO object (tenant_id, object_id, zone, kind, state, data_class, sha256, stored_sha256) VALUES"
                     " ('%s', '%s', 'de-fra-1', 'dataset', 'COMMITTED', 'health', sha256('a'), sha256('b'));"
                     "INSERT INTO job_object (tenant_id, job_id, direction, name, object_id) VALUES ('%s', '%s', 'input', 'dataset', '%s')",
                 x.t, x.j, x.t, x.t, x.o, x.t, x.j, x.o);
    struct tkek_ref tkek = { STR("de-fra-1"), x.tenant, STR(KEY_PURPOSE_DATA), 1 };
    struct key_blob blob, wrapped;
    char hex[2 * KEY_BLOB_MAX + 1];
    OK(keyd_tkek_new(f.api.keyd, &tkek, &blob, e));
    hex_encode(blob.b, blob.n, hex);
    fixture_exec(&f, "UPDATE tenant_key SET wrapped = '\\x%s' WHERE tenant_id = '%s' AND zone = 'de-fra-1'", hex, x.t);
    struct dek_ref dek = { STR("de-fra-1"), x.tenant, STR("dataset"), x.object, 1, x.object };
    OK(keyd_dek_new(f.api.keyd, &tkek, &blob, &dek, &wrapped, NULL, e));
    hex_encode(wrapped.b, wrapped.n, hex);
    fixture_exec(&f, "INSERT INTO dek (tenant_id, dek_id, object_id, zone, key_version, wrapped) VALUES ('%s', '%s', '%s', 'de-fra-1', 1, '\\x%s')", x.t, x.o, x.o, hex);
    return x;
}

/* 1: does the plan put it anywhere? */
static bool plan_places(const struct forbidden *x, struct snapshot *s, struct plan *p, struct arena *a)
{
    struct work w = { .app = &f.scheduler, .arena = a, .now_us = clock_wall_us(&clock_system) };
    OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, TX_READ_ONLY, a, &w.tx, e));
    OK(snapshot_read(&w, 1000, true, s, e));
    db_rollback(w.tx);
    placement_plan(s, a, p);
    for (size_t i = 0; i < p->places.n; i++)
        if (uuid_eq(s->jobs.items[p->places.items[i].job].job_id, x->job))
            return true;
    return false;
}

/* 2: does the database write the lease, for a plan that wants it there? */
static bool lease_is_written(const struct forbidden *x)
{
    struct arena *a = arena_new(256 << 20);
    struct snapshot s;
    struct plan p;
    struct plan_result r;
    struct work w = { .app = &f.scheduler, .arena = a, .now_us = clock_wall_us(&clock_system) };
    fault_setup("residency_plan:100%");             /* a planner that lets everything pass */
    assert_true(plan_places(x, &s, &p, a));
    fault_setup("");
    OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, 0, a, &w.tx, e));
    OK(plan_apply(&w, &s, &p, 30000, &r, e));
    OK(db_commit(w.tx, e));
    arena_free(a);
    return fixture_count(&f, "SELECT count(*) FROM attempt WHERE job_id = '%s'", x->j) > 0;
}

/* 2 again, where what is read and what is written are one transaction: the statement that admits asks the judge. */
static bool lease_is_written_at_once(const struct forbidden *x)
{
    struct arena *a = arena_new(256 << 20);
    struct snapshot s;
    struct plan p;
    struct plan_result r;
    struct work w = { .app = &f.scheduler, .arena = a, .now_us = clock_wall_us(&clock_system) };
    fault_setup("residency_plan:100%");
    OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, TX_ENDS, a, &w.tx, e));
    plan_turn_take(w.tx);
    OK(snapshot_read(&w, 1000, false, &s, e));
    placement_plan(&s, a, &p);
    fault_setup("");
    assert_int_equal(p.places.n, 1);
    OK(plan_admit(&w, &s, &p, 30000, &r, e));
    OK(db_commit(w.tx, e));
    assert_int_equal(r.admitted + r.refused, 1);
    arena_free(a);
    return fixture_count(&f, "SELECT count(*) FROM attempt WHERE job_id = '%s'", x->j) > 0;
}

/* 3: does a worker of that zone get the key, once it has a lease? */
static enum errc ask_key(const struct forbidden *x, struct worker_release *ret, struct arena *a, struct err *err)
{
    struct work w = { .app = &f.api, .arena = a, .tenant_id = x->tenant, .now_us = clock_wall_us(&clock_system) };
    struct worker_lease l = { x->job, machines[1].node.node_id, 1, w.now_us + 60000000, STR("de-fra-1"), STR("health"), STR("train") };
    OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, 0, a, &w.tx, e));
    enum errc rc = worker_keys(&w, &l, &x->object, 1, str_n((const char *)public_key, X25519_BYTES), ret, err);
    db_rollback(w.tx);
    return rc;
}

static bool key_is_given(const struct forbidden *x)
{
    struct arena *a = arena_new(64 << 20);
    struct worker_release r;
    struct err err = { 0 };
    enum errc rc = ask_key(x, &r, a, &err);
    if (rc != ERR_OK && rc != ERR_RESIDENCY)
        fail_msg("%s (%s)", err.msg, err.detail);
    arena_free(a);
    return rc == ERR_OK;
}

static bool plan_alone_places(const struct forbidden *x)
{
    struct arena *a = arena_new(256 << 20);
    struct snapshot s;
    struct plan p;
    bool is = plan_places(x, &s, &p, a);
    arena_free(a);
    return is;
}

static void all_three_refuse_and_any_one_may_break(void **state)
{
    (void)state;
    struct forbidden x = forbidden_job("broken");
    assert_false(plan_alone_places(&x));
    assert_false(lease_is_written_at_once(&x));
    assert_false(lease_is_written(&x));             /* the plan is broken here already */
    assert_false(key_is_given(&x));
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM audit_event WHERE tenant_id = '%s' AND position('\"residency.deny\"'::bytea IN body) > 0", x.t), 1);
    /* A quick round that the judge stops is followed by one that says so. */
    struct arena *a = arena_new(256 << 20);
    int64_t admitted;
    bool more;
    fault_setup("residency_plan:100%");
    OK(loop_plan_once(&f.scheduler, a, false, &admitted, &more, e));
    fault_setup("");
    arena_free(a);
    assert_int_equal(admitted, 0);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM audit_event WHERE tenant_id = '%s'"
                                       " AND position('\"residency.deny\"'::bytea IN body) > 0", x.t), 2);
    /* Written past every program: the trigger holds by itself. */
    fixture_exec(&f, "DO $$ BEGIN INSERT INTO attempt (tenant_id, attempt_id, job_id, fence, node_id, slots, gpus, lease_until)"
                     " SELECT '%s', '%s', '%s', 1, node_id, 1, 0, now() + interval '1 minute' FROM node WHERE zone = 'de-fra-1';"
                     " RAISE EXCEPTION 'it was let in'; EXCEPTION WHEN insufficient_privilege THEN NULL; END $$", x.t, x.j, x.j);
    /* The database's judge broken: plan and key refuse. */
    fixture_exec(&f, "ALTER FUNCTION residency_zone_ok(uuid, text, text, text) RENAME TO residency_zone_ok_kept;"
                     "CREATE FUNCTION residency_zone_ok(t uuid, class text, target text, purpose_ text DEFAULT NULL) RETURNS boolean LANGUAGE sql AS 'SELECT true'");
    assert_false(plan_alone_places(&x));
    assert_false(key_is_given(&x));
    assert_true(lease_is_written(&x));              /* both broken: a lease, and still no key */
    assert_false(key_is_given(&x));
    fixture_exec(&f, "DELETE FROM attempt WHERE job_id = '%s'; DROP FUNCTION residency_zone_ok(uuid, text, text, text);"
                     "ALTER FUNCTION residency_zone_ok_kept(uuid, text, text, text) RENAME TO residency_zone_ok;"
                     "DELETE FROM job_end; UPDATE quota SET used = 0, ended = 0 WHERE tenant_id = '%s';"
                     "DELETE FROM job_event WHERE job_id = '%s';"
                     "SET session_replication_role = replica; UPDATE job SET state = 'PENDING', queued = true, fence = 0, version = 1 WHERE job_id = '%s'", x.j, x.t, x.j, x.j);
    /* The key's judge broken: plan and lease refuse. */
    fault_setup("residency_key:100%");
    assert_true(key_is_given(&x));
    fault_setup("residency_key:100%");
    assert_false(plan_alone_places(&x));
    assert_false(lease_is_written(&x));
    fault_setup("");
}

/* ------------------------------------------------------------------------------------------------------------- random worlds */
static void random_world(int round)
{
    fixture_exec(&f, "DELETE FROM transfer_policy; DELETE FROM tenant_zone; SELECT setseed(%d.0 / 100);"
                     "UPDATE tenant SET allowed_zones = CASE WHEN random() < 0.5 THEN ARRAY['ae-dxb-1'] ELSE ARRAY['ae-dxb-1', 'de-fra-1'] END WHERE name LIKE 'r%%';"
                     "INSERT INTO tenant_zone SELECT tenant_id, c, z FROM tenant, unnest(data_classes()) c, unnest('{ae-dxb-1,de-fra-1}'::text[]) z"
                     " WHERE name LIKE 'r%%' AND random() < 0.1;"
                     "INSERT INTO transfer_policy (tenant_id, policy_id, from_zone, to_zone, data_class, purpose, legal_basis, document_sha256, assessment_ref,"
                     " exception_ref, state, valid_from, valid_until, approval_id, proposed_by)"
                     " SELECT tenant_id, gen_random_uuid(), 'ae-dxb-1', 'de-fra-1', c, (ARRAY['any','compute','training'])[1 + floor(random() * 3)], 'contract', sha256('x'),"
                     " 'T', CASE WHEN n > 4 OR random() < 0.5 THEN 'E' ELSE '' END, 'ACTIVE', now() - interval '1 day',"
                     " now() + (random() - 0.3) * interval '2 days', tenant_id, tenant_id"
                     " FROM tenant, unnest(data_classes()) WITH ORDINALITY AS x(c, n) WHERE name LIKE 'r%%' AND random() < 0.5", round);
    fixture_exec(&f, "INSERT INTO job (tenant_id, job_id, name, kind, spec, zone, data_class, created_by)"
                     " SELECT (SELECT tenant_id FROM tenant WHERE name = 'r' || (i %% %d)), gen_random_uuid(), 'j', (ARRAY['noop','train'])[1 + floor(random() * 2)], '{}',"
                     " (ARRAY['ae-dxb-1','de-fra-1',NULL])[1 + floor(random() * 3)], (data_classes())[1 + floor(random() * 7)], gen_random_uuid()"
                     " FROM generate_series(0, %d) i", TENANTS, JOBS - 1);
}

/* Where a lease is, by the rules read aloud in SQL that shares nothing with the database's judge. */
static const char FORBIDDEN[] =
    "SELECT count(*) FROM attempt a JOIN job j USING (tenant_id, job_id) JOIN node n ON n.node_id = a.node_id JOIN tenant t ON t.tenant_id = a.tenant_id"
    " WHERE a.live AND t.name LIKE 'r%' AND ((j.zone IS NOT NULL AND j.zone <> n.zone) OR CASE"
    "   WHEN n.zone = 'ae-dxb-1' THEN EXISTS (SELECT FROM tenant_zone z WHERE z.tenant_id = t.tenant_id AND z.data_class = j.data_class)"
    "        AND NOT EXISTS (SELECT FROM tenant_zone z WHERE z.tenant_id = t.tenant_id AND z.data_class = j.data_class AND z.zone = n.zone)"
    "   WHEN j.data_class IN ('public', 'internal') AND (EXISTS (SELECT FROM tenant_zone z WHERE z.tenant_id = t.tenant_id AND z.data_class = j.data_class AND z.zone = n.zone)"
    "        OR (n.zone = ANY (t.allowed_zones) AND NOT EXISTS (SELECT FROM tenant_zone z WHERE z.tenant_id = t.tenant_id AND z.data_class = j.data_class))) THEN false"
    "   ELSE NOT EXISTS (SELECT FROM transfer_policy p WHERE p.tenant_id = t.tenant_id AND p.data_class = j.data_class AND p.valid_until > now() - interval '1 minute'"
    "        AND p.purpose IN ('any', CASE j.kind WHEN 'train' THEN 'training' ELSE 'compute' END)"
    "        AND (p.exception_ref <> '' OR j.data_class NOT IN ('health', 'banking', 'gov'))) END)";

/* Keys: every live lease asks for a new output's key; every waiting job asks as if it had a lease in the zone it may not be in. */
static int64_t ask_keys(int64_t *given)
{
    int64_t wrong = 0;
    struct arena *a = arena_new(256 << 20);
    struct work w = { .app = &f.api, .arena = a, .now_us = clock_wall_us(&clock_system) };
    for (int i = 0; i < 2; i++) {
        struct slice rows = { 0 };
        struct node n;
        OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, 0, a, &w.tx, e));
        OK(node_beat(&w, machines[i].node.node_id, machines[i].node.boot_id, machines[i].identity, &n, e));
        OK(lease_take(&w, &n, 4096, 25, 600000, &rows, e));
        OK(db_commit(w.tx, e));
        const struct lease_grant *g = rows.items;
        for (size_t k = 0; k < rows.n; k++)
            for (int z = 0; z < 2; z++) {
                struct worker_release r;
                struct uuid object;
                int64_t version;
                struct err err = { 0 };
                struct lease lease;
                OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, 0, a, &w.tx, e));
                OK(lease_check(&w, g[k].tenant_id, g[k].attempt_id, g[k].fence, machines[i].identity, &lease, e));
                w.tenant_id = g[k].tenant_id;
                struct worker_lease l = { lease.job_id, lease.node_id, lease.fence, lease.lease_until.us, str_c(zone_codes[z]), lease.data_class, lease.kind };
                enum errc rc = worker_output_new(&w, &l, STR("model"), "model", str_n((const char *)public_key, X25519_BYTES), &object, &version, &r, &err);
                const struct residency_facts *facts;
                struct residency_question q = { .data_class = data_class_of(lease.data_class), .zone = l.zone, .purpose = job_purpose(l.kind), .now_us = w.now_us };
                if (rc == ERR_OK) {
                    OK(residency_facts_read(&w, &facts, e));
                    wrong += !residency_allows(facts, &q).allowed;
                    ++*given;
                } else if (rc != ERR_RESIDENCY && rc != ERR_UNAVAILABLE) {
                    fail_msg("%s (%s)", err.msg, err.detail);
                }
                db_rollback(w.tx);
            }
    }
    arena_free(a);
    return wrong;
}

static void no_forbidden_lease_key_or_object_in_10000_random_jobs(void **state)
{
    (void)state;
    int64_t leased = 0, waiting = 0, given = 0, wrong = 0, forbidden = 0;
    for (int i = 0; i < TENANTS; i++) {
        struct uuid id = uuid_v7(clock_wall_us(&clock_system));
        char t[UUID_TEXT];
        uuid_text(id, t);
        fixture_exec(&f, "INSERT INTO tenant (tenant_id, name, display_name, home_zone, allowed_zones) VALUES ('%s', 'r%d', 'x', 'ae-dxb-1', '{ae-dxb-1}');"
                         "INSERT INTO quota (tenant_id, resource, hard_limit) VALUES ('%s','jobs',100000), ('%s','slots',100000), ('%s','gpus',8)", t, i, t, t, t);
        add_keys(id, t);
    }
    fault_setup("");
    fixture_exec(&f, "DELETE FROM job WHERE state = 'PENDING' AND name = 'j' AND NOT EXISTS (SELECT FROM job_object o WHERE o.job_id = job.job_id)");
    for (int round = 0; round < ROUNDS; round++) {
        random_world(round);
        for (int k = 0; k < 4 && plan(&f) > 0; k++)
            ;
        forbidden += fixture_count(&f, "%s", FORBIDDEN);
        leased += fixture_count(&f, "SELECT count(*) FROM attempt a JOIN tenant t USING (tenant_id) WHERE a.live AND t.name LIKE 'r%%'");
        waiting += fixture_count(&f, "SELECT count(*) FROM job j JOIN tenant t USING (tenant_id) WHERE j.queued AND t.name LIKE 'r%%'");
        if (round % 5 == 0)
            wrong += ask_keys(&given);
        fixture_exec(&f, "DELETE FROM attempt a USING tenant t WHERE t.tenant_id = a.tenant_id AND t.name LIKE 'r%%';"
                         "DELETE FROM job j USING tenant t WHERE t.tenant_id = j.tenant_id AND t.name LIKE 'r%%';"
                         "DELETE FROM job_end; UPDATE quota SET used = 0, ended = 0");
    }
    print_message("%ld leases, %ld jobs not placed, %ld keys given\n", (long)leased, (long)waiting, (long)given);
    assert_int_equal(forbidden, 0);
    assert_int_equal(wrong, 0);
    assert_int_equal(leased + waiting, ROUNDS * JOBS);
    assert_true(leased > ROUNDS * JOBS / 10 && waiting > ROUNDS * JOBS / 10 && given > 50);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM object o JOIN tenant t USING (tenant_id) WHERE t.name LIKE 'r%%'"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_three_refuse_and_any_one_may_break), cmocka_unit_test(no_forbidden_lease_key_or_object_in_10000_random_jobs),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
