/* SPDX-License-Identifier: Apache-2.0 */
/* release_wire.c - how data keys travel from falaj-keyd to one worker. Fields of the info are those of struct aad (u32 length ||
 * bytes), written into a larger buffer because 64 ids do not fit one. */
#include "core/wire/release_wire.h"
#include "core/crypto/hash.h"

enum { RELEASE_VERSION = 1 };

static enum errc check(const struct release_terms *t, size_t n, struct err *e)
{
    if (n == 0 || n > RELEASE_KEYS_MAX)
        return FAIL(e, INVALID, "a release carries 1 to %d keys, not %zu", RELEASE_KEYS_MAX, n);
    if (t->zone.len == 0 || t->zone.len > 63 || uuid_is_nil(t->worker_id) || uuid_is_nil(t->job_id) || t->not_after_us <= 0)
        return FAIL(e, INVALID, "a release needs a zone, a worker, a job and an end");
    return ERR_OK;
}

enum errc release_info(const struct release_terms *t, const struct uuid *dek_ids, size_t n, uint8_t out[RELEASE_INFO_MAX],
                       size_t *ret_len, struct err *e)
{
    struct aad head, tail;
    TRY(check(t, n, e));
    aad_init(&head, "falaj-kr-v1");
    aad_str(&head, t->zone);
    aad_uuid(&head, t->worker_id);
    aad_uuid(&head, t->job_id);
    aad_u64(&head, t->fence);
    aad_u32(&head, (uint32_t)n);
    tail.n = 0;
    tail.overflow = false;
    aad_u64(&tail, (uint64_t)t->not_after_us);
    size_t ids = n * sizeof *dek_ids;
    if (head.overflow || head.n + ids + tail.n > RELEASE_INFO_MAX)
        return FAIL(e, INVALID, "the terms of the release are too long");
    memcpy(out, head.b, head.n);
    memcpy(out + head.n, dek_ids, ids);
    memcpy(out + head.n + ids, tail.b, tail.n);
    *ret_len = head.n + ids + tail.n;
    return ERR_OK;
}

enum errc release_seal(const struct release_terms *t, const struct release_key *keys, size_t n, uint8_t *message, size_t *ret_len,
                       struct err *e)
{
    uint8_t plain[2 + RELEASE_KEYS_MAX * RELEASE_KEY], info[RELEASE_INFO_MAX];
    struct uuid ids[RELEASE_KEYS_MAX];
    size_t info_len = 0;
    TRY(check(t, n, e));
    for (size_t i = 0; i < n; i++)
        ids[i] = keys[i].dek_id;
    TRY(release_info(t, ids, n, info, &info_len, e));
    plain[0] = RELEASE_VERSION;
    plain[1] = (uint8_t)n;
    for (size_t i = 0; i < n; i++) {
        memcpy(plain + 2 + i * RELEASE_KEY, keys[i].dek_id.b, 16);
        memcpy(plain + 2 + i * RELEASE_KEY + 16, keys[i].key.b, KEY_BYTES);
    }
    size_t plain_len = 2 + n * RELEASE_KEY;
    enum errc rc = hpke_seal(HPKE_AES256_GCM, t->worker_key, str_n((const char *)info, info_len), STR_NULL, plain, plain_len,
                             message, e);
    secret_wipe(plain, plain_len);
    if (rc == ERR_OK)
        *ret_len = plain_len + HPKE_OVERHEAD;
    return rc;
}

static bool take_keys(const uint8_t *plain, size_t plain_len, const struct uuid *dek_ids, size_t n, struct release_key *keys)
{
    if (plain_len != 2 + n * RELEASE_KEY || plain[0] != RELEASE_VERSION || plain[1] != n)
        return false;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *at = plain + 2 + i * RELEASE_KEY;
        if (memcmp(at, dek_ids[i].b, 16) != 0)
            return false;
        keys[i].dek_id = dek_ids[i];
        memcpy(keys[i].key.b, at + 16, KEY_BYTES);
    }
    return true;
}

enum errc release_open(const struct secret32 *worker_secret, const struct release_terms *t, const struct uuid *dek_ids, size_t n,
                       const void *message, size_t message_len, struct release_key *keys, struct err *e)
{
    uint8_t plain[2 + RELEASE_KEYS_MAX * RELEASE_KEY], info[RELEASE_INFO_MAX];
    size_t info_len = 0, plain_len = 0;
    TRY(release_info(t, dek_ids, n, info, &info_len, e));
    if (message_len != HPKE_OVERHEAD + 2 + n * RELEASE_KEY)
        return FAIL(e, DAMAGED, "the released keys have the wrong size");
    TRY(hpke_open(HPKE_AES256_GCM, worker_secret, str_n((const char *)info, info_len), STR_NULL, message, message_len, plain,
                  &plain_len, e));
    bool ok = take_keys(plain, plain_len, dek_ids, n, keys);
    secret_wipe(plain, sizeof plain);
    if (ok)
        return ERR_OK;
    secret_wipe(keys, n * sizeof *keys);
    return FAIL(e, DAMAGED, "the released keys are not those of the lease");
}
