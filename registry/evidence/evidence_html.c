/* SPDX-License-Identifier: Apache-2.0 */
/* evidence_html.c - the report as one page. Every value passes through add_text; tags and words are ours. */
#include "registry/evidence/evidence.h"
#include "core/json/jsonvalue.h"

const char *const evidence_language_names[] = { "en", "ar", NULL };

struct word { const char *key, *text[2]; };

static const struct word words[] = {
    { "title", { "Evidence report", "تقرير الأدلة" } },
    { "period", { "Period", "الفترة" } },
    { "made", { "Made at", "أُعِدّ في" } },
    { "all_zones", { "all zones", "جميع المناطق" } },
    { "platform", { "Platform totals", "إجماليات المنصة" } },
    { "none", { "None.", "لا يوجد." } },
    { "cut", { "A list was longer than 1,000 rows; ask for a shorter period or one zone.", "تجاوزت إحدى القوائم 1000 صف؛ اطلب فترة أقصر أو منطقة واحدة." } },
    { "zones", { "Zones and their law", "المناطق وقوانينها" } },
    { "stored", { "What is stored, and under which keys", "البيانات المخزّنة ومفاتيحها" } },
    { "transfers", { "What crossed a border, and on which basis", "البيانات المنقولة عبر الحدود وأساسها القانوني" } },
    { "policies", { "Transfer policies", "سياسات النقل" } },
    { "denied", { "What was refused", "ما رُفض" } },
    { "workers", { "Machines and where they stand", "الأجهزة ومواقعها" } },
    { "keys", { "Versions of keys", "إصدارات المفاتيح" } },
    { "heads", { "Signed heads of the audit log", "رؤوس سجل التدقيق الموقّعة" } },
    { "access", { "Who holds which role", "من يملك أي دور" } },
    { "approvals", { "What was asked for and approved", "الطلبات والموافقات" } },
    { "zone", { "Zone", "المنطقة" } }, { "country", { "Country", "البلد" } }, { "data_class", { "Class", "الفئة" } },
    { "objects", { "Objects", "العناصر" } }, { "bytes", { "Bytes", "البايتات" } }, { "from_zone", { "From", "من" } }, { "to_zone", { "To", "إلى" } },
    { "at", { "When", "الوقت" } }, { "basis", { "Basis", "الأساس" } }, { "legal_basis", { "Basis", "الأساس" } }, { "purpose", { "Purpose", "الغرض" } },
    { "state", { "State", "الحالة" } }, { "name", { "Name", "الاسم" } }, { "role", { "Role", "الدور" } }, { "rule", { "Rule", "القاعدة" } },
    { "regulator", { "Regulator", "الجهة الرقابية" } }, { "provider", { "Provider", "المزوّد" } }, { "providers", { "Provider", "المزوّد" } },
    { "version", { "Version", "الإصدار" } }, { "approved_by", { "Approved by", "وافق عليه" } }, { "requested_by", { "Asked by", "طلبه" } },
};

static const char STYLE[] =
    "body{font:14px/1.5 system-ui,sans-serif;margin:2rem;color:#111}table{border-collapse:collapse;width:100%;margin:.5rem 0 1.5rem}"
    "th,td{border:1px solid #bbb;padding:.25rem .5rem;text-align:start;vertical-align:top;overflow-wrap:anywhere}th{background:#eee}"
    "h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:1.5rem}td[dir]{unicode-bidi:isolate}@media print{body{margin:0}h2{break-after:avoid}tr{break-inside:avoid}}";

static const char *say(const char *key, enum evidence_language l)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i].key, key))
            return words[i].text[l];
    return key;
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

static void add_value(struct buf *out, const struct jval *v)
{
    struct buf text = BUF(65536);
    if (jval_type(v) == JT_STR)
        add_text(out, jval_str(v));
    else if (jval_type(v) != JT_NULL && jval_encode(v, false, &text))
        add_text(out, buf_str(&text));
    buf_release(&text);
}

static enum errc add_section(struct arena *a, struct buf *out, const char *name, struct json list, enum evidence_language l, struct err *e)
{
    const struct jval *rows;
    TRY(jval_parse(a, list.text, 0, &rows, e));
    buf_printf(out, "<h2>%s</h2>", say(name, l));
    if (!jval_len(rows)) {
        buf_printf(out, "<p>%s</p>", say("none", l));
        return ERR_OK;
    }
    buf_add_c(out, "<table><thead><tr>");
    for (struct jval_iter it = jval_iter(jval_at(rows, 0)); jval_next(&it);)
        buf_printf(out, "<th scope=\"col\">%s</th>", say(it.name, l));
    buf_add_c(out, "</tr></thead><tbody>");
    for (size_t i = 0; i < jval_len(rows) && i < EVIDENCE_ROWS; i++) {
        buf_add_c(out, "<tr>");
        for (struct jval_iter it = jval_iter(jval_at(rows, i)); jval_next(&it);) {
            buf_add_c(out, "<td dir=\"auto\">");
            add_value(out, it.value);
            buf_add_c(out, "</td>");
        }
        buf_add_c(out, "</tr>");
    }
    buf_add_c(out, "</tbody></table>");
    return ERR_OK;
}

static void add_head(struct buf *out, const struct evidence *ev, enum evidence_language l)
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
        buf_printf(out, "tnt_%.32s", hex);
    buf_add_c(out, "</bdi>, <bdi>");
    if (ev->zone.ptr)
        add_text(out, ev->zone);
    else
        buf_add_c(out, say("all_zones", l));
    buf_printf(out, "</bdi><br>%s <bdi>%s</bdi> – <bdi>%s</bdi><br>%s <bdi>%s</bdi></p>", say("period", l), from, to, say("made", l), made);
    if (ev->is_cut)
        buf_printf(out, "<p><strong>%s</strong></p>", say("cut", l));
}

enum errc evidence_html(struct arena *a, const struct evidence *ev, enum evidence_language language, struct buf *out, struct err *e)
{
    const struct { const char *name; struct json list; } sections[] = {
        { "zones", ev->zones }, { "stored", ev->stored }, { "transfers", ev->transfers }, { "policies", ev->policies }, { "denied", ev->denied },
        { "workers", ev->workers }, { "keys", ev->keys }, { "heads", ev->heads }, { "access", ev->access }, { "approvals", ev->approvals } };
    add_head(out, ev, language);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        TRY(add_section(a, out, sections[i].name, sections[i].list, language, e));
    buf_add_c(out, "</body></html>\n");
    return out->overflow ? FAIL(e, LIMIT, "The report is too long; ask for a shorter period or one zone") : ERR_OK;
}
