/* SPDX-License-Identifier: Apache-2.0 */
/* changed_by.h - who changed an object last, for a caller whose If-Match no longer holds. */
#pragma once
#include "api/route.h"

struct buf;

/* Adds ,"changed_at":…,"changed_by":{…} to the problem of a call that ended with PRECONDITION; nothing where no record tells. Outside of any
 * transaction of the call; blocks. id: of the object, as audit events name it. */
void changed_by_tell(struct call *c, struct str id, struct buf *out);

extern const struct stmt *const changed_by_stmts[];
