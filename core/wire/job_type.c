/* SPDX-License-Identifier: Apache-2.0 */
/* job_type.c - the table of kinds, and what is printed from it. */
#include "core/wire/job_type.h"
#include <stdio.h>
#include "core/wire/job_result.h"
#include "core/wire/lease_wire.h"

const struct job_type job_types[JOB_KIND_COUNT] = {
#define JOB_TYPE(NAME, name, traits, purpose, reads, makes, made_by, result) \
    [JOB_##NAME] = { #name, traits, purpose, reads, makes, made_by, &name##_job_schema, result },
#include "core/wire/job_type.def"
#undef JOB_TYPE
};

const char *const job_kind_names[] = {
#define JOB_TYPE(NAME, name, ...) #name,
#include "core/wire/job_type.def"
#undef JOB_TYPE
    NULL
};

const char job_kind_list[] =
#define JOB_TYPE(NAME, name, ...) "|" #name
#include "core/wire/job_type.def"
#undef JOB_TYPE
    ;

static const struct variant spec_list[] = {
#define JOB_TYPE(NAME, name, traits, ...) { #name, ((traits) & JT_SUBMIT) != 0 ? &name##_job_schema : NULL },
#include "core/wire/job_type.def"
#undef JOB_TYPE
};
const struct variants job_spec_variants = { "kind", spec_list, JOB_KIND_COUNT };

static const struct variant answer_list[] = {
#define JOB_TYPE(NAME, name, ...) { #name, &name##_job_schema },
#include "core/wire/job_type.def"
#undef JOB_TYPE
};
const struct variants job_spec_answers = { "kind", answer_list, JOB_KIND_COUNT };

const struct job_type *job_type_find(struct str name)
{
    int i = name_index(job_kind_names, name);
    return i < 0 ? NULL : &job_types[i];
}

bool job_listens(struct str name)
{
    const struct job_type *t = job_type_find(name);
    return t && t->traits & JT_LISTENS;
}

bool job_needs_programs(struct str name)
{
    const struct job_type *t = job_type_find(name);
    return t && t->traits & JT_PROGRAMS;
}

int64_t job_bound_s(struct str name, int64_t max_runtime_s)
{
    const struct job_type *t = job_type_find(name);
    return t && t->traits & JT_STAYS ? 0 : max_runtime_s;
}

bool job_reports(struct str name)
{
    const struct job_type *t = job_type_find(name);
    return t && t->traits & JT_REPORTS;
}

const char *job_reads_pointer(int kind, char out[64])
{
    const struct job_type *t = &job_types[kind];
    if (!t->reads)
        return "/zone";
    snprintf(out, 64, "/spec/%s_id", t->reads);
    if (!schema_find(t->spec, str_c(out + sizeof "/spec/" - 1)))
        snprintf(out, 64, "/spec/%ss", t->reads);
    return out;
}

struct str job_purpose(struct str name)
{
    const struct job_type *t = job_type_find(name);
    return t ? str_c(t->purpose) : STR("unknown");
}

void job_types_print_markdown(struct buf *b)
{
    buf_add_c(b, "# Kinds of job\n\nPrinted from core/wire/job_type.def. A kind that stays runs until it is told to stop; "
                 "machines: on how many at once one may run; programs: it\nstarts programs of its tenant's.\n\n"
                 "| kind | what it is | made by | purpose | reads | makes | stays | machines | programs |\n"
                 "|---|---|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < JOB_KIND_COUNT; i++) {
        const struct job_type *t = &job_types[i];
        buf_printf(b, "| `%s` | %s | `%s` | %s | %s | %s | %s | %d | %s |\n",
                   t->name, t->spec->doc, t->made_by ? t->made_by : "POST /v1/jobs",
                   t->purpose, t->reads ? t->reads : "", t->makes ? t->makes : "", job_stays(i) ? "yes" : "",
                   t->traits & JT_GANGS ? GANG_NODES_MAX : 1, t->traits & JT_PROGRAMS ? "yes" : "");
    }
}

static void sql_in(struct buf *b, unsigned traits)
{
    const char *before = "";
    buf_add_c(b, "kind IN (");
    for (int i = 0; i < JOB_KIND_COUNT; i++) {
        if ((job_types[i].traits & traits) != traits)
            continue;
        buf_printf(b, "%s'%s'", before, job_types[i].name);
        before = ", ";
    }
    buf_add_char(b, ')');
}

static void sql_purpose(struct buf *b)
{
    buf_add_c(b, "CASE kind");
    for (int i = 0; i < JOB_KIND_COUNT; i++)
        buf_printf(b, "\n     WHEN '%s' THEN '%s'", job_types[i].name, job_types[i].purpose);
    buf_add_c(b, " ELSE 'unknown' END");
}

bool job_types_print_sql(struct buf *b, const char *name)
{
    static const struct { const char *name, *doc, *type; unsigned traits; bool is_apart; } rows[] = {
        { "job_purpose", "What a job's data is used for, in the words of policies.", "text", 0, false },
        /* A trigger asks it: whatever asks it would otherwise parse it anew in each statement. */
        { "job_kind_is_known", "The kinds that a job may have.", "boolean", 0, true },
        { "job_stays", "Runs until it is told to stop: no time and no number of attempts ends it.", "boolean", JT_STAYS, false },
    };
    size_t i = 0, n = sizeof rows / sizeof *rows;
    while (i < n && strcmp(rows[i].name, name))
        i++;
    if (i == n)
        return false;
    buf_printf(b, "-- SPDX-License-Identifier: Apache-2.0\n-- %s\n-- Printed from core/wire/job_type.def: tests/lint/gen.sh --write\n"
                  "CREATE OR REPLACE FUNCTION %s(kind text) RETURNS %s LANGUAGE %s IMMUTABLE AS\n$$ %s ", rows[i].doc, name, rows[i].type,
               rows[i].is_apart ? "plpgsql" : "sql", rows[i].is_apart ? "BEGIN RETURN" : "SELECT");
    if (i == 0)
        sql_purpose(b);
    else
        sql_in(b, rows[i].traits);
    buf_add_c(b, rows[i].is_apart ? "; END $$;\n" : " $$;\n");
    return true;
}
