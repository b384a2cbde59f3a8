/* SPDX-License-Identifier: Apache-2.0 */
/* type_train.c - a training job before it is stored: its data set version, fixed, with the copy that lies in the job's zone. */
#include "core/base/cleanup.h"
#include "core/crypto/stream.h"
#include "core/data/data_format.h"
#include "core/db/run_tx.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/wire/lease_wire.h"
#include "core/wire/type_train.h"
#include "registry/catalog/model.h"
#include "registry/vault/object.h"
#include "scheduler/jobs/job_dataset.h"
#include "scheduler/jobs/job_input.h"
#include "scheduler/jobs/job_prepare.h"
#include "tenants/home/residency_facts.h"

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

/* Of a job on several machines each is one rank, as threads of one lease are (ranks), over TLS. */
static enum errc check_nodes(const struct job *j, const struct train_job *t, struct err *e)
{
    const long nodes = (long)job_nodes_most(j);
    if (nodes < 2)
        return ERR_OK;
    if (t->family == TRAIN_GBDT)
        return FAIL_AT(e, UNPROCESSABLE, "/nodes", "gbdt grows its trees on one machine; mlp, cnn and gpt share steps among "
                       "several");
    if (nodes & (nodes - 1))
        return FAIL_AT(e, UNPROCESSABLE, "/nodes", "A training runs on 1, 2, 4 or 8 machines (a power of two); %ld were "
                       "asked for", nodes);
    if (t->tensor_ranks > 1 && nodes > j->nodes)
        return FAIL_AT(e, UNPROCESSABLE, "/nodes/max", "Ranks that share layers stay as many to the end: with tensor_ranks min "
                       "and max are equal, and %ld and %ld were given", (long)j->nodes, nodes);
    if (t->tensor_ranks > 1 && t->tensor_ranks != nodes)
        return FAIL_AT(e, UNPROCESSABLE, "/spec/tensor_ranks", "Each machine is one rank: with %ld machines tensor_ranks is 1 "
                       "(they share batches) or %ld (they share layers); %ld were asked for", nodes, nodes,
                       (long)t->tensor_ranks);
    if (t->tensor_ranks <= 1 && t->accumulate % nodes)
        return FAIL_AT(e, UNPROCESSABLE, "/spec/accumulate", "%ld machines share the batches of a step, so they must divide "
                       "accumulate, which is %ld. batch_size / %ld with accumulate %ld makes a step of as many rows",
                       nodes, (long)t->accumulate, nodes, (long)t->accumulate * nodes);
    if (j->gpus)
        return FAIL_AT(e, UNPROCESSABLE, "/gpus", "A training on several machines computes on their processors: leave gpus out, "
                       "or nodes");
    if (t->ranks > 1)
        return FAIL_AT(e, UNPROCESSABLE, "/spec/ranks", "Each machine is one rank; %ld of each were asked for: leave ranks out",
                       (long)t->ranks);
    return t->tune_steps ? FAIL_AT(e, UNPROCESSABLE, "/spec/tune_steps", "What is tried is tried on one machine: leave "
                                   "tune_steps out, or nodes") : ERR_OK;
}

/* What the lease's processors and cards must be for it. A rank has a card of its own, if any; trees are the processor's. */
static enum errc check_machine(const struct job *j, const struct train_job *t, struct err *e)
{
    if (j->gpus && t->family == TRAIN_GBDT)
        return FAIL_AT(e, UNPROCESSABLE, "/gpus", "gbdt computes on the processor alone: %ld GPU(s) would stay idle. Ask for no "
                       "gpus and, to be faster, for more slots", (long)j->gpus);
    int64_t ranks = t->tensor_ranks > 1 ? t->tensor_ranks : t->ranks;
    const char *member = t->tensor_ranks > 1 ? "/spec/tensor_ranks" : "/spec/ranks";
    if (job_nodes_most(j) > 1)
        return ERR_OK;                  /* one rank on each machine */
    if (j->gpus && ranks > j->gpus)
        return FAIL_AT(e, UNPROCESSABLE, member, "Each rank has a GPU of its own: %ld ranks and %ld GPU(s). Ask for as many "
                       "gpus as ranks, or for ranks 0", (long)ranks, (long)j->gpus);
    if (j->cpu_milli && j->cpu_milli < 1000 * ranks)
        return FAIL_AT(e, UNPROCESSABLE, member, "%ld ranks need a processor each: cpu_milli is %ld, at least %ld are "
                       "needed. All ranks of a job share one lease", (long)ranks, (long)j->cpu_milli, (long)(1000 * ranks));
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

/* A model that the job reads beside its data: which members of the spec name it, and what was found. */
struct source {
    const char *member, *version_member;
    struct uuid model_id;
    int64_t *number;                    /* its version in the spec; fixed when it is found */
    struct model_version version;
    struct object object;
};

static enum errc read_source(struct work *w, struct source *s, struct err *e)
{
    TRY(model_version_get(w, s->model_id, *s->number, &s->version, e));
    return object_get(w, s->version.object_id, &s->object, e);
}

/* It is no secret kept from the data set's class, and lies where the job runs. */
static enum errc find_source(struct work *w, const struct job *j, struct str zone, struct source *s, struct err *e)
{
    enum errc rc = RUN_TX(w, w->app->pool, SCOPE_PROJECTS(j->tenant_id, w->projects.items, w->projects.n), TX_READ_ONLY,
                          read_source(w, s, e), e);
    if (rc == ERR_NOT_FOUND)
        return FAIL_AT(e, NOT_FOUND, *s->number ? s->version_member : s->member,
                       "There is no such model, or no such version of it");
    TRY(rc);
    const struct model_version *m = &s->version;
    if (!str_eq(m->zone, zone))
        return FAIL_AT(e, RESIDENCY, s->member, "The model lies in zone %.*s, the data set in %.*s", STR_ARG(m->zone),
                       STR_ARG(zone));
    *s->number = m->version;
    return ERR_OK;
}

static enum errc find_start(struct work *w, const struct job *j, struct str zone, const struct train_job *t, struct source *s,
                            struct err *e)
{
    TRY(find_source(w, j, zone, s, e));
    const struct model_version *m = &s->version;
    if (!str_eq_c(m->family, job_family_names[t->family]))
        return FAIL_AT(e, UNPROCESSABLE, s->member, "Version %ld of %.*s is of the family %.*s; this job trains %s",
                       (long)m->version, STR_ARG(m->name), STR_ARG(m->family), job_family_names[t->family]);
    return ERR_OK;
}

static enum errc find_teacher(struct work *w, const struct job *j, struct str zone, const struct train_job *t, int64_t columns,
                              struct source *s, struct err *e)
{
    TRY(find_source(w, j, zone, s, e));
    const struct model_version *m = &s->version;
    if (m->inputs && m->inputs != columns)
        return FAIL_AT(e, UNPROCESSABLE, s->member,
                       "Version %ld of %.*s takes %ld columns; the data set has %ld beside the label",
                       (long)m->version, STR_ARG(m->name), (long)m->inputs, (long)columns);
    if (t->classes && m->outputs && m->outputs != t->classes)
        return FAIL_AT(e, UNPROCESSABLE, s->member, "Version %ld of %.*s tells %ld classes apart; the data set has %ld",
                       (long)m->version, STR_ARG(m->name), (long)m->outputs, (long)t->classes);
    return ERR_OK;
}

/* Behind what is there, the data set first; the job's class is that of all together (job_input.h). */
static enum errc read_source_by(struct work *w, struct job_submission *s, const struct source *m, struct err *e)
{
    const struct job_found found = { .object_id = m->version.object_id, .zone = m->object.zone,
                                     .data_class = m->object.data_class };
    struct job_input *in = ARENA_ARRAY(w->arena, struct job_input, s->inputs.n + 1);
    if (job_input_join(w, &s->job, &found, e) != ERR_OK) {
        err_field(e, "%s", m->member);
        return e->code;
    }
    memcpy(in, s->inputs.items, s->inputs.n * sizeof *in);
    in[s->inputs.n] = (struct job_input){ STR("model"), found.object_id };
    s->inputs = (struct slice){ in, s->inputs.n + 1 };
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
    TRY(job_dataset_find(w, j, t->dataset_id, t->dataset_version, JOB_DATA_ROWS, &v, e));
    t->dataset_version = v.version;
    t->set = v.set;
    if (train_job_settle(t, w->arena, e) != ERR_OK)
        return job_spec_fault(w, e);
    TRY(check_family(t, v.column_count, e));
    TRY(check_machine(j, t, e));
    TRY(check_nodes(j, t, e));
    TRY(check_model_fits(t, v.column_count, v.room, e));
    bool has_start = !uuid_is_nil(t->start_from), has_teacher = !uuid_is_nil(t->teacher);
    struct source start = { .member = "/spec/start_from", .version_member = "/spec/start_version", .model_id = t->start_from,
                            .number = &t->start_version };
    struct source teacher = { .member = "/spec/teacher", .version_member = "/spec/teacher_version", .model_id = t->teacher,
                              .number = &t->teacher_version };
    if (has_start)
        TRY(find_start(w, j, v.zone, t, &start, e));
    if (has_teacher)
        TRY(find_teacher(w, j, v.zone, t, v.column_count, &teacher, e));
    json_encode(&train_job_schema, t, &b);
    TRY(job_dataset_read_by(w, s, &v, &b, e));
    if (has_start)
        TRY(read_source_by(w, s, &start, e));
    if (has_teacher)
        TRY(read_source_by(w, s, &teacher, e));
    return ERR_OK;
}
