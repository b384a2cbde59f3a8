/* SPDX-License-Identifier: Apache-2.0 */
/* format_summary.c - one page about a part of a log, as Markdown and as HTML to print: range, filter, counts by code, verdict and
 * kind of actor, the first denials, heads, keys, and what a verifier said.
 *
 * Rows only count. The page is written once through the few elements below, so both spellings say the same. The HTML needs
 * nothing else: no script, no font, no picture, no link. */
#include <stdio.h>
#include "audit/format_int.h"

struct page {
    struct buf *b;
    bool is_html;
    size_t columns;
};
static const char *const verdict_names[3] = { "success", "denied", "failed" };

/* What the entry adds to the counts. */
bool format_summary_row(struct audit_format_run *r, const struct audit_entry *e, const struct audit_view *v, struct buf *b)
{
    struct audit_tally *t = &r->tally;
    (void)b;
    t->count++;
    t->from = t->count == 1 || e->tseq < t->from ? e->tseq : t->from;
    t->to = e->tseq > t->to ? e->tseq : t->to;
    if (!v) {
        t->dropped++;
        return true;
    }
    bool is_first = t->count - t->dropped == 1;
    t->first_us = is_first || v->ts_us < t->first_us ? v->ts_us : t->first_us;
    t->last_us = is_first || v->ts_us > t->last_us ? v->ts_us : t->last_us;
    t->verdicts[format_verdict(v)]++;
    t->codes[v->code][format_verdict(v)]++;
    t->actors[v->actor]++;
    if (v->suffix != 'D' || t->denials++ >= AUDIT_DENIALS_SHOWN)
        return true;
    struct audit_denial *d = &t->denial[t->denials - 1];
    *d = (struct audit_denial){ .tseq = e->tseq, .ts_us = v->ts_us, .actor = v->actor, .actor_id = v->actor_id };
    memcpy(d->code, v->code_text.ptr, v->code_text.len);
    memcpy(d->action, v->action.ptr, v->action.len);
    memcpy(d->outcome, v->outcome.ptr, v->outcome.len);
    return true;
}

static void put_text(struct page *p, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if ((unsigned char)c < 0x20 || c == 0x7f)
            buf_add_char(p->b, ' ');
        else if (p->is_html && strchr("&<>\"'", c))
            buf_printf(p->b, "&#%d;", c);
        else if (!p->is_html && strchr("\\`*_{}[]<>#|", c))
            buf_add(p->b, (char[]){ '\\', c }, 2);
        else
            buf_add_char(p->b, c);
    }
}

static void heading(struct page *p, int level, const char *text)
{
    if (p->is_html)
        buf_printf(p->b, "<h%d>", level);
    else
        buf_add_c(p->b, level == 1 ? "# " : "\n## ");
    put_text(p, str_c(text));
    if (p->is_html)
        buf_printf(p->b, "</h%d>", level);
    buf_add_c(p->b, "\n");
}

static void note(struct page *p, const char *text)
{
    buf_add_c(p->b, p->is_html ? "<p>" : "\n");
    put_text(p, str_c(text));
    buf_add_c(p->b, p->is_html ? "</p>\n" : "\n");
}

static void cells(struct page *p, const char *tag, const struct str *cell)
{
    buf_add_c(p->b, p->is_html ? "<tr>" : "|");
    for (size_t i = 0; i < p->columns; i++) {
        if (p->is_html)
            buf_printf(p->b, "<%s>", tag);
        else
            buf_add_char(p->b, ' ');
        put_text(p, cell[i]);
        if (p->is_html)
            buf_printf(p->b, "</%s>", tag);
        else
            buf_add_c(p->b, " |");
    }
    buf_add_c(p->b, p->is_html ? "</tr>\n" : "\n");
}

static void table(struct page *p, size_t columns, const struct str *head)
{
    p->columns = columns;
    buf_add_c(p->b, p->is_html ? "<table>\n" : "\n");
    cells(p, "th", head);
    for (size_t i = 0; !p->is_html && i < columns; i++)
        buf_add_c(p->b, i ? "---|" : "|---|");
    buf_add_c(p->b, p->is_html ? "" : "\n");
}

static void row(struct page *p, const struct str *cell)
{
    cells(p, "td", cell);
}

static void table_end(struct page *p)
{
    buf_add_c(p->b, p->is_html ? "</table>\n" : "");
}

static void fact(struct page *p, const char *name, const char *value)
{
    if (value[0])
        row(p, (struct str[]){ str_c(name), str_c(value) });
}

static void fact_number(struct page *p, const char *name, uint64_t n)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)n);
    fact(p, name, text);
}

static void fact_time(struct page *p, const char *name, int64_t us)
{
    char text[TIME_TEXT];
    format_time(us, text);
    fact(p, name, us ? text : "");
}

static void fact_hash(struct page *p, const char *name, const uint8_t h[32])
{
    char text[65];
    hex_encode(h, 32, text);
    fact(p, name, text);
}

static void put_range(struct page *p, const struct audit_format_run *r)
{
    const struct audit_tally *t = &r->tally;
    const struct audit_filter *f = r->opts.filter;
    char text[UUID_TEXT], zone[AUDIT_WORD_MAX + 1];
    uuid_text(r->opts.tenant_id, text);
    snprintf(zone, sizeof zone, "%.*s", STR_ARG(r->opts.zone));
    table(p, 2, (struct str[]){ STR("Log"), STR("") });
    fact(p, "Tenant", text);
    fact(p, "Zone", zone);
    fact_time(p, "Made", r->opts.created_us);
    fact_number(p, "First entry", t->from);
    fact_number(p, "Last entry", t->to);
    fact_number(p, "Entries here", t->count);
    fact_number(p, "Of these without body (retention ended)", t->dropped);
    fact_time(p, "Earliest event", t->first_us);
    fact_time(p, "Latest event", t->last_us);
    if (f && !audit_filter_is_empty(f)) {
        fact_time(p, "Filter: from", f->from_us);
        fact_time(p, "Filter: until", f->until_us);
        fact(p, "Filter: actor", f->actor);
        fact(p, "Filter: action", f->action);
        fact(p, "Filter: resource", f->resource);
    }
    table_end(p);
}

static void put_counts(struct page *p, const struct audit_tally *t)
{
    char n[3][24];
    heading(p, 2, "Events by code");
    table(p, 5, (struct str[]){ STR("Code"), STR("What happened"), STR("success"), STR("denied"), STR("failed") });
    for (int i = 0; i <= AUDIT_CODE_COUNT; i++) {
        if (!(t->codes[i][0] | t->codes[i][1] | t->codes[i][2]))
            continue;
        for (int k = 0; k < 3; k++)
            snprintf(n[k], sizeof n[k], "%llu", (unsigned long long)t->codes[i][k]);
        bool is_known = i < AUDIT_CODE_COUNT;
        row(p, (struct str[]){ is_known ? str_c(audit_code_row((enum audit_code)i)->code) : STR("other"),
                               is_known ? str_c(audit_code_row((enum audit_code)i)->doc) : STR("Codes of a newer release"),
                               str_c(n[0]), str_c(n[1]), str_c(n[2]) });
    }
    table_end(p);
    heading(p, 2, "Events by outcome and kind of actor");
    table(p, 2, (struct str[]){ STR("Kind"), STR("Events") });
    for (int i = 0; i < 3; i++)
        fact_number(p, verdict_names[i], t->verdicts[i]);
    for (int i = 0; i < AUDIT_ACTOR_COUNT; i++)
        if (t->actors[i])
            fact_number(p, audit_actor_text((enum audit_actor)i), t->actors[i]);
    table_end(p);
}

static void put_denials(struct page *p, const struct audit_tally *t)
{
    char tseq[24], when[TIME_TEXT], who[AUDIT_WORD_MAX], id[UUID_TEXT], text[96];
    heading(p, 2, "Denials");
    if (t->denials == 0) {
        note(p, "There are none.");
        return;
    }
    table(p, 6, (struct str[]){ STR("Entry"), STR("Time"), STR("Code"), STR("Action"), STR("Actor"), STR("Outcome") });
    for (size_t i = 0; i < t->denials && i < AUDIT_DENIALS_SHOWN; i++) {
        const struct audit_denial *d = &t->denial[i];
        uuid_text(d->actor_id, id);
        snprintf(tseq, sizeof tseq, "%llu", (unsigned long long)d->tseq);
        snprintf(who, sizeof who, "%s%s%s", audit_actor_text(d->actor), uuid_is_nil(d->actor_id) ? "" : " ", uuid_is_nil(d->actor_id) ? "" : id);
        format_time(d->ts_us, when);
        row(p, (struct str[]){ str_c(tseq), str_c(when), str_c(d->code), str_c(d->action), str_c(who), str_c(d->outcome) });
    }
    table_end(p);
    if (t->denials > AUDIT_DENIALS_SHOWN) {
        snprintf(text, sizeof text, "These are the first %d of %llu.", AUDIT_DENIALS_SHOWN, (unsigned long long)t->denials);
        note(p, text);
    }
}

static void put_head(struct page *p, const char *title, const struct audit_head *h)
{
    if (!h)
        return;
    heading(p, 2, title);
    table(p, 2, (struct str[]){ STR("Signed head"), STR("") });
    fact_number(p, "Entries", h->size);
    fact_hash(p, "Root", h->root.b);
    fact_hash(p, "Chain", h->chain.b);
    fact_time(p, "Signed", h->ts_us);
    fact(p, "Key", h->key_id);
    table_end(p);
}

static void put_trust(struct page *p, const struct audit_format_opts *o)
{
    char text[512];
    put_head(p, "Proven against", o->head);
    put_head(p, "Extends the earlier head", o->previous);
    if (o->key_count) {
        heading(p, 2, "Keys");
        table(p, 2, (struct str[]){ STR("Key"), STR("Ed25519 public key") });
        for (size_t i = 0; i < o->key_count; i++)
            fact_hash(p, o->keys[i].key_id, o->keys[i].pub);
        table_end(p);
    }
    heading(p, 2, "Verifier");
    if (!o->verdict) {
        note(p, "No bundle was verified for this page. It proves nothing by itself: export the bundle and run falaj-verify.");
        return;
    }
    if (o->verdict->damage == VERIFY_OK)
        snprintf(text, sizeof text, "Whole: %llu entries, %llu without body, %s.", (unsigned long long)o->verdict->count,
                 (unsigned long long)o->verdict->dropped, o->verdict->pinned ? "signed by a pinned key" : "the key came from the bundle itself");
    else
        snprintf(text, sizeof text, "REFUSED: %s at entry %llu: %s", verify_damage_text(o->verdict->damage),
                 (unsigned long long)o->verdict->tseq, o->verdict->text);
    note(p, text);
}

static bool put_page(struct audit_format_run *r, struct buf *b, bool is_html)
{
    struct page p = { .b = b, .is_html = is_html };
    if (is_html)
        buf_add_c(b, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Audit summary</title>\n<style>"
                     "body{font:11pt/1.4 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}table{border-collapse:collapse;width:100%}"
                     "th,td{border:1px solid #999;padding:.2rem .5rem;text-align:left;overflow-wrap:anywhere}th{background:#eee}"
                     "tr{break-inside:avoid}h2{break-after:avoid}@media print{body{font-size:9pt;margin:0}}</style></head><body>\n");
    heading(&p, 1, "Audit summary");
    put_range(&p, r);
    put_counts(&p, &r->tally);
    put_denials(&p, &r->tally);
    put_trust(&p, &r->opts);
    return buf_add_c(b, is_html ? "</body></html>\n" : "");
}

bool format_summary_text(struct audit_format_run *r, struct buf *b)
{
    return put_page(r, b, false);
}

bool format_summary_html(struct audit_format_run *r, struct buf *b)
{
    return put_page(r, b, true);
}
