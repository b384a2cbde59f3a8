/* SPDX-License-Identifier: Apache-2.0 */
/* x509_read.c - what a certificate says, and whether it was issued by an authority. */
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <time.h>
#include "core/base/cleanup.h"
#include "core/crypto/x509.h"

enum { PEM_MAX = 64 * 1024 };

static void x509_freep(X509 **c)
{
    X509_free(*c);
}

static X509 *parse(struct str pem)
{
    if (pem.len == 0 || pem.len > PEM_MAX)
        return NULL;
    BIO *b = BIO_new_mem_buf(pem.ptr, (int)pem.len);
    X509 *cert = b ? PEM_read_bio_X509(b, NULL, NULL, NULL) : NULL;
    BIO_free(b);
    ERR_clear_error();
    return cert;
}

static bool time_us(const ASN1_TIME *t, int64_t *ret)
{
    struct tm tm;
    if (ASN1_TIME_to_tm(t, &tm) != 1)
        return false;
    *ret = (int64_t)timegm(&tm) * 1000000;
    return true;
}

static void read_uris(struct arena *a, X509 *cert, struct x509_facts *f)
{
    GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        int type = 0;
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        const ASN1_STRING *text = GENERAL_NAME_get0_value(name, &type);
        if (type != GEN_URI)
            continue;
        if (f->uri_count++ == 0)
            f->uri = str_dup(a, str_n((const char *)ASN1_STRING_get0_data(text), (size_t)ASN1_STRING_length(text)));
    }
    GENERAL_NAMES_free(names);
}

static void read_common_name(struct arena *a, X509 *cert, struct x509_facts *f)
{
    X509_NAME *subject = X509_get_subject_name(cert);
    int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    ASN1_STRING *text = at < 0 ? NULL : X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at));
    if (text)
        f->common_name = str_dup(a, str_n((const char *)ASN1_STRING_get0_data(text), (size_t)ASN1_STRING_length(text)));
}

enum errc x509_read(struct arena *a, struct str cert_pem, struct x509_facts *ret, struct err *e)
{
    CLEANUP(x509_freep) X509 *cert = parse(cert_pem);
    struct x509_facts f = { 0 };
    unsigned n = 0;
    if (!cert || X509_digest(cert, EVP_sha256(), f.fingerprint, &n) != 1 || X509_pubkey_digest(cert, EVP_sha256(), f.key_sha,
        &n) != 1
        || !time_us(X509_get0_notBefore(cert), &f.not_before_us)
        || !time_us(X509_get0_notAfter(cert), &f.not_after_us))
        return FAIL(e, INVALID, "that is not a certificate in PEM");
    read_common_name(a, cert, &f);
    read_uris(a, cert, &f);
    uint32_t usage = X509_get_extended_key_usage(cert);
    f.is_ca = X509_check_ca(cert) == 1;
    f.is_client = usage != UINT32_MAX && (usage & XKU_SSL_CLIENT);
    f.is_server = usage != UINT32_MAX && (usage & XKU_SSL_SERVER);
    ERR_clear_error();
    *ret = f;
    return ERR_OK;
}

enum errc x509_verify(struct str cert_pem, struct str ca_pem, int64_t now_us, struct err *e)
{
    CLEANUP(x509_freep) X509 *cert = parse(cert_pem);
    CLEANUP(x509_freep) X509 *ca = parse(ca_pem);
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *ctx = X509_STORE_CTX_new();
    int reason = X509_V_ERR_UNSPECIFIED;
    bool ok = cert && ca && store && ctx && X509_STORE_add_cert(store, ca) == 1 && X509_STORE_CTX_init(ctx, store, cert, NULL) == 1;
    if (ok) {
        X509_VERIFY_PARAM_set_time(X509_STORE_CTX_get0_param(ctx), (time_t)(now_us / 1000000));
        ok = X509_verify_cert(ctx) == 1;
        reason = X509_STORE_CTX_get_error(ctx);
    }
    X509_STORE_CTX_free(ctx);
    X509_STORE_free(store);
    ERR_clear_error();
    return ok ? ERR_OK : FAIL(e, FORBIDDEN, "the certificate does not hold: %s", X509_verify_cert_error_string(reason));
}
