/* SPDX-License-Identifier: Apache-2.0 */
/* USES: tenants core_crypto core_json core_base */
/* fuzz_jwt.c - tokens of outside issuers and their sets of keys, out of arbitrary text.
 *
 * Oracle: no token is believed (nothing here can sign); what is peeked at lies within its limits; every key that is kept has a kid of the
 * allowed letters, once, and an algorithm that was asked for. */
#include <stdint.h>
#include "core/base/assert.h"
#include "core/crypto/jwt.h"
#include "tenants/identity/jwks.h"
#include "tenants/identity/jwt_authn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_token(struct arena *a, struct str text)
{
    static const char x[] = "axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY", y[] = "T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU";
    struct jws_key key;
    struct jws_peek seen;
    struct jws_claims claims;
    struct err e;
    ASSERT(jws_key_p256(a, STR("k"), str_c(x), str_c(y), &key, &e) == ERR_OK);
    struct jws_expect want = { &key, 1, STR("https://i.example"), STR("falaj"), STR_NULL, INT64_C(1800000000000000) };
    if (jws_peek(a, text, &seen, &e) == ERR_OK) {
        ASSERT(jwt_looks_like(text) || str_starts(text, "flj_"));
        ASSERT(seen.kid.len >= 1 && seen.kid.len <= JWS_KID_MAX && seen.iss.len && seen.n_aud <= JWS_PEEK_AUD);
    }
    ASSERT(jws_check(a, text, &want, &claims, &e) == ERR_UNAUTHENTICATED);
}

static void try_keys(struct arena *a, struct str text, unsigned algs)
{
    struct jws_key keys[JWKS_KEYS_MAX];
    struct err e;
    size_t n = 0;
    if (jwks_read(a, text, algs, keys, &n, &e) != ERR_OK)
        return;
    ASSERT(n >= 1 && n <= JWKS_KEYS_MAX);
    for (size_t i = 0; i < n; i++) {
        ASSERT(keys[i].kid.len >= 1 && keys[i].kid.len <= JWS_KID_MAX && keys[i].pem.len && algs & 1u << keys[i].alg);
        for (size_t k = 0; k < i; k++)
            ASSERT(!str_eq(keys[i].kid, keys[k].kid));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 70000)
        return 0;
    struct arena *a = arena_new(8 << 20);
    struct str text = str_n((const char *)data + 1, size - 1);
    if (data[0] & 4)
        try_keys(a, text, data[0] & 3);
    else
        try_token(a, text);
    arena_free(a);
    return 0;
}
