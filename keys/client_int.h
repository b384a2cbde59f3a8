/* SPDX-License-Identifier: Apache-2.0 */
/* client_int.h - the transport below client.c: one request, one reply, over a kept connection of the zone. (client_conn.c) */
#pragma once
#include "core/base/cleanup.h"
#include "keys/client.h"
#include "keys/keyd_wire.h"

struct keyd_zone;
struct keyd_client {
    struct keyd_zone *zones;
    size_t n_zones;
    int64_t timeout_us;
};

/* UNAVAILABLE when no such zone is configured. */
enum errc keyd_zone_find(const struct keyd_client *c, struct str zone, struct keyd_zone **ret, struct err *e);
enum errc keyd_zones_parse(struct keyd_client *c, struct str zones, struct err *e);
void keyd_zones_free(struct keyd_client *c);
/* request: a frame ended by wire_end. reply: BUF(KEYD_REPLY_MAX), reserved; afterwards *in stands at the body of a DONE. */
enum errc keyd_call(const struct keyd_client *c, struct str zone, struct buf *request, struct buf *reply, struct wire_in *in,
                    struct err *e);
/* The reply has been read whole, or UNAVAILABLE. */
enum errc keyd_reply_done(const struct wire_in *in, struct err *e);
/* A call whose reply is one wrapped key and, where ret_version is given, a u32. */
enum errc keyd_call_blob(const struct keyd_client *c, struct str zone, struct buf *request, struct key_blob *ret,
                         uint32_t *ret_version, struct err *e);
void keyd_reply_wipe(struct buf *b);

#define REQUEST(name) CLEANUP(buf_releasep) struct buf name = BUF(KEYD_FRAME_MAX)
#define REPLY(name) CLEANUP(keyd_reply_wipe) struct buf name = BUF(KEYD_REPLY_MAX)
