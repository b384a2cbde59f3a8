/* SPDX-License-Identifier: Apache-2.0 */
/* idle_policy.c - one row of a tenant's; none: for ever. */
#include "scheduler/jobs/idle_policy.h"
#include "core/db/tx.h"
#include "tenants/access/principal.h"

static bool is_minutes(int64_t n)
{
    return !n || (n >= IDLE_LEAST_MIN && n <= IDLE_MOST_MIN);
}

bool idle_project(struct str text, struct uuid *ret_id, int64_t *ret_minutes)
{
    struct str id, minutes;
    return str_cut(text, '=', &id, &minutes) && id_parse("prj", id, ret_id) && str_to_i64(minutes, 0, IDLE_MOST_MIN, ret_minutes)
           && is_minutes(*ret_minutes);
}

static bool check_project(struct str s, const char **why)
{
    struct uuid id;
    int64_t minutes;
    *why = "be prj_…=MINUTES, with 0 (for ever) or 5 to 43200 minutes";
    return idle_project(s, &id, &minutes);
}

SCHEMA_EXTERN(idle_policy, "For how long jobs may hold what they do not use",
    FIELD(idle_policy, after_minutes, F_REQ, .min = 0, .max = IDLE_MOST_MIN,
          .doc = "So long a job's devices may be idle before its people are told: 5 or more; 0: for ever"),
    FIELD(idle_policy, notice_minutes, 0, .min = 1, .max = IDLE_NOTICE_MOST_MIN, .dflt = "15",
          .doc = "So long after that it is put aside, unless they are used"),
    FIELD_STRS(idle_policy, projects, 0, .max = IDLE_PROJECTS_MAX, .check = check_project, .dflt = "",
               .example = "prj_0123456789abcdef0123456789abcdef=120",
               .doc = "Projects with minutes of their own, as prj_…=MINUTES"));

static const struct stmt policy_read = { .name = "idle_policy_read", .params = "u", .row = &idle_policy_schema,
    .card = CARD_MAYBE, .sql = "SELECT " ROW_COLUMNS " FROM idle_policy WHERE tenant_id = $1" };
static const struct stmt policy_write = { .name = "idle_policy_write", .params = "uiiSu", .card = CARD_NONE, .sql =
    "INSERT INTO idle_policy (tenant_id, after_minutes, notice_minutes, projects, changed_by) VALUES ($1, $2, $3, $4, $5)\n"
    "ON CONFLICT (tenant_id) DO UPDATE\n"
    "   SET after_minutes = $2, notice_minutes = $3, projects = $4, changed_by = $5, changed_at = now()" };
const struct stmt *const idle_policy_stmts[] = { &policy_read, &policy_write, NULL };

int64_t idle_policy_after(const struct idle_policy *p, struct uuid project_id)
{
    const struct str *all = p->projects.items;
    for (size_t i = 0; i < p->projects.n; i++) {
        struct uuid id;
        int64_t minutes;
        if (idle_project(all[i], &id, &minutes) && uuid_eq(id, project_id))
            return minutes;
    }
    return p->after_minutes;
}

enum errc idle_policy_get(struct work *w, struct idle_policy *ret, struct err *e)
{
    bool found = false;
    *ret = (struct idle_policy){ .notice_minutes = IDLE_NOTICE_MIN };
    return db_maybe(w->tx, &policy_read, ARGS(A_UUID(w->tenant_id)), ret, &found, e);
}

static enum errc check_once(const struct idle_policy *p, struct err *e)
{
    const struct str *all = p->projects.items;
    for (size_t i = 0; i < p->projects.n; i++)
        for (size_t j = 0; j < i; j++) {
            struct str a, b, rest;
            if (str_cut(all[i], '=', &a, &rest) && str_cut(all[j], '=', &b, &rest) && str_eq(a, b)) {
                FAIL(e, INVALID, "names %.*s twice", STR_ARG(a));
                return err_field(e, "/projects/%zu", i);
            }
        }
    return ERR_OK;
}

enum errc idle_policy_set(struct work *w, const struct idle_policy *in, struct err *e)
{
    if (!is_minutes(in->after_minutes))
        return FAIL_AT(e, INVALID, "/after_minutes", "must be 0 (for ever) or %d to %d", IDLE_LEAST_MIN, IDLE_MOST_MIN);
    TRY(check_once(in, e));
    return db_exec(w->tx, &policy_write, ARGS(A_UUID(w->tenant_id), A_I64(in->after_minutes), A_I64(in->notice_minutes),
                   A_STRS(in->projects.items, in->projects.n), A_UUID(w->principal->user_id)), NULL, e);
}
