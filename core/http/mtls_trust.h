/* SPDX-License-Identifier: Apache-2.0 */
/* mtls_trust.h - which authority may speak for which zone: the trust bundles of a listener, one per trust domain (SPIFFE X509-SVID §4).
 *
 * An authority counts for one zone and for no other, so the authority of zone A cannot make names of zone B. Authorities are added
 * while the listener runs; none is taken away before the process ends.
 * Calling order: mtls_trust_new -> mtls_trust_add* (any thread) -> mtls_trust_free after the listeners that use it.
 * Source: the validator of Envoy's SPIFFE support has the same rule, a bundle chosen by the trust domain of the peer's name. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/str.h"

enum { MTLS_AUTHORITIES_MAX = 256, MTLS_DOMAIN_MAX = 63 };

struct mtls_trust;

struct mtls_trust *mtls_trust_new(void);
void mtls_trust_free(struct mtls_trust *t);     /* NULL is fine */
/* pem: one authority or several. domain STR_NULL: each names its own by its one URI SAN, "spiffe://<domain>", else INVALID.
 * is_registered: what it issues stands in the register of certificates, and what does not is refused by whoever looks there.
 * An authority that is there already changes nothing. */
MUST_CHECK enum errc mtls_trust_add(struct mtls_trust *t, struct str domain, struct str pem, bool is_registered, struct err *e);
bool mtls_trust_has(struct mtls_trust *t, struct str domain, bool is_registered);
/* All of them, as PEM. */
struct str mtls_trust_pem(struct mtls_trust *t, struct arena *a);
