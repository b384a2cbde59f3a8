/* SPDX-License-Identifier: Apache-2.0 */
/* mtls.h - verifies the peer of a TLS connection, because libmicrohttpd only asks for a certificate and never demands one.
 *
 * Called on every request of a listener with client CAs. A peer is good when its chain verifies against the listener's CAs with
 * status 0 - where there are bundles per zone, against that of the zone in its name -, it is within its validity, no authority itself, its
 * EKU allows clientAuth, its key usage digitalSignature, and it has exactly one URI SAN, which becomes its identity.
 * Memory: the results live in the arena. Errors: UNAUTHENTICATED. Not offered: revocation lists (short-lived certificates and
 * the registry's quarantine do that). Source: RFC 5280 §4.2.1.12, SPIFFE X509-SVID §2. */
#pragma once
#include <stdint.h>
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/str.h"
#include "core/http/mtls_trust.h"

enum { MTLS_URI_MAX = 2048 };

struct mtls_peer {
    struct str identity;        /* the URI SAN */
    struct str fingerprint;     /* hex SHA-256 of the certificate */
    int64_t not_after_s;        /* good until then at the latest */
    bool is_registered;         /* anchored at an authority whose certificates all stand in the register */
};

/* tls_session: gnutls_session_t of the connection; trust NULL: the listener's own CAs; now_s: seconds since 1970. */
enum errc mtls_verify(void *tls_session, struct mtls_trust *trust, int64_t now_s, struct arena *a, struct mtls_peer *ret, struct err *e) MUST_CHECK;
