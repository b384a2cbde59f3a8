/* SPDX-License-Identifier: Apache-2.0 */
/* zone_ca.c - the shapes of certificates are decided here, where the key is, and nowhere else. */
#include "keys/zone_ca.h"
#include "core/crypto/ecdsa.h"
#include "core/crypto/x509.h"
#include "core/wire/lease_host.h"

struct signing {
    const struct key_provider *provider;
    void *p;
};

static enum errc sign_digest(void *ctx, const uint8_t digest[32], uint8_t ret_sig[64], struct err *e)
{
    const struct signing *s = ctx;
    return s->provider->ca_sign(s->p, digest, ret_sig, e);
}

static enum errc signer_of(struct arena *a, struct signing *s, struct str zone, struct x509_signer *ret, struct err *e)
{
    if (!s->provider->ca_sign || !s->provider->ca_public)
        return FAIL(e, UNAVAILABLE, "the key store of zone %.*s has no authority for worker certificates", STR_ARG(zone));
    *ret = (struct x509_signer){ .ctx = s, .sign = sign_digest, .common_name = str_fmt(a, "Falaj zone %.*s", STR_ARG(zone)),
                                 .trust_domain = str_fmt(a, "spiffe://%.*s", STR_ARG(zone)) };
    return s->provider->ca_public(s->p, ret->point, e);
}

/* One path segment of an identity: what it says is what every reader reads. */
static bool segment_is_good(struct str s)
{
    bool ok = s.len >= 1 && s.len <= ZONE_CA_NAME_MAX && s.ptr[0] != '.' && s.ptr[0] != '-';
    for (size_t i = 0; ok && i < s.len; i++) {
        char c = s.ptr[i];
        ok = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
    }
    return ok;
}

static enum errc check(const struct zone_ca_request *r, struct err *e)
{
    if (!segment_is_good(r->pool) || !segment_is_good(r->name))
        return FAIL(e, INVALID, "pool and name have 1 to %d of a-z, 0-9, '-', '_' and '.', and begin with a letter or digit", ZONE_CA_NAME_MAX);
    if (r->lifetime_s == 0 || r->lifetime_s > ZONE_CA_LIFETIME_MAX_S)
        return FAIL(e, INVALID, "a worker certificate lives 1 to %d seconds", ZONE_CA_LIFETIME_MAX_S);
    if (r->csr_pem.len > ZONE_CA_CSR_MAX)
        return FAIL(e, TOO_LARGE, "a certificate request has at most %d bytes", ZONE_CA_CSR_MAX);
    return ERR_OK;
}

/* Only what is 32 hex digits becomes part of a name, so the name is that of a lease whoever asks. */
static enum errc shape_of_lease(struct arena *a, struct str zone, const struct zone_ca_request *r, struct x509_req *req,
                                struct err *e)
{
    struct uuid attempt;
    char hex[UUID_HEX], *host = arena_alloc(a, LEASE_HOST_MAX);
    if (!hex_decode(r->lease, attempt.b, sizeof attempt.b) || !lease_host(attempt, zone, host))
        return FAIL(e, INVALID, "a lease is named by the 32 hex digits of its attempt");
    const char **dns = ARENA_ARRAY(a, const char *, 2);
    dns[0] = host;
    dns[1] = NULL;
    hex_encode(attempt.b, sizeof attempt.b, hex);
    *req = (struct x509_req){ .common_name = str_dup(a, str_c(hex)), .dns = dns, .is_server = true, .lifetime_s = r->lifetime_s,
        .uri_san = str_fmt(a, "spiffe://%.*s/lease/%.*s/%.*s/%s", STR_ARG(zone), STR_ARG(r->pool), STR_ARG(r->name), hex) };
    return ERR_OK;
}

enum errc zone_ca_issue(struct arena *a, const struct key_provider *provider, void *p, struct str zone, const struct zone_ca_request *r,
                        int64_t now_us, struct str *ret_pem, struct err *e)
{
    struct signing s = { provider, p };
    struct x509_signer signer;
    TRY(check(r, e));
    TRY(signer_of(a, &s, zone, &signer, e));
    struct x509_req req = { .common_name = r->name, .is_client = true, .lifetime_s = r->lifetime_s,
        .uri_san = str_fmt(a, "spiffe://%.*s/worker/%.*s/%.*s", STR_ARG(zone), STR_ARG(r->pool), STR_ARG(r->name)) };
    if (r->lease.len)
        TRY(shape_of_lease(a, zone, r, &req, e));
    return x509_signer_csr(a, &signer, r->csr_pem, &req, now_us, ret_pem, e);
}

enum errc zone_ca_certificate(struct arena *a, const struct key_provider *provider, void *p, struct str zone, struct str *ret_pem,
                              struct err *e)
{
    struct signing s = { provider, p };
    struct x509_signer signer;
    TRY(signer_of(a, &s, zone, &signer, e));
    return x509_signer_ca(a, &signer, ret_pem, e);
}
