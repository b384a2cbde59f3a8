/* SPDX-License-Identifier: Apache-2.0 */
/* output_tree.c - the forms that follow the tree of a document: compact JSON and YAML.
 *
 * YAML: block style; strings are JSON strings (double-quoted scalars of YAML 1.2 §7.3.1) unless they are plainly words. */
#include "cli/output.h"
#include "core/base/cleanup.h"
#include "core/json/encode.h"

void output_json(const struct jval *v, struct buf *b)
{
    enum jtype type = jval_type(v);
    if (type == JT_REAL) {
        json_add_f64(b, jval_f64(v, 0));
        return;
    }
    if (type != JT_ARRAY && type != JT_OBJECT) {
        jval_encode(v, false, b);
        return;
    }
    bool is_first = true;
    buf_add_char(b, type == JT_ARRAY ? '[' : '{');
    for (struct jval_iter it = jval_iter(v); jval_next(&it); is_first = false) {
        buf_add_c(b, is_first ? "" : ",");
        if (it.name) {
            buf_add_json(b, str_c(it.name));
            buf_add_char(b, ':');
        }
        output_json(it.value, b);
    }
    buf_add_char(b, type == JT_ARRAY ? ']' : '}');
}

static bool is_plain(struct str s)
{
    static const char *const words[] = { "true", "false", "null", "yes", "no", "on", "off", "y", "n", NULL };
    if (!s.len || s.len > 200 || !((s.ptr[0] >= 'a' && s.ptr[0] <= 'z') || (s.ptr[0] >= 'A' && s.ptr[0] <= 'Z')))
        return false;
    for (size_t i = 0; i < s.len; i++) {
        char ch = s.ptr[i];
        bool is_good = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') || ch == '_' || ch == '-' || ch == '.';
        if (!is_good)
            return false;
    }
    for (int i = 0; words[i]; i++) {
        if (s.len == strlen(words[i]) && strncasecmp(s.ptr, words[i], s.len) == 0)
            return false;
    }
    return true;
}

static void yaml_scalar(FILE *out, const struct jval *v)
{
    struct str s = jval_str(v);
    if (jval_type(v) == JT_STR && is_plain(s)) {
        fwrite(s.ptr, 1, s.len, out);
        return;
    }
    CLEANUP(buf_releasep) struct buf b = BUF(64 << 20);
    output_json(v, &b);
    fprintf(out, "%.*s", STR_ARG(buf_str(&b)));
}

static bool is_tree(const struct jval *v)
{
    return (jval_type(v) == JT_OBJECT || jval_type(v) == JT_ARRAY) && jval_len(v) > 0;
}

void output_yaml(FILE *out, const struct jval *v, int indent)
{
    if (!is_tree(v)) {
        yaml_scalar(out, v);
        fputc('\n', out);
        return;
    }
    bool is_first = true;
    for (struct jval_iter it = jval_iter(v); jval_next(&it); is_first = false) {
        /* The caller has placed the cursor for the first line. */
        fprintf(out, "%*s", is_first ? 0 : indent, "");
        if (jval_type(v) == JT_ARRAY) {
            fputs("- ", out);
            output_yaml(out, it.value, indent + 2);
            continue;
        }
        if (is_plain(str_c(it.name))) {
            fprintf(out, "%s:", it.name);
        } else {
            CLEANUP(buf_releasep) struct buf b = BUF(1 << 20);
            buf_add_json(&b, str_c(it.name));
            fprintf(out, "%.*s:", STR_ARG(buf_str(&b)));
        }
        if (is_tree(it.value))
            fprintf(out, "\n%*s", indent + 2, "");
        else
            fputc(' ', out);
        output_yaml(out, it.value, indent + 2);
    }
}
