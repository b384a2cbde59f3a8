/* SPDX-License-Identifier: Apache-2.0 */
/* authz.c - the matrix as bit sets, built by the compiler from permissions.def, and the bindings that carry it. */
#include "tenants/access/authz.h"
#include "tenants/access/cidr.h"

#include <stdio.h>
#include <string.h>

/* Roles by their letters, as permissions.def writes them, and the places of a permission. */
enum {
#define ROLE(name, letter, ...) letter = 1 << ROLE_##name,
#include "tenants/access/roles.def"
#undef ROLE
};
enum { AT_ZONE = 1, AT_PROJECT = 2, EVERYWHERE = 4 };

static const struct perm_row perms[PERM_COUNT] = {
    [PERM_NONE] = { "NONE", "none", "Nobody", 0, 0 },
    [PERM_PUBLIC] = { "PUBLIC", "public", "Anybody", 0, 0 },
    [PERM_SIGNED_IN] = { "SIGNED_IN", "signed-in", "Anybody who is known", 0, 0 },
#define PERM(name, wire, roles, places, doc) [PERM_##name] = { #name, wire, doc, roles, places },
#include "tenants/access/permissions.def"
#undef PERM
};

enum { PLACE_PLATFORM = ROLE_AT_PLATFORM, PLACE_TENANT = ROLE_AT_TENANT, PLACE_BOTH = ROLE_AT_BOTH, PLACE_WORKER = ROLE_AT_WORKER };

static const struct role_row roles[ROLE_COUNT] = {
#define ROLE(name, letter, wire, where, doc) [ROLE_##name] = { #name, wire, doc, (enum role_place)PLACE_##where },
#include "tenants/access/roles.def"
#undef ROLE
};

/* Folded into constants by the compiler: a request with conditions asks these for each of its bindings. */
static perm_set with_place(int place)
{
    perm_set set = 0;
#define PERM(name, wire, roles, places, doc) set |= (places) & place ? PERM_BIT(PERM_##name) : (perm_set)0;
#include "tenants/access/permissions.def"
#undef PERM
    return set;
}

perm_set role_permissions(enum role r)
{
    perm_set set = 0;
    const uint32_t bit = UINT32_C(1) << r;
#define PERM(name, wire, roles, places, doc) set |= (uint32_t)(roles) & bit ? PERM_BIT(PERM_##name) : (perm_set)0;
#include "tenants/access/permissions.def"
#undef PERM
    return set;
}

perm_set roles_permissions(uint32_t held)
{
    perm_set set = 0;
    for (int r = 0; r < ROLE_COUNT; r++)
        if (held & UINT32_C(1) << r)
            set |= role_permissions((enum role)r);
    return set;
}

const struct perm_row *perm_row(enum permission p)
{
    return &perms[p < PERM_COUNT ? p : PERM_NONE];
}

const struct role_row *role_row(enum role r)
{
    return &roles[r];
}

enum permission perm_by_wire(struct str wire)
{
    for (int i = PERM_SIGNED_IN + 1; i < PERM_COUNT; i++)
        if (str_eq_c(wire, perms[i].wire))
            return (enum permission)i;
    return PERM_NONE;
}

int role_by_wire(struct str wire)
{
    for (int i = 0; i < ROLE_COUNT; i++)
        if (str_eq_c(wire, roles[i].wire))
            return i;
    return -1;
}

perm_set binding_permissions(const struct binding *b)
{
    perm_set all = role_permissions(b->role);
    return b->place == BOUND_ZONE ? all & with_place(AT_ZONE) : b->place == BOUND_PROJECT ? all & with_place(AT_PROJECT) : all;
}

perm_set binding_always(const struct binding *b)
{
    bool is_wide = b->place == BOUND_PLATFORM || b->place == BOUND_TENANT;
    return binding_permissions(b) & (is_wide ? ~(perm_set)0 : with_place(EVERYWHERE));
}

const char *const binding_verdict_names[] = { "applies", "applies_in_project", "lacks", "not_yet", "ended", "mfa", "address", "zone",
                                              "zone_unknown", "project", NULL };

static bool has_str(struct slice list, struct str s)
{
    for (size_t i = 0; i < list.n; i++)
        if (str_eq(((struct str *)list.items)[i], s))
            return true;
    return false;
}

static bool has_address(struct slice nets, struct str address)
{
    for (size_t i = 0; i < nets.n; i++)
        if (cidr_has(&((struct cidr *)nets.items)[i], address))
            return true;
    return false;
}

enum binding_verdict binding_judge(const struct binding *b, enum permission perm, int64_t mfa_us, const struct authz_context *ctx)
{
    if (!(binding_permissions(b) & PERM_BIT(perm)))
        return BINDING_LACKS;
    if (b->valid_from_us && ctx->now_us < b->valid_from_us)
        return BINDING_NOT_YET;
    if (b->valid_until_us && ctx->now_us >= b->valid_until_us)
        return BINDING_ENDED;
    if (b->mfa_age_s && (!mfa_us || ctx->now_us - mfa_us > b->mfa_age_s * 1000000))
        return BINDING_MFA;
    if (b->cidrs.n && !has_address(b->cidrs, ctx->source_ip))
        return BINDING_ADDRESS;
    bool is_placeless = perms[perm].places & EVERYWHERE;
    bool by_zone = !is_placeless && (b->place == BOUND_ZONE || b->in_zones.n);
    if (by_zone && !ctx->zone.ptr)
        return BINDING_ZONE_UNKNOWN;
    if (by_zone && ((b->place == BOUND_ZONE && !str_eq(b->zone, ctx->zone)) || (b->in_zones.n && !has_str(b->in_zones, ctx->zone))))
        return BINDING_ZONE;
    if (b->place != BOUND_PROJECT || is_placeless)
        return BINDING_APPLIES;
    if (uuid_is_nil(ctx->project_id))
        return BINDING_APPLIES_IN_PROJECT;
    return uuid_eq(ctx->project_id, b->project_id) ? BINDING_APPLIES : BINDING_PROJECT;
}

static void allow(struct decision *d, enum role r)
{
    d->allowed = true;
    snprintf(d->rule, sizeof d->rule, "role:%s", roles[r].wire);
}

/* What is limited by place or condition: the first binding that applies, or why none does. */
static struct decision decide_by_bindings(const struct principal *p, enum permission perm, const struct authz_context *ctx)
{
    const struct binding *b = p->bindings.items;
    struct decision d = { .allowed = false };
    enum binding_verdict why = BINDING_LACKS;
    bool only_mfa = false;
    for (size_t i = 0; i < p->bindings.n; i++) {
        enum binding_verdict v = binding_judge(&b[i], perm, p->mfa_us, ctx);
        if (v == BINDING_APPLIES) {
            d = (struct decision){ .allowed = false };
            allow(&d, b[i].role);
            return d;
        }
        if (v == BINDING_APPLIES_IN_PROJECT && !d.in_projects) {
            allow(&d, b[i].role);
            d.in_projects = true;
        } else if (v == BINDING_ZONE_UNKNOWN && ctx->zone_later && !d.allowed) {
            allow(&d, b[i].role);
        }
        d.zone_later |= v == BINDING_ZONE_UNKNOWN && ctx->zone_later;
        only_mfa |= v == BINDING_MFA;
        if (v != BINDING_LACKS && (why == BINDING_LACKS || v == BINDING_MFA))
            why = v;
    }
    if (d.allowed)
        return d;
    d.needs_mfa = only_mfa && p->method == AUTH_SESSION;
    snprintf(d.rule, sizeof d.rule, "condition:%s:%s", binding_verdict_names[why], perms[perm].wire);
    return d;
}

struct decision authz_decide(const struct principal *p, enum permission perm, const struct authz_context *ctx)
{
    struct decision d = { .allowed = false };
    if (perm == PERM_PUBLIC || (perm == PERM_SIGNED_IN && p)) {
        d.allowed = true;
        snprintf(d.rule, sizeof d.rule, "%s", perms[perm].wire);
        return d;
    }
    perm_set bit = PERM_BIT(perm);
    if (p && perm > PERM_SIGNED_IN && (p->bindings.n ? p->always : p->permissions) & bit) {
        for (int r = 0; r < ROLE_COUNT; r++)
            if (p->roles & UINT32_C(1) << r && role_permissions((enum role)r) & bit) {
                allow(&d, (enum role)r);
                break;
            }
        d.allowed = true;
        return d;
    }
    if (p && perm > PERM_SIGNED_IN && p->permissions & bit)
        return decide_by_bindings(p, perm, ctx);
    bool by_role = p && perm > PERM_SIGNED_IN && roles_permissions(p->roles) & bit;
    snprintf(d.rule, sizeof d.rule, "%s:%s", by_role ? "scope" : "missing", perms[perm].wire);
    return d;
}

struct slice authz_projects(const struct principal *p, enum permission perm, const struct authz_context *ctx, struct arena *a)
{
    const struct binding *b = p->bindings.items;
    struct uuid *ids = ARENA_ARRAY(a, struct uuid, p->bindings.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < p->bindings.n; i++) {
        enum binding_verdict v = binding_judge(&b[i], perm, p->mfa_us, ctx);
        if (v == BINDING_APPLIES_IN_PROJECT || (v == BINDING_ZONE_UNKNOWN && ctx->zone_later && b[i].place == BOUND_PROJECT))
            ids[n++] = b[i].project_id;
    }
    return (struct slice){ ids, n };
}

struct decision authz_work(const struct work *w, enum permission perm)
{
    struct authz_context ctx = { .now_us = w->now_us, .source_ip = w->source_ip };
    return authz_decide(w->principal, perm, &ctx);
}

enum errc authz_refuse(const struct decision *d, enum permission perm, struct err *e)
{
    static const struct { const char *rule, *text; } conditions[] = {
        { "condition:not_yet", "the role that gives it is not valid yet" },
        { "condition:ended", "the role that gave it has ended" },
        { "condition:mfa", "the role that gives it asks for a recent second factor" },
        { "condition:address", "the role that gives it does not hold from this address" },
        { "condition:zone", "the role that gives it does not hold in this zone" },
        { "condition:project", "the role that gives it does not hold in this project" },
    };
    if (d->needs_mfa)
        return FAIL(e, MFA_REQUIRED, "This needs the permission %s: %s", perms[perm].wire, conditions[2].text);
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
        if (!strncmp(d->rule, conditions[i].rule, strlen(conditions[i].rule)))
            return FAIL(e, FORBIDDEN, "This needs the permission %s: %s", perms[perm].wire, conditions[i].text);
    return FAIL(e, FORBIDDEN, "This needs the permission %s", perms[perm].wire);
}

enum errc authz_require_zone(const struct work *w, enum permission perm, struct str zone, struct err *e)
{
    struct authz_context ctx = { .now_us = w->now_us, .source_ip = w->source_ip, .zone = zone };
    struct decision d = authz_decide(w->principal, perm, &ctx);
    return d.allowed ? ERR_OK : authz_refuse(&d, perm, e);
}

static enum permission perm_first(perm_set set)
{
    uint64_t low = (uint64_t)set;
    return (enum permission)(low ? __builtin_ctzll(low) : 64 + __builtin_ctzll((uint64_t)(set >> 64)));
}

/* Holding `b` is holding at least `wanted`: not a narrower place, not a shorter time, not fewer zones. What is asked of the holder
 * itself (a second factor, an address) must be true now and need not be passed on. */
static bool covers(const struct binding *b, const struct binding *wanted, int64_t mfa_us, const struct authz_context *ctx)
{
    if (b->place == BOUND_ZONE && (wanted->place != BOUND_ZONE || !str_eq(b->zone, wanted->zone)))
        return false;
    if (b->place == BOUND_PROJECT && (wanted->place != BOUND_PROJECT || !uuid_eq(b->project_id, wanted->project_id)))
        return false;
    if (b->valid_until_us && (!wanted->valid_until_us || wanted->valid_until_us > b->valid_until_us))
        return false;
    for (size_t i = 0; i < wanted->in_zones.n && b->in_zones.n; i++)
        if (!has_str(b->in_zones, ((struct str *)wanted->in_zones.items)[i]))
            return false;
    if (b->in_zones.n && !wanted->in_zones.n)
        return false;
    return (!b->valid_from_us || ctx->now_us >= b->valid_from_us) && (!b->valid_until_us || ctx->now_us < b->valid_until_us) &&
           (!b->mfa_age_s || (mfa_us && ctx->now_us - mfa_us <= b->mfa_age_s * 1000000)) &&
           (!b->cidrs.n || has_address(b->cidrs, ctx->source_ip));
}

/* What the granter holds wherever and whenever `wanted` would hold. */
static perm_set held_over(const struct principal *granter, const struct binding *wanted, const struct authz_context *ctx)
{
    const struct binding *b = granter->bindings.items;
    perm_set held = granter->bindings.n ? 0 : granter->permissions;
    for (size_t i = 0; i < granter->bindings.n; i++)
        if (covers(&b[i], wanted, granter->mfa_us, ctx))
            held |= binding_permissions(&b[i]) & granter->scopes;
    return held;
}

bool authz_may_grant(const struct principal *granter, const struct binding *wanted, const struct authz_context *ctx,
                     enum permission *ret_missing)
{
    perm_set held = held_over(granter, wanted, ctx);
    /* What every role may do for itself is no power to give away. */
    perm_set missing = binding_permissions(wanted) & ~held & ~PERM_BIT(PERM_TOKEN_OWN);
    if (wanted->role == ROLE_COMPLIANCE_OFFICER || wanted->role == ROLE_ZONE_OPERATOR)
        /* Auditors and operators are appointed by administrators who cannot act for them: these roles see no content, and the
         * officer's excludes all others. */
        missing = PERM_BIT(wanted->role == ROLE_ZONE_OPERATOR ? PERM_ZONE_CREATE : PERM_ROLE_GRANT) & ~held;
    if (!(held & PERM_BIT(PERM_ROLE_GRANT)))
        missing |= PERM_BIT(PERM_ROLE_GRANT);
    if (!missing)
        return true;
    *ret_missing = perm_first(missing);
    return false;
}

bool authz_may_act_as(const struct principal *maker, const struct binding *wanted, const struct authz_context *ctx,
                      enum permission *ret_missing)
{
    perm_set missing = binding_permissions(wanted) & ~held_over(maker, wanted, ctx);
    if (missing)
        *ret_missing = perm_first(missing);
    return !missing;
}

bool role_fits(enum role r, bool is_platform)
{
    return roles[r].place & (is_platform ? ROLE_AT_PLATFORM : ROLE_AT_TENANT);
}

bool role_fits_place(enum role r, enum binding_place place, bool is_platform)
{
    switch (place) {
    case BOUND_PLATFORM:
        return is_platform && role_fits(r, true);
    case BOUND_ZONE:
        return is_platform && r == ROLE_ZONE_OPERATOR;
    case BOUND_TENANT:
        return !is_platform && role_fits(r, false);
    case BOUND_PROJECT:
        return !is_platform && role_fits(r, false) && r != ROLE_COMPLIANCE_OFFICER;
    }
    return false;
}

bool roles_are_separate(uint32_t held)
{
    uint32_t officer = UINT32_C(1) << ROLE_COMPLIANCE_OFFICER;
    return !(held & officer) || held == officer;
}

void authz_print_markdown(struct buf *out)
{
    buf_add_c(out, "# Permissions and roles\n\nPrinted from tenants/access/permissions.def and tenants/access/roles.def.\n\n| permission | meaning |");
    for (int r = 0; r < ROLE_COUNT; r++)
        buf_printf(out, " %s |", roles[r].wire);
    buf_add_c(out, "\n|---|---|");
    for (int r = 0; r < ROLE_COUNT; r++)
        buf_add_c(out, "---|");
    buf_add_char(out, '\n');
    for (int p = PERM_SIGNED_IN + 1; p < PERM_COUNT; p++) {
        buf_printf(out, "| %s | %s |", perms[p].wire, perms[p].doc);
        for (int r = 0; r < ROLE_COUNT; r++)
            buf_add_c(out, role_permissions((enum role)r) & PERM_BIT(p) ? " Y |" : " - |");
        buf_add_char(out, '\n');
    }
    buf_add_c(out, "\n| role | bound at | meaning |\n|---|---|---|\n");
    static const char *const places[] = { "", "platform", "tenant", "platform or tenant", "a certificate" };
    for (int r = 0; r < ROLE_COUNT; r++)
        buf_printf(out, "| %s | %s | %s |\n", roles[r].wire, places[roles[r].place], roles[r].doc);
}
