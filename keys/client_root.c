/* SPDX-License-Identifier: Apache-2.0 */
/* client_root.c - the verbs of falaj-keyd about roots, imported and sovereign keys, and attestation. */
#include "keys/client_int.h"

/* The reply is one byte, yes or no, for which ret may be NULL. */
static enum errc call_for_bool(struct keyd_client *c, struct str zone, struct buf *request, bool *ret, struct err *e)
{
    struct wire_in in;
    REPLY(reply);
    TRY(keyd_call(c, zone, request, &reply, &in, e));
    bool yes = wire_u8(&in) != 0;
    TRY(keyd_reply_done(&in, e));
    if (ret)
        *ret = yes;
    return ERR_OK;
}

enum errc keyd_root_new(struct keyd_client *c, struct str zone, struct uuid tenant, uint32_t *ret_version, struct err *e)
{
    struct wire_in in;
    REQUEST(request);
    REPLY(reply);
    wire_begin(&request, KEYD_ROOT_NEW);
    wire_put_text(&request, zone);
    wire_put_raw(&request, tenant.b, sizeof tenant.b);
    TRY(keyd_call(c, zone, &request, &reply, &in, e));
    uint32_t version = wire_u32(&in);
    TRY(keyd_reply_done(&in, e));
    *ret_version = version;
    return ERR_OK;
}

enum errc keyd_root_destroy(struct keyd_client *c, struct str zone, struct uuid tenant, uint32_t version, bool *ret_was_there,
                            struct err *e)
{
    REQUEST(request);
    wire_begin(&request, KEYD_ROOT_DESTROY);
    wire_put_text(&request, zone);
    wire_put_raw(&request, tenant.b, sizeof tenant.b);
    wire_put_u32(&request, version);
    return call_for_bool(c, zone, &request, ret_was_there, e);
}

enum errc keyd_import_public(struct keyd_client *c, struct str zone, uint8_t ret_point[P256_POINT], struct err *e)
{
    struct wire_in in;
    REQUEST(request);
    REPLY(reply);
    wire_begin(&request, KEYD_IMPORT_PUBLIC);
    wire_put_text(&request, zone);
    TRY(keyd_call(c, zone, &request, &reply, &in, e));
    struct str point = wire_run(&in, P256_POINT);
    TRY(keyd_reply_done(&in, e));
    memcpy(ret_point, point.ptr, P256_POINT);
    return ERR_OK;
}

enum errc keyd_tkek_import(struct keyd_client *c, const struct tkek_ref *t, const uint8_t ephemeral[P256_POINT],
                           const uint8_t sealed[IMPORT_SEALED], struct key_blob *ret, struct err *e)
{
    REQUEST(request);
    wire_begin(&request, KEYD_TKEK_IMPORT);
    wire_put_tkek(&request, t);
    wire_put_raw(&request, ephemeral, P256_POINT);
    wire_put_raw(&request, sealed, IMPORT_SEALED);
    return keyd_call_blob(c, t->zone, &request, ret, NULL, e);
}

enum errc keyd_sovereign_new(struct keyd_client *c, const struct tkek_ref *t, struct key_blob *ret, struct err *e)
{
    REQUEST(request);
    wire_begin(&request, KEYD_SOVEREIGN_NEW);
    wire_put_tkek(&request, t);
    return keyd_call_blob(c, t->zone, &request, ret, NULL, e);
}

enum errc keyd_sovereign_destroy(struct keyd_client *c, const struct tkek_ref *t, bool *ret_was_there, struct err *e)
{
    REQUEST(request);
    wire_begin(&request, KEYD_SOVEREIGN_DESTROY);
    wire_put_tkek(&request, t);
    return call_for_bool(c, t->zone, &request, ret_was_there, e);
}

enum errc keyd_attest(struct keyd_client *c, struct str zone, struct attest *ret, struct err *e)
{
    struct wire_in in;
    REQUEST(request);
    REPLY(reply);
    wire_begin(&request, KEYD_ATTEST);
    wire_put_text(&request, zone);
    TRY(keyd_call(c, zone, &request, &reply, &in, e));
    wire_attest(&in, ret);
    return keyd_reply_done(&in, e);
}

enum errc keyd_forget(struct keyd_client *c, struct str zone, struct err *e)
{
    REQUEST(request);
    wire_begin(&request, KEYD_FORGET);
    wire_put_text(&request, zone);
    return call_for_bool(c, zone, &request, NULL, e);
}
