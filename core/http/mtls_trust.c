/* SPDX-License-Identifier: Apache-2.0 */
/* mtls_trust.c - a list of authorities, each alone in a GnuTLS trust list of its own, so that a chain is anchored at that one or not.
 * An installation has a few zones: a walk over the list costs less than the signature it finds. */
#include "core/http/mtls_trust.h"

#include <pthread.h>
#include <stdlib.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/http/mtls_int.h"

enum { BUNDLE_MAX = 64, PEM_MAX = 1 << 20, PEM_ONE_MAX = 16384 };

struct authority {
    char domain[MTLS_DOMAIN_MAX + 1];
    bool is_registered;
    gnutls_x509_trust_list_t list;
    struct buf pem;
};

struct mtls_trust {
    pthread_rwlock_t lock;          /* guards the rest */
    struct authority all[MTLS_AUTHORITIES_MAX];
    size_t n;
};

struct mtls_trust *mtls_trust_new(void)
{
    struct mtls_trust *t = calloc(1, sizeof *t);
    ASSERT(t);
    ASSERT(pthread_rwlock_init(&t->lock, NULL) == 0);
    return t;
}

void mtls_trust_free(struct mtls_trust *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n; i++) {
        gnutls_x509_trust_list_deinit(t->all[i].list, 1);
        buf_release(&t->all[i].pem);
    }
    pthread_rwlock_destroy(&t->lock);
    free(t);
}

/* "spiffe://<domain>" of the authority's own certificate. */
static enum errc own_domain(gnutls_x509_crt_t crt, struct arena *a, struct str *ret, struct err *e)
{
    struct str uri;
    if (mtls_identity(crt, a, &uri, NULL) != ERR_OK || !str_starts(uri, "spiffe://") || uri.len == 9)
        return FAIL(e, INVALID, "an authority for workers names its zone by one URI, spiffe://ZONE; give it as ZONE=FILE if it cannot");
    *ret = str_n(uri.ptr + 9, uri.len - 9);
    return ERR_OK;
}

static bool is_there(const struct mtls_trust *t, struct str domain, const struct buf *pem, bool is_registered)
{
    for (size_t i = 0; i < t->n; i++)
        if (str_eq_c(domain, t->all[i].domain) && t->all[i].is_registered == is_registered && str_eq(buf_str(&t->all[i].pem), buf_str(pem)))
            return true;
    return false;
}

/* Takes crt over, whatever happens. */
static enum errc add_one(struct mtls_trust *t, struct str domain, gnutls_x509_crt_t crt, bool is_registered, struct err *e)
{
    gnutls_datum_t out = { 0 };
    struct buf pem = BUF(PEM_ONE_MAX);
    gnutls_x509_trust_list_t list = NULL;
    enum errc rc = ERR_OK;
    if (domain.len == 0 || domain.len > MTLS_DOMAIN_MAX || memchr(domain.ptr, '/', domain.len))
        rc = FAIL(e, INVALID, "%.*s is not the name of a zone", STR_ARG(domain));
    else if (gnutls_x509_crt_get_ca_status(crt, NULL) <= 0)
        rc = FAIL(e, INVALID, "the certificate for zone %.*s is not an authority's", STR_ARG(domain));
    else if (gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, &out) != 0 || !buf_add(&pem, out.data, out.size))
        rc = FAIL(e, INVALID, "the authority of zone %.*s cannot be read", STR_ARG(domain));
    gnutls_free(out.data);
    bool is_new = rc == ERR_OK && !is_there(t, domain, &pem, is_registered);
    if (is_new && t->n == MTLS_AUTHORITIES_MAX)
        rc = FAIL(e, LIMIT, "there are more than %d authorities for workers", MTLS_AUTHORITIES_MAX);
    is_new = is_new && rc == ERR_OK && gnutls_x509_trust_list_init(&list, 0) == 0 && gnutls_x509_trust_list_add_cas(list, &crt, 1, 0) == 1;
    if (is_new) {
        struct authority *a = &t->all[t->n++];
        memcpy(a->domain, domain.ptr, domain.len);
        a->is_registered = is_registered;
        a->list = list;
        a->pem = pem;
        return ERR_OK;
    }
    if (list)
        gnutls_x509_trust_list_deinit(list, 0);
    buf_release(&pem);
    gnutls_x509_crt_deinit(crt);
    return rc;
}

enum errc mtls_trust_add(struct mtls_trust *t, struct str domain, struct str pem, bool is_registered, struct err *e)
{
    gnutls_x509_crt_t crts[BUNDLE_MAX];
    unsigned n = BUNDLE_MAX;
    const gnutls_datum_t in = { (unsigned char *)(uintptr_t)pem.ptr, (unsigned)pem.len };
    if (pem.len == 0 || pem.len > PEM_MAX || gnutls_x509_crt_list_import(crts, &n, &in, GNUTLS_X509_FMT_PEM, GNUTLS_X509_CRT_LIST_IMPORT_FAIL_IF_EXCEED) <= 0)
        return FAIL(e, INVALID, "that is not a bundle of 1 to %d certificates in PEM", BUNDLE_MAX);
    enum errc rc = ERR_OK;
    CLEANUP(arena_freep) struct arena *a = arena_new(64 * 1024);
    pthread_rwlock_wrlock(&t->lock);
    for (unsigned i = 0; i < n; i++) {
        struct str own = domain;
        if (rc == ERR_OK && !domain.ptr)
            rc = own_domain(crts[i], a, &own, e);
        if (rc == ERR_OK)
            rc = add_one(t, own, crts[i], is_registered, e);
        else
            gnutls_x509_crt_deinit(crts[i]);
    }
    pthread_rwlock_unlock(&t->lock);
    return rc;
}

bool mtls_trust_has(struct mtls_trust *t, struct str domain, bool is_registered)
{
    bool found = false;
    pthread_rwlock_rdlock(&t->lock);
    for (size_t i = 0; i < t->n && !found; i++)
        found = t->all[i].is_registered == is_registered && str_eq_c(domain, t->all[i].domain);
    pthread_rwlock_unlock(&t->lock);
    return found;
}

struct str mtls_trust_pem(struct mtls_trust *t, struct arena *a)
{
    CLEANUP(buf_releasep) struct buf all = BUF(MTLS_AUTHORITIES_MAX * PEM_ONE_MAX);
    pthread_rwlock_rdlock(&t->lock);
    for (size_t i = 0; i < t->n; i++)
        buf_add_str(&all, buf_str(&t->all[i].pem));
    pthread_rwlock_unlock(&t->lock);
    return str_dup(a, buf_str(&all));
}

bool mtls_trust_verify(struct mtls_trust *t, struct str domain, gnutls_x509_crt_t *chain, unsigned n, bool *ret_registered)
{
    gnutls_typed_vdata_st purpose = { .type = GNUTLS_DT_KEY_PURPOSE_OID, .data = (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_CLIENT };
    bool good = false;
    pthread_rwlock_rdlock(&t->lock);
    for (size_t i = 0; i < t->n && !good; i++) {
        unsigned status = ~0u;
        if (!str_eq_c(domain, t->all[i].domain))
            continue;
        good = gnutls_x509_trust_list_verify_crt2(t->all[i].list, chain, n, &purpose, 1, 0, &status, NULL) == 0 && status == 0;
        if (good)
            *ret_registered = t->all[i].is_registered;
    }
    pthread_rwlock_unlock(&t->lock);
    return good;
}
