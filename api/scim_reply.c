/* SPDX-License-Identifier: Apache-2.0 */
/* scim_reply.c - what the routes of SCIM have in common: a change with its audit detail and ETag, and errors as SCIM has them (RFC 7644, 3.12):
 * status, scimType where there is one, detail. */
#include "api/api_int.h"
#include "api/scim_call.h"
#include "audit/event.h"
#include "tenants/identity/scim_schema.h"

bool is_scim(const struct flight *f)
{
    return f->match ? f->match->row->flags & R_SCIM : str_starts(f->call.request->path, "/scim/");
}

static const char *scim_type(enum errc code)
{
    switch (code) {
    case ERR_SCIM_FILTER: return "invalidFilter";
    case ERR_SCIM_PATH: return "invalidPath";
    case ERR_SCIM_NO_TARGET: return "noTarget";
    case ERR_SCIM_TOO_MANY: return "tooMany";
    case ERR_SCIM_MUTABILITY:
    case ERR_CONFLICT: return "mutability";
    case ERR_EXISTS: return "uniqueness";
    case ERR_MALFORMED: return "invalidSyntax";
    case ERR_INVALID:
    case ERR_UNKNOWN_FIELD:
    case ERR_MISSING_FIELD: return "invalidValue";
    default: return NULL;
    }
}

void scim_error_body(struct buf *b, const struct err *e, struct str detail)
{
    const char *type = scim_type(e->code);
    buf_printf(b, "{\"schemas\":[\"" SCIM_ERROR_URN "\"],\"status\":\"%d\"", err_row(e->code)->http);
    if (type)
        buf_printf(b, ",\"scimType\":\"%s\"", type);
    buf_add_c(b, ",\"detail\":");
    buf_add_json(b, detail);
    buf_add_char(b, '}');
}

enum errc scim_change(struct call *c, scim_change_fn fn, const char *op, struct uuid id, struct scim_select select, struct scim_answer *ret,
                      struct err *e)
{
    *ret = (struct scim_answer){ 0 };
    TRY(fn(&c->work, &(struct scim_write){ id, c->body, http_header_get(c->request, "If-Match"), select }, ret, e));
    audit_event_detail(&c->audit, AUDIT_D_STR("op", str_c(op)));
    if (ret->changed.ptr)
        audit_event_detail(&c->audit, AUDIT_D_STR("changed", ret->changed));
    c->etag = ret->etag;
    return ERR_OK;
}
