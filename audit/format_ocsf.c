/* SPDX-License-Identifier: Apache-2.0 */
/* format_ocsf.c - events as OCSF 1.3 (schema.ocsf.io), one JSON object a line.
 *
 * The class follows from the action: logins are Authentication (3002), users and roles are Account Change (3001), all else is API
 * Activity (6003). The activity follows from the action's verb; a verb that is in no table is "Other" (99), as OCSF wants it,
 * so a new event code needs no row here. What OCSF has no place for stands in `unmapped`. Time is in milliseconds. */
#include "audit/format_int.h"

enum { ACCOUNT_CHANGE = 3001, AUTHENTICATION = 3002, API_ACTIVITY = 6003, OTHER = 99 };

struct verb {
    const char *verb;
    int activity;
};
/* API Activity: 1 Create, 2 Read, 3 Update, 4 Delete. */
static const struct verb api_verbs[] = {
    { "create", 1 }, { "register", 1 }, { "submit", 1 }, { "upload", 1 }, { "write", 1 }, { "genesis", 1 }, { "add", 1 }, { "import", 1 },
    { "issue", 1 }, { "read", 2 }, { "export", 2 }, { "release", 2 }, { "list", 2 }, { "verify", 2 }, { "download", 2 }, { "update", 3 },
    { "set", 3 }, { "rotate", 3 }, { "migrate", 3 }, { "drain", 3 }, { "admit", 3 }, { "lease", 3 }, { "start", 3 }, { "finish", 3 },
    { "expire", 3 }, { "requeue", 3 }, { "reject", 3 }, { "cancel", 3 }, { "approve", 3 }, { "rewrap", 3 }, { "disable", 3 }, { "enable", 3 },
    { "promote", 3 }, { "hold", 3 }, { "delete", 4 }, { "revoke", 4 }, { "destroy", 4 }, { "erase", 4 }, { "drop", 4 }, { "purge", 4 }, { 0 } };
/* Authentication: 1 Logon, 2 Logoff. */
static const struct verb login_verbs[] = { { "login", 1 }, { "logout", 2 }, { 0 } };
/* Account Change: 1 Create, 2 Enable, 3 Password Change, 5 Disable, 6 Delete. */
static const struct verb user_verbs[] = { { "create", 1 }, { "enable", 2 }, { "password", 3 }, { "revoke", 5 }, { "disable", 5 },
                                          { "delete", 6 }, { 0 } };
/* … 7 Attach Policy, 8 Detach Policy. */
static const struct verb role_verbs[] = { { "create", 7 }, { "grant", 7 }, { "revoke", 8 }, { "delete", 8 }, { 0 } };

static const struct {
    const char *prefix;
    int class_uid;
    const struct verb *verbs;
} classes[] = { { "auth.", AUTHENTICATION, login_verbs }, { "user.", ACCOUNT_CHANGE, user_verbs },
                { "role_binding.", ACCOUNT_CHANGE, role_verbs }, { "", API_ACTIVITY, api_verbs } };

/* The last word of an action: "read" of "dataset.content.read". */
static struct str verb_of(struct str action)
{
    size_t n = action.len;
    while (n > 0 && action.ptr[n - 1] != '.')
        n--;
    return str_n(action.ptr + n, action.len - n);
}

struct format_ocsf_class format_ocsf_classify(struct str action)
{
    size_t i = 0;
    while (!str_starts(action, classes[i].prefix))
        i++;
    struct str verb = verb_of(action);
    const struct verb *w = classes[i].verbs;
    while (w->verb && !str_eq_c(verb, w->verb))
        w++;
    return (struct format_ocsf_class){ classes[i].class_uid, w->verb ? w->activity : OTHER };
}

static void put_text(struct buf *b, const char *name, struct str s)
{
    if (!s.ptr)
        return;
    buf_add_c(b, name);
    buf_add_json(b, s);
}

static void put_id(struct buf *b, const char *name, struct uuid id)
{
    char text[UUID_TEXT];
    if (uuid_is_nil(id))
        return;
    uuid_text(id, text);
    put_text(b, name, str_c(text));
}

static void put_user(struct buf *b, const struct audit_view *v)
{
    static const struct {
        int id;
        const char *name;
    } types[AUDIT_ACTOR_COUNT] = { { 3, "System" }, { 1, "User" }, { OTHER, "Service" }, { OTHER, "Worker" }, { 0, "Unknown" } };
    buf_printf(b, "{\"type_id\":%d,\"type\":\"%s\"", types[v->actor].id, types[v->actor].name);
    put_id(b, ",\"uid\":", v->actor_id);
    for (int i = 0; i < v->role_count; i++) {
        buf_add_c(b, i ? "},{\"name\":" : ",\"groups\":[{\"name\":");
        buf_add_json(b, v->roles[i]);
    }
    buf_add_c(b, v->role_count ? "}]}" : "}");
}

static void put_actor(struct buf *b, const struct audit_view *v)
{
    buf_add_c(b, ",\"actor\":{\"user\":");
    put_user(b, v);
    put_id(b, ",\"session\":{\"uid\":", v->token_id);
    buf_add_c(b, uuid_is_nil(v->token_id) ? "" : "}");
    buf_printf(b, ",\"authorizations\":[{\"decision\":\"%s\"", v->denied ? "deny" : "allow");
    put_text(b, ",\"policy\":{\"name\":", v->rule);
    buf_add_c(b, v->rule.ptr ? "}}]}" : "}]}");
}

static void put_endpoints(struct buf *b, const struct audit_view *v)
{
    if (v->src_ip.ptr && !audit_text_is_sealed(v->src_ip))
        put_text(b, ",\"src_endpoint\":{\"ip\":", v->src_ip);
    else
        put_text(b, ",\"src_endpoint\":{\"name\":", v->src_ip.ptr ? v->src_ip : STR("internal"));
    buf_add_c(b, "}");
    put_text(b, ",\"http_request\":{\"uid\":", v->request_id);
    buf_add_c(b, v->request_id.ptr ? "}" : "");
    if (v->http_status)
        buf_printf(b, ",\"http_response\":{\"code\":%d}", v->http_status);
}

static void put_object(struct buf *b, const struct audit_view *v, int class_uid)
{
    if (class_uid == AUTHENTICATION) {
        buf_add_c(b, ",\"user\":");
        put_user(b, v);
    } else if (class_uid == ACCOUNT_CHANGE) {
        put_text(b, ",\"user\":{\"uid\":", v->resource_id.ptr ? v->resource_id : STR(""));
        put_text(b, ",\"type\":", v->resource_kind);
        buf_add_c(b, "}");
    } else if (v->resource_kind.ptr || v->resource_id.ptr) {
        put_text(b, ",\"resources\":[{\"type\":", v->resource_kind.ptr ? v->resource_kind : STR("unknown"));
        put_text(b, ",\"uid\":", v->resource_id);
        buf_add_c(b, "}]");
    }
}

static void put_unmapped(struct buf *b, const struct audit_entry *e, const struct audit_view *v)
{
    buf_printf(b, ",\"unmapped\":{\"tseq\":%llu,\"leaf\":\"", (unsigned long long)e->tseq);
    buf_add_hex(b, e->leaf.b, MERKLE_HASH);
    buf_add_c(b, "\"");
    for (int i = 0; v && i < v->detail_count; i++) {
        const struct audit_view_detail *d = &v->details[i];
        buf_add_c(b, i ? "," : ",\"details\":{");
        buf_add_json(b, d->name);
        buf_add_char(b, ':');
        if (d->text.ptr)
            buf_add_json(b, d->text);
        else
            buf_add_i64(b, d->number);
    }
    buf_add_c(b, v && v->detail_count ? "}}}\n" : "}}\n");
}

static void put_class(struct buf *b, int class_uid, int activity, int severity)
{
    buf_printf(b, "{\"class_uid\":%d,\"category_uid\":%d,\"activity_id\":%d,\"type_uid\":%d,\"severity_id\":%d", class_uid, class_uid / 1000,
               activity, class_uid * 100 + activity, severity);
}

#define METADATA ",\"metadata\":{\"version\":\"1.3.0\",\"product\":{\"name\":\"Falaj\",\"vendor_name\":\"Falaj\",\"version\":\"" FALAJ_VERSION \
    "\"},\"log_name\":\"audit\",\"sequence\":%llu"

/* A dropped entry: nothing is known but its place. */
static bool put_dropped(const struct audit_entry *e, struct buf *b)
{
    put_class(b, API_ACTIVITY, OTHER, 0);
    buf_printf(b, ",\"status_id\":0,\"message\":\"The retention of this entry has ended\",\"time\":0" METADATA "}", (unsigned long long)e->tseq);
    put_unmapped(b, e, NULL);
    return !b->overflow;
}

bool format_ocsf_row(struct audit_format_run *r, const struct audit_entry *e, const struct audit_view *v, struct buf *b)
{
    static const int severities[] = { 1, 3, 2 };
    (void)r;
    if (!v)
        return put_dropped(e, b);
    struct format_ocsf_class c = format_ocsf_classify(v->action);
    put_class(b, c.class_uid, c.activity, severities[format_verdict(v)]);
    put_text(b, ",\"activity_name\":", verb_of(v->action));
    buf_printf(b, ",\"status_id\":%d", v->suffix == 'S' ? 1 : 2);
    put_text(b, ",\"status_code\":", v->outcome);
    put_text(b, ",\"message\":", format_doc(v));
    buf_printf(b, ",\"time\":%lld" METADATA, (long long)(v->ts_us / 1000), (unsigned long long)e->tseq);
    put_id(b, ",\"uid\":", v->event_id);
    put_text(b, ",\"event_code\":", v->code_text);
    put_id(b, ",\"tenant_uid\":", v->tenant_id);
    put_text(b, ",\"labels\":[", v->zone);
    buf_add_c(b, "]}");
    put_actor(b, v);
    put_text(b, ",\"api\":{\"operation\":", v->action);
    put_text(b, ",\"response\":{\"error\":", v->suffix == 'S' ? STR_NULL : v->outcome);
    buf_add_c(b, v->suffix == 'S' ? "}" : "}}");
    put_endpoints(b, v);
    put_object(b, v, c.class_uid);
    put_unmapped(b, e, v);
    return !b->overflow;
}
