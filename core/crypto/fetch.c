/* SPDX-License-Identifier: Apache-2.0 */
/* fetch.c - the OpenSSL algorithms this folder uses, fetched once per process. */
#include "core/crypto/fetch_int.h"
#include <pthread.h>
#include "core/base/assert.h"

static struct fetched fetched;
static pthread_once_t fetched_once = PTHREAD_ONCE_INIT;

static void fetch_all(void)
{
    fetched.sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    fetched.aes128_gcm = EVP_CIPHER_fetch(NULL, "AES-128-GCM", NULL);
    fetched.aes256_gcm = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
    ASSERT(fetched.sha256 && fetched.aes128_gcm && fetched.aes256_gcm);
}

const struct fetched *crypto_fetched(void)
{
    pthread_once(&fetched_once, fetch_all);
    return &fetched;
}
