/* SPDX-License-Identifier: Apache-2.0 */
/* doors.h - the ways to make, widen or approve a credential or a power: for each route that is one, how -L takeover tries it, or
 * why
 * nobody gets by it what they do not hold. Which routes are ways, the route table says (is_way): a new one without a row here
 * fails. */
#pragma once
#include "tests/db/tenants/fixture.h"
#include "audit/event.h"
#include "core/table/config.h"
#include "tenants/access/appointment.h"
#include "tenants/access/binding.h"
#include "tenants/access/credential.h"
#include "tenants/access/principal_load.h"
#include "tenants/identity/api_token.h"
#include "tenants/identity/identity_provider.h"
#include "tenants/identity/invitation.h"
#include "tenants/identity/issuer.h"
#include "tenants/identity/oidc.h"
#include "tenants/identity/service_account.h"
#include "tenants/identity/user.h"
#include "tenants/identity/user_group.h"
#include "api/route.h"
#include "tenants/identity/scim_group.h"
#include "tenants/identity/scim_user.h"

static struct uuid tenant, provider, group;
static struct uuid person[ROLE_COUNT], program[ROLE_COUNT];
static struct uuid spare;       /* an account without any role, in the maker's hands */
static struct uuid token[ROLE_COUNT];   /* a live token of person[role] */
static struct uuid team[ROLE_COUNT];    /* a provisioned group whose members get the role */

typedef enum errc (*door)(struct work *w, enum role target);

static enum errc by_token(struct work *w, enum role target)
{
    struct api_token t;
    char text[TOKEN_TEXT];
    return api_token_create(w, &(struct api_token_new){ .user_id = person[target], .name = STR("x"), .days = 1 }, &t, text, &e);
}

static enum errc by_link(struct work *w, enum role target)
{
    return oidc_link(w, &(struct oidc_link){ provider, STR("my-own-subject"), person[target] }, &e);
}

static enum errc by_subject(struct work *w, enum role target)
{
    struct issuer_subject subject = { .subject = STR("my-own-program"), .user_id = program[target] };
    struct str alg = STR("RS256");
    struct issuer made;
    struct issuer_new in = { .name = STR("mine"), .issuer = STR("https://issuer.example"), .audience = STR("falaj"),
                             .jwks_uri = STR("https://issuer.example/keys"),
                             .algorithms = { &alg, 1 }, .subjects = { &subject, 1 } };
    return issuer_create(w, &in, &made, &e);
}

static enum errc by_provider_group(struct work *w, enum role target)
{
    struct group_role give = { STR("everybody"), str_c(role_row(target)->wire) };
    struct identity_provider ret;
    struct provider_change change = { .has_group_roles = true, .group_roles = { &give, 1 } };
    return provider_set(w, provider, &change, -1, &ret, &e);
}

static enum errc by_scim_group(struct work *w, enum role target)
{
    struct user_group ret;
    return group_role_set(w, group, str_c(role_row(target)->wire), -1, &ret, &e);
}

/* A role of the whole tenant for an account that the maker has: what is only asked for (appointment.h) is not held yet. */
static enum errc holds(struct work *w, struct uuid user_id, enum role target)
{
    struct binding_filter f = { .user_id = user_id, .role = str_c(role_row(target)->wire) };
    struct slice held;
    TRY(role_binding_list(w, &f, UUID_NIL, 1, &held, &e));
    return held.n ? ERR_OK : ERR_SEPARATION;
}

static struct slice one_role(enum role target, struct str *room)
{
    *room = str_c(role_row(target)->wire);
    return (struct slice){ room, 1 };
}

static enum errc by_grant(struct work *w, enum role target)
{
    struct role_binding b;
    return role_grant(w, spare, str_c(role_row(target)->wire), &b, &e);
}

static enum errc by_new_user(struct work *w, enum role target)
{
    struct app_user u;
    struct str role;
    enum errc rc = user_create(w, STR("another me"), STR("person"), one_role(target, &role), &u, &e);
    return rc == ERR_OK ? holds(w, u.user_id, target) : rc;
}

static enum errc by_service_account(struct work *w, enum role target)
{
    struct app_user u;
    struct str role;
    return service_account_create(w, STR("my program"), one_role(target, &role), &u, &e);
}

static enum errc by_invitation(struct work *w, enum role target)
{
    struct invitation i;
    struct app_user u;
    struct principal *inviter = NULL;
    const struct principal *maker = w->principal;
    struct str role;
    char text[TOKEN_TEXT];
    TRY(invitation_create(w, STR("myself"), STR_NULL, one_role(target, &role), 1, &i, text, &e));
    enum errc rc = invitation_accept(w, str_c(text), &inviter, &i, &u, &e);
    w->principal = maker;
    principal_unref(inviter);
    return rc == ERR_OK ? holds(w, u.user_id, target) : rc;
}

static const char *bare(struct uuid u)
{
    static char text[UUID_TEXT];
    char *to = text;
    for (const char *c = hex(u); *c; c++)
        if (*c != '-')
            *to++ = *c;
    *to = '\0';
    return text;
}

static enum errc by_rotation(struct work *w, enum role target)
{
    struct api_token t;
    char text[TOKEN_TEXT];
    return api_token_rotate(w, token[target], 0, 1, &t, text, &e);
}

/* The spare account joins a group whose members hold the role; provisioning did not make it. */
static enum errc joined(struct work *w, enum role target, struct str body, bool is_patch)
{
    struct scim_write in = { .id = team[target], .body = body };
    struct scim_answer ret = { 0 };
    TRY(is_patch ? scim_group_patch(w, &in, &ret, &e) : scim_group_replace(w, &in, &ret, &e));
    return holds(w, spare, target);
}

static enum errc by_patched_group(struct work *w, enum role target)
{
    return joined(w, target, str_fmt(w->arena,
                                     "{\"schemas\": [\"urn:ietf:params:scim:api:messages:2.0:PatchOp\"], \"Operations\":"
        " [{\"op\": \"add\", \"path\": \"members\", \"value\": [{\"value\": \"usr_%s\"}]}]}", bare(spare)), true);
}

static enum errc by_replaced_group(struct work *w, enum role target)
{
    return joined(w, target, str_fmt(w->arena, "{\"schemas\": [\"urn:ietf:params:scim:schemas:core:2.0:Group\"], \"displayName\":"
        " \"team-%d\", \"members\": [{\"value\": \"usr_%s\"}]}", (int)target, bare(spare)), false);
}

/* What is claimed of a route that is no door; test_credential.c holds each against the route's row. */
enum claim {
    CLAIM_THING,                /* it can name neither an account nor a power */
    CLAIM_ACCOUNT,              /* it may name an account, to take away or rename, and no power */
    CLAIM_SELF,                 /* for oneself: behind no permission that is given, and it can name no account and no power */
    CLAIM_MACHINE,              /* for machines, on their own listener */
    CLAIM_TWO,                  /* it only asks, with 202: two people, -L foureyes */
    CLAIM_TOLD                  /* none of these; the reason is all there is */
};

static const struct way {
    const char *op, *name;
    door make;
    const char *why;            /* make NULL: why nobody gets by it what they do not hold */
    bool judged_by_row;         /* the handler relies on the permission of its row */
    enum claim claim;           /* make NULL */
} ways[] = {
#define DOOR(op, name, make) { op, name, make, NULL, false, CLAIM_TOLD }
#define GIVES_NOTHING(op, claim, why) { op, NULL, NULL, why, false, CLAIM_##claim }
    DOOR("token_create", "token", by_token),
    DOOR("service_token_create", "token", by_token),
    DOOR("token_rotate", "rotated token", by_rotation),
    DOOR("service_account_create", "service account", by_service_account),
    DOOR("role_grant", "grant", by_grant),
    DOOR("user_create", "new user", by_new_user),
    DOOR("invitation_create", "invitation", by_invitation),
    DOOR("invitation_accept", "invitation", by_invitation),
    DOOR("identity_provider_create", "group of a provider", by_provider_group),
    DOOR("identity_provider_change", "group of a provider", by_provider_group),
    DOOR("identity_provider_link", "link to a provider", by_link),
    DOOR("issuer_create", "subject of an issuer", by_subject),
    DOOR("group_role_set", "role of a provisioned group", by_scim_group),
    { "scim_group_patch", "member of a provisioned group", by_patched_group, NULL, true, CLAIM_TOLD },
    { "scim_group_replace", "members of a provisioned group", by_replaced_group, NULL, true, CLAIM_TOLD },
    GIVES_NOTHING("scim_group_create", TOLD, "a group has no role until group_role_set"),
    GIVES_NOTHING("scim_user_create", TOLD, "an account without roles and without a way to sign in"),
    GIVES_NOTHING("scim_user_patch", TOLD, "names and states, of people that provisioning made"),
    GIVES_NOTHING("scim_user_replace", TOLD, "names and states, of people that provisioning made"),
    GIVES_NOTHING("user_update", ACCOUNT, "names and states; roles and credentials are not in it"),
    GIVES_NOTHING("identity_provider_test", THING, "fetches the provider's metadata"),
    GIVES_NOTHING("issuer_change", THING, "a state: its subjects were judged when it was made, and again when their roles came"),
    GIVES_NOTHING("appointment_request", TWO, "two people: -L foureyes"),
    GIVES_NOTHING("tenant_officer_request", TWO, "two people: -L foureyes"),
    GIVES_NOTHING("approval_approve", TOLD, "two people: -L foureyes"),
    GIVES_NOTHING("approval_refuse", THING, "refuses"),
    GIVES_NOTHING("break_glass_request", TWO, "two people: -L foureyes"),
    GIVES_NOTHING("break_glass_open", THING, "the one who asked, after the second person"),
    GIVES_NOTHING("tenant_create", THING, "the administrator of a tenant that is new and empty"),
    GIVES_NOTHING("device_start", SELF, "nothing until somebody lets it in"),
    GIVES_NOTHING("device_decide", SELF, "lets a device in as oneself"),
    GIVES_NOTHING("device_token", SELF, "what device_decide let in"),
    GIVES_NOTHING("mfa_begin", SELF, "of oneself"),
    GIVES_NOTHING("mfa_confirm", SELF, "of oneself"),
    GIVES_NOTHING("auth_login", SELF, "a session of whoever knows the password"),
    GIVES_NOTHING("auth_totp", SELF, "of oneself"),
    GIVES_NOTHING("auth_step_up", SELF, "of oneself"),
    GIVES_NOTHING("auth_password", SELF, "of oneself, with the present one"),
    GIVES_NOTHING("join_token_create", THING, "of machines, which act on their own leases only"),
    GIVES_NOTHING("node_enrol", TOLD, "a machine, by a join token"),
    GIVES_NOTHING("node_renew", MACHINE, "the machine's own, for the same key"),
    GIVES_NOTHING("zone_create", THING, "a place"),
    GIVES_NOTHING("zone_law_put", TWO, "two people: -L foureyes"),
    GIVES_NOTHING("tenant_zones_put", TWO, "two people: -L foureyes"),
    GIVES_NOTHING("tenant_suspend", ACCOUNT, "takes away"),
    GIVES_NOTHING("tenant_delete", TWO, "two people: -L foureyes"),
    GIVES_NOTHING("node_drain", ACCOUNT, "takes away"),
    GIVES_NOTHING("node_undrain", THING, "a machine that was enrolled"),
    GIVES_NOTHING("node_quarantine", ACCOUNT, "takes away"),
    GIVES_NOTHING("node_release", THING, "a machine that was enrolled"),
    GIVES_NOTHING("node_flavor", THING, "a word about a machine"),
    GIVES_NOTHING("engine_create", THING, "lends machines, which act on their own leases only; roles are not in it"),
    GIVES_NOTHING("engine_enable", THING, "an engine that was added"),
    GIVES_NOTHING("lease_certificate", MACHINE, "a name to serve the machine's own lease by"),
    GIVES_NOTHING("lease_keys", MACHINE, "keys of the machine's own lease, sealed to it"),
    GIVES_NOTHING("lease_checkpoint_new", MACHINE, "a place for a checkpoint of the machine's own lease"),
    GIVES_NOTHING("lease_output_new", MACHINE, "a place for an output of the machine's own lease"),
    GIVES_NOTHING("audit_export_create", THING, "what the caller may read, as a file"),
    GIVES_NOTHING("audit_hold_lift", TWO, "two people: -L foureyes"),
    GIVES_NOTHING("audit_retention_set", THING, "days"),
    GIVES_NOTHING("person_erase", ACCOUNT, "takes away"),
    GIVES_NOTHING("notification_create", TOLD, "members who get mails, and what its calls are signed with: nothing opens"),
    GIVES_NOTHING("notification_secret", THING, "another one of the same rule"),
    GIVES_NOTHING("environment_key_add", THING, "whose word about images counts, in the own tenant: takes images away, opens "
        "nothing"),
    GIVES_NOTHING("environment_offer", THING, "whether staff may publish an image; no call is allowed by it"),
    GIVES_NOTHING("shared_environment_publish", THING, "an image that programs of others may name; whoever runs one may already"),
    GIVES_NOTHING("shared_environment_withdraw", THING, "an image that nobody may name any more"),
    GIVES_NOTHING("registry_add", THING, "where images of a zone may come from; no call is allowed by it"),
    GIVES_NOTHING("registry_allow", THING, "as registry_add"),
    GIVES_NOTHING("environment_policy_set", THING, "which images may run, of those that people may name anyhow"),
    GIVES_NOTHING("job_enter", THING, "a way into a program of the tenant, for the caller, with the ticket that opens it once"),
    GIVES_NOTHING("idle_policy_set", THING, "for how long jobs may hold what they do not use"),
    GIVES_NOTHING("inside_policy_set", THING, "whether people are let in where their roles let them"),
    GIVES_NOTHING("key_rotate", THING, "a key that nobody is shown"),
    GIVES_NOTHING("key_import", THING, "a key that its giver knows, of the caller's own tenant"),
    GIVES_NOTHING("key_min_version", ACCOUNT, "takes away"),
    GIVES_NOTHING("key_disable", ACCOUNT, "takes away"),
    GIVES_NOTHING("key_enable", THING, "data that the tenant's people could read before"),
    GIVES_NOTHING("key_destroy", TWO, "two people: -L foureyes"),
    GIVES_NOTHING("key_shred", TWO, "two people: -L foureyes"),
    GIVES_NOTHING("root_key_rotate", TWO, "two people: -L foureyes"),
    GIVES_NOTHING("root_key_destroy", TWO, "two people: -L foureyes"),
    GIVES_NOTHING("transfer_policy_propose", TOLD, "two people: -L foureyes"),
    GIVES_NOTHING("dataset_transfer", THING, "data where a policy allows it, to whom could read it"),
};

/* Taking away gives nothing; of the rest: what says that it makes a power, what answers a secret, what asks for a fresh proof,
 * and
 * whatever stands behind a permission of one that makes a power. */
static bool is_way(const struct route *row, perm_set behind)
{
    return row->method != HTTP_GET && row->method != HTTP_DELETE && (route_makes_power(row) ||
        row->flags & (R_SECRET | R_STEP_UP) || row->perm == PERM_SCIM_PROVISION || PERM_BIT(row->perm) & behind);
}
