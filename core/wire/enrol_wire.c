/* SPDX-License-Identifier: Apache-2.0 */
/* enrol_wire.c - the schemas of enrolment and renewal. */
#include "core/wire/enrol_wire.h"

SCHEMA_EXTERN(enrol_in, "A machine that wants in",
    FIELD(enrol_in, token, F_REQ, .min = 1, .max = 128, .doc = "The join token"), ENROL_CSR(enrol_in),
    FIELD(enrol_in, name, F_REQ, .min = 1, .max = 63, .check = check_node_name, .pattern_doc = NODE_NAME_PATTERN, .doc = "Name of the machine"),
    FIELD(enrol_in, zone, 0, .max = 31, .check = check_slug, .doc = "The zone it believes to stand in; must be the token's"),
    FIELD(enrol_in, pool, 0, .max = 63, .check = check_slug, .doc = "The pool it believes to belong to; must be the token's"));
SCHEMA_EXTERN(renew_in, "A machine's next certificate", ENROL_CSR(renew_in));
SCHEMA_EXTERN(enrol_out, "A machine's certificate",
    FIELD_ID(enrol_out, join_token_id, "jtk", 0, .doc = "The join token used"),
    FIELD(enrol_out, identity, 0, .doc = "Its name in the certificate: spiffe://ZONE/worker/POOL/NAME"),
    FIELD(enrol_out, certificate_pem, F_REQ, .max = ENROL_PEM_MAX, .doc = "The certificate"),
    FIELD(enrol_out, chain_pem, 0, .max = ENROL_PEM_MAX, .doc = "The zone's authority"),
    FIELD(enrol_out, not_after, 0, .doc = "When it ends; renew at half of its life"));

bool check_node_name(struct str s, const char **why)
{
    *why = "have 1 to 63 of a-z, 0-9, '-', '_' and '.', first a letter or digit";
    bool ok = s.len >= 1 && s.len <= 63;
    for (size_t i = 0; ok && i < s.len; i++) {
        char c = s.ptr[i];
        bool is_alnum = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        ok = is_alnum || (i > 0 && (c == '-' || c == '_' || c == '.'));
    }
    return ok;
}
