/* SPDX-License-Identifier: Apache-2.0 */
/* pii.h - personal fields of audit events: sealed under a key of the person, so that destroying the key erases them from every copy of
 * the log while all proofs stay (docs/audit-format.md §1).
 *
 * A sealed field is the text "sealed:1:<key id>:<base64url of iv || ciphertext || tag>". The iv is the first 96 bits of
 * HMAC-SHA-256(mac key, field || 0 || text): the same text under the same key gives the same seal, so whoever may use the keys can
 * test a known value against the log, and nobody else can. Both keys come from the subject's key by HMAC, so erasing it ends that too.
 * A subject is a user; callers that nobody knows share one key of the platform.
 * Invariants: sealing never waits and never fails: without a key in memory the field is withheld (null), never written in clear.
 * Calling order: audit_pii_new -> { audit_pii_is_ready, or audit_pii_load outside any transaction } -> events are sealed as they are
 * encoded (audit/event.h) -> audit_pii_free. Keys live in locked memory for KEEP_US and are then read again, so that an erasure
 * reaches every process. Any thread.
 * Errors of audit_pii_load: those of PostgreSQL and falaj-keyd; a failure is remembered for a short while, so that nobody waits twice. */
#pragma once
#include "audit/record.h"

struct work;
struct stmt;
struct audit_pii;

struct audit_pii *audit_pii_new(void);
void audit_pii_free(struct audit_pii *p);
/* The key is in memory, or known not to be had at the moment. */
bool audit_pii_is_ready(struct audit_pii *p, struct uuid subject, int64_t now_us);
/* Read the subject's key, or make it; zone: where the tenant's key is. w->tx must be NULL. Erased subjects get no new key. */
MUST_CHECK enum errc audit_pii_load(struct work *w, struct audit_pii *p, struct uuid tenant, struct uuid subject, struct str zone, struct err *e);
/* False: no key in memory, or the text is too long. out: AUDIT_TEXT_MAX bytes. */
bool audit_pii_seal(struct audit_pii *p, struct uuid subject, const char *field, struct str plain, char *out, struct str *ret);
/* After an erasure, in the process that did it. */
void audit_pii_forget(struct audit_pii *p, struct uuid subject);

enum audit_pii_state { PII_CLEAR, PII_OPEN, PII_ERASED, PII_UNREADABLE };
/* What a field says to who may read it: as it is where it was never sealed; opened; or which of the reasons it is not. In w->tx. */
MUST_CHECK enum errc audit_pii_read(struct work *w, struct uuid tenant, const char *field, struct str stored, struct str *ret,
                                    enum audit_pii_state *ret_state, struct err *e);
/* How this value stands sealed under each live key of the tenant, or of one subject (nil: all); at most AUDIT_PII_TEST_MAX. In w->tx. */
enum { AUDIT_PII_TEST_MAX = 1000 };
MUST_CHECK enum errc audit_pii_test(struct work *w, struct uuid tenant, struct uuid subject, const char *field, struct str value,
                                    struct str **ret, size_t *ret_n, struct err *e);

#define AUDIT_PII_SOURCE "src_ip"

extern const struct stmt *const audit_pii_stmts[];
