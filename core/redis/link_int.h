/* SPDX-License-Identifier: Apache-2.0 */
/* link_int.h - one connection to a Redis or a Sentinel. hiredis makes the commands and takes the answers apart (RESP2); the
 * bytes go through a socket or through core/crypto/tls.h here, since Debian's hiredis has no TLS.
 *
 * Calling order: redis_link_open -> redis_link_add* -> redis_link_reply for each -> redis_link_free. One thread.
 * Time: opening, each answer and each write wait at most the address's timeout_ms. An answer has at most REPLY_BYTES_MAX bytes.
 * Errors: UNAVAILABLE (nobody there), DEADLINE (silence), FORBIDDEN (the server is not who was named), UPSTREAM (lost, or no
 * RESP), INVALID (own files). After an error the link is only to be freed. */
#pragma once
#include <hiredis/hiredis.h>
#include "core/redis/client_int.h"

MUST_CHECK enum errc redis_link_open(const struct redis_address *a, struct str place, struct redis_link **ret, struct err *e);
/* One command more to be written. */
void redis_link_add(struct redis_link *l, const struct str *argv, int argc);
void redis_link_add_argv(struct redis_link *l, int argc, const char **argv, const size_t *lens);
/* Writes what is unwritten and waits for one answer, freeReplyObject's. */
MUST_CHECK enum errc redis_link_reply(struct redis_link *l, redisReply **ret, struct err *e);
/* Writes what is unwritten; takes one answer that has come already, or NULL. */
MUST_CHECK enum errc redis_link_poll(struct redis_link *l, redisReply **ret, struct err *e);
int redis_link_fd(const struct redis_link *l);
void redis_link_free(struct redis_link *l);
