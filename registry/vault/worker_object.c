/* SPDX-License-Identifier: Apache-2.0 */
/* worker_object.c - objects as a leased worker sees them: ciphertext and sealed keys, and only what its job declares. What it
 * sends of an output is in worker_output.c. */
#include "registry/vault/worker_object.h"
#include "core/base/fault.h"
#include "core/db/tx.h"
#include "core/wire/job_type.h"
#include "keys/client.h"
#include "registry/registry_int.h"
#include "registry/vault/object_keys.h"
#include "registry/vault/tenant_key.h"
#include "tenants/home/residency_facts.h"

struct worker_file {
    struct uuid tenant_id;
    struct str zone, kind, state, data_class;
    int64_t stored_bytes;
    struct bytes stored_sha256;
};
SCHEMA_OF(worker_file, "A stored object as a worker may know it",
    FIELD(worker_file, tenant_id, 0, .doc = "Whose it is"), FIELD(worker_file, zone, 0, .doc = "Zone"),
    FIELD(worker_file, kind, 0, .doc = "Kind"),
    FIELD(worker_file, data_class, 0, .doc = "Class"),
    FIELD(worker_file, state, 0, .doc = "State"), FIELD(worker_file, stored_bytes, 0, .doc = "Stored size"),
    FIELD(worker_file, stored_sha256, 0, .doc = "Stored digest; absent until uploaded"));

const struct stmt worker_input_stmt = { .name = "worker_input", .params = "uuu", .row = &worker_file_schema,
    .card = CARD_MAYBE, .sql =
    "SELECT o.tenant_id, o.zone, o.kind, o.state, o.data_class, o.stored_bytes, o.stored_sha256 FROM object o\n"
    " WHERE o.tenant_id = $1 AND o.object_id = $3 AND o.state = 'COMMITTED'\n"
    "   AND (EXISTS (SELECT FROM job_object j WHERE j.tenant_id = $1 AND j.job_id = $2 AND j.direction = 'input' AND "
    "j.object_id = $3)\n"
    "        OR EXISTS (SELECT FROM checkpoint c WHERE c.tenant_id = $1 AND c.job_id = $2 AND c.object_id = $3))" };
const struct stmt worker_shared_input_stmt = { .name = "worker_shared_input", .params = "uuu", .row = &worker_file_schema,
    .card = CARD_ONE, .sql =
    "SELECT o.tenant_id, o.zone, o.kind, o.state, o.data_class, o.stored_bytes, o.stored_sha256\n"
    "  FROM shared_environment_of($1, $2) s\n"
    "  JOIN object o ON o.tenant_id = s.owner_id AND o.object_id = s.object_id AND o.state = 'COMMITTED'\n"
    " WHERE o.object_id = $3 AND NOT s.is_withdrawn" };
/* The object takes the class of the job's data. */
const struct stmt worker_output_insert_stmt = { .name = "worker_output_insert", .params = "uuissuuiy", .card = CARD_NONE, .sql =
    "WITH o AS (\n"
    "  INSERT INTO object (tenant_id, object_id, zone, kind, data_class, state)\n"
    "  SELECT $1, $6, (SELECT n.zone FROM attempt a JOIN node n ON n.node_id = a.node_id\n"
    "                   WHERE a.tenant_id = $1 AND a.job_id = $2 AND a.fence = $3), $5, j.data_class, 'WRITING'\n"
    "    FROM job j WHERE j.tenant_id = $1 AND j.job_id = $2 RETURNING zone),\n"
    "d AS (INSERT INTO dek (tenant_id, dek_id, object_id, zone, key_version, wrapped) SELECT $1, $7, $6, zone, $8, $9 FROM o)\n"
    "INSERT INTO job_object (tenant_id, job_id, direction, name, object_id, fence) SELECT $1, $2, 'output', $4, $6, $3 FROM o" };

SCHEMA_OF(output_file, "An output or a checkpoint being written", FIELD(output_file, kind, 0, .doc = "Kind"),
    FIELD(output_file, stored_bytes, 0, .doc = "Stored size"),
    FIELD(output_file, stored_sha256, 0, .doc = "Stored digest; absent until all has come"));
const struct stmt worker_output_get_stmt = { .name = "worker_output_get", .params = "uuiu", .row = &output_file_schema,
    .card = CARD_ONE, .sql =
    "SELECT o.kind, o.stored_bytes, o.stored_sha256 FROM object o WHERE o.tenant_id = $1 AND o.object_id = $4\n"
    "   AND (EXISTS (SELECT FROM job_object j WHERE j.tenant_id = $1 AND j.job_id = $2 AND j.direction = 'output' AND j.fence = "
    "$3\n"
    "                   AND j.object_id = $4)\n"
    "        OR EXISTS (SELECT FROM checkpoint c WHERE c.tenant_id = $1 AND c.job_id = $2 AND c.fence = $3 AND c.object_id = "
    "$4))\n"
    "   FOR UPDATE OF o" };

enum errc worker_output_find(struct work *w, const struct worker_lease *l, struct uuid object_id, struct output_file *ret, struct err *e)
{
    return db_one(w->tx, &worker_output_get_stmt,
                  ARGS(A_UUID(w->tenant_id), A_UUID(l->job_id), A_I64(l->fence), A_UUID(object_id)), ret, e);
}

enum errc worker_object_release(struct work *w, const struct worker_lease *l, const struct keyd_release_item *items, size_t n,
                                struct str public_key, struct worker_release *ret, struct err *e)
{
    struct release_terms terms = { l->zone, l->node_id, l->job_id, (uint64_t)l->fence, l->not_after_us, { 0 } };
    uint8_t *message = arena_alloc(w->arena, RELEASE_MESSAGE_MAX);
    struct uuid *ids = ARENA_ARRAY(w->arena, struct uuid, n);
    size_t len;
    if (public_key.len != X25519_BYTES)
        return FAIL_AT(e, INVALID, "/public_key", "must be an X25519 public key of %d bytes", X25519_BYTES);
    memcpy(terms.worker_key, public_key.ptr, X25519_BYTES);
    TRY(keyd_release(w->app->keyd, &terms, items, n, message, &len, e));
    for (size_t i = 0; i < n; i++)
        ids[i] = items[i].dek.dek_id;
    *ret = (struct worker_release){ { str_n((const char *)message, len) }, l->not_after_us, l->zone, { ids, n } };
    return ERR_OK;
}

static enum errc same_zone(const struct worker_lease *l, struct str zone, struct err *e)
{
    return str_eq(l->zone, zone) ? ERR_OK : FAIL(e, RESIDENCY, "The object lies in zone %.*s; this machine stands in %.*s", STR_ARG(zone), STR_ARG(l->zone));
}

/* The last of three independent judgements (plan, lease, key): by the law of this moment. */
static enum errc judge(struct work *w, const struct worker_lease *l, const struct residency_facts *f, struct str data_class, struct err *e)
{
    struct residency_question q = { .data_class = data_class_of(data_class), .zone = l->zone, .purpose = job_purpose(l->kind),
                                    .worker_ip = w->source_ip, .now_us = w->now_us };
    struct residency_verdict v = residency_allows(f, &q);
    return v.allowed || FAULT("residency_key") ? ERR_OK : residency_refusal(RACT_KEY, &q, &v, NULL, e);
}

enum errc worker_object_judge(struct work *w, const struct worker_lease *l, struct err *e)
{
    const struct residency_facts *facts;
    TRY(residency_facts_read(w, &facts, e));
    return judge(w, l, facts, l->data_class, e);
}

/* What is no input of the job may be the shared image that it runs in. It is asked for by itself: falaj-keyd seals no keys of two
 * tenants into one message. */
static enum errc find_shared(struct work *w, const struct worker_lease *l, const struct uuid *objects, size_t n,
                             struct object_keys **ret, struct err *e)
{
    struct object_keys *shared = ARENA_NEW(w->arena, struct object_keys);
    bool found = false;
    TRY(db_maybe(w->tx, &worker_shared_keys_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(l->job_id)), shared, &found, e));
    for (size_t i = 0; found && n > 1 && i < n; i++)
        if (uuid_eq(objects[i], shared->object.object_id))
            return FAIL_AT(e, INVALID, "/objects", "The key of a shared image is asked for by itself");
    if (!found || !uuid_eq(objects[0], shared->object.object_id))
        return FAIL_AT(e, NOT_FOUND, "/objects", "An object is not an input of this job");
    *ret = shared;
    return ERR_OK;
}

/* The one judge of whether a lease may have keys. */
static enum errc judge_keys(struct work *w, const struct worker_lease *l, const struct uuid *objects, size_t n,
                            struct keyd_release_item **ret, struct err *e)
{
    struct { struct object_keys *items; size_t n; } rows;
    if (n < 1 || n > RELEASE_KEYS_MAX)
        return FAIL_AT(e, INVALID, "/objects", "must be 1 to %d objects", RELEASE_KEYS_MAX);
    TRY(db_many(w->tx, &worker_keys_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(l->job_id), A_UUIDS(objects, n)), &rows, RELEASE_KEYS_MAX, e));
    struct object_keys *all = rows.items;
    if (rows.n != n)
        TRY(find_shared(w, l, objects, n, &all, e));
    const struct residency_facts *facts;
    TRY(residency_facts_read(w, &facts, e));
    struct keyd_release_item *items = ARENA_ARRAY(w->arena, struct keyd_release_item, n);
    for (size_t i = 0; i < n; i++) {
        TRY(same_zone(l, all[i].object.zone, e));
        TRY(judge(w, l, facts, all[i].object.data_class, e));
        TRY(object_release_item(all[i].tenant_id, &all[i], &items[i], e));
    }
    *ret = items;
    return ERR_OK;
}

enum errc worker_keys(struct work *w, const struct worker_lease *l, const struct uuid *objects, size_t n, struct str public_key,
                      struct worker_release *ret, struct err *e)
{
    struct keyd_release_item *items;
    TRY(judge_keys(w, l, objects, n, &items, e));
    return worker_object_release(w, l, items, n, public_key, ret, e);
}

enum errc worker_keys_may(struct work *w, const struct worker_lease *l, const struct uuid *objects, size_t n, struct err *e)
{
    struct keyd_release_item *items;
    return judge_keys(w, l, objects, n, &items, e);
}

enum errc worker_input_open(struct work *w, const struct worker_lease *l, struct uuid object_id, struct blob_reader **ret, int64_t *ret_size,
                            struct err *e)
{
    struct worker_file f;
    struct blob_reader *r;
    uint64_t size;
    bool found = false;
    TRY(db_maybe(w->tx, &worker_input_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(l->job_id), A_UUID(object_id)), &f, &found, e));
    if (!found)
        TRY(db_one(w->tx, &worker_shared_input_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(l->job_id), A_UUID(object_id)), &f, e));
    const struct residency_facts *facts;
    TRY(same_zone(l, f.zone, e));
    TRY(residency_facts_read(w, &facts, e));
    TRY(judge(w, l, facts, f.data_class, e));
    enum errc rc = blob_reader_open(w->app->blobs, f.tenant_id, object_id, &r, &size, e);
    if (rc != ERR_OK)
        return rc == ERR_NOT_FOUND ? FAIL(e, DAMAGED, "The object is missing from the store") : rc;
    if (size != (uint64_t)f.stored_bytes) {
        blob_reader_close(r);
        return FAIL(e, DAMAGED, "The object is damaged: %lu bytes are stored, %ld were written", (unsigned long)size, (long)f.stored_bytes);
    }
    *ret = r;
    *ret_size = f.stored_bytes;
    return ERR_OK;
}

/* The key of an output is made in this transaction, or found from the same call before. */
static enum errc output_key(struct work *w, const struct worker_lease *l, struct str name, const char *kind, struct keyd_release_item *item,
                            struct err *e)
{
    struct object_keys k;
    struct tenant_key tk;
    bool found;
    TRY(db_maybe(w->tx, &worker_output_find_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(l->job_id), A_I64(l->fence), A_STR(name)), &k, &found, e));
    if (found && (!str_eq_c(k.object.kind, kind) || !str_eq_c(k.object.state, "WRITING") || k.object.stored_sha256.data.len))
        return FAIL(e, CONFLICT, "Output %.*s has been written already", STR_ARG(name));
    if (found)
        return object_release_item(w->tenant_id, &k, item, e);
    TRY(tenant_key_primary(w, l->zone, false, &tk, e));
    item->tkek = tk.ref;
    item->tkek_blob = tk.blob;
    item->dek = (struct dek_ref){ l->zone, w->tenant_id, str_c(kind), uuid_v7(w->now_us), 1, uuid_v7(w->now_us) };
    TRY(keyd_dek_new(w->app->keyd, &item->tkek, &item->tkek_blob, &item->dek, &item->wrapped, NULL, e));
    TRY(db_exec(w->tx, &worker_output_insert_stmt, ARGS(
        A_UUID(w->tenant_id), A_UUID(l->job_id), A_I64(l->fence), A_STR(name), A_TEXT(kind), A_UUID(item->dek.object_id),
        A_UUID(item->dek.dek_id), A_I64(tk.ref.version), A_BYTES(item->wrapped.b, item->wrapped.n)), NULL, e));
    tenant_key_count(w, &tk);
    return ERR_OK;
}

enum errc worker_output_new(struct work *w, const struct worker_lease *l, struct str name, const char *kind, struct str public_key,
                            struct uuid *ret_object, int64_t *ret_version, struct worker_release *ret, struct err *e)
{
    struct keyd_release_item *item = ARENA_NEW(w->arena, struct keyd_release_item);
    TRY(worker_object_judge(w, l, e));
    TRY(output_key(w, l, name, kind, item, e));
    TRY(worker_object_release(w, l, item, 1, public_key, ret, e));
    *ret_object = item->dek.object_id;
    *ret_version = item->dek.object_version;
    return ERR_OK;
}
