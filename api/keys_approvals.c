/* SPDX-License-Identifier: Apache-2.0 */
/* keys_approvals.c - acts on keys that need a second person: what is stored for the approver, and what an approval carries out. */
#include "api/keys_int.h"
#include "core/json/decode.h"
#include "core/table/config.h"
#include "registry/vault/key_life.h"
#include "registry/vault/root_key.h"

enum { REQUEST_HOURS = 7 * 24, ROOT_HOURS = 24 };

struct key_act { struct str zone; int64_t version, days; };
SCHEMA_OF(key_act, "What exactly is to be done with which key", FIELD(key_act, zone, F_REQ, .min = 2, .max = 31, .doc = "Residency zone"),
    FIELD(key_act, version, F_REQ, .min = 0, .max = UINT32_MAX, .doc = "Version; 0: all"),
    FIELD(key_act, days, F_REQ, .min = 0, .max = 3650, .doc = "Days between approval and destruction"));

static struct str payload(struct work *w, struct str zone, int64_t version, int64_t days)
{
    return str_fmt(w->arena, "{\"zone\":\"%.*s\",\"version\":%ld,\"days\":%ld}", STR_ARG(zone), (long)version, (long)days);
}

static enum errc act_of(struct work *w, const struct approval *a, struct key_act *ret, struct err *e)
{
    return json_decode(&key_act_schema, a->payload.text, w->arena, ret, e);
}

static enum errc destroy_execute(struct work *w, const struct approval *a, struct err *e)
{
    struct key_act act = { 0 };
    TRY(act_of(w, a, &act, e));
    return key_schedule_destroy(w, act.zone, act.version, act.days, e);
}

static enum errc root_rotate_execute(struct work *w, const struct approval *a, struct err *e)
{
    struct key_act act = { 0 };
    int64_t version;
    TRY(act_of(w, a, &act, e));
    return root_key_rotate(w, act.zone, &version, e);
}

static enum errc root_destroy_execute(struct work *w, const struct approval *a, struct err *e)
{
    struct key_act act = { 0 };
    TRY(act_of(w, a, &act, e));
    return root_key_destroy(w, act.zone, act.version, e);
}

const struct approval_kind key_destroy_kind = { "key.destroy", PERM_APPROVE_KEY, 1, REQUEST_HOURS, destroy_execute,
    "Destroy versions of a tenant's key after a waiting time: what they seal can never be read again" };
const struct approval_kind root_rotate_kind = { "root.rotate", PERM_KEY_ROOT, 1, ROOT_HOURS, root_rotate_execute,
    "Make a new version of a zone's root key (second custodian)" };
const struct approval_kind root_destroy_kind = { "root.destroy", PERM_APPROVE_KEY, 1, REQUEST_HOURS, root_destroy_execute,
    "Destroy a retired version of a zone's root key: older backups of the key tables die with it" };

enum errc key_destroy_request(struct work *w, struct str zone, int64_t version, struct str reason, struct approval *ret, struct err *e)
{
    struct str subject = version ? str_fmt(w->arena, "key v%ld in %.*s", (long)version, STR_ARG(zone))
                                 : str_fmt(w->arena, "all keys in %.*s", STR_ARG(zone));
    TRY(key_destroy_check(w, zone, version, e));
    return approval_request(w, &key_destroy_kind, UUID_NIL, subject, payload(w, zone, version, w->app->config->keys_destroy_days), reason, ret, e);
}

enum errc root_rotate_request(struct work *w, struct str zone, struct str reason, struct approval *ret, struct err *e)
{
    struct slice all;
    TRY(root_key_list(w, zone, &all, e));       /* the zone exists and is not sealed */
    return approval_request(w, &root_rotate_kind, UUID_NIL, str_fmt(w->arena, "root key of %.*s", STR_ARG(zone)), payload(w, zone, 0, 0), reason, ret, e);
}

enum errc root_destroy_request(struct work *w, struct str zone, int64_t version, struct str reason, struct approval *ret, struct err *e)
{
    TRY(root_key_destroy_check(w, zone, version, e));
    return approval_request(w, &root_destroy_kind, UUID_NIL, str_fmt(w->arena, "root key v%ld of %.*s", (long)version, STR_ARG(zone)),
                            payload(w, zone, version, 0), reason, ret, e);
}
