/* SPDX-License-Identifier: Apache-2.0 */
/* filter.c - which events of a log someone asked for. */
#include "audit/filter.h"
#include "audit/scan_int.h"

static bool is_actor(const struct audit_view *v, const char *want)
{
    char id[UUID_TEXT];
    uuid_text(v->actor_id, id);
    return strcmp(want, audit_actor_text(v->actor)) == 0 || (!uuid_is_nil(v->actor_id) && strcmp(want, id) == 0);
}

static bool is_action(const struct audit_view *v, const char *want)
{
    size_t n = strlen(want);
    return want[n - 1] == '.' ? str_starts(v->action, want) : str_eq_c(v->action, want);
}

bool audit_filter_refutes(const struct audit_view *v, enum audit_field field, const struct audit_filter *f)
{
    switch (field) {
    case AUDIT_FIELD_TIME: return (f->from_us && v->ts_us < f->from_us) || (f->until_us && v->ts_us >= f->until_us);
    case AUDIT_FIELD_ACTION: return f->action[0] && !is_action(v, f->action);
    case AUDIT_FIELD_RESOURCE:
        return f->resource[0] && !str_eq_c(v->resource_kind, f->resource) && !str_eq_c(v->resource_id, f->resource);
    case AUDIT_FIELD_ACTOR: return f->actor[0] && !is_actor(v, f->actor);
    case AUDIT_FIELDS: break;
    }
    return false;
}

enum audit_field audit_filter_refuter(const struct audit_view *v, const struct audit_filter *f)
{
    int i = 0;
    while (i < AUDIT_FIELDS && !audit_filter_refutes(v, (enum audit_field)i, f))
        i++;
    return (enum audit_field)i;
}

bool audit_filter_match(const struct audit_view *v, const struct audit_filter *f)
{
    return audit_filter_refuter(v, f) == AUDIT_FIELDS;
}

bool audit_filter_is_empty(const struct audit_filter *f)
{
    return !f->from_us && !f->until_us && !f->actor[0] && !f->action[0] && !f->resource[0];
}

bool audit_filter_is_valid(const struct audit_filter *f)
{
    return scan_is_word(str_c(f->actor)) && scan_is_word(str_c(f->action)) && scan_is_word(str_c(f->resource)) &&
           (!f->from_us || !f->until_us || f->from_us < f->until_us);
}

static void put_time(struct buf *b, const char *name, int64_t us)
{
    buf_add_c(b, name);
    if (us)
        buf_add_i64(b, us);
    else
        buf_add_c(b, "null");
}

static void put_word(struct buf *b, const char *name, const char *word)
{
    buf_add_c(b, name);
    if (word[0])
        buf_printf(b, "\"%s\"", word);
    else
        buf_add_c(b, "null");
}

bool audit_filter_encode(const struct audit_filter *f, struct buf *b)
{
    if (!audit_filter_is_valid(f))
        return false;
    if (audit_filter_is_empty(f))
        return buf_add_c(b, "null");
    put_time(b, "{\"from_us\":", f->from_us);
    put_time(b, ",\"until_us\":", f->until_us);
    put_word(b, ",\"actor\":", f->actor);
    put_word(b, ",\"action\":", f->action);
    put_word(b, ",\"resource\":", f->resource);
    return buf_add_char(b, '}');
}

static bool scan_time(struct str *s, const char *name, int64_t *ret)
{
    return scan_lit(s, name) && (scan_lit(s, "null") || (scan_i53(s, ret) && *ret != 0));
}

static bool scan_part(struct str *s, const char *name, char out[AUDIT_FILTER_WORD])
{
    return scan_lit(s, name) && (scan_lit(s, "null") || (scan_word(s, out, AUDIT_FILTER_WORD) && out[0]));
}

bool audit_filter_scan(struct str *s, struct audit_filter *ret)
{
    memset(ret, 0, sizeof *ret);
    if (scan_lit(s, "null"))
        return true;
    return scan_time(s, "{\"from_us\":", &ret->from_us) && scan_time(s, ",\"until_us\":", &ret->until_us) &&
           scan_part(s, ",\"actor\":", ret->actor) && scan_part(s, ",\"action\":", ret->action) &&
           scan_part(s, ",\"resource\":", ret->resource) && scan_lit(s, "}") && !audit_filter_is_empty(ret) &&
           audit_filter_is_valid(ret);
}
