/* SPDX-License-Identifier: Apache-2.0 */
/* second_person.c - the facts are one statement (migrations/functions/second_person_facts.sql); the verdict is plain code over
 * them. */
#include "tenants/access/second_person.h"
#include "core/db/tx.h"
#include "core/table/config.h"
#include "tenants/access/authz.h"

enum { PROD_AGE_MS = 3600000 };

const char *const second_why_names[] = {
#define X(name, wire, text) wire,
    SECOND_PERSON_WHYS(X)
#undef X
    NULL
};

static const char *const texts[] = {
#define X(name, wire, text) text,
    SECOND_PERSON_WHYS(X)
#undef X
};

struct facts {
    struct str kind, what, step;
    bool is_known, other_is_known;
    struct timestamp account_at, role_at, link_at;
};
SCHEMA_OF(facts, "A user as the second person beside another", FIELD(facts, kind, 0, .doc = "person or service"),
    FIELD(facts, is_known, 0, .doc = "Who made it"), FIELD(facts, other_is_known, 0, .doc = "Who made the other"),
    FIELD(facts, what, 0, .doc = "How the two come from one"), FIELD(facts, step, 0, .doc = "By what"),
    FIELD(facts, account_at, 0, .doc = "Since when it is there"), FIELD(facts, role_at, 0, .doc = "Since when it may decide"),
    FIELD(facts, link_at, 0, .doc = "When it was last linked"));
static const struct stmt second_facts = { .name = "second_person_facts", .params = "uuuS", .row = &facts_schema, .card =
    CARD_ONE, .sql =
    "SELECT kind, is_known, other_is_known, what, step, account_at, role_at, link_at FROM second_person_facts($1, $2, $3, $4)" };

const struct stmt *const second_person_stmts[] = { &second_facts, NULL };

const char *second_why_text(enum second_why why)
{
    return texts[why];
}

bool second_person_asked(const struct app *app)
{
    return app->config->approval_separation == SEPARATION_PEOPLE;
}

bool role_takes_two(enum role role)
{
    perm_set deciding = PERM_BIT(PERM_APPROVE_TENANT) | PERM_BIT(PERM_APPROVE_RESIDENCY) | PERM_BIT(PERM_APPROVE_KEY) |
                        PERM_BIT(PERM_APPROVE_HOLD) | PERM_BIT(PERM_APPROVE_ROLE) | PERM_BIT(PERM_KEY_ROOT);
    return role_permissions(role) & deciding;
}

enum errc second_person_config(const struct config *c, struct err *e)
{
    if (c->run_profile != PROFILE_PROD)
        return ERR_OK;
    if (c->approval_separation != SEPARATION_PEOPLE)
        return FAIL(e, INVALID, "approval.separation = accounts is for development; run.profile = prod needs people");
    if (c->approval_age_ms < PROD_AGE_MS)
        return FAIL(e, INVALID, "approval.age_ms is %ld; run.profile = prod needs an hour (3600000) or more",
            (long)c->approval_age_ms);
    return ERR_OK;
}

static enum second_why origin_of(const struct facts *f)
{
    static const struct { const char *step; enum second_why why; } steps[] = {
        { "account", SECOND_ACCOUNT }, { "link", SECOND_LINK }, { "provider", SECOND_PROVIDER }, { "role", SECOND_ROLE },
    };
    if (!f->is_known || !f->other_is_known)
        return f->what.ptr && str_eq_c(f->what, "made") ? SECOND_ACCOUNT : SECOND_UNKNOWN;
    if (!f->what.ptr)
        return SECOND_COUNTS;
    if (str_eq_c(f->what, "maker"))
        return SECOND_MAKER;
    if (str_eq_c(f->what, "common"))
        return SECOND_COMMON;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (str_eq_c(f->step, steps[i].step))
            return steps[i].why;
    return SECOND_TOKEN;
}

static struct second_person verdict(const struct facts *f, int64_t age_us, int64_t now_us)
{
    const struct { struct timestamp at; enum second_why why; } young[] = {
        { f->account_at, SECOND_YOUNG_ACCOUNT }, { f->role_at, SECOND_YOUNG_ROLE }, { f->link_at, SECOND_YOUNG_LINK },
    };
    if (!str_eq_c(f->kind, "person"))
        return (struct second_person){ SECOND_PROGRAM, { 0 } };
    enum second_why why = origin_of(f);
    if (why != SECOND_COUNTS)
        return (struct second_person){ why, { 0 } };
    for (size_t i = 0; i < sizeof young / sizeof *young; i++)
        if (young[i].at.us && young[i].at.us + age_us > now_us)
            return (struct second_person){ young[i].why, { young[i].at.us + age_us } };
    return (struct second_person){ SECOND_COUNTS, { 0 } };
}

enum errc second_person_judge(struct work *w, struct uuid user_id, struct uuid other, enum permission perm,
    struct second_person *ret,
                              struct err *e)
{
    struct facts f;
    struct str roles[ROLE_COUNT];
    size_t n = 0;
    *ret = (struct second_person){ SECOND_COUNTS, { 0 } };
    if (!second_person_asked(w->app))
        return ERR_OK;
    for (int r = 0; r < ROLE_COUNT; r++)
        if (role_permissions((enum role)r) & PERM_BIT(perm))
            roles[n++] = str_c(role_row((enum role)r)->wire);
    TRY(db_one(w->tx, &second_facts, ARGS(A_UUID(w->tenant_id), A_UUID(other), A_UUID(user_id), A_STRS(roles, n)), &f, e));
    *ret = verdict(&f, w->app->config->approval_age_ms * 1000, w->now_us);
    return ERR_OK;
}
