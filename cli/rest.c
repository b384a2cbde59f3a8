/* SPDX-License-Identifier: Apache-2.0 */
/* rest.c - commands that are one API call: everything about them is in their row of the table.
 *
 * Lists follow next_page_token until --limit items (default 50; 0: all) were printed. One page in JSON is the API's body. */
#include "cli/rest.h"
#include "cli/client.h"
#include "cli/output.h"
#include "core/base/cleanup.h"

enum { PAGE_MAX = 200, BODY_MAX = 1 << 20, LIMIT_DEFAULT = 50 };

static const char *source_of(struct cli *c, struct str source)
{
    if (source.len && source.ptr[0] == '\'')
        return str_z(c->arena, str_n(source.ptr + 1, source.len - 1));
    if (source.len == 2 && source.ptr[0] == '@') {
        int i = source.ptr[1] - '0';
        return i < c->nargs ? c->args[i] : NULL;
    }
    return cli_flag(c, str_z(c->arena, source));
}

static int add_query(struct cli *c, struct buf *b)
{
    struct str rest = str_c(c->cmd->query), word, name, flag;
    for (bool more = c->cmd->query != NULL; more;) {
        more = str_cut(rest, ' ', &word, &rest);
        bool is_named = word.len && word.ptr[0] == '&';
        if (is_named)
            word = str_n(word.ptr + 1, word.len - 1);
        str_cut(word, '=', &name, &flag);
        const char *value = source_of(c, flag);
        int rc = value && is_named ? api_resolve(c, noun_by_id(name), value, &value) : CLI_OK;
        if (rc != CLI_OK)
            return rc;
        if (value)
            buf_printf(b, "%c%.*s=%s", b->ptr && strchr(b->ptr, '?') ? '&' : '?', STR_ARG(name), api_escape(c->arena, value));
    }
    return CLI_OK;
}

int rest_path(struct cli *c, const char **ret)
{
    CLEANUP(buf_releasep) struct buf b = BUF(16384);
    for (const char *p = c->cmd->path; *p; p++) {
        if (*p != '{') {
            buf_add_char(&b, *p);
            continue;
        }
        int i = p[1] - '0';
        const char *value = i < c->nargs ? c->args[i] : "";
        if (i == 0 && c->cmd->noun) {
            int found = api_resolve(c, c->cmd->noun, value, &value);
            if (found != CLI_OK)
                return found;
        }
        buf_add_c(&b, api_escape(c->arena, value));
        p += 2;
    }
    int rc = add_query(c, &b);
    if (rc != CLI_OK)
        return rc;
    *ret = arena_strndup(c->arena, b.ptr, b.len);
    return CLI_OK;
}

static void add_list(struct buf *b, struct str text)
{
    struct str one;
    size_t n = 0;
    buf_add_char(b, '[');
    for (bool more = text.len > 0; more;) {
        more = str_cut(text, ',', &one, &text);
        one = str_trim(one);
        if (!one.len)
            continue;
        buf_add_c(b, n++ ? "," : "");
        buf_add_json(b, one);
    }
    buf_add_char(b, ']');
}

static int add_value(struct cli *c, struct buf *b, char kind, struct str name, const char *value)
{
    struct str text = str_c(value);
    int64_t number;
    const struct jval *json;
    struct err e = { 0 };
    int rc;
    if (!str_is_utf8(text))
        return cli_fail(c, CLI_USAGE, NULL, "%.*s is not UTF-8", STR_ARG(name));
    switch (kind) {
    case '#':
        if (!str_to_i64(text, INT64_MIN, INT64_MAX, &number))
            return cli_fail(c, CLI_USAGE, NULL, "%.*s is a whole number, not '%.60s'", STR_ARG(name), value);
        buf_add_i64(b, number);
        break;
    case '*':
        add_list(b, text);
        break;
    case '?':
        buf_add_c(b, "true");
        break;
    case '&':
        if ((rc = api_resolve(c, noun_by_id(name), value, &value)) != CLI_OK)
            return rc;
        buf_add_json(b, str_c(value));
        break;
    case '%':
        if (value[0] == '@' && cli_read_file(c->arena, value + 1, BODY_MAX, &text, &e) != ERR_OK)
            return cli_fail_err(c, &e, NULL);
        if (jval_parse(c->arena, text, 0, &json, &e) != ERR_OK)
            return cli_fail(c, CLI_USAGE, "write it as one word in quotes, or as @FILE", "%.*s is not JSON: %s", STR_ARG(name), e.msg);
        jval_encode(json, false, b);
        break;
    case '<':
        if (cli_read_file(c->arena, value, BODY_MAX, &text, &e) != ERR_OK)
            return cli_fail_err(c, &e, NULL);
        buf_add_json(b, text);
        break;
    default:
        buf_add_json(b, text);
    }
    return CLI_OK;
}

int rest_body(struct cli *c, const char *spec, struct str *ret)
{
    CLEANUP(buf_releasep) struct buf b = BUF(BODY_MAX);
    struct str rest = str_c(spec), word, name, source;
    size_t n = 0;
    buf_add_char(&b, '{');
    for (bool more = spec != NULL; more;) {
        more = str_cut(rest, ' ', &word, &rest);
        char kind = word.len && strchr("#*?%&<", word.ptr[0]) ? word.ptr[0] : 0;
        if (kind)
            word = str_n(word.ptr + 1, word.len - 1);
        str_cut(word, '=', &name, &source);
        const char *value = source_of(c, source);
        if (!value)
            continue;
        buf_printf(&b, "%s\"%.*s\":", n++ ? "," : "", STR_ARG(name));
        int rc = add_value(c, &b, kind, name, value);
        if (rc != CLI_OK)
            return rc;
    }
    buf_add_char(&b, '}');
    if (b.overflow)
        return cli_fail(c, CLI_USAGE, NULL, "the request is larger than %d bytes", BODY_MAX);
    *ret = str_dup(c->arena, buf_str(&b));
    return CLI_OK;
}

static const char *page_path(struct cli *c, const char *path, int64_t size, const char *next)
{
    bool by_number = c->cmd->how & CMD_AFTER;
    path = by_number && next ? c->cmd->path : path;
    return arena_printf(c->arena, "%s%cpage_size=%lld%s%s", path, strchr(path, '?') ? '&' : '?', (long long)size,
                        !next ? "" : by_number ? "&after=" : "&page_token=", next ? api_escape(c->arena, next) : "");
}

/* Where the next page begins; NULL: there is none. A full page of a log may be the last one. */
static const char *next_page(struct cli *c, const struct jval *body, int64_t size)
{
    const struct jval *data = jval_get(body, "data");
    size_t n = jval_len(data);
    if (!(c->cmd->how & CMD_AFTER)) {
        const char *token = jval_str(jval_get(body, "next_page_token")).ptr;
        return token && *token ? token : NULL;
    }
    return (int64_t)n == size ? arena_printf(c->arena, "%lld", (long long)jval_i64(jval_get(jval_at(data, n - 1), "tseq"), 0)) : NULL;
}

int rest_list(struct cli *c, const char *path, const char *columns)
{
    int64_t limit = LIMIT_DEFAULT, left;
    int rc = cli_flag_i64(c, "limit", 0, INT64_MAX, &limit);
    if (rc != CLI_OK)
        return rc;
    struct output o;
    const char *token = NULL;
    bool is_begun = false;
    left = limit ? limit : INT64_MAX;
    do {
        struct api_reply r;
        int64_t size = left < PAGE_MAX ? left : PAGE_MAX;
        rc = api_get(c, page_path(c, path, size, token), &r);
        if (rc != CLI_OK)
            return rc;
        token = next_page(c, r.json, size);
        const struct jval *data = jval_get(r.json, "data");
        bool is_only = !is_begun && (!token || (int64_t)jval_len(data) >= left);
        if (is_only && c->format == OUT_JSON) {
            output_object(c, r.json, r.body, columns);
            return CLI_OK;
        }
        if (!is_begun)
            output_begin(&o, c, columns);
        is_begun = true;
        output_page(&o, data);
        left -= (int64_t)jval_len(data);
    } while (token && left > 0);
    output_end(&o);
    if (token && limit)
        cli_note(c, "There %s more; --limit 0 shows all.", c->cmd->how & CMD_AFTER ? "may be" : "are");
    return CLI_OK;
}

int run_rest(struct cli *c)
{
    const struct command *cmd = c->cmd;
    const char *path;
    int rc = rest_path(c, &path);
    if (rc != CLI_OK)
        return rc;
    if (cmd->how & CMD_LIST)
        return rest_list(c, path, cmd->columns);
    struct api_req q = { .method = cmd->method, .path = path };
    if (cmd->body && (rc = rest_body(c, cmd->body, &q.body)) != CLI_OK)
        return rc;
    struct api_reply r;
    rc = api_do(c, &q, &r);
    if (rc != CLI_OK)
        return rc;
    if (r.body.len && jval_type(jval_get(r.json, "data")) == JT_ARRAY && c->format != OUT_JSON) {
        struct output o;
        output_begin(&o, c, cmd->columns);
        output_page(&o, jval_get(r.json, "data"));
        output_end(&o);
    } else if (r.body.len) {
        output_object(c, r.json, r.body, cmd->columns);
    } else {
        cli_note(c, "Done.");
    }
    if ((cmd->how & CMD_TEST) && !jval_bool(jval_get(r.json, "ok"), false)) {
        struct str why = jval_str(jval_get(r.json, "problem"));
        return cli_fail(c, CLI_FAILED, NULL, "the test failed%s%.*s", why.len ? ": " : "", STR_ARG(why));
    }
    return CLI_OK;
}
