/* SPDX-License-Identifier: Apache-2.0 */
/* rand.c - random bytes from OpenSSL's public and private generators (SP 800-90A, seeded by getrandom). */
#include "core/crypto/rand.h"
#include <limits.h>
#include <openssl/rand.h>
#include "core/crypto/secmem.h"

static enum errc fill(int (*generate)(unsigned char *, int), void *out, size_t n, struct err *e)
{
    if (n <= INT_MAX && generate(out, (int)n) == 1)
        return ERR_OK;
    secret_wipe(out, n);
    return FAIL(e, INTERNAL, "the random generator failed");
}

enum errc rand_bytes(void *out, size_t n, struct err *e)
{
    return fill(RAND_bytes, out, n, e);
}

enum errc rand_key(void *out, size_t n, struct err *e)
{
    return fill(RAND_priv_bytes, out, n, e);
}
