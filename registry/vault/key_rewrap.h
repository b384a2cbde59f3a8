/* SPDX-License-Identifier: Apache-2.0 */
/* key_rewrap.h - moving wrapped keys to a newer version, in batches that can stop anywhere.
 *
 * tenant: the data keys of one tenant in one zone go under its primary version. root: the tenant keys of a zone go under the current
 * root. Data is never touched. What is left to do is found by its version column, never by a list made at the start, so a crash, a
 * second rotation or a key made meanwhile under the old version is only more of the same work. A key that does not open is counted as
 * failed, logged, and stays as it is.
 * Calling order: rewrap_start in the rotating transaction; rewrap_next by the leader until it says there is none, each call a
 * transaction of the edge. falaj-keyd does the unwrapping and wrapping: no key is seen here.
 * Memory: w->arena. Errors: those of the transaction. A falaj-keyd that is sealed or does not answer stops a
 * batch as a whole; the rewrap keeps the reason as its message and waits behind those of other zones. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

enum { REWRAP_BATCH = 500 };

struct rewrap {
    struct uuid rewrap_id;
    struct str zone, kind;
    int64_t to_version;
    struct str state;
    int64_t total, done, failed;
    struct str message;
    struct timestamp started_at, updated_at, finished_at;
};
extern const struct schema rewrap_schema;

/* Of w->tenant_id; one that runs for the same zone and kind is superseded. */
enum errc rewrap_start(struct work *w, struct str zone, const char *kind, int64_t to_version, struct err *e) MUST_CHECK;
/* Newest first. */
enum errc rewrap_list(struct work *w, struct str zone, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
/* System scope: one batch of the rewrap that waited longest. ret_any false: nothing to do, or its zone's falaj-keyd refused; rest a while. */
enum errc rewrap_next(struct work *w, bool *ret_any, int64_t *ret_moved, struct err *e) MUST_CHECK;
/* System scope: start one for every tenant and zone that has data keys under a version that is DECRYPT_ONLY and none running. */
enum errc rewrap_find_left(struct work *w, int64_t *ret_started, struct err *e) MUST_CHECK;

extern const struct stmt *const key_rewrap_stmts[];         /* falaj-api */
extern const struct stmt *const key_rewrap_leader_stmts[];  /* falaj-scheduler */
