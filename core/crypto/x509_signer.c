/* SPDX-License-Identifier: Apache-2.0 */
/* x509_signer.c - certificates of an authority whose key cannot be had: the body is made here, its digest signed elsewhere.
 *
 * OpenSSL signs only with keys it holds. So the body is signed once with a key that is thrown away, which fixes the algorithm
 * fields; then the certificate is put together from that body and the signature of the real key (RFC 5280 §4.1: a SEQUENCE of body,
 * algorithm, BIT STRING), and verified with the authority's public key before anybody sees it. */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/crypto/ecdsa.h"
#include "core/crypto/x509_int.h"

/* The authority's certificate names its key, not its age: 2026-01-01 to 2056-01-01. A zone gets another authority with another key. */
#define CA_FROM_US INT64_C(1767225600000000)
enum { CA_LIFETIME_S = 30 * 365 * 86400, BODY_MAX = 8192, SIG_DER_MAX = 80 };

static const uint8_t ecdsa_with_sha256[] = { 0x30, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02 };
/* SubjectPublicKeyInfo of a P-256 key up to its point (RFC 5480). */
static const uint8_t spki_head[] = { 0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86,
                                     0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00 };

static void pkey_freep(EVP_PKEY **k)
{
    EVP_PKEY_free(*k);
}
static void x509_freep(X509 **c)
{
    X509_free(*c);
}
static void der_freep(uint8_t **p)
{
    OPENSSL_free(*p);
}

static EVP_PKEY *signer_key(const struct x509_signer *s)
{
    uint8_t der[sizeof spki_head + sizeof s->point];
    memcpy(der, spki_head, sizeof spki_head);
    memcpy(der + sizeof spki_head, s->point, sizeof s->point);
    const uint8_t *at = der;
    return d2i_PUBKEY(NULL, &at, sizeof der);
}

static size_t put_length(uint8_t *out, size_t n)
{
    if (n < 128) {
        out[0] = (uint8_t)n;
        return 1;
    }
    if (n < 256) {
        out[0] = 0x81;
        out[1] = (uint8_t)n;
        return 2;
    }
    out[0] = 0x82;
    out[1] = (uint8_t)(n >> 8);
    out[2] = (uint8_t)n;
    return 3;
}

/* r || s as ECDSA-Sig-Value (RFC 3279 §2.2.3). */
static size_t signature_der(const uint8_t sig[64], uint8_t out[SIG_DER_MAX])
{
    size_t n = 2;
    for (int half = 0; half < 2; half++) {
        const uint8_t *v = sig + 32 * half;
        size_t skip = 0;
        while (skip < 31 && v[skip] == 0)
            skip++;
        size_t pad = v[skip] >> 7, len = 32 - skip + pad;
        out[n++] = 0x02;
        out[n++] = (uint8_t)len;
        if (pad)
            out[n++] = 0;
        memcpy(out + n, v + skip, 32 - skip);
        n += 32 - skip;
    }
    out[0] = 0x30;
    out[1] = (uint8_t)(n - 2);
    return n;
}

static X509 *assemble(const uint8_t *body, size_t body_len, const uint8_t sig[64])
{
    uint8_t der[BODY_MAX + 256], value[SIG_DER_MAX];
    size_t sig_len = signature_der(sig, value), n = 0;
    size_t inner = body_len + sizeof ecdsa_with_sha256 + 2 + 1 + sig_len;
    der[n++] = 0x30;
    n += put_length(der + n, inner);
    memcpy(der + n, body, body_len);
    n += body_len;
    memcpy(der + n, ecdsa_with_sha256, sizeof ecdsa_with_sha256);
    n += sizeof ecdsa_with_sha256;
    der[n++] = 0x03;
    der[n++] = (uint8_t)(sig_len + 1);
    der[n++] = 0;
    memcpy(der + n, value, sig_len);
    n += sig_len;
    const uint8_t *at = der;
    return d2i_X509(NULL, &at, (long)n);
}

/* cert has its body; key is the authority's public one. */
static enum errc sign(struct arena *a, const struct x509_signer *s, EVP_PKEY *key, X509 *cert, struct str *ret, struct err *e)
{
    uint8_t digest[SHA256_BYTES], sig[64];
    CLEANUP(pkey_freep) EVP_PKEY *thrown_away = EVP_EC_gen("P-256");
    CLEANUP(der_freep) uint8_t *body = NULL;
    if (!thrown_away || X509_sign(cert, thrown_away, EVP_sha256()) <= 0)
        return x509_broken(e, "making the certificate");
    int n = i2d_re_X509_tbs(cert, &body);
    if (n <= 0 || n > BODY_MAX)
        return FAIL(e, LIMIT, "the certificate is too long");
    sha256(body, (size_t)n, digest);
    TRY(s->sign(s->ctx, digest, sig, e));
    CLEANUP(x509_freep) X509 *whole = assemble(body, (size_t)n, sig);
    if (!whole || X509_verify(whole, key) != 1)
        return x509_broken(e, "signing the certificate");
    return x509_text(a, whole, ret, e);
}

/* The authority's certificate, but for its signature. The serial number follows from the key. */
static enum errc ca_body(const struct x509_signer *s, EVP_PKEY *key, X509 *cert, struct err *e)
{
    uint8_t serial[SHA256_BYTES];
    TRY(x509_fill_ca(cert, key, s->common_name, s->trust_domain, CA_FROM_US, CA_LIFETIME_S, e));
    sha256(s->point, sizeof s->point, serial);
    serial[0] = (serial[0] & 0x7f) | 0x40;
    BIGNUM *number = BN_bin2bn(serial, 16, NULL);
    bool ok = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert));
    BN_free(number);
    return ok ? ERR_OK : x509_broken(e, "making the authority");
}

enum errc x509_signer_ca(struct arena *a, const struct x509_signer *s, struct str *ret_cert_pem, struct err *e)
{
    CLEANUP(pkey_freep) EVP_PKEY *key = signer_key(s);
    CLEANUP(x509_freep) X509 *cert = X509_new();
    if (!key || !cert)
        return x509_broken(e, "reading the authority's key");
    TRY(ca_body(s, key, cert, e));
    return sign(a, s, key, cert, ret_cert_pem, e);
}

enum errc x509_signer_csr(struct arena *a, const struct x509_signer *s, struct str csr_pem, const struct x509_req *req, int64_t now_us,
                          struct str *ret_cert_pem, struct err *e)
{
    CLEANUP(pkey_freep) EVP_PKEY *key = signer_key(s);
    CLEANUP(pkey_freep) EVP_PKEY *subject = NULL;
    CLEANUP(x509_freep) X509 *ca = X509_new();
    CLEANUP(x509_freep) X509 *cert = X509_new();
    if (!key || !ca || !cert)
        return x509_broken(e, "reading the authority's key");
    TRY(x509_csr_key(csr_pem, &subject, e));
    TRY(ca_body(s, key, ca, e));
    TRY(x509_fill_leaf(cert, ca, subject, req, now_us, e));
    return sign(a, s, key, cert, ret_cert_pem, e);
}
