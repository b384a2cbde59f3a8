/* SPDX-License-Identifier: Apache-2.0 */
/* anchor.h - puts the zone's newest signed head where whoever rules the database does not: a file that is only appended to, a webhook,
 * the key service of another zone. A head covers every tenant's, so one small record pins all logs.
 *
 * File      one line per anchor: {"v":1,"zone":…,"size":…,"ts_us":…,"head":"<base64>","sig":"<base64>","prev":"<hex>"}; prev is the SHA-256 of
 *           the line before without its newline (zeros for the first), so a line that is cut out shows. O_APPEND, locked, fsynced.
 * Webhook   POST of {"type":"audit.head","timestamp":…,"data":{the same members but prev}} signed as Standard Webhooks 1.0.0 says:
 *           webhook-signature: v1,base64(HMAC-SHA-256(secret, id "." timestamp "." body)). HTTPS, or HTTP to the own machine. Bounded tries.
 * Zone      the other zone's Ed25519 key signs "falaj-anchor-v1 " followed by the head's body.
 * Each outcome is a row of audit_anchor and an event of the platform's log. A target has each head at most once.
 * Calling order: audit_anchor_newest in a transaction -> audit_anchor_* outside one (they wait for disks and networks) ->
 * audit_anchor_note in a transaction. Memory: w->arena. */
#pragma once
#include "audit/head.h"
#include "core/base/err.h"
#include "core/crypto/sign.h"

struct work;
struct stmt;
struct keyd_client;
struct arena;

struct anchor_head {
    char zone[AUDIT_ZONE_MAX + 1];
    int64_t size, ts_us;
    struct str body;                    /* canonical bytes */
    uint8_t sig[AUDIT_SIG];
};
struct anchor_proof {
    uint8_t bytes[AUDIT_SIG];
    size_t n;
    char key_id[AUDIT_KEY_ID];
};

/* The zone's newest head; *ret_found false: none yet. */
MUST_CHECK enum errc audit_anchor_newest(struct work *w, struct anchor_head *ret, bool *ret_found, struct err *e);
/* Whether this target has this head. */
MUST_CHECK enum errc audit_anchor_has(struct work *w, const char *kind, struct str target, int64_t size, bool *ret, struct err *e);
MUST_CHECK enum errc audit_anchor_note(struct work *w, const struct anchor_head *h, const char *kind, struct str target, const struct anchor_proof *p,
                                       enum errc outcome, struct err *e);

MUST_CHECK enum errc audit_anchor_file(const struct anchor_head *h, const char *dir, struct anchor_proof *ret, struct err *e);
MUST_CHECK enum errc audit_anchor_zone(const struct anchor_head *h, struct keyd_client *keyd, struct str zone, struct anchor_proof *ret, struct err *e);
/* secret: "whsec_" and base64, or plain bytes. tries: at most 8, with 1, 2, 4 … s between. */
MUST_CHECK enum errc audit_anchor_webhook(struct arena *a, const struct anchor_head *h, const char *url, const char *secret, int tries, int64_t now_us,
                                          struct err *e);
/* UNPROCESSABLE unless https, or http to a loopback address or localhost. */
MUST_CHECK enum errc audit_anchor_check_url(const char *url, struct err *e);
/* The members that every anchor has, without braces. */
void anchor_members(struct buf *b, const struct anchor_head *h);

extern const struct stmt *const audit_anchor_stmts[];
