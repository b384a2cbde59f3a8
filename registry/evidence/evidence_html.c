/* SPDX-License-Identifier: Apache-2.0 */
/* evidence_html.c - the report as one page, in an auditor's words: people by name, codes by what they mean, times as they are written, no
 * JSON. Every value passes through add_text; tags and words are ours. */
#include "registry/evidence/evidence.h"
#include "core/json/jsonvalue.h"

#include <stdio.h>

const char *const evidence_language_names[] = { "en", "ar", NULL };

struct word { const char *key, *text[2]; };
#define WORD(key, en, ar) { key, { en, ar } },
static const struct word words[] = {
    { "title", { "Evidence report", "تقرير الأدلة" } },
    { "period", { "Period", "الفترة" } },
    { "made", { "Made at", "أُعِدّ في" } },
    { "all_zones", { "all zones", "جميع النطاقات" } },
    { "platform", { "Platform totals", "إجماليات المنصة" } },
    { "none", { "None.", "لا يوجد." } },
    { "cut", { "A list was longer than 1,000 rows; ask for a shorter period or one zone.",
               "تجاوزت إحدى القوائم 1000 صف؛ اطلب فترة أقصر أو نطاقًا واحدًا." } },
#include "registry/evidence/evidence_word.def"
};
#undef WORD

static const char *const months[][2] = {
    { "January", "يناير" }, { "February", "فبراير" }, { "March", "مارس" }, { "April", "أبريل" }, { "May", "مايو" }, { "June", "يونيو" },
    { "July", "يوليو" }, { "August", "أغسطس" }, { "September", "سبتمبر" }, { "October", "أكتوبر" }, { "November", "نوفمبر" },
    { "December", "ديسمبر" },
};

/* Columns of a section in the order of reading; what a report in the other scope has instead is left out where it is not there. */
static const struct { const char *name, *columns; } layouts[] = {
    { "zones", "zone country regulator provider regimes classes law_version" },
    { "stored", "zone data_class tenants objects bytes key_versions providers" },
    { "transfers", "at who from_zone to_zone data_class purpose transfers bytes basis assessment_ref document transfer" },
    { "policies", "from_zone to_zone data_class purpose legal_basis state requested_by approved_by valid_from valid_until revoked_at "
                  "revoked_by exception_ref" },
    { "denied", "at who act data_class zone rule" },
    { "workers", "zone name pool state slots gpus backend last_seen_at" },
    { "keys", "zone version state provider root_version created_at" },
    { "tokens", "zone provider maker model label serial firmware" },
    { "heads", "size at root key_id zone" },
    { "access", "name kind role place state since valid_until" },
    { "approvals", "kind subject state requested_by created_at approved_by decided_at" },
};

/* Columns whose values are codes, and how the keys of their words begin; of two the first that has the value. */
static const struct { const char *column, *first, *second; } coded[] = {
    { "data_class", "class_", NULL }, { "classes", "class_", NULL }, { "role", "role_", NULL }, { "state", "value_", NULL },
    { "place", "place_", NULL }, { "legal_basis", "basis_", NULL }, { "basis", "basis_", "rule_" }, { "rule", "rule_", NULL },
    { "act", "act_", NULL }, { "provider", "provider_", NULL }, { "providers", "provider_", NULL }, { "kind", "kind_", "approval_" },
    { "actor", "by_", NULL },
};

static const char STYLE[] =
    "body{font:14px/1.5 system-ui,sans-serif;margin:2rem;color:#111}table{border-collapse:collapse;width:100%;margin:.5rem 0 1.5rem}"
    "th,td{border:1px solid #bbb;padding:.25rem .5rem;text-align:start;vertical-align:top;overflow-wrap:anywhere}th{background:#eee}"
    "h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:1.5rem}td[dir]{unicode-bidi:isolate}@media print{body{margin:0}h2{break-after:avoid}tr{break-inside:avoid}}";

static const char *find(struct str key, enum evidence_language l)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_eq_c(key, words[i].key))
            return words[i].text[l];
    return NULL;
}

static const char *say(const char *key, enum evidence_language l)
{
    const char *found = find(str_c(key), l);
    return found ? found : key;
}

static void add_text(struct buf *out, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        const char *safe = s.ptr[i] == '<' ? "&lt;" : s.ptr[i] == '>' ? "&gt;" : s.ptr[i] == '&' ? "&amp;" : s.ptr[i] == '"' ? "&quot;" : s.ptr[i] == '\'' ? "&#39;" : NULL;
        if (safe)
            buf_add_c(out, safe);
        else
            buf_add_char(out, s.ptr[i]);
    }
}

/* "2026-11-22T19:02:41.5+00:00" as 22 November 2026, 19:02:41 (UTC); false: it is no such time. */
static bool add_time(struct buf *out, struct str s, enum evidence_language l)
{
    char text[TIME_TEXT];
    int64_t us;
    int y, m, d, h, min, sec;
    if (!time_parse(s, &us))
        return false;
    time_text(us, text);
    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d", &y, &m, &d, &h, &min, &sec) != 6 || m < 1 || m > 12)
        return false;
    buf_printf(out, "%d %s %d%s %02d:%02d:%02d (UTC)", d, months[m - 1][l], y, l == EVIDENCE_AR ? "،" : ",", h, min, sec);
    return true;
}

/* Kinds of requests are written with dots: key.destroy. */
static const char *find_code(struct arena *a, const char *begins, struct str code, enum evidence_language l)
{
    if (!begins)
        return NULL;
    char *key = arena_printf(a, "%s%.*s", begins, STR_ARG(code));
    for (char *c = key; *c; c++)
        if (*c == '.')
            *c = '_';
    return find(str_c(key), l);
}

static const char *word_of(struct arena *a, const char *column, struct str code, enum evidence_language l)
{
    const char *found = NULL;
    for (size_t i = 0; i < sizeof coded / sizeof *coded && !found; i++) {
        if (strcmp(coded[i].column, column))
            continue;
        found = find_code(a, coded[i].first, code, l);
        if (!found)
            found = find_code(a, coded[i].second, code, l);
    }
    return found;
}

/* Codes in words, several of them in a list, times as people write them; the rest as it is. */
static void add_words(struct arena *a, struct buf *out, const char *column, struct str s, enum evidence_language l)
{
    struct str rest = s, one;
    if (add_time(out, s, l))
        return;
    bool is_list = !strcmp(column, "classes") || !strcmp(column, "providers");
    for (bool more = true, later = false; more; later = true) {
        more = is_list && str_cut(rest, ' ', &one, &rest);
        if (!is_list)
            one = s;
        const char *found = word_of(a, column, one, l);
        buf_add_c(out, later ? l == EVIDENCE_AR ? "، " : ", " : "");
        if (found)
            buf_add_c(out, found);
        else
            add_text(out, one);
    }
}

static void add_value(struct arena *a, struct buf *out, const struct jval *row, const char *column, enum evidence_language l)
{
    struct buf text = BUF(65536);
    const struct jval *v = jval_get(row, column);
    if (!strcmp(column, "who") && (!v || jval_type(v) == JT_NULL)) {        /* no name: what kind of actor it was */
        v = jval_get(row, "actor");
        column = "actor";
    }
    if (!v || jval_type(v) == JT_NULL)
        buf_add_c(out, "–");
    else if (jval_type(v) == JT_STR)
        add_words(a, out, column, jval_str(v), l);
    else if (jval_encode(v, false, &text))
        add_text(out, buf_str(&text));
    buf_release(&text);
}

static enum errc add_section(struct arena *a, struct buf *out, const char *name, const char *columns, struct json list,
                             enum evidence_language l, struct err *e)
{
    const struct jval *rows;
    const char *shown[16];
    struct str rest = str_c(columns), one;
    size_t n = 0;
    TRY(jval_parse(a, list.text, 0, &rows, e));
    buf_printf(out, "<h2>%s</h2>", say(name, l));
    if (!jval_len(rows)) {
        buf_printf(out, "<p>%s</p>", say("none", l));
        return ERR_OK;
    }
    buf_add_c(out, "<table><thead><tr>");
    for (bool more = true; more && n < sizeof shown / sizeof *shown;) {
        more = str_cut(rest, ' ', &one, &rest);
        const char *column = arena_printf(a, "%.*s", STR_ARG(one));
        if (!jval_get(jval_at(rows, 0), column))
            continue;
        shown[n++] = column;
        buf_printf(out, "<th scope=\"col\">%s</th>", say(arena_printf(a, "f_%s", column), l));
    }
    buf_add_c(out, "</tr></thead><tbody>");
    for (size_t i = 0; i < jval_len(rows) && i < EVIDENCE_ROWS; i++) {
        buf_add_c(out, "<tr>");
        for (size_t k = 0; k < n; k++) {
            buf_add_c(out, "<td dir=\"auto\">");
            add_value(a, out, jval_at(rows, i), shown[k], l);
            buf_add_c(out, "</td>");
        }
        buf_add_c(out, "</tr>");
    }
    buf_add_c(out, "</tbody></table>");
    return ERR_OK;
}

static void add_head(struct arena *a, struct buf *out, const struct evidence *ev, enum evidence_language l)
{
    char from[TIME_TEXT], to[TIME_TEXT], made[TIME_TEXT], hex[UUID_HEX];
    time_text(ev->from.us, from);
    time_text(ev->to.us, to);
    time_text(ev->generated_at.us, made);
    hex_encode(ev->tenant_id.b, 16, hex);
    buf_printf(out, "<!doctype html><html lang=\"%s\" dir=\"%s\"><head><meta charset=\"utf-8\"><title>%s</title><style>%s</style></head><body><h1>%s</h1>",
               evidence_language_names[l], l == EVIDENCE_AR ? "rtl" : "ltr", say("title", l), STYLE, say("title", l));
    buf_add_c(out, "<p><bdi>");
    if (uuid_is_nil(ev->tenant_id))
        buf_add_c(out, say("platform", l));
    else
        add_text(out, ev->tenant_name.ptr ? ev->tenant_name : str_fmt(a, "tnt_%.32s", hex));
    buf_add_c(out, "</bdi>, <bdi>");
    if (ev->zone.ptr)
        add_text(out, ev->zone);
    else
        buf_add_c(out, say("all_zones", l));
    buf_printf(out, "</bdi><br>%s <bdi>", say("period", l));
    (void)add_time(out, str_c(from), l);
    buf_add_c(out, "</bdi> – <bdi>");
    (void)add_time(out, str_c(to), l);
    buf_printf(out, "</bdi><br>%s <bdi>", say("made", l));
    (void)add_time(out, str_c(made), l);
    buf_add_c(out, "</bdi></p>");
    if (ev->is_cut)
        buf_printf(out, "<p><strong>%s</strong></p>", say("cut", l));
}

enum errc evidence_html(struct arena *a, const struct evidence *ev, enum evidence_language language, struct buf *out, struct err *e)
{
    const struct json lists[] = { ev->zones, ev->stored, ev->transfers, ev->policies, ev->denied, ev->workers, ev->keys, ev->tokens,
                                  ev->heads, ev->access, ev->approvals };
    _Static_assert(sizeof lists / sizeof *lists == sizeof layouts / sizeof *layouts, "each section has its columns");
    add_head(a, out, ev, language);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        TRY(add_section(a, out, layouts[i].name, layouts[i].columns, lists[i], language, e));
    buf_add_c(out, "</body></html>\n");
    return out->overflow ? FAIL(e, LIMIT, "The report is too long; ask for a shorter period or one zone") : ERR_OK;
}
