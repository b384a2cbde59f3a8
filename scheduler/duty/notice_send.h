/* SPDX-License-Identifier: Apache-2.0 */
/* notice_send.h - makes the deliveries of the outbox (tenants/notice/delivery.h): webhooks on one thread of curl, mails on a
 * thread of
 * their own. While this scheduler leads.
 *
 * Webhook  POST of tenants/notice/text.h's body, signed as Standard Webhooks 1.0.0 says. An outside call: https, no
 * redirects, no proxy, no
 *          address that outside_may_connect refuses, NOTICE_CALL_MS, an answer of NOTICE_ANSWER_MAX bytes. 2xx is delivered;
 * 410 ends it;
 *          all else is tried again after a pause that grows, notify.tries times in all, then it is DEAD, with its reason,
 * and audited.
 * Mail     through smtp.url; one that the server refuses for good is DEAD at once.
 * Fair: at most NOTICE_CALLS webhooks are under way, of one tenant NOTICE_SHARE and those of one more turn; tenants come in
 * turns, so one
 * that floods or whose receiver hangs holds up nobody else. Mails: one of each tenant in a turn.
 * A delivery that was under way when the program died is made again: at least once, under the same id.
 * Calling order: notice_sender_new -> notice_sender_free. Threads: its own two, and curl's. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/base/work.h"

enum { NOTICE_CALLS = 64, NOTICE_SHARE = 4, NOTICE_CALL_MS = 10000, NOTICE_ANSWER_MAX = 64 << 10 };

struct notice_sender;
struct notice_sender *notice_sender_new(const struct app *app, bool (*is_leading)(void *ctx), void *ctx);
void notice_sender_free(struct notice_sender *s);           /* calls under way are ended and made again later; NULL is fine */
