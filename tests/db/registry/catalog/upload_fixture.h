/* SPDX-License-Identifier: Apache-2.0 */
/* upload_fixture.h - two data sets of two tenants, and uploads to them step by step. */
#pragma once
#include "tests/db/registry/fixture.h"
#include "core/base/cleanup.h"
#include "core/db/run_tx.h"
#include "registry/catalog/upload.h"

static const struct dataset_new DIGITS = { { "digits", 6 }, { "", 0 }, 1, { "label", 5 }, 2 };
static const char CSV[] = "a,b,label\n1,2,0\n3,4,1\n5,6,0\n7,8,1\n";
static struct dataset sets[2];
static bool keeps_refused;              /* as an upload that is completed in the background does */

static inline struct dataset make_dataset(int tenant)
{
    struct work w = begin(tenant);
    struct dataset d;
    OK(dataset_create(&w, &DIGITS, &d, &e));
    end(&w);
    return d;
}

static inline int setup_sets(void **state)
{
    int rc = setup(state);
    sets[0] = make_dataset(0);
    sets[1] = make_dataset(1);
    return rc;
}

static inline struct upload start(int tenant, int64_t size, const char *sha)
{
    struct work w = begin(tenant);
    struct upload u;
    struct upload_new in = { sets[tenant].dataset_id, size, sha ? str_c(sha) : STR_NULL, STR_NULL };
    OK(upload_begin(&w, &in, &u, &e));
    end(&w);
    assert_int_equal(u.offset, 0);
    return u;
}

static inline enum errc send(int tenant, const struct upload *u, int64_t offset, const char *p, size_t n, struct upload *ret)
{
    struct work w = begin(tenant);
    const struct upload_piece *piece;
    end(&w);
    TRY(upload_part_seal(&w, u->upload_id, offset, str_n(p, n), &piece, &e));
    enum errc rc = RUN_WRITE(&w, upload_part_take(&w, piece, ret, &e), &e);
    if (rc != ERR_OK)
        upload_part_drop(&w, piece);
    return rc;
}

static inline enum errc complete(int tenant, const struct upload *u, struct dataset_version *ret)
{
    struct work w = begin(tenant);
    struct upload_run *run;
    enum errc rc = upload_claim(&w, u->upload_id, &run, NULL, &e);
    if (rc != ERR_OK) {
        db_rollback(w.tx);
        return rc;
    }
    OK(db_commit(TAKE(w.tx), &e));
    rc = upload_assemble(&w, run, &e);
    if (rc == ERR_OK)
        rc = RUN_WRITE(&w, upload_finish(&w, run, ret, &e), &e);
    if (rc != ERR_OK)
        upload_give_up(&w, run, &e, keeps_refused);
    return rc;
}

static inline enum errc cancel(int tenant, const struct upload *u)
{
    struct work w = begin(tenant);
    enum errc rc = upload_cancel(&w, u->upload_id, NULL, &e);
    if (rc == ERR_OK)
        end(&w);
    db_rollback(w.tx);
    return rc;
}

/* Blobs that are there: what orphan_sweep may not remove. One that is being linked to its name has two, and counts once. */
static inline int blobs(void)
{
    char cmd[160];
    int n = -1;
    snprintf(cmd, sizeof cmd, "find %s/blobs -type f -printf '%%i\\n' | sort -u | wc -l", dir);
    FILE *f = popen(cmd, "r");
    assert_int_equal(fscanf(f, "%d", &n), 1);
    pclose(f);
    return n;
}

static inline void sql_count(const char *what, int want)
{
    char sql[2048];
    snprintf(sql, sizeof sql,
        "DO $$ BEGIN IF (SELECT count(*) FROM %s) <> %d THEN\n"
        "RAISE EXCEPTION 'there are %%', (SELECT count(*) FROM %s); END IF; END $$",
             what, want, what);
    pg_harness_exec(pg, DB, sql);
}
