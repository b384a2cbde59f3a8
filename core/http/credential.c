/* SPDX-License-Identifier: Apache-2.0 */
/* credential.c - the certificate of a TLS listener that is replaced while it runs.
 *
 * The daemon's own certificate is what the listener started with. http_server_renew leaves a newer one at each loop; the loop takes it up at
 * its next connection, before the handshake, and gives it to that session instead. Sessions point at what they were made with, so an older
 * one is freed only when its last connection is gone: by the reaper, between two turns of the daemon, when no session of it can be left. */
#include "core/http/server_int.h"

#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/assert.h"

struct http_credential {
    struct http_credential *next;       /* older */
    gnutls_certificate_credentials_t tls;
    size_t conns;
};

static void credential_free(struct http_credential *c)
{
    if (!c)
        return;
    gnutls_certificate_free_credentials(c->tls);
    free(c);
}

static gnutls_datum_t datum(const char *p, size_t n)
{
    return (gnutls_datum_t){ (unsigned char *)(uintptr_t)p, (unsigned)n };
}

static enum errc credential_new(const struct http_server *s, struct str cert_pem, struct str key_pem,
    struct http_credential **ret,
                                struct err *e)
{
    struct http_credential *c = calloc(1, sizeof *c);
    ASSERT(c);
    ASSERT(gnutls_certificate_allocate_credentials(&c->tls) == 0);
    gnutls_datum_t cert = datum(cert_pem.ptr, cert_pem.len), key = datum(key_pem.ptr, key_pem.len), ca = datum(s->ca,
        s->ca ? strlen(s->ca) : 0);
    int rc = gnutls_certificate_set_x509_key_mem(c->tls, &cert, &key, GNUTLS_X509_FMT_PEM);
    if (rc >= 0 && s->ca)
        rc = gnutls_certificate_set_x509_trust_mem(c->tls, &ca, GNUTLS_X509_FMT_PEM);
    if (rc < 0) {
        credential_free(c);
        FAIL(e, INVALID, "the new certificate is none of the listener's key");
        return err_note(e, "%s", gnutls_strerror(rc));
    }
    *ret = c;
    return ERR_OK;
}

enum errc http_server_renew(struct http_server *s, struct str cert_pem, struct err *e)
{
    return http_server_renew_pair(s, cert_pem, s->key ? str_c(s->key) : STR_NULL, e);
}

enum errc http_server_renew_pair(struct http_server *s, struct str cert_pem, struct str key_pem, struct err *e)
{
    if (!s->key)
        return FAIL(e, INVALID, "the listener speaks no TLS");
    for (int i = 0; i < s->nloops; i++) {
        struct http_loop *l = &s->loops[i];
        struct http_credential *c, *before;
        TRY(credential_new(s, cert_pem, key_pem, &c, e));
        pthread_mutex_lock(&l->mutex);
        before = l->fresh;
        l->fresh = c;
        pthread_mutex_unlock(&l->mutex);
        credential_free(before);        /* no connection came in between */
    }
    return ERR_OK;
}

struct http_credential *credential_give(struct http_loop *l, void *tls_session)
{
    pthread_mutex_lock(&l->mutex);
    struct http_credential *c = l->fresh;
    l->fresh = NULL;
    pthread_mutex_unlock(&l->mutex);
    if (c) {
        c->next = l->credentials;
        l->credentials = c;
    }
    c = l->credentials;
    if (!c || !tls_session || gnutls_credentials_set(tls_session, GNUTLS_CRD_CERTIFICATE, c->tls) != 0)
        return NULL;
    c->conns++;
    return c;
}

void credential_take_back(struct http_credential *c)
{
    if (c)
        c->conns--;
}

void credential_sweep(struct http_loop *l)
{
    struct http_credential **at = l->credentials ? &l->credentials->next : NULL;
    while (at && *at) {
        struct http_credential *c = *at;
        if (c->conns) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        credential_free(c);
    }
}

void credential_free_all(struct http_loop *l)
{
    while (l->credentials) {
        struct http_credential *c = l->credentials;
        l->credentials = c->next;
        credential_free(c);
    }
    credential_free(l->fresh);
    l->fresh = NULL;
}
