/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_hpke.c - any bytes as a released message: it never opens, and the ids and terms are never read past their end. */
/* USES: core_base core_crypto core_wire */
#include <stdlib.h>
#include "core/wire/release_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct secret32 secret = { { 77 } };
    const struct release_terms terms = { STR("z"), { { 1 } }, { { 2 } }, 3, 4, { 0 } };
    static const struct uuid ids[RELEASE_KEYS_MAX];
    struct release_key keys[RELEASE_KEYS_MAX];
    uint8_t out[4096];
    size_t n = 0;
    if (size <= sizeof out
        && hpke_open(HPKE_AES256_GCM, &secret, STR("info"), STR_NULL, data, size, out, &n, NULL) == ERR_OK)
        abort();
    size_t count = size > HPKE_OVERHEAD + 2 ? (size - HPKE_OVERHEAD - 2) / RELEASE_KEY : 0;
    if (release_open(&secret, &terms, ids, count, data, size, keys, NULL) == ERR_OK)
        abort();
    return 0;
}
