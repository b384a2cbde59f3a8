/* SPDX-License-Identifier: Apache-2.0 */
/* node_repo.h - the only place with SQL for machines; each function runs one statement. */
#pragma once
#include "scheduler/engine/lease_repo.h"
#include "scheduler/engine/node.h"

enum errc node_repo_upsert(struct db_tx *tx, struct uuid new_id, const struct node_register *in, struct str identity, struct node *ret,
                           struct err *e) MUST_CHECK;
/* Live attempts of this node, locked: those of a run of the agent that is over. */
enum errc node_repo_live(struct db_tx *tx, struct uuid node_id, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
struct node_run {
    struct uuid node_id, boot_id;
    bool is_heard;                  /* within silence_ms */
};
/* The run that is registered for the machine, its row under lock. */
enum errc node_repo_boot(struct db_tx *tx, struct str identity, int64_t silence_ms, struct node_run *ret, bool *found, struct err *e) MUST_CHECK;
/* The machine, and that it is heard of is noted once a second. */
struct db_ask *node_repo_beat_ask(struct db_tx *tx, const struct node_call *c);
/* Queued: it is heard of now. As a condition of a row: it is not noted that it was, within the last second. */
void node_repo_beat(struct db_tx *tx, const struct node_call *c);
#define NODE_IS_DUE(n) n "last_seen_at < clock_timestamp() - interval '1 second' OR " n "state = 'LOST'"
enum errc node_repo_beat_told(struct db_tx *tx, const struct node_call *c, struct node *ret, bool *found,
                              struct err *e) MUST_CHECK;
enum errc node_repo_set_flavor(struct db_tx *tx, struct uuid node_id, struct str flavor, bool *done, struct err *e) MUST_CHECK;
enum errc node_repo_get(struct db_tx *tx, struct uuid node_id, struct node *ret, struct err *e) MUST_CHECK;
enum errc node_repo_mark_lost(struct db_tx *tx, int64_t silence_ms, int64_t *ret_lost, struct err *e) MUST_CHECK;
enum errc node_repo_work(struct db_tx *tx, struct uuid node_id, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
extern const struct stmt node_list_stmt;             /* for list_find */
