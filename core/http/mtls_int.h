/* SPDX-License-Identifier: Apache-2.0 */
/* mtls_int.h - GnuTLS as mtls.c and mtls_trust.c share it. */
#pragma once
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include "core/http/mtls.h"

static inline void mtls_crt_freep(gnutls_x509_crt_t *c)
{
    if (*c)
        gnutls_x509_crt_deinit(*c);
    *c = NULL;
}

/* The one URI SAN of a certificate; UNAUTHENTICATED for none or more. */
enum errc mtls_identity(gnutls_x509_crt_t crt, struct arena *a, struct str *ret, struct err *e) MUST_CHECK;
/* Is the chain anchored at an authority of that domain, fit for a TLS client? *ret_registered: of which kind. */
bool mtls_trust_verify(struct mtls_trust *t, struct str domain, gnutls_x509_crt_t *chain, unsigned n, bool *ret_registered);
