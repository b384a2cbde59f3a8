/* SPDX-License-Identifier: Apache-2.0 */
/* export_filter.c - what an export with a filter can prove, and what it shows of the entries that do not fit.
 *
 * The filter is asked of each body by the function that verifiers ask too, never of the columns that searches use: those may be
 * wrong without any proof changing. */
#include "audit/export_filter_int.h"

SCHEMA_OF(log_opened, "Entries that can be opened", FIELD(log_opened, opened_from, 0, .doc = "First"),
  FIELD(log_opened, opened_to, 0, .doc = "Last"));

const struct stmt export_opened_stmt = { .name = "audit_log_opened", .params = "u", .row = &log_opened_schema,
                                         .card = CARD_MAYBE, .sql =
  "SELECT coalesce(opened_from, 0) AS opened_from, coalesce(opened_to, 0) AS opened_to\n"
  "  FROM audit_log_state WHERE tenant_id = $1" };

enum errc export_opened(struct db_tx *tx, struct uuid tenant, struct log_opened *ret, struct err *e)
{
    bool found;
    *ret = (struct log_opened){ 0 };
    return db_maybe(tx, &export_opened_stmt, ARGS(A_UUID(tenant)), ret, &found, e);
}

enum errc export_withhold(const struct audit_filter *f, struct audit_view *view, char *text, struct bundle_record *r,
                          struct err *e)
{
    struct merkle_hash plain;
    struct audit_fields fields;
    unsigned long long tseq = r->tseq;
    if (!audit_record_read(r->event, view))
        return FAIL(e, DAMAGED, "event %llu of the audit log is not canonical", tseq);
    enum audit_field which = audit_filter_refuter(view, f);
    if (which == AUDIT_FIELDS)
        return ERR_OK;
    merkle_leaf(r->event.ptr, r->event.len, &plain);
    audit_fields_of(view, &plain, &fields);
    if (merkle_eq(&plain, &r->leaf))
        return FAIL(e, CONFLICT,
                    "Entry %llu was numbered by an older version, so nothing short of its body shows that it does not fit; "
                    "export with proves=inclusion, or without a filter", tseq);
    if (!merkle_eq(&fields.leaf, &r->leaf))
        return FAIL(e, DAMAGED, "entry %llu of the audit log is damaged", tseq);
    audit_open(view, &fields, which, text, &r->opened);
    r->is_withheld = true;
    r->event = STR_NULL;
    return ERR_OK;
}
