/* SPDX-License-Identifier: Apache-2.0 */
/* authz.c - the matrix as bit sets, built by the compiler from roles.def. */
#include "tenants/authz.h"

#include <stdio.h>

static const struct perm_row perms[PERM_COUNT] = {
    [PERM_NONE] = { "NONE", "none", "Nobody" },
    [PERM_PUBLIC] = { "PUBLIC", "public", "Anybody" },
    [PERM_SIGNED_IN] = { "SIGNED_IN", "signed-in", "Anybody who is known" },
#define PERM(name, wire, doc) [PERM_##name] = { #name, wire, doc },
#include "tenants/permissions.def"
#undef PERM
};

enum { PLACE_PLATFORM = ROLE_AT_PLATFORM, PLACE_TENANT = ROLE_AT_TENANT, PLACE_BOTH = ROLE_AT_BOTH, PLACE_WORKER = ROLE_AT_WORKER };

static const struct role_row roles[ROLE_COUNT] = {
#define ROLE(name, wire, where, doc) [ROLE_##name] = { #name, wire, doc, (enum role_place)PLACE_##where },
#define GRANT(role, perm)
#include "tenants/roles.def"
#undef ROLE
#undef GRANT
};

perm_set role_permissions(enum role r)
{
    perm_set set = 0;
#define ROLE(name, wire, where, doc)
#define GRANT(role, perm) set |= r == ROLE_##role ? PERM_BIT(PERM_##perm) : (perm_set)0;
#include "tenants/roles.def"
#undef ROLE
#undef GRANT
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

struct decision authz_decide(const struct principal *p, enum permission perm)
{
    struct decision d = { .allowed = false };
    if (perm == PERM_PUBLIC || (perm == PERM_SIGNED_IN && p)) {
        d.allowed = true;
        snprintf(d.rule, sizeof d.rule, "%s", perms[perm].wire);
        return d;
    }
    perm_set bit = PERM_BIT(perm);
    if (p && perm > PERM_SIGNED_IN && p->permissions & bit) {
        d.allowed = true;
        for (int r = 0; r < ROLE_COUNT; r++)
            if (p->roles & UINT32_C(1) << r && role_permissions((enum role)r) & bit) {
                snprintf(d.rule, sizeof d.rule, "role:%s", roles[r].wire);
                break;
            }
        return d;
    }
    bool by_role = p && perm > PERM_SIGNED_IN && roles_permissions(p->roles) & bit;
    snprintf(d.rule, sizeof d.rule, "%s:%s", by_role ? "scope" : "missing", perms[perm].wire);
    return d;
}

static enum permission perm_first(perm_set set)
{
    uint64_t low = (uint64_t)set;
    return (enum permission)(low ? __builtin_ctzll(low) : 64 + __builtin_ctzll((uint64_t)(set >> 64)));
}

bool authz_may_grant(const struct principal *granter, enum role role, enum permission *ret_missing)
{
    /* What every role may do for itself is no power to give away. */
    perm_set own = PERM_BIT(PERM_TOKEN_OWN);
    perm_set missing = role_permissions(role) & ~granter->permissions & ~own;
    /* Auditors are appointed by administrators who cannot read for them: the role is read-only and excludes all others. */
    if (role == ROLE_COMPLIANCE_OFFICER && granter->permissions & PERM_BIT(PERM_ROLE_GRANT))
        missing = 0;
    if (role == ROLE_ZONE_OPERATOR && granter->permissions & PERM_BIT(PERM_ZONE_CREATE))
        missing = 0;
    if (!missing)
        return true;
    *ret_missing = perm_first(missing);
    return false;
}

bool role_fits(enum role r, bool is_platform)
{
    return roles[r].place & (is_platform ? ROLE_AT_PLATFORM : ROLE_AT_TENANT);
}

bool roles_are_separate(uint32_t held)
{
    uint32_t officer = UINT32_C(1) << ROLE_COMPLIANCE_OFFICER;
    return !(held & officer) || held == officer;
}

void authz_print_markdown(struct buf *out)
{
    buf_add_c(out, "# Permissions and roles\n\nPrinted from tenants/permissions.def and tenants/roles.def.\n\n| permission | meaning |");
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
