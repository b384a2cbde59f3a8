/* SPDX-License-Identifier: Apache-2.0 */
/* type_train.c - a training job before it is stored: its data set version, fixed, with the copy that lies in the job's zone. */
#include "core/base/cleanup.h"
#include "core/crypto/stream.h"
#include "core/data/data_format.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/wire/lease_wire.h"
#include "core/wire/type_train.h"
#include "scheduler/jobs/job_dataset.h"
#include "scheduler/jobs/job_prepare.h"

enum { SPEC_MAX = 65536 };

/* What the family asks of the data. */
static enum errc check_family(const struct train_job *t, int64_t inputs, struct err *e)
{
    const int64_t *side = t->image.items;
    bool is_table = data_formats[t->format].is_table;
    if ((t->family == TRAIN_GPT) == is_table)
        return FAIL_AT(e, UNPROCESSABLE, "/spec/family", "%s learns from %s; this version is %s (format %s)",
                       job_family_names[t->family], is_table ? "tokens" : "tables", is_table ? "a table" : "tokens",
                       data_format_names[t->format]);
    if (t->family == TRAIN_CNN && side[0] * side[1] * side[2] != inputs)
        return FAIL_AT(e, UNPROCESSABLE, "/spec/image",
                       "An image of %ld x %ld x %ld has %ld numbers; the data set has %ld columns beside the label",
                       (long)side[0], (long)side[1], (long)side[2], (long)(side[0] * side[1] * side[2]), (long)inputs);
    return ERR_OK;
}

/* What cannot be stored at the end is not begun. How much of the quota is free then, nobody knows yet: its limit counts. */
static enum errc check_model_fits(const struct train_job *t, int64_t inputs, int64_t room, struct err *e)
{
    int64_t bytes = train_job_model_bytes(t, inputs);
    static const char *const member[] = { [TRAIN_MLP] = "/spec/hidden", [TRAIN_CNN] = "/spec/channels",
                                          [TRAIN_GPT] = "/spec/width", [TRAIN_GBDT] = "/spec/leaves" };
    if (bytes > LEASE_OUTPUT_MAX)
        return FAIL_AT(e, UNPROCESSABLE, member[t->family],
                       "The model would have up to %ld bytes with %ld inputs; models of at most %d are stored",
                       (long)bytes, (long)inputs, LEASE_OUTPUT_MAX);
    int64_t sealed = (int64_t)stream_sealed_size((uint64_t)bytes);
    if (sealed > room)
        return FAIL_AT(e, UNPROCESSABLE, member[t->family],
                       "The model would have up to %ld bytes with %ld inputs; the tenant's quota of stored_bytes is %ld in all",
                       (long)sealed, (long)inputs, (long)room);
    return ERR_OK;
}

/* Fixes the version in the spec, so that the job says for ever what it read. */
enum errc job_prepare_train(struct work *w, struct job_submission *s, struct err *e)
{
    struct job *j = &s->job;
    struct train_job *t = ARENA_NEW(w->arena, struct train_job);
    struct job_dataset v = { 0 };
    CLEANUP(buf_releasep) struct buf b = BUF(SPEC_MAX);
    TRY(json_decode(&train_job_schema, j->spec.text, w->arena, t, e));
    TRY(job_dataset_find(w, j, t->dataset_id, t->dataset_version, false, &v, e));
    t->dataset_version = v.version;
    t->label_column = v.label_column;
    t->classes = v.classes;
    t->format = v.format;
    t->target = v.target;
    t->ignored_columns = v.ignored_columns;
    t->category_columns = v.category_columns;
    t->missing_values = v.missing_values;
    TRY(train_job_settle(t, w->arena, e));
    TRY(check_family(t, v.column_count, e));
    TRY(check_model_fits(t, v.column_count, v.room, e));
    json_encode(&train_job_schema, t, &b);
    return job_dataset_read_by(w, s, &v, &b, e);
}
