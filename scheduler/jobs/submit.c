/* SPDX-License-Identifier: Apache-2.0 */
/* submit.c - what a submission needs before it is stored: its inputs, a place where its data may be, and a machine that could ever run
 * it. */
#include "scheduler/jobs/submit.h"
#include "scheduler/jobs/dependency.h"
#include "scheduler/jobs/job_snap.h"
#include "core/db/run_tx.h"
#include "scheduler/mirror/capacity.h"
#include "scheduler/jobs/job_prepare.h"
#include "scheduler/jobs/submit_names.h"
#include "scheduler/plan/miss.h"
#include "tenants/access/principal.h"
#include "tenants/home/residency_facts.h"

/* In the zone that the job names or its data lies in; a job that says neither needs some zone. */
static enum errc check_place(struct work *w, const struct job *j, struct err *e)
{
    char *pointer = arena_alloc(w->arena, 64);
    const struct residency_facts *f;
    struct residency_question q = { .data_class = data_class_of(j->data_class), .purpose = str_c(job_types[j->kind].purpose),
                                    .now_us = w->now_us };
    TRY(residency_facts_of(w, &f, e));
    const struct residency_zone *z = f->zones.items;
    q.zone = j->zone.ptr ? j->zone : f->home;
    struct residency_verdict v = residency_allows(f, &q);
    if (v.allowed)
        return ERR_OK;
    for (size_t i = 0; !j->zone.ptr && i < f->zones.n; i++) {
        struct residency_question any = q;
        any.zone = z[i].code;
        if (residency_allows(f, &any).allowed)
            return ERR_OK;
    }
    return residency_refusal(RACT_SUBMIT, &q, &v, job_reads_pointer(j->kind, pointer), e);
}

/* A pool or zone without a machine is waited for: one may be registered. */
static enum errc check_capacity(struct work *w, const struct principal *p, const struct job *j, struct err *e)
{
    char pointer[64];
    struct capacity_answer c;
    const struct snap_job asked = job_snap(j);
    const struct str *zones = j->zone.ptr ? &j->zone : p->allowed_zones.items;
    TRY(capacity_ask(w, zones, j->zone.ptr ? 1 : p->allowed_zones.n, &asked, &c, e));
    if (!c.known || c.fits)
        return ERR_OK;
    if (j->gpus && !c.any_gpu)
        return j->zone.ptr ? FAIL_AT(e, UNPLACEABLE, "/gpus", "No machine with a GPU is registered in zone %.*s", STR_ARG(j->zone))
                           : FAIL_AT(e, UNPLACEABLE, "/gpus", "No machine with a GPU is registered in a zone that the tenant may use");
    FAIL(e, UNPLACEABLE, "No machine could ever hold it. The nearest, %.*s. Ask for less, or set force_queue to wait for a machine",
         STR_ARG(c.miss));
    if (c.lacks == MISS_ENGINE && snap_engine_is_own(j->engine))             /* its launcher asks for it */
        return err_field(e, "/spec/launcher");
    if (c.lacks == MISS_ENGINE && !schema_find(job_types[j->kind].spec, STR("engine")))      /* its model asks for it */
        return err_field(e, "%s", job_reads_pointer(j->kind, pointer));
    if (c.lacks == MISS_ENGINE)
        return err_field(e, "/spec/engine");
    return err_field(e, "/%s", miss_names[c.lacks]);
}

/* Only a job that waits for others costs a read. */
static enum errc check_dependencies(struct work *w, const struct job_create *in, struct job_submission *s, struct err *e)
{
    if (!in->dependencies.n)
        return ERR_OK;
    TRY(RUN_READ(w, dependency_check(w, &in->dependencies, e), e));
    s->dependencies = in->dependencies;
    s->job.reason = str_c(job_reason_names[JR_DEPENDENCY]);
    return ERR_OK;
}

enum errc (*const job_prepare_fns[JOB_KIND_COUNT])(struct work *w, struct job_submission *s, struct err *e) = {
#define JOB_TYPE(NAME, name, ...) [JOB_##NAME] = job_prepare_##name,
#include "core/wire/job_type.def"
#undef JOB_TYPE
};

enum errc submit_prepare_one(struct work *w, const struct job_create *in, const struct principal *p, struct job_submission *s,
                             struct err *e)
{
    struct submit_names names;
    const struct work *who = w;
    TRY(submit_names_ask(w, &in, &who, 1, &names, e));
    return submit_prepare(w, in, p, &names, s, e);
}

enum errc submit_prepare(struct work *w, const struct job_create *in, const struct principal *p, const struct submit_names *names,
                         struct job_submission *s, struct err *e)
{
    TRY(job_check(in, p, w->arena, w->now_us, &s->job, e));
    TRY(submit_names_project(w, in, names, &s->job.project_id, e));
    TRY(submit_names_check(w, &s->job, names, e));
    TRY(check_dependencies(w, in, s, e));
    TRY(job_prepare_fns[in->kind](w, s, e));
    TRY(check_place(w, &s->job, e));
    if (in->force_queue)
        return ERR_OK;
    TRY(job_nodes_room(w, &s->job, e));
    return check_capacity(w, p, &s->job, e);
}
