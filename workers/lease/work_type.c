/* SPDX-License-Identifier: Apache-2.0 */
/* work_type.c - the kinds that this program runs. */
#include "workers/lease/work_type.h"
#include "workers/lease/child.h"

static const struct work_type *const rows[JOB_KIND_COUNT] = {
#define JOB_TYPE(NAME, name, ...) [JOB_##NAME] = &work_type_##name,
#include "core/wire/job_type.def"
#undef JOB_TYPE
};

static enum errc run_unknown(struct child *c, struct err *e)
{
    return FAIL(e, INVALID, "this worker does not know jobs of kind %.*s", STR_ARG(c->grant.lease.kind));
}

const struct work_type *work_type_of(struct str kind)
{
    static const struct work_type unknown = { .run = run_unknown };
    int i = name_index(job_kind_names, kind);
    return i < 0 ? &unknown : rows[i];
}
