/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - a delivery as a webhook's body and as a mail. Pure.
 *
 * Webhook  canonical JSON (RFC 8785 for what is in it: members by name, no white space, integers only):
 *          {"data":{"detail":{…},"name":…,"project_id":…,"resource_id":…,"resource_kind":…,"tenant_id":…,"url":…},
 *           "event":"job-failed","id":"ntd_…","timestamp":"2026-11-26T19:02:41.000Z","version":1}; members that are not
 * known are left out.
 * Mail     a subject of one line and a plain text, English or Arabic: what happened, to what, when, and where to look. Names
 * of things and
 *          machine words only: no content, no address, no regulated data.
 * Memory: the arena. */
#pragma once
#include "core/base/arena.h"
#include "core/base/err.h"
#include "tenants/notice/delivery.h"

/* base: api.public_url, "" for none. */
MUST_CHECK enum errc notice_text_webhook(struct arena *a, const struct notice_claimed *d, const char *base, struct str *ret,
    struct err *e);
void notice_text_mail(struct arena *a, const struct notice_claimed *d, const char *base, struct str *ret_subject,
    struct str *ret_text);
/* The details that are told, of those of an entry of the log, as a JSON object. */
MUST_CHECK enum errc notice_text_detail(struct arena *a, struct json details, struct str *ret, struct err *e);
