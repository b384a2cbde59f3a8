/* SPDX-License-Identifier: Apache-2.0 */
/* format.c - the table of formats and what they share. A body is read once and strictly; the formats see the view only. */
#include "audit/format.h"
#include "audit/format_int.h"

const struct audit_format audit_formats[] = {
    { "ocsf", "application/x-ndjson", "ocsf.jsonl", "OCSF 1.3: API Activity 6003, Authentication 3002, Account Change 3001", NULL,
      format_ocsf_row, NULL },
    { "cef", "text/plain; charset=utf-8", "cef", "ArcSight Common Event Format, version 0", NULL, format_cef_row, NULL },
    { "syslog", "text/plain; charset=utf-8", "log", "RFC 5424, one structured data element, a line each", NULL, format_syslog_row, NULL },
    { "csv", "text/csv; charset=utf-8; header=present", "csv", "RFC 4180; formulas are made harmless", format_csv_header, format_csv_row, NULL },
    { "summary", "text/markdown; charset=utf-8", "md", "One page: range, counts, denials, heads, keys, verdict", NULL, format_summary_row,
      format_summary_text },
    { "summary-html", "text/html; charset=utf-8", "html", "The same page to print", NULL, format_summary_row, format_summary_html },
    { 0 },
};

const struct audit_format *audit_format_find(struct str name)
{
    for (const struct audit_format *f = audit_formats; f->name; f++)
        if (str_eq_c(name, f->name))
            return f;
    return NULL;
}

size_t format_time(int64_t us, char out[TIME_TEXT])
{
    static const int64_t year_1 = -62135596800000000, year_10000 = 253402300800000000;
    out[0] = 0;
    if (us < year_1 || us >= year_10000)
        return 0;
    size_t n = time_text(us, out) - 1;
    int64_t rest = (us % 1000 + 1000) % 1000;
    out[n++] = (char)('0' + rest / 100);
    out[n++] = (char)('0' + rest / 10 % 10);
    out[n++] = (char)('0' + rest % 10);
    out[n++] = 'Z';
    out[n] = 0;
    return n;
}

struct str format_doc(const struct audit_view *v)
{
    return v->code < AUDIT_CODE_COUNT ? str_c(audit_code_row(v->code)->doc) : v->action;
}

void format_details(const struct audit_view *v, struct buf *b, format_put_fn put)
{
    for (int i = 0; i < v->detail_count; i++) {
        const struct audit_view_detail *d = &v->details[i];
        if (i)
            put(b, STR(" "));
        put(b, d->name);
        put(b, STR("="));
        if (d->text.ptr)
            put(b, d->text);
        else
            buf_add_i64(b, d->number);
    }
}

int format_verdict(const struct audit_view *v)
{
    return v->suffix == 'D' ? 1 : v->suffix == 'F' ? 2 : 0;
}

bool audit_format_begin(struct audit_format_run *r, const struct audit_format *f, const struct audit_format_opts *opts, struct buf *b)
{
    r->format = f;
    r->opts = *opts;
    memset(&r->tally, 0, sizeof r->tally);
    return !f->header || f->header(r, b);
}

bool audit_format_entry(struct audit_format_run *r, const struct audit_entry *e, struct buf *b)
{
    if (e->body.ptr && !audit_record_read(e->body, &r->view))
        return false;
    return r->format->row(r, e, e->body.ptr ? &r->view : NULL, b);
}

bool audit_format_end(struct audit_format_run *r, struct buf *b)
{
    return !r->format->footer || r->format->footer(r, b);
}
