/* SPDX-License-Identifier: Apache-2.0 */
/* key_impact.c - the list comes from one SQL function, which reads tables of several folders; the verdicts from who judges each
 * act. */
#include "registry/vault/key_impact.h"
#include "core/db/tx.h"
#include "core/table/config.h"
#include "keys/client.h"
#include "registry/registry_int.h"

SCHEMA_OF(key_thing, "Something that hangs on a version of a key",
    FIELD(key_thing, kind, F_ALWAYS,
          .doc = "dataset, model, deployment, shared (an image that is published to other tenants), job (not over), other "
                 "(objects of none of them), person (keys of people in the log)"),
    FIELD(key_thing, id, 0, .doc = "Its id; absent where a row stands for many"),
    FIELD(key_thing, name, F_ALWAYS, .doc = "Its name; empty for many"), SHOWN_NAME_FIELDS(key_thing),
    FIELD(key_thing, objects, F_ALWAYS, .doc = "Objects or keys under the version"),
    FIELD(key_thing, bytes, F_ALWAYS, .doc = "Their stored bytes"));
SCHEMA_OF(key_rehearsal, "What an act on the version would do now",
    FIELD(key_rehearsal, act, F_ALWAYS, .doc = "rotate, disable or destroy"),
    FIELD(key_rehearsal, allowed, F_ALWAYS, .doc = "Would it be accepted now"),
    FIELD(key_rehearsal, why, 0, .doc = "Why not"),
    FIELD(key_rehearsal, stops, F_ALWAYS,
          .doc = "nothing; reads: all that hangs on the version, until it is enabled again; forever: all of it, without return"),
    FIELD(key_rehearsal, moves, F_ALWAYS, .doc = "Data keys that would move to a new version, in the background"),
    FIELD(key_rehearsal, takes_approval, F_ALWAYS, .doc = "A second person must approve it"));
SCHEMA_EXTERN(key_impact, "What hangs on a version of a key", FIELD_SUB(key_impact, key, &key_version_schema, F_ALWAYS,
      .doc = "The version"),
    FIELD(key_impact, generated_at, F_ALWAYS, .doc = "When this was read"),
    FIELD(key_impact, is_cut, F_ALWAYS, .doc = "More than 500 things hang on it"),
    FIELD(key_impact, destroy_days, F_ALWAYS, .doc = "Days between the approval of a destruction and the destruction"),
    FIELD_LIST(key_impact, things, &key_thing_schema, F_ALWAYS, .max = KEY_IMPACT_ROWS, .doc = "By kind and name"),
    FIELD_LIST(key_impact, acts, &key_rehearsal_schema, F_ALWAYS, .max = 3, .doc = "Rotate, disable, destroy"));

static const struct stmt hangs = { .name = "key_hangs", .params = "usii", .row = &key_thing_schema, .card = CARD_MANY, .sql =
    "SELECT kind, id, name, display_name, display_name_ar, objects, bytes FROM key_hangs($1, $2, $3, $4)" };
struct edge_row { bool is_edge; };
SCHEMA_OF(edge_row, "Is there such an edge", FIELD(edge_row, is_edge, 0, .doc = "Yes or no"));
static const struct stmt edge = { .name = "key_impact_edge", .params = "ss", .row = &edge_row_schema, .card = CARD_ONE, .sql =
    "SELECT EXISTS (SELECT FROM key_edge WHERE from_state = $1 AND to_state = $2) AS is_edge" };
const struct stmt *const key_impact_stmts[] = { &hangs, &edge, NULL };

static enum errc disable_of(struct work *w, const struct key_version *v, struct key_rehearsal *ret, struct err *e)
{
    struct edge_row row;
    TRY(db_one(w->tx, &edge, ARGS(A_STR(v->state), A_TEXT("DISABLED")), &row, e));
    /* The edge from there leads back: it calls a destruction off. */
    bool allowed = row.is_edge && !str_eq_c(v->state, "DESTROY_SCHEDULED");
    *ret = (struct key_rehearsal){ .act = STR("disable"), .allowed = allowed, .stops = STR("reads") };
    if (!ret->allowed)
        ret->why = str_fmt(w->arena, "Version %ld is %.*s and cannot be disabled", (long)v->key_version, STR_ARG(v->state));
    return ERR_OK;
}

static enum errc destroy_of(struct work *w, const struct key_version *v, struct key_rehearsal *ret, struct err *e)
{
    struct err no = { 0 };
    enum errc rc = key_destroy_check(w, v->zone, v->key_version, &no);
    if (rc != ERR_OK && rc != ERR_CONFLICT && rc != ERR_LEGAL_HOLD) {
        *e = no;
        return rc;
    }
    *ret = (struct key_rehearsal){ .act = STR("destroy"), .allowed = rc == ERR_OK, .stops = STR("forever"),
                                   .takes_approval = true };
    if (rc != ERR_OK)
        ret->why = str_dup(w->arena, str_c(no.msg));
    return ERR_OK;
}

static void rotate_of(struct work *w, const struct key_version *v, struct key_rehearsal *ret)
{
    bool has = keyd_client_has_zone(w->app->keyd, v->zone);
    *ret = (struct key_rehearsal){ .act = STR("rotate"), .allowed = has, .stops = STR("nothing"),
                             .moves = str_eq_c(v->state, "PRIMARY") ? v->data_keys : 0 };
    if (!has)
        ret->why = STR("The zone does not exist");
}

enum errc key_impact_read(struct work *w, struct str zone, int64_t version, struct key_impact *ret, struct err *e)
{
    struct key_impact k = { .generated_at = { w->now_us }, .destroy_days = w->app->config->keys_destroy_days };
    struct key_rehearsal *acts = ARENA_ARRAY(w->arena, struct key_rehearsal, 3);
    TRY(key_version_get(w, zone, version, &k.key, e));
    TRY(db_many(w->tx, &hangs, ARGS(A_UUID(w->tenant_id), A_STR(zone), A_I64(version), A_I64(KEY_IMPACT_ROWS + 1)), &k.things,
                KEY_IMPACT_ROWS + 1, e));
    if (k.things.n > KEY_IMPACT_ROWS) {
        k.things.n = KEY_IMPACT_ROWS;
        k.is_cut = true;
    }
    rotate_of(w, &k.key, &acts[0]);
    TRY(disable_of(w, &k.key, &acts[1], e));
    TRY(destroy_of(w, &k.key, &acts[2], e));
    k.acts = (struct slice){ acts, 3 };
    *ret = k;
    return ERR_OK;
}
