/* SPDX-License-Identifier: Apache-2.0 */
/* enrol_wire.h - what a machine and falaj-api say to each other about its certificate: POST /v1/enrol with a join token over the
 * people's listener, POST /v1/nodes/renew with the certificate before over the workers' one. Both ends read and write by these
 * schemas. */
#pragma once
#include "core/table/schema.h"

enum { ENROL_CSR_MAX = 8192, ENROL_PEM_MAX = 65536 };

struct enrol_in { struct str token, csr_pem, name, zone, pool; };
struct renew_in { struct str csr_pem; };
struct enrol_out { struct uuid join_token_id; struct str identity, certificate_pem, chain_pem; struct timestamp not_after; };
extern const struct schema enrol_in_schema, renew_in_schema, enrol_out_schema;

/* The member csr_pem of a schema. */
#define ENROL_CSR(T)                                               \
    FIELD(T, csr_pem, F_REQ, .min = 1, .max = ENROL_CSR_MAX,       \
          .doc = "Certificate request (PKCS#10, PEM) of a P-256 key; only the key is taken from it")

/* Of a name in a certificate: 1 to 63 of a-z, 0-9, '-', '_', '.', first a letter or digit. For .check. */
bool check_node_name(struct str s, const char **why);
#define NODE_NAME_PATTERN "^[a-z0-9][a-z0-9._-]{0,62}$"
