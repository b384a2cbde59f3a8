/* SPDX-License-Identifier: Apache-2.0 */
/* create_int.h - a backup in the making, between create.c and create_objects.c. */
#pragma once
#include <stdio.h>
#include "backup/backup.h"
#include "core/db/session.h"
#include "registry/vault/blob_store.h"

struct create {
    struct backup *b;
    struct set set;
    struct db_session *session;
    struct blob_store *store;
    struct arena *page;
    FILE *list;
    int64_t copied;
};

/* Before the snapshot: into the pool what it has not yet. */
MUST_CHECK enum errc create_copy_ahead(struct create *c, struct err *e);
/* In the snapshot: what is new since, and the list of all objects. */
MUST_CHECK enum errc create_list_objects(struct create *c, struct err *e);
/* After the snapshot: whose bytes are missing because it was deleted meanwhile; and the digest of the list. */
MUST_CHECK enum errc create_judge_missing(struct create *c, struct err *e);
