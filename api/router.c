/* SPDX-License-Identifier: Apache-2.0 */
/* router.c - method + path -> row + captures, and the boot check that the tables are sound.
 *
 * Only rows with as many segments as the path are compared, from the last segment on, where they differ soonest: a memcmp or
 * two each, cheaper than any clever tree at this size. */
#include "api/api_int.h"
#include "core/http/url.h"

static bool is_capture(struct str seg)
{
    return seg.len > 2 && seg.ptr[0] == '{' && seg.ptr[seg.len - 1] == '}';
}

static enum errc compile_captures(struct route_match *m, struct str name, struct err *e)
{
    const struct field *f = m->row->in ? schema_find(m->row->in, name) : NULL;
    if (!f || !(f->flags & F_PATH))
        return FAIL(e, INTERNAL, "Route %s has no path field for {%.*s}", m->row->path, STR_ARG(name));
    if (m->ncaptures == CAPTURES_MAX)
        return FAIL(e, INTERNAL, "Route %s has too many captures", m->row->path);
    m->captures[m->ncaptures++] = f;
    return ERR_OK;
}

bool field_is_search(const struct field *f)
{
    return f->flags & F_QUERY && (f->flags & F_SEARCH || !strcmp(f->name, "q"));
}

static enum errc compile_searches(struct route_match *m, struct err *e)
{
    const struct schema *in = m->row->in;
    for (size_t i = 0; in && i < in->nfields; i++) {
        if (!field_is_search(&in->fields[i]))
            continue;
        if (m->nsearches == SEARCHES_MAX)
            return FAIL(e, INTERNAL, "Route %s has more than %d parameters that search", m->row->path, SEARCHES_MAX);
        m->searches[m->nsearches++] = str_c(in->fields[i].name);
    }
    return ERR_OK;
}

static enum errc compile_fields(struct route_match *m, struct arena *a, struct err *e)
{
    const struct route *row = m->row;
    for (size_t i = 0; row->in && i < row->in->nfields; i++)
        m->has_body |= !(row->in->fields[i].flags & (F_PATH | F_QUERY | F_NOIN));
    TRY(compile_searches(m, e));
    if (row->in)
        TRY(schema_check_table(row->in, e));
    if (row->out)
        TRY(schema_check_table(row->out, e));
    if (row->resource) {
        struct str id = str_fmt(a, "%s_id", row->resource);
        m->id = row->out && !(row->flags & R_LIST) ? schema_find(row->out, id) : NULL;
        if (!m->id && row->in) {
            m->id = schema_find(row->in, id);
            m->id_is_in = m->id != NULL;
        }
        if (m->id && m->id->type != FT_UUID)
            m->id = NULL;
    }
    m->version = row->out && !(row->flags & R_LIST) ? schema_find(row->out, STR("version")) : NULL;
    if (m->version && m->version->type != FT_I64)
        m->version = NULL;
    m->zone = row->in ? schema_find(row->in, STR("zone")) : NULL;
    if (!m->zone && row->in && str_starts(str_c(row->path), "/v1/zones/{code}"))
        m->zone = schema_find(row->in, STR("code"));
    if (m->zone && m->zone->type != FT_STR)
        m->zone = NULL;
    return ERR_OK;
}

bool route_makes_power(const struct route *row)
{
    static const enum audit_code events[] = { AUDIT_TOKEN_CREATE, AUDIT_ROLE_GRANT, AUDIT_USER_CREATE, AUDIT_INVITE_CREATE, AUDIT_IDENTITY_SET,
        AUDIT_GROUP_SET, AUDIT_DEVICE_GRANT, AUDIT_MFA_SET, AUDIT_NODE_JOIN, AUDIT_BREAK_GLASS, AUDIT_APPROVAL_GRANT, AUDIT_APPROVAL_REQUEST,
        AUDIT_TENANT_CREATE };
    if (!row->audited || row->perm == PERM_PUBLIC || row->perm == PERM_SCIM_PROVISION || row->method == HTTP_DELETE)
        return false;
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (row->audit == events[i])
            return true;
    return false;
}

static enum errc compile(struct route_match *m, const struct route *row, struct arena *a, struct err *e)
{
    *m = (struct route_match){ .row = row };
    if (row->perm == PERM_NONE)
        return FAIL(e, INTERNAL, "Route %s %s has no permission; open routes say PERM_PUBLIC", http_method_name(row->method), row->path);
    if (row->lane <= LANE_NONE || row->lane >= LANE_COUNT)
        return FAIL(e, INTERNAL,
            "Route %s %s names no lane: say where it runs, .lane = LANE_CALLS or another row of api/lane.def",
                    http_method_name(row->method), row->path);
    if (!row->doc || !row->op || !row->status || (!row->handler && !row->combine && !row->raw))
        return FAIL(e, INTERNAL, "Route %s %s lacks doc, op, status or handler", http_method_name(row->method), row->path);
    if (route_makes_power(row) && !(row->flags & R_STEP_UP))
        return FAIL(e, INTERNAL, "Route %s %s makes, widens or approves a credential or a power without R_STEP_UP",
                    http_method_name(row->method), row->path);
    if (row->ends && row->raw)
        return FAIL(e, INTERNAL, "Route %s answers by itself, so its answers could not say that it is deprecated", row->op);
    if (row->ends)
        TRY(deprecation_read(row->ends, row->op, a, &m->ends, e));
    struct str path = str_c(row->path), seg;
    while (url_path_next(&path, &seg)) {
        if (m->nsegments == SEGMENTS_MAX)
            return FAIL(e, INTERNAL, "Route %s is too deep", row->path);
        if (is_capture(seg)) {
            TRY(compile_captures(m, str_n(seg.ptr + 1, seg.len - 2), e));
            seg = STR_NULL;
        }
        m->segments[m->nsegments++] = seg;
    }
    return compile_fields(m, a, e);
}

static bool same_shape(const struct route_match *a, const struct route_match *b)
{
    if (a->nsegments != b->nsegments || a->row->method != b->row->method)
        return false;
    for (int i = 0; i < a->nsegments; i++)
        if (!a->segments[i].ptr != !b->segments[i].ptr || (a->segments[i].ptr && !str_eq(a->segments[i], b->segments[i])))
            return false;
    return true;
}

enum errc router_init(struct router *r, struct arena *a, struct err *e)
{
    size_t n = 0;
    for (const struct route_table *const *t = all_routes; *t; t++)
        n += (*t)->n;
    r->rows = ARENA_ARRAY(a, struct route_match, n);
    r->n = 0;
    for (const struct route_table *const *t = all_routes; *t; t++)
        for (size_t i = 0; i < (*t)->n; i++) {
            struct route_match *m = &r->rows[r->n];
            TRY(compile(m, &(*t)->rows[i], a, e));
            for (size_t k = 0; k < r->n; k++)
                if (same_shape(&r->rows[k], m) || !strcmp(r->rows[k].row->op, m->row->op))
                    return FAIL(e, INTERNAL, "Routes %s and %s are the same", r->rows[k].row->path, m->row->path);
            r->n++;
        }
    for (size_t i = 0; i <= SEGMENTS_MAX; i++)
        r->by_depth[i] = (struct slice){ ARENA_ARRAY(a, const struct route_match *, n), 0 };
    for (size_t i = 0; i < r->n; i++) {
        struct slice *d = &r->by_depth[r->rows[i].nsegments];
        ((const struct route_match **)d->items)[d->n++] = &r->rows[i];
    }
    return ERR_OK;
}

static bool matches(const struct route_match *m, const struct str *segs, int n)
{
    for (int i = n - 1; i >= 0; i--)
        if (m->segments[i].ptr ? !str_eq(m->segments[i], segs[i]) : segs[i].len == 0)
            return false;
    return true;
}

/* "jobs:batch" beside "jobs/{id}": an exact row wins over one with a capture at the same place because both have the same
 * number of segments only when the exact one is spelled out, and rows are searched for the most literal match. */
static int literals(const struct route_match *m)
{
    int n = 0;
    for (int i = 0; i < m->nsegments; i++)
        n += m->segments[i].ptr != NULL;
    return n;
}

const struct route_match *router_find(const struct router *r, enum http_method method, struct str path, bool is_node,
                                      struct str captures[CAPTURES_MAX], struct arena *a, struct str *ret_allow)
{
    struct str segs[SEGMENTS_MAX], rest = path;
    int n = 0;
    *ret_allow = STR_NULL;
    while (n < SEGMENTS_MAX && url_path_next(&rest, &segs[n]))
        n++;
    if (n == SEGMENTS_MAX)
        return NULL;
    const struct route_match *best = NULL;
    unsigned listed = 0;
    enum http_method want = method == HTTP_HEAD ? HTTP_GET : method;
    const struct slice *deep = &r->by_depth[n];
    for (size_t i = 0; i < deep->n; i++) {
        const struct route_match *m = ((const struct route_match *const *)deep->items)[i];
        if (!(m->row->flags & R_NODE) != !is_node || !matches(m, segs, n))
            continue;
        if (m->row->method != want) {
            if (!a || listed & 1u << m->row->method)
                continue;
            listed |= 1u << m->row->method;
            *ret_allow = ret_allow->ptr ? str_fmt(a, "%.*s, %s", STR_ARG(*ret_allow), http_method_name(m->row->method))
                                        : str_c(http_method_name(m->row->method));
            if (m->row->method == HTTP_GET)
                *ret_allow = str_fmt(a, "%.*s, HEAD", STR_ARG(*ret_allow));
            continue;
        }
        if (!best || literals(m) > literals(best))
            best = m;
    }
    if (ret_allow->ptr)
        *ret_allow = str_fmt(a, "%.*s, OPTIONS", STR_ARG(*ret_allow));
    for (int i = 0, k = 0; best && i < n; i++)
        if (!best->segments[i].ptr)
            captures[k++] = segs[i];
    return best;
}
