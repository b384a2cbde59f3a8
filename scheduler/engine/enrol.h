/* SPDX-License-Identifier: Apache-2.0 */
/* enrol.h - how a machine gets its certificate, gets the next one, and is looked up at each of its calls.
 *
 *     join token --node_enrol--> certificate --node_renew, at half its life--> certificate …      node_gate at every call
 *
 * Invariants: every certificate of a machine that falaj-keyd signed for us stands in node_cert in the transaction that hands it
 * out; a machine has one name, and only a token made for that name takes it from another machine, whose certificate ends at that
 * moment; a renewed certificate ends ENROL_OVERLAP_S after its successor was made; a machine in quarantine gets neither.
 * Calling order: node_enrol in the platform's scope (falaj_app); node_renew and node_gate in the system scope (falaj_worker_api).
 * Memory: w->arena. Errors: UNAUTHENTICATED, EXISTS (the name is taken), FORBIDDEN (quarantine; a certificate that ended or is not
 * known), INVALID (the request), UNAVAILABLE and SEALED (falaj-keyd of the zone). */
#pragma once
#include "core/base/work.h"
#include "core/wire/enrol_wire.h"
#include "scheduler/engine/join_token.h"

struct db_ask;
struct db_tx;
struct stmt;

enum { ENROL_OVERLAP_S = 600 };

struct node_credential {
    struct uuid join_token_id;              /* node_enrol */
    struct str identity, certificate_pem, chain_pem, fingerprint;
    struct timestamp not_after;
    uint8_t key_sha[32];                    /* of its public key */
};
struct node_enrol_request {
    struct str token, csr_pem, name;
    struct str zone, pool;                  /* what the machine believes; STR_NULL: nothing */
};

enum errc node_enrol(struct work *w, const struct node_enrol_request *r, struct node_credential *ret, struct err *e) MUST_CHECK;
/* identity: of the certificate of this call. FORBIDDEN for another public key than that of the live certificates of this machine:
 * who has read a certificate's key for a moment does not make it last. A new key takes a join token. */
enum errc node_renew(struct work *w, struct str identity, struct str csr_pem, struct node_credential *ret, struct err *e) MUST_CHECK;

/* For the process that serves a lease: its name is the lease (core/wire/lease_host.h), so it holds as long as falaj-api calls
 * that lease and stands in no register; node.lease_cert_ms bounds it besides. The caller has proved the lease (lease_check).
 * identity and zone: of the machine and its lease; FORBIDDEN when they are of two zones. */
enum errc node_lease_sign(struct work *w, struct str identity, struct str zone, struct uuid attempt_id, struct str csr_pem,
                          struct node_credential *ret, struct err *e) MUST_CHECK;

/* What the register says of who calls. As columns of a statement whose $1 is the identity and $2 the fingerprint. */
struct gate_facts {
    struct uuid node_id;                /* nil before it has registered */
    struct str state;                   /* empty likewise */
    bool is_known, is_current;          /* its certificate stands in the register, and has not ended */
};
#define GATE_SAYS                                                                                                            \
    "n.node_id, coalesce(n.state, '') AS state, c.identity IS NOT NULL AS is_known,\n"                                      \
    "       coalesce(c.ends_at > clock_timestamp(), false) AS is_current"
#define GATE_FROM                                                                                                            \
    "(SELECT $1::text AS identity, $2::bytea AS fingerprint) i LEFT JOIN node n ON n.identity = i.identity\n"               \
    "  LEFT JOIN node_cert c ON c.fingerprint = i.fingerprint AND c.identity = i.identity"
/* May it call at all? FORBIDDEN says why not. */
enum errc node_gate_judge(const struct gate_facts *g, bool is_registered, struct err *e) MUST_CHECK;
/* The bytes of a fingerprint in hex. UNAUTHENTICATED: there is no certificate. */
enum { FINGERPRINT_BYTES = 32 };
enum errc node_gate_fingerprint(struct str hex, uint8_t ret[FINGERPRINT_BYTES], struct err *e) MUST_CHECK;

/* Before anything else a machine may do. is_registered: its authority's certificates all
 * stand in node_cert (core/http/mtls.h). *ret_node: nil before it has registered. */
enum errc node_gate(struct db_tx *tx, struct str identity, struct str fingerprint, bool is_registered, struct uuid *ret_node,
                    struct err *e) MUST_CHECK;
/* The same in two steps, between which other reads may be asked (db_ask). Who asked must be told before anything is written. */
enum errc node_gate_ask(struct db_tx *tx, struct str identity, struct str fingerprint, struct db_ask **ret,
                        struct err *e) MUST_CHECK;
enum errc node_gate_told(struct db_tx *tx, struct db_ask *ask, bool is_registered, struct uuid *ret_node,
                         struct err *e) MUST_CHECK;

extern const struct stmt *const enrol_stmts[];              /* people's listener */
extern const struct stmt *const enrol_node_stmts[];         /* worker listener */
