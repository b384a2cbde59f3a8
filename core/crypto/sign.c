/* SPDX-License-Identifier: Apache-2.0 */
/* sign.c - Ed25519 signatures with raw keys, through OpenSSL's EVP_PKEY. */
#include "core/crypto/sign.h"
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include "core/crypto/hash.h"
#include "core/crypto/rand.h"

enum { PEM_MAX = 4096 };

static enum errc seed_to_key(const struct secret32 *seed, EVP_PKEY **ret, struct err *e)
{
    *ret = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed->b, KEY_BYTES);
    return *ret ? ERR_OK : FAIL(e, INTERNAL, "the signing key cannot be used");
}

enum errc ed25519_keygen(struct secret32 *ret_seed, uint8_t ret_public[ED25519_PUBLIC], struct err *e)
{
    TRY(rand_key(ret_seed->b, KEY_BYTES, e));
    return ed25519_public(ret_seed, ret_public, e);
}

enum errc ed25519_public(const struct secret32 *seed, uint8_t ret_public[ED25519_PUBLIC], struct err *e)
{
    EVP_PKEY *key = NULL;
    size_t len = ED25519_PUBLIC;
    TRY(seed_to_key(seed, &key, e));
    bool ok = EVP_PKEY_get_raw_public_key(key, ret_public, &len) == 1 && len == ED25519_PUBLIC;
    EVP_PKEY_free(key);
    return ok ? ERR_OK : FAIL(e, INTERNAL, "the signing key has no public half");
}

enum errc ed25519_sign(const struct secret32 *seed, const void *p, size_t n, uint8_t ret_sig[ED25519_SIG], struct err *e)
{
    EVP_PKEY *key = NULL;
    size_t len = ED25519_SIG;
    TRY(seed_to_key(seed, &key, e));
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool ok = ctx && EVP_DigestSignInit(ctx, NULL, NULL, NULL, key) == 1
              && EVP_DigestSign(ctx, ret_sig, &len, n ? p : (const void *)"", n) == 1 && len == ED25519_SIG;
    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(key);
    return ok ? ERR_OK : FAIL(e, INTERNAL, "signing failed");
}

bool ed25519_verify(const uint8_t public_key[ED25519_PUBLIC], const void *p, size_t n, const uint8_t sig[ED25519_SIG])
{
    EVP_PKEY *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, public_key, ED25519_PUBLIC);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool ok = key && ctx && EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, key) == 1
              && EVP_DigestVerify(ctx, sig, ED25519_SIG, n ? p : (const void *)"", n) == 1;
    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(key);
    ERR_clear_error();
    return ok;
}

void ed25519_key_id(const uint8_t public_key[ED25519_PUBLIC], uint8_t ret_id[KEY_ID_BYTES])
{
    sha256(public_key, ED25519_PUBLIC, ret_id);
}

enum errc ed25519_public_pem(const uint8_t public_key[ED25519_PUBLIC], struct buf *out, struct err *e)
{
    EVP_PKEY *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, public_key, ED25519_PUBLIC);
    BIO *bio = BIO_new(BIO_s_mem());
    char *text = NULL;
    bool ok = key && bio && PEM_write_bio_PUBKEY(bio, key) == 1;
    if (ok) {
        long len = BIO_get_mem_data(bio, &text);
        ok = len > 0 && buf_add(out, text, (size_t)len);
    }
    BIO_free(bio);
    EVP_PKEY_free(key);
    return ok ? ERR_OK : FAIL(e, INTERNAL, "the public key cannot be written");
}

enum errc ed25519_public_of_pem(struct str pem, uint8_t ret_public[ED25519_PUBLIC], struct err *e)
{
    if (pem.len == 0 || pem.len > PEM_MAX)
        return FAIL(e, INVALID, "not a public key in PEM");
    size_t len = ED25519_PUBLIC;
    BIO *bio = BIO_new_mem_buf(pem.ptr, (int)pem.len);
    EVP_PKEY *key = bio ? PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL) : NULL;
    bool ok = key && EVP_PKEY_is_a(key, "ED25519") && EVP_PKEY_get_raw_public_key(key, ret_public, &len) == 1
              && len == ED25519_PUBLIC;
    EVP_PKEY_free(key);
    BIO_free(bio);
    ERR_clear_error();
    return ok ? ERR_OK : FAIL(e, INVALID, "not an Ed25519 public key in PEM");
}
