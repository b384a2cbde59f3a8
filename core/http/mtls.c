/* SPDX-License-Identifier: Apache-2.0 */
/* mtls.c - the peer of a TLS session, verified by our own hand; the only other user of GnuTLS beside libmicrohttpd.
 *
 * The chain is checked against the bundle of the zone that the peer names (mtls_trust.h), or, on a listener without bundles, by
 * gnutls_certificate_verify_peers2 against the CAs it was given (status 0 means no finding at all); the validity, key usage and identity checks are repeated here so that no default of the library can soften them. */
#include "core/http/mtls.h"

#include <string.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/http/mtls_int.h"

enum { SANS_MAX = 64, EKUS_MAX = 32, CHAIN_MAX = 4 };

static enum errc check_time(gnutls_x509_crt_t crt, int64_t now_s, int64_t *ret_not_after, struct err *e)
{
    time_t from = gnutls_x509_crt_get_activation_time(crt), to = gnutls_x509_crt_get_expiration_time(crt);
    if (from == (time_t)-1 || to == (time_t)-1 || now_s < (int64_t)from || now_s >= (int64_t)to)
        return FAIL(e, UNAUTHENTICATED, "The client certificate is not valid now");
    *ret_not_after = (int64_t)to;
    return ERR_OK;
}

static enum errc check_usage(gnutls_x509_crt_t crt, struct err *e)
{
    for (unsigned i = 0; i < EKUS_MAX; i++) {
        char oid[128];
        size_t n = sizeof oid;
        int rc = gnutls_x509_crt_get_key_purpose_oid(crt, i, oid, &n, NULL);
        if (rc == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE)
            break;
        if (rc == 0 && strcmp(oid, GNUTLS_KP_TLS_WWW_CLIENT) == 0)
            return ERR_OK;
    }
    return FAIL(e, UNAUTHENTICATED, "The client certificate is not made for clients");
}

/* An authority's certificate is not a machine's, even where it is valid. */
static enum errc check_leaf(gnutls_x509_crt_t crt, struct err *e)
{
    unsigned usage = 0;
    if (gnutls_x509_crt_get_ca_status(crt, NULL) > 0)
        return FAIL(e, UNAUTHENTICATED, "The client certificate is an authority's");
    if (gnutls_x509_crt_get_key_usage(crt, &usage, NULL) >= 0 && !(usage & GNUTLS_KEY_DIGITAL_SIGNATURE))
        return FAIL(e, UNAUTHENTICATED, "The client certificate's key is not made for signing");
    return ERR_OK;
}

enum errc mtls_identity(gnutls_x509_crt_t crt, struct arena *a, struct str *ret, struct err *e)
{
    struct str found = STR_NULL;
    for (unsigned i = 0;; i++) {
        char text[MTLS_URI_MAX + 1];
        size_t n = sizeof text;
        int rc = gnutls_x509_crt_get_subject_alt_name(crt, i, text, &n, NULL);
        if (rc == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE)
            break;
        if (rc < 0 || i >= SANS_MAX)
            return FAIL(e, UNAUTHENTICATED, "The client certificate's names cannot be read");
        if (rc != GNUTLS_SAN_URI)
            continue;
        if (found.ptr)
            return FAIL(e, UNAUTHENTICATED, "The client certificate has more than one identity");
        if (n == 0 || n > MTLS_URI_MAX || memchr(text, 0, n))
            return FAIL(e, UNAUTHENTICATED, "The client certificate's identity is not acceptable");
        found = str_dup(a, str_n(text, n));
    }
    if (!found.ptr)
        return FAIL(e, UNAUTHENTICATED, "The client certificate has no identity");
    *ret = found;
    return ERR_OK;
}

static enum errc fingerprint(const gnutls_datum_t *der, struct arena *a, struct str *ret, struct err *e)
{
    unsigned char digest[32];
    size_t n = sizeof digest;
    if (gnutls_fingerprint(GNUTLS_DIG_SHA256, der, digest, &n) != 0 || n != sizeof digest)
        return FAIL(e, UNAUTHENTICATED, "The client certificate has no fingerprint");
    char hex[2 * sizeof digest + 1];
    hex_encode(digest, sizeof digest, hex);
    *ret = str_dup(a, str_c(hex));
    return ERR_OK;
}

static struct str domain_of(struct str identity)
{
    struct str domain, rest;
    if (!str_starts(identity, "spiffe://"))
        return STR_NULL;
    str_cut(str_n(identity.ptr + 9, identity.len - 9), '/', &domain, &rest);
    return domain;
}

/* By the bundle of the zone that the peer says it is of; peer->identity is known. */
static enum errc check_anchor(struct mtls_trust *trust, const gnutls_datum_t *der, unsigned n, struct mtls_peer *peer, struct err *e)
{
    gnutls_x509_crt_t chain[CHAIN_MAX] = { 0 };
    unsigned made = 0;
    bool ok = n <= CHAIN_MAX;
    while (ok && made < n) {
        ok = gnutls_x509_crt_init(&chain[made]) == 0;
        made += ok;
        ok = ok && gnutls_x509_crt_import(chain[made - 1], &der[made - 1], GNUTLS_X509_FMT_DER) == 0;
    }
    ok = ok && mtls_trust_verify(trust, domain_of(peer->identity), chain, n, &peer->is_registered);
    for (unsigned i = 0; i < made; i++)
        gnutls_x509_crt_deinit(chain[i]);
    return ok ? ERR_OK : FAIL(e, UNAUTHENTICATED, "The client certificate does not verify");
}

enum errc mtls_verify(void *tls_session, struct mtls_trust *trust, int64_t now_s, struct arena *a, struct mtls_peer *ret, struct err *e)
{
    gnutls_session_t session = tls_session;
    if (!session)
        return FAIL(e, UNAUTHENTICATED, "This listener needs TLS with a client certificate");
    unsigned status = ~0u, count = 0;
    int rc = trust ? 0 : gnutls_certificate_verify_peers2(session, &status);
    if (rc == GNUTLS_E_NO_CERTIFICATE_FOUND)
        return FAIL(e, UNAUTHENTICATED, "A client certificate is needed");
    if (!trust && (rc != 0 || status != 0)) {
        FAIL(e, UNAUTHENTICATED, "The client certificate does not verify");
        return err_note(e, "verify_peers2 %d, status 0x%x", rc, status);
    }
    const gnutls_datum_t *chain = gnutls_certificate_get_peers(session, &count);
    if (!chain || count == 0 || gnutls_certificate_type_get2(session, GNUTLS_CTYPE_PEERS) != GNUTLS_CRT_X509)
        return FAIL(e, UNAUTHENTICATED, "A client certificate is needed");
    CLEANUP(mtls_crt_freep) gnutls_x509_crt_t crt = NULL;
    if (gnutls_x509_crt_init(&crt) != 0 || gnutls_x509_crt_import(crt, &chain[0], GNUTLS_X509_FMT_DER) != 0)
        return FAIL(e, UNAUTHENTICATED, "The client certificate cannot be read");
    struct mtls_peer peer = { 0 };
    TRY(check_time(crt, now_s, &peer.not_after_s, e));
    TRY(check_usage(crt, e));
    TRY(check_leaf(crt, e));
    TRY(mtls_identity(crt, a, &peer.identity, e));
    if (trust)
        TRY(check_anchor(trust, chain, count, &peer, e));
    TRY(fingerprint(&chain[0], a, &peer.fingerprint, e));
    *ret = peer;
    return ERR_OK;
}
