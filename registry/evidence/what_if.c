/* SPDX-License-Identifier: Apache-2.0 */
/* what_if.c - one statement reads the tenant's things, one the clauses; all else is two calls of the judge for each line. */
#include "registry/evidence/what_if.h"
#include "core/db/tx.h"
#include "core/wire/job_type.h"
#include "registry/catalog/dataset.h"
#include "registry/registry_int.h"
#include "tenants/home/residency_facts.h"
#include "tenants/home/residency_remedy.h"
#include "tenants/home/what_if.h"
#include "tenants/home/zone.h"

enum { LINES = 2 * 3 * WHAT_IF_ROWS + 16, CLAUSES = 1024 };

SCHEMA_OF(what_if_side, "A verdict of the judge", FIELD(what_if_side, allowed, F_ALWAYS, .doc = "May it be there"),
    FIELD(what_if_side, rule, F_ALWAYS, .doc = "The rule, a stable word"),
    FIELD(what_if_side, text, F_ALWAYS, .doc = "The reason in words"),
    FIELD(what_if_side, regime, 0, .doc = "The law that asks for most; absent: none does"),
    FIELD(what_if_side, law_of, 0, .doc = "The zone that has this law"),
    FIELD(what_if_side, source_text, 0, .doc = "Its clause"));
SCHEMA_OF(what_if_thing, "Something that the judge was asked about twice",
    FIELD(what_if_thing, kind, F_ALWAYS, .doc = "upload, transfer, job, deployment, dataset"),
    FIELD_AS(what_if_thing, thing_id, "id", 0, .doc = "dst_…, job_…, dpl_…; absent: nobody has begun it"),
    FIELD(what_if_thing, name, 0, .doc = "Its name"),
    FIELD(what_if_thing, display_name, 0, .doc = "Name for people, of a data set; empty or absent: none"),
    FIELD(what_if_thing, display_name_ar, 0, .doc = "And in Arabic"),
    FIELD(what_if_thing, state, 0, .doc = "Its state"),
    FIELD(what_if_thing, purpose, 0, .doc = "What for: training, serving, …"),
    FIELD(what_if_thing, version, 0, .doc = "Version of the data set or the model"),
    FIELD(what_if_thing, zone, F_ALWAYS, .doc = "Where it is, or would be"),
    FIELD(what_if_thing, from, 0, .doc = "Where the data lies"),
    FIELD_SUB(what_if_thing, before, &what_if_side_schema, F_ALWAYS | F_NOCOL, .doc = "As things are"),
    FIELD_SUB(what_if_thing, after, &what_if_side_schema, F_ALWAYS | F_NOCOL, .doc = "As they would be"),
    FIELD(what_if_thing, outcome, F_ALWAYS, .doc = "possible, forbidden (both new), stays_possible, stays_forbidden"));
SCHEMA_EXTERN(what_if, "What a change would make possible or forbid",
    FIELD(what_if, data_class, F_ALWAYS, .doc = "Of which data"), FIELD(what_if, zone, F_ALWAYS, .doc = "Where it would be"),
    FIELD(what_if, home_zone, F_ALWAYS, .doc = "The tenant's home zone"),
    FIELD(what_if, is_cut, F_ALWAYS, .doc = "There are more than 200 things of a kind"),
    FIELD(what_if, possible, F_ALWAYS, .doc = "How many would become possible"),
    FIELD(what_if, forbidden, F_ALWAYS, .doc = "How many would become forbidden"),
    FIELD_LIST(what_if, things, &what_if_thing_schema, F_ALWAYS | F_NOCOL, .max = LINES, .doc = "Each with both verdicts"),
    FIELD_LIST(what_if, approvals, &residency_remedy_schema, F_ALWAYS | F_NOCOL, .max = 8,
        .doc = "The calls that would make the change, who may ask and who approves"));

struct thing_row {
    struct str thing;
    struct uuid thing_id;
    struct str name, state, job_kind;
    SHOWN_NAME;
    int64_t thing_version;
    struct str zone;
    bool pinned;
};
SCHEMA_OF(thing_row, "A thing of the tenant", FIELD(thing_row, thing, 0, .doc = "Kind"),
    FIELD(thing_row, thing_id, 0, .doc = "Id"), FIELD(thing_row, name, 0, .doc = "Name"),
    SHOWN_NAME_FIELDS(thing_row),
    FIELD(thing_row, state, 0, .doc = "State"),
    FIELD(thing_row, job_kind, 0, .doc = "Kind of job"), FIELD(thing_row, thing_version, 0, .doc = "Version"),
    FIELD(thing_row, zone, 0, .doc = "Where"),
    FIELD(thing_row, pinned, 0, .doc = "There only"));
struct clause_row { struct str zone, regime, source_text; };
SCHEMA_OF(clause_row, "A clause", FIELD(clause_row, zone, 0, .doc = "Zone"), FIELD(clause_row, regime, 0, .doc = "Law"),
    FIELD(clause_row, source_text, 0, .doc = "Text"));

static const struct stmt things_stmt = { .name = "what_if_things", .params = "uusi", .row = &thing_row_schema, .card = CARD_MANY,
    .sql =
    "SELECT thing, thing_id, name, display_name, display_name_ar, state, job_kind, thing_version, zone, pinned\n"
    "  FROM residency_things($1, $2, $3, $4)" };
static const struct stmt clauses_stmt = { .name = "what_if_clauses", .params = "si", .row = &clause_row_schema, .card = CARD_MANY,
    .sql =
    "SELECT zone, regime, source_text FROM residency_clauses($1, $2)" };
const struct stmt *const what_if_stmts[] = { &things_stmt, &clauses_stmt, NULL };

/* All that lines are judged by. */
struct trial {
    struct work *w;
    const struct what_if_ask *ask;
    struct residency_facts before, after;
    struct slice clauses;               /* struct clause_row */
    struct what_if *ret;
    struct what_if_thing *lines;
};

static struct str clause_of(const struct trial *t, const struct residency_verdict *v, int data_class, bool is_after)
{
    const struct clause_row *c = t->clauses.items;
    if (!v->regime.ptr)
        return STR_NULL;
    if (is_after && t->ask->law_of.ptr && str_eq(v->law_of, t->ask->law_of)) {
        const struct zone_rule *r = t->ask->law->rules.items;
        for (size_t i = 0; i < t->ask->law->rules.n; i++)
            if (r[i].data_class == data_class && str_eq(r[i].regime, v->regime))
                return r[i].source_text;
        return STR_NULL;
    }
    for (size_t i = 0; i < t->clauses.n; i++)
        if (str_eq(c[i].zone, v->law_of) && str_eq(c[i].regime, v->regime))
            return c[i].source_text;
    return STR_NULL;
}

static struct what_if_side judge(const struct trial *t, const struct residency_question *q, bool is_after)
{
    struct residency_verdict v = residency_allows(is_after ? &t->after : &t->before, q);
    return (struct what_if_side){ v.allowed, str_c(v.rule), str_dup(t->w->arena, str_c(v.text)), v.regime, v.law_of,
                                  clause_of(t, &v, q->data_class, is_after) };
}

/* A line of `thing` in `zone`; its data lies in `from` (STR_NULL: the home zone). */
static void add(struct trial *t, struct what_if_thing thing, struct str zone, struct str from)
{
    struct residency_question q = { .data_class = t->ask->data_class, .zone = zone, .from = from, .purpose = thing.purpose,
                                    .now_us = t->w->now_us };
    if (t->ret->things.n == LINES)
        return;
    thing.zone = zone;
    thing.from = from;
    thing.before = judge(t, &q, false);
    thing.after = judge(t, &q, true);
    bool is_new = thing.before.allowed != thing.after.allowed;
    t->ret->possible += is_new && thing.after.allowed;
    t->ret->forbidden += is_new && !thing.after.allowed;
    thing.outcome = str_c(is_new ? (thing.after.allowed ? "possible" : "forbidden")
                                 : thing.after.allowed ? "stays_possible" : "stays_forbidden");
    t->lines[t->ret->things.n++] = thing;
}

/* What nobody has begun. A purpose that several kinds have stands once. */
static void add_acts(struct trial *t)
{
    struct str zone = t->ask->zone;
    add(t, (struct what_if_thing){ .kind = STR("upload") }, zone, STR_NULL);
    for (int k = 0; k < JOB_KIND_COUNT; k++) {
        bool is_known = !job_types[k].reads;
        for (int i = 0; i < k; i++)
            is_known |= job_types[i].reads && !strcmp(job_types[i].purpose, job_types[k].purpose);
        if (!is_known)
            add(t, (struct what_if_thing){ .kind = job_types[k].traits & JT_LISTENS ? STR("deployment") : STR("job"),
                                           .purpose = str_c(job_types[k].purpose) }, zone, STR_NULL);
    }
    if (!str_eq(zone, t->before.home))
        add(t, (struct what_if_thing){ .kind = STR("transfer") }, zone, t->before.home);
}

static void add_thing(struct trial *t, const struct thing_row *r)
{
    bool is_dataset = str_eq_c(r->thing, "dataset");
    const char *prefix = is_dataset ? "dst" : str_eq_c(r->thing, "job") ? "job" : "dpl";
    struct what_if_thing thing = { .kind = r->thing, .thing_id = id_text(t->w->arena, prefix, r->thing_id), .name = r->name,
                                   .display_name = r->display_name, .display_name_ar = r->display_name_ar,
                                   .state = r->state.len ? r->state : STR_NULL, .version = r->thing_version,
                                   .purpose = is_dataset ? STR_NULL : job_purpose(r->job_kind) };
    if (r->zone.ptr)
        add(t, thing, r->zone, is_dataset ? r->zone : STR_NULL);
    if (r->pinned || str_eq(r->zone, t->ask->zone))
        return;
    if (is_dataset)
        thing.kind = STR("transfer");
    add(t, thing, t->ask->zone, is_dataset ? r->zone : STR_NULL);
}

/* Each part of the change is what a refusal by its rule would ask for. */
static void add_approvals(struct trial *t, struct str class)
{
    struct residency_remedy *all = ARENA_ARRAY(t->w->arena, struct residency_remedy, 3);
    const struct what_if_ask *ask = t->ask;
    size_t n = 0;
    if (ask->law_of.ptr)
        n += residency_remedy_of(t->w->arena, STR("zone_class"), class, ask->law_of, STR_NULL, &all[n]);
    if (ask->is_allowed)
        n += residency_remedy_of(t->w->arena, STR("not_allowed"), class, ask->zone, STR_NULL, &all[n]);
    if (ask->has_policy)
        n += residency_remedy_of(t->w->arena, STR("law"), class, ask->zone, ask->from, &all[n]);
    t->ret->approvals = (struct slice){ all, n };
}

static enum errc zone_is_there(struct work *w, struct str code, const char *field, struct err *e)
{
    struct zone z;
    if (!code.ptr || zone_get(w, code, &z, e) == ERR_OK)
        return ERR_OK;
    return e->code == ERR_NOT_FOUND ? FAIL_AT(e, UNPROCESSABLE, field, "There is no zone %.*s", STR_ARG(code)) : e->code;
}

static enum errc check(struct work *w, struct what_if_ask *ask, struct err *e)
{
    struct dataset d;
    if (!uuid_is_nil(ask->dataset_id)) {
        TRY(dataset_get(w, ask->dataset_id, &d, e));
        ask->data_class = data_class_of(d.data_class);
    }
    if (ask->data_class < 0)
        return FAIL_AT(e, UNPROCESSABLE, "/data_class", "Name a data set or a class of data");
    TRY(zone_is_there(w, ask->zone, "/zone", e));
    TRY(zone_is_there(w, ask->from, "/from", e));
    TRY(zone_is_there(w, ask->law_of, "/law_of", e));
    return ask->law_of.ptr ? zone_law_check(ask->law, e) : ERR_OK;
}

enum errc what_if_read(struct work *w, const struct what_if_ask *in, struct what_if *ret, struct err *e)
{
    struct what_if_ask ask = *in;
    const struct residency_facts *f;
    struct slice rows;
    TRY(check(w, &ask, e));
    TRY(residency_facts_read(w, &f, e));
    ask.from = ask.from.ptr ? ask.from : f->home;
    struct str class = str_c(data_class_names[ask.data_class]);
    struct what_if_change c = { ask.law_of, ask.law, ask.is_allowed, ask.has_policy, ask.has_exception, ask.from, ask.zone,
                                ask.data_class };
    struct what_if out = { .data_class = class, .zone = ask.zone, .home_zone = f->home };
    struct trial t = { .w = w, .ask = &ask, .before = *f, .after = what_if_facts(w->arena, f, &c, w->now_us), .ret = &out,
                       .lines = ARENA_ARRAY(w->arena, struct what_if_thing, LINES) };
    TRY(db_many(w->tx, &clauses_stmt, ARGS(A_STR(class), A_I64(CLAUSES)), &t.clauses, CLAUSES, e));
    TRY(db_many(w->tx, &things_stmt,
                ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(ask.dataset_id), A_STR(class), A_I64(WHAT_IF_ROWS + 1)), &rows,
                3 * (WHAT_IF_ROWS + 1), e));
    add_acts(&t);
    int64_t of_kind = 0;
    const struct thing_row *r = rows.items;
    for (size_t i = 0; i < rows.n; i++) {
        of_kind = i && str_eq(r[i].thing, r[i - 1].thing) ? of_kind + 1 : 1;
        out.is_cut |= of_kind > WHAT_IF_ROWS;
        if (of_kind <= WHAT_IF_ROWS)
            add_thing(&t, &r[i]);
    }
    out.things.items = t.lines;
    add_approvals(&t, class);
    *ret = out;
    return ERR_OK;
}
