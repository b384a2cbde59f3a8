/* SPDX-License-Identifier: Apache-2.0 */
/* zone_ca.h - the zone's authority for certificates of machines and of leases, inside falaj-keyd: the rules, and the signing.
 *
 * Whoever may call falaj-keyd gets certificates of these two shapes and of no other, KU digitalSignature, no longer than
 * ZONE_CA_LIFETIME_MAX_S:
 *   a machine  URI SAN spiffe://<own zone>/worker/<pool>/<name>, EKU clientAuth: it calls falaj-api and serves nothing
 *   a lease    URI SAN spiffe://<own zone>/lease/<pool>/<name>/<attempt>, DNS SAN of core/wire/lease_host.h, EKU serverAuth:
 *              its process answers falaj-api and can call nobody with it
 * From a request only the key is taken, after its signature was checked. So falaj-api, taken over, can make workers of its zones
 * and neither an API, nor an authority, nor a worker of another zone.
 * The key is the provider's (ca_sign, ca_public); its certificate names the zone as its trust domain. Memory: the arena. */
#pragma once
#include "core/base/arena.h"
#include "core/base/str.h"
#include "keys/provider.h"

enum { ZONE_CA_LIFETIME_MAX_S = 7 * 86400, ZONE_CA_NAME_MAX = 63, ZONE_CA_CSR_MAX = 8192 };

struct zone_ca_request {
    struct str pool, name;
    struct str lease;           /* the attempt whose process it is for, 32 hex digits; empty: for the machine itself */
    struct str csr_pem;
    uint32_t lifetime_s;
};

/* INVALID names what a request may not ask for; SEALED as the provider says; UNAVAILABLE: a provider without authority. */
MUST_CHECK enum errc zone_ca_issue(struct arena *a, const struct key_provider *provider, void *p, struct str zone,
                                   const struct zone_ca_request *r, int64_t now_us, struct str *ret_pem, struct err *e);
MUST_CHECK enum errc zone_ca_certificate(struct arena *a, const struct key_provider *provider, void *p, struct str zone,
                                         struct str *ret_pem, struct err *e);
