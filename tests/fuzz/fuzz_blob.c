/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_blob.c - any bytes as a wrapped key, as a sealed object and as an API token: nothing opens, nothing is read past its end. */
/* USES: core_base core_crypto */
#include <stdlib.h>
#include "core/crypto/seal.h"
#include "core/crypto/stream.h"
#include "core/crypto/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum errc swallow(void *ctx, const void *p, size_t n, struct err *e)
{
    (void)ctx, (void)p, (void)n, (void)e;
    abort();                                /* a chunk opened without its key */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct secret32 key = { { 1, 2, 3 } };
    const struct stream_ref ref = { { { 1 } }, STR("dataset"), { { 2 } }, 1, { { 3 } } };
    struct blob_head head;
    struct aad aad;
    uint8_t out[4096];
    size_t n = 0;
    aad_init(&aad, "fuzz");
    if (blob_parse(data, size, &head, NULL) == ERR_OK
        && blob_open(&key, &head, &aad, data, size, out, sizeof out, &n, NULL) == ERR_OK)
        abort();
    struct stream_opener *s = NULL;
    if (stream_opener_new(&key, &ref, swallow, NULL, &s, NULL) == ERR_OK) {
        if (stream_opener_feed(s, data, size, NULL) == ERR_OK && stream_opener_finish(s, NULL) == ERR_OK)
            abort();
        stream_opener_free(s);
    }
    (void)token_check(str_n((const char *)data, size), NULL);
    return 0;
}
