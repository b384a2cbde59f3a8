/* SPDX-License-Identifier: Apache-2.0 */
/* enrol.c - certificates of machines. falaj-keyd is asked inside the transaction: what it signed and cannot be written down is never
 * handed out, and is worth nothing where the register is asked. */
#include "scheduler/engine/enrol.h"
#include "core/crypto/x509.h"
#include "core/db/pool.h"
#include "core/db/tx.h"
#include "core/table/config.h"
#include "keys/client.h"

struct taken { struct str state; bool is_live; };
SCHEMA_OF(taken, "Who has a name", FIELD(taken, state, 0, .doc = "State of the machine; empty: none"),
    FIELD(taken, is_live, 0, .doc = "A certificate for it holds"));
SCHEMA_OF(gate_facts, "What the register says of a caller", FIELD(gate_facts, node_id, 0, .doc = "Machine"),
    FIELD(gate_facts, state, 0, .doc = "Its state"), FIELD(gate_facts, is_known, 0, .doc = "Its certificate stands in the register"),
    FIELD(gate_facts, is_current, 0, .doc = "And has not ended"));

static const struct stmt enrol_lock = { .name = "enrol_lock", .params = "s", .card = CARD_NONE, .sql =
    "SELECT FROM pg_advisory_xact_lock(hashtextextended($1, 0))" };
static const struct stmt enrol_taken = { .name = "enrol_taken", .params = "s", .row = &taken_schema, .card = CARD_ONE, .sql =
    "SELECT coalesce((SELECT n.state FROM node n WHERE n.identity = $1), '') AS state,\n"
    "       EXISTS (SELECT FROM node_cert c WHERE c.identity = $1 AND c.ends_at > clock_timestamp()) AS is_live" };
static const struct stmt enrol_end = { .name = "enrol_end", .params = "si", .card = CARD_NONE, .sql =
    "UPDATE node_cert SET ends_at = least(ends_at, clock_timestamp() + $2 * interval '1 second')\n"
    " WHERE identity = $1 AND ends_at > clock_timestamp()" };
static const struct stmt enrol_prune = { .name = "enrol_prune", .params = "s", .card = CARD_NONE, .sql =
    "DELETE FROM node_cert WHERE identity = $1 AND not_after < clock_timestamp() - interval '7 days'" };
static const struct stmt enrol_insert = { .name = "enrol_insert", .params = "yssuty", .card = CARD_NONE, .sql =
    "INSERT INTO node_cert (fingerprint, identity, source, join_token_id, not_after, ends_at, key_sha) VALUES ($1, $2, $3, $4, "
        "$5, $5, $6)" };
struct other_key { bool is_other; };
SCHEMA_OF(other_key, "Whose key", FIELD(other_key, is_other, 0, .doc = "Live certificates of this machine have another"));
static const struct stmt enrol_other_key = { .name = "enrol_other_key", .params = "sy", .row = &other_key_schema, .card =
    CARD_ONE, .sql =
    "SELECT EXISTS (SELECT FROM node_cert WHERE identity = $1 AND ends_at > clock_timestamp() AND key_sha <> $2) AS is_other" };
static const struct stmt enrol_gate = { .name = "enrol_gate", .params = "sy", .row = &gate_facts_schema, .card = CARD_ONE, .sql =
    "SELECT " GATE_SAYS "\n"
    "  FROM " GATE_FROM };

const struct stmt *const enrol_stmts[] = { &enrol_lock, &enrol_taken, &enrol_end, &enrol_insert, NULL };
const struct stmt *const enrol_node_stmts[] = { &enrol_lock, &enrol_end, &enrol_prune, &enrol_insert, &enrol_gate, &enrol_taken,
    &enrol_other_key, NULL };

/* lease: the attempt in hex; STR_NULL: for the machine itself. */
static enum errc sign(struct work *w, struct str zone, struct str pool, struct str name, struct str lease, struct str csr_pem,
                      struct node_credential *ret, struct err *e)
{
    const struct config *cfg = w->app->config;
    int64_t life_ms = lease.len ? cfg->node_lease_cert_ms : cfg->node_cert_ms;
    const struct keyd_ca_request r = { pool, name, lease, csr_pem, (uint32_t)(life_ms / 1000) };
    struct x509_facts f;
    TRY(keyd_ca_sign(w->app->keyd, w->arena, zone, &r, &ret->certificate_pem, e));
    TRY(keyd_ca_certificate(w->app->keyd, w->arena, zone, &ret->chain_pem, e));
    TRY(x509_read(w->arena, ret->certificate_pem, &f, e));
    if (f.uri_count != 1 || !str_eq(f.uri, ret->identity))
        return FAIL(e, INTERNAL, "falaj-keyd signed another name than it was asked for");
    char *hex = arena_alloc(w->arena, 2 * sizeof f.fingerprint + 1);
    ret->fingerprint = str_n(hex, hex_encode(f.fingerprint, sizeof f.fingerprint, hex));
    ret->not_after = (struct timestamp){ f.not_after_us };
    memcpy(ret->key_sha, f.key_sha, sizeof ret->key_sha);
    return ERR_OK;
}

static void record(struct work *w, const struct node_credential *c, const char *source, int64_t overlap_s)
{
    uint8_t raw[32];
    bool ok = hex_decode(c->fingerprint, raw, sizeof raw);
    (void)ok;                           /* written by sign */
    db_queue(w->tx, &enrol_end, ARGS(A_STR(c->identity), A_I64(overlap_s)), false);
    db_queue(w->tx, &enrol_insert, ARGS(A_BYTES(raw, sizeof raw), A_STR(c->identity), A_TEXT(source), A_UUID_OR_NULL(c->join_token_id),
                                        A_TIME(c->not_after), A_BYTES(c->key_sha, sizeof c->key_sha)), false);
}

static enum errc check_name_free(struct work *w, struct str identity, const struct join_token *t, struct err *e)
{
    struct taken taken;
    db_queue(w->tx, &enrol_lock, ARGS(A_STR(identity)), false);
    TRY(db_one(w->tx, &enrol_taken, ARGS(A_STR(identity)), &taken, e));
    if (str_eq_c(taken.state, "QUARANTINED"))
        return FAIL(e, FORBIDDEN, "This machine is in quarantine");
    if ((taken.state.len || taken.is_live) && !t->node_name.ptr)
        return FAIL_AT(e, EXISTS, "/name", "The name is another machine's; a join token made for this name would take it over");
    return ERR_OK;
}

enum errc node_enrol(struct work *w, const struct node_enrol_request *r, struct node_credential *ret, struct err *e)
{
    struct join_token t;
    TRY(join_token_take(w, r->token, r->name, &t, e));
    if ((r->zone.ptr && !str_eq(r->zone, t.zone)) || (r->pool.ptr && !str_eq(r->pool, t.pool)))
        return FAIL(e, UNAUTHENTICATED, "The join token is not known here, for this machine, or any more");
    *ret = (struct node_credential){ .join_token_id = t.join_token_id };
    ret->identity = str_fmt(w->arena, "spiffe://%.*s/worker/%.*s/%.*s", STR_ARG(t.zone), STR_ARG(t.pool), STR_ARG(r->name));
    TRY(check_name_free(w, ret->identity, &t, e));
    TRY(sign(w, t.zone, t.pool, r->name, STR_NULL, r->csr_pem, ret, e));
    record(w, ret, "join", 0);
    return ERR_OK;
}

/* spiffe://<zone>/worker/<pool>/<name> */
static bool identity_parts(struct str identity, struct str *zone, struct str *pool, struct str *name)
{
    struct str rest, kind;
    if (!str_starts(identity, "spiffe://"))
        return false;
    rest = str_n(identity.ptr + 9, identity.len - 9);
    return str_cut(rest, '/', zone, &rest) && str_cut(rest, '/', &kind, &rest) && str_eq_c(kind, "worker") && str_cut(rest, '/', pool, name)
           && name->len && !memchr(name->ptr, '/', name->len);
}

enum errc node_renew(struct work *w, struct str identity, struct str csr_pem, struct node_credential *ret, struct err *e)
{
    struct str zone, pool, name;
    int64_t life_s = w->app->config->node_cert_ms / 1000;
    if (!identity_parts(identity, &zone, &pool, &name))
        return FAIL(e, FORBIDDEN, "Only the certificate of a machine is renewed");
    *ret = (struct node_credential){ .identity = str_dup(w->arena, identity) };
    struct other_key key;
    TRY(sign(w, zone, pool, name, STR_NULL, csr_pem, ret, e));
    db_queue(w->tx, &enrol_lock, ARGS(A_STR(identity)), false);
    TRY(db_one(w->tx, &enrol_other_key, ARGS(A_STR(identity), A_BYTES(ret->key_sha, sizeof ret->key_sha)), &key, e));
    if (key.is_other)
        return FAIL(e, FORBIDDEN, "A renewal keeps the machine's key, and this request has another one; a new key takes a join "
            "token made for "
                    "this name");
    db_queue(w->tx, &enrol_prune, ARGS(A_STR(identity)), false);
    record(w, ret, "renew", life_s / 4 < ENROL_OVERLAP_S ? life_s / 4 : ENROL_OVERLAP_S);
    return ERR_OK;
}

enum errc node_lease_sign(struct work *w, struct str identity, struct str zone, struct uuid attempt_id, struct str csr_pem,
                          struct node_credential *ret, struct err *e)
{
    struct str own_zone, pool, name;
    char hex[UUID_HEX];
    if (!identity_parts(identity, &own_zone, &pool, &name) || !str_eq(own_zone, zone))
        return FAIL(e, FORBIDDEN, "Only a machine of the lease's zone gets a certificate for it");
    hex_encode(attempt_id.b, sizeof attempt_id.b, hex);
    *ret = (struct node_credential){ .identity = str_fmt(w->arena, "spiffe://%.*s/lease/%.*s/%.*s/%s", STR_ARG(zone),
                                                         STR_ARG(pool), STR_ARG(name), hex) };
    return sign(w, zone, pool, name, str_c(hex), csr_pem, ret, e);
}

enum errc node_gate_judge(const struct gate_facts *g, bool is_registered, struct err *e)
{
    if (str_eq_c(g->state, "QUARANTINED"))
        return FAIL(e, FORBIDDEN, "This machine is in quarantine");
    if (g->is_known && !g->is_current)
        return FAIL(e, FORBIDDEN, "This certificate has ended: another one has taken its place");
    if (!g->is_known && is_registered)
        return FAIL(e, FORBIDDEN, "This certificate is not in the register");
    return ERR_OK;
}

enum errc node_gate_fingerprint(struct str hex, uint8_t ret[FINGERPRINT_BYTES], struct err *e)
{
    return hex_decode(hex, ret, FINGERPRINT_BYTES) ? ERR_OK : FAIL(e, UNAUTHENTICATED, "Workers need a client certificate of their zone");
}

enum errc node_gate_ask(struct db_tx *tx, struct str identity, struct str fingerprint, struct db_ask **ret, struct err *e)
{
    uint8_t raw[FINGERPRINT_BYTES] = { 0 };
    TRY(node_gate_fingerprint(fingerprint, raw, e));
    *ret = db_ask(tx, &enrol_gate, ARGS(A_STR(identity), A_BYTES(raw, sizeof raw)));
    return ERR_OK;
}

enum errc node_gate_told(struct db_tx *tx, struct db_ask *ask, bool is_registered, struct uuid *ret_node, struct err *e)
{
    struct gate_facts g = { 0 };
    bool found;                         /* the statement begins with a row of its own */
    TRY(db_told_maybe(tx, ask, &g, &found, e));
    *ret_node = g.node_id;
    return node_gate_judge(&g, is_registered, e);
}

enum errc node_gate(struct db_tx *tx, struct str identity, struct str fingerprint, bool is_registered, struct uuid *ret_node,
                    struct err *e)
{
    struct db_ask *ask;
    TRY(node_gate_ask(tx, identity, fingerprint, &ask, e));
    return node_gate_told(tx, ask, is_registered, ret_node, e);
}
