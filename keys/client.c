/* SPDX-License-Identifier: Apache-2.0 */
/* client.c - the verbs of falaj-keyd as functions: write the request, make the call, read the reply.
 *
 * A reply may hold a key, so its buffer is reserved in full before the call, never moves, and is wiped. */
#include <stdlib.h>
#include "core/base/cleanup.h"
#include "keys/client_int.h"

enum errc keyd_client_new(struct str zones, int timeout_ms, struct keyd_client **ret, struct err *e)
{
    if (timeout_ms <= 0)
        return FAIL(e, INVALID, "the timeout of the key service must be positive");
    struct keyd_client *c = calloc(1, sizeof *c);
    if (!c)
        return FAIL(e, LIMIT, "no memory for the key client");
    c->timeout_us = (int64_t)timeout_ms * 1000;
    enum errc rc = keyd_zones_parse(c, zones, e);
    if (rc != ERR_OK) {
        keyd_client_free(c);
        return rc;
    }
    *ret = c;
    return ERR_OK;
}

void keyd_client_free(struct keyd_client *c)
{
    if (!c)
        return;
    keyd_zones_free(c);
    free(c);
}

void keyd_client_freep(struct keyd_client **c)
{
    keyd_client_free(*c);
    *c = NULL;
}

bool keyd_client_has_zone(const struct keyd_client *c, struct str zone)
{
    struct keyd_zone *z;
    return keyd_zone_find(c, zone, &z, NULL) == ERR_OK;
}

enum errc keyd_health(struct keyd_client *c, struct str zone, struct keyd_health *ret, struct err *e)
{
    struct wire_in in;
    struct keyd_health h;
    REQUEST(request);
    REPLY(reply);
    wire_begin(&request, KEYD_HEALTH);
    wire_put_text(&request, zone);
    TRY(keyd_call(c, zone, &request, &reply, &in, e));
    h.is_sealed = wire_u8(&in);
    h.is_hardware = wire_u8(&in);
    h.root_version = wire_u32(&in);
    h.oldest_root_version = wire_u32(&in);
    h.cached_tkeks = wire_u64(&in);
    h.calls = wire_u64(&in);
    wire_text_into(&in, h.provider, sizeof h.provider);
    wire_text_into(&in, h.zone, sizeof h.zone);
    wire_text_into(&in, h.mechanism, sizeof h.mechanism);
    wire_text_into(&in, h.reason, sizeof h.reason);
    TRY(keyd_reply_done(&in, e));
    *ret = h;
    return ERR_OK;
}

enum errc keyd_tkek_new(struct keyd_client *c, const struct tkek_ref *t, struct key_blob *ret, struct err *e)
{
    REQUEST(request);
    wire_begin(&request, KEYD_TKEK_NEW);
    wire_put_tkek(&request, t);
    return keyd_call_blob(c, t->zone, &request, ret, NULL, e);
}

enum errc keyd_tkek_rewrap(struct keyd_client *c, const struct tkek_ref *t, const struct key_blob *tkek, struct key_blob *ret,
                           uint32_t *ret_version, struct err *e)
{
    uint32_t version = 0;
    REQUEST(request);
    wire_begin(&request, KEYD_TKEK_REWRAP);
    wire_put_tkek(&request, t);
    wire_put_blob(&request, tkek);
    TRY(keyd_call_blob(c, t->zone, &request, ret, &version, e));
    if (ret_version)
        *ret_version = version;
    return ERR_OK;
}

enum errc keyd_dek_new(struct keyd_client *c, const struct tkek_ref *t, const struct key_blob *tkek, const struct dek_ref *d,
                       struct key_blob *ret_wrapped, struct secret32 *ret_plain, struct err *e)
{
    struct wire_in in;
    struct key_blob blob;
    struct str plain = STR_NULL;
    REQUEST(request);
    REPLY(reply);
    wire_begin(&request, KEYD_DEK_NEW);
    wire_put_tkek(&request, t);
    wire_put_blob(&request, tkek);
    wire_put_dek(&request, d);
    wire_put_u8(&request, ret_plain != NULL);
    TRY(keyd_call(c, t->zone, &request, &reply, &in, e));
    wire_blob(&in, &blob);
    bool is_shown = wire_u8(&in);
    if (is_shown)
        plain = wire_run(&in, KEY_BYTES);
    TRY(keyd_reply_done(&in, e));
    if (is_shown != (ret_plain != NULL))
        return FAIL(e, UNAVAILABLE, "the key service answered another question");
    *ret_wrapped = blob;
    if (ret_plain)
        memcpy(ret_plain->b, plain.ptr, KEY_BYTES);
    return ERR_OK;
}

enum errc keyd_dek_open(struct keyd_client *c, const struct tkek_ref *t, const struct key_blob *tkek, const struct dek_ref *d,
                        const struct key_blob *wrapped, struct secret32 *ret_plain, struct err *e)
{
    struct wire_in in;
    REQUEST(request);
    REPLY(reply);
    wire_begin(&request, KEYD_DEK_OPEN);
    wire_put_tkek(&request, t);
    wire_put_blob(&request, tkek);
    wire_put_dek(&request, d);
    wire_put_blob(&request, wrapped);
    TRY(keyd_call(c, t->zone, &request, &reply, &in, e));
    struct str plain = wire_run(&in, KEY_BYTES);
    TRY(keyd_reply_done(&in, e));
    memcpy(ret_plain->b, plain.ptr, KEY_BYTES);
    return ERR_OK;
}

enum errc keyd_dek_rewrap(struct keyd_client *c, const struct tkek_ref *from, const struct key_blob *from_tkek,
                          const struct tkek_ref *to, const struct key_blob *to_tkek, const struct dek_ref *d,
                          const struct key_blob *wrapped, struct key_blob *ret, struct err *e)
{
    REQUEST(request);
    wire_begin(&request, KEYD_DEK_REWRAP);
    wire_put_tkek(&request, from);
    wire_put_blob(&request, from_tkek);
    wire_put_tkek(&request, to);
    wire_put_blob(&request, to_tkek);
    wire_put_dek(&request, d);
    wire_put_blob(&request, wrapped);
    return keyd_call_blob(c, from->zone, &request, ret, NULL, e);
}

enum errc keyd_release(struct keyd_client *c, const struct release_terms *terms, const struct keyd_release_item *items, size_t n,
                       uint8_t *message, size_t *ret_len, struct err *e)
{
    struct wire_in in;
    REQUEST(request);
    REPLY(reply);
    if (n == 0 || n > RELEASE_KEYS_MAX)
        return FAIL(e, INVALID, "a release carries 1 to %d keys, not %zu", RELEASE_KEYS_MAX, n);
    wire_begin(&request, KEYD_RELEASE);
    wire_put_terms(&request, terms);
    wire_put_u8(&request, (uint8_t)n);
    for (size_t i = 0; i < n; i++) {
        wire_put_tkek(&request, &items[i].tkek);
        wire_put_blob(&request, &items[i].tkek_blob);
        wire_put_dek(&request, &items[i].dek);
        wire_put_blob(&request, &items[i].wrapped);
    }
    TRY(keyd_call(c, terms->zone, &request, &reply, &in, e));
    struct str sealed = wire_text(&in);
    TRY(keyd_reply_done(&in, e));
    if (sealed.len > RELEASE_MESSAGE_MAX)
        return FAIL(e, UNAVAILABLE, "the key service gave a reply that is too long");
    memcpy(message, sealed.ptr, sealed.len);
    *ret_len = sealed.len;
    return ERR_OK;
}

enum errc keyd_sign(struct keyd_client *c, struct str zone, const void *bytes, size_t n, uint8_t ret_sig[ED25519_SIG],
                    uint8_t ret_key_id[KEY_ID_BYTES], struct err *e)
{
    struct wire_in in;
    REQUEST(request);
    REPLY(reply);
    if (n > KEYD_SIGN_MAX)
        return FAIL(e, TOO_LARGE, "at most %d bytes are signed at once", KEYD_SIGN_MAX);
    wire_begin(&request, KEYD_SIGN);
    wire_put_text(&request, zone);
    wire_put_u32(&request, (uint32_t)n);
    wire_put_raw(&request, bytes, n);
    TRY(keyd_call(c, zone, &request, &reply, &in, e));
    struct str sig = wire_run(&in, ED25519_SIG), key_id = wire_run(&in, KEY_ID_BYTES);
    TRY(keyd_reply_done(&in, e));
    memcpy(ret_sig, sig.ptr, sig.len);
    memcpy(ret_key_id, key_id.ptr, key_id.len);
    return ERR_OK;
}

enum errc keyd_public_key(struct keyd_client *c, struct str zone, uint8_t ret_public[ED25519_PUBLIC],
                          uint8_t ret_key_id[KEY_ID_BYTES], struct err *e)
{
    struct wire_in in;
    REQUEST(request);
    REPLY(reply);
    wire_begin(&request, KEYD_PUBLIC_KEY);
    wire_put_text(&request, zone);
    TRY(keyd_call(c, zone, &request, &reply, &in, e));
    struct str public_key = wire_run(&in, ED25519_PUBLIC);
    TRY(keyd_reply_done(&in, e));
    memcpy(ret_public, public_key.ptr, public_key.len);
    ed25519_key_id(ret_public, ret_key_id);
    return ERR_OK;
}

static enum errc call_for_text(struct keyd_client *c, struct arena *a, struct str zone, struct buf *request, struct str *ret, struct err *e)
{
    struct wire_in in;
    REPLY(reply);
    TRY(keyd_call(c, zone, request, &reply, &in, e));
    struct str text = wire_text(&in);
    TRY(keyd_reply_done(&in, e));
    *ret = str_dup(a, text);
    return ERR_OK;
}

enum errc keyd_ca_sign(struct keyd_client *c, struct arena *a, struct str zone, const struct keyd_ca_request *r, struct str *ret_pem,
                       struct err *e)
{
    REQUEST(request);
    if (r->csr_pem.len > UINT16_MAX || r->pool.len > UINT16_MAX || r->name.len > UINT16_MAX || r->lease.len > UINT16_MAX)
        return FAIL(e, TOO_LARGE, "the certificate request is too long");
    wire_begin(&request, KEYD_CA_SIGN);
    wire_put_text(&request, zone);
    wire_put_text(&request, r->pool);
    wire_put_text(&request, r->name);
    wire_put_text(&request, r->lease);
    wire_put_u32(&request, r->lifetime_s);
    wire_put_text(&request, r->csr_pem);
    return call_for_text(c, a, zone, &request, ret_pem, e);
}

enum errc keyd_ca_certificate(struct keyd_client *c, struct arena *a, struct str zone, struct str *ret_pem, struct err *e)
{
    REQUEST(request);
    wire_begin(&request, KEYD_CA_PUBLIC);
    wire_put_text(&request, zone);
    return call_for_text(c, a, zone, &request, ret_pem, e);
}
