/* SPDX-License-Identifier: Apache-2.0 */
/* x509.h - a small certificate authority: ECDSA P-256 roots, and leaf certificates for workers and servers.
 *
 * A worker certificate has exactly one URI SAN, "spiffe://<zone>/worker/<pool>/<id>" (X509-SVID), and EKU clientAuth. Serial
 * numbers are 16 random bytes; notBefore is five minutes in the past, against clock skew. x509_issue makes the key too;
 * x509_sign_csr takes only the public key from a request, after checking that the requester holds it, and every name from req.
 * Memory: PEM texts live in the arena given. Files are written 0600, by rename. Sources: RFC 5280, SPIFFE X509-SVID. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/base/arena.h"
#include "core/base/str.h"

/* A certificate says it holds since so long before it was made, against clock skew. */
enum { X509_BACKDATE_S = 300 };

struct x509_pair {
    struct str cert_pem;        /* x509_make_csr: the request */
    struct str key_pem;         /* PKCS#8; empty where only the other side has it */
};

struct x509_req {
    struct str common_name;
    struct str uri_san;         /* at most one; may be absent */
    const char *const *dns;     /* NULL-terminated, may be NULL */
    const char *const *ip;      /* NULL-terminated, may be NULL */
    bool is_client, is_server;
    int64_t lifetime_s;
};

/* trust_domain: "spiffe://<zone>", the only domain whose names this authority's certificates may carry (core/http/mtls.h). */
MUST_CHECK enum errc x509_make_ca(struct arena *a, struct str common_name, struct str trust_domain, int64_t now_us, int64_t lifetime_s,
                                  struct x509_pair *ret, struct err *e);
MUST_CHECK enum errc x509_issue(struct arena *a, const struct x509_pair *ca, const struct x509_req *req, int64_t now_us,
                                struct x509_pair *ret, struct err *e);
MUST_CHECK enum errc x509_make_csr(struct arena *a, struct str common_name, struct x509_pair *ret, struct err *e);
/* A request for a key that is there already (PKCS#8). */
MUST_CHECK enum errc x509_csr_of(struct arena *a, struct str common_name, struct str key_pem, struct str *ret_csr_pem, struct err *e);
MUST_CHECK enum errc x509_sign_csr(struct arena *a, const struct x509_pair *ca, struct str csr_pem, const struct x509_req *req,
                                   int64_t now_us, struct str *ret_cert_pem, struct err *e);

/* An authority whose key is elsewhere (a token, another process): it signs digests. Its certificate is made anew from the key
 * whenever it is asked for; two of them differ in their signature alone, and each verifies what the other one issued. */
struct x509_signer {
    void *ctx;
    enum errc (*sign)(void *ctx, const uint8_t digest[32], uint8_t ret_sig[64], struct err *e);     /* core/crypto/ecdsa.h */
    uint8_t point[65];
    struct str common_name, trust_domain;
};
MUST_CHECK enum errc x509_signer_ca(struct arena *a, const struct x509_signer *s, struct str *ret_cert_pem, struct err *e);
MUST_CHECK enum errc x509_signer_csr(struct arena *a, const struct x509_signer *s, struct str csr_pem, const struct x509_req *req,
                                     int64_t now_us, struct str *ret_cert_pem, struct err *e);

/* What a certificate says; uri_count counts all URI SANs, uri is the first. */
struct x509_facts {
    struct str common_name, uri;
    int uri_count;
    int64_t not_before_us, not_after_us;
    bool is_ca, is_client, is_server;
    uint8_t fingerprint[32];    /* SHA-256 of the DER */
    uint8_t key_sha[32];        /* SHA-256 of the public key's bit string (RFC 5280 §4.1.2.7) */
};
MUST_CHECK enum errc x509_read(struct arena *a, struct str cert_pem, struct x509_facts *ret, struct err *e);
/* Does the chain leaf -> CA hold at that time? FORBIDDEN with the reason if not. */
MUST_CHECK enum errc x509_verify(struct str cert_pem, struct str ca_pem, int64_t now_us, struct err *e);
/* Either path may be NULL. */
MUST_CHECK enum errc x509_write(const struct x509_pair *p, const char *cert_path, const char *key_path, struct err *e);
