/* SPDX-License-Identifier: Apache-2.0 */
/* x509.c - a small certificate authority: makes ECDSA P-256 roots and signs leaf certificates.
 *
 * Extensions are built as structures, never from configuration text, so that no name can bring another extension with it. */
#include "core/crypto/x509.h"
#include <errno.h>
#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/crypto/rand.h"
#include "core/crypto/x509_int.h"

enum { SERIAL_BYTES = 16, PEM_MAX = 64 * 1024, NAME_MAX_BYTES = 255 };

static void bio_freep(BIO **b)
{
    BIO_free(*b);
}
static void pkey_freep(EVP_PKEY **k)
{
    EVP_PKEY_free(*k);
}
static void x509_freep(X509 **c)
{
    X509_free(*c);
}
static void req_freep(X509_REQ **r)
{
    X509_REQ_free(*r);
}

enum errc x509_broken(struct err *e, const char *what)
{
    (void)FAIL(e, INTERNAL, "%s failed", what);
    (void)err_note(e, "%s", ERR_reason_error_string(ERR_peek_last_error()));
    ERR_clear_error();
    return ERR_INTERNAL;
}

static struct str bio_text(struct arena *a, BIO *b)
{
    char *p = NULL;
    long n = BIO_get_mem_data(b, &p);
    return str_dup(a, str_n(p, n > 0 ? (size_t)n : 0));
}

enum errc x509_text(struct arena *a, X509 *cert, struct str *ret, struct err *e)
{
    CLEANUP(bio_freep) BIO *b = BIO_new(BIO_s_mem());
    if (!b || PEM_write_bio_X509(b, cert) != 1)
        return x509_broken(e, "writing the certificate");
    *ret = bio_text(a, b);
    return ERR_OK;
}

static enum errc key_text(struct arena *a, EVP_PKEY *key, struct str *ret, struct err *e)
{
    CLEANUP(bio_freep) BIO *b = BIO_new(BIO_s_secmem());
    if (!b || PEM_write_bio_PKCS8PrivateKey(b, key, NULL, NULL, 0, NULL, NULL) != 1)
        return x509_broken(e, "writing the key");
    *ret = bio_text(a, b);
    return ERR_OK;
}

static enum errc parse_pair(const struct x509_pair *p, X509 **cert, EVP_PKEY **key, struct err *e)
{
    if (p->cert_pem.len == 0 || p->cert_pem.len > PEM_MAX || p->key_pem.len == 0 || p->key_pem.len > PEM_MAX)
        return FAIL(e, INVALID, "the authority has no certificate or no key");
    CLEANUP(bio_freep) BIO *bc = BIO_new_mem_buf(p->cert_pem.ptr, (int)p->cert_pem.len);
    CLEANUP(bio_freep) BIO *bk = BIO_new_mem_buf(p->key_pem.ptr, (int)p->key_pem.len);
    *cert = bc ? PEM_read_bio_X509(bc, NULL, NULL, NULL) : NULL;
    *key = bk ? PEM_read_bio_PrivateKey(bk, NULL, NULL, NULL) : NULL;
    ERR_clear_error();
    if (!*cert || !*key || X509_check_private_key(*cert, *key) != 1 || X509_check_ca(*cert) != 1)
        return FAIL(e, INVALID, "that is not an authority with its key");
    return ERR_OK;
}

static bool add_ext(X509 *cert, int nid, bool is_critical, void *value)
{
    bool ok = value && X509_add1_ext_i2d(cert, nid, value, is_critical, X509V3_ADD_APPEND) == 1;
    return ok;
}

static bool add_basic(X509 *cert, bool is_ca)
{
    BASIC_CONSTRAINTS *b = BASIC_CONSTRAINTS_new();
    bool ok = b != NULL;
    if (ok && is_ca) {
        b->ca = 1;
        b->pathlen = ASN1_INTEGER_new();
        ok = b->pathlen && ASN1_INTEGER_set(b->pathlen, 0) == 1;
    }
    ok = ok && add_ext(cert, NID_basic_constraints, true, b);
    BASIC_CONSTRAINTS_free(b);
    return ok;
}

static bool add_usage(X509 *cert, bool is_ca)
{
    ASN1_BIT_STRING *bits = ASN1_BIT_STRING_new();
    bool ok = bits && (is_ca ? ASN1_BIT_STRING_set_bit(bits, 5, 1) == 1 && ASN1_BIT_STRING_set_bit(bits, 6, 1) == 1
                             : ASN1_BIT_STRING_set_bit(bits, 0, 1) == 1)
              && add_ext(cert, NID_key_usage, true, bits);
    ASN1_BIT_STRING_free(bits);
    return ok;
}

static bool add_extended_usage(X509 *cert, const struct x509_req *req)
{
    EXTENDED_KEY_USAGE *eku = sk_ASN1_OBJECT_new_null();
    bool ok = eku && (!req->is_client || sk_ASN1_OBJECT_push(eku, OBJ_nid2obj(NID_client_auth)) > 0)
              && (!req->is_server || sk_ASN1_OBJECT_push(eku, OBJ_nid2obj(NID_server_auth)) > 0)
              && add_ext(cert, NID_ext_key_usage, true, eku);
    sk_ASN1_OBJECT_pop_free(eku, ASN1_OBJECT_free);
    return ok;
}

/* RFC 5280 4.2.1.2, method 1: the SHA-1 of the public key is a name here, not a proof. */
static bool add_key_ids(X509 *cert, const X509 *issuer)
{
    uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    ASN1_OCTET_STRING *own = ASN1_OCTET_STRING_new();
    bool ok = own && X509_pubkey_digest(cert, EVP_sha1(), digest, &n) == 1 && ASN1_OCTET_STRING_set(own, digest, (int)n) == 1
              && add_ext(cert, NID_subject_key_identifier, false, own);
    ASN1_OCTET_STRING_free(own);
    AUTHORITY_KEYID *aki = AUTHORITY_KEYID_new();
    ok = ok && aki && (aki->keyid = ASN1_OCTET_STRING_new()) && X509_pubkey_digest(issuer, EVP_sha1(), digest, &n) == 1
         && ASN1_OCTET_STRING_set(aki->keyid, digest, (int)n) == 1 && add_ext(cert, NID_authority_key_identifier, false, aki);
    AUTHORITY_KEYID_free(aki);
    return ok;
}

static bool push_text_name(GENERAL_NAMES *names, int type, struct str value)
{
    if (value.len == 0 || value.len > NAME_MAX_BYTES)
        return false;
    for (size_t i = 0; i < value.len; i++)
        if (value.ptr[i] <= ' ' || value.ptr[i] >= 127)
            return false;
    ASN1_IA5STRING *text = ASN1_IA5STRING_new();
    GENERAL_NAME *name = GENERAL_NAME_new();
    bool ok = text && name && ASN1_STRING_set(text, value.ptr, (int)value.len) == 1;
    if (ok) {
        GENERAL_NAME_set0_value(name, type, text);
        text = NULL;
        ok = sk_GENERAL_NAME_push(names, name) > 0;
    }
    ASN1_IA5STRING_free(text);
    if (!ok)
        GENERAL_NAME_free(name);
    return ok;
}

static bool push_ip(GENERAL_NAMES *names, const char *ip)
{
    ASN1_OCTET_STRING *address = a2i_IPADDRESS(ip);
    GENERAL_NAME *name = GENERAL_NAME_new();
    if (!address || !name) {
        ASN1_OCTET_STRING_free(address);
        GENERAL_NAME_free(name);
        return false;
    }
    GENERAL_NAME_set0_value(name, GEN_IPADD, address);
    if (sk_GENERAL_NAME_push(names, name) > 0)
        return true;
    GENERAL_NAME_free(name);
    return false;
}

static bool add_alt_names(X509 *cert, const struct x509_req *req)
{
    GENERAL_NAMES *names = GENERAL_NAMES_new();
    bool ok = names && (!req->uri_san.ptr || push_text_name(names, GEN_URI, req->uri_san));
    for (size_t i = 0; ok && req->dns && req->dns[i]; i++)
        ok = push_text_name(names, GEN_DNS, str_c(req->dns[i]));
    for (size_t i = 0; ok && req->ip && req->ip[i]; i++)
        ok = push_ip(names, req->ip[i]);
    ok = ok && (sk_GENERAL_NAME_num(names) == 0 || add_ext(cert, NID_subject_alt_name, false, names));
    GENERAL_NAMES_free(names);
    return ok;
}

static bool set_name(X509_NAME *name, struct str common_name)
{
    return common_name.len > 0 && common_name.len <= 64
           && X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8, (const unsigned char *)common_name.ptr,
                                         (int)common_name.len, -1, 0) == 1;
}

/* Version, serial, times, subject and key: what every certificate has. */
static enum errc cert_base(X509 *cert, struct str common_name, int64_t now_us, int64_t lifetime_s, EVP_PKEY *key, struct err *e)
{
    uint8_t serial[SERIAL_BYTES];
    if (lifetime_s <= 0)
        return FAIL(e, INVALID, "a certificate must live for some time");
    TRY(rand_bytes(serial, sizeof serial, e));
    serial[0] = (serial[0] & 0x7f) | 0x40;
    BIGNUM *bn = BN_bin2bn(serial, sizeof serial, NULL);
    time_t now_s = (time_t)(now_us / 1000000);
    bool ok = bn && X509_set_version(cert, X509_VERSION_3) == 1 && BN_to_ASN1_INTEGER(bn, X509_get_serialNumber(cert))
              && ASN1_TIME_set(X509_getm_notBefore(cert), now_s - X509_BACKDATE_S)
              && ASN1_TIME_set(X509_getm_notAfter(cert), now_s + (time_t)lifetime_s) && X509_set_pubkey(cert, key) == 1;
    BN_free(bn);
    if (!ok)
        return x509_broken(e, "making the certificate");
    if (!set_name(X509_get_subject_name(cert), common_name))
        return FAIL(e, INVALID, "a common name has 1 to 64 bytes");
    return ERR_OK;
}

enum errc x509_fill_leaf(X509 *cert, X509 *ca, EVP_PKEY *key, const struct x509_req *req, int64_t now_us, struct err *e)
{
    TRY(cert_base(cert, req->common_name, now_us, req->lifetime_s, key, e));
    if (!req->is_client && !req->is_server)
        return FAIL(e, INVALID, "a certificate is for a client, a server or both");
    if (!add_alt_names(cert, req))
        return FAIL(e, INVALID, "an alternative name is not well formed");
    bool ok = X509_set_issuer_name(cert, X509_get_subject_name(ca)) == 1 && add_basic(cert, false) && add_usage(cert, false)
              && add_extended_usage(cert, req) && add_key_ids(cert, ca);
    return ok ? ERR_OK : x509_broken(e, "making the certificate");
}

static enum errc leaf(X509 *ca, EVP_PKEY *ca_key, EVP_PKEY *key, const struct x509_req *req, int64_t now_us, X509 *cert,
                      struct err *e)
{
    TRY(x509_fill_leaf(cert, ca, key, req, now_us, e));
    return X509_sign(cert, ca_key, EVP_sha256()) > 0 ? ERR_OK : x509_broken(e, "signing the certificate");
}

enum errc x509_fill_ca(X509 *cert, EVP_PKEY *key, struct str common_name, struct str trust_domain, int64_t now_us, int64_t lifetime_s,
                       struct err *e)
{
    const struct x509_req names = { .uri_san = trust_domain };
    TRY(cert_base(cert, common_name, now_us, lifetime_s, key, e));
    if (!add_alt_names(cert, &names))
        return FAIL(e, INVALID, "the trust domain is not well formed");
    bool ok = X509_set_issuer_name(cert, X509_get_subject_name(cert)) == 1 && add_basic(cert, true) && add_usage(cert, true)
              && add_key_ids(cert, cert);
    return ok ? ERR_OK : x509_broken(e, "making the authority");
}

enum errc x509_make_ca(struct arena *a, struct str common_name, struct str trust_domain, int64_t now_us, int64_t lifetime_s,
                       struct x509_pair *ret, struct err *e)
{
    CLEANUP(pkey_freep) EVP_PKEY *key = EVP_EC_gen("P-256");
    CLEANUP(x509_freep) X509 *cert = X509_new();
    struct x509_pair pair;
    if (!key || !cert)
        return x509_broken(e, "making the authority's key");
    TRY(x509_fill_ca(cert, key, common_name, trust_domain, now_us, lifetime_s, e));
    if (X509_sign(cert, key, EVP_sha256()) <= 0)
        return x509_broken(e, "signing the authority");
    TRY(x509_text(a, cert, &pair.cert_pem, e));
    TRY(key_text(a, key, &pair.key_pem, e));
    *ret = pair;
    return ERR_OK;
}

enum errc x509_issue(struct arena *a, const struct x509_pair *ca, const struct x509_req *req, int64_t now_us,
                     struct x509_pair *ret, struct err *e)
{
    CLEANUP(x509_freep) X509 *ca_cert = NULL;
    CLEANUP(pkey_freep) EVP_PKEY *ca_key = NULL;
    struct x509_pair pair;
    TRY(parse_pair(ca, &ca_cert, &ca_key, e));
    CLEANUP(pkey_freep) EVP_PKEY *key = EVP_EC_gen("P-256");
    CLEANUP(x509_freep) X509 *cert = X509_new();
    if (!key || !cert)
        return x509_broken(e, "making the key");
    TRY(leaf(ca_cert, ca_key, key, req, now_us, cert, e));
    TRY(x509_text(a, cert, &pair.cert_pem, e));
    TRY(key_text(a, key, &pair.key_pem, e));
    *ret = pair;
    return ERR_OK;
}

static enum errc csr_of(struct arena *a, struct str common_name, EVP_PKEY *key, struct str *ret, struct err *e)
{
    CLEANUP(req_freep) X509_REQ *req = X509_REQ_new();
    CLEANUP(bio_freep) BIO *b = BIO_new(BIO_s_mem());
    if (!key || !req || !b || X509_REQ_set_version(req, 0) != 1 || X509_REQ_set_pubkey(req, key) != 1)
        return x509_broken(e, "making the request");
    if (!set_name(X509_REQ_get_subject_name(req), common_name))
        return FAIL(e, INVALID, "a common name has 1 to 64 bytes");
    if (X509_REQ_sign(req, key, EVP_sha256()) <= 0 || PEM_write_bio_X509_REQ(b, req) != 1)
        return x509_broken(e, "signing the request");
    *ret = bio_text(a, b);
    return ERR_OK;
}

enum errc x509_csr_of(struct arena *a, struct str common_name, struct str key_pem, struct str *ret_csr_pem, struct err *e)
{
    if (key_pem.len == 0 || key_pem.len > PEM_MAX)
        return FAIL(e, INVALID, "that is not a private key in PEM");
    CLEANUP(bio_freep) BIO *b = BIO_new_mem_buf(key_pem.ptr, (int)key_pem.len);
    CLEANUP(pkey_freep) EVP_PKEY *key = b ? PEM_read_bio_PrivateKey(b, NULL, NULL, NULL) : NULL;
    ERR_clear_error();
    if (!key)
        return FAIL(e, INVALID, "that is not a private key in PEM");
    return csr_of(a, common_name, key, ret_csr_pem, e);
}

enum errc x509_make_csr(struct arena *a, struct str common_name, struct x509_pair *ret, struct err *e)
{
    CLEANUP(pkey_freep) EVP_PKEY *key = EVP_EC_gen("P-256");
    struct x509_pair pair;
    TRY(csr_of(a, common_name, key, &pair.cert_pem, e));
    TRY(key_text(a, key, &pair.key_pem, e));
    *ret = pair;
    return ERR_OK;
}

enum errc x509_csr_key(struct str csr_pem, EVP_PKEY **ret, struct err *e)
{
    char group[32] = "";
    if (csr_pem.len == 0 || csr_pem.len > PEM_MAX)
        return FAIL(e, INVALID, "that is not a certificate request");
    CLEANUP(bio_freep) BIO *b = BIO_new_mem_buf(csr_pem.ptr, (int)csr_pem.len);
    CLEANUP(req_freep) X509_REQ *csr = b ? PEM_read_bio_X509_REQ(b, NULL, NULL, NULL) : NULL;
    EVP_PKEY *key = csr ? X509_REQ_get0_pubkey(csr) : NULL;
    bool ok = key && EVP_PKEY_is_a(key, "EC") && EVP_PKEY_get_group_name(key, group, sizeof group, NULL) == 1
              && strcmp(group, "prime256v1") == 0 && X509_REQ_verify(csr, key) == 1 && EVP_PKEY_up_ref(key) == 1;
    ERR_clear_error();
    if (!ok)
        return FAIL(e, INVALID, "that is not a certificate request signed by its own P-256 key");
    *ret = key;
    return ERR_OK;
}

enum errc x509_sign_csr(struct arena *a, const struct x509_pair *ca, struct str csr_pem, const struct x509_req *req,
                        int64_t now_us, struct str *ret_cert_pem, struct err *e)
{
    CLEANUP(x509_freep) X509 *ca_cert = NULL;
    CLEANUP(pkey_freep) EVP_PKEY *ca_key = NULL;
    CLEANUP(pkey_freep) EVP_PKEY *key = NULL;
    TRY(parse_pair(ca, &ca_cert, &ca_key, e));
    TRY(x509_csr_key(csr_pem, &key, e));
    CLEANUP(x509_freep) X509 *cert = X509_new();
    if (!cert)
        return x509_broken(e, "making the certificate");
    TRY(leaf(ca_cert, ca_key, key, req, now_us, cert, e));
    return x509_text(a, cert, ret_cert_pem, e);
}

static enum errc write_file(const char *path, struct str text, struct err *e)
{
    char temp[4096];
    int n = snprintf(temp, sizeof temp, "%s.new.%ld", path, (long)getpid());
    if (n < 0 || (size_t)n >= sizeof temp)
        return FAIL(e, INVALID, "the path is too long");
    (void)unlink(temp);
    CLEANUP(fd_closep) int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && write(fd, text.ptr, text.len) == (ssize_t)text.len && fsync(fd) == 0 && rename(temp, path) == 0;
    if (!ok) {
        int saved = errno;
        (void)unlink(temp);
        (void)FAIL(e, IO, "%s cannot be written", path);
        (void)err_errno(e, saved);
        return ERR_IO;
    }
    return ERR_OK;
}

enum errc x509_write(const struct x509_pair *p, const char *cert_path, const char *key_path, struct err *e)
{
    if (key_path)
        TRY(write_file(key_path, p->key_pem, e));
    return cert_path ? write_file(cert_path, p->cert_pem, e) : ERR_OK;
}
