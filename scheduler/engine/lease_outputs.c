/* SPDX-License-Identifier: Apache-2.0 */
/* lease_outputs.c - the outputs that successes of a report name: judged for the whole batch at once, since jobs that end together
 * must not together pass the quota. */
#include "core/wire/job_type.h"
#include "scheduler/engine/lease_report_int.h"

#define LEFT_OUT "warning: the output " JOB_REPORT " is not kept: the tenant's quota of stored data has no room for it\n"

/* What a tenant may still store; each success of the report takes its part of it. */
struct room {
    struct uuid tenant_id;
    int64_t bytes, objects;
};

static struct room *room_of(struct room *rooms, size_t n, struct uuid tenant)
{
    for (size_t i = 0; i < n; i++)
        if (uuid_eq(rooms[i].tenant_id, tenant))
            return &rooms[i];
    return NULL;
}

/* A report is worth less than what it tells of: a success may do without. */
static bool is_spare(struct report *r, const struct lease_item *it, struct uuid object)
{
    const struct track *t = report_track(r, it->tenant_id, it->attempt_id, false);
    const struct lease_output *o = it->outputs.items;
    for (size_t j = 0; j < it->outputs.n; j++)
        if (uuid_eq(o[j].object_id, object))
            return t->h && job_reports(t->h->kind) && str_eq_c(o[j].name, JOB_REPORT);
    return false;
}

static void spoil(struct report *r, size_t i, struct str why)
{
    r->is_spoiled[i] = true;
    r->spoiled_why[i] = why;
}

/* Whole outputs only, and as long as there is room for them: jobs that end together must not together pass the quota, or the
 * report could never be written. rows: outputs that are there; owner: the item of each output asked for. */
static void judge_outputs(struct report *r, const struct lease_item *items, size_t n, const size_t *owner, struct slice rows)
{
    struct arena *a = r->w->arena;
    const struct output_row *o = rows.items;
    struct room *rooms = ARENA_ARRAY(a, struct room, rows.n + 1);
    int64_t *bytes = ARENA_ARRAY(a, int64_t, n), *spare_bytes = ARENA_ARRAY(a, int64_t, n);
    size_t *good = ARENA_ARRAY(a, size_t, n), *spare = ARENA_ARRAY(a, size_t, n), nrooms = 0;
    for (size_t j = 0; j < rows.n; j++) {
        size_t i = owner[o[j].ord - 1];
        good[i]++;
        bytes[i] += o[j].stored_bytes;
        if (is_spare(r, &items[i], o[j].object_id)) {
            spare[i]++;
            spare_bytes[i] += o[j].stored_bytes;
        }
        if (!room_of(rooms, nrooms, o[j].tenant_id))
            rooms[nrooms++] = (struct room){ o[j].tenant_id, o[j].room_bytes, o[j].room_objects };
    }
    for (size_t i = 0; i < n; i++) {
        struct room *room = good[i] ? room_of(rooms, nrooms, items[i].tenant_id) : NULL;
        if (items[i].event != LE_SUCCEED)
            continue;
        if (good[i] != items[i].outputs.n) {
            spoil(r, i, STR("An output that it names was not uploaded whole by this attempt"));
            continue;
        }
        if (!room || (room->bytes >= bytes[i] && room->objects >= (int64_t)good[i]))
            spare[i] = spare_bytes[i] = 0;
        if (room && (room->bytes < bytes[i] - spare_bytes[i] || room->objects < (int64_t)(good[i] - spare[i]))) {
            spoil(r, i, STR("The tenant's quota of stored data has no room for the outputs"));
        } else if (room) {
            room->bytes -= bytes[i] - spare_bytes[i];
            room->objects -= (int64_t)(good[i] - spare[i]);
            r->leaves_out[i] = spare[i] > 0;
        }
    }
}

/* Outputs of successes: each must have been uploaded whole by this attempt, and fit into the tenant's quota. */
enum errc report_check_outputs(struct report *r, const struct lease_item *items, size_t n, struct err *e)
{
    struct arena *a = r->w->arena;
    size_t total = 0, k = 0;
    struct slice rows = { 0 };
    for (size_t i = 0; i < n; i++)
        total += items[i].event == LE_SUCCEED ? items[i].outputs.n : 0;
    r->is_spoiled = ARENA_ARRAY(a, bool, n);
    r->spoiled_why = ARENA_ARRAY(a, struct str, n);
    r->leaves_out = ARENA_ARRAY(a, bool, n);
    if (!total)
        return ERR_OK;
    struct uuid *tenants = ARENA_ARRAY(a, struct uuid, total), *jobs = ARENA_ARRAY(a, struct uuid, total);
    struct uuid *objects = ARENA_ARRAY(a, struct uuid, total);
    int64_t *fences = ARENA_ARRAY(a, int64_t, total);
    size_t *owner = ARENA_ARRAY(a, size_t, total);
    for (size_t i = 0; i < n; i++) {
        const struct track *t = report_track(r, items[i].tenant_id, items[i].attempt_id, false);
        for (size_t j = 0; items[i].event == LE_SUCCEED && t->h && t->live && j < items[i].outputs.n; j++, k++) {
            tenants[k] = t->tenant_id;
            jobs[k] = t->h->job_id;
            fences[k] = items[i].fence;
            objects[k] = ((const struct lease_output *)items[i].outputs.items)[j].object_id;
            owner[k] = i;
        }
    }
    if (k)
        TRY(lease_repo_outputs(r->w->tx, tenants, jobs, fences, objects, k, &rows, e));
    judge_outputs(r, items, n, owner, rows);
    return ERR_OK;
}

void report_write_outputs(struct report *r, const struct lease_item *items, const bool *is_taken, size_t n)
{
    size_t total = 0, k = 0, notes = 0;
    for (size_t i = 0; i < n; i++)
        total += items[i].outputs.n;
    struct arena *a = r->w->arena;
    struct uuid *tenants = ARENA_ARRAY(a, struct uuid, total + 1), *objects = ARENA_ARRAY(a, struct uuid, total + 1);
    struct log_line *note = ARENA_ARRAY(a, struct log_line, total + 1);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; is_taken[i] && items[i].event == LE_SUCCEED && !r->is_spoiled[i] && j < items[i].outputs.n; j++) {
            struct uuid object = ((const struct lease_output *)items[i].outputs.items)[j].object_id;
            if (r->leaves_out[i] && is_spare(r, &items[i], object)) {
                const struct track *t = report_track(r, items[i].tenant_id, items[i].attempt_id, false);
                note[notes++] = (struct log_line){ t->tenant_id, t->h->job_id, items[i].fence, STR("system"), STR(LEFT_OUT) };
                continue;
            }
            tenants[k] = items[i].tenant_id;
            objects[k++] = object;
        }
    lease_repo_commit_outputs(r->w->tx, tenants, objects, k);
    lease_repo_logs(r->w->tx, note, notes);
}
