/* SPDX-License-Identifier: Apache-2.0 */
/* lease_kit.h - a running job of one machine's lease, with its input, for tests of what a worker may read and write. */
#pragma once
#include "tests/db/registry/fixture.h"
#include "core/crypto/hpke.h"
#include "core/crypto/stream.h"
#include "registry/vault/worker_object.h"

static struct uuid job, node;
static struct object input;
static struct worker_lease lease;
static uint8_t public_key[X25519_BYTES];
static struct secret32 *secret;

static inline struct work node_work(void)
{
    struct work w = { .app = &app, .arena = arena, .tenant_id = people[0]->tenant_id, .now_us = clock_wall_us(&clock_system) };
    OK(db_begin(app.node_pool, SCOPE_SYSTEM, 0, arena, &w.tx, &e));
    return w;
}

static inline int make(void **state)
{
    static const struct object_new DATASET = { .kind = "dataset", .data_class = { "health", 6 } };
    int rc = setup(state);
    char sql[4096], t[UUID_TEXT], j[UUID_TEXT], u[UUID_TEXT], o[UUID_TEXT], n[UUID_TEXT], a[UUID_TEXT];
    struct work w = begin(0);
    OK(object_put(&w, &DATASET, STR("1,2,3"), &input, &e));
    end(&w);
    job = uuid_v7(w.now_us);
    node = uuid_v7(w.now_us);
    uuid_text(w.tenant_id, t);
    uuid_text(job, j);
    uuid_text(node, n);
    uuid_text(uuid_v7(w.now_us), a);
    uuid_text(people[0]->user_id, u);
    uuid_text(input.object_id, o);
    snprintf(sql, sizeof sql,
             "INSERT INTO node (node_id, zone, pool, name, identity, slots, cpus, memory_bytes, version, boot_id) VALUES"
             " ('%s', 'ae-dxb-1', 'default', 'n1', 'spiffe://ae-dxb-1/worker/default/n1', 4, 4, 1, '1', '%s');"
             "INSERT INTO job (tenant_id, job_id, name, kind, state, spec, created_by, queued, fence, data_class) VALUES"
             " ('%s', '%s', 'j', 'train', 'RUNNING', '{}', '%s', false, 1, 'health');"
             "INSERT INTO attempt (tenant_id, attempt_id, job_id, fence, node_id, state, slots, gpus, lease_until) VALUES"
             " ('%s', '%s', '%s', 1, '%s', 'RUNNING', 1, 0, now() + interval '1 minute');"
             "INSERT INTO job_object (tenant_id, job_id, direction, name, object_id)"
             " VALUES ('%s', '%s', 'input', 'dataset', '%s')",
             n, n, t, j, u, t, a, j, n, t, j, o);
    pg_harness_exec(pg, DB, sql);
    lease = (struct worker_lease){ job, node, 1, w.now_us + 60000000, STR("ae-dxb-1"), STR("health"), STR("train") };
    secret = secret32_new();
    assert_non_null(secret);
    OK(x25519_keygen(secret, public_key, &e));
    return rc;
}

static inline int undo(void **state)
{
    secret32_free(secret);
    return teardown(state);
}

static inline struct str pub(void)
{
    return str_n((const char *)public_key, X25519_BYTES);
}

static inline void open_release(const struct worker_release *r, struct release_key *ret)
{
    struct release_terms terms = { lease.zone, node, job, 1, r->not_after_us, { 0 } };
    memcpy(terms.worker_key, public_key, X25519_BYTES);
    OK(release_open(secret, &terms, r->key_ids.items, r->key_ids.n, r->message.data.ptr, r->message.data.len, ret, &e));
}

static inline enum errc into_buf(void *ctx, const void *p, size_t n, struct err *err)
{
    return buf_add(ctx, p, n) ? ERR_OK : FAIL(err, LIMIT, "full");
}
