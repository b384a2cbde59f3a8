/* SPDX-License-Identifier: Apache-2.0 */
/* tls.c - OpenSSL over a socket that does not block; waiting is poll's, so that silence has an end. */
#include "core/crypto/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/base/clock.h"

enum { PEM_MAX = 64 * 1024, WRITE_MAX = 1 << 20, NAME_MAX_BYTES = 512, HOST_DEPTH = 4 };

struct tls {
    SSL_CTX *ctx;
    SSL *ssl;
    int fd, silence_ms;
    int64_t until_us;           /* 0: none */
    bool is_host;               /* OpenSSL has judged the name by now */
};

static BIO *text(struct str pem)
{
    return pem.len && pem.len <= PEM_MAX ? BIO_new_mem_buf(pem.ptr, (int)pem.len) : NULL;
}

/* All authorities of the bundle; 0: it is none. */
static int take_bundle(SSL_CTX *c, struct str pem)
{
    BIO *in = text(pem);
    X509 *cert;
    int n = 0;
    while (in && (cert = PEM_read_bio_X509(in, NULL, NULL, NULL))) {
        n += X509_STORE_add_cert(SSL_CTX_get_cert_store(c), cert) == 1;
        X509_free(cert);
    }
    BIO_free(in);
    ERR_clear_error();          /* the end of the text is one */
    return n;
}

/* The certificate, what stands behind it in its text, and its key. */
static bool take_own(SSL_CTX *c, struct str cert_pem, struct str key_pem)
{
    BIO *in = text(cert_pem), *key_text = text(key_pem);
    X509 *cert = in ? PEM_read_bio_X509(in, NULL, NULL, NULL) : NULL;
    EVP_PKEY *key = key_text ? PEM_read_bio_PrivateKey(key_text, NULL, NULL, NULL) : NULL;
    bool ok = cert && key && SSL_CTX_use_certificate(c, cert) == 1 && SSL_CTX_use_PrivateKey(c, key) == 1
              && SSL_CTX_check_private_key(c) == 1;
    X509_free(cert);
    while (ok && (cert = PEM_read_bio_X509(in, NULL, NULL, NULL))) {
        ok = SSL_CTX_add1_chain_cert(c, cert) == 1;
        X509_free(cert);
    }
    EVP_PKEY_free(key);
    BIO_free(in);
    BIO_free(key_text);
    return ok;
}

/* The authority is the only one that peers are judged by. */
static bool take_identity(SSL_CTX *c, const struct tls_identity *own)
{
    return take_own(c, own->cert_pem, own->key_pem) && take_bundle(c, own->ca_pem) == 1;
}

/* NULL: taken. */
static const char *take_host_identity(SSL_CTX *c, const struct tls_identity *own)
{
    if (own->ca_pem.len ? !take_bundle(c, own->ca_pem) : SSL_CTX_set_default_verify_paths(c) != 1)
        return "the authorities are no certificates in PEM";
    if ((own->cert_pem.len || own->key_pem.len) && !take_own(c, own->cert_pem, own->key_pem))
        return "the own certificate and key are not in PEM, or do not belong together";
    return NULL;
}

enum errc tls_identity_check(const struct tls_identity *own, struct err *e)
{
    SSL_CTX *c = SSL_CTX_new(TLS_client_method());
    const char *why = !c ? "TLS cannot be had" : own->host ? take_host_identity(c, own)
                      : take_identity(c, own) ? NULL : "certificate, key and authority do not belong together";
    SSL_CTX_free(c);
    ERR_clear_error();
    return why ? FAIL(e, INVALID, "%s", why) : ERR_OK;
}

/* From here on only a server of that name or address is let in. An address gets no SNI (RFC 6066 §3). */
static bool expect_host(SSL *s, const char *host)
{
    X509_VERIFY_PARAM *v = SSL_get0_param(s);
    X509_VERIFY_PARAM_set_hostflags(v, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (X509_VERIFY_PARAM_set1_ip_asc(v, host) == 1)
        return true;
    ERR_clear_error();
    return X509_VERIFY_PARAM_set1_host(v, host, 0) == 1 && SSL_set_tlsext_host_name(s, host) == 1;
}

static bool make(struct tls *t, bool is_server, const struct tls_identity *own)
{
    t->ctx = SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method());
    if (!t->ctx || SSL_CTX_set_min_proto_version(t->ctx, TLS1_3_VERSION) != 1)
        return false;
    if (own->host ? take_host_identity(t->ctx, own) != NULL : !take_identity(t->ctx, own))
        return false;
    SSL_CTX_set_verify(t->ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_verify_depth(t->ctx, own->host ? HOST_DEPTH : 1);
    if (own->peers_serve && SSL_CTX_set_purpose(t->ctx, X509_PURPOSE_SSL_SERVER) != 1)
        return false;
    SSL_CTX_set_session_cache_mode(t->ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(t->ctx, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(t->ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    (void)SSL_CTX_set_num_tickets(t->ctx, 0);
    t->ssl = SSL_new(t->ctx);
    if (!t->ssl || SSL_set_fd(t->ssl, t->fd) != 1 || (own->host && !expect_host(t->ssl, own->host)))
        return false;
    t->is_host = own->host != NULL;
    if (is_server)
        SSL_set_accept_state(t->ssl);
    else
        SSL_set_connect_state(t->ssl);
    return true;
}

static enum errc gone(struct err *e, const char *what)
{
    char why[120];
    ERR_error_string_n(ERR_peek_last_error(), why, sizeof why);
    bool has_reason = ERR_peek_last_error() != 0;
    ERR_clear_error();
    (void)FAIL(e, UPSTREAM, "%s", what);
    return has_reason ? err_note(e, "%s", why) : e->code;
}

/* What an unfinished call of OpenSSL waits for; ERR_OK: that, in *ret. */
static enum errc wanted(struct tls *t, int rc, short *ret, struct err *e)
{
    int error = SSL_get_error(t->ssl, rc);
    *ret = error == SSL_ERROR_WANT_WRITE ? POLLOUT : POLLIN;
    if (error == SSL_ERROR_ZERO_RETURN)
        return gone(e, "the peer has closed the connection");
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE)
        return gone(e, error == SSL_ERROR_SYSCALL ? "the connection was lost" : "the connection broke TLS");
    return ERR_OK;
}

/* Milliseconds that may be waited now. */
static int patience_ms(const struct tls *t)
{
    int64_t left = t->until_us ? (t->until_us - clock_mono_us(&clock_system) + 999) / 1000 : t->silence_ms;
    return left < 0 ? 0 : left < t->silence_ms ? (int)left : t->silence_ms;
}

static enum errc await_event(struct tls *t, short event, struct err *e)
{
    struct pollfd p = { t->fd, event, 0 };
    int n, ms = patience_ms(t);
    while ((n = poll(&p, 1, ms)) < 0 && errno == EINTR)
        ms = patience_ms(t);
    if (n > 0)
        return ERR_OK;
    return ms < t->silence_ms ? FAIL(e, DEADLINE, "the peer was silent for %d ms, or too slow", t->silence_ms)
                              : FAIL(e, DEADLINE, "the peer was silent for %d ms", t->silence_ms);
}

/* ERR_OK: call again. */
static enum errc await(struct tls *t, int rc, struct err *e)
{
    short event;
    TRY(wanted(t, rc, &event, e));
    return await_event(t, event, e);
}

/* The only URI name of the peer's certificate, in the list. */
static enum errc judge(struct tls *t, const struct str *names, size_t n, size_t *ret, struct err *e)
{
    char seen[NAME_MAX_BYTES] = "";
    int uris = 0;
    X509 *cert = SSL_get1_peer_certificate(t->ssl);
    GENERAL_NAMES *all = cert ? X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL) : NULL;
    for (int i = 0; i < sk_GENERAL_NAME_num(all); i++) {
        int type = 0;
        const ASN1_STRING *name = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(all, i), &type);
        if (type != GEN_URI)
            continue;
        int len = ASN1_STRING_length(name);
        uris++;
        if (len < (int)sizeof seen && !memchr(ASN1_STRING_get0_data(name), 0, (size_t)len)) {
            memcpy(seen, ASN1_STRING_get0_data(name), (size_t)len);
            seen[len] = 0;
        }
    }
    GENERAL_NAMES_free(all);
    X509_free(cert);
    for (size_t i = 0; i < n && uris == 1; i++)
        if (str_eq_c(names[i], seen)) {
            *ret = i;
            return ERR_OK;
        }
    return FAIL(e, FORBIDDEN, "the peer is %.120s, which is none of the %zu that were named", uris == 1 ? seen : "nameless", n);
}

enum errc tls_begin(int fd, bool is_server, const struct tls_identity *own, int silence_ms, struct tls **ret, struct err *e)
{
    struct tls *t = calloc(1, sizeof *t);
    ASSERT(t);
    *t = (struct tls){ .fd = fd, .silence_ms = silence_ms };
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 || !make(t, is_server, own)) {
        (void)gone(e, "a connection cannot be made of this certificate, key and authority");
        tls_close(t);
        return e->code;
    }
    *ret = t;
    return ERR_OK;
}

enum errc tls_step(struct tls *t, const struct str *names, size_t name_count, short *ret_events, size_t *ret_peer, struct err *e)
{
    int done = SSL_do_handshake(t->ssl);
    *ret_events = 0;
    if (done == 1 && t->is_host) {
        *ret_peer = 0;
        return ERR_OK;
    }
    if (done == 1)
        return judge(t, names, name_count, ret_peer, e);
    enum errc rc = wanted(t, done, ret_events, e);
    long verdict = SSL_get_verify_result(t->ssl);
    if (rc == ERR_UPSTREAM && verdict != X509_V_OK)
        return FAIL(e, FORBIDDEN, "the peer's certificate does not hold: %s", X509_verify_cert_error_string(verdict));
    return rc;
}

static enum errc shake_hands(struct tls *t, const struct str *names, size_t n, size_t *ret_peer, struct err *e)
{
    for (;;) {
        short events;
        TRY(tls_step(t, names, n, &events, ret_peer, e));
        if (!events)
            return ERR_OK;
        TRY(await_event(t, events, e));
    }
}

enum errc tls_open(int fd, bool is_server, const struct tls_identity *own, const struct str *names, size_t name_count,
                   int silence_ms, struct tls **ret, size_t *ret_peer, struct err *e)
{
    struct tls *t;
    TRY(tls_begin(fd, is_server, own, silence_ms, &t, e));
    t->until_us = clock_mono_us(&clock_system) + (int64_t)silence_ms * 1000;
    if (shake_hands(t, names, name_count, ret_peer, e) != ERR_OK) {
        tls_close(t);
        return e->code;
    }
    t->until_us = 0;
    *ret = t;
    return ERR_OK;
}

enum errc tls_read(struct tls *t, void *p, size_t n, struct err *e)
{
    char *at = p;
    while (n) {
        int some = SSL_read(t->ssl, at, n < WRITE_MAX ? (int)n : WRITE_MAX);
        if (some <= 0) {
            TRY(await(t, some, e));
            continue;
        }
        at += some;
        n -= (size_t)some;
    }
    return ERR_OK;
}

enum errc tls_write(struct tls *t, const void *p, size_t n, struct err *e)
{
    const char *at = p;
    while (n) {
        int some = SSL_write(t->ssl, at, n < WRITE_MAX ? (int)n : WRITE_MAX);
        if (some <= 0) {
            TRY(await(t, some, e));
            continue;
        }
        at += some;
        n -= (size_t)some;
    }
    return ERR_OK;
}

enum errc tls_read_some(struct tls *t, void *p, size_t n, size_t *ret, struct err *e)
{
    short ignored;
    int some = SSL_read(t->ssl, p, n < WRITE_MAX ? (int)n : WRITE_MAX);
    *ret = some > 0 ? (size_t)some : 0;
    return some > 0 ? ERR_OK : wanted(t, some, &ignored, e);
}

enum errc tls_write_some(struct tls *t, const void *p, size_t n, size_t *ret, struct err *e)
{
    short ignored;
    int some = SSL_write(t->ssl, p, n < WRITE_MAX ? (int)n : WRITE_MAX);
    *ret = some > 0 ? (size_t)some : 0;
    return some > 0 ? ERR_OK : wanted(t, some, &ignored, e);
}

int tls_fd(const struct tls *t)
{
    return t->fd;
}

void tls_silence(struct tls *t, int silence_ms)
{
    t->silence_ms = silence_ms;
}

void tls_until(struct tls *t, int64_t until_us)
{
    t->until_us = until_us;
}

void tls_close(struct tls *t)
{
    if (!t)
        return;
    if (t->ssl && SSL_is_init_finished(t->ssl))
        (void)SSL_shutdown(t->ssl);         /* a goodbye that does not go out changes nothing */
    SSL_free(t->ssl);
    SSL_CTX_free(t->ctx);
    ERR_clear_error();
    close(t->fd);
    free(t);
}
