/* SPDX-License-Identifier: Apache-2.0 */
/* webhook.h - signatures of webhooks as Standard Webhooks 1.0.0 has them: "v1," base64(HMAC-SHA-256(secret, id "." timestamp
 * "." body)).
 *
 * A secret is text: "whsec_" and the base64 of its bytes, or the bytes as they are. Pure but for webhook_secret_new. Source:
 * standardwebhooks.com, spec 1.0.0. Errors: LIMIT (a body above WEBHOOK_BODY_MAX), INTERNAL (no random bytes). */
#pragma once
#include "core/base/err.h"
#include "core/base/str.h"

enum { WEBHOOK_BODY_MAX = 16384, WEBHOOK_SECRET_TEXT = 6 + BASE64_MAX(32), WEBHOOK_SIGNATURE = 3 + BASE64_MAX(32),
    WEBHOOK_SECRET_MAX = 256 };

MUST_CHECK enum errc webhook_secret_new(char ret[WEBHOOK_SECRET_TEXT], struct err *e);
/* at_s: seconds since 1970, as the header webhook-timestamp says it too. */
MUST_CHECK enum errc webhook_sign(struct str secret, struct str id, int64_t at_s, struct str body, char ret[WEBHOOK_SIGNATURE],
                                  struct err *e);
