/* SPDX-License-Identifier: Apache-2.0 */
/* fetch_int.h - the OpenSSL algorithms this folder uses, fetched once per process: a fetch costs more than a hash.
 *
 * Constant after the first call, from any thread. A library without them is unusable, so a failed fetch aborts. */
#pragma once
#include <openssl/evp.h>

struct fetched {
    EVP_MD *sha256;
    EVP_CIPHER *aes128_gcm, *aes256_gcm;
};

const struct fetched *crypto_fetched(void);
