/* SPDX-License-Identifier: Apache-2.0 */
/* x509_int.h - the making of certificates up to their signature, for authorities with and without their key at hand. */
#pragma once
#include <openssl/evp.h>
#include <openssl/x509.h>
#include "core/crypto/x509.h"

enum errc x509_broken(struct err *e, const char *what);
MUST_CHECK enum errc x509_text(struct arena *a, X509 *cert, struct str *ret, struct err *e);
MUST_CHECK enum errc x509_fill_ca(X509 *cert, EVP_PKEY *key, struct str common_name, struct str trust_domain, int64_t now_us,
                                  int64_t lifetime_s, struct err *e);
MUST_CHECK enum errc x509_fill_leaf(X509 *cert, X509 *ca, EVP_PKEY *key, const struct x509_req *req, int64_t now_us, struct err *e);
/* The key of a request that its holder signed; P-256 only. The caller frees it. */
MUST_CHECK enum errc x509_csr_key(struct str csr_pem, EVP_PKEY **ret, struct err *e);
