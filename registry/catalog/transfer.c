/* SPDX-License-Identifier: Apache-2.0 */
/* transfer.c - the copy is an object like an upload is, but for the question that the judge is asked: from a zone, for a purpose. */
#include "registry/catalog/transfer.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/crypto/secmem.h"
#include "core/db/run_tx.h"
#include "core/db/tx.h"
#include "registry/catalog/dataset.h"
#include "registry/vault/object.h"
#include "registry/registry_int.h"
#include "tenants/access/principal.h"
#include "tenants/home/residency_facts.h"
#include "tenants/home/transfer_policy.h"

SCHEMA_EXTERN(transfer, "Data that crossed from one zone to another",
    FIELD_ID(transfer, transfer_id, "trf", F_ALWAYS, .doc = "The transfer"),
    FIELD_ID(transfer, policy_id, "trp", 0, .doc = "The policy; absent: none was needed"),
    FIELD(transfer, rule, F_ALWAYS, .doc = "The rule that allowed it"),
    FIELD(transfer, legal_basis, 0, .doc = "The policy's basis"),
    FIELD(transfer, from_zone, F_ALWAYS, .doc = "From"), FIELD(transfer, to_zone, F_ALWAYS, .doc = "To"),
    FIELD(transfer, data_class, F_ALWAYS, .doc = "Class of the data"),
    FIELD(transfer, purpose, F_ALWAYS, .doc = "What for"), FIELD_ID(transfer, dataset_id, "dst", F_ALWAYS, .doc = "The data set"),
    FIELD(transfer, dataset_version, 0, .doc = "Its version"),
    FIELD_ID(transfer, from_object, "obj", F_ALWAYS, .doc = "The object that was copied"),
    FIELD_ID(transfer, to_object, "obj", F_ALWAYS, .doc = "The copy"), FIELD(transfer, bytes, 0, .doc = "Bytes of the content"),
    FIELD_ID(transfer, by_user, "usr", F_ALWAYS, .doc = "Who did it"), FIELD(transfer, at, F_ALWAYS, .doc = "When"));

#define TRANSFER_COLUMNS \
    "x.transfer_id, x.policy_id, x.rule, p.legal_basis, x.from_zone, x.to_zone, x.data_class, x.purpose, x.dataset_id, x.version AS dataset_version,\n" \
    "       x.from_object, x.to_object, x.bytes, x.by_user, x.at"
#define TRANSFER_FROM "  FROM transfer x LEFT JOIN transfer_policy p ON p.tenant_id = x.tenant_id AND p.policy_id = x.policy_id\n"

const struct stmt transfer_insert_stmt = { .name = "transfer_insert", .params = "uuusssssuiuuiu", .card = CARD_NONE, .sql =
    "INSERT INTO transfer (tenant_id, transfer_id, policy_id, rule, from_zone, to_zone, data_class, purpose, dataset_id, version, from_object,\n"
    "       to_object, bytes, by_user)\n"
    "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)" };
const struct stmt transfer_get_stmt = { .name = "transfer_get", .params = "uu", .row = &transfer_schema, .card = CARD_ONE, .sql =
    "SELECT " TRANSFER_COLUMNS "\n" TRANSFER_FROM " WHERE x.tenant_id = $1 AND x.transfer_id = $2" };
const struct stmt transfer_list_stmt = { .name = "transfer_list", .params = "usttui", .row = &transfer_schema, .card = CARD_MANY, .sql =
    "SELECT " TRANSFER_COLUMNS "\n" TRANSFER_FROM
    " WHERE x.tenant_id = $1 AND ($2::text IS NULL OR $2 IN (x.from_zone, x.to_zone)) AND ($3::timestamptz IS NULL OR x.at >= $3)\n"
    "   AND ($4::timestamptz IS NULL OR x.at < $4) AND ($5::uuid IS NULL OR x.transfer_id < $5) ORDER BY x.transfer_id DESC LIMIT $6" };

/* What is to be copied, and by which permission. */
struct plan_of {
    struct dataset set;
    struct dataset_version version;
    struct residency_verdict verdict;
    struct str purpose;
};

static enum errc judge(struct work *w, const struct transfer_ask *in, struct plan_of *p, struct err *e)
{
    struct transfer_policy policy;
    p->purpose = in->purpose;
    if (!uuid_is_nil(in->policy_id)) {
        if (transfer_policy_get(w, in->policy_id, &policy, e) != ERR_OK)
            return e->code == ERR_NOT_FOUND ? FAIL_AT(e, NOT_FOUND, "/policy_id", "There is no such transfer policy") : e->code;
        if (!p->purpose.ptr)
            p->purpose = policy.purpose;
    }
    struct residency_question q = { .data_class = data_class_of(p->set.data_class), .zone = in->to_zone, .from = p->version.zone, .purpose = p->purpose };
    TRY(residency_check(w, RACT_TRANSFER, &q, true, &p->verdict, e));
    if (!uuid_is_nil(in->policy_id) && !uuid_is_nil(p->verdict.policy_id) && !uuid_eq(in->policy_id, p->verdict.policy_id))
        return FAIL_AT(e, UNPROCESSABLE, "/policy_id",
                       "This policy does not cover the transfer, but another one does; name that one, or leave policy_id out");
    return ERR_OK;
}

static enum errc plan(struct work *w, const struct transfer_ask *in, struct plan_of *p, struct err *e)
{
    TRY(dataset_get(w, in->dataset_id, &p->set, e));
    TRY(dataset_version_get(w, in->dataset_id, in->version, &p->version, e));
    if (str_eq(in->to_zone, p->version.zone))
        return FAIL_AT(e, UNPROCESSABLE, "/to_zone", "The version lies in that zone already");
    return judge(w, in, p, e);
}

struct transfer_copy {
    struct uuid from_object;
    struct object_new to;
    const struct object_sealed *sealed;
};

static enum errc plan_copy(struct work *w, const struct transfer_ask *in, struct plan_of *p, const struct object_keys **ret,
                           struct err *e)
{
    TRY(plan(w, in, p, e));
    return object_find(w, p->version.object_id, "dataset", ret, e);
}

enum errc transfer_seal(struct work *w, const struct transfer_ask *in, const struct transfer_copy **ret, struct err *e)
{
    CLEANUP(object_reader_freep) struct object_reader *r = NULL;
    CLEANUP(buf_releasep) struct buf plain = BUF(TRANSFER_MAX);
    struct transfer_copy *c = ARENA_NEW(w->arena, struct transfer_copy);
    const struct object_keys *keys;
    struct plan_of p = { 0 };
    ASSERT(!w->tx);
    TRY(RUN_WRITE(w, plan_copy(w, in, &p, &keys, e), e));
    c->from_object = p.version.object_id;
    c->to = (struct object_new){ .zone = in->to_zone, .kind = "dataset", .data_class = p.set.data_class, .from = p.version.zone,
                                 .purpose = p.purpose };
    TRY(object_open_found(w, keys, &r, e));
    TRY(object_read_all(r, &plain, e));
    enum errc rc = object_seal_whole(w, &c->to, buf_str(&plain), &c->sealed, e);
    secret_wipe(plain.ptr, plain.len);
    *ret = c;
    return rc;
}

enum errc transfer_execute(struct work *w, const struct transfer_ask *in, const struct transfer_copy *c, struct transfer *ret,
                           struct err *e)
{
    struct plan_of p = { 0 };
    struct object o;
    struct uuid id = uuid_v7(w->now_us);
    TRY(plan(w, in, &p, e));
    if (!uuid_eq(p.version.object_id, c->from_object))
        return FAIL(e, CONFLICT, "The data set got another version while it was copied; try again");
    TRY(object_book(w, &c->to, c->sealed, &o, e));
    enum errc rc = db_exec(w->tx, &transfer_insert_stmt, ARGS(
        A_UUID(w->tenant_id), A_UUID(id), A_UUID_OR_NULL(p.verdict.policy_id), A_TEXT(p.verdict.rule), A_STR(p.version.zone), A_STR(in->to_zone),
        A_STR(p.set.data_class), A_STR(p.purpose.ptr ? p.purpose : STR("any")), A_UUID(in->dataset_id), A_I64(p.version.version),
        A_UUID(p.version.object_id), A_UUID(o.object_id), A_I64(o.size_bytes), A_UUID(w->principal->user_id)), NULL, e);
    if (rc != ERR_OK)
        return rc == ERR_EXISTS ? FAIL_AT(e, EXISTS, "/to_zone",
                                          "A copy of this version is in zone %.*s already", STR_ARG(in->to_zone)) : rc;
    return db_one(w->tx, &transfer_get_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(id)), ret, e);
}

void transfer_drop(struct work *w, const struct transfer_copy *c)
{
    object_drop(w, c->sealed);
}

enum errc transfer_list(struct work *w, const struct transfer_filter *f, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &transfer_list_stmt, ARGS(A_UUID(w->tenant_id), A_STR(f->zone), A_TIME(f->from), A_TIME(f->to), A_UUID_OR_NULL(position),
        A_I64(limit)), ret, (size_t)limit, e);
}

static void csv_id(struct buf *out, const char *prefix, struct uuid id)
{
    char hex[UUID_HEX];
    hex_encode(id.b, 16, hex);
    if (!uuid_is_nil(id))
        buf_printf(out, "%s_%.32s", prefix, hex);
    buf_add_char(out, ',');
}

void transfer_csv(const struct slice *rows, struct buf *out)
{
    const struct transfer *t = rows->items;
    buf_add_c(out, "transfer_id,at,from_zone,to_zone,data_class,purpose,rule,legal_basis,policy_id,dataset_id,dataset_version,from_object,to_object,bytes,by_user\r\n");
    for (size_t i = 0; i < rows->n; i++) {
        char at[TIME_TEXT];
        time_text(t[i].at.us, at);
        csv_id(out, "trf", t[i].transfer_id);
        buf_printf(out, "%s,%.*s,%.*s,%.*s,%.*s,%.*s,%.*s,", at, STR_ARG(t[i].from_zone), STR_ARG(t[i].to_zone), STR_ARG(t[i].data_class), STR_ARG(t[i].purpose),
                   STR_ARG(t[i].rule), STR_ARG(t[i].legal_basis));
        csv_id(out, "trp", t[i].policy_id);
        csv_id(out, "dst", t[i].dataset_id);
        buf_printf(out, "%ld,", (long)t[i].dataset_version);
        csv_id(out, "obj", t[i].from_object);
        csv_id(out, "obj", t[i].to_object);
        buf_printf(out, "%ld,", (long)t[i].bytes);
        csv_id(out, "usr", t[i].by_user);
        out->len--;                     /* the last comma */
        buf_add_c(out, "\r\n");
    }
}
