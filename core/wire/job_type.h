/* SPDX-License-Identifier: Apache-2.0 */
/* job_type.h - what a kind of job is: the one table (job_type.def) that API, scheduler, workers, CLI, SQL and console ask.
 *
 * Nobody compares a kind outside the type_<name> files: whoever must tell kinds apart asks a trait, or a function of the kind's
 * row. A spec is checked by the API at submit and read again by the worker, through the same schema: its fields hold the limits
 * and the defaults, and there is no second list of either. */
#pragma once
#include "core/table/schema.h"

enum job_kind {
#define JOB_TYPE(NAME, name, ...) JOB_##NAME,
#include "core/wire/job_type.def"
#undef JOB_TYPE
    JOB_KIND_COUNT
};

enum job_trait { JT_SUBMIT = 1, JT_STAYS = 2, JT_LISTENS = 4, JT_PROGRAMS = 8, JT_REPORTS = 16, JT_GANGS = 32,
                 JT_ELASTIC = 64 };
#define JOB_REPORT "report"               /* name of the output of JT_REPORTS */

struct job_type {
    const char *name;
    unsigned traits;                /* enum job_trait */
    const char *purpose, *reads, *makes, *made_by;      /* see job_type.def */
    const struct schema *spec;
    const struct schema *result;    /* NULL: gives nothing back beside its output */
};
extern const struct job_type job_types[JOB_KIND_COUNT];
extern const char *const job_kind_names[];              /* ended by NULL */
extern const char job_kind_list[];                      /* "|noop|train…": for lists of values, from its second character */
/* What a form and a command line begin with. */
enum { JOB_KIND_USUAL = JOB_TRAIN };
/* The forms of `spec` by `kind`: of the kinds that callers submit, and of all in answers. */
extern const struct variants job_spec_variants, job_spec_answers;

static inline bool job_is_submitted(int kind) { return (job_types[kind].traits & JT_SUBMIT) != 0; }
static inline bool job_stays(int kind) { return (job_types[kind].traits & JT_STAYS) != 0; }
/* The row of a kind by name, as rows of the database and the wire bring it; NULL: unknown to this program. */
const struct job_type *job_type_find(struct str name);
bool job_listens(struct str name);
bool job_needs_programs(struct str name);
bool job_reports(struct str name);
/* Seconds after which it has surely ended, of its limit; 0: nobody knows, because it runs until it is told to stop. */
int64_t job_bound_s(struct str name, int64_t max_runtime_s);
/* Where a refusal of what it reads points to in a submission: "/spec/dataset_id", "/spec/inputs", or "/zone". */
const char *job_reads_pointer(int kind, char out[64]);
/* Purpose for residency and keys. A name unknown to this program has the purpose "unknown", which no policy allows. */
struct str job_purpose(struct str name);

struct buf;
void job_types_print_markdown(struct buf *b);
/* A SQL function that answers from this table: job_purpose, job_kind_is_known, job_stays; the lint gen compares it with its file
 * in migrations/functions or migrations/helpers. false: no function of that name. */
bool job_types_print_sql(struct buf *b, const char *name);

/* The struct and the limits of a kind's spec are in type_<name>.h. */
#define JOB_TYPE(NAME, name, ...) extern const struct schema name##_job_schema;
#include "core/wire/job_type.def"
#undef JOB_TYPE
