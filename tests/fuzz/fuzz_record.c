/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_record.c - arbitrary bytes as the body of an event: read or refused, and what is read is one row in every format.
 *
 * One row stays one line where the format has lines, all output is UTF-8, and a filter made of the event's own words lets it through. */
/* USES: core_base core_crypto audit_pure */
#include <stdlib.h>
#include <string.h>
#include "audit/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_good)
{
    if (!is_good)
        abort();
}

static void copy_word(char out[AUDIT_FILTER_WORD], struct str s)
{
    size_t n = s.len < AUDIT_FILTER_WORD ? s.len : 0;
    if (n)
        memcpy(out, s.ptr, n);
    out[n] = 0;
}

static void check_filter(const struct audit_view *v)
{
    struct audit_filter f = { .from_us = v->ts_us };
    copy_word(f.action, v->action);
    copy_word(f.resource, v->resource_id);
    if (!f.action[0] || strlen(f.action) != v->action.len || strlen(f.resource) != v->resource_id.len || !audit_filter_is_valid(&f))
        return;
    check(audit_filter_match(v, &f));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct audit_format_run run;
    struct audit_entry e = { .tseq = size + 1, .body = str_n(size ? (const char *)data : "", size) };
    struct buf out = BUF(1 << 20);
    bool is_read = audit_record_read(e.body, &run.view);
    if (is_read)
        check_filter(&run.view);
    for (const struct audit_format *f = audit_formats; f->name; f++) {
        buf_clear(&out);
        check(audit_format_begin(&run, f, &(struct audit_format_opts){ .has_bom = size % 2 }, &out));
        size_t head = out.len;
        check(audit_format_entry(&run, &e, &out) == is_read);
        struct str row = str_n(buf_str(&out).ptr + head, out.len - head);
        if (is_read && row.len && strcmp(f->name, "csv") != 0)
            check(memchr(row.ptr, '\n', row.len) == row.ptr + row.len - 1);
        check(audit_format_end(&run, &out) && str_is_utf8(buf_str(&out)));
    }
    buf_release(&out);
    return 0;
}
