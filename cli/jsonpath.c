/* SPDX-License-Identifier: Apache-2.0 */
/* jsonpath.c - `-o jsonpath=TEMPLATE` with the meaning it has in kubectl (kubernetes.io/docs/reference/kubectl/jsonpath).
 *
 * A template is text with parts in braces: {.items[*].name}, {range .items[*]}{.name}{"\n"}{end}, {"text"}. The values of one
 * part are separated by a space; text outside of braces is printed as it is, and nothing is added. A path (jsonpath_walk.c)
 * begins at the document, inside of a range at its item, and with $ always at the document. What is not there prints nothing. A
 * list has its items under `data`, as the API calls them, and under `items`, as kubectl does. A template without braces is one
 * path, each of its values on a line of its own. */
#include "cli/jsonpath_int.h"
#include "cli/output.h"

#include <string.h>
#include "core/base/cleanup.h"

enum { RANGES_MAX = 8 };

/* --- templates --- */

enum part_kind { PART_END, PART_TEXT, PART_STRING, PART_PATH, PART_RANGE, PART_RANGE_END, PART_BAD };

/* Cut one part off *rest: text up to a brace, or one element inside of braces. *inside: what is left between braces; ptr NULL:
 * none. */
static enum part_kind next_part(struct str *rest, struct str *inside, struct str *ret)
{
    for (;;) {
        *inside = str_trim(*inside);
        if (inside->len)
            break;
        *inside = STR_NULL;
        if (!rest->len)
            return PART_END;
        if (rest->ptr[0] != '{') {
            ptrdiff_t n = str_find(*rest, '{');
            *ret = str_n(rest->ptr, n < 0 ? rest->len : (size_t)n);
            *rest = jsonpath_skip(*rest, ret->len);
            return PART_TEXT;
        }
        size_t n = jsonpath_bracket_len(*rest, '{', '}');
        if (!n)
            return PART_BAD;
        *inside = str_n(rest->ptr + 1, n - 2);
        *rest = jsonpath_skip(*rest, n);
    }
    if (inside->ptr[0] == '"' || inside->ptr[0] == '\'') {
        size_t n = jsonpath_quoted_len(*inside);
        *ret = n ? str_n(inside->ptr + 1, n - 2) : STR_NULL;
        *inside = jsonpath_skip(*inside, n);
        return n ? PART_STRING : PART_BAD;
    }
    enum part_kind kind = PART_PATH;
    if (str_eq_c(*inside, "end")) {
        *inside = STR_NULL;
        return PART_RANGE_END;
    }
    if (str_starts(*inside, "range ")) {
        *inside = str_trim(jsonpath_skip(*inside, 6));
        kind = PART_RANGE;
    }
    size_t n = 0;
    while (n < inside->len && !strchr(" \t\n\"'", inside->ptr[n]))
        n += inside->ptr[n] == '[' ? jsonpath_bracket_len(jsonpath_skip(*inside, n), '[', ']') : 1;
    *ret = str_n(inside->ptr, n);
    *inside = jsonpath_skip(*inside, n);
    return n && jsonpath_path_is_good(*ret) ? kind : PART_BAD;
}

static void print_text(FILE *out, struct str s, bool is_escaped)
{
    for (size_t i = 0; i < s.len; i++) {
        char ch = s.ptr[i];
        if (is_escaped && ch == '\\' && i + 1 < s.len) {
            ch = s.ptr[++i];
            ch = ch == 'n' ? '\n' : ch == 't' ? '\t' : ch == 'r' ? '\r' : ch;
        }
        fputc(ch, out);
    }
}

static void print_values(FILE *out, const struct values *v, const char *before, const char *after)
{
    for (size_t i = 0; i < v->n; i++) {
        CLEANUP(buf_releasep) struct buf b = BUF(64 << 20);
        struct str text = jval_str(v->list[i]);
        if (jval_type(v->list[i]) != JT_STR) {
            output_json(v->list[i], &b);
            text = buf_str(&b);
        }
        fprintf(out, "%s%.*s%s", i ? before : "", STR_ARG(text), after);
    }
}

/* Print up to the end of the template or of the range that it stands in. out NULL: only go there. */
static void print_template(struct arena *a, FILE *out, const struct jval *root, const struct jval *at, struct str *rest,
    struct str *inside)
{
    struct str text;
    for (enum part_kind kind; (kind = next_part(rest, inside, &text)) != PART_END && kind != PART_RANGE_END
        && kind != PART_BAD;) {
        if (kind == PART_RANGE) {
            struct values items = out ? jsonpath_walk(a, root, at, text) : (struct values){ 0 };
            struct str body = *rest, body_inside = *inside;
            for (size_t i = 0; i < items.n; i++) {
                *rest = body, *inside = body_inside;
                print_template(a, out, root, items.list[i], rest, inside);
            }
            if (!items.n)
                print_template(a, NULL, root, at, rest, inside);
        } else if (out && kind == PART_PATH) {
            struct values v = jsonpath_walk(a, root, at, text);
            print_values(out, &v, " ", "");
        } else if (out) {
            print_text(out, text, kind == PART_STRING);
        }
    }
}

void output_jsonpath(struct arena *a, FILE *out, const struct jval *v, const char *template)
{
    struct str rest = str_c(template), inside = STR_NULL;
    if (!strchr(template, '{')) {
        struct values found = jsonpath_walk(a, v, v, rest);
        print_values(out, &found, "", "\n");
        return;
    }
    print_template(a, out, v, v, &rest, &inside);
}

bool output_jsonpath_is_good(const char *template)
{
    struct str rest = str_c(template), inside = STR_NULL, text;
    int depth = 0;
    if (!strchr(template, '{'))
        return jsonpath_path_is_good(rest);
    for (enum part_kind kind; (kind = next_part(&rest, &inside, &text)) != PART_END;) {
        depth += kind == PART_RANGE ? 1 : kind == PART_RANGE_END ? -1 : 0;
        if (kind == PART_BAD || depth < 0 || depth > RANGES_MAX)
            return false;
    }
    return depth == 0;
}
