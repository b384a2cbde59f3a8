/* SPDX-License-Identifier: Apache-2.0 */
/* passport.c - one statement for each list; readers come by the search of the log, which finds them by its pages, and are summed
 * up here. */
#include "registry/evidence/passport.h"
#include "audit/actor_name.h"
#include "audit/search.h"
#include "core/db/tx.h"
#include "registry/registry_int.h"

#include <stdio.h>
#include <stdlib.h>

enum { READ_PAGE = 200 };

SCHEMA_OF(passport_place, "Where a version lies",
    FIELD(passport_place, version, F_ALWAYS, .doc = "Version of the data set"),
    FIELD(passport_place, zone, F_ALWAYS, .doc = "Residency zone"),
    FIELD(passport_place, is_copy, F_ALWAYS, .doc = "A copy that crossed a border, not the upload"),
    FIELD_ID(passport_place, object_id, "obj", F_ALWAYS, .doc = "The object"),
    FIELD(passport_place, sha256, F_ALWAYS, .doc = "Digest of the content, hex"),
    FIELD(passport_place, size_bytes, F_ALWAYS, .doc = "Bytes of the content"),
    FIELD(passport_place, row_count, F_ALWAYS, .doc = "Rows"),
    FIELD(passport_place, created_at, F_ALWAYS, .doc = "Since when"),
    FIELD(passport_place, key_version, F_ALWAYS, .doc = "Version of the tenant's key; 0: its data key is forgotten"),
    FIELD(passport_place, key_state, 0, .doc = "State of that version"),
    FIELD(passport_place, key_tier, 0, .doc = "wrapped or sovereign"),
    FIELD(passport_place, key_origin, 0, .doc = "generated or imported"),
    FIELD(passport_place, key_provider, 0, .doc = "What holds the root"));
struct passport_law {
    struct str zone, name, country, regulator;
    int64_t law_version;
    struct str regime, may_leave, source_text;
    struct timestamp valid_from;
};
SCHEMA_OF(passport_law, "A rule for the class in a zone where the data set lies",
    FIELD(passport_law, zone, F_ALWAYS, .doc = "Zone"), FIELD(passport_law, name, F_ALWAYS, .doc = "Its name"),
    FIELD(passport_law, country, F_ALWAYS, .doc = "ISO 3166-1 code"),
    FIELD(passport_law, regulator, F_ALWAYS, .doc = "Who supervises; empty: not said"),
    FIELD(passport_law, law_version, F_ALWAYS, .doc = "Version of the zone's law"),
    FIELD(passport_law, regime, 0, .doc = "Which law; absent: the zone has no rule for this class"),
    FIELD(passport_law, may_leave, 0, .doc = "never, with_basis or free"),
    FIELD(passport_law, source_text, 0, .doc = "The clause"),
    FIELD(passport_law, valid_from, 0, .doc = "In force since"));
struct passport_reader {
    struct str actor_kind, reader_id, actor_name;
    int64_t reads, last_tseq;
    struct uuid last_event;
    struct timestamp first_at, last_at;
};
SCHEMA_OF(passport_reader, "Who read the content, as the log says",
    FIELD(passport_reader, actor_kind, F_ALWAYS, .doc = "user, service, worker or system"),
    FIELD_AS(passport_reader, reader_id, "actor_id", 0, .doc = "usr_… or nod_…"),
    FIELD(passport_reader, actor_name, 0, .doc = "The name now; absent: erased, or not of this tenant"),
    FIELD(passport_reader, reads, F_ALWAYS, .doc = "How often"),
    FIELD(passport_reader, last_tseq, F_ALWAYS, .doc = "Number of the newest reading in the log"),
    FIELD_ID(passport_reader, last_event, "evt", F_ALWAYS, .doc = "The newest reading"),
    FIELD(passport_reader, first_at, F_ALWAYS, .doc = "First"), FIELD(passport_reader, last_at, F_ALWAYS, .doc = "Last"));
struct passport_job {
    struct uuid job_id;
    struct str name, kind, state, zone;
    int64_t dataset_version;
    struct timestamp submitted_at;
    struct uuid submitted_by;
    struct str submitted_by_name;
};
SCHEMA_OF(passport_job, "A job that had it as input",
    FIELD_ID(passport_job, job_id, "job", F_ALWAYS, .doc = "The job"), FIELD(passport_job, name, F_ALWAYS, .doc = "Its name"),
    FIELD(passport_job, kind, F_ALWAYS, .doc = "Its kind"), FIELD(passport_job, state, F_ALWAYS, .doc = "Its state"),
    FIELD(passport_job, zone, F_ALWAYS, .doc = "Zone of the content that it was given"),
    FIELD(passport_job, dataset_version, F_ALWAYS, .doc = "Newest version that it was given"),
    FIELD(passport_job, submitted_at, F_ALWAYS, .doc = "When"),
    FIELD_ID(passport_job, submitted_by, "usr", F_ALWAYS, .doc = "Who submitted it"),
    FIELD(passport_job, submitted_by_name, 0, .doc = "The name now; absent: erased"));
struct passport_crossing {
    struct uuid transfer_id;
    int64_t dataset_version;
    struct str from_zone, to_zone, purpose, rule, legal_basis, assessment_ref, document_sha256;
    int64_t bytes;
    struct uuid by_user;
    struct str by_name;
    struct timestamp at;
};
SCHEMA_OF(passport_crossing, "A crossing of a border",
    FIELD_ID(passport_crossing, transfer_id, "trf", F_ALWAYS, .doc = "The transfer"),
    FIELD(passport_crossing, dataset_version, F_ALWAYS, .doc = "Which version"),
    FIELD(passport_crossing, from_zone, F_ALWAYS, .doc = "From"),
    FIELD(passport_crossing, to_zone, F_ALWAYS, .doc = "To"), FIELD(passport_crossing, purpose, F_ALWAYS, .doc = "What for"),
    FIELD(passport_crossing, rule, F_ALWAYS, .doc = "The rule that allowed it"),
    FIELD(passport_crossing, legal_basis, 0, .doc = "The policy's basis"),
    FIELD(passport_crossing, assessment_ref, 0, .doc = "The transfer risk assessment"),
    FIELD(passport_crossing, document_sha256, 0, .doc = "Digest of the policy's document, hex"),
    FIELD(passport_crossing, bytes, F_ALWAYS, .doc = "Bytes of the content"),
    FIELD_ID(passport_crossing, by_user, "usr", F_ALWAYS, .doc = "Who did it"),
    FIELD(passport_crossing, by_name, 0, .doc = "The name now; absent: erased"),
    FIELD(passport_crossing, at, F_ALWAYS, .doc = "When"));
struct passport_model {
    struct uuid model_id;
    struct str name;
    SHOWN_NAME;
    int64_t version;
    struct uuid job_id;
    struct timestamp created_at;
    int64_t deployments;
};
SCHEMA_OF(passport_model, "A version of a model made from it",
    FIELD_ID(passport_model, model_id, "mdl", F_ALWAYS, .doc = "The model"),
    FIELD(passport_model, name, F_ALWAYS, .doc = "Its name"), SHOWN_NAME_FIELDS(passport_model),
    FIELD(passport_model, version, F_ALWAYS, .doc = "Its version"),
    FIELD_ID(passport_model, job_id, "job", F_ALWAYS, .doc = "The job that made it"),
    FIELD(passport_model, created_at, F_ALWAYS, .doc = "When it was registered"),
    FIELD(passport_model, deployments, F_ALWAYS, .doc = "Deployments that serve it now"));
#define ROWS(member, item, doc_) FIELD_LIST(passport, member, &item##_schema, F_ALWAYS, .max = PASSPORT_ROWS, .doc = doc_)
SCHEMA_EXTERN(passport, "What is known of one data set",
    FIELD_SUB(passport, dataset, &dataset_schema, F_ALWAYS, .doc = "The data set"),
    FIELD(passport, generated_at, F_ALWAYS, .doc = "When this was made"),
    FIELD(passport, is_cut, F_ALWAYS, .doc = "A list was longer than 200 rows, or the log had more than 5,000 readings"),
    FIELD(passport, log_size, F_ALWAYS, .doc = "Entries of the log then"),
    ROWS(places, passport_place, "Where each version and copy lies, newest first"),
    ROWS(laws, passport_law, "Rules for its class where it lies"),
    ROWS(readers, passport_reader, "Who read its content, most often first"),
    ROWS(jobs, passport_job, "Jobs that had it as input, newest first"),
    ROWS(crossings, passport_crossing, "Crossings, newest first"),
    ROWS(models, passport_model, "Versions of models made from it, newest first"));

/* $1 tenant, $2 data set, last: most rows. */
#define LIST(name_, columns) { .name = "passport_" #name_ "s", .params = "uui", .row = &passport_##name_##_schema, \
    .card = CARD_MANY, .sql = "SELECT " columns "\n  FROM passport_" #name_ "s($1, $2, $3)" }
static const struct stmt places = LIST(place,
    "version, zone, is_copy, object_id, sha256, size_bytes, row_count, created_at, key_version, key_state, key_tier,\n"
    "       key_origin, key_provider");
static const struct stmt jobs = LIST(job,
    "job_id, name, kind, state, zone, dataset_version, submitted_at, submitted_by, submitted_by_name");
static const struct stmt crossings = LIST(crossing,
    "transfer_id, dataset_version, from_zone, to_zone, purpose, rule, legal_basis, assessment_ref, document_sha256,\n"
    "       bytes, by_user, by_name, at");
static const struct stmt models = LIST(model,
    "model_id, name, display_name, display_name_ar, version, job_id, created_at, deployments");
static const struct stmt laws = { .name = "passport_laws", .params = "uusi", .row = &passport_law_schema, .card = CARD_MANY,
    .sql =
    "SELECT zone, name, country, regulator, law_version, regime, may_leave, source_text, valid_from\n"
    "  FROM passport_laws($1, $2, $3, $4)" };
const struct stmt *const passport_stmts[] = { &places, &jobs, &crossings, &models, &laws, NULL };

/* One row more than is shown tells that there are more. */
static void cut(struct passport *p, struct slice *list)
{
    if (list->n > PASSPORT_ROWS) {
        list->n = PASSPORT_ROWS;
        p->is_cut = true;
    }
}

static enum errc list(struct work *w, const struct stmt *st, struct uuid id, struct passport *p, struct slice *ret, struct err *e)
{
    TRY(db_many(w->tx, st, ARGS(A_UUID(w->tenant_id), A_UUID(id), A_I64(PASSPORT_ROWS + 1)), ret, PASSPORT_ROWS + 1, e));
    cut(p, ret);
    return ERR_OK;
}

static struct passport_reader *reader_of(struct passport_reader *all, size_t *n, const struct audit_row *row, struct arena *a)
{
    const char *prefix = str_eq_c(row->actor, "worker") ? "nod" : "usr";
    struct str id = uuid_is_nil(row->actor_id) ? STR_NULL : id_text(a, prefix, row->actor_id);
    for (size_t i = 0; i < *n; i++)
        if (str_eq(all[i].reader_id, id) && str_eq(all[i].actor_kind, row->actor))
            return &all[i];
    if (*n == PASSPORT_ROWS)
        return NULL;
    all[*n] = (struct passport_reader){ .actor_kind = row->actor, .reader_id = id, .first_at = { row->at_us } };
    return &all[(*n)++];
}

static enum errc sum_page(struct work *w, const struct audit_row *rows, size_t n, struct passport_reader *all, size_t *readers,
                          struct passport *p, struct err *e)
{
    struct str *names;
    TRY(audit_actor_names(w, w->tenant_id, rows, n, &names, e));
    for (size_t i = 0; i < n; i++) {
        struct passport_reader *r = reader_of(all, readers, &rows[i], w->arena);
        if (!r) {
            p->is_cut = true;
            continue;
        }
        r->reads++;
        r->actor_name = names[i];
        r->last_tseq = (int64_t)rows[i].tseq;
        r->last_event = rows[i].event_id;
        r->last_at = (struct timestamp){ rows[i].at_us };
    }
    return ERR_OK;
}

static int by_reads(const void *a, const void *b)
{
    const struct passport_reader *x = a, *y = b;
    return (x->reads < y->reads) - (x->reads > y->reads);
}

static enum errc read_readers(struct work *w, struct uuid id, struct passport *p, struct err *e)
{
    struct audit_search q = { .verdict = VERDICT_SUCCESS, .upto = (uint64_t)p->log_size, .is_walk = false };
    struct passport_reader *all = ARENA_ARRAY(w->arena, struct passport_reader, PASSPORT_ROWS);
    struct audit_row *rows;
    size_t readers = 0, n = READ_PAGE, seen = 0;
    struct str resource = id_text(w->arena, "dst", id);
    snprintf(q.filter.resource, sizeof q.filter.resource, "%.*s", STR_ARG(resource));
    snprintf(q.filter.action, sizeof q.filter.action, "%s", "dataset.content.read");
    while (n == READ_PAGE && seen < PASSPORT_READS && p->log_size > 0) {
        TRY(audit_search(w, w->tenant_id, &q, READ_PAGE, &rows, &n, e));
        TRY(sum_page(w, rows, n, all, &readers, p, e));
        seen += n;
        if (n)
            q.after = rows[n - 1].tseq;
    }
    p->is_cut |= n == READ_PAGE && seen >= PASSPORT_READS;
    qsort(all, readers, sizeof *all, by_reads);
    p->readers = (struct slice){ all, readers };
    return ERR_OK;
}

enum errc passport_read(struct work *w, struct uuid dataset_id, struct passport *ret, struct err *e)
{
    struct passport p = { .generated_at = { w->now_us } };
    uint64_t length;
    TRY(dataset_get(w, dataset_id, &p.dataset, e));
    TRY(audit_log_length(w, w->tenant_id, &length, e));
    p.log_size = (int64_t)length;
    TRY(list(w, &places, dataset_id, &p, &p.places, e));
    TRY(db_many(w->tx, &laws,
                ARGS(A_UUID(w->tenant_id), A_UUID(dataset_id), A_STR(p.dataset.data_class), A_I64(PASSPORT_ROWS + 1)),
                &p.laws, PASSPORT_ROWS + 1, e));
    cut(&p, &p.laws);
    TRY(read_readers(w, dataset_id, &p, e));
    TRY(list(w, &jobs, dataset_id, &p, &p.jobs, e));
    TRY(list(w, &crossings, dataset_id, &p, &p.crossings, e));
    TRY(list(w, &models, dataset_id, &p, &p.models, e));
    *ret = p;
    return ERR_OK;
}
